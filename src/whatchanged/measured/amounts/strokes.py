"""What became of lines that are drawn: how thick they are, whether they are dashed, whether markers stand
on them."""

import numpy as np

from whatchanged.measured.amounts.coverage import INKED, Coverage, Floats, read_coverage, stroke, unexplained
from whatchanged.measured.pixels.layers import far
from whatchanged.measured.pixels.planes import enlarged
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box
from whatchanged.measured.rules.kinds import Finding

THICKEST = 9.0
"""Pixels that a line is thick at most."""
THICKER = 1.25
"""How many times as thick a line became at least, or is left of it."""
LEAST_STEP = 0.4
"""Pixels by which it became so at least."""
WITHIN = 0.92
"""Share of the thinner line that lies on the thicker one."""
UNEXPLAINED = 0.35
"""What may be neither line nor ground, as a part of the lines."""
LENGTH = 0.25
"""Part by which the lengths of both may differ."""
LONGEST = 24
"""How many times as long as thick a line is at least."""
FAR, PART_OF_ALL = 40, 0.25
"""Pixels that one piece of a line goes at least, and part of the longer side of its box."""
SAME_COLOR = 40
"""Levels by which the colours of both may differ: thin lines seldom show the whole colour."""


def line_width_change(before: Pixels, after: Pixels, box: Box) -> Finding | None:
    """Whether the lines in a box became thicker or thinner where they are; None where neither is sure."""
    left, top, right, bottom = box
    one, other = (read_coverage(picture[top:bottom, left:right]) for picture in (before, after))
    if one is None or other is None or far(one.ground, other.ground) > SAME_COLOR:
        return None
    if far(one.color, other.color) > SAME_COLOR:
        return None
    parts = (picture[top:bottom, left:right] for picture in (before, after))
    if max(map(unexplained, parts, (one, other))) > UNEXPLAINED:
        return None
    thick = stroke(one.ink), stroke(other.ink)
    if max(thick) > THICKEST or min(thick) <= 0:
        return None
    if max(thick) < THICKER * min(thick) or abs(thick[1] - thick[0]) < LEAST_STEP:
        return None
    if not (_goes_far(one.ink) and _goes_far(other.ink)):
        return None
    lengths = one.area / thick[0], other.area / thick[1]
    if max(lengths) > (1 + LENGTH) * min(lengths) or min(lengths) < LONGEST * max(thick):
        return None
    thin, broad = (one, other) if thick[0] < thick[1] else (other, one)
    if _within(thin, broad) < WITHIN:
        return None
    amounts = {"amount_before": round(thick[0], 1), "amount_after": round(thick[1], 1)}
    return Finding("restyled", "line width", 0.6, amounts)


def _goes_far(ink: Floats) -> bool:
    """Whether one piece of what is drawn goes far across the part: letters do not."""
    from scipy import ndimage  # slow to import

    labels, _ = ndimage.label(ink >= INKED, np.ones((3, 3), bool))
    sides = [
        max(rows.stop - rows.start, columns.stop - columns.start)
        for rows, columns in ndimage.find_objects(labels)
    ]
    return bool(max(sides, default=0) >= max(FAR, PART_OF_ALL * max(ink.shape)))


def _within(thin: Coverage, broad: Coverage) -> float:
    """The share of one's ink that lies on the other's, or beside it."""
    inked = thin.ink >= INKED
    around = enlarged(broad.ink >= INKED, 1, 1)
    count = np.count_nonzero(inked)
    return float(np.count_nonzero(inked & around) / count) if count else 0.0


def marker_change(before: Pixels, after: Pixels, box: Box) -> Finding | None:
    """Whether markers came or went on lines that stay where they are: blobs of one size beside them."""
    left, top, right, bottom = box
    one, other = (read_coverage(picture[top:bottom, left:right]) for picture in (before, after))
    if one is None or other is None or far(one.color, other.color) > SAME_COLOR:
        return None
    for bare, marked, on in ((one, other, True), (other, one, False)):
        if stroke(bare.ink) > THICKEST or _within(bare, marked) < WITHIN:
            continue
        if _are_markers(marked.ink - bare.ink, stroke(bare.ink)):
            return Finding("restyled", "markers", 0.6, {"on_after": on})
    return None


MARKERS, MARKER_SIDES, ONE_SIZE = 4, (4, 24), 0.3
"""Markers at least, pixels of their sides, and the part by which these may differ."""


def _are_markers(extra: Floats, thick: float) -> bool:
    """Whether what came on lines of so many pixels is blobs of one size that are broader than these."""
    from scipy import ndimage  # slow to import

    labels, _ = ndimage.label(enlarged(extra >= INKED, 2, 2), np.ones((3, 3), bool))
    sides = np.array(
        [
            (rows.stop - rows.start - 4, columns.stop - columns.start - 4)
            for rows, columns in ndimage.find_objects(labels)
        ],
        float,
    )
    if len(sides) < MARKERS:
        return False
    usual = np.median(sides, axis=0)
    if usual.min() < MARKER_SIDES[0]:
        return False
    alike = (np.abs(sides / usual - 1) <= ONE_SIZE).all(axis=1).mean() >= 0.8
    square = 0.6 <= usual[0] / usual[1] <= 1.7
    return bool(alike and square and usual.min() > 1.5 * thick and usual.max() <= MARKER_SIDES[1])
