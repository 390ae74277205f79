"""Losses on the world's truth, by hand."""

import math

import pytest
import torch
from torch.testing import assert_close

from whatchanged.training.objects.matching import Matches
from whatchanged.training.objects.pool import open_shards, pairing
from whatchanged.training.objects.supervision import (
    ATTRIBUTES,
    CHANGE_LABELS,
    ObjectsTruth,
    PairTruth,
    cell_loss,
    change_label_loss,
    collate_truth,
    join,
    match_loss,
    mentioned_tokens,
    objects_of_tokens,
    pointing_loss,
    scene_context_loss,
)

LN2, LN3 = math.log(2), math.log(3)


def truth(owner, center, attributes=None, ground_positions=None):
    """One picture's truth, with a batch axis of one."""
    objects = len(center)
    attributes = torch.zeros(objects, 4) if attributes is None else torch.tensor(attributes)
    ground_positions = torch.zeros(objects, 2) if ground_positions is None else torch.tensor(ground_positions)
    return ObjectsTruth(
        torch.tensor([owner]), torch.tensor([center]), attributes.long()[None], ground_positions.float()[None]
    )


def uniform(h, w):
    return {name: torch.zeros(1, values, h, w) for name, values in ATTRIBUTES.items()}


def pair_truth(partners, change_labels, objects=3):
    none = truth([[-1]], [-1] * objects)
    return PairTruth(
        none, none, *(torch.tensor([row]) for row in (*partners, *change_labels)), torch.zeros(1, 0, 2, 2)
    )


# One picture


def test_cells_by_hand():
    """Thing 0 covers the upper row, its middle in cell 0; thing 1 covers cell 3, its middle; cell 2 is bare.

    Middles weigh 8, the other covered cell 1: 17 in all.
    """
    known = truth([[0, 0], [-1, 1]], [0, 3], [[0, 1, 2, 0], [2, 0, 7, 1]], [[3.0, -1.5], [0.0, 0.6]])
    answers = uniform(2, 2)
    answers["shape"][0, :, 0, 0] = torch.tensor([LN2, 0.0, 0.0])  # P(right) = 1/2 at cell 0, 1/3 elsewhere
    answers["color"][0, 7, 1, 1] = math.log(9)  # P(right) = 9/16 at cell 3, 1/8 elsewhere
    answers["color"][0, 7, 1, 0] = 50.0  # a bare cell may answer what it likes
    centers = torch.tensor([[[LN3, 0.0], [-LN3, 0.0]]])  # probabilities 3/4, 1/2; 1/4, 1/2
    ground_positions = torch.zeros(1, 2, 2, 2)
    ground_positions[0, :, 0, 1] = torch.tensor([1.0, 0.25])
    terms = cell_loss(centers, answers, ground_positions, known)
    middles = math.log(4 / 3) / 16 + LN2 / 4  # -(1 - p)^2 ln p
    others = 0.25 * (LN2 / 4 + math.log(4 / 3) / 16)  # -p^2 ln(1 - p), neighbours of a middle count a quarter
    assert terms["center"].item() == pytest.approx((middles + others) / 2)
    assert terms["shape"].item() == pytest.approx((8 * LN2 + LN3 + 8 * LN3) / 17)
    assert terms["size"].item() == terms["material"].item() == pytest.approx(LN2)
    assert terms["color"].item() == pytest.approx((9 * math.log(8) + 8 * math.log(16 / 9)) / 17)
    # thirds of the ground coordinates: (1, -0.5) for thing 0, (0, 0.2) for thing 1
    assert terms["ground_position"].item() == pytest.approx((8 * 1.5 + 1 * 0.75 + 8 * 0.2) / 17)


def test_only_neighbours_of_a_middle_are_excused():
    terms = cell_loss(
        torch.zeros(1, 1, 4), uniform(1, 4), torch.zeros(1, 2, 1, 4), truth([[0, -1, -1, -1]], [0])
    )
    assert terms["center"].item() == pytest.approx(LN2 / 4 * (1 + 0.25 + 1 + 1))


def test_an_empty_picture_asks_only_for_no_middles():
    bare = truth([[-1, -1], [-1, -1]], [-1, -1])
    terms = cell_loss(torch.zeros(1, 2, 2), uniform(2, 2), torch.ones(1, 2, 2, 2), bare)
    assert terms.pop("center").item() == pytest.approx(LN2)
    assert {name: term.item() for name, term in terms.items()} == dict.fromkeys(
        [*ATTRIBUTES, "ground_position"], 0
    )


def test_right_answers_cost_nothing_and_wrong_ones_much():
    known = truth([[0, 1]], [0, 1], [[2, 1, 5, 1], [0, 0, 0, 0]], [[3.0, 0.0], [-3.0, 3.0]])
    answers = uniform(1, 2)
    for column, logits in enumerate(answers.values()):
        for cell in (0, 1):
            logits[0, known.attributes[0, cell, column], 0, cell] = 40.0
    ground_positions = torch.tensor([[1.0, -1.0], [0.0, 1.0]]).view(1, 2, 1, 2)
    right = cell_loss(torch.full((1, 1, 2), 40.0), answers, ground_positions, known)
    wrong = cell_loss(
        torch.full((1, 1, 2), -40.0),
        {n: x.flip(3) for n, x in answers.items()},
        ground_positions.flip(3),
        known,
    )
    assert all(term.item() == pytest.approx(0, abs=1e-6) for term in right.values())
    assert all(term.item() > 2 for term in wrong.values())


def test_tokens_show_the_thing_whose_middle_is_in_reach():
    """A grid of four columns: thing 0 in cell (1, 1), thing 1 unseen, thing 2 in cell (1, 3).

    Cells 0 and 10 are beside the first, 7 is the third's own, but better tokens stand for them already.
    """
    known = truth([[-1] * 4] * 4, [5, -1, 7])
    tokens = torch.tensor([[5, 0, 10, 11, 12, 13, 7]])
    assert objects_of_tokens(tokens, known, 4).tolist() == [[0, -1, -1, 2, -1, -1, -1]]
    assert objects_of_tokens(torch.tensor([[8]]), truth([[-1] * 4] * 4, [7]), 4).tolist() == [[-1]]


def test_sizes_and_positions_read_together_by_hand():
    """Three tokens show things: P(right size) 1/2, 1/2, 3/4; L1 gaps 1, 0 and 1/2. The others say nothing."""
    before = truth([[-1]], [0, 1], [[0, 1, 0, 0], [0, 0, 0, 0]], [[3.0, -1.5], [0.0, 0.6]])
    after = truth([[-1]], [0, 1], [[0, 1, 0, 0], [0, 0, 0, 0]], [[0.0, 0.0], [1.5, 0.0]])
    none = torch.zeros(1, 2, dtype=torch.long)
    known = PairTruth(before, after, none, none, none, none, none)
    objects = (torch.tensor([[1, 0]]), torch.tensor([[-1, 1]]))
    sizes = (torch.zeros(1, 2, 2), torch.tensor([[[9.0, -9.0], [LN3, 0.0]]]))
    ground_positions = (torch.tensor([[[0.0, 0.2], [0.0, -0.5]]]), torch.tensor([[[7.0, 7.0], [0.0, 0.0]]]))
    got = scene_context_loss(sizes, ground_positions, objects, known)
    assert got["size"].item() == pytest.approx((2 * LN2 + math.log(4 / 3)) / 3)
    assert got["ground_position"].item() == pytest.approx((1 + 0 + 0.5) / 3)
    assert scene_context_loss(sizes, ground_positions, (none - 1, none - 1), known)["ground_position"] == 0


# Two pictures


def matches(rows):
    return Matches(torch.tensor([rows]).log(), torch.tensor([[1.0, 0.0]]), torch.zeros(1, len(rows) - 1, 2))


def test_matches_by_hand():
    """Before, token 0 shows thing 0, which is thing 1 after; token 1 shows nothing. After, token 0 shows
    thing 1, token 1 thing 2, which was not there before."""
    found = matches([[0.6, 0.2, 0.2], [0.1, 0.5, 0.4], [0.3, 0.3, 0.9]])
    objects = (torch.tensor([[0, -1]]), torch.tensor([[1, 2]]))
    known = pair_truth(([1, -1, -1], [-1, 0, -1]), ([0, 0, 0], [0, 0, 3]))
    forth = (-math.log(0.6) - 0.1 * math.log(0.4)) / 1.1
    back = (-math.log(0.6) - math.log(0.3)) / 2
    assert match_loss(found, objects, known).item() == pytest.approx((forth + back) / 2)


def test_a_thing_that_no_token_shows_is_nowhere_and_rows_need_not_sum_to_one():
    found = matches([[0.3, 0.1, 0.1], [0.5, 1.0, 0.5], [1.0, 1.0, 1.0]])
    objects = (torch.tensor([[0, 2]]), torch.tensor([[2, 2]]))
    known = pair_truth(([1, -1, 2], [-1, 0, 2]), ([0, 0, 0], [0, 0, 0]))
    forth = (-math.log(0.2) - math.log(0.25)) / 2  # thing 1 is not shown; of two tokens the first is meant
    back = (-math.log(0.5 / 1.8) - math.log(1.0 / 2.1)) / 2
    assert match_loss(found, objects, known).item() == pytest.approx((forth + back) / 2)


def test_fates_by_hand():
    """Unchanged things weigh 1, changed 3, tokens that show nothing 0; then the mean of both pictures."""
    before = torch.zeros(1, 3, 5)
    before[0, 0, 0] = math.log(4)  # "same", P = 4/8
    before[0, 2] = 100.0 * torch.arange(5.0)  # shows nothing
    after = torch.zeros(1, 3, 5)
    after[0, 1, CHANGE_LABELS.index("move")] = math.log(6)  # P = 6/10
    objects = (torch.tensor([[0, 1, -1]]), torch.tensor([[-1, 1, -1]]))
    known = pair_truth(
        ([0, 1, 2], [0, 1, 2]), ([0, CHANGE_LABELS.index("move"), 0], [0, CHANGE_LABELS.index("move"), 0])
    )
    wanted = ((LN2 + 3 * math.log(5)) / 4 + math.log(10 / 6)) / 2
    assert change_label_loss((before, after), objects, known).item() == pytest.approx(wanted)


def test_pictures_without_things_have_no_fate():
    none = torch.full((1, 2), -1)
    logits = torch.randn(1, 2, 5, requires_grad=True)
    loss = change_label_loss((logits, logits), (none, none), pair_truth(([-1] * 3,) * 2, ([0] * 3,) * 2))
    assert loss.item() == 0


def test_a_word_tells_of_the_tokens_that_show_its_thing():
    """Three words: thing 2 before, which is thing 1 after; a thing that only the picture after has; both."""
    mentioned = torch.tensor([[[[2, 1], [-1, -1]], [[-1, 0], [-1, -1]], [[2, 1], [-1, 0]]]])
    shows = mentioned_tokens(torch.tensor([[2, -1, 0]]), torch.tensor([[1, 0, -1]]), mentioned)
    assert shows.tolist() == [
        [
            [[True, False, False], [True, False, False]],
            [[False, False, False], [False, True, False]],
            [[True, False, False], [True, True, False]],
        ]
    ]


def test_pointing_by_hand():
    """Three words look at their things with shares (0.1 + 0.3) / 0.8, 0.2 / 0.4 and 1/2; a pad does not
    count, nor a word whose thing no token shows."""
    looked = torch.tensor(
        [
            [[[0.1, 0.2], [0.3, 0.2]], [[0.1, 0.1], [0.1, 0.1]], [[9.0, 0.0], [0.0, 0.0]]],
            [[[0.1, 0.2], [0.3, 0.2]], [[0.2, 0.3], [0.5, 0.0]], [[9.0, 0.0], [0.0, 0.0]]],
        ]
    )
    first, nothing = [[True, False], [True, False]], [[False, False], [False, False]]
    shows = torch.tensor([[first, first, first], [nothing, [[True, True], [False, False]], first]])
    asked = torch.tensor([[True, True, False]] * 2)
    assert pointing_loss(looked, shows, asked).item() == pytest.approx(LN2)
    assert pointing_loss(looked, torch.zeros_like(shows), asked).item() == 0
    one = pointing_loss(looked[:, 1:2] * torch.tensor([1.0, 0.0]), shows[:, 1:2], asked[:, 1:2])
    assert one.item() == pytest.approx(-math.log(2 / 7) / 2)  # 0.2 / 0.2, and 0.2 / 0.7


# Tensors


def test_pairings_become_one_batch(tiny_pool):
    shard = open_shards(tiny_pool)[0]
    pairings = [pairing(shard, i, 0, 1, shard.change(i)) for i in range(3)]
    piled = collate_truth(pairings).to("cpu")
    assert piled.before.owner.shape == (3, 8, 12) and piled.after.attributes.shape == (3, 10, 4)
    for side in ("before", "after"):
        for name in ("owner", "center", "attributes", "ground_positions"):
            tensor = getattr(getattr(piled, side), name)
            assert tensor.dtype == (torch.float32 if name == "ground_positions" else torch.int64)
            for i, one in enumerate(pairings):
                assert tensor[i].tolist() == getattr(getattr(one, side), name).tolist()
    for name in ("partner_before", "partner_after", "change_label_before", "change_label_after"):
        assert getattr(piled, name).tolist() == [getattr(one, name).tolist() for one in pairings]
    both = join(piled.before, piled.after)
    assert both.center.shape == (6, 10)
    assert_close(both.ground_positions[3:], piled.after.ground_positions)
