"""PCL's shape: who reads whom, which weights exist, which of them a task trains, what a stage takes over."""

from itertools import combinations

import pytest
import torch
from support.tiny_pcl import VOCABULARY, random_batch, random_ids, tiny
from torch.testing import assert_close

from whatchanged.errors import RecipeError, ShapeError
from whatchanged.recipes.methods.pcl import PCLConfig
from whatchanged.recipes.tables import find_method
from whatchanged.training.batches import Batch
from whatchanged.training.build import build_method
from whatchanged.training.methods.pcl import PCL, PRESETS
from whatchanged.training.vision.base import Tokens
from whatchanged.training.vision.features import StoredFeatures
from whatchanged.vocabulary import CLS, EOS, MASK, PAD, SPECIALS, Vocabulary

PRESET = pytest.mark.parametrize("preset", ["paper", "authors"])
ROWS = 14  # two pictures of six patches, a special each


def image_rows(model, batch):
    return model.image_rows(model.vision.tokens(batch.before, batch.after))


def joint(model, batch, ids=None):
    ids = batch.ids if ids is None else ids
    return model.joint_rows(image_rows(model, batch), ids, batch.ids != PAD)


# Weights


def count(model, without=()):
    return sum(p.numel() for name, p in model.named_parameters() if name.split(".")[0] not in without)


def test_parameter_counts_of_the_published_size():
    words = Vocabulary(SPECIALS + tuple(f"w{i}" for i in range(72)))
    with torch.device("meta"):
        model = PCL(PCLConfig(preset="authors"), StoredFeatures(), words)
    assert count(model, without=("distractor",)) == 1025 * 78 + 17_087_490
    assert count(model, without=("pooler", "regressor")) == 1025 * 78 + 16_820_738
    assert (count(model.regressor), count(model.pooler)) == (265_728, 3_074)


def test_the_papers_reading_differs_in_three_places():
    with torch.device("meta"):
        authors, paper = (
            PCL(PCLConfig(preset=p), StoredFeatures(), VOCABULARY) for p in ("authors", "paper")
        )
    specials, types, pooler = 3 * 512, (7 - 3) * 512, 3_074
    assert count(authors) - count(paper) == types + pooler - specials


def test_birds_have_two_cross_layers_and_no_head():
    config = PCLConfig(preset="authors", cross_layers=2, distractor_judging=False)
    with torch.device("meta"):
        model = PCL(config, StoredFeatures(), VOCABULARY)
    assert count(model, without=("pooler",)) == 1025 * len(VOCABULARY) + 13_935_106 - 3_074
    assert count(model, without=("pooler", "regressor")) == 1025 * len(VOCABULARY) + 13_666_304


@PRESET
def test_regression_goes_back_through_the_projection_itself(preset):
    model = tiny(preset)
    rows, weight = torch.randn(3, 16), model.embed.project.weight
    before = model.regressor(rows, weight)
    with torch.no_grad():
        weight.mul_(2)
    assert_close(model.regressor(rows, weight) - model.regressor.bias, 2 * (before - model.regressor.bias))
    model.loss("mvcl", random_batch(model))["mvcl"].backward()
    assert weight.grad is not None
    assert sum(p is weight for group in model.parameter_groups() for p in group["params"]) == 1


def test_without_the_difference_encoder_patches_go_straight_to_the_cross_transformer():
    model = tiny("paper", difference_encoder=False)
    batch = random_batch(model)
    pair = model.vision.tokens(batch.before, batch.after)
    pictures = [model.embed.image(tokens, k) for k, tokens in enumerate(pair)]
    assert_close(image_rows(model, batch).rows, torch.cat(pictures, 1))
    assert not any(name.startswith(("single", "pair")) for name, _ in model.named_parameters())
    assert all(torch.isfinite(sum(model.loss(task, batch).values())) for task in model.tasks)


# Embeddings


def test_the_authors_specials_differ_by_type_only():
    model = tiny("authors")
    specials = [model.embed.special(i, 1) for i in range(3)]
    assert not any(torch.allclose(a, b) for a, b in combinations(specials, 2))
    with torch.no_grad():
        model.embed.types.weight[[3, 5]] = model.embed.types.weight[1].clone()
    specials = [model.embed.special(i, 1) for i in range(3)]
    assert torch.equal(specials[0], specials[1]) and torch.equal(specials[0], specials[2])


def test_the_papers_specials_are_their_own():
    model = tiny("paper")
    with torch.no_grad():
        model.embed.types.weight[:] = 0.0
        before = [model.embed.special(i, 1) for i in range(3)]
        model.embed.words.weight[CLS] += 1.0
    assert all(torch.equal(model.embed.special(i, 1), before[i]) for i in range(3))
    assert not any(torch.allclose(a, b) for a, b in combinations(before, 2))


@PRESET
def test_patches_stand_where_their_cells_are(preset):
    model = tiny(preset)
    features = torch.rand(1, 6, 10)
    cells = torch.tensor([[4, 0, 3, 5, 1, 2]])
    shuffled = model.embed.image(Tokens(features[:, cells[0]], cells), 0)
    straight = model.embed.image(Tokens(features, torch.arange(6)[None]), 0)
    assert_close(shuffled[:, 1:], straight[:, 1:][:, cells[0]])


def test_the_authors_position_is_faint_at_the_published_width():
    torch.manual_seed(0)
    model = PCL(
        PCLConfig(preset="authors", ffn=8, cross_layers=1), StoredFeatures(1, 1, 4), VOCABULARY
    ).eval()
    ids = torch.tensor([[7, 7]])
    rows = model.embed.text(ids, torch.arange(2))[0].detach()
    assert torch.cosine_similarity(rows[0], rows[1], dim=0).item() == pytest.approx(0.99998, abs=2e-5)


# Who reads whom


@PRESET
def test_the_order_of_the_pictures_matters_through_types_alone(preset):
    model = tiny(preset)
    batch = random_batch(model)
    turned = Batch(batch.after, batch.before, batch.ids)
    assert not torch.allclose(
        image_rows(model, turned).rows, image_rows(model, batch).rows.roll(ROWS // 2, 1), atol=1e-3
    )
    with torch.no_grad():
        types, specials = model.embed.types.weight, model.embed.specials
        types[list(model.preset.types[2:4])] = types[list(model.preset.types[:2])]
        if specials is not None:
            specials.weight[1] = specials.weight[0]
    cells = torch.arange(6).expand(3, -1)
    for picture in (batch.before, batch.after):
        assert torch.equal(
            model.single(model.embed.image(Tokens(picture, cells), 0)),
            model.single(model.embed.image(Tokens(picture, cells), 1)),
        )


@PRESET
def test_the_pair_encoder_reads_both_pictures_and_no_text(preset):
    model = tiny(preset)
    batch = random_batch(model)
    changed = Batch(batch.before, batch.after + 1.0, batch.ids)
    moved = image_rows(model, changed).rows - image_rows(model, batch).rows
    assert moved.abs().amax((0, 2)).min() > 1e-6


@PRESET
def test_pre_training_reads_both_ways(preset):
    model = tiny(preset)
    batch = random_batch(model, pairs=1)
    ids = batch.ids.clone()
    ids[0, 1] = 6 + (ids[0, 1] - 5) % 14
    moved = (joint(model, batch, ids) - joint(model, batch)).abs().amax(2)[0]
    assert moved[0] > 1e-6 and moved[ROWS // 2] > 1e-6
    before = batch.before.clone()
    before[0, 2] += 1.0
    moved = (joint(model, Batch(before, batch.after, batch.ids)) - joint(model, batch)).abs().amax(2)[0]
    assert moved[ROWS:].min() > 1e-6


@PRESET
def test_no_word_is_read_before_its_time(preset):
    model = tiny(preset)
    batch = random_batch(model, pairs=2)
    rows, generator = image_rows(model, batch), torch.Generator().manual_seed(9)
    first = ROWS + int(preset == "paper")
    clean = model.captioning_rows(rows, batch.ids)
    for position in range(batch.ids.shape[1]):
        ids = batch.ids.clone()
        later = random_ids(generator, 2, length=model.max_length)[:, position:]
        ids[:, position:] = torch.where(later == ids[:, position:], MASK, later)
        moved = (model.captioning_rows(rows, ids) - clean).abs().amax((0, 2))
        assert moved[: first + position].max() == 0.0
        assert moved[first + position] > 0.0


@PRESET
def test_the_distractor_head_reads_no_caption(preset):
    model = tiny(preset)
    batch = random_batch(model)
    other = Batch(batch.before, batch.after, batch.ids.flip(0).roll(1, 1), None, batch.changed)
    judged = [model.loss("caption", b)["distractor"] for b in (batch, other)]
    assert_close(judged[0], judged[1], rtol=1e-6, atol=0)


@PRESET
def test_what_stands_in_the_padding(preset):
    """Captioning never reads it; pre-training does so in the authors' reading only."""
    model = tiny(preset)
    batch = random_batch(model)
    noise = torch.where(batch.ids == PAD, 9, batch.ids)
    end = (batch.ids == EOS).int().argmax(1)
    rows = image_rows(model, batch)
    moved = (model.captioning_rows(rows, noise) - model.captioning_rows(rows, batch.ids)).abs().amax(2)
    first = ROWS + int(preset == "paper")
    assert all(moved[b, : first + end[b] + 1].max() == 0.0 for b in range(3))
    moved = (joint(model, batch, noise) - joint(model, batch)).abs().amax(2)
    real = [moved[b, : ROWS + 1 + end[b] + 1].max() for b in range(3)]
    assert all((m > 1e-4) == (preset == "authors") for m in real)


def test_a_pad_drawn_for_a_word_is_read_like_a_word():
    """The padding is told by the clean caption: random replacement may put a PAD in a word's place."""
    model = tiny("paper")
    batch = random_batch(model, pairs=1)
    ids = batch.ids.clone()
    ids[0, 1] = PAD
    other = joint(model, batch, ids.masked_fill(ids == 7, 8))
    replaced = joint(model, batch, ids)
    visible = model.joint_rows(image_rows(model, batch), ids, ids != PAD)
    assert (replaced - visible).abs().max() > 1e-4
    assert other.shape == replaced.shape


@PRESET
def test_samples_do_not_see_their_batch_mates(preset):
    model = tiny(preset)
    batch = random_batch(model, pairs=3)
    one = random_batch(model, pairs=3)
    one = Batch(one.before[1:2], one.after[1:2], one.ids[1:2], one.negatives_ids[1:2])
    assert_close(joint(model, batch)[1:2], joint(model, one))
    assert_close(model.similarities(batch)[1:2], model.similarities(one))
    logits = model.caption_logits(batch.before, batch.after, batch.ids)
    assert_close(logits[1:2], model.caption_logits(one.before, one.after, one.ids))


@PRESET
def test_masked_patches_do_see_their_batch_mates(preset):
    model = tiny(preset)
    batch = random_batch(model, pairs=3)
    crowd = Batch(batch.before[[0, 1]], batch.after[[0, 1]], batch.ids[[0, 1]])
    pairs = [Batch(batch.before[[0, b]], batch.after[[0, b]], batch.ids[[0, b]]) for b in (1, 2)]
    losses = []
    for pair in (crowd, *pairs):
        generator = torch.Generator().manual_seed(0)
        losses.append(
            model.loss("mvcl", Batch(pair.before, pair.after, pair.ids, generator=generator))["mvcl"]
        )
    assert losses[0] == losses[1] != losses[2]


# What a task trains


@PRESET
@pytest.mark.parametrize(
    ("task", "idle"),
    [
        ("mlm", {"regressor", "distractor", "pooler"}),
        ("mvcl", {"output", "distractor", "pooler"}),
        ("fda", {"output", "regressor", "distractor", "pooler"}),
        ("caption", {"regressor", "pooler"}),
    ],
)
def test_where_gradients_reach(preset, task, idle):
    model = tiny(preset)
    sum(model.loss(task, random_batch(model)).values()).backward()
    without = {name for name, p in model.named_parameters() if p.grad is None}
    assert {name.split(".")[0] for name in without} == idle - ({"pooler"} if preset == "paper" else set())
    assert without == model.parameters_without_gradient([task])


def test_judging_distractors_alone_touches_one_word():
    model = tiny("authors")
    model.loss("caption", random_batch(model))["distractor"].backward()
    assert model.output.weight.grad is None
    assert (model.embed.words.weight.grad != 0).any(1).nonzero().flatten().tolist() == [CLS]


@PRESET
def test_what_a_mix_of_tasks_leaves_alone(preset):
    model = tiny(preset)
    pooler = {"pooler"} if preset == "authors" else set()

    def parts(tasks):
        return {name.split(".")[0] for name in model.parameters_without_gradient(tasks)}

    assert parts(["mlm", "mvcl", "fda"]) == {"distractor"} | pooler
    assert parts(["caption", "mlm", "mvcl"]) == pooler
    assert parts(["detection", "mlm"]) == {"regressor", "distractor"} | pooler
    assert model.parameters_without_gradient(["detection"]) == {name for name, _ in model.named_parameters()}


# Stages


@PRESET
def test_fine_tuning_starts_from_pre_training(preset):
    old, new = tiny(preset, seed=1), tiny(preset, seed=2)
    heads = {
        name: p.clone()
        for name, p in new.named_parameters()
        if name.split(".")[0] in ("pooler", "distractor")
    }
    fresh = new.load_pretrained(old.state_dict())
    assert set(fresh) == set(heads)
    for name, tensor in new.state_dict().items():
        assert torch.equal(tensor, heads[name] if name in heads else old.state_dict()[name])


def test_pre_trained_weights_may_be_fewer_and_longer_texts_change_nothing():
    old, new = tiny("authors", distractor_judging=False), tiny("authors", max_length=30, seed=3)
    fresh = new.load_pretrained({**old.state_dict(), "aligner.weight": torch.zeros(2)})
    assert set(fresh) == {"distractor.weight", "distractor.bias", "pooler.weight", "pooler.bias"}


def test_pre_trained_weights_of_another_size_are_refused():
    old, new = tiny("paper", ffn=24), tiny("paper", ffn=32)
    with pytest.raises(
        ShapeError, match=r"single\.blocks\.0\.ffn\.0\.weight: got \(24, 16\), wanted \(32, 16\)"
    ):
        new.load_pretrained(old.state_dict())


def test_presets_follow_their_table():
    paper, authors = PRESETS["paper"], PRESETS["authors"]
    assert not any((paper.squash, paper.doubled_exponent, paper.scaled_words, paper.deviation_norm))
    assert not any((paper.read_pads, paper.regressed_negatives, paper.pooler))
    assert all((paper.own_specials, paper.specials_with_positions, paper.cls_captions))
    assert all(getattr(authors, name) != getattr(paper, name) for name in vars(paper))
    assert set(authors.types) == {1, 2, 3, 4, 5, 6} and set(paper.types) == {0, 1, 2}


def test_methods_are_built_by_name():
    settings = find_method("pcl", "here")
    assert settings is PCLConfig
    assert isinstance(build_method(settings(width=8, heads=2), StoredFeatures(1, 2, 3), VOCABULARY), PCL)
    with pytest.raises(RecipeError, match=r'there is no method "bert"\. Known: pcl, '):
        find_method("bert", "here")


@pytest.mark.parametrize(("batch", "pairs"), [(200, 28), (150, 21), (7, 1)])
def test_fda_takes_a_seventh_of_the_batch(batch, pairs):
    model = PCL(PCLConfig(width=8, heads=2, ffn=8), StoredFeatures(1, 2, 3), VOCABULARY)
    assert model.batch_size("fda", batch) == pairs
    assert model.batch_size("mlm", batch) == batch
