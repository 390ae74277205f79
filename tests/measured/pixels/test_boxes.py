"""Boxes of whole pixels, against counting the pixels."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from whatchanged.measured.pixels.boxes import area, box_of, common, iou

SIDE = 12
ENDS = st.lists(st.integers(0, SIDE), min_size=2, max_size=2, unique=True).map(sorted)
BOXES = st.tuples(ENDS, ENDS).map(lambda ends: (ends[0][0], ends[1][0], ends[0][1], ends[1][1]))


def pixels(box):
    mask = np.zeros((SIDE, SIDE), bool)
    mask[box[1] : box[3], box[0] : box[2]] = True
    return mask


@given(BOXES, BOXES)
def test_what_boxes_share_is_counted(one, other):
    both, any_of = pixels(one) & pixels(other), pixels(one) | pixels(other)
    assert area(one) == pixels(one).sum()
    assert common(one, other) == common(other, one) == both.sum()
    assert iou(one, other) == iou(other, one) == both.sum() / any_of.sum()


@given(BOXES, st.integers(0, 5), st.integers(0, 5))
def test_the_box_of_what_is_marked(box, left, top):
    moved = (box[0] + left, box[1] + top, box[2] + left, box[3] + top)
    assert box_of(pixels(box), left, top) == moved
    corners = np.zeros((SIDE, SIDE), bool)
    corners[box[1], box[0]] = corners[box[3] - 1, box[2] - 1] = True
    assert box_of(corners) == box


def test_nothing_that_is_marked_has_no_box():
    assert box_of(np.zeros((3, 4), bool)) is None and box_of(np.zeros((0, 4), bool)) is None


def test_by_hand():
    assert common((0, 0, 4, 2), (2, 1, 6, 3)) == 2
    assert iou((0, 0, 4, 2), (2, 1, 6, 3)) == 2 / 14
    assert iou((0, 0, 4, 2), (4, 0, 6, 2)) == 0
