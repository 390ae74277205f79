"""From pictures to object tokens, and what the truth of scenes teaches them."""

from dataclasses import replace

import pytest
import torch
from support.tiny_objects import WIDTH, build, known, pictures
from support.tiny_pool import VISION
from torch.testing import assert_close

from whatchanged.errors import DatasetError
from whatchanged.training.batches import Batch
from whatchanged.training.objects.supervision import ATTRIBUTES
from whatchanged.training.objects.tokens import CellAnswers, ObjectVision


def test_sizes():
    vision = build()
    assert (vision.rows, vision.columns, vision.patches, vision.raw_width) == (8, 12, 6, WIDTH)
    assert vision.width == 3 * WIDTH + 13 + 96
    assert (build(matching=False, scene_context=False).width, build(keep=0).patches) == (WIDTH, 96)


# Tokens


@pytest.fixture
def answered(monkeypatch):
    """A vision of 4 x 6 cells that keeps four, and whose heads answer what is written here."""
    vision = build(image_width=48, image_height=32, keep=4)
    centers = -3 - 0.01 * torch.arange(24.0)
    for cell, logit in {9: 3.0, 8: 2.5, 10: 1.0, 14: 2.6, 23: 1.5, 22: 0.5, 0: -2.0}.items():
        centers[cell] = logit
    centers = centers.view(4, 6)
    generator = torch.Generator().manual_seed(0)
    answers = {name: torch.randn(1, n, 4, 6, generator=generator) for name, n in ATTRIBUTES.items()}
    for name in ("shape", "color"):
        answers[name][:, 0] += 9  # one kind of object everywhere
    found = CellAnswers(
        torch.randn(1, 8, 4, 6, generator=generator),
        centers[None],
        answers,
        torch.randn(1, 2, 4, 6, generator=generator),
    )
    monkeypatch.setattr(vision, "answers", lambda _: found)
    return vision, found


def test_only_the_best_of_each_neighbourhood_is_kept_best_first(answered):
    """8 and 10 stand beside 9, 14 diagonally below it, 22 beside 23: only 9, 23 and 0 are peaks."""
    vision, _ = answered
    packed = vision.to_tokens(torch.zeros(1, 3, 32, 48))
    assert packed.shape == (1, 4, WIDTH + 4)
    assert packed[0, :, -1].tolist() == [9, 23, 0, 14]


@pytest.mark.parametrize(("name", "kept"), [("shape", True), ("color", True), ("size", False)])
def test_two_objects_may_stand_side_by_side(answered, name, kept):
    """14 stays beside 9 where it shows another shape or color; 8 is still no object of its own."""
    vision, found = answered
    found.attributes[name][0, 1, 2, 2] += 20
    cells = vision.to_tokens(torch.zeros(1, 3, 32, 48))[0, :, -1].tolist()
    assert cells == ([9, 14, 23, 0] if kept else [9, 23, 0, 14])


def test_when_peaks_run_out_the_next_best_cells_follow(answered):
    vision, found = answered
    found.centers[0] = torch.linspace(-4, 4, 24).view(4, 6)  # one slope, one peak
    assert vision.to_tokens(torch.zeros(1, 3, 32, 48))[0, :, -1].tolist() == [23, 22, 21, 20]


def test_the_columns_of_a_token(answered):
    vision, found = answered
    packed = vision.to_tokens(torch.zeros(1, 3, 32, 48))[0]
    for token in packed:
        row, column = divmod(int(token[-1]), 6)
        answers = [logits[0, :, row, column] for logits in found.attributes.values()]
        wanted = [
            found.features[0, :, row, column],
            *[a - a.exp().sum().log() for a in answers],
            found.ground_positions[0, :, row, column],
            1 / (1 + (-found.centers[0, row, column].reshape(1)).exp()),
        ]
        assert_close(token[:-1], torch.cat(wanted))


def test_stored_tokens_are_read_as_pictures_are():
    vision = build()
    before, after = pictures(seed=1), pictures(seed=2)
    pair = vision.tokens(before, after)
    stored = [vision.to_tokens(vision.normalise(pixels)) for pixels in (before, after)]
    again = vision.tokens(*stored)
    assert pair.before.features.shape == (2, 6, WIDTH) and pair.after.cells.dtype == torch.int64
    assert (pair.after.ground_positions.shape, pair.before.salience.shape) == ((2, 6, 2), (2, 6))
    for one, other in zip(pair, again, strict=True):
        for name in ("features", "cells", "ground_positions", "salience"):
            assert_close(getattr(other, name), getattr(one, name))
        assert not one.aligned
    assert torch.equal(pair.before.cells, stored[0][..., -1].long())
    assert_close(pair.after.salience, stored[1][..., -2])
    normalised = vision.tokens(vision.normalise(before), vision.normalise(after))
    assert_close(normalised.before.features, pair.before.features)


def test_in_bf16_cells_keep_their_numbers():
    """320 cells: from 256 on bfloat16 knows but every other number."""
    vision = build(image_width=160, image_height=128, keep=320)
    with torch.autocast("cpu", torch.bfloat16):
        packed = vision.to_tokens(vision.normalise(pictures(height=128, width=160)))
    assert sorted(packed[0, :, -1].tolist()) == list(range(320))


# Tasks


def test_what_can_be_learned_depends_on_the_recipe():
    plain = replace(VISION, matching=False, scene_context=False)
    for config, tasks in ((VISION, {"detection", "matching"}), (plain, {"detection"})):
        assert set(ObjectVision(config).tasks) == set(config.tasks) == tasks


def test_truth_is_stacked_where_all_of_it_is_known(tiny_pool):
    truths = known(tiny_pool)[2]
    assert build().collate_truth(truths).before.owner.shape == (3, 8, 12)
    assert build().collate_truth([*truths, None]) is None


def test_parameters_without_gradient_are_those_that_no_task_reaches(tiny_pool):
    """What a task leaves without a gradient on pictures is exactly what the vision says of it."""
    before, after, truths = known(tiny_pool)
    ids = torch.zeros(3, 3, dtype=torch.long)
    for task in ("detection", "matching"):
        vision = build().train()
        batch = Batch(before, after, ids, truth=vision.collate_truth(truths))
        sum(vision.tasks[task](batch).values()).backward()
        missed = {name for name, parameter in vision.named_parameters() if parameter.grad is None}
        assert missed == vision.parameters_without_gradient([task])
    captioned = build().train()
    pair = captioned.add_match_features(captioned.tokens(before, after))
    (pair.before.features.sum() + pair.after.features.sum()).backward()
    missed = {name for name, parameter in captioned.named_parameters() if parameter.grad is None}
    assert missed == captioned.parameters_without_gradient(["caption"])
    assert captioned.parameters_without_gradient([]) > missed


def test_the_weights_of_a_pictures_tokens_are_the_backbones_and_the_heads():
    vision = build()
    stored = vision.to_tokens(vision.normalise(pictures()))
    for name, parameter in vision.named_parameters():
        if name not in vision.token_parameters():
            with torch.no_grad():
                parameter.add_(1.0)
    assert torch.equal(vision.to_tokens(vision.normalise(pictures())), stored)
    trained = {name for name in vision.token_state() if name in dict(vision.named_parameters())}
    assert trained == vision.token_parameters()


def test_without_guided_attention_words_may_look_where_they_like(tiny_pool):
    before, after, truths = known(tiny_pool)
    vision = build()
    truth = vision.collate_truth(truths)
    pair, asked = vision.tokens(before, after), torch.ones(3, 12, dtype=torch.bool)
    uniform = torch.full((3, 12, 2, 6), 1 / 12)
    assert vision.attention_terms(pair, truth, uniform, asked) == {}
    vision.guided_attention = True
    terms = vision.attention_terms(pair, truth, uniform, asked)
    assert set(terms) == {"pointing"} and terms["pointing"] >= 0
    with pytest.raises(DatasetError, match="guided attention, need the truth of scenes"):
        vision.attention_terms(pair, None, uniform, asked)


def test_tasks_say_what_they_miss(tiny_pool):
    vision = build()
    ids = torch.zeros(2, 3, dtype=torch.long)
    for task in vision.tasks.values():
        with pytest.raises(DatasetError, match=r"need the truth of scenes; this data has none\. Use a pool"):
            task(Batch(pictures(), pictures(), ids))
    before, after, truths = known(tiny_pool)
    stored = [vision.to_tokens(vision.normalise(p)) for p in (before, after)]
    with pytest.raises(DatasetError, match=r"task detection reads pictures.* Leave data\.tokens empty"):
        vision.tasks["detection"](Batch(*stored, ids, truth=vision.collate_truth(truths)))


def test_both_tasks_fall_on_a_few_pairs(tiny_pool):
    vision = build().train()
    before, after, truths = known(tiny_pool)
    batch = Batch(before, after, torch.zeros(3, 3, dtype=torch.long), truth=vision.collate_truth(truths))
    optimizer = torch.optim.AdamW(vision.parameters(), lr=5e-3)
    losses = []
    for _ in range(40):
        terms = vision.tasks["detection"](batch) | vision.tasks["matching"](batch)
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
    from_tokens = vision.tasks["matching"](Batch(*stored, ids, truth=truth))
    assert_close(from_tokens, vision.tasks["matching"](Batch(before, after, ids, truth=truth)))
