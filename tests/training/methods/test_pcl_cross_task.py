"""Single pictures and labelled pictures in PCL, against the equations written out on the same weights."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from support.tiny_pcl import VOCABULARY, random_batch, tiny
from torch.nn import functional as F
from torch.testing import assert_close

from whatchanged.errors import DatasetError
from whatchanged.recipes.methods.pcl_cross_task import PCLCrossTaskConfig
from whatchanged.training.batches import Example
from whatchanged.training.methods import pcl
from whatchanged.training.methods.pcl_cross_task import PCLCrossTask, class_contrast
from whatchanged.training.vision.base import Tokens
from whatchanged.training.vision.features import StoredFeatures
from whatchanged.vocabulary import PAD

PRESETS = pytest.mark.parametrize("preset", ["paper", "authors"])
SIZES = {"width": 16, "heads": 4, "ffn": 24, "cross_layers": 2, "max_length": 12, "negatives": 2}


def birds(preset, classes=4, **overrides):
    """A model in evaluation mode with 6 patches of 10 numbers."""
    torch.manual_seed(0)
    config = PCLCrossTaskConfig(preset=preset, classes=classes, **{**SIZES, **overrides})
    model = PCLCrossTask(config, StoredFeatures(2, 3, 10), VOCABULARY)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    return model.eval()


def single_batch(model, **settings):
    return replace(random_batch(model, **settings), single=True)


def test_the_contrast_of_four_pictures_by_hand():
    rows = torch.tensor([[1.0, 0.0], [2.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
    assert_close(class_contrast(rows, torch.tensor([0, 0, 1, 1]), 0.4).item(), 0.075, atol=1e-6, rtol=0)


def test_the_contrast_is_a_double_sum():
    generator = torch.Generator().manual_seed(3)
    rows, classes = torch.randn(7, 5, generator=generator), torch.tensor([0, 1, 2, 0, 1, 1, 4])
    total = 0.0
    for a, y in zip(rows.numpy(), classes.tolist(), strict=True):
        for b, z in zip(rows.numpy(), classes.tolist(), strict=True):
            cos = float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))
            total += 1 - cos if y == z else max(0.0, cos - 0.4)
    assert class_contrast(rows, classes, 0.4).item() == pytest.approx(total / 49, abs=1e-6)


@PRESETS
def test_the_three_losses_of_labelled_pairs_read_the_encoders_rows(preset):
    model = birds(preset)
    batch = replace(random_batch(model), labels=torch.tensor([[0, 0], [1, 3], [3, 2]]))
    rows = [
        model.single(model.embed.image(Tokens(picture, torch.arange(6).expand(3, -1)), k))
        for k, picture in enumerate((batch.before, batch.after))
    ]
    s = torch.cat([rows[0][:, 0], rows[1][:, 0]])
    y = torch.tensor([0, 1, 3, 0, 3, 2])
    out = model.pair(torch.cat(rows, dim=1))
    terms = model.loss("fgvc", batch)
    logits = s @ model.fine.classifier.weight.T + model.fine.classifier.bias
    picked = logits.log_softmax(-1)[torch.arange(6), y]
    assert_close(terms["classes"], -picked.mean())
    judged = torch.cat([out[:, 0], out[:, 7]], dim=-1) @ model.fine.aligner.weight.T + model.fine.aligner.bias
    assert_close(
        terms["same_class"], -judged.log_softmax(-1)[torch.arange(3), torch.tensor([1, 0, 0])].mean()
    )
    assert_close(terms["contrast"], class_contrast(s, y, 0.4))


@PRESETS
def test_labelled_pairs_train_nothing_that_reads_words(preset):
    model = birds(preset)
    batch = replace(random_batch(model), labels=torch.tensor([[0, 0], [1, 3], [3, 2]]))
    sum(model.loss("fgvc", batch).values()).backward()
    without = {name for name, p in model.named_parameters() if p.grad is None or not p.grad.any()}
    assert without == model.parameters_without_gradient({"fgvc"})
    assert any(name.startswith("cross.") for name in without) and "output.weight" in without
    if preset == "authors":  # [IMG1], [IMG2] are the word <CLS>; no other word learns
        words = model.embed.words.weight.grad.any(1)
        assert words[4] and words.sum() == 1


def masked_form(model, batch, junk):
    """All 2 (N + 1) image rows, those of the second picture's patches junk that nobody may read."""
    embed, cells = model.embed, torch.arange(6).expand(len(batch.ids), -1)
    first = model.single(embed.image(Tokens(batch.before, cells), 0))
    lone, patches = embed.special(1, len(batch.ids)), junk
    rows = torch.cat([first, lone, patches], dim=1)
    seen = torch.arange(rows.shape[1]) < 8
    rows = model.pair(rows, seen[None, None, None])
    real = (batch.ids != PAD) if not model.preset.read_pads else torch.ones_like(batch.ids, dtype=torch.bool)
    words = embed.text(batch.ids, torch.arange(batch.ids.shape[1]))
    keys = torch.cat([seen.expand(len(real), -1), torch.ones(len(real), 1, dtype=torch.bool), real], dim=1)
    out = model.cross(torch.cat([rows, embed.special(2, len(real)), words], dim=1), keys[:, None, None])
    return torch.cat([out[:, :8], out[:, 14:]], dim=1)


@PRESETS
def test_an_empty_second_picture_is_one_row_or_masked_rows(preset):
    model = birds(preset).double()
    batch = single_batch(model)
    rows = model.image_rows(model.tokens(batch))
    assert rows.rows.shape[1] == 8
    short = model.joint_rows(rows, batch.ids, batch.ids != PAD)
    for scale in (0.0, 1.0, 50.0):
        junk = scale * torch.randn(3, 6, 16, dtype=torch.double)
        assert_close(masked_form(model, batch, junk), short, atol=1e-9, rtol=0)


@PRESETS
def test_the_lone_row_skips_the_single_picture_encoder(preset, monkeypatch):
    model = birds(preset)
    read = []
    real = model.single.forward
    monkeypatch.setattr(
        model.single, "forward", lambda x, allowed=None: read.append(x.shape[1]) or real(x, allowed)
    )
    model.image_rows(model.tokens(single_batch(model)))
    assert read == [7]
    model.image_rows(model.tokens(random_batch(model)))
    assert read == [7, 7, 7]


@PRESETS
def test_what_stands_in_the_second_place_of_a_single_picture_is_never_read(preset):
    model = birds(preset)
    batch = single_batch(model)
    other = replace(batch, after=torch.randn_like(batch.after))
    for task in ("mlm", "mvcl", "fda"):
        values = [
            model.loss(task, replace(b, generator=torch.Generator().manual_seed(5)))[task]
            for b in (batch, other)
        ]
        assert torch.equal(*values)
        assert values[0].isfinite()


def test_patches_of_a_single_picture_are_told_from_its_own_batch_only(monkeypatch):
    model = birds("paper")
    seen = []
    monkeypatch.setattr(pcl, "masked_patch_loss", lambda y, x, u, t: seen.append((x, u)) or y.sum())
    batch = single_batch(model, pairs=40)
    model.loss("mvcl", batch)
    (masked, unmasked), patches = seen[0], batch.before.flatten(0, 1)
    assert len(masked) + len(unmasked) == len(patches) == 240
    assert 20 < len(masked) < 70  # 15 % of six patches, one at least
    rows = {tuple(row) for row in patches.tolist()}
    assert all(tuple(row) in rows for row in torch.cat([masked, unmasked]).tolist())


@PRESETS
def test_similarities_of_a_single_picture_average_the_two_image_rows(preset):
    model = birds(preset)
    batch = single_batch(model)
    rows = model.image_rows(model.tokens(batch))
    out = model.joint_rows(rows, batch.ids, batch.ids != PAD)
    wanted = F.cosine_similarity((out[:, 0] + out[:, 7]) / 2, out[:, 8], dim=-1)
    assert_close(model.similarities(batch)[:, 0], wanted, atol=1e-5, rtol=0)


@PRESETS
def test_pairs_of_captions_are_read_as_pcl_reads_them(preset):
    plain, model = tiny(preset), birds(preset, classes=0)
    model.load_state_dict(plain.state_dict())
    for task in ("mlm", "mvcl", "fda", "caption"):
        values = [m.loss(task, random_batch(plain))[task] for m in (plain, model)]
        assert torch.equal(*values)
    assert "fgvc" not in model.tasks


def example(kind, caption="w01 w02", labels=None):
    record = SimpleNamespace(dataset="toy", kind=kind, labels=labels, changed=True)
    return Example(record, caption, np.zeros((6, 10), np.float32), np.zeros((6, 10), np.float32))


def test_collating_knows_singles_and_labels():
    model = birds("authors", single_length=9)
    singles = model.collate([example("single_caption", labels=(2,))] * 2)
    assert singles.single and singles.labels is None and singles.ids.shape == (2, 9)
    pairs = model.collate([example("pair_label", "", (2, 1)), example("pair_label", "", (0, 0))])
    assert not pairs.single and pairs.labels.tolist() == [[2, 1], [0, 0]] and pairs.ids.shape == (2, 12)
    with pytest.raises(DatasetError, match="pairs and single pictures"):
        model.collate([example("single_caption"), example("pair_caption")])


@PRESETS
def test_captions_of_single_pictures_may_be_longer_than_those_of_pairs(preset):
    model = birds(preset, single_length=300)
    longest = " ".join(["w01"] * model.config.longest_caption(single=True))
    batch = model.collate([example("single_caption", longest)] * 2)
    assert batch.ids.shape[1] >= 299 and model.loss("mlm", batch)["mlm"].isfinite()
    assert birds(preset, single_length=199).embed.positions.shape[0] == 200


def test_labels_that_are_missing_or_too_many_are_named():
    model = birds("paper", classes=3)
    with pytest.raises(DatasetError, match="two labelled pictures"):
        model.loss("fgvc", random_batch(model))
    with pytest.raises(DatasetError, match=r"number 3, counted from 0, but method\.classes = 3"):
        model.loss("fgvc", replace(random_batch(model), labels=torch.tensor([[0, 1], [2, 3], [0, 0]])))


def test_earlier_weights_are_taken_over_but_not_the_heads():
    first, second = birds("paper"), birds("paper", classes=9)
    fresh = second.fine.classifier.weight.clone()
    kept = second.load_pretrained(first.state_dict())
    assert torch.equal(second.fine.classifier.weight, fresh)
    assert torch.equal(second.output.weight, first.output.weight)
    assert all(name.startswith(("fine.", "distractor.", "pooler.")) for name in kept)
