"""DIRL against an independent re-derivation that runs one pair, one head, one token at a time."""

import pytest
import torch
from support import dirl_equations
from support.tiny_dirl import GRID, READINGS, random_batch, stirred, tiny
from support.tiny_pcl import greedy_ids
from torch.testing import assert_close

from whatchanged.vocabulary import BOS, CLS, MASK, PAD, UNK

pytestmark = pytest.mark.parametrize("reading", READINGS)

HEADS = 4
MARKS = [PAD, BOS, UNK, CLS, MASK]


def equal(ours, theirs):
    assert_close(ours, theirs, atol=1e-6, rtol=1e-6)  # the sinusoid is stored in single precision


def test_tokens_and_memory(reading):
    model = tiny(reading).double()
    W, batch = dict(model.state_dict()), random_batch(model)
    before, after = model.tokens(model.pair(batch.before, batch.after))
    found = model.memory(before, after)
    for b in range(4):
        t1, t2 = (dirl_equations.tokens(W, f[b], *GRID, reading) for f in (batch.before, batch.after))
        equal((before[b], after[b]), (t1, t2))
        equal(found[b], dirl_equations.memory(W, t1, t2, 2, HEADS, reading))


@pytest.mark.parametrize(("scenes", "pooling"), [(True, "words"), (False, "all")], ids=str)
def test_all_three_losses(reading, scenes, pooling):
    model = tiny(reading, pooling=pooling, layers=1, decoder_layers=2, epsilon=1e-3).double()
    batch = random_batch(model, scenes=scenes)
    caption, dirl, ccr = dirl_equations.losses(
        dict(model.state_dict()), batch, GRID, 1, 2, HEADS, reading, pooling, 1e-3
    )
    equal(model.loss("caption", batch), {"caption": caption, "dirl": 0.5 * dirl, "ccr": 0.25 * ccr})


@torch.no_grad()
def test_greedy_ids_and_where_they_looked(reading):
    model = stirred(reading)
    W, batch = dict(model.state_dict()), random_batch(model, pairs=4)
    ours = greedy_ids(model, batch.before, batch.after).tolist()
    memory, maps = model.encode(batch.before, batch.after), []
    cache = model.first_cache(memory)
    for position in range(1, model.max_length):
        previous = torch.tensor([ids[position - 1] for ids in ours])
        _, attention, cache = model.step(memory, previous, position, cache)
        maps.append(attention)
    for b in range(4):
        ids, looked = dirl_equations.greedy(
            W, batch.before[b], batch.after[b], GRID, 2, 2, HEADS, reading, model.max_length, MARKS
        )
        assert ours[b] == ids and ids[0] == BOS
        each = torch.stack([m[b] for m in maps])
        equal(each, looked.view(-1, 1, *GRID).expand(-1, 2, -1, -1) / 2)
    assert len({tuple(ids) for ids in ours}) > 1 and max(len(set(ids)) for ids in ours) >= 3
