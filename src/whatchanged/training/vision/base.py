"""What a method is fed: a batch of pairs, and the two grids of features that a way of seeing makes of it.

Axis letters: B pairs, N patches kept of a picture, F width of a patch's raw features, L text positions,
K negatives.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor, nn

from whatchanged.errors import RecipeError, ShapeError
from whatchanged.training.batches import Example

Hidden = tuple[Tensor | None, Tensor | None]
"""For before and after: bool (B, N), True where a patch is to be hidden; None hides nothing."""


@dataclass(frozen=True)
class Grids:
    """Two pictures as patches: features (B, N, F) and each patch's index on the full grid (B, N), row by row.

    ``places`` (B, N, 2) and ``salience`` (B, N) exist where the way of seeing knows them.
    """

    before: Tensor
    after: Tensor
    cells_before: Tensor
    cells_after: Tensor
    places_before: Tensor | None = None
    places_after: Tensor | None = None
    salience_before: Tensor | None = None
    salience_after: Tensor | None = None

    @property
    def single(self) -> bool:
        """There is no picture after: it has no patches. Never so in a graph that is exported."""
        return not torch.onnx.is_in_onnx_export() and not self.after.shape[1]

    def replace_features(self, before: Tensor, after: Tensor) -> "Grids":
        """The same patches with other features."""
        return replace(self, before=before, after=after)


class Vision(Protocol):
    """A way of seeing (a torch module): the full grid is ``rows`` x ``columns``, ``patches`` of it are kept.

    ``raw_width`` is F; ``width`` is what ``add_match_features`` returns per patch. Whatever
    ``add_match_features`` adds stands behind
    the patch's own features: the first ``raw_width`` columns are always these.
    """

    rows: int
    columns: int
    patches: int
    raw_width: int
    width: int

    @property
    def tasks(self) -> "Mapping[str, Callable[[Batch], dict[str, Tensor]]]":
        """Losses of its own that a stage may mix in, by name: named unweighted terms."""

    def parameters_without_gradient(self, tasks: Collection[str]) -> frozenset[str]:
        """Names of its parameters that none of these tasks gives a gradient when it reads pictures."""

    def collate_truth(self, truths: Sequence[Any]) -> Any:
        """What its own losses need to know of a batch's pairs, or None."""

    def pointing(self, grids: Grids, truth: Any, looked: Tensor, asked: Tensor) -> Tensor:
        """With scene truth: a loss on words (B, T) whose attention (B, T, 2, N) misses what they tell of."""

    def grids(self, before: Tensor, after: Tensor) -> Grids:
        """Raw features (B, N, raw_width) of both pictures."""

    def add_match_features(self, grids: Grids, hidden: Hidden = (None, None)) -> Grids:
        """Features (B, N, width) after hiding patches; each grid may be told of the other here."""


def hide(features: Tensor, hidden: Tensor | None) -> Tensor:
    """A copy of features (B, N, F) with zeros at hidden patches (B, N); the original stays untouched."""
    return features if hidden is None else features.masked_fill(hidden.unsqueeze(-1), 0.0)


def to_patches(attention: Tensor, patches: int) -> Tensor:
    """Attention (B, ..., S) to rows [IMG1] patches [IMG2] patches .. -> to the patches, (B, ..., 2, N)."""
    parts = attention[..., 1 : 1 + patches], attention[..., 2 + patches : 2 + 2 * patches]
    return torch.stack(parts, dim=-2)


def on_grids(attention: Tensor, cells: Tensor, vision: Vision) -> Tensor:
    """The same of one row each, (B, S), laid on the full grids (B, 2, rows, columns); cells: (B, 2, N)."""
    full = attention.new_zeros(attention.shape[0], 2, vision.rows * vision.columns)
    full = full.scatter(2, cells, to_patches(attention, vision.patches))
    return full.view(-1, 2, vision.rows, vision.columns)


class StoredFeatures(nn.Module):
    """Stored features, (B, rows * columns, F) each, all patches kept, nothing learned."""

    def __init__(self, rows: int = 7, columns: int = 7, feature_width: int = 2048) -> None:
        super().__init__()
        self.rows, self.columns, self.patches = rows, columns, rows * columns
        self.raw_width = self.width = feature_width
        self.tasks: dict[str, Callable[[Batch], dict[str, Tensor]]] = {}
        self.cells: Tensor
        self.register_buffer("cells", torch.arange(self.patches), persistent=False)

    def parameters_without_gradient(self, tasks: Collection[str]) -> frozenset[str]:
        """It has no parameters."""
        return frozenset()

    def collate_truth(self, truths: Sequence[Any]) -> None:
        """Stored features learn nothing, so nothing is asked of the truth."""

    def pointing(self, grids: Grids, truth: Any, looked: Tensor, asked: Tensor) -> Tensor:
        """Raises RecipeError: nobody knows what stored features show."""
        raise RecipeError(
            "method.guided_attention needs scene truth: set vision.scene_truth, or switch it off."
        )

    def grids(self, before: Tensor, after: Tensor) -> Grids:
        """The features as they are. Raises ShapeError if they do not fit the grid."""
        if not torch.onnx.is_in_onnx_export():
            wanted = (self.patches, self.raw_width)
            for name, features in (("before", before), ("after", after)):
                if tuple(features.shape[1:]) != wanted:
                    raise ShapeError(
                        f"features of {name}: got {tuple(features.shape)}, wanted (pairs, {wanted[0]}, "
                        f"{wanted[1]}) for a grid of {self.rows} x {self.columns}. Extract them again, or "
                        "set vision.rows, vision.columns and vision.feature_width to what is stored."
                    )
        cells = self.cells.expand(before.shape[0], -1)
        return Grids(before, after, cells, cells)

    def add_match_features(self, grids: Grids, hidden: Hidden = (None, None)) -> Grids:
        """Hidden patches become zero; otherwise the identity."""
        return grids.replace_features(hide(grids.before, hidden[0]), hide(grids.after, hidden[1]))


@dataclass(frozen=True)
class Batch:
    """B examples as tensors.

    before, after: what ``Vision.grids`` reads. ids: (B, L) clean captions, BOS words EOS PAD.
    negatives_ids: (B, K, L) false captions. changed: (B,) 1 where the content changed, 0 for a distractor.
    generator: source of the corruption's random numbers; None is torch's global one.
    truth: what the vision's own losses need, a dataclass of tensors with a ``to``; or None.
    single: there is no picture after; ``after`` is not to be read.
    labels: (B, 2) classes of both pictures.
    """

    before: Tensor
    after: Tensor
    ids: Tensor
    negatives_ids: Tensor | None = None
    changed: Tensor | None = None
    generator: torch.Generator | None = None
    truth: Any = None
    single: bool = False
    labels: Tensor | None = None

    def to(self, device: torch.device | str) -> "Batch":
        """The same batch on another device (the generator stays where it is)."""
        moved: dict[str, Any] = {
            name: value.to(device, non_blocking=True)
            for name, value in vars(self).items()
            if isinstance(value, Tensor)
        }
        if self.truth is not None:
            moved["truth"] = self.truth.to(device)
        return replace(self, **moved)


def stacked(examples: Sequence[Example]) -> tuple[Tensor, Tensor]:
    """The examples' pictures (or tokens) before and after, (B, ...) each; ShapeError where shapes differ."""

    def stack(side: str) -> Tensor:
        arrays = [getattr(example, side) for example in examples]
        shapes = sorted({array.shape for array in arrays})
        if len(shapes) > 1:
            raise ShapeError(
                f"pictures of one batch ({side}): got shapes {shapes}, wanted one. Resize them first."
            )
        return torch.from_numpy(np.stack(arrays))

    return stack("before"), stack("after")
