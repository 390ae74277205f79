"""BertAdam, CLIP4IDC's optimiser: Adam without bias correction, with decoupled weight decay."""

from collections.abc import Callable, Iterator
from typing import Any, cast

import torch
from torch import Tensor

PIECE = 2**16
"""The number of a tensor's elements that are updated at once. The data for so few elements fits into a
processor's cache.
"""
LARGEST = 1.0
"""The largest norm of the gradient of one tensor. This clipping comes after any clipping of the joint
gradient.
"""


class BertAdam(torch.optim.Optimizer):
    """The variant of Adam that trained BERT. BertAdam clips the gradient of each tensor separately.

        g = gradient · min(1, 1 / (|gradient| + 1e-6))
        m = b1 m + (1 − b1) g;   v = b2 v + (1 − b2) g²
        p = p − lr (m / (sqrt(v) + eps) + decay · p)

    Without bias correction, the first updates are (1 − b1) / sqrt(1 − b2) times the learning rate: 0.71 at
    b2 = 0.98, 3.16 at 0.999. Source: modules/optimization.py of sushizixin/CLIP4IDC; schedule:
    ``learning_rate``.
    """

    def __init__(
        self, params: Any, lr: float, betas: tuple[float, float], eps: float, weight_decay: float
    ) -> None:
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> None:  # type: ignore[override]
        """Update every parameter that has a gradient."""
        for group in self.param_groups:
            (b1, b2), eps = group["betas"], group["eps"]
            for parameter in group["params"]:
                if parameter.grad is None:
                    continue
                gradient = cast(Tensor, parameter.grad)
                scale = (LARGEST / (gradient.norm() + 1e-6)).clamp(max=1.0)
                state = self.state[parameter]
                if not state:
                    state["m"], state["v"] = torch.zeros_like(parameter), torch.zeros_like(parameter)
                for p, g, m, v in _pieces(parameter, gradient, state["m"], state["v"]):
                    g = g * scale
                    m.mul_(b1).add_(g, alpha=1 - b1)
                    v.mul_(b2).addcmul_(g, g, value=1 - b2)
                    move = m / v.sqrt().add_(eps)
                    if group["weight_decay"]:
                        move += group["weight_decay"] * p
                    p.sub_(move.mul_(group["lr"]))


def _pieces(*tensors: Tensor) -> Iterator[tuple[Tensor, ...]]:
    """Split tensors of one shape into pieces on a CPU. Tensors on other devices, and tensors that are not
    contiguous, stay whole.
    """
    if tensors[0].device.type != "cpu" or not all(tensor.is_contiguous() for tensor in tensors):
        return iter([tensors])
    return zip(*(torch.split(tensor.view(-1), PIECE) for tensor in tensors), strict=True)
