"""The method against its plain re-derivation, in float64: both presets, both baselines."""

import pytest
import torch
from support import clip4idc_equations as plain
from support.tiny_clip4idc import SIZES, greedy_ids, random_batch, tiny
from torch.testing import assert_close

from whatchanged.vocabulary import BOS, EOS, PAD

CASES = [
    ("paper", "clip4idc"),
    ("authors", "clip4idc"),
    ("paper", "ft1"),
    ("paper", "ft2"),
    ("authors", "ft1"),
]
every_case = pytest.mark.parametrize(("preset", "variant"), CASES)


@pytest.fixture
def case(preset, variant):
    wide = {"decoder_width": 20} if (preset, variant) == ("paper", "clip4idc") else {}
    model = tiny(preset, variant, **wide).double()
    return model, model.state_dict(), random_batch(model)


def tokens(model, W, batch, b, preset):
    inter = len(model.pair.inter)
    intra = SIZES["intra_layers"] + SIZES["inter_layers"] - inter
    return plain.pair_tokens(W, batch.before[b], batch.after[b], 8, SIZES["heads"], intra, inter, preset)


def logits(model, W, batch, b, ids, preset, variant):
    sizes = (SIZES["decoder_heads"], SIZES["decoder_layers"])
    text = (SIZES["text_heads"], SIZES["text_layers"])
    return plain.word_logits(W, tokens(model, W, batch, b, preset), ids, *sizes, preset, variant, *text)


@every_case
@torch.no_grad()
def test_pair_tokens(case, preset, variant):
    model, W, batch = case
    ours = model.pair(model.read(batch.before, batch.after))
    for b in range(len(ours)):
        assert_close(ours[b], tokens(model, W, batch, b, preset), atol=1e-10, rtol=1e-9)


@pytest.mark.parametrize(("preset", "variant"), CASES[:2])
@torch.no_grad()
def test_retrieval(case, preset, variant):
    model, W, batch = case
    pairs, texts = [], []
    for b, ids in enumerate(batch.ids.tolist()):
        H = tokens(model, W, batch, b, preset)
        pairs.append((H[0] + H[7]) / 2)
        texts.append(plain.text_vector(W, ids, EOS, SIZES["text_heads"], SIZES["text_layers"]))
    assert_close(model.embed_pairs(batch.before, batch.after), torch.stack(pairs), atol=1e-10, rtol=1e-9)
    assert_close(model.embed_texts(batch.ids), torch.stack(texts), atol=1e-10, rtol=1e-9)
    changed = [b for b in range(4) if batch.changed[b]]
    scale = float(W["log_scale"].exp()) if preset == "authors" else 1.0
    wanted = plain.contrastive([texts[b] for b in changed], [pairs[b] for b in changed], scale, preset)
    assert sum(model.loss("retrieval", batch).values()).item() == pytest.approx(wanted, rel=1e-9)


@every_case
@torch.no_grad()
def test_captioning(case, preset, variant):
    model, W, batch = case
    rows = [logits(model, W, batch, b, ids[:-1], preset, variant) for b, ids in enumerate(batch.ids.tolist())]
    ours = model.caption_logits(batch.before, batch.after, batch.ids)[:, 1:]
    for b in range(4):
        assert_close(ours[b], rows[b], atol=1e-9, rtol=1e-9)
    ids = batch.ids.tolist()
    if preset == "paper":
        wanted = {"caption": plain.caption_loss(rows, ids, PAD)}
    else:
        apart = {"caption": [0, 2, 3], "unchanged": [1]}
        wanted = {
            name: plain.caption_loss([rows[b] for b in chosen], [ids[b] for b in chosen], PAD)
            for name, chosen in apart.items()
        }
    results = {name: term.item() for name, term in model.loss("caption", batch).items()}
    assert results == pytest.approx(wanted, rel=1e-9)


@every_case
@torch.no_grad()
def test_greedy_ids_and_their_scores(case, preset, variant):
    model, W, batch = case
    ours = greedy_ids(model, batch.before, batch.after, steps=6).tolist()
    for b in range(2):
        said = [BOS]
        for _ in range(6):
            said.append(int(logits(model, W, batch, b, said, preset, variant)[-1].argmax()))
        assert said[1:] == ours[b]
    assert len({tuple(row) for row in ours}) > 1
