"""Backbones that others bring: a function opens each, by the entry-point group "whatchanged.backbones".

``--backbone NAME`` or ``--backbone NAME:DETAIL`` calls the function of that name with what stands behind the
colon ("" for nothing) and the path of ``--weights`` (None for none); it returns a ``GridNetwork``. Vision
models of ``transformers`` are opened in this way, too. Nothing here imports torch.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from whatchanged import plugins

if TYPE_CHECKING:
    from torch import nn

OPENERS: Mapping[str, str] = {
    "transformers": "whatchanged.training.features.transformers_models:open_transformers",
}
"""``--backbone`` -> "module:function" of what this package brings."""


@dataclass(frozen=True)
class GridNetwork:
    """A frozen network that makes a grid of features of a picture, and which pictures it wants.

    network: (B, 3, H, W) normalised -> (B, F, rows, columns), the same for each picture whatever lies beside
    it in the batch. size: W, H in pixels; pictures are resized to it as a whole. mean, std: of its pixels, a
    number a channel: (x / 255 - mean) / std. layer: which of its layers the features are, in words.
    """

    network: "nn.Module"
    size: tuple[int, int]
    mean: Sequence[float]
    std: Sequence[float]
    layer: str = ""


BackboneOpener = Callable[[str, Path | None], GridNetwork]
"""What stands behind the colon of ``--backbone``, and ``--weights``, to the network. Raises RecipeError where
there is no such thing, or its weights are missing or do not fit."""


def opener_names() -> tuple[str, ...]:
    """What others' backbones are called, those of this package first. Imports none of them."""
    return plugins.names(plugins.BACKBONES, OPENERS)


def find_opener(name: str) -> BackboneOpener:
    """The function of this name, imported now. Raises PluginError where it cannot be."""
    return plugins.find(plugins.BACKBONES, name, OPENERS, _callable)


def _callable(name: str, value: object) -> BackboneOpener:
    """The function itself. Raises TypeError where it is none."""
    if not callable(value):
        raise TypeError(f"wanted a function (detail, weights) -> GridNetwork, got {value!r}")
    return value
