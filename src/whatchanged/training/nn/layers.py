"""Lists of layers whose class the type checker knows, and a dropout that draws its masks faster on a CPU."""

from collections.abc import Iterator
from typing import TypeVar

import torch
from torch import Tensor, nn

DRAWS = 2**16
"""The number of values that a quarter of a 64-bit number can have."""

LayerType = TypeVar("LayerType", bound=nn.Module)


def layers_of(layers: nn.ModuleList, kind: type[LayerType]) -> Iterator[LayerType]:
    """Yield the layers in their order, all of one class. Raises TypeError at one of another class."""
    for layer in layers:
        if not isinstance(layer, kind):
            raise TypeError(f"a layer is {type(layer).__name__}, wanted {kind.__name__}")
        yield layer


class Dropout(nn.Dropout):
    """torch's dropout:  y = x m / (1 − p), m 0 with probability p, else 1.

    On a CPU, torch draws each m separately, which takes a tenth of a training step. This class makes four
    values of m from one random number of 64 bits. p is therefore rounded to a multiple of 1 / 65,536, also in
    1 − p.
    """

    def forward(self, x: Tensor) -> Tensor:
        """Set a share of x to zero and scale the rest up. Outside of training, return x unchanged."""
        dropped = round(self.p * DRAWS)
        if not self.training or x.device.type != "cpu" or not 0 < dropped < DRAWS:
            return super().forward(x)
        numbers = torch.empty((x.numel() + 3) // 4, dtype=torch.int64).random_(-(2**63), None)
        draws = numbers.view(torch.int16)[: x.numel()].view(x.shape)
        factors = torch.empty(x.shape, dtype=x.dtype)
        torch.ge(draws, dropped - DRAWS // 2, out=factors)
        return x * factors.mul_(DRAWS / (DRAWS - dropped))
