"""The networks that judge regions: what they read, what they say, what they learn from."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from support.drawn_regions import drawn_pair
from torch.testing import assert_close

from whatchanged.errors import DatasetError, RecipeError, ShapeError
from whatchanged.measured.compared import Compared
from whatchanged.recipes.methods.regions import RegionsConfig
from whatchanged.regions.numbers import NUMBERS, read_proposals
from whatchanged.training.batches import Batch, Example
from whatchanged.training.methods import PlansWithoutData, captioning, initialise_from, writes_captions
from whatchanged.training.regions.judge import RegionJudge, chances
from whatchanged.training.regions.store import ROW
from whatchanged.training.regions.supervision import refined

CONFIG = RegionsConfig(regions=4, width=20)


def example_of(number: int, truth: bool = True) -> Example:
    """A drawn pair as ``source.RegionPairs`` gives it."""
    before, after, known = drawn_pair(number)
    seen = read_proposals(Compared(before, after), CONFIG.regions)
    count = len(seen.boxes)
    numbers = np.zeros((CONFIG.regions, NUMBERS), np.float32)
    numbers[:count] = seen.numbers
    rows = np.zeros((2, CONFIG.regions, ROW), np.float32)
    rows[:, :count, :4] = seen.boxes.swapaxes(0, 1)
    rows[:, :count, 4] = 1
    blank = RegionJudge(CONFIG).blank_example()
    return replace(blank, before=rows[0], after=rows[1], measured=numbers, truth=known if truth else None)


def batch_of(*counted: int) -> Batch:
    return RegionJudge(CONFIG).collate([example_of(number) for number in counted])


@pytest.fixture
def judge():
    torch.manual_seed(0)
    return RegionJudge(CONFIG).eval()


def test_it_learns_and_writes_no_captions(judge):
    assert not writes_captions(judge)
    with pytest.raises(RecipeError, match=r"^here: regions writes no captions\."):
        captioning(judge, "here")
    (group,) = judge.parameter_groups()
    assert {id(parameter) for parameter in group["params"]} == {id(p) for p in judge.parameters()}
    assert not judge.parameters_without_gradient(["regions"])
    assert judge.parameters_without_gradient([]) == {name for name, _ in judge.named_parameters()}


def test_every_parameter_gets_a_gradient():
    torch.manual_seed(0)
    judge = RegionJudge(replace(CONFIG, networks=2))
    sum(judge.loss("regions", batch_of(*range(12))).values()).backward()
    assert all(parameter.grad is not None and parameter.grad.any() for parameter in judge.parameters())


def test_it_begins_from_the_weights_of_another(judge):
    torch.manual_seed(1)
    other = RegionJudge(CONFIG).eval()
    said = initialise_from(judge, other, "other")
    assert said == f"{len(judge.state_dict())} tensors copied, 0 keep their own start"
    for name, tensor in judge.state_dict().items():
        assert torch.equal(tensor, other.state_dict()[name])


def test_another_task_and_examples_without_regions_are_refused(judge):
    with pytest.raises(RecipeError, match="no task 'caption'"):
        judge.loss("caption", batch_of(1))
    with pytest.raises(DatasetError, match=r"^none: no regions\."):
        judge.collate([example_of(1), replace(example_of(2), measured=None)])


def test_an_example_without_content_has_the_shapes_of_any(judge):
    assert isinstance(judge, PlansWithoutData)
    blank, real = (judge.collate([example]) for example in (judge.blank_example(), example_of(3)))
    for name in ("before", "after", "measured", "ids"):
        one, other = getattr(blank, name), getattr(real, name)
        assert (one.shape, one.dtype) == (other.shape, other.dtype)
    assert all(loss.isfinite() for loss in judge.loss("regions", blank).values())


def test_rows_are_read_as_they_were_written(judge):
    places = judge.proposals(batch_of(3, 1))
    pictures = drawn_pair(3)[:2]
    seen = read_proposals(Compared(*pictures), CONFIG.regions)
    count = len(seen.boxes)
    assert torch.equal(places.numbers[0, :count], torch.from_numpy(seen.numbers))
    assert places.boxes[0, :count].tolist() == seen.boxes.tolist()
    assert places.there[0].tolist() == [place < count for place in range(CONFIG.regions)]


def test_what_is_no_place_is_masked_and_never_read(judge):
    batch = batch_of(3, 0)
    there = judge.proposals(batch).there
    assert there.any(1).all()
    assert not there.all()
    (network,) = judge.networks
    features = network.features(judge.proposals(batch))
    assert (features[~there] == 0).all()
    alone = network.features(judge.proposals(batch_of(3)))
    assert_close(features[:1], alone)


def test_a_single_place_can_be_learnt_from():
    """Its batch has no spread that it could be normalised by; what was seen so far is taken."""
    judge, batch = RegionJudge(CONFIG), batch_of(3)
    for rows in (batch.before, batch.after, batch.measured):
        rows[:, 1:] = 0
    assert judge.proposals(batch).there.sum() == 1
    losses = judge.loss("regions", batch)
    sum(losses.values()).backward()
    assert all(loss.isfinite() for loss in losses.values())
    assert judge.networks[0].net.layers[1].weight.grad.abs().sum() > 0


def test_numbers_far_from_all_others_count_no_more_than_far_ones(judge):
    places = judge.proposals(batch_of(3))
    far, farther = (replace(places, numbers=torch.full_like(places.numbers, size)) for size in (1e3, 1e6))
    (network,) = judge.networks
    assert_close(network.features(far), network.features(farther))


def test_several_networks_say_their_mean_and_learn_each_for_itself():
    torch.manual_seed(0)
    judge, batch = RegionJudge(replace(CONFIG, networks=3, dropout=0.0)).eval(), batch_of(3, 1)
    places = judge.proposals(batch)
    said = judge.judge(places)
    each = [network.judge(network.features(places), places.there) for network in judge.networks]
    assert not torch.equal(each[0].kinds, each[1].kinds)
    assert_close(said.kinds, sum(one.kinds for one in each) / 3)
    assert_close(said.verdict, sum(one.verdict for one in each) / 3)
    together = judge.loss("regions", batch)
    alone = []
    for network in judge.networks:
        single = RegionJudge(replace(CONFIG, dropout=0.0)).eval()
        single.networks[0].load_state_dict(network.state_dict())
        alone.append(single.loss("regions", batch))
    for name, loss in together.items():
        assert_close(loss, sum(losses[name] for losses in alone) / 3)


def test_regions_of_another_number_are_refused(judge):
    batch = batch_of(1)
    fewer = replace(batch, before=batch.before[:, :-1], after=batch.after[:, :-1])
    with pytest.raises(ShapeError, match=r"regions: got \(1, 3, 5\), .*set method\.regions to"):
        judge.proposals(fewer)
    with pytest.raises(ShapeError, match="Store them again"):
        judge.proposals(replace(batch, measured=batch.measured[..., :-4]))


def test_without_truth_the_task_says_what_to_draw(judge):
    batch = judge.collate([example_of(1), example_of(2, truth=False)])
    assert batch.truth is None
    with pytest.raises(DatasetError, match="whatchanged synth screens"):
        judge.loss("regions", batch)


def test_before_it_learns_boxes_stay(judge):
    places = judge.proposals(batch_of(1, 2))
    assert_close(refined(places.boxes, judge.judge(places).shift), places.boxes)


def test_the_verdict_of_a_pair_does_not_depend_on_what_is_no_place(judge):
    places = judge.proposals(batch_of(3, 0))
    said = judge.judge(places)
    fewer = int(places.there[1].sum())
    alone = judge.proposals(batch_of(0))
    assert fewer < CONFIG.regions
    assert_close(said.verdict[1:], judge.judge(alone).verdict)
    nothing = replace(places, there=torch.zeros_like(places.there))
    assert chances(judge.judge(nothing), nothing.there).tolist() == [0, 0]


@pytest.mark.slow
def test_it_learns_drawn_pairs_by_heart():
    torch.manual_seed(0)
    judge, batch = RegionJudge(CONFIG), batch_of(*range(12))
    optimiser = torch.optim.Adam(judge.parameters(), 3e-3)
    first = None
    for _ in range(60):
        loss = sum(judge.loss("regions", batch).values())
        first = loss.item() if first is None else first
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    assert loss.item() < 0.25 * first
