"""What a vision hands to a method: the tokens of two pictures, and where they lie.

Axis letters: B pairs, N tokens of a picture, F width of a token's own features, L text positions.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol, Self, TypeGuard, runtime_checkable

import torch
from torch import Tensor, nn

from whatchanged.errors import ShapeError
from whatchanged.training.batches import Batch

PixelStatistics = tuple[tuple[float, ...], tuple[float, ...]]
"""Mean and deviation of the three channels in 0..1."""
Hidden = tuple[Tensor | None, Tensor | None]
"""For before and after: bool (B, N), True where a token is to be hidden; None hides nothing."""


@dataclass(frozen=True)
class Tokens:
    """One picture of each pair as tokens.

    features: (B, N, F), N is ``Vision.patches``. cells: (B, N), each token's number on the grid that
    attention is painted back to, row by row.
    ground_positions (B, N, 2) and salience (B, N) exist where the vision knows them. aligned: they stand in
    the order of what they show, not of their cells, in both pictures alike.
    """

    features: Tensor
    cells: Tensor
    ground_positions: Tensor | None = None
    salience: Tensor | None = None
    aligned: bool = False

    def with_features(self, features: Tensor) -> "Tokens":
        """The same tokens with other features."""
        return replace(self, features=features)


class TokenPair(NamedTuple):
    """The tokens before and after."""

    before: Tokens
    after: Tokens

    @property
    def aligned(self) -> bool:
        """Whether token n of both pictures belongs together, though it need not lie in the same cell."""
        return self.before.aligned

    @property
    def single(self) -> bool:
        """There is no picture after: it has no tokens. Never so in a graph that is exported."""
        return not torch.onnx.is_in_onnx_export() and not self.after.features.shape[1]

    @property
    def cells(self) -> Tensor:
        """(B, 2, N), of both pictures."""
        return torch.stack([self.before.cells, self.after.cells], dim=1)


class TorchModule(Protocol):
    """What the engine uses of ``torch.nn.Module``; every module has it."""

    training: bool

    def parameters(self, recurse: bool = True) -> Iterator[nn.Parameter]:
        """The parameters."""

    def modules(self) -> Iterator[nn.Module]:
        """The module itself and all parts of it."""

    def named_parameters(self) -> Iterator[tuple[str, nn.Parameter]]:
        """The parameters with their names."""

    def state_dict(self) -> dict[str, Any]:
        """Parameters and buffers by name."""

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True) -> Any:
        """Copy tensors of these names."""

    def train(self, mode: bool = True) -> Self:
        """Training mode, or evaluation mode."""

    def eval(self) -> Self:
        """Evaluation mode."""

    def to(self, device: torch.device) -> Self:
        """Move to a device."""


class Vision(TorchModule, Protocol):
    """A vision: attention is painted on ``rows`` x ``columns``.

    A picture has ``patches`` tokens.
    ``raw_width`` is F; ``width`` is what ``add_match_features`` returns per token. Whatever it adds stands
    behind the token's own features: the first ``raw_width`` columns are always these.
    """

    rows: int
    columns: int
    patches: int
    raw_width: int
    width: int
    pixel_statistics: PixelStatistics | None
    """Mean and deviation that pictures are normalised with; None where it reads no pictures."""

    @property
    def tasks(self) -> Mapping[str, Callable[[Batch], dict[str, Tensor]]]:
        """Losses of its own that a stage may mix in, by name: named unweighted terms."""

    def token_parameters(self) -> frozenset[str]:
        """Names of the parameters that make a picture's tokens: parameter group "vision"."""

    def parameters_without_gradient(self, tasks: Collection[str]) -> frozenset[str]:
        """Names of its parameters that none of these tasks gives a gradient when it reads pictures."""

    def collate_truth(self, truths: Sequence[Any]) -> Any:
        """What its own losses need to know of a batch's pairs, or None."""

    def attention_terms(
        self, pair: TokenPair, truth: Any, attention: Tensor, words: Tensor
    ) -> dict[str, Tensor]:
        """Losses on the attention (B, T, 2, N) of words to the tokens; words: bool (B, T), real words."""

    def tokens(self, before: Tensor, after: Tensor) -> TokenPair:
        """Tokens with their own features (B, N, raw_width)."""

    def add_match_features(self, pair: TokenPair, hidden: Hidden = (None, None)) -> TokenPair:
        """Features (B, N, width) after hiding tokens; each picture may be told of the other here."""


class PictureVision(TorchModule, Protocol):
    """What visions with a backbone of their own can do besides: see a picture once, store its tokens.

    ``has_backbone`` tells whether a vision is one. cell: pixels of a side of a cell. channels: of the
    backbone's features. stored_width: numbers of a stored token.
    """

    cell: int
    rows: int
    columns: int
    patches: int
    channels: int
    stored_width: int
    mean: Tensor
    std: Tensor

    @property
    def backbone(self) -> nn.Module:
        """The network that makes features of pictures."""

    def normalise(self, pictures: Tensor) -> Tensor:
        """uint8 (B, H, W, 3) -> (B, 3, H, W), normalised; floats stay as they are."""

    def features(self, pictures: Tensor) -> Tensor:
        """(B, 3, H, W) normalised -> the backbone's features (B, channels, rows, columns)."""

    def to_tokens(self, pictures: Tensor) -> Tensor:
        """(B, 3, H, W) normalised -> stored tokens (B, N, stored_width), which ``tokens`` reads, too."""

    def token_state(self) -> Mapping[str, Tensor]:
        """All weights that a picture's tokens depend on."""


def has_backbone(vision: object) -> TypeGuard[PictureVision]:
    """Whether a vision has a backbone of its own.

    From Python 3.12 on ``isinstance`` does not see the parts and buffers of a module, so it cannot tell.
    """
    return all(hasattr(vision, name) for name in ("backbone", "mean", "std", "to_tokens", "token_state"))


def picture_size(vision: PictureVision) -> tuple[int, int]:
    """Width and height of the pictures that a vision reads."""
    return vision.cell * vision.columns, vision.cell * vision.rows


@runtime_checkable
class StandardisedVision(Protocol):
    """What a vision can do besides that standardises its tokens.

    standardises: whether this one does; then ``measure`` is called before it is used.
    """

    standardises: bool

    def measure(self, before: Tensor, after: Tensor) -> None:
        """Standardise by the tokens of these pairs from now on. before, after: as in ``Vision.tokens``."""


class PlainVision(nn.Module):
    """What published visions share: no losses of their own, no truth, nothing matched."""

    pixel_statistics: PixelStatistics | None = None

    @property
    def tasks(self) -> Mapping[str, Callable[[Batch], dict[str, Tensor]]]:
        """None."""
        return {}

    def token_parameters(self) -> frozenset[str]:
        """All that it has."""
        return frozenset(name for name, _ in self.named_parameters())

    def parameters_without_gradient(self, tasks: Collection[str]) -> frozenset[str]:
        """None, as long as a task reads pictures."""
        return frozenset() if tasks else self.token_parameters()

    def collate_truth(self, truths: Sequence[Any]) -> Any:
        """Nothing is asked of the truth."""
        return None

    def attention_terms(
        self, pair: TokenPair, truth: Any, attention: Tensor, words: Tensor
    ) -> dict[str, Tensor]:
        """None: it does not know what its tokens show."""
        return {}

    def add_match_features(self, pair: TokenPair, hidden: Hidden = (None, None)) -> TokenPair:
        """Hidden tokens become zero; otherwise the identity."""
        before, after = pair
        return TokenPair(
            before.with_features(hide(before.features, hidden[0])),
            after.with_features(hide(after.features, hidden[1])),
        )


def hide(features: Tensor, hidden: Tensor | None) -> Tensor:
    """A copy of features (B, N, F) with zeros at hidden tokens (B, N); the original stays untouched."""
    return features if hidden is None else features.masked_fill(hidden.unsqueeze(-1), 0.0)


def in_rows(tokens: Tokens) -> Tensor:
    """The features of all cells, row by row (B, N, F): an object vision hands its cells over by salience."""
    features = tokens.features
    return torch.zeros_like(features).scatter(1, tokens.cells[..., None].expand_as(features), features)


def corresponding(pair: TokenPair, vision: Vision) -> TokenPair:
    """The pair so that token n of both pictures belongs together, for methods that compare by position.

    Aligned tokens stay as they are; otherwise all cells of the grid stand row by row, token n in cell n.
    Raises ShapeError where tokens are missing: such pictures cannot be laid cell upon cell.
    """
    if pair.aligned:
        return pair
    cells = vision.rows * vision.columns
    if vision.patches != cells:
        raise ShapeError(
            f"this method lays both pictures cell upon cell: got {vision.patches} cells, wanted all {cells}"
            " of the grid. Set vision.keep = 0."
        )
    numbers = torch.arange(cells, device=pair.before.cells.device).expand_as(pair.before.cells)
    before, after = (replace(own, features=in_rows(own), cells=numbers) for own in pair)
    return TokenPair(before, after)


def coordinates(cells: Tensor, rows: int, columns: int, dtype: torch.dtype = torch.float32) -> Tensor:
    """Where cells lie on the grid, as two numbers from -1 on:  x = 2 column / columns - 1,  y likewise.

    cells: numbers, row by row, (..., N) -> (..., N, 2) of ``dtype``, x first. The last cell is below 1.
    Source: Park et al.'s released code, which others took over.
    """
    x, y = (cells % columns).to(dtype), (cells // columns).to(dtype)
    return torch.stack([2 * x / columns - 1, 2 * y / rows - 1], dim=-1)


def on_both_grids(attention: Tensor, cells: Tensor, vision: Vision) -> Tensor:
    """Attention (B, 2, N) to the tokens of both pictures -> on their grids, (B, 2, rows, columns).

    cells: (B, 2, N), ``TokenPair.cells``. What several tokens of one cell get adds up.
    """
    grids = attention.new_zeros(attention.shape[0], 2, vision.rows * vision.columns)
    return grids.scatter_add(2, cells, attention).view(-1, 2, vision.rows, vision.columns)


def to_patches(attention: Tensor, patches: int) -> Tensor:
    """Attention (B, ..., S) to rows [IMG1] tokens [IMG2] tokens .. -> to the tokens, (B, ..., 2, N)."""
    parts = attention[..., 1 : 1 + patches], attention[..., 2 + patches : 2 + 2 * patches]
    return torch.stack(parts, dim=-2)


def on_grids(attention: Tensor, cells: Tensor, vision: Vision) -> Tensor:
    """Attention (B, S) to rows [IMG1] tokens [IMG2] tokens .. -> on the full grids, (B, 2, rows, columns).

    cells: (B, 2, N).
    """
    full = attention.new_zeros(attention.shape[0], 2, vision.rows * vision.columns)
    full = full.scatter(2, cells, to_patches(attention, vision.patches))
    return full.view(-1, 2, vision.rows, vision.columns)
