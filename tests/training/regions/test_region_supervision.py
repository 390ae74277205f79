"""What places are told of the truth, worked out by hand."""

import math

import torch
from drawn_regions import SIZE
from torch.testing import assert_close

from whatchanged.training.regions import supervision
from whatchanged.training.regions.supervision import ELEMENT_NAMES, collate, iou, label, region_loss
from whatchanged.worlds.screens.kinds import KINDS
from whatchanged.worlds.screens.truth import Change, ScreenTruth

BUTTON = ELEMENT_NAMES.index("button")
ADDED = Change("added", "button", "", None, (10, 10, 20, 20), {})
REMOVED = Change("removed", "unheard of", "", (40, 40, 60, 50), None, {})


def truth(*changes: Change) -> ScreenTruth:
    return ScreenTruth(changes, (), SIZE, SIZE)


def test_overlap_of_boxes():
    one = torch.tensor([0.0, 0.0, 10.0, 10.0])
    assert_close(iou(one, torch.tensor([5.0, 0.0, 15.0, 10.0])), torch.tensor(50 / 150))
    assert iou(one, torch.tensor([20.0, 20.0, 30.0, 30.0])) == 0
    assert iou(one, one) == 1


def test_a_place_belongs_to_the_change_it_overlaps_most():
    places = torch.tensor(
        [[10, 10, 20, 20], [40, 40, 60, 50], [10, 10, 20, 15], [70, 0, 80, 9]], dtype=torch.float32
    )
    labels = label(places[None, :, None].expand(-1, -1, 2, -1), collate([truth(ADDED, REMOVED)]))
    assert_close(labels.share[0], torch.tensor([1.0, 1.0, 0.5, 0.0]))
    added, removed = KINDS.index("added"), KINDS.index("removed")
    assert labels.kind[0].tolist() == [added, removed, added, -1]
    assert labels.element[0].tolist() == [BUTTON, -1, BUTTON, -1]
    assert labels.changed[0].tolist() == [1, 1, 1, 0]


def test_between_hit_and_miss_nothing_is_taught():
    places = torch.tensor([[10.0, 10.0, 20.0, 14.0]])[None, :, None].expand(-1, -1, 2, -1)
    labels = label(places, collate([truth(ADDED)]))
    assert_close(labels.share, torch.tensor([[0.4]]))
    assert labels.changed.tolist() == [[-1]]


def test_boxes_are_compared_in_the_picture_that_has_them():
    places = torch.zeros(1, 1, 2, 4)
    places[0, 0, 0] = torch.tensor([40.0, 40.0, 60.0, 50.0])  # where it was
    assert label(places, collate([truth(REMOVED)])).share.item() == 1
    assert label(places, collate([truth(ADDED)])).share.item() == 0


def test_pairs_without_change_have_no_hit():
    labels = label(torch.rand(2, 3, 2, 4) * 50, collate([truth(), truth()]))
    assert (labels.changed == 0).all()
    assert (labels.kind == -1).all()


def test_alike_things_are_found_each_by_itself():
    parts = (((0, 0, 10, 10), (0, 0, 10, 10)), ((50, 50, 60, 60), (50, 50, 60, 60)))
    alike = Change("recolored", "button", "", (0, 0, 60, 60), (0, 0, 60, 60), {}, parts)
    places = torch.tensor([[0.0, 0, 10, 10], [50, 50, 60, 60], [0, 0, 60, 60]])[None, :, None].expand(
        -1, -1, 2, -1
    )
    assert_close(label(places, collate([truth(alike)])).share, torch.ones(1, 3))


def test_the_loss_is_that_of_the_formulas():
    places = torch.tensor([[10.0, 10, 20, 20], [70, 0, 80, 9]])[None, :, None].expand(-1, -1, 2, -1)
    labels = label(places, collate([truth(ADDED)]))
    kinds = torch.zeros(1, 2, len(KINDS))
    elements = torch.zeros(1, 2, len(ELEMENT_NAMES))
    changed = torch.tensor([[2.0, -1.0]])
    rank = torch.tensor([[1.0, 0.0]])
    loss = region_loss(kinds, elements, changed, rank, labels, torch.ones(1, 2, dtype=torch.bool))
    assert_close(loss["kind"].item(), math.log(len(KINDS)))
    assert_close(loss["element"].item(), math.log(len(ELEMENT_NAMES)), rtol=1e-5, atol=1e-6)
    wanted = (math.log1p(math.exp(-2)) + math.log1p(math.exp(-1))) / 2
    assert_close(loss["changed"].item(), wanted, rtol=1e-5, atol=1e-6)
    assert_close(loss["rank"].item(), math.log(1 + math.exp(-1)), rtol=1e-5, atol=1e-6)


def test_padding_teaches_nothing():
    places = torch.tensor([[10.0, 10, 20, 20], [10, 10, 20, 20]])[None, :, None].expand(-1, -1, 2, -1)
    labels = label(places, collate([truth(ADDED)]))
    there = torch.tensor([[True, False]])
    torch.manual_seed(0)
    said = [
        torch.randn(1, 2, len(KINDS)),
        torch.randn(1, 2, len(ELEMENT_NAMES)),
        torch.randn(1, 2),
        torch.randn(1, 2),
    ]
    loss = region_loss(*said, labels, there)
    other = [part.clone() for part in said]
    for part in other:
        part[:, 1] = 7.0
    again = region_loss(*other, labels, there)
    assert all(torch.equal(loss[name], again[name]) for name in loss)


def test_a_pair_of_noise_alone_has_no_kind_to_learn():
    labels = label(torch.rand(1, 2, 2, 4), collate([truth()]))
    said = [
        torch.randn(1, 2, len(KINDS)),
        torch.randn(1, 2, len(ELEMENT_NAMES)),
        torch.randn(1, 2),
        torch.randn(1, 2),
    ]
    loss = region_loss(*said, labels, torch.ones(1, 2, dtype=torch.bool))
    assert loss["kind"] == loss["element"] == loss["rank"] == 0
    assert loss["changed"] > 0


def test_the_truth_can_move():
    moved = collate([truth(ADDED)]).to("cpu")
    assert moved.boxes.shape == (1, 1, 2, 4)
    assert supervision.ABSENT == -1
