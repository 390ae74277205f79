import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from support.tiny_pcl import caption_ids, random_batch, tiny
from torch import nn
from torch.testing import assert_close

from whatchanged.errors import DatasetError, RecipeError, ShapeError
from whatchanged.training.batches import Batch
from whatchanged.training.methods import pcl
from whatchanged.training.methods.pcl_objectives import (
    IGNORED,
    alignment_loss,
    corrupt_patches,
    cosines,
    masked_patch_loss_authors,
)
from whatchanged.training.methods.pcl_objectives import masked_patch_loss as paper_loss
from whatchanged.vocabulary import BOS, EOS, PAD

PRESETS = pytest.mark.parametrize("preset", ["paper", "authors"])


class Fixed(nn.Module):
    """A head that answers the same whatever it reads."""

    def __init__(self, logits):
        super().__init__()
        self.logits = torch.tensor(logits)

    def forward(self, rows):
        assert len(rows) == len(self.logits)
        return self.logits


def authors_loss(y, x, y_unmasked, temperature):
    return masked_patch_loss_authors(y, x, cosines(y, y_unmasked), temperature)


def close(value, wanted):
    assert_close(torch.as_tensor(value).float(), torch.tensor(wanted), atol=2e-6, rtol=0)


# Masked words, captions


def one_word(model, monkeypatch, labels):
    """One pair whose caption's labelled words are ``labels`` (ids from 6 on)."""
    ids = torch.tensor([[BOS, *labels, EOS, PAD]])
    asked = ids.clone().masked_fill((ids < 6), IGNORED)
    monkeypatch.setattr(pcl, "corrupt_words", lambda ids, *_: (ids, asked))
    batch = random_batch(model, pairs=1)
    return Batch(batch.before, batch.after, ids, None, torch.tensor([1]))


@PRESETS
def test_masked_words_mean_over_labelled_positions(preset, monkeypatch):
    model = tiny(preset)
    batch = one_word(model, monkeypatch, [6])
    model.output = Fixed([[-1e4] * 6 + [2.0, 0.0, 0.0] + [-1e4] * 11])
    close(model.loss("mlm", batch)["mlm"], 0.239545)
    batch = one_word(model, monkeypatch, [6, 7])
    model.output = Fixed([[0.0] * 78] * 2)
    close(model.loss("mlm", batch)["mlm"], 4.356709)


@PRESETS
def test_captioning_sums_words_and_judgements(preset, monkeypatch):
    model = tiny(preset)
    batch = one_word(model, monkeypatch, [6, 7])
    model.output = Fixed([[-1e4] * 6 + [2.0, 0.0, 0.0] + [-1e4] * 11, [-1e4] * 6 + [0.0] * 3 + [-1e4] * 11])
    model.distractor = Fixed([[0.0, 0.0]])
    terms = model.loss("caption", batch)
    close(terms["caption"], 0.239545 + 1.098612)
    close(terms["distractor"], 0.693147)
    close(sum(terms.values()), 2.031304)


def test_the_second_class_of_the_head_means_changed():
    model = tiny("paper")
    batch = random_batch(model, pairs=2)
    batch = Batch(batch.before, batch.after, batch.ids, None, torch.tensor([1, 0]))
    model.distractor = Fixed([[0.0, 3.0], [0.0, 3.0]])
    close(model.loss("caption", batch)["distractor"], math.log1p(math.exp(-3)) + math.log1p(math.exp(3)))
    close(model.no_change(model.encode(batch.before, batch.after)), [1 / (1 + math.exp(3))] * 2)


# Masked patches

Y, X = torch.tensor([[1.0, 0.0], [0.0, 1.0]]), torch.tensor([[1.0, 0.0], [0.0, 2.0]])


def test_masked_patches_by_hand():
    close(authors_loss(Y, X, torch.tensor([[1.0, 1.0]]), 1.0), 0.748573)
    unmasked = torch.tensor([[1.0, 1.0], [1.0, 0.0]])
    close(paper_loss(Y[:1], X[:1], unmasked, 1.0), 1.010182)
    close(paper_loss(Y[1:], X[1:], unmasked, 1.0), 0.748573)
    close(paper_loss(Y, X, unmasked, 1.0), 0.879378)


def test_equal_vectors_cannot_be_told_apart():
    ones = torch.ones(5, 3)
    close(authors_loss(ones[:2], ones[:2], ones, 1.0), math.log(2 + 5))
    close(paper_loss(ones[:2], ones[:2], ones, 1.0), math.log(1 + 5))


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 2**31), factors=st.lists(st.floats(0.01, 100), min_size=12, max_size=12))
def test_lengths_of_vectors_do_not_matter(seed, factors):
    vectors = torch.randn(12, 5, generator=torch.Generator().manual_seed(seed)).double()
    scaled = vectors * torch.tensor(factors).double()[:, None]
    for loss in (paper_loss, authors_loss):
        assert_close(
            loss(scaled[:4], scaled[4:8], scaled[8:], 0.7), loss(vectors[:4], vectors[4:8], vectors[8:], 0.7)
        )


def test_the_authors_negatives_have_a_gradient_of_their_own():
    unmasked = torch.tensor([[1.0, 0.5]], requires_grad=True)
    authors_loss(Y, X, unmasked, 1.0).backward()
    assert unmasked.grad.abs().max() > 0.01


@pytest.mark.parametrize(("preset", "reached"), [("paper", False), ("authors", True)])
def test_which_outputs_masked_patches_compare(preset, reached, monkeypatch):
    """Every regressed row that takes part in the loss; unmasked ones do so only in the authors' reading."""
    model = tiny(preset)
    batch, rows = random_batch(model), []
    regressor = model.regressor

    class Watched(nn.Module):
        def forward(self, states, projection):
            return self.seen(regressor(states, projection))

        def hidden(self, states):
            return self.seen(regressor.hidden(states))

        def cosines(self, *given):
            return regressor.cosines(*given)

        def seen(self, found):
            rows.append(found)
            found.retain_grad()
            return found

    monkeypatch.setattr(model, "regressor", Watched())
    model.loss("mvcl", batch)["mvcl"].backward()
    pair = model.tokens(batch)
    masked = int(sum(m.sum() for m in corrupt_patches(pair, torch.Generator().manual_seed(2))))
    patches = 2 * 3 * model.vision.patches
    assert [len(r) for r in rows] == ([masked, patches - masked] if reached else [masked])
    assert all((r.grad != 0).any(1).all() for r in rows)
    assert model.output.weight.grad is None


def test_cosines_of_regressed_rows_need_no_regressed_rows():
    model = tiny("authors").double()
    regressor, weight = model.regressor, model.embed.project.weight
    some, others = torch.randn(4, 16).double(), torch.randn(7, 16).double()
    regressed = regressor(some, weight)
    wanted = cosines(regressed, regressor(others, weight))
    found = regressor.cosines(regressed, regressor.hidden(others), weight)
    assert_close(found, wanted)
    upstream = torch.randn(4, 7).double()
    for parameter in (weight, regressor.bias, regressor.net[0].weight):
        ours, theirs = (
            torch.autograd.grad(c, parameter, upstream, retain_graph=True) for c in (found, wanted)
        )
        assert_close(ours, theirs)


@PRESETS
def test_hidden_patches_enter_as_the_projection_of_zero(preset):
    model = tiny(preset)
    hidden = torch.ones(1, 6, dtype=torch.bool)
    before, _ = model.vision.add_match_features(
        model.vision.tokens(torch.rand(1, 6, 10), torch.rand(1, 6, 10)), (hidden, None)
    )
    projected = model.embed.project(before.features)
    bias = model.embed.project.bias
    assert_close(projected, bias.expand_as(projected))
    row = bias.sigmoid() if preset == "authors" else bias
    kind = model.embed.types.weight[model.preset.types[1]]
    wanted = model.embed.norm(row + kind + model.embed.positions[before.cells + model.embed.first])
    assert_close(model.embed.image(before, 0)[:, 1:], wanted)


# True and false captions


def test_alignment_by_hand():
    similarities = torch.tensor([[0.8, 0.2, 0.6], [0.1, 0.5, -0.4]])
    close(alignment_loss(similarities[:1], 1.0), 0.861852)
    close(alignment_loss(similarities[1:], 1.0), 1.130871)
    close(alignment_loss(similarities, 1.0), 0.996362)
    close(alignment_loss(similarities, 0.1), 2.073690)


@pytest.mark.parametrize(
    ("true", "false", "wanted"),
    [(0.5, 0.1, 1.613812), (0.3, 0.3, 1.945910), (1, -1, 0.594438), (-1, 1, 3.814065)],
)
def test_alignment_with_six_false_captions(true, false, wanted):
    close(alignment_loss(torch.tensor([[true, *[false] * 6]]).float(), 1.0), wanted)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.integers(-9, 9), min_size=7, max_size=7, unique=True), st.permutations(range(1, 7)))
def test_alignment_knows_the_true_caption_by_its_column_alone(row, order):
    similarities = torch.tensor([row]).double() / 9
    loss = alignment_loss(similarities, 1.0)
    assert_close(alignment_loss(similarities[:, [0, *order]], 1.0), loss)
    assert not torch.isclose(alignment_loss(similarities.roll(1, 1), 1.0), loss)


@PRESETS
def test_each_candidate_sees_its_own_pair(preset):
    model = tiny(preset)
    batch = random_batch(model, pairs=3)
    together = model.similarities(batch)
    alone = [
        model.similarities(
            Batch(
                *(part[b : b + 1] for part in (batch.before, batch.after, batch.ids)),
                batch.negatives_ids[b : b + 1],
            )
        )
        for b in range(3)
    ]
    assert_close(together, torch.cat(alone))
    turned = Batch(batch.before.roll(1, 0), batch.after.roll(1, 0), batch.ids, batch.negatives_ids)
    assert (model.similarities(turned) - together).abs().min() > 1e-6


# Batches


def example(caption="w01 w02", shape=(6, 10), negatives=(), changed=True):
    features = np.random.default_rng(0).random(shape, dtype=np.float32)
    record = SimpleNamespace(dataset="toy", changed=changed)
    return SimpleNamespace(
        record=record, caption=caption, before=features, after=features, negatives=negatives, truth=None
    )


def test_collate_pads_as_the_preset_does():
    false = ("w03", "w04 w05 w06 w07")
    examples = [example(negatives=false), example("w00", negatives=false, changed=False)]
    batch = tiny("authors").collate(examples)
    assert batch.ids.shape == (2, 12) and batch.negatives_ids.shape == (2, 2, 12)
    assert batch.ids[0].tolist() == caption_ids("w01 w02", 12)
    assert batch.negatives_ids[1, 1].tolist() == caption_ids("w04 w05 w06 w07", 12)
    assert batch.changed.tolist() == [1, 0] and batch.before.shape == (2, 6, 10)
    batch = tiny("paper").collate(examples)
    assert batch.ids.tolist() == [[BOS, 7, 8, EOS, PAD, PAD], [BOS, 6, EOS, PAD, PAD, PAD]]
    assert batch.negatives_ids.shape == (2, 2, 6)


def test_collate_leaves_out_what_is_not_known_of_all():
    batch = tiny("paper").collate([example(), example(changed=None, negatives=("w01", "w02"))])
    assert batch.negatives_ids is None and batch.changed is None
    with pytest.raises(
        DatasetError, match=r"fda needs false captions for every pair\. Build them, or drop fda"
    ):
        tiny("paper").loss("fda", batch)


def test_collate_names_what_does_not_fit():
    model = tiny("paper")
    with pytest.raises(DatasetError, match=r"toy: false captions per example: got \[1, 2\], wanted 2"):
        model.collate([example(negatives=("w01",)), example(negatives=("w01", "w02"))])
    with pytest.raises(ShapeError, match=r"\(before\): got shapes \[\(6, 10\), \(9, 10\)\]"):
        model.collate([example(), example(shape=(9, 10))])


def test_tasks_say_what_they_miss():
    model = tiny("paper")
    batch = model.collate([example(changed=None)])
    with pytest.raises(DatasetError, match="fda needs false captions"):
        model.loss("fda", batch)
    with pytest.raises(DatasetError, match=r"Set method\.distractor_judging=false"):
        model.loss("caption", batch)
    with pytest.raises(RecipeError, match=r"no task 'itm'\. Choose among: mlm, mvcl, fda, caption"):
        model.loss("itm", batch)


def test_without_distractor_judging_nothing_is_judged():
    model = tiny("authors", distractor_judging=False)
    batch = model.collate([example(changed=None)])
    assert set(model.loss("caption", batch)) == {"caption"}
    assert model.no_change(model.encode(batch.before, batch.after)) is None
