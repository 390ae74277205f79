"""The contract between a vision and a method: the tokens of two pictures, and their positions.

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
"""The means and the standard deviations of the three channels, for channel values in 0..1."""
Hidden = tuple[Tensor | None, Tensor | None]
"""Two masks for the pictures before and after, bool (B, N). True hides a token; None hides no token."""


@dataclass(frozen=True)
class Tokens:
    """One picture of each pair as tokens.

    features: (B, N, F), N is ``Vision.patches``. cells: (B, N), the number of each token's cell on the grid
    on which attention is shown, row by row.
    ground_positions (B, N, 2) and salience (B, N) exist only for a vision that estimates ground positions and
    salience. aligned: the tokens of both pictures are in the same order of objects, not in the order of their
    cells.
    """

    features: Tensor
    cells: Tensor
    ground_positions: Tensor | None = None
    salience: Tensor | None = None
    aligned: bool = False

    def with_features(self, features: Tensor) -> "Tokens":
        """Return these tokens with other features."""
        return replace(self, features=features)


class TokenPair(NamedTuple):
    """The tokens before and after."""

    before: Tokens
    after: Tokens

    @property
    def aligned(self) -> bool:
        """Whether token n of both pictures corresponds, although it may lie in different cells."""
        return self.before.aligned

    @property
    def single(self) -> bool:
        """Whether the picture after is missing, so that it has no tokens. An exported graph always has a
        picture after.
        """
        return not torch.onnx.is_in_onnx_export() and not self.after.features.shape[1]

    @property
    def cells(self) -> Tensor:
        """The cells (B, 2, N) of both pictures."""
        return torch.stack([self.before.cells, self.after.cells], dim=1)


class TorchModule(Protocol):
    """The part of ``torch.nn.Module`` that the training loop uses; every module has it."""

    training: bool

    def parameters(self, recurse: bool = True) -> Iterator[nn.Parameter]:
        """Return the parameters."""

    def modules(self) -> Iterator[nn.Module]:
        """Return the module itself and all parts of it."""

    def named_parameters(self) -> Iterator[tuple[str, nn.Parameter]]:
        """Return the parameters with their names."""

    def state_dict(self) -> dict[str, Any]:
        """Parameters and buffers by name."""

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True) -> Any:
        """Copy tensors of these names."""

    def train(self, mode: bool = True) -> Self:
        """Switch to training mode, or to evaluation mode."""

    def eval(self) -> Self:
        """Switch to evaluation mode."""

    def to(self, device: torch.device) -> Self:
        """Move to a device."""


class Vision(TorchModule, Protocol):
    """A vision turns a picture into ``patches`` tokens. Attention is shown on a grid of ``rows`` x
    ``columns``.

    ``raw_width`` is F; ``width`` is the number of features per token after ``add_match_features``. Added
    features follow the token's own: the first ``raw_width`` columns are always the token's own.
    """

    rows: int
    columns: int
    patches: int
    raw_width: int
    width: int
    pixel_statistics: PixelStatistics | None
    """The mean and standard deviation by which pictures are normalised; None if the vision reads no
    pictures."""

    @property
    def tasks(self) -> Mapping[str, Callable[[Batch], dict[str, Tensor]]]:
        """The losses of the vision that a stage may add, by name. Each loss returns named unweighted
        terms.
        """

    def token_parameters(self) -> frozenset[str]:
        """Return the names of the parameters that compute a picture's tokens: parameter group "vision"."""

    def parameters_without_gradient(self, tasks: Collection[str]) -> frozenset[str]:
        """Return the names of the vision's parameters that get no gradient from any of these tasks, if the
        vision reads pictures.
        """

    def collate_truth(self, truths: Sequence[Any]) -> Any:
        """Return the ground truth that the vision's losses need for a batch's pairs, or None."""

    def attention_terms(
        self, pair: TokenPair, truth: Any, attention: Tensor, words: Tensor
    ) -> dict[str, Tensor]:
        """Return the losses on the attention (B, T, 2, N) of words to the tokens; words: bool (B, T), True
        for real words.
        """

    def tokens(self, before: Tensor, after: Tensor) -> TokenPair:
        """Return the tokens with the features (B, N, raw_width) of one picture each."""

    def add_match_features(self, pair: TokenPair, hidden: Hidden = (None, None)) -> TokenPair:
        """Return the features (B, N, width) after hiding tokens. A vision may add features of the other
        picture here.
        """


class PictureVision(TorchModule, Protocol):
    """A vision with a backbone of its own, which can compute a picture's tokens once and store them.

    ``has_backbone`` says whether a vision is one. cell: side of a cell in pixels. channels: of the backbone's
    features. stored_width: numbers of a stored token.
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
        """The network that computes features of pictures."""

    def normalise(self, pictures: Tensor) -> Tensor:
        """uint8 (B, H, W, 3) -> (B, 3, H, W), normalised; floats stay as they are."""

    def features(self, pictures: Tensor) -> Tensor:
        """(B, 3, H, W) normalised -> the backbone's features (B, channels, rows, columns)."""

    def to_tokens(self, pictures: Tensor) -> Tensor:
        """(B, 3, H, W) normalised -> stored tokens (B, N, stored_width), which ``tokens`` also reads."""

    def token_state(self) -> Mapping[str, Tensor]:
        """Return all weights on which the tokens of a picture depend."""


def has_backbone(vision: object) -> TypeGuard[PictureVision]:
    """Return whether a vision has a backbone.

    From Python 3.12 on, ``isinstance`` does not see the submodules and buffers of a module, so ``isinstance``
    cannot decide whether a vision has a backbone.
    """
    return all(hasattr(vision, name) for name in ("backbone", "mean", "std", "to_tokens", "token_state"))


def picture_size(vision: PictureVision) -> tuple[int, int]:
    """Return the width and height of the pictures that a vision reads."""
    return vision.cell * vision.columns, vision.cell * vision.rows


@runtime_checkable
class StandardisedVision(Protocol):
    """A vision that can standardise its tokens.

    standardises: whether this vision standardises its tokens. If so, ``measure`` must be called before the
    vision is used.
    """

    standardises: bool

    def measure(self, before: Tensor, after: Tensor) -> None:
        """From now on, standardise by the tokens of these pairs. before, after: as in ``Vision.tokens``."""


class PlainVision(nn.Module):
    """The common behaviour of published visions: no losses of the vision, no ground truth, no matching."""

    pixel_statistics: PixelStatistics | None = None

    @property
    def tasks(self) -> Mapping[str, Callable[[Batch], dict[str, Tensor]]]:
        """None."""
        return {}

    def token_parameters(self) -> frozenset[str]:
        """Return the names of all parameters of the vision."""
        return frozenset(name for name, _ in self.named_parameters())

    def parameters_without_gradient(self, tasks: Collection[str]) -> frozenset[str]:
        """Return no names, as long as a task reads pictures."""
        return frozenset() if tasks else self.token_parameters()

    def collate_truth(self, truths: Sequence[Any]) -> Any:
        """Return None, because the vision needs no ground truth."""
        return None

    def attention_terms(
        self, pair: TokenPair, truth: Any, attention: Tensor, words: Tensor
    ) -> dict[str, Tensor]:
        """Return no losses, because the objects that tokens show are unknown."""
        return {}

    def add_match_features(self, pair: TokenPair, hidden: Hidden = (None, None)) -> TokenPair:
        """Return the features, with zeros at hidden tokens."""
        if all(mask is None for mask in hidden):
            return pair
        before, after = pair
        return TokenPair(
            before.with_features(hide(before.features, hidden[0])),
            after.with_features(hide(after.features, hidden[1])),
        )


def hide(features: Tensor, hidden: Tensor | None) -> Tensor:
    """Return a copy of features (B, N, F) with zeros at hidden tokens (B, N)."""
    return features if hidden is None else features.masked_fill(hidden.unsqueeze(-1), 0.0)


def in_rows(tokens: Tokens) -> Tensor:
    """Return the features of all cells, row by row (B, N, F). An object vision returns its cells ordered by
    salience.
    """
    features = tokens.features
    return torch.zeros_like(features).scatter(1, tokens.cells[..., None].expand_as(features), features)


def corresponding(pair: TokenPair, vision: Vision) -> TokenPair:
    """Return the pair, ordered so that token n of both pictures corresponds, for methods that compare by
    position.

    Aligned tokens keep their order. Otherwise all cells of the grid are put in row order, token n in cell n.
    Raises ShapeError where tokens are missing, because such pictures cannot be compared cell by cell.
    """
    if pair.aligned:
        return pair
    cells = vision.rows * vision.columns
    if vision.patches != cells:
        raise ShapeError(
            f"this method compares both pictures cell by cell: got {vision.patches} cells, wanted all {cells}"
            " of the grid. Set vision.keep = 0."
        )
    numbers = torch.arange(cells, device=pair.before.cells.device).expand_as(pair.before.cells)
    before, after = (replace(own, features=in_rows(own), cells=numbers) for own in pair)
    return TokenPair(before, after)


def coordinates(cells: Tensor, rows: int, columns: int, dtype: torch.dtype = torch.float32) -> Tensor:
    """Return the coordinates of cells on the grid, two numbers from -1 on: x = 2 column / columns - 1, y
    likewise.

    cells: numbers, row by row, (..., N) -> (..., N, 2) of ``dtype``, x first. The last cell is below 1.
    Source: Park et al.'s released code, from which others copied it.
    """
    x, y = (cells % columns).to(dtype), (cells // columns).to(dtype)
    return torch.stack([2 * x / columns - 1, 2 * y / rows - 1], dim=-1)


def on_both_grids(attention: Tensor, cells: Tensor, vision: Vision) -> Tensor:
    """Attention (B, 2, N) to the tokens of both pictures -> on their grids, (B, 2, rows, columns).

    cells: (B, 2, N), ``TokenPair.cells``. The attention to several tokens of one cell is added up.
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
