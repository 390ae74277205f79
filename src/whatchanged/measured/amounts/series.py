"""Changes of the lines in a plot: dashes, markers, and a line that came or went among others.

The lines may have several colours, cross each other, and stand beside text that stays.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from whatchanged import words
from whatchanged.measured.amounts.coverage import stroke
from whatchanged.measured.amounts.look import is_vivid
from whatchanged.measured.amounts.redrawn import DIFFERS, UNCLEAR
from whatchanged.measured.amounts.strokes import goes_far
from whatchanged.measured.pixels.boxes import box_of, lies_in, union
from whatchanged.measured.pixels.layers import INK, RGBColor, colors_in, ground_color, usual_color
from whatchanged.measured.pixels.planes import (
    enlarged,
    largest_near,
    steps_between,
    steps_from,
)
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box
from whatchanged.measured.rules.detected import DetectedChange
from whatchanged.measured.rules.kinds import Finding

Mask = NDArray[np.bool_]

SMALLEST = 60
"""The least longer side, in pixels, of the lines together."""
EXPLAINED = 0.85
"""The least fraction of the differences that dashes, markers or a line explain."""
LEAST_GAPS, PART_OF_LINE = 4, (0.15, 0.85)
"""The least number of gaps in a dashed line, and the fraction of the line that they take. A word that went
leaves no line."""
AT_ENDS = 0.5
"""The largest fraction of the pixels around gaps that are drawn: those at their ends. Around an area that was
emptied its outline remains."""
ONE_LENGTH, LONGEST_GAP = (0.5, 1.7), 24
"""The lengths of the gaps, as multiples of the usual one, and the largest usual one in pixels."""
LEAST_MARKERS, MARKER = 4, (5, 24)
"""The least number of markers on all lines, and their least and largest side in pixels."""
ONE_SIZE, ALIKE = 2, 0.75
"""The largest difference in pixels between the sides of a marker and the usual ones, and the least fraction
of markers, or of gaps, that are like the usual one. Others overlap or are cut off."""
COVERED, ON_LINE = 0.6, (0.05, 0.5)
"""The least fraction of its box that a marker covers, and how much of it the line alone covers."""
SHADE, LEAST_SHARE = 48, 0.15
"""The largest difference between the shades of one colour, in levels, and the least fraction of the ink that
makes a colour one of the lines'."""
THIN = 6
"""The largest thickness of a line in pixels."""
CROSSED = 0.3
"""The largest fraction of a new line's pixels at which the other picture shows something, like other lines. A
line in another shade of its colour lies on itself."""
CLOSED = 2
"""How many times its own area a closed line surrounds, at least."""
MOST_ELSEWHERE = 0.05
"""The largest amount of a new line's colour in the other picture, as a fraction of the line."""


def lines_restyled(changes: Sequence[DetectedChange], before: Pixels, after: Pixels) -> DetectedChange | None:
    """Return all changes as lines that became dashed or solid, or got or lost their markers, or None."""
    boxes = [box for one in changes for box in (one.box_before, one.box_after) if box is not None]
    if not boxes or before.shape != after.shape or not all(lies_in(box, after.shape) for box in boxes):
        return None
    box = union(boxes)
    left, top, right, bottom = box
    if max(right - left, bottom - top) < SMALLEST:
        return None
    parts = [picture[top:bottom, left:right] for picture in (before, after)]
    inks = [steps_from(usual_color(part.reshape(-1, 3)), part) > INK for part in parts]
    differs = steps_between(*parts) >= DIFFERS
    for aspect, find, on_lines in (("markers", _markers, 1), ("line style", _gaps, 0)):
        for bare, drawn in ((0, 1), (1, 0)):
            mask = find(inks[bare], inks[drawn], differs)
            if mask is None:
                continue
            lines = tuple(_by_color(parts[(bare, drawn)[on_lines]], mask, box))
            finding = Finding("restyled", aspect, 0.6, {"on_after": drawn == 1})
            pixels = int(np.count_nonzero(differs))
            several = lines if len(lines) > 1 else ()
            return DetectedChange(finding, box, box, pixels, boxes=several, element="line")
    return None


def _gaps(solid: Mask, dashed: Mask, differs: Mask) -> Mask | None:
    """Return the gaps between the dashes of lines that are solid in one picture, (h, w), or None."""
    from scipy import ndimage  # SciPy is imported here because its import is slow.

    gaps = solid & ~dashed
    around = enlarged(gaps, 1, 1) & ~gaps
    if not around.any() or dashed[around].mean() > AT_ENDS:
        return None
    if not _explains(gaps, differs) or np.count_nonzero(dashed & ~enlarged(solid, 1, 1)) > 0.1 * gaps.sum():
        return None
    lines, count = ndimage.label(solid, np.ones((3, 3), bool))
    pieces, number = ndimage.label(gaps, np.ones((3, 3), bool))
    whole = np.bincount(lines[solid], minlength=count + 1)
    share = np.bincount(lines[gaps], minlength=count + 1) / np.maximum(whole, 1)
    line_of = ndimage.maximum(lines, pieces, range(1, number + 1)) if number else []
    held = np.bincount(np.asarray(line_of, int), minlength=count + 1)
    broken = (held >= LEAST_GAPS) & (share >= PART_OF_LINE[0]) & (share <= PART_OF_LINE[1])
    if np.count_nonzero(broken[lines[gaps]]) < EXPLAINED * np.count_nonzero(gaps):
        return None
    sides = [
        max(down.stop - down.start, across.stop - across.start)
        for down, across in ndimage.find_objects(pieces)
    ]
    lengths = np.array([side for side in sides if side > 1])  # A single pixel is a soft edge.
    usual = float(np.median(lengths)) if len(lengths) else np.inf
    alike = (lengths >= ONE_LENGTH[0] * usual) & (lengths <= ONE_LENGTH[1] * usual)
    return gaps if usual <= LONGEST_GAP and alike.mean() >= ALIKE else None


def _markers(bare: Mask, marked: Mask, differs: Mask) -> Mask | None:
    """Return the ink that markers add to lines, (h, w), or None."""
    from scipy import ndimage  # SciPy is imported here because its import is slow.

    extra = marked & ~bare
    if not _explains(extra, differs):
        return None
    around = enlarged(extra, 1, 1)
    labels, count = ndimage.label(enlarged(around, 1, 1), np.ones((3, 3), bool))
    if count < LEAST_MARKERS:
        return None
    blobs = [
        (
            rows.stop - rows.start - 4,
            columns.stop - columns.start - 4,
            marked[rows, columns],
            bare[rows, columns],
        )
        for rows, columns in ndimage.find_objects(labels)
    ]
    usual = [float(np.median([blob[k] for blob in blobs])) for k in (0, 1)]
    if not MARKER[0] <= min(usual) <= max(usual) <= min(MARKER[1], 1.7 * min(usual)):
        return None
    alike = [
        max(abs(high - usual[0]), abs(wide - usual[1])) <= ONE_SIZE
        and np.count_nonzero(drawn) >= COVERED * high * wide
        and ON_LINE[0] * high * wide <= np.count_nonzero(line) <= ON_LINE[1] * high * wide
        for high, wide, drawn, line in blobs
    ]
    return extra if sum(alike) >= max(LEAST_MARKERS, ALIKE * len(alike)) else None


def _explains(mask: Mask, differs: Mask) -> bool:
    """Return whether most of the differences lie at most two pixels from a mask."""
    near = np.count_nonzero(differs & enlarged(mask, 2, 2))
    return bool(mask.any() and near >= EXPLAINED * np.count_nonzero(differs))


def _by_color(part: Pixels, mask: Mask, box: Box) -> Iterator[Box]:
    """Yield the box of the ink of each colour in a mask (h, w) over a part of a picture (h, w, 3)."""
    steps = steps_from(usual_color(part.reshape(-1, 3)), part)
    rest = mask & (steps >= largest_near(steps.astype(np.int16)))  # The edges of a line have colours between.
    least = LEAST_SHARE * np.count_nonzero(rest)
    while np.count_nonzero(rest) >= least:
        color = usual_color(colors_in(part, rest))
        own = rest & (steps_from(color, part) <= SHADE)
        if not own.any():
            return
        found = box_of(own, box[0], box[1])
        if found is not None and np.count_nonzero(own) >= least:
            yield found
        rest &= ~own


def line_among_others(
    change: DetectedChange, before: Pixels, after: Pixels, box: Box
) -> DetectedChange | None:
    """Return the change as a colourful line that came or went among others, or None."""
    found = (change.finding.kind, change.finding.aspect)
    if found not in (*UNCLEAR, ("added", "thing"), ("removed", "thing")) or change.look is not None:
        return None
    left, top, right, bottom = box
    one, other = (picture[top:bottom, left:right] for picture in (before, after))
    line = _new_line(one, other, ground_color(before, box))
    if line is not None:
        finding = Finding("added", "thing", 0.5)
        return replace(change, finding=finding, box_before=None, box_after=box, look=line)
    line = _new_line(other, one, ground_color(after, box))
    if line is None:
        return None
    finding = Finding("removed", "thing", 0.5)
    return replace(change, finding=finding, box_before=box, box_after=None, look=line)


def _new_line(hidden: Pixels, shown: Pixels, ground: RGBColor) -> str | None:
    """Return a noun with its colour for a line that only the second part (h, w, 3) shows, if it explains the
    differences of both, or None.

    ground: the colour around the first part.
    """
    from scipy import ndimage  # SciPy is imported here because its import is slow.

    differs = steps_between(shown, hidden) >= DIFFERS
    vivid = differs & is_vivid(shown)
    if not vivid.any() or max(vivid.shape) < SMALLEST:
        return None
    color = usual_color(colors_in(shown, vivid))
    own = vivid & (steps_from(color, shown) <= SHADE)
    elsewhere = is_vivid(hidden) & (steps_from(color, hidden) <= SHADE)
    drawn = steps_from(ground, hidden) > INK
    if np.count_nonzero(elsewhere) > MOST_ELSEWHERE * np.count_nonzero(own) or drawn[own].mean() > CROSSED:
        return None
    ink = own.astype(np.float32)
    if not _explains(own, differs) or stroke(ink) > THIN or not goes_far(ink):
        return None
    closed = np.count_nonzero(ndimage.binary_fill_holes(own)) >= CLOSED * np.count_nonzero(own)
    return f"{words.color_name(color)} {'outline' if closed else 'line'}"
