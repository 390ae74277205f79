import pytest
import torch
from torch.testing import assert_close

from whatchanged.training.nn.layers import Dropout


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("shape", [(400_001,), (3, 5, 7_001)])
def test_the_stated_share_is_dropped_and_the_mean_stays(p, shape):
    torch.manual_seed(0)
    found = Dropout(p)(torch.ones(shape))
    dropped = float((found == 0).float().mean())
    assert abs(dropped - p) < 0.01
    kept = found[found != 0]
    assert_close(kept, torch.full_like(kept, 1 / (1 - p)), atol=1e-3, rtol=1e-3)
    assert abs(float(found.mean()) - 1) < 0.05


def test_the_gradient_meets_the_same_draws():
    torch.manual_seed(0)
    x = torch.randn(50, 3, dtype=torch.float64, requires_grad=True)
    found = Dropout(0.3)(x)
    (gradient,) = torch.autograd.grad(found.sum(), x)
    assert torch.equal(gradient == 0, found == 0)
    assert_close(found, x * gradient)


def test_a_seed_repeats_the_draws_and_neighbours_do_not_share_them():
    layer, x = Dropout(0.5), torch.ones(4, 10_000)
    first, second = [(torch.manual_seed(7), layer(x))[1] for _ in range(2)]
    assert torch.equal(first, second)
    assert not torch.equal(layer(x), second)
    zeros = (second.view(-1) == 0).double()
    for distance in (1, 2, 3, 4):
        pair = torch.corrcoef(torch.stack([zeros[:-distance], zeros[distance:]]))
        assert abs(float(pair[0, 1])) < 0.02


def test_what_is_not_dropped_comes_back_as_it_is():
    x = torch.randn(6)
    assert Dropout(0.4).eval()(x) is x
    assert torch.equal(Dropout(0.0)(x), x)
    assert torch.equal(Dropout(1.0)(x), torch.zeros(6))
