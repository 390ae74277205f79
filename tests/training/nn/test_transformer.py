import math

import pytest
import torch
from torch.testing import assert_close

from whatchanged.training.nn.transformer import (
    DeviationNorm,
    Stack,
    captioning_mask,
    chosen_first,
    key_mask,
    norm,
    sinusoid,
)


def test_the_two_sinusoids_have_their_known_values():
    authors, vaswani = sinusoid(3, 4, doubled_exponent=True), sinusoid(3, 4, doubled_exponent=False)
    assert_close(authors[1], torch.tensor([0.841471, 0.999950, 0.000100, 1.0]), atol=1e-6, rtol=0)
    assert_close(authors[2], torch.tensor([0.909297, 0.999800, 0.000200, 1.0]), atol=1e-6, rtol=0)
    assert_close(vaswani[1], torch.tensor([0.841471, 0.540302, 0.010000, 0.999950]), atol=1e-6, rtol=0)
    wide = sinusoid(2, 512, doubled_exponent=True)[1, :4]
    assert_close(wide, torch.tensor([0.841471, 0.569695, 0.801962, 0.623420]), atol=1e-6, rtol=0)
    wide = sinusoid(2, 512, doubled_exponent=False)[1, :4]
    assert_close(wide, torch.tensor([0.841471, 0.540302, 0.821856, 0.569695]), atol=1e-6, rtol=0)


def test_few_entries_of_the_doubled_sinusoid_move_over_a_grid():
    table = sinusoid(49, 512, doubled_exponent=True)
    assert int(((table[48] - table[0]).abs() > 0.01).sum()) == 197


def test_the_two_norms_have_their_known_values():
    x = torch.tensor([[1.0, 2.0, 3.0, 4.0]])
    deviation = torch.tensor([[-1.161894, -0.387298, 0.387298, 1.161894]])
    standard = torch.tensor([[-1.341635, -0.447212, 0.447212, 1.341635]])
    assert_close(norm(4, True, 1e-6)(x), deviation, atol=2e-6, rtol=0)
    assert_close(norm(4, False, 1e-6)(x), standard, atol=2e-6, rtol=0)


def test_epsilon_is_added_to_the_deviation_not_to_its_square():
    x = torch.tensor([1.0, 3.0])  # deviation sqrt(2)
    assert_close(DeviationNorm(2, 0.5)(x), torch.tensor([-1.0, 1.0]) / (math.sqrt(2) + 0.5))


def test_the_deviation_norm_is_its_formula_and_finite_on_equal_numbers():
    torch.manual_seed(0)
    x = torch.randn(5, 7, dtype=torch.float64, requires_grad=True)
    layer = DeviationNorm(7, 1e-2).double()
    wanted = (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + 1e-2)
    upstream = torch.randn(5, 7, dtype=torch.float64)
    assert_close(layer(x), wanted)
    assert_close(torch.autograd.grad(layer(x), x, upstream), torch.autograd.grad(wanted, x, upstream))
    flat = torch.full((2, 7), 3.0, dtype=torch.float64, requires_grad=True)
    assert_close(layer(flat), torch.zeros(2, 7, dtype=torch.float64))
    assert torch.autograd.grad(layer(flat).sum(), flat)[0].isfinite().all()


def test_images_are_blind_to_text_and_text_to_what_follows():
    wanted = [[1, 1, 0, 0, 0], [1, 1, 0, 0, 0], [1, 1, 1, 0, 0], [1, 1, 1, 1, 0], [1, 1, 1, 1, 1]]
    assert captioning_mask(2, 5).int().tolist() == wanted


@pytest.mark.parametrize("deviation", [True, False])
def test_rows_run_in_two_parts_equal_rows_run_at_once(deviation):
    torch.manual_seed(0)
    stack = Stack(3, 12, heads=3, ffn=20, dropout=0.5, deviation=deviation).eval()
    x, allowed = torch.randn(2, 9, 12), captioning_mask(4, 9)
    whole = stack.with_cache(x, allowed)
    first = stack.with_cache(x[:, :4])
    second = stack.with_cache(x[:, 4:], allowed[4:], [(first.keys, first.values)])
    assert_close(torch.cat([first.rows, second.rows], 1), whole.rows)
    assert_close(torch.cat([first.keys, second.keys], 3), whole.keys)
    assert_close(second.attention, whole.attention[..., 4:, :])
    assert_close(stack(x, allowed), whole.rows)
    assert whole.attention.shape == (2, 3, 3, 9, 9)


@pytest.mark.parametrize("mask", ["none", "rows", "keys"])
@pytest.mark.parametrize("asked", [torch.tensor([7, 2]), torch.tensor([[0, 8], [5, 0], [4, 4]])])
def test_asked_rows_are_those_of_all(mask, asked):
    """With the gradient that the other rows would have passed on."""
    torch.manual_seed(0)
    stack = Stack(2, 12, heads=3, ffn=20, dropout=0.0, deviation=True)
    x, real = torch.randn(3, 9, 12, requires_grad=True), torch.rand(3, 9) < 0.8
    real[:, 0] = True
    rows = captioning_mask(4, 9)
    allowed = {"none": None, "rows": rows, "keys": key_mask(real)}[mask]
    all_rows = stack(x, allowed)
    wanted = all_rows[:, asked] if asked.ndim == 1 else all_rows[torch.arange(3)[:, None], asked]
    found = stack(x, allowed, asked)
    assert_close(found, wanted)
    upstream = torch.randn_like(found)
    assert_close(torch.autograd.grad(found, x, upstream), torch.autograd.grad(wanted, x, upstream))


def test_known_rows_are_read_where_they_lie_like_rows_at_hand():
    torch.manual_seed(0)
    stack = Stack(3, 12, heads=3, ffn=20, dropout=0.0, deviation=True).eval()
    x, allowed = torch.randn(2, 9, 12), captioning_mask(4, 9)
    whole = stack.with_cache(x, allowed)
    front = stack.with_cache(x[:, :4])
    past = stack.with_cache(x[:, 4:7], allowed[4:7, :7], [(front.keys, front.values)])
    known = [(front.keys, front.values), (past.keys, past.values)]
    last = stack.with_cache(x[:, 7:], allowed[7:], known, query_rows=torch.tensor([1]))
    assert_close(torch.cat([past.keys, last.keys], 3), whole.keys[:, :, :, 4:])
    assert all(front.keys[:, layer].is_contiguous() for layer in range(3))
    assert_close(last.rows, whole.rows[:, 8:])
    assert_close(last.attention, whole.attention[..., 8:, :])


def test_chosen_columns_come_first_and_in_order():
    chosen = torch.tensor([[0, 1, 0, 1], [0, 0, 0, 0], [0, 0, 1, 0]]).bool()
    columns, some = chosen_first(chosen)
    assert columns.tolist() == [[1, 3], [0, 0], [2, 0]]
    assert some.tolist() == [[True, True], [False, False], [True, False]]
    assert chosen_first(chosen[1:2])[0].shape == (1, 0) and chosen_first(chosen[:0])[0].shape == (0, 0)


def test_a_block_of_the_published_size_has_the_published_number_of_weights():
    with torch.device("meta"):
        stack = Stack(3, 512, heads=8, ffn=2048, dropout=0.2, deviation=True)
    assert [sum(p.numel() for p in block.parameters()) for block in stack.blocks] == [3_152_384] * 3
    assert sum(p.numel() for p in stack.entry_norm.parameters()) == 1024


def test_there_is_no_norm_at_the_exit():
    stack = Stack(1, 8, heads=2, ffn=8, dropout=0.0, deviation=False)
    x = torch.randn(1, 4, 8)
    with torch.no_grad():
        for layer in (stack.blocks[0].attention.out, stack.blocks[0].ffn[3]):
            layer.weight.zero_()
            layer.bias.fill_(1.0)
    assert_close(stack(x), stack.entry_norm(x) + 2.0)
