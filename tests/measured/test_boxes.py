"""Boxes of whole pixels, against counting the pixels."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from whatchanged.measured.boxes import area, common, iou

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


def test_by_hand():
    assert common((0, 0, 4, 2), (2, 1, 6, 3)) == 2
    assert iou((0, 0, 4, 2), (2, 1, 6, 3)) == 2 / 14
    assert iou((0, 0, 4, 2), (4, 0, 6, 2)) == 0
