"""Lists of layers whose class the type checker knows."""

from collections.abc import Iterator
from typing import TypeVar

from torch import nn

LayerType = TypeVar("LayerType", bound=nn.Module)


def layers_of(layers: nn.ModuleList, kind: type[LayerType]) -> Iterator[LayerType]:
    """The layers in their order, all of one class. Raises TypeError at one of another class."""
    for layer in layers:
        if not isinstance(layer, kind):
            raise TypeError(f"a layer is {type(layer).__name__}, wanted {kind.__name__}")
        yield layer
