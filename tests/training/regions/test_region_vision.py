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
from whatchanged.measured.compared import Compared
from whatchanged.recipes.building import find_method
from whatchanged.recipes.schema import RegionsConfig
from whatchanged.regions.numbers import read_places
from whatchanged.testing.method_case import CAPTIONS, MethodCase
from whatchanged.testing.methods import DUTIES
from whatchanged.training.batches import Batch
from whatchanged.training.regions.store import ROW
from whatchanged.training.regions.supervision import refined
from whatchanged.training.regions.vision import GRID, RegionVision, chances

CONFIG = RegionsConfig(regions=4, width=20)
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
    seen = read_places(Compared(*pictures), CONFIG.regions)
    count = len(seen.boxes)
    found = []
    for side in (0, 1):
        rows = np.zeros((CONFIG.regions, ROW), np.float32)
        rows[:count] = np.concatenate(
            [
                seen.numbers * side,
                seen.boxes[:, side],
                np.tile(seen.sizes[side], (count, 1)),
                np.ones((count, 1)),
            ],
            1,
        )
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
    seen = read_places(Compared(*pictures), CONFIG.regions)
    count = len(seen.boxes)
    assert torch.equal(places.numbers[0, :count], torch.from_numpy(seen.numbers))
    assert places.boxes[0, :count].tolist() == seen.boxes.tolist()
    assert places.sizes[0, 0].tolist() == seen.sizes.tolist()
    assert places.there[0].tolist() == [place < count for place in range(CONFIG.regions)]


def test_what_is_no_place_is_masked_and_never_read(vision):
    before, after = batch_of(3, 0)
    there = vision.places(before, after).there
    assert there.any(1).all()
    assert not there.all()
    (network,) = vision.networks
    features = network.features(vision.places(before, after))
    assert (features[~there] == 0).all()
    alone = network.features(vision.places(before[:1], after[:1]))
    assert_close(features[:1], alone)


def test_tokens_have_boxes_and_cells_of_their_middles(vision):
    before, after = batch_of(1)
    tokens = vision.tokens(before, after).after
    x0, y0, x1, y1 = tokens.boxes[0, 0].tolist()
    column, row = int((x0 + x1) / 2 / 96 * GRID), int((y0 + y1) / 2 / 72 * GRID)
    assert tokens.cells[0, 0] == row * GRID + column
    assert tokens.features.shape == (1, CONFIG.regions, CONFIG.width)


def test_a_single_place_can_be_learnt_from():
    """Its batch has no spread that it could be normalised by; what was seen so far is taken."""
    vision = RegionVision(CONFIG)
    before, after = batch_of(3)
    for rows in (before, after):
        rows[:, 1:] = 0
    places = vision.places(before, after)
    assert places.there.sum() == 1
    batch = Batch(
        before, after, torch.zeros(1, 2, dtype=torch.long), truth=vision.collate_truth([drawn_pair(3)[2]])
    )
    losses = vision.tasks["regions"](batch)
    sum(losses.values()).backward()
    assert all(loss.isfinite() for loss in losses.values())
    assert vision.networks[0].net.layers[1].weight.grad.abs().sum() > 0


def test_numbers_far_from_all_others_count_no_more_than_far_ones(vision):
    places = vision.places(*batch_of(3))
    far, farther = (replace(places, numbers=torch.full_like(places.numbers, size)) for size in (1e3, 1e6))
    (network,) = vision.networks
    assert_close(network.features(far), network.features(farther))


def test_several_networks_say_their_mean_and_learn_each_for_itself():
    torch.manual_seed(0)
    vision = RegionVision(replace(CONFIG, networks=3, dropout=0.0)).eval()
    before, after = batch_of(3, 1)
    places = vision.places(before, after)
    said = vision.judge(places)
    each = [network.judge(network.features(places), places.there) for network in vision.networks]
    assert not torch.equal(each[0].kinds, each[1].kinds)
    assert_close(said.kinds, sum(one.kinds for one in each) / 3)
    assert_close(said.verdict, sum(one.verdict for one in each) / 3)
    assert vision.tokens(before, after).after.features.shape == (2, CONFIG.regions, CONFIG.width)

    truth = vision.collate_truth([drawn_pair(number)[2] for number in (3, 1)])
    batch = Batch(before, after, torch.zeros(2, 2, dtype=torch.long), truth=truth)
    together = vision.tasks["regions"](batch)
    alone = []
    for network in vision.networks:
        single = RegionVision(replace(CONFIG, dropout=0.0)).eval()
        single.networks[0].load_state_dict(network.state_dict())
        alone.append(single.tasks["regions"](batch))
    for name, loss in together.items():
        assert_close(loss, sum(losses[name] for losses in alone) / 3)


def test_rows_of_another_size_are_refused(vision):
    before, after = batch_of(1)
    with pytest.raises(ShapeError, match=r"regions: got \(1, 4, .*set vision\.regions to"):
        vision.tokens(before[..., :-4], after[..., :-4])


def test_without_truth_the_task_says_what_to_draw(vision):
    before, after = batch_of(1)
    with pytest.raises(DatasetError, match="whatchanged synth screens"):
        vision.tasks["regions"](Batch(before, after, torch.zeros(1, 2, dtype=torch.long)))
    assert vision.collate_truth([None, drawn_pair(1)[2]]) is None


def test_before_it_learns_boxes_stay(vision):
    places = vision.places(*batch_of(1, 2))
    assert_close(refined(places.boxes, vision.judge(places).shift), places.boxes)


def test_the_verdict_of_a_pair_does_not_depend_on_what_is_no_place(vision):
    places = vision.places(*batch_of(3, 0))
    said = vision.judge(places)
    fewer = int(places.there[1].sum())
    alone = vision.places(*(rows[:, :] for rows in batch_of(0)))
    assert fewer < CONFIG.regions
    assert_close(said.verdict[1:], vision.judge(alone).verdict)
    nothing = replace(places, there=torch.zeros_like(places.there))
    assert chances(vision.judge(nothing), nothing.there).tolist() == [0, 0]


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
