"""Lists of layers whose class the type checker knows, and dropout that keeps little."""

from collections.abc import Iterator
from typing import TypeVar

import torch
from torch import Tensor, nn

LayerType = TypeVar("LayerType", bound=nn.Module)


def layers_of(layers: nn.ModuleList, kind: type[LayerType]) -> Iterator[LayerType]:
    """The layers in their order, all of one class. Raises TypeError at one of another class."""
    for layer in layers:
        if not isinstance(layer, kind):
            raise TypeError(f"a layer is {type(layer).__name__}, wanted {kind.__name__}")
        yield layer


class Dropout(nn.Dropout):
    """torch's dropout, with the same draws and numbers on every device.

    On a CPU torch keeps a number for each draw until the gradient comes back; this keeps a byte.
    """

    def forward(self, x: Tensor) -> Tensor:
        """x with its share of zeros, the rest scaled up; x itself outside of training."""
        if not self.training or self.p == 0:
            return x
        dropped: Tensor = torch.native_dropout(x, self.p, True)[0]
        return dropped
