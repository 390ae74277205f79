"""The part of a box that took another fill, where the box holds other changes as well."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured.pixels.boxes import area
from whatchanged.measured.pixels.layers import INK, RGBColor, colors_in, usual_color
from whatchanged.measured.pixels.planes import steps_between, steps_from
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box
from whatchanged.measured.rules.causes import VAGUE
from whatchanged.measured.rules.detected import DetectedChange
from whatchanged.measured.rules.kinds import KEPT_INK, Finding
from whatchanged.words import color_code, color_of_code

CLEAR = 24
"""The least difference, in levels, of a pixel that a new fill explains or not."""
MOST_BESIDE = 0.05
"""The largest number of clearly different pixels beside the part, as a fraction of the part."""
SAME = 10
"""The largest difference, in levels, of a pixel from the fill."""
OF_FULLEST = 0.5
"""The least fraction of the fill's pixels that a line of it has, compared with its fullest line. Text in
the fill takes some of them."""
MUCH_LESS = 0.8
"""The largest fraction of the box that the part may take. A larger part is the box without its rounded
edge."""
FILLED = 0.6
"""The least fraction of the part's pixels that took the fill."""


def only_refilled(change: DetectedChange, before: Pixels, after: Pixels) -> DetectedChange:
    """Return a change of a fill with the box of this fill alone. Another row beside it may have lost its own
    fill."""
    values, box = change.finding.values, change.box_after
    if (change.finding.kind, change.finding.aspect) in VAGUE and box is not None and change.box_before == box:
        return _of_unclear(change, before, after, box)
    codes = [values.get(name) for name in ("color_before", "color_after")]
    is_fill = (change.finding.kind, change.finding.aspect) == ("recolored", "fill")
    if not is_fill or None in codes or "content" in values or box is None or change.box_before != box:
        return change
    one, other = (color_of_code(str(code)) for code in codes)
    part = None if len(change.boxes) > 1 else refilled_part(before, after, box, (one, other))
    return change if part is None else replace(change, box_before=part, box_after=part, boxes=())


def _of_unclear(change: DetectedChange, before: Pixels, after: Pixels, box: Box) -> DetectedChange:
    """Return a change of which only the place is known as a part of it that took another fill with the same
    content on it, if this is nearly all that changed clearly."""
    left, top, right, bottom = box
    cuts = [picture[top:bottom, left:right] for picture in (before, after)]
    steps = steps_between(*cuts)
    clear = steps >= max(CLEAR, int(steps.max()) // 2)
    if len(change.boxes) > 1 or not clear.any():
        return change
    fills = usual_color(colors_in(cuts[0], clear)), usual_color(colors_in(cuts[1], clear))
    part = refilled_part(before, after, box, fills)
    if part is None or not _is_same_content(before, after, part, fills):
        return change
    clear[part[1] - top : part[3] - top, part[0] - left : part[2] - left] = False
    if np.count_nonzero(clear) > MOST_BESIDE * area(part):
        return change
    codes = dict(zip(("color_before", "color_after"), map(color_code, fills), strict=True))
    finding = Finding("recolored", "fill", 0.6, codes)
    return replace(change, finding=finding, box_before=part, box_after=part, boxes=(), pixels=area(part))


def _is_same_content(before: Pixels, after: Pixels, part: Box, fills: tuple[RGBColor, RGBColor]) -> bool:
    """Return whether two fills hold the same ink."""
    left, top, right, bottom = part
    one, other = (
        steps_from(color, picture[top:bottom, left:right]) > INK
        for color, picture in zip(fills, (before, after), strict=True)
    )
    return bool(np.count_nonzero(one & other) >= KEPT_INK * np.count_nonzero(one | other))


def refilled_part(before: Pixels, after: Pixels, box: Box, fills: tuple[RGBColor, RGBColor]) -> Box | None:
    """Return the part of a box whose pixels turned from one fill to the other, or None if it is about the
    box.

    fills: the colours before and after.
    """
    left, top, right, bottom = box
    cuts = [picture[top:bottom, left:right] for picture in (before, after)]
    turned = np.logical_and(*(steps_from(color, cut) <= SAME for color, cut in zip(fills, cuts, strict=True)))
    rows, columns = _full(turned, 1), _full(turned, 0)
    if not len(rows) or not len(columns):
        return None
    part = turned[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    if part.size > MUCH_LESS * turned.size or part.mean() < FILLED:
        return None
    return (
        left + int(columns[0]),
        top + int(rows[0]),
        left + int(columns[-1]) + 1,
        top + int(rows[-1]) + 1,
    )


def _full(turned: NDArray[np.bool_], axis: int) -> NDArray[np.intp]:
    """Return the indices of the lines that hold about as much of the fill as the fullest one."""
    counts = turned.sum(axis=axis)
    return np.flatnonzero(counts >= max(1, OF_FULLEST * counts.max())) if counts.size else np.array([], int)
