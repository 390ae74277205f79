"""Batches that are read in parts: the same numbers, from fewer that are kept."""

from dataclasses import replace
from typing import NamedTuple

import pytest
import torch
from support.tiny_pcl import random_batch, tiny
from torch import nn

from whatchanged.testing.method_case import drawn, total
from whatchanged.training.batches import in_parts


class Named(NamedTuple):
    rows: torch.Tensor
    missing: None


@pytest.mark.parametrize("parts", [1, 2, 3, 9])
def test_what_is_read_in_parts_comes_back_whole(parts):
    seen = []

    def read(given, more):
        seen.append(len(given.rows))
        return Named(2 * given.rows + more, None), (more,)

    rows, more = torch.arange(10.0).view(5, 2), torch.arange(5.0)[:, None]
    named, (same,) = in_parts(read, parts, Named(rows, None), more)
    assert torch.equal(named.rows, 2 * rows + more) and named.missing is None and torch.equal(same, more)
    assert seen == {1: [5], 2: [2, 3], 3: [1, 2, 2], 9: [1] * 5}[parts]


def test_nothing_is_read_in_parts_where_there_is_nothing():
    assert in_parts(lambda rows: rows + 1, 3, torch.zeros(0, 2)).shape == (0, 2)


def test_gradients_are_those_of_the_whole_with_dropout_drawn_once():
    """The second pass draws what the first drew; otherwise the gradient would not be that of the loss."""
    torch.manual_seed(0)
    layer, drop = nn.Linear(4, 3).double(), nn.Dropout(0.5)
    rows = torch.randn(6, 4, dtype=torch.double)
    kept = []

    def read(own):
        out = drop(layer(own))
        kept.append(out.detach())
        return out

    loss = in_parts(read, 3, rows).square().sum()
    loss.backward()
    first = torch.cat(kept[:3])
    assert (first == 0).any() and (first != 0).any()
    torch.testing.assert_close(layer.weight.grad, (2 * first * (first != 0) * 2).T @ rows)


@pytest.mark.parametrize("task", ["mlm", "mvcl", "fda", "caption"])
def test_less_is_kept_for_the_gradient(task):
    model = tiny("authors").eval()
    batch = random_batch(model, pairs=8)

    def kept(accumulate):
        sizes = {}

        def note(tensor):
            sizes[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
            return tensor

        torch.manual_seed(0)
        with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
            loss = total(model.loss(task, drawn(replace(batch, accumulate=accumulate))))
        return sum(sizes.values()), loss.item()

    (whole, loss), (parts, same) = kept(1), kept(4)
    assert parts < 0.5 * whole and abs(same - loss) < 1e-5 * abs(loss)
