"""What places are told of the truth, worked out by hand."""

import math
from dataclasses import replace

import torch
from support.drawn_regions import SIZE
from torch.testing import assert_close

from whatchanged.training.regions import supervision
from whatchanged.training.regions.supervision import (
    ASPECT_NAMES,
    ELEMENT_NAMES,
    SOFT,
    RegionLogits,
    collate,
    iou,
    label,
    pointed,
    refined,
    region_loss,
    supported,
)
from whatchanged.worlds.screens.kinds import KINDS
from whatchanged.worlds.screens.truth import ScreenChange, ScreenTruth

BUTTON = ELEMENT_NAMES.index("button")
ADDED = ScreenChange("added", "button", "", None, (10, 10, 20, 20), {"aspect": "element"})
REMOVED = ScreenChange("removed", "unheard of", "", (40, 40, 60, 50), None, {})


def truth(*changes: ScreenChange) -> ScreenTruth:
    return ScreenTruth(changes, (), SIZE, SIZE)


def silent(places: int) -> RegionLogits:
    """What heads say of the places of one pair that know nothing."""
    return RegionLogits(
        torch.zeros(1, places, len(KINDS)),
        torch.zeros(1, places, len(ELEMENT_NAMES)),
        torch.zeros(1, places, len(ASPECT_NAMES)),
        torch.zeros(1, places),
        torch.zeros(1, places),
        torch.zeros(1),
        torch.zeros(1, places, 2, 4),
    )


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
    element = ASPECT_NAMES.index(("added", "element"))
    assert labels.aspect[0].tolist() == [element, -1, element, -1]  # nothing finer is known of the second
    assert labels.element[0].tolist() == [BUTTON, -1, BUTTON, -1]
    assert labels.changed[0].tolist() == [1, 1, 1, 0]


def test_a_place_near_a_change_learns_its_kind_and_box_but_no_verdict():
    places = torch.tensor([[10.0, 10.0, 20.0, 14.0]])[None, :, None].expand(-1, -1, 2, -1)
    labels = label(places, collate([truth(ADDED)]))
    assert_close(labels.share, torch.tensor([[0.4]]))
    assert labels.changed.tolist() == [[-1]]
    assert labels.kind.tolist() == [[KINDS.index("added")]]
    assert labels.known.tolist() == [[[False, True]]]
    assert labels.boxes[0, 0, 1].tolist() == [10, 10, 20, 20]


def test_a_shift_moves_each_side_by_parts_of_the_box():
    places = torch.tensor([[[[10.0, 20.0, 30.0, 60.0]] * 2]])
    shift = torch.tensor([[[[0.0, 0, 0, 0], [-0.5, 0.25, 0.1, -0.1]]]])
    assert_close(refined(places, shift)[0, 0], torch.tensor([[10.0, 20, 30, 60], [0, 30, 32, 56]]))


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
    alike = ScreenChange("recolored", "button", "", (0, 0, 60, 60), (0, 0, 60, 60), {}, parts)
    places = torch.tensor([[0.0, 0, 10, 10], [50, 50, 60, 60], [0, 0, 60, 60]])[None, :, None].expand(
        -1, -1, 2, -1
    )
    assert_close(label(places, collate([truth(alike)])).share, torch.ones(1, 3))


def test_the_loss_is_that_of_the_formulas():
    places = torch.tensor([[10.0, 10, 20, 20], [70, 0, 80, 9], [10, 10, 20, 14]])[None, :, None].expand(
        -1, -1, 2, -1
    )
    labels = label(places, collate([truth(ADDED)]))
    said = replace(
        silent(3),
        changed=torch.tensor([[2.0, -1.0, 5.0]]),
        rank=torch.tensor([[1.0, 0.0, 0.0]]),
        verdict=torch.tensor([3.0]),
    )
    loss = region_loss(said, places, labels, torch.ones(1, 3, dtype=torch.bool))
    assert_close(loss["kind"].item(), math.log(len(KINDS)))
    assert_close(loss["element"].item(), math.log(len(ELEMENT_NAMES)), rtol=1e-5, atol=1e-6)
    assert_close(loss["aspect"].item(), math.log(len(ASPECT_NAMES)), rtol=1e-5, atol=1e-6)
    wanted = (math.log1p(math.exp(-2)) + math.log1p(math.exp(-1))) / 2
    assert_close(loss["changed"].item(), wanted, rtol=1e-5, atol=1e-6)
    best, other = math.log(1 + 2 * math.exp(-1)), math.log(math.e + 2)  # -log p of the first, of the third
    soft = (1 * best + 0.16 * other) / 1.16
    assert_close(loss["rank"].item(), best + SOFT * soft, rtol=1e-5, atol=1e-6)
    assert_close(loss["box"].item(), (0 + 0.6) / 2, rtol=1e-5, atol=1e-6)  # the third's IoU is 0.4
    assert_close(loss["verdict"].item(), math.log1p(math.exp(-3)), rtol=1e-5, atol=1e-6)


def test_a_box_that_is_moved_to_where_it_should_be_costs_nothing():
    places = torch.tensor([[10.0, 10, 20, 14]])[None, :, None].expand(-1, -1, 2, -1)
    labels = label(places, collate([truth(ADDED)]))
    shift = torch.zeros(1, 1, 2, 4)
    shift[0, 0, 1, 3] = 1.5
    said = replace(silent(1), shift=shift)
    assert_close(region_loss(said, places, labels, labels.known.any(-1))["box"].item(), 0.0)


def test_places_that_show_the_same_support_each_other():
    places = torch.tensor([[10.0, 10, 20, 20], [10, 10, 20, 19], [50, 50, 60, 60], [0, 0, 9, 9]])
    rank = torch.tensor([[0.4, 0.4, 0.6, 9.0]]).log()
    there = torch.tensor([[True, True, True, False]])
    found = supported(rank, places[None, :, None].expand(-1, -1, 2, -1), there)
    assert_close(found, torch.tensor([[0.8 / 1.4, 0.8 / 1.4, 0.6 / 1.4, 0.0]]))


def test_padding_teaches_nothing():
    places = torch.tensor([[10.0, 10, 20, 20], [10, 10, 20, 20]])[None, :, None].expand(-1, -1, 2, -1)
    labels = label(places, collate([truth(ADDED)]))
    there = torch.tensor([[True, False]])
    said = silent(2)
    names = ("kinds", "elements", "aspects", "changed", "rank", "shift")
    marked = {name: getattr(said, name).clone() for name in names}
    for part in marked.values():
        part[:, 1] = 7.0
    loss = region_loss(said, places, labels, there)
    again = region_loss(replace(said, **marked), places, labels, there)
    assert all(torch.equal(loss[name], again[name]) for name in loss)


def test_a_pair_of_noise_alone_has_no_kind_to_learn():
    places = torch.rand(1, 2, 2, 4)
    loss = region_loss(
        silent(2), places, label(places, collate([truth()])), torch.ones(1, 2, dtype=torch.bool)
    )
    assert loss["kind"] == loss["element"] == loss["aspect"] == loss["rank"] == loss["box"] == 0
    assert loss["changed"] > 0
    assert loss["verdict"] > 0


def test_a_place_points_to_each_box_in_which_its_middle_lies():
    alike = ((None, (10, 10, 14, 20)), (None, (16, 10, 20, 20)))
    several = replace(ADDED, boxes=alike)
    known = collate([truth(several, REMOVED)])
    assert known.change[0].tolist() == [0, 0, 0, 1]
    places = torch.tensor([[10.0, 10, 20, 20], [15, 9, 21, 21], [50, 44, 52, 46], [20, 20, 30, 30]])
    found = pointed(places[None, :, None].expand(-1, -1, 2, -1), known)
    assert found[0].tolist() == [
        [True, False, False, False],  # the middle lies between the two alike things
        [True, False, True, False],
        [False, False, False, True],
        [False, False, False, False],
    ]


def test_the_truth_can_move():
    moved = collate([truth(ADDED)]).to("cpu")
    assert moved.boxes.shape == (1, 1, 2, 4)
    assert supervision.ABSENT == -1


def test_of_a_doubtful_pair_kinds_are_learnt_and_no_verdict():
    places = torch.tensor([[10.0, 10, 20, 20], [70, 0, 80, 9]])[None, :, None].expand(-1, -1, 2, -1)
    labels = label(places, collate([replace(truth(ADDED), doubtful=True)]))
    assert labels.verdict.tolist() == [-1] and labels.changed.tolist() == [[-1, -1]]
    assert labels.kind[0, 0] == KINDS.index("added")
    loss = region_loss(silent(2), places, labels, torch.ones(1, 2, dtype=torch.bool))
    assert loss["verdict"] == 0 and loss["changed"] == 0
    assert loss["kind"] > 0 and loss["rank"] > 0


def test_ranking_a_later_change_first_is_worth_less():
    boxes = torch.tensor([[10.0, 10, 20, 20], [40, 40, 60, 50], [70, 0, 80, 9]])
    places = boxes[None, :, None].expand(-1, -1, 2, -1)
    labels = label(places, collate([truth(ADDED, REMOVED)]))
    assert labels.order[0, :2].tolist() == [0, 1]
    there = torch.ones(1, 3, dtype=torch.bool)
    alike, less = (region_loss(silent(3), places, labels, there, later)["rank"].item() for later in (1, 0.25))
    assert_close(alike - less, math.log(1 + 0.25) - math.log(2), rtol=1e-5, atol=1e-6)
    second = label(
        places[:, 1:], collate([truth(ADDED, REMOVED)])
    )  # where only the second change is proposed
    of_two = [
        region_loss(silent(2), places[:, 1:], second, there[:, 1:], later)["rank"] for later in (1, 0.25)
    ]
    assert_close(of_two[0], of_two[1])
