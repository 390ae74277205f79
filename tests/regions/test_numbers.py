"""Numbers of places, against pixels set by hand."""

import numpy as np
import pytest

from whatchanged.measured.compared import Compared
from whatchanged.regions.numbers import NUMBERS, numbers, read_proposals
from whatchanged.regions.proposals import Proposal, propose


def test_what_is_read_has_a_row_for_each_place():
    before = np.full((60, 80, 3), 255, np.uint8)
    after = before.copy()
    after[10:16, 20:30] = (200, 0, 0)
    seen = read_proposals(Compared(before, after), 3)
    count = len(seen.proposals)
    assert 1 <= count <= 3
    assert seen.numbers.shape == (count, NUMBERS)
    assert [tuple(map(tuple, boxes.tolist())) for boxes in seen.boxes] == [
        one.boxes for one in seen.proposals
    ]
    assert seen.sizes.tolist() == [[80, 60], [80, 60]]
    nothing = read_proposals(Compared(before, before), 3)
    assert nothing.numbers.shape == (0, NUMBERS)
    assert nothing.boxes.shape == (0, 2, 4)


def test_numbers_are_finite_and_as_many_as_told():
    before = np.full((60, 80, 3), 255, np.uint8)
    after = before.copy()
    after[10:16, 20:30] = (200, 0, 0)
    proposals = propose(Compared(before, after))
    results = [numbers(before, after, proposal, i, len(proposals)) for i, proposal in enumerate(proposals)]
    assert all(row.shape == (NUMBERS,) and np.isfinite(row).all() for row in results)
    assert results[0][:2].tolist() == [0, 1]  # nothing before, something after
    assert results[0][2:4] == pytest.approx([25 / 80, 13 / 60])


def test_a_box_beyond_a_smaller_picture_is_read_at_its_edge():
    before, after = np.zeros((10, 10, 3), np.uint8), np.zeros((60, 80, 3), np.uint8)
    proposal = Proposal(None, (50, 40, 60, 50), "added", "thing", 0.5, 100, 3.0)
    assert np.isfinite(numbers(before, after, proposal, 0, 1)).all()
