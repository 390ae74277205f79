"""PCL against an independent re-derivation that runs one sample, one head, one row at a time."""

import pytest
import torch
from support import authors_equations
from support.tiny_pcl import greedy_ids, random_batch, stirred, tiny
from torch.testing import assert_close

from whatchanged.training.methods.pcl_objectives import corrupt_patches, corrupt_words
from whatchanged.vocabulary import PAD

pytestmark = pytest.mark.parametrize("preset", ["paper", "authors"])

HEADS = 4


@pytest.fixture
def case(preset):
    model = tiny(preset).double()
    return model, authors_equations.symbols(model.state_dict()), random_batch(model)


def drawn_words(model, batch):
    """The corruption that the model will draw."""
    return corrupt_words(batch.ids, len(model.vocabulary), torch.Generator().manual_seed(2))


def equal(ours, theirs):
    assert_close(ours, theirs, atol=1e-6, rtol=1e-6)  # the sinusoid is stored in single precision


def test_hidden_states(case, preset):
    model, W, batch = case
    pair = model.vision.tokens(batch.before, batch.after)
    images = model.image_rows(pair)
    rows = images.rows
    joint = model.joint_rows(images, batch.ids, batch.ids != PAD)
    captioning = model.captioning_rows(images, batch.ids)
    for b, (f1, f2, ids) in enumerate(zip(batch.before, batch.after, batch.ids, strict=True)):
        single = model.single(model.embed.image(pair.after, 1))[b]
        equal(single, authors_equations.single(W, f2, 2, HEADS, preset))
        equal(rows[b], authors_equations.difference(W, f1, f2, HEADS, preset))
        equal(joint[b], authors_equations.pretraining(W, f1, f2, ids, ids, HEADS, preset))
        equal(captioning[b], authors_equations.finetuning(W, f1, f2, ids, HEADS, preset))


def test_masked_words(case, preset):
    model, W, batch = case
    inputs, labels = drawn_words(model, batch)
    theirs = authors_equations.mlm(W, batch.before, batch.after, inputs, labels, batch.ids, HEADS, preset)
    equal(model.loss("mlm", batch), {"mlm": theirs})


def test_masked_patches(case, preset):
    model, W, batch = case
    hidden = corrupt_patches(model.tokens(batch), torch.Generator().manual_seed(2))
    theirs = authors_equations.mvcl(W, batch.before, batch.after, batch.ids, *hidden, HEADS, preset)
    equal(model.loss("mvcl", batch), {"mvcl": theirs})


def test_true_and_false_captions(case, preset):
    model, W, batch = case
    texts = torch.cat([batch.ids[:, None], batch.negatives_ids], dim=1)
    theirs = authors_equations.fda(W, batch.before, batch.after, texts, HEADS, preset)
    equal(model.loss("fda", batch), {"fda": theirs})


def test_captioning_and_distractors(case, preset):
    model, W, batch = case
    words = drawn_words(model, batch)
    theirs = authors_equations.captioning(W, batch.before, batch.after, *words, batch.changed, HEADS, preset)
    equal(model.loss("caption", batch), dict(zip(("caption", "distractor"), theirs, strict=True)))


def test_temperatures(preset):
    model = tiny(preset, mvcl_temperature=0.2, fda_temperature=0.1).double()
    W, batch = authors_equations.symbols(model.state_dict()), random_batch(model, pairs=2)
    hidden = corrupt_patches(model.tokens(batch), torch.Generator().manual_seed(2))
    texts = torch.cat([batch.ids[:, None], batch.negatives_ids], dim=1)
    mvcl = authors_equations.mvcl(W, batch.before, batch.after, batch.ids, *hidden, HEADS, preset, t1=0.2)
    fda = authors_equations.fda(W, batch.before, batch.after, texts, HEADS, preset, t2=0.1)
    equal(model.loss("mvcl", batch)["mvcl"], mvcl)
    assert_close(model.loss("fda", batch)["fda"], fda, atol=1e-5, rtol=1e-5)


def test_greedy_ids(preset):
    model = stirred(preset).double()
    W, batch = authors_equations.symbols(model.state_dict()), random_batch(model, pairs=6)
    before, after = 4 * batch.before - 2, 4 * batch.after - 2
    theirs = [
        authors_equations.greedy(W, f1, f2, model.max_length, HEADS, preset)
        for f1, f2 in zip(before, after, strict=True)
    ]
    ours = greedy_ids(model, before, after).tolist()
    assert ours == theirs
    assert len({tuple(ids) for ids in ours}) > 3 and max(len(set(ids)) for ids in ours) > 3
