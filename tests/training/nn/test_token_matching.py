"""Tiled matching against the plain form, values by hand, and what must hold for any tokens."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing import assert_close

from whatchanged.errors import ShapeError
from whatchanged.training.nn.token_matching import match_tokens, tile_sizes

Q = torch.tensor([[[1.0, 0], [0, 1]], [[1, 1], [0, 0]]])
K = torch.tensor([[[1.0, 0], [0, 2]], [[1, 1], [-1, 0]]])


def split(x, heads):
    """(B, L, D) -> (B, h, L, D / h)."""
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)


def plain(q, k):
    """All products at once."""
    s = torch.einsum("ahlk,bhmk->abhlm", q, k)
    return (s.max(4)[0].mean(3) + s.max(3)[0].mean(3)).sum(2) / 2


def test_values_by_hand():
    """s(q0, k0) = [[1, 0], [0, 2]]: 1.5 both ways; s(q0, k1) = [[1, -1], [1, 0]]: (1 + 0.5) / 2; ..."""
    assert_close(match_tokens(split(Q, 1), split(K, 1)), torch.tensor([[1.5, 0.75], [1.25, 1.0]]))
    assert_close(match_tokens(split(Q, 2), split(K, 2)), torch.tensor([[1.5, 1.0], [1.5, 1.0]]))


sizes = st.integers(1, 5)


@settings(max_examples=40, deadline=None)
@given(
    sizes,
    sizes,
    sizes,
    sizes,
    st.sampled_from([1, 2]),
    st.integers(1, 2000),
    st.booleans(),
    st.integers(0, 99),
)
def test_tiles_change_neither_values_nor_gradients(rows, columns, asking, asked, heads, budget, dense, seed):
    torch.manual_seed(seed)
    q = torch.randn(rows, heads, asking, 3, dtype=torch.float64, requires_grad=True)
    k = torch.randn(columns, heads, asked, 3, dtype=torch.float64, requires_grad=True)
    upstream = torch.randn(rows, columns, dtype=torch.float64)
    ours, theirs = match_tokens(q, k, budget, dense), plain(q, k)
    assert_close(ours, theirs, atol=1e-12, rtol=0)
    gradients = [torch.autograd.grad(out, (q, k), upstream) for out in (ours, theirs)]
    assert_close(gradients[0], gradients[1], atol=1e-12, rtol=0)


@pytest.mark.parametrize("dense", [False, True])
def test_a_gradient_by_differences(dense):
    torch.manual_seed(0)
    q, k = (
        torch.randn(3, 2, 4, 3).double().requires_grad_(),
        torch.randn(2, 2, 5, 3).double().requires_grad_(),
    )
    assert torch.autograd.gradcheck(lambda q, k: match_tokens(q, k, 200, dense), (q, k))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6))
def test_what_holds_for_any_tokens(seed):
    torch.manual_seed(seed)
    q, k = torch.randn(4, 6, 8).double(), torch.randn(3, 5, 8).double()
    whole, headed = match_tokens(split(q, 1), split(k, 1)), match_tokens(split(q, 4), split(k, 4))
    assert (whole <= headed + 1e-12).all()  # a maximum of sums is at most the sum of maxima
    assert_close(match_tokens(split(k, 4), split(q, 4)), headed.T)
    shuffled = split(q[:, torch.randperm(6)], 4), split(k[:, torch.randperm(5)], 4)
    assert_close(match_tokens(*shuffled), headed)
    assert_close(match_tokens(split(3 * q, 4), split(k, 4)), 3 * headed)


def test_half_precision_sums_in_single():
    torch.manual_seed(0)
    q, k = torch.randn(4, 1, 50, 8), torch.randn(4, 1, 50, 8)
    q, k = q.bfloat16().requires_grad_(), k.bfloat16().requires_grad_()
    halved, exact = match_tokens(q, k), plain(q.float(), k.float())
    assert halved.dtype == torch.float32
    assert_close(halved, exact, atol=0.02, rtol=0.01)
    upstream = torch.randn(4, 4)
    found, wanted = (torch.autograd.grad(scores, (q, k), upstream) for scores in (halved, exact))
    assert all(gradient.dtype == torch.bfloat16 for gradient in found)
    for ours, theirs in zip(found, wanted, strict=True):
        apart = (ours - theirs).float().norm() / theirs.float().norm()
        assert apart < 0.2  # rounding chooses another token here and there


@pytest.mark.parametrize(
    ("budget", "wanted"),
    [(10**9, (8, 10)), (4 * 6 * 8 * 25, (2, 10)), (4 * 6 * 8 * 7, (1, 7)), (1, (1, 1))],
)
def test_a_tile_keeps_within_its_budget(budget, wanted):
    """A pair of pictures has 4 x 6 products of 8 bytes; a tile has as many pairs as fit, but at least one."""
    assert tile_sizes((8, 10), (4, 6), 8, budget) == wanted


def test_tiles_are_really_small(monkeypatch):
    """The largest tensor of either pass stays within the budget when the batch doubles."""
    from torch.utils._python_dispatch import TorchDispatchMode

    class Watch(TorchDispatchMode):
        largest = 0

        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            out = function(*args, **(kwargs or {}))
            for tensor in out if isinstance(out, tuple | list) else (out,):
                if isinstance(tensor, torch.Tensor) and tensor.is_floating_point():
                    self.largest = max(self.largest, tensor.numel() * tensor.element_size())
            return out

    results = []
    for pictures in (16, 32):
        q, k = torch.randn(2, pictures, 1, 20, 4).unbind()
        with Watch() as watch:
            match_tokens(q.requires_grad_(), k.requires_grad_(), 2**16).sum().backward()
        results.append(watch.largest)
    assert results == [51_200, 51_200]  # 32 blocks of 20 x 20 x 4 bytes, of 256 and 1024


@pytest.mark.parametrize("shape", [(2, 1, 3, 5), (2, 2, 3, 4), (2, 1, 40_000, 4)])
def test_shapes_that_do_not_fit(shape):
    with pytest.raises(ShapeError, match="got queries"):
        match_tokens(torch.empty(2, 1, 3, 4), torch.empty(shape))
