"""SCORER against an independent re-derivation that runs one pair, one head, one token at a time."""

import pytest
import torch
from support import scorer_equations
from support.tiny_pcl import greedy_ids
from support.tiny_scorer import GRID, READINGS, random_batch, stirred, tiny
from torch.testing import assert_close

from whatchanged.vocabulary import BOS, CLS, MASK, PAD, UNK

pytestmark = pytest.mark.parametrize("reading", READINGS)

HEADS = 4
MARKS = [PAD, BOS, UNK, CLS, MASK]


@pytest.fixture
def case(reading):
    model = tiny(reading).double()
    return model, dict(model.state_dict()), random_batch(model, pairs=5)


def equal(ours, theirs):
    assert_close(ours, theirs, atol=1e-6, rtol=1e-6)  # the sinusoid is stored in single precision


def test_tokens_and_difference(case, reading):
    model, W, batch = case
    before, after = model.tokens(model.pair(batch.before, batch.after))
    memory, found = model.difference(before, after)
    for b in range(5):
        pair = [scorer_equations.tokens(W, f[b], *GRID, reading) for f in (batch.before, batch.after)]
        equal((before[b], after[b]), tuple(pair))
        theirs, asked = scorer_equations.difference(W, *pair, 2, HEADS, reading)
        equal(memory[b], theirs)
        equal([tuple(part[b] for part in side) for side in found], asked)


def test_all_three_losses(case, reading):
    model, W, batch = case
    caption, view, reason = scorer_equations.losses(W, batch, GRID, 2, 2, HEADS, reading)
    equal(model.loss("caption", batch), {"caption": caption, "view": 0.5 * view, "reason": 0.25 * reason})


def test_other_depths_and_temperatures(reading):
    model = tiny(reading, layers=3, decoder_layers=1, temperature=0.2).double()
    W, batch = dict(model.state_dict()), random_batch(model, pairs=4)
    caption, view, reason = scorer_equations.losses(W, batch, GRID, 3, 1, HEADS, reading, tau=0.2)
    equal(model.loss("caption", batch), {"caption": caption, "view": 0.5 * view, "reason": 0.25 * reason})


def test_subtraction(reading):
    model = tiny(reading, difference="subtract", view_weight=0.0).double()
    W, batch = dict(model.state_dict()), random_batch(model, pairs=4)
    caption, _, reason = scorer_equations.losses(W, batch, GRID, 0, 2, HEADS, reading)
    equal(model.loss("caption", batch), {"caption": caption, "reason": 0.25 * reason})


@torch.no_grad()
def test_greedy_ids_and_where_they_looked(reading):
    model = stirred(reading).double()
    W, batch = dict(model.state_dict()), random_batch(model, pairs=5)
    ours = greedy_ids(model, batch.before, batch.after).tolist()
    memory, maps = model.encode(batch.before, batch.after), []
    cache = model.first_cache(memory)
    for position in range(1, model.max_length):
        previous = torch.tensor([ids[position - 1] for ids in ours])
        _, attention, cache = model.step(memory, previous, position, cache)
        maps.append(attention)
    for b in range(5):
        ids, looked = scorer_equations.greedy(
            W, batch.before[b], batch.after[b], GRID, 2, 2, HEADS, reading, model.max_length, MARKS
        )
        assert ours[b] == ids and ids[0] == BOS
        each = torch.stack([m[b] for m in maps])
        equal(each, looked.view(-1, 1, *GRID).expand(-1, 2, -1, -1) / 2)
    assert len({tuple(ids) for ids in ours}) > 3 and max(len(set(ids)) for ids in ours) >= 3
