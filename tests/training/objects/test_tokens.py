"""From pixels to tokens, and what a token is told about its match."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from tiny_pool import VISION
from torch import nn
from torch.testing import assert_close

from whatchanged.errors import DatasetError, ShapeError
from whatchanged.recipes.schema import VisionConfig
from whatchanged.training.objects.matching import Matches
from whatchanged.training.objects.pool import open_shards, pairing
from whatchanged.training.objects.supervision import ATTRIBUTES
from whatchanged.training.objects.tokens import MEAN, STD, ObjectVision, CellAnswers, build_vision, duplicates
from whatchanged.training.vision.base import Batch, StoredFeatures

WIDTH = 8 + sum(ATTRIBUTES.values())  # F of the tiny vision: 8 channels and 15 answers


def build(**settings):
    torch.manual_seed(0)
    vision = ObjectVision(replace(VISION, **settings))
    with torch.no_grad():
        for parameter in vision.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    return vision.eval()


def pictures(batch=2, seed=0, height=64, width=96):
    return torch.randint(
        0, 256, (batch, height, width, 3), generator=torch.Generator().manual_seed(seed)
    ).byte()


def known(tiny_pool, count=3):
    """Pictures of a pool and all that is known of them, as one batch."""
    shard = open_shards(tiny_pool)[0]
    before, after = (torch.from_numpy(np.array(shard.pictures[:count, k])) for k in (0, 1))
    return before, after, [pairing(shard, i, 0, 1, shard.change(i)) for i in range(count)]


def test_each_kind_is_built():
    assert isinstance(build_vision(VISION), ObjectVision)
    stored = build_vision(VisionConfig(kind="features", rows=3, columns=2, feature_width=5))
    assert isinstance(stored, StoredFeatures) and (stored.rows, stored.columns, stored.width) == (3, 2, 5)


def test_sizes():
    vision = build()
    assert (vision.rows, vision.columns, vision.patches, vision.raw_width) == (8, 12, 6, WIDTH)
    assert vision.width == 3 * WIDTH + 13 + 96
    assert (build(matching=False, scene_context=False).width, build(keep=0).patches) == (WIDTH, 96)


def test_pixels_are_normalised_by_hand():
    picture = torch.tensor([0, 51, 255], dtype=torch.uint8).expand(1, 8, 8, 3)
    light = build().normalise(picture)
    assert light.shape == (1, 3, 8, 8)
    wanted = [(value - mean) / std for value, mean, std in zip((0, 0.2, 1), MEAN, STD, strict=True)]
    assert_close(light[0, :, 3, 5], torch.tensor(wanted))
    assert build().normalise(light) is light


# Tokens


@pytest.fixture
def seen(monkeypatch):
    """A vision of 4 x 6 cells that keeps four, and sees what is written here."""
    vision = build(image_width=48, image_height=32, keep=4)
    centers = -3 - 0.01 * torch.arange(24.0)
    for cell, logit in {9: 3.0, 8: 2.5, 10: 1.0, 14: 2.6, 23: 1.5, 22: 0.5, 0: -2.0}.items():
        centers[cell] = logit
    centers = centers.view(4, 6)
    generator = torch.Generator().manual_seed(0)
    answers = {name: torch.randn(1, n, 4, 6, generator=generator) for name, n in ATTRIBUTES.items()}
    for name in ("shape", "color"):
        answers[name][:, 0] += 9  # one kind of thing everywhere
    found = CellAnswers(
        torch.randn(1, 8, 4, 6, generator=generator), centers[None], answers,
        torch.randn(1, 2, 4, 6, generator=generator),
    )  # fmt: skip
    monkeypatch.setattr(vision, "see", lambda _: found)
    return vision, found


def test_only_the_best_of_each_neighbourhood_is_kept_best_first(seen):
    """8 and 10 stand beside 9, 14 diagonally below it, 22 beside 23: only 9, 23 and 0 are peaks."""
    vision, _ = seen
    packed = vision.to_tokens(torch.zeros(1, 3, 32, 48))
    assert packed.shape == (1, 4, WIDTH + 4)
    assert packed[0, :, -1].tolist() == [9, 23, 0, 14]


@pytest.mark.parametrize(("name", "kept"), [("shape", True), ("color", True), ("size", False)])
def test_two_things_may_stand_side_by_side(seen, name, kept):
    """14 stays beside 9 where it shows another shape or color; 8 is still no thing of its own."""
    vision, found = seen
    found.answers[name][0, 1, 2, 2] += 20
    cells = vision.to_tokens(torch.zeros(1, 3, 32, 48))[0, :, -1].tolist()
    assert cells == ([9, 14, 23, 0] if kept else [9, 23, 0, 14])


def test_when_peaks_run_out_the_next_best_cells_follow(seen):
    vision, found = seen
    found.centers[0] = torch.linspace(-4, 4, 24).view(4, 6)  # one slope, one peak
    assert vision.to_tokens(torch.zeros(1, 3, 32, 48))[0, :, -1].tolist() == [23, 22, 21, 20]


def test_the_columns_of_a_token(seen):
    vision, found = seen
    packed = vision.to_tokens(torch.zeros(1, 3, 32, 48))[0]
    for token in packed:
        row, column = divmod(int(token[-1]), 6)
        answers = [logits[0, :, row, column] for logits in found.answers.values()]
        wanted = [
            found.features[0, :, row, column],
            *[a - a.exp().sum().log() for a in answers],
            found.ground_positions[0, :, row, column],
            1 / (1 + (-found.centers[0, row, column].reshape(1)).exp()),
        ]
        assert_close(token[:-1], torch.cat(wanted))


def test_stored_tokens_give_the_same_grids_as_pictures():
    vision = build()
    before, after = pictures(seed=1), pictures(seed=2)
    grids = vision.grids(before, after)
    stored = [vision.to_tokens(vision.normalise(p)) for p in (before, after)]
    again = vision.grids(*stored)
    assert grids.before.shape == (2, 6, WIDTH) and grids.cells_after.dtype == torch.int64
    assert (grids.ground_positions_after.shape, grids.salience_before.shape) == ((2, 6, 2), (2, 6))
    for name, value in vars(grids).items():
        assert_close(getattr(again, name), value)
    assert torch.equal(grids.cells_before, stored[0][..., -1].long())
    assert_close(grids.salience_after, stored[1][..., -2])
    assert_close(vision.grids(vision.normalise(before), vision.normalise(after)).before, grids.before)


# What the matching adds


def grids_of(vision, batch=2):
    return vision.grids(pictures(batch, 1), pictures(batch, 2))


def test_the_columns_of_a_described_token():
    """A matching that is sure: token i before is token (i + 1) mod 6 after, except that a tenth of each goes
    nowhere; the camera made a quarter turn."""
    vision = build()
    grids = grids_of(vision)
    order = torch.tensor([1, 2, 3, 4, 5, 0])
    joint = torch.zeros(7, 7)
    joint[torch.arange(6), order] = 0.9
    joint[6, :6] = joint[:6, 6] = 0.1

    class Sure(nn.Module):
        def forward(self, features, ground_positions, salience):
            assert [x.shape for x in (*features, *ground_positions, *salience)] == [(2, 6, WIDTH)] * 2 + [
                (2, 6, 2)
            ] * 2 + [(2, 6)] * 2
            turn = torch.tensor([[0.0, 1.0]]).expand(2, 2)
            return Matches(joint.log().expand(2, 7, 7), turn, 2 * ground_positions[0] + 1)

    vision.matching = Sure()
    related = vision.add_match_features(grids)
    expected, ground_positions = 2 * grids.ground_positions_before + 1, grids.ground_positions_after
    back = order.argsort()
    for found, own, other, motion, here, weight, other_weight, sign, match in (
        (related.before, grids.before, grids.after, ground_positions[:, order] - expected, grids.ground_positions_before,
         grids.salience_before, grids.salience_after, 1, order),
        (related.after, grids.after, grids.before, expected[:, back] - ground_positions, ground_positions,
         grids.salience_after, grids.salience_before, -1, back),
    ):  # fmt: skip
        wanted = [
            own, other[:, match], other[:, match] - own, motion, motion.norm(dim=-1, keepdim=True), here,
            weight[..., None], other_weight[:, match, None], torch.full((2, 6, 1), 0.1),
            torch.tensor([0.0, sign]).expand(2, 6, 2), duplicates(own, here, weight[..., None]),
        ]  # fmt: skip
        described = torch.cat(wanted, dim=2)
        assert_close(found[..., :-96], described, atol=1e-4, rtol=1e-4)
        assert_close(found[..., -96:], vision.change_label(described), atol=1e-3, rtol=1e-3)
    assert torch.equal(related.cells_before, grids.cells_before)


def test_twins_by_hand():
    """Tokens 0 and 1 are the same but for one doubt about the size, 2 differs in color, 3 is hardly there."""
    likely = torch.full((1, 4, 2 + sum(ATTRIBUTES.values())), -100.0)
    starts = dict(zip(ATTRIBUTES, (2, 5, 7, 15), strict=True))
    assert list(ATTRIBUTES.items()) == [("shape", 3), ("size", 2), ("color", 8), ("material", 2)]
    for name in ATTRIBUTES:
        likely[..., starts[name]] = 0.0
    likely[0, 1, starts["size"] : starts["color"]] = torch.tensor([0.25, 0.75]).log()
    likely[0, 2, starts["color"] : starts["color"] + 2] = torch.tensor([-100.0, 0.0])
    likely[0, :, :2] = torch.randn(4, 2)  # what the backbone saw says nothing here
    salience = torch.tensor([[[1.0], [0.8], [1.0], [0.1]]])
    ground_positions = torch.tensor([[[1.0, 0.0], [0.0, 2.0], [5.0, 5.0], [0.0, -1.0]]])
    # The first is like the second by 0.2 and like the last by 0.1, these like each other by 0.02.
    away = [
        [1 - 0, 0 - (0.4 - 0.1) / 0.3],
        [-0.2 / 0.22, 2 + 0.02 / 0.22],
        [0, 0],
        [-0.1 / 0.12, -1 - 0.04 / 0.12],
    ]
    wanted = [[t, t * x, t * y] for t, (x, y) in zip((0.2, 0.2, 0.0, 0.1), away, strict=True)]
    assert_close(duplicates(likely, ground_positions, salience), torch.tensor([wanted]))
    assert not duplicates(
        likely[:, 2:3], ground_positions[:, 2:3], salience[:, 2:3]
    ).any()  # alone in the picture


@torch.no_grad()
def test_a_hidden_patch_tells_nothing_of_itself():
    vision = build()
    grids = grids_of(vision)
    hidden = torch.zeros(2, 6, dtype=torch.bool)
    hidden[0, 2] = hidden[1, 5] = True
    related = vision.add_match_features(grids, (None, hidden))
    assert not related.after[hidden][:, :WIDTH].any() and related.after[~hidden][:, :WIDTH].any()
    other = {name: value.clone() for name, value in vars(grids).items()}
    for name in ("after", "places_after", "salience_after"):
        other[name][hidden] = torch.rand(other[name][hidden].shape)
    again = vision.add_match_features(replace(grids, **other), (None, hidden))
    assert torch.equal(again.after, related.after) and torch.equal(again.before, related.before)
    seen = vision.add_match_features(replace(grids, **other))
    assert (seen.after[hidden] - vision.add_match_features(grids).after[hidden]).abs().max() > 0.1


@pytest.mark.parametrize("matching", [True, False])
def test_stored_tokens_are_never_written_to(matching):
    vision = build(matching=matching)
    stored = vision.to_tokens(vision.normalise(pictures())).detach()
    kept, hidden = stored.clone(), torch.ones(2, 6, dtype=torch.bool)
    grids = vision.grids(stored, stored)
    first = {name: value.clone() for name, value in vars(grids).items()}
    related = vision.add_match_features(grids, (hidden, hidden))
    assert not related.before[..., :WIDTH].any() and torch.equal(stored, kept)
    assert all(torch.equal(value, first[name]) for name, value in vars(grids).items())


def test_without_matching_tokens_stay_as_they_are():
    vision = build(matching=False, scene_context=False)
    grids = grids_of(vision)
    related = vision.add_match_features(grids)
    assert torch.equal(related.before, grids.before) and torch.equal(related.after, grids.after)


def test_grids_without_places_cannot_be_matched():
    vision = build()
    bare = replace(grids_of(vision), ground_positions_after=None)
    with pytest.raises(ShapeError, match="needs each token's place and salience"):
        vision.add_match_features(bare)


def test_in_bf16_what_is_described_keeps_its_digits():
    vision = build()
    grids = grids_of(vision)
    with torch.autocast("cpu", torch.bfloat16):
        related = vision.add_match_features(grids)
    assert_close(related.before[..., :-96], vision.add_match_features(grids).before[..., :-96])


def test_in_bf16_cells_keep_their_numbers():
    """320 cells: from 256 on bfloat16 knows but every other number."""
    vision = build(image_width=160, image_height=128, keep=320)
    with torch.autocast("cpu", torch.bfloat16):
        packed = vision.to_tokens(vision.normalise(pictures(height=128, width=160)))
    assert sorted(packed[0, :, -1].tolist()) == list(range(320))


# Tasks


def test_what_can_be_learned_depends_on_the_recipe():
    assert set(build().tasks) == {"seeing", "matching"}
    assert set(build(matching=False, scene_context=False).tasks) == {"seeing"}
    assert build(scene_truth=False).tasks == {}


def test_truth_is_piled_where_it_is_known_and_asked_for(tiny_pool):
    truths = known(tiny_pool)[2]
    assert build().collate_truth(truths).before.owner.shape == (3, 8, 12)
    assert build().collate_truth([*truths, None]) is None
    assert build(scene_truth=False).collate_truth(truths) is None


def test_tasks_say_what_they_miss(tiny_pool):
    vision = build()
    ids = torch.zeros(2, 3, dtype=torch.long)
    for task in vision.tasks.values():
        with pytest.raises(DatasetError, match=r"need scene truth; this data has none\. Use a pool"):
            task(Batch(pictures(), pictures(), ids))
    before, after, truths = known(tiny_pool)
    stored = [vision.to_tokens(vision.normalise(p)) for p in (before, after)]
    with pytest.raises(DatasetError, match=r"task seeing reads pictures.* Leave data\.features empty"):
        vision.tasks["seeing"](Batch(*stored, ids, truth=vision.collate_truth(truths)))


def test_both_tasks_fall_on_a_few_pairs(tiny_pool):
    vision = build().train()
    before, after, truths = known(tiny_pool)
    batch = Batch(before, after, torch.zeros(3, 3, dtype=torch.long), truth=vision.collate_truth(truths))
    optimizer = torch.optim.AdamW(vision.parameters(), lr=5e-3)
    losses = []
    for _ in range(40):
        terms = vision.tasks["seeing"](batch) | vision.tasks["matching"](batch)
        assert set(terms) == {
            "center",
            "shape",
            "size",
            "color",
            "material",
            "ground_position",
            "match",
            "change_label",
        }
        loss = sum(terms.values())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.75 * losses[0]


def test_matching_learns_from_pictures_in_bf16(tiny_pool):
    vision = build().train()
    before, after, truths = known(tiny_pool)
    batch = Batch(before, after, torch.zeros(3, 3, dtype=torch.long), truth=vision.collate_truth(truths))
    with torch.autocast("cpu", torch.bfloat16):
        terms = vision.tasks["matching"](batch)
    sum(terms.values()).backward()
    assert vision.matching.key.weight.grad.isfinite().all()


def test_matching_reads_stored_tokens_as_it_reads_pictures(tiny_pool):
    vision = build()
    before, after, truths = known(tiny_pool)
    ids, truth = torch.zeros(3, 3, dtype=torch.long), vision.collate_truth(truths)
    stored = [vision.to_tokens(vision.normalise(p)) for p in (before, after)]
    mentioned = vision.tasks["matching"](Batch(*stored, ids, truth=truth))
    assert_close(mentioned, vision.tasks["matching"](Batch(before, after, ids, truth=truth)))
