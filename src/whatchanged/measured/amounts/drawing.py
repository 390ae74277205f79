"""Measurement of changed drawings that the rules only classify as different.

A drawing may have gained or lost a part, or be drawn more strongly or more faintly.
"""

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured.pixels.boxes import box_of, grown
from whatchanged.measured.pixels.layers import colors_in, far, ground_color, usual_color
from whatchanged.measured.pixels.planes import enlarged, steps_between, steps_from
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box
from whatchanged.measured.rules.kinds import Finding
from whatchanged.words import color_code

SAME_GROUND = 6
"""The largest difference, in levels, between the backgrounds of both pictures."""
DIFFERS = 16
"""The least difference, in levels, at which a pixel counts as different."""
FEWEST = 24
"""The least number of differing pixels."""
ONE_WAY = 0.92
"""The least fraction of the differences in one direction: away from the background, or towards it."""
GONE = 0.9
"""The least fraction of the differing pixels that show only the background in one picture, if a part appeared
or disappeared."""
BARE = 12
"""The largest difference, in levels, of background pixels from the usual background colour."""
MOST = 0.35
"""The largest fraction of the box that differs if a part of a drawing appeared or disappeared."""
SOLID, EVEN = 0.7, 0.9
"""The least fraction of their bounding box that the differences of a fill cover, and the least fraction of
them that has the usual colour in each picture."""
PART_SPACE, MOST_PARTS = 5, 12
"""The largest distance in pixels between pieces of one part, and the largest number of parts."""
ROOM = 2
"""The width in pixels of the bare ground around such a part."""
LEAST_CONTENT = 12
"""The least number of unchanged pixels of content in front of a fill."""
STRONGER = 1.15
"""The least ratio of the contrasts if the drawing is drawn more strongly or more faintly."""


def drawing_change(before: Pixels, after: Pixels, box: Box) -> Finding | None:
    """Return whether a drawing or a part of it appeared or disappeared, or whether its contrast changed.

    The result is None if the background differs, or if the differences go in both directions. In that case
    the box may show another object.
    """
    left, top, right, bottom = box
    one, other = before[top:bottom, left:right], after[top:bottom, left:right]
    grounds = ground_color(before, box), ground_color(after, box)
    if not one.size or far(*grounds) > SAME_GROUND:
        return None
    differs = steps_between(one, other) >= DIFFERS
    if np.count_nonzero(differs) < FEWEST:
        return None
    was, now = (
        steps_from(ground, part)[differs].astype(np.float64)
        for ground, part in zip(grounds, (one, other), strict=True)
    )
    ways = float(np.maximum(now - was, 0).sum()), float(np.maximum(was - now, 0).sum())
    if max(ways) < ONE_WAY * sum(ways):
        return None
    stronger = ways[0] > ways[1]
    fainter_side = was if stronger else now
    if (fainter_side <= BARE).mean() >= GONE:
        if differs.mean() > MOST:
            return None
        fill = _fill_behind(one, other, differs)
        return fill or Finding("added" if stronger else "removed", "thing", 0.5)
    factor = now.mean() / max(1e-6, was.mean())
    if max(factor, 1 / max(1e-6, factor)) < STRONGER:
        return None
    return Finding(
        "recolored", "contrast", 0.5, {"amount_before": 1.0, "amount_after": round(float(factor), 2)}
    )


def separate_parts(before: Pixels, after: Pixels, box: Box, came: bool) -> tuple[Box, ...]:
    """Return the boxes of the parts that appeared on bare ground in a box, or disappeared from it.

    came: whether they appeared. The result is empty unless almost all differences belong to a few such parts:
    a part that covers, moves or touches other content is none.
    """
    from scipy import ndimage  # SciPy is imported here because its import is slow.

    left, top, right, bottom = box
    shown, hidden = (after, before) if came else (before, after)
    part, bare = shown[top:bottom, left:right], hidden[top:bottom, left:right]
    differs = steps_between(part, bare) >= DIFFERS
    if np.count_nonzero(differs) < FEWEST:
        return ()
    labels, count = ndimage.label(enlarged(differs, PART_SPACE, PART_SPACE), np.ones((3, 3), bool))
    if count > MOST_PARTS:
        return ()
    boxes = []
    for label, (rows, columns) in enumerate(ndimage.find_objects(labels), start=1):
        own = differs[rows, columns] & (labels[rows, columns] == label)
        inside = box_of(own)
        if inside is None or np.count_nonzero(own) < FEWEST:
            continue
        first, second = left + columns.start, top + rows.start
        one = (first + inside[0], second + inside[1], first + inside[2], second + inside[3])
        around = grown(one, ROOM, (before.shape[1], before.shape[0]))
        empty = hidden[around[1] : around[3], around[0] : around[2]]
        # A part that touches other content may be that content, grown.
        if (steps_from(usual_color(empty.reshape(-1, 3)), empty) > BARE).any():
            return ()
        boxes.append(one)
    return tuple(boxes)


def _fill_behind(one: Pixels, other: Pixels, differs: NDArray[np.bool_]) -> Finding | None:
    """Return the differences as another fill behind unchanged content, or None if they are not.

    one, other: the pixels (h, w, 3) of the box before and after.
    differs: (h, w) whether they differ.
    """
    inside = box_of(differs)
    if inside is None:
        return None
    part = (slice(inside[1], inside[3]), slice(inside[0], inside[2]))
    if differs[part].mean() < SOLID:
        return None
    fills = [usual_color(colors_in(pixels, differs)) for pixels in (one, other)]
    parts = list(zip(fills, (one, other), strict=True))
    if any((steps_from(fill, pixels)[differs] <= BARE).mean() < EVEN for fill, pixels in parts):
        return None
    kept = ~differs[part]
    for fill, pixels in parts:
        kept = kept & (steps_from(fill, pixels[part]) > BARE)
    if np.count_nonzero(kept) < LEAST_CONTENT:
        return None
    values = {"color_before": color_code(fills[0]), "color_after": color_code(fills[1])}
    return Finding("recolored", "fill", 0.6, values)
