"""Two forms of one loss, held against each other."""

from collections.abc import Callable

from torch import Tensor, nn
from torch.testing import assert_close


def assert_same_gradients(model: nn.Module, ours: Callable[[], Tensor], other: Callable[[], Tensor]) -> None:
    """Both losses are equal up to rounding, and so is the gradient of every parameter that has one."""
    losses, gradients = [], []
    for form in (ours, other):
        model.zero_grad()
        loss = form()
        loss.backward()
        losses.append(loss.detach())
        gradients.append({name: p.grad for name, p in model.named_parameters() if p.grad is not None})
    assert_close(losses[1], losses[0], atol=1e-5, rtol=1e-5)
    assert gradients[0].keys() == gradients[1].keys()
    for name, gradient in gradients[0].items():
        assert_close(gradients[1][name], gradient, atol=1e-5, rtol=1e-4, msg=name)
