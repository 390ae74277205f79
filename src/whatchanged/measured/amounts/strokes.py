"""Measurement of drawn lines: thickness and markers."""

import numpy as np

from whatchanged.measured.amounts.coverage import INKED, Coverage, Floats, read_coverage, stroke, unexplained
from whatchanged.measured.pixels.layers import far
from whatchanged.measured.pixels.planes import enlarged
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box
from whatchanged.measured.rules.kinds import Finding

THICKEST = 9.0
"""The largest thickness of a line in pixels."""
THICKER = 1.25
"""The least ratio between the thicknesses of a line before and after."""
LEAST_STEP = 0.4
"""The least change of the thickness in pixels."""
WITHIN = 0.92
"""The least fraction of the thinner line that lies on the thicker one."""
UNEXPLAINED = 0.35
"""The largest residual that background and lines leave unexplained, as a fraction of the lines."""
LENGTH = 0.25
"""The largest relative difference between the lengths of the lines."""
LONGEST = 24
"""The least ratio of the length to the thickness of a line."""
FAR, PART_OF_ALL = 40, 0.25
"""The least length of a connected piece of a line, in pixels and as a fraction of the longer side of its
box."""
SAME_COLOR = 40
"""The largest difference, in levels, between the colours before and after. Thin lines seldom reach their full
colour."""


def line_width_change(before: Pixels, after: Pixels, box: Box) -> Finding | None:
    """Return whether the lines in a box became thicker or thinner in place, or None if that is uncertain."""
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
    if not (goes_far(one.ink) and goes_far(other.ink)):
        return None
    lengths = one.area / thick[0], other.area / thick[1]
    if max(lengths) > (1 + LENGTH) * min(lengths) or min(lengths) < LONGEST * max(thick):
        return None
    thin, broad = (one, other) if thick[0] < thick[1] else (other, one)
    if _within(thin, broad) < WITHIN:
        return None
    amounts = {"amount_before": round(thick[0], 1), "amount_after": round(thick[1], 1)}
    return Finding("restyled", "line width", 0.6, amounts)


def goes_far(ink: Floats) -> bool:
    """Return whether one connected component of the ink extends far across the part, unlike letters."""
    from scipy import ndimage  # SciPy is imported here because its import is slow.

    labels, _ = ndimage.label(ink >= INKED, np.ones((3, 3), bool))
    sides = [
        max(rows.stop - rows.start, columns.stop - columns.start)
        for rows, columns in ndimage.find_objects(labels)
    ]
    return bool(max(sides, default=0) >= max(FAR, PART_OF_ALL * max(ink.shape)))


def _within(thin: Coverage, broad: Coverage) -> float:
    """Return the fraction of the first ink that lies within a pixel of the second one."""
    inked = thin.ink >= INKED
    around = enlarged(broad.ink >= INKED, 1, 1)
    count = np.count_nonzero(inked)
    return float(np.count_nonzero(inked & around) / count) if count else 0.0


def marker_change(before: Pixels, after: Pixels, box: Box) -> Finding | None:
    """Return whether markers appeared or disappeared on unchanged lines. Markers are blobs of equal size."""
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
"""The least number of markers, the least and largest side in pixels, and the largest relative difference of
sides."""


def _are_markers(extra: Floats, thick: float) -> bool:
    """Return whether the additional ink consists of blobs of equal size that are broader than the lines.

    thick: the thickness of the lines in pixels.
    """
    from scipy import ndimage  # SciPy is imported here because its import is slow.

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
