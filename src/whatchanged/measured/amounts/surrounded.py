"""Several boxes that one differing region surrounds, such as cards whose edges or shadows changed."""

from dataclasses import replace

import numpy as np

from whatchanged.measured.pixels.boxes import area, grown, lies_in
from whatchanged.measured.pixels.planes import steps_between
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.rules.detected import DetectedChange

AROUND = ("border", "border width", "outline", "shadow")
"""Finer words for a change around a thing."""
FAINTEST = 2
"""The least difference, in levels, of a pixel of an edge or a shadow."""
BEYOND = 4
"""How many pixels the faint end of a shadow may lie beyond the differing region."""
SMALLEST = 24
"""The least side in pixels of a box inside such an edge. A letter with an outline has smaller ones."""
OF_INSIDE = 0.95
"""The least fraction of the surrounded pixels that lie in such boxes."""


def with_each_box(change: DetectedChange, before: Pixels, after: Pixels) -> DetectedChange:
    """Return a change around several boxes with each of these boxes, or the change as it is."""
    from scipy import ndimage  # SciPy is imported here because its import is slow.

    box = change.box_after
    if change.finding.aspect not in AROUND or box is None or change.box_before != box or change.boxes:
        return change
    if not lies_in(box, before.shape) or not lies_in(box, after.shape):
        return change
    left, top, right, bottom = grown(box, BEYOND, (after.shape[1], after.shape[0]))
    differs = steps_between(before[top:bottom, left:right], after[top:bottom, left:right]) >= FAINTEST
    inside = ndimage.binary_fill_holes(differs) & ~differs
    found = ndimage.find_objects(ndimage.label(inside)[0])
    boxes = [
        (left + across.start, top + down.start, left + across.stop, top + down.stop)
        for down, across in found
        if min(across.stop - across.start, down.stop - down.start) >= SMALLEST
    ]
    if len(boxes) < 2 or sum(map(area, boxes)) < OF_INSIDE * np.count_nonzero(inside):
        return change
    return replace(change, boxes=tuple(boxes))
