"""Backbones of other packages, each opened by a function under the entry-point group "whatchanged.backbones".

``--backbone NAME`` or ``--backbone NAME:DETAIL`` calls the function of that name. It receives the detail (""
for none) and the path of ``--weights`` (None for none), and returns a ``GridNetwork``. Vision models of
``transformers`` are opened in this way, too. Nothing here imports torch.
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
"""A mapping from a name in ``--backbone`` to "module:function", for the openers of this package."""


@dataclass(frozen=True)
class GridNetwork:
    """A frozen network that computes a grid of features of a picture, and the pictures that it reads.

    network: (B, 3, H, W) normalised -> (B, F, rows, columns). A picture's features do not depend on the
    others in the batch. size: W, H in pixels; pictures are resized to it without cropping. mean, std: of its
    pixels, a number a
    channel: (x / 255 - mean) / std. layer: the layer whose output the features are, in words.
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
    """Return the names of all openers, with the openers of this package first. No opener is imported."""
    return plugins.names(plugins.BACKBONES, OPENERS)


def find_opener(name: str) -> BackboneOpener:
    """Return the opener of this name, imported by this call. Raises PluginError where the import fails."""
    return plugins.find(plugins.BACKBONES, name, OPENERS, _callable)


def _callable(name: str, value: object) -> BackboneOpener:
    """Return the function itself. Raises TypeError where it is not a function."""
    if not callable(value):
        raise TypeError(f"wanted a function (detail, weights) -> GridNetwork, got {value!r}")
    return value
