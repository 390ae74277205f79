"""Proposed places, on pictures whose changes are known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whatchanged.measured.compared import Compared
from whatchanged.regions.proposals import SAME, Proposal, overlap, propose

BOXES = st.tuples(st.integers(0, 40), st.integers(0, 40), st.integers(1, 20), st.integers(1, 20)).map(
    lambda corner: (corner[0], corner[1], corner[0] + corner[2], corner[1] + corner[3])
)


def white(width: int = 200, height: int = 120) -> np.ndarray:
    return np.full((height, width, 3), 255, np.uint8)


def with_box(box: tuple[int, int, int, int], color: int = 0, picture: np.ndarray | None = None) -> np.ndarray:
    changed = white() if picture is None else picture.copy()
    changed[box[1] : box[3], box[0] : box[2]] = color
    return changed


def proposed(before: np.ndarray, after: np.ndarray, most: int = 12) -> list[Proposal]:
    return propose(Compared(before, after), most)


def test_equal_pictures_have_no_place():
    assert proposed(white(), white()) == []


def test_an_added_box_is_the_first_place():
    box = (50, 40, 90, 70)
    first = proposed(white(), with_box(box))[0]
    assert first.rule == "added"
    assert first.box_before is None
    assert overlap(first.box_after, box) > 0.9
    assert first.boxes == (first.box_after, first.box_after)


def test_what_went_has_no_box_after():
    first = proposed(with_box((50, 40, 90, 70)), white())[0]
    assert (first.rule, first.box_after) == ("removed", None)


def test_two_far_changes_are_proposed_each_by_itself():
    one, other = (10, 10, 30, 24), (150, 90, 180, 110)
    after = with_box(other, picture=with_box(one))
    after[90:110, 150:180] = 90
    proposals = proposed(white(), after)
    for box in (one, other):
        assert max(overlap(proposal.boxes[1], box) for proposal in proposals) > 0.85


def test_noise_is_proposed_too():
    rng = np.random.default_rng(0)
    before = with_box((50, 40, 90, 70), 60)
    after = np.clip(before + rng.integers(-3, 4, before.shape), 0, 255).astype(np.uint8)
    proposals = proposed(before, after)
    assert proposals
    assert all(proposal.strength < 1 for proposal in proposals)


def test_pictures_of_two_sizes_have_the_whole_among_their_places():
    proposals = proposed(white(200, 120), with_box((10, 100, 60, 110), 0, white(200, 150)), most=20)
    wholes = [proposal for proposal in proposals if proposal.boxes == ((0, 0, 200, 120), (0, 0, 200, 150))]
    assert wholes


@pytest.mark.parametrize("most", [1, 3])
def test_there_are_no_more_than_wanted_and_none_twice(most: int):
    rng = np.random.default_rng(1)
    after = white()
    for _ in range(12):
        x, y = int(rng.integers(0, 180)), int(rng.integers(0, 100))
        after[y : y + 12, x : x + 12] = rng.integers(0, 200, 3)
    proposals = proposed(white(), after, most)
    assert len(proposals) == most
    for i, one in enumerate(proposals):
        for other in proposals[:i]:
            alike = [overlap(mine, yours) for mine, yours in zip(one.boxes, other.boxes, strict=True)]
            assert min(alike) < SAME


def word(picture: np.ndarray, left: int, top: int, letters: int) -> tuple[int, int, int, int]:
    """Draws letters of 6 x 10 pixels, 2 apart; the word's box."""
    for k in range(letters):
        picture[top : top + 10, left + 8 * k : left + 8 * k + 6] = 0
    return left, top, left + 8 * letters - 2, top + 10


def test_the_word_of_a_letter_that_changed_is_a_place():
    before = white()
    box = word(before, 40, 50, 6)
    after = before.copy()
    after[52:58, 66:69] = 255
    assert max(overlap(proposal.box_after, box) for proposal in proposed(before, after)) > 0.9


def test_the_bar_that_grew_is_a_place():
    before = with_box((60, 50, 80, 110), 90)
    after = with_box((60, 40, 80, 110), 90)
    assert max(overlap(proposal.box_after, (60, 40, 80, 110)) for proposal in proposed(before, after)) > 0.9


def test_the_cell_around_a_word_that_changed_is_a_place():
    before = white()
    before[30:32, 20:140] = before[88:90, 20:140] = 120
    before[30:90, 20:22] = before[30:90, 138:140] = 120
    word(before, 60, 55, 4)
    after = before.copy()
    after[55:65, 60:90][before[55:65, 60:90] == 0] = 160
    assert (
        max(overlap(proposal.box_after, (22, 32, 138, 88)) for proposal in proposed(before, after, 20)) > 0.9
    )


def test_shares_are_counted():
    after = with_box((150, 90, 170, 100), picture=with_box((10, 10, 50, 30)))
    whole = next(proposal for proposal in proposed(white(), after) if proposal.boxes[1] == (10, 10, 170, 100))
    visible, density, strong, strong_density, left, top, right, bottom = whole.shares
    assert (visible, strong) == (1, 1)
    assert density == strong_density == pytest.approx((40 * 20 + 20 * 10) / (160 * 90))
    assert (left, top, right, bottom) == (0, 0, 0, 0)
    part = next(proposal for proposal in proposed(white(), after) if proposal.boxes[1] == (10, 10, 50, 30))
    assert part.shares[:2] == (pytest.approx(0.8), 1)


@given(BOXES, BOXES)
def test_overlap_is_that_of_counted_pixels(one, other):
    masks = np.zeros((2, 64, 64), bool)
    for mask, box in zip(masks, (one, other), strict=True):
        mask[box[1] : box[3], box[0] : box[2]] = True
    assert overlap(one, other) == pytest.approx((masks[0] & masks[1]).sum() / (masks[0] | masks[1]).sum())


def test_overlap_of_what_is_not_there():
    assert overlap(None, None) == 1
    assert overlap(None, (0, 0, 1, 1)) == 0
