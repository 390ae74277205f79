"""Regions as tokens, and every method on them without a change to its files."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import tiny_clip4idc
import torch
from drawn_regions import drawn_pair
from torch.testing import assert_close

from whatchanged.errors import DatasetError, ShapeError
from whatchanged.measured.crops import NUMBERS, PLANES, see
from whatchanged.recipes.building import find_method
from whatchanged.recipes.schema import RegionsConfig
from whatchanged.testing.method_case import CAPTIONS, MethodCase
from whatchanged.testing.methods import DUTIES
from whatchanged.training.batches import Batch
from whatchanged.training.regions.store import NOTES, row_width
from whatchanged.training.regions.supervision import refined
from whatchanged.training.regions.vision import GRID, LEAST_CONTRAST, RegionVision, chances, recoloured

CONFIG = RegionsConfig(regions=4, side=16, channels=(8, 12), width=20)
SIZES = {
    "pcl": {"preset": "paper", "width": 24, "heads": 4, "ffn": 32, "cross_layers": 2, "max_length": 14},
    "scorer": {"preset": "paper", "width": 24, "word_width": 10, "heads": 4, "max_length": 14},
    "clip4idc": {
        "preset": "paper",
        **tiny_clip4idc.SIZES,
        "heads": 2,
        "decoder_ffn": 32,
        "decoder_width": 20,
    },
}


def rows_of(number: int) -> tuple[np.ndarray, np.ndarray]:
    """A drawn pair as ``RegionFiles.read`` gives it."""
    pictures = drawn_pair(number)[:2]
    seen = see(*pictures, CONFIG.regions, CONFIG.side)
    found = []
    for side in (0, 1):
        rows = np.zeros((CONFIG.regions, row_width(CONFIG.side)), np.uint8)
        for i, boxes in enumerate(seen.boxes):
            notes = np.ones(NOTES, np.float32)
            notes[:NUMBERS] = seen.numbers[i]
            notes[NUMBERS : NUMBERS + 4] = boxes[side]
            notes[NUMBERS + 4 : NUMBERS + 6] = seen.sizes[side]
            rows[i] = np.concatenate([seen.crops[i, side].ravel(), notes.view(np.uint8)])
        found.append(rows)
    return found[0], found[1]


def batch_of(*counted: int) -> tuple[torch.Tensor, torch.Tensor]:
    pairs = [rows_of(number) for number in counted]
    before, after = (torch.from_numpy(np.stack([pair[side] for pair in pairs])) for side in (0, 1))
    return before, after


@cache
def pairs():
    return tuple((*rows_of(number), drawn_pair(number)[2]) for number in range(len(CAPTIONS)))


def case(name: str) -> MethodCase:
    settings = find_method(name, "here")(**SIZES[name])
    return MethodCase(
        settings,
        tasks=("regions", "caption"),
        stages=(("regions",), ("regions", "caption")),
        judges=name == "pcl",
        vision=lambda: RegionVision(CONFIG),
        pairs=lambda vision: pairs(),
    )


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(
    ("name", "duty"),
    [
        pytest.param(
            name,
            duty,
            id=f"{name}-{duty.__name__.removeprefix('check_')}",
            marks=[pytest.mark.slow] if duty.__name__ == "check_learning" else [],
        )
        for name in sorted(SIZES)
        for duty in DUTIES
    ],
)
def test_a_method_keeps_its_duties_on_regions(name, duty):
    duty(case(name))


@pytest.fixture
def vision():
    torch.manual_seed(0)
    return RegionVision(CONFIG).eval()


def test_rows_are_read_as_they_were_written(vision):
    before, after = batch_of(3, 1)
    places = vision.places(before, after)
    pictures = drawn_pair(3)[:2]
    seen = see(*pictures, CONFIG.regions, CONFIG.side)
    for side in (0, 1):
        own = places.crops[0, 0, side * PLANES : (side + 1) * PLANES] * 255
        assert_close(own.round().to(torch.uint8), torch.from_numpy(seen.crops[0, side]))
        assert places.boxes[0, 0, side].tolist() == seen.boxes[0, side].tolist()


def test_what_is_no_place_is_masked_and_never_read(vision):
    before, after = batch_of(3, 0)
    there = vision.places(before, after).there
    assert there.any(1).all()
    assert not there.all()
    features = vision.features(vision.places(before, after))
    assert (features[~there] == 0).all()
    alone = vision.features(vision.places(before[:1], after[:1]))
    assert_close(features[:1], alone)


def test_tokens_have_boxes_and_cells_of_their_middles(vision):
    before, after = batch_of(1)
    tokens = vision.tokens(before, after).after
    x0, y0, x1, y1 = tokens.boxes[0, 0].tolist()
    column, row = int((x0 + x1) / 2 / 96 * GRID), int((y0 + y1) / 2 / 72 * GRID)
    assert tokens.cells[0, 0] == row * GRID + column
    assert tokens.features.shape == (1, CONFIG.regions, CONFIG.width)


def test_without_cuts_the_measured_numbers_alone_make_tokens():
    torch.manual_seed(0)
    vision = RegionVision(replace(CONFIG, side=0, channels=()))
    pictures = drawn_pair(3)[:2]
    seen = see(*pictures, CONFIG.regions, 0)
    assert seen.crops.shape == (len(seen.boxes), 2, PLANES, 0, 0)
    both = []
    for rows in batch_of(3, 1):
        both.append(rows[..., PLANES * CONFIG.side**2 :].contiguous())  # the same rows without their cuts
    places = vision.places(*both)
    assert torch.equal(places.numbers[0, : len(seen.boxes)], torch.from_numpy(seen.numbers))
    losses = vision.tasks["regions"](
        Batch(
            *both,
            torch.zeros(2, 2, dtype=torch.long),
            truth=vision.collate_truth([drawn_pair(n)[2] for n in (3, 1)]),
        )
    )
    sum(losses.values()).backward()
    assert all(loss.isfinite() for loss in losses.values())
    assert vision.net.measured[1].weight.grad.abs().sum() > 0


def test_numbers_far_from_all_others_count_no_more_than_far_ones(vision):
    places = vision.places(*batch_of(3))
    far, farther = (replace(places, numbers=torch.full_like(places.numbers, size)) for size in (1e3, 1e6))
    assert_close(vision.features(far), vision.features(farther))


def test_rows_of_another_size_are_refused(vision):
    before, after = batch_of(1)
    with pytest.raises(ShapeError, match=r"regions: got \(1, 4, .*set vision\.regions and vision\.side"):
        vision.tokens(before[..., :-4], after[..., :-4])


def test_without_truth_the_task_says_what_to_draw(vision):
    before, after = batch_of(1)
    with pytest.raises(DatasetError, match="whatchanged synth screens"):
        vision.tasks["regions"](Batch(before, after, torch.zeros(1, 2, dtype=torch.long)))
    assert vision.collate_truth([None, drawn_pair(1)[2]]) is None


def test_before_it_learns_boxes_stay(vision):
    places = vision.places(*batch_of(1, 2))
    assert_close(refined(places.boxes, vision.judge(vision.features(places)).shift), places.boxes)


def test_the_verdict_of_a_pair_does_not_depend_on_what_is_no_place(vision):
    places = vision.places(*batch_of(3, 0))
    said = vision.judge(vision.features(places))
    fewer = int(places.there[1].sum())
    alone = vision.places(*(rows[:, :] for rows in batch_of(0)))
    assert fewer < CONFIG.regions
    assert_close(said.verdict[1:], vision.judge(vision.features(alone)).verdict)
    nothing = replace(places, there=torch.zeros_like(places.there))
    assert chances(vision.judge(vision.features(nothing)), nothing.there).tolist() == [0, 0]


def test_other_colours_are_the_same_for_all_of_a_pair_and_leave_masks():
    torch.manual_seed(0)
    crops = torch.rand(6, 2, 2 * PLANES, 4, 4)
    crops[:, :, PLANES:] = crops[:, :, :PLANES]  # nothing changed
    turned = recoloured(crops)
    assert_close(turned[:, :, PLANES:], turned[:, :, :PLANES])
    assert_close(turned[:, :, [3, 7]], crops[:, :, [3, 7]])
    assert turned.min() >= 0
    assert turned.max() <= 1
    for own, was in zip(turned[:, :, :3], crops[:, :, :3], strict=True):
        sources, lines = [], []
        for channel in own.unbind(1):
            # of which channel it is a straight line: the correlation is 1 or, light for dark, -1
            alike = [
                torch.corrcoef(torch.stack([channel.flatten(), one.flatten()]))[0, 1] for one in was.unbind(1)
            ]
            sources.append(max(range(3), key=lambda k: abs(alike[k])))
            slope = channel.std() / was[:, sources[-1]].std() * alike[sources[-1]].sign()
            lines.append((slope, channel.mean() - slope * was[:, sources[-1]].mean()))
            assert_close(alike[sources[-1]].abs(), torch.tensor(1.0))
        assert sorted(sources) == [0, 1, 2]
        assert_close(torch.tensor(lines), torch.tensor(lines[:1]).expand(3, 2))
        assert LEAST_CONTRAST <= abs(lines[0][0]) <= 1 + 1e-6


@pytest.mark.slow
def test_it_learns_drawn_pairs_by_heart():
    torch.manual_seed(0)
    vision = RegionVision(CONFIG)
    before, after = batch_of(*range(12))
    truth = vision.collate_truth([drawn_pair(number)[2] for number in range(12)])
    batch = Batch(before, after, torch.zeros(12, 2, dtype=torch.long), truth=truth)
    optimiser = torch.optim.Adam(vision.parameters(), 3e-3)
    first = None
    for _ in range(60):
        loss = sum(vision.tasks["regions"](batch).values())
        first = loss.item() if first is None else first
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    assert loss.item() < 0.25 * first
