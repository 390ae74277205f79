"""Detection of a frame, solid or dashed, that became wider, taller, narrower or shorter."""

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured.pixels.boxes import area, box_of, common, union
from whatchanged.measured.pixels.layers import RGBColor, colors_in, usual_color
from whatchanged.measured.pixels.planes import enlarged, steps_from
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box
from whatchanged.measured.rules.detected import DetectedChange
from whatchanged.measured.rules.kinds import SAME_COLOR, Finding

Mask = NDArray[np.bool_]

DASH = 5
"""Half of the largest gap in pixels between two dashes of a frame, rounded up."""
ONE_COLOR = 32
"""The largest difference, in levels, between the colours of a frame's lines."""
FEWEST = 16
"""The least number of differing pixels of a frame."""
SMALLEST = 16
"""The least side of a frame in pixels."""
THICK = 8
"""The largest thickness of a frame's lines in pixels."""
DRAWN = 0.4
"""The least fraction of each side of a frame that is drawn. Dashes cover at least this much."""
HOLLOW = 0.05
"""The largest fraction of a frame's interior that has its colour."""
SAME_SIDE, LEAST_STEP = 1, 6
"""The largest movement of a side that stayed, and the least movement of one that moved, in pixels."""
MOST_LINES, ON_LINES = 0.4, 0.95
"""The largest fraction of the box around all differences that lines cover, and the least fraction of the
differences that lie on the lines."""
LARGEST = 4_000_000
"""The largest picture, in pixels, in which a frame is searched for."""


def resized_frame(
    before: Pixels, after: Pixels, steps: NDArray[np.uint8]
) -> tuple[DetectedChange, Pixels] | None:
    """Return a frame of which some sides moved and the others stayed, and the picture before in which they
    have moved already; or None.

    Both pictures show a closed, hollow frame of one colour. All differences in it lie on its lines.

    steps: (H, W) by how many levels the pictures differ.
    """
    if steps.size > LARGEST:
        return None
    differs = steps > SAME_COLOR
    around = box_of(differs)
    if around is None or np.count_nonzero(differs) > MOST_LINES * area(around):
        return None
    was, now = (colors_in(picture, differs) for picture in (before, after))
    for color in dict.fromkeys((usual_color(was), usual_color(now))):
        seeds = []
        for mine, other in ((was, now), (now, was)):
            lines = (steps_from(color, mine) <= ONE_COLOR) & (steps_from(color, other) > ONE_COLOR)
            seeds.append(np.flatnonzero(lines))
        if min(map(len, seeds)) < FEWEST:
            continue
        frame = _frame(before, color, _pixel(differs, int(seeds[0][0])))
        frame_after = None if frame is None else _frame(after, color, _pixel(differs, int(seeds[1][0])))
        if frame is None or frame_after is None:
            continue
        found = _resized(frame, frame_after)
        if found is not None and _on_lines(differs, frame, frame_after):
            box = union([frame, frame_after])
            aligned = before.copy()
            aligned[box[1] : box[3], box[0] : box[2]] = after[box[1] : box[3], box[0] : box[2]]
            return DetectedChange(found, frame, frame_after, len(was), element="frame"), aligned
    return None


def _pixel(mask: Mask, number: int) -> tuple[int, int]:
    """Return the row and the column of one of the pixels of a mask, by its number."""
    row, column = divmod(int(np.flatnonzero(mask)[number]), mask.shape[1])
    return row, column


def _resized(was: Box, now: Box) -> Finding | None:
    """Return how a frame grew or shrank of which one or two sides moved, or None."""
    steps = [abs(a - b) for a, b in zip(was, now, strict=True)]
    moved = sum(step >= LEAST_STEP for step in steps)
    still = sum(step <= SAME_SIDE for step in steps)
    if not 1 <= moved <= 2 or still + moved < len(steps) or not common(was, now):
        return None
    values = {"dx": now[2] - now[0] - was[2] + was[0], "dy": now[3] - now[1] - was[3] + was[1]}
    values = {name: step for name, step in values.items() if abs(step) > SAME_SIDE}
    if not values:
        return None  # It moved.
    return Finding("resized", "length", 0.6, {**values, "grew": sum(values.values()) > 0})


def _on_lines(differs: Mask, was: Box, now: Box) -> bool:
    """Return whether almost all differences within two frames lie on their lines."""
    box = union([was, now])
    inside = differs[box[1] : box[3], box[0] : box[2]]
    lines = np.zeros(inside.shape, bool)
    for left, top, right, bottom in (was, now):
        one = np.zeros(inside.shape, bool)
        one[top - box[1] : bottom - box[1], left - box[0] : right - box[0]] = True
        one[
            top - box[1] + THICK : bottom - box[1] - THICK, left - box[0] + THICK : right - box[0] - THICK
        ] = False
        lines |= one
    return bool(np.count_nonzero(inside & lines) >= ON_LINES * np.count_nonzero(inside))


def _frame(pixels: Pixels, color: RGBColor, seed: tuple[int, int]) -> Box | None:
    """Return the box of the frame of a colour to which a pixel belongs, or None."""
    from scipy import ndimage  # SciPy is imported here because its import is slow.

    mask = steps_from(color, pixels) <= ONE_COLOR
    labels, _ = ndimage.label(enlarged(mask, DASH, DASH))
    if not labels[seed]:
        return None
    mask &= labels == labels[seed]
    box = box_of(mask)
    if box is None or min(box[2] - box[0], box[3] - box[1]) < SMALLEST:
        return None
    part = mask[box[1] : box[3], box[0] : box[2]]
    inner = part[THICK:-THICK, THICK:-THICK]
    if inner.size and inner.mean() > HOLLOW:
        return None
    thick = min(THICK, min(part.shape) // 3)
    across = part[:thick].any(axis=0), part[-thick:].any(axis=0)
    down = part[:, :thick].any(axis=1), part[:, -thick:].any(axis=1)
    return box if all(side.mean() >= DRAWN for side in (*across, *down)) else None
