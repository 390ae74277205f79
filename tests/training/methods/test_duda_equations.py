"""DUDA against an independent re-derivation that runs one pair, one cell, one gate at a time."""

import pytest
import torch
from support import duda_equations
from support.tiny_duda import GRID, READINGS, random_batch, tiny
from support.tiny_pcl import greedy_ids
from torch.testing import assert_close

from whatchanged.vocabulary import BOS, CLS, EOS, MASK, PAD, UNK

pytestmark = pytest.mark.parametrize("reading", READINGS)

GROUPS = 4
MARKS = [PAD, BOS, UNK, CLS, MASK]
WEIGHED = {"map_weight": 0.5, "entropy_weight": 0.25}


def equal(ours, theirs):
    assert_close(ours, theirs, atol=1e-10, rtol=1e-10)


def test_attention_and_what_it_sums(reading):
    model = tiny(reading).double()
    W, batch = dict(model.state_dict()), random_batch(model)
    vectors, maps = model.attend(*model.cells(model.pair(batch.before, batch.after)))
    for b in range(4):
        X1, X2 = (duda_equations.with_coordinates(f[b], *GRID, reading) for f in (batch.before, batch.after))
        bef, diff, aft, a1, a2 = duda_equations.dual_attention(W, X1, X2, GROUPS, reading)
        equal(vectors[b], torch.stack([bef, diff, aft]))
        equal(maps[b], torch.stack([torch.stack(a1), torch.stack(a2)]))


@pytest.mark.parametrize(
    ("scenes", "regularise"), [(True, "changed"), (True, "all"), (False, "changed")], ids=str
)
def test_all_three_losses(reading, scenes, regularise):
    model = tiny(reading, **WEIGHED, regularise=regularise).double()
    batch = random_batch(model, scenes=scenes)
    caption, price, entropy = duda_equations.losses(
        dict(model.state_dict()), batch, GRID, GROUPS, reading, regularise
    )
    wanted = {"caption": caption, "attention_price": 0.5 * price, "attention_entropy": -0.25 * entropy}
    equal(model.loss("caption", batch), wanted)


@torch.no_grad()
def test_greedy_ids_and_where_they_looked(reading):
    """Sentences go on behind their end here, as nothing stops them."""
    model = tiny(reading, seed=3).double()
    W, batch = dict(model.state_dict()), random_batch(model, pairs=5)
    ours = greedy_ids(model, batch.before, batch.after).tolist()
    memory, maps = model.encode(batch.before, batch.after), []
    cache = model.first_cache(memory)
    for position in range(1, model.max_length):
        previous = torch.tensor([ids[position - 1] for ids in ours])
        _, attention, cache = model.step(memory, previous, position, cache)
        maps.append(attention)
    for b in range(5):
        ids, looked = duda_equations.greedy(
            W, batch.before[b], batch.after[b], GRID, GROUPS, reading, model.max_length, MARKS
        )
        assert ours[b] == ids and ids[1] != EOS
        equal(torch.stack([m[b] for m in maps]), looked)
    assert len({tuple(ids) for ids in ours}) > 2 and max(len(set(ids)) for ids in ours) >= 3
