"""Pictures of two sizes with the same contents on the same background: the frame around them changed."""

import numpy as np
from numpy.typing import NDArray

from whatchanged import words
from whatchanged.measured.pixels.boxes import box_of
from whatchanged.measured.pixels.gate import visibility_within
from whatchanged.measured.pixels.layers import ALIKE, RGBColor, far, usual_color
from whatchanged.measured.pixels.planes import steps_from
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box
from whatchanged.measured.rules.displaced import LARGEST, likely_steps
from whatchanged.measured.rules.space import margins_text

EVEN = 0.8
"""The least fraction of the pixels along the four edges of a picture that show its background."""
SHOWN = 0.5
"""The least fraction of the contents before that is still shown after."""
WHERE = (0.0, 1.0, 0.5)
"""Where the contents before and after may be aligned along an axis: at their starts, ends or centres."""
Movement = tuple[int, int]
Slices = tuple[slice, slice]


def reframed_text(before: Pixels, after: Pixels, threshold: float) -> str | None:
    """Return how the frame around unchanged contents changed, with a pair of braces for each size; None if
    anything else changed.

    before, after: (H, W, 3) and (H', W', 3), RGB. Both of the sides differ; a single one is told as empty
    space.
    """
    if before.shape[0] == after.shape[0] or before.shape[1] == after.shape[1]:
        return None
    step = _step_of_contents(before, after, threshold)
    if step is None:
        return None
    size = "the picture's size changed from {} to {} pixels"
    return margins_text(step, before, after) or f"{size}, which moved its contents {words.way(*step)}"


def _step_of_contents(before: Pixels, after: Pixels, threshold: float) -> Movement | None:
    """Return by how many pixels (dx, dy) the contents are further right and down in the picture after, if
    nothing else differs visibly; else None."""
    grounds = [_even_ground(picture) for picture in (before, after)]
    if grounds[0] is None or grounds[1] is None or far(grounds[0], grounds[1]) > ALIKE:
        return None
    ground = grounds[1]
    inks = [steps_from(ground, picture) > ALIKE for picture in (before, after)]
    boxes = [box_of(ink) for ink in inks]
    if boxes[0] is None or boxes[1] is None:
        return None
    for step in dict.fromkeys((*_steps(boxes[0], boxes[1]), *_best_overlaps(*inks))):
        here, there = _shared(before.shape, after.shape, step)
        if np.count_nonzero(inks[0][here]) < SHOWN * np.count_nonzero(inks[0]):
            continue
        laid = np.empty_like(after)
        laid[:] = ground
        laid[there] = before[here]
        seen = visibility_within(laid, after, threshold, most=0)
        if seen is not None and not seen.visible(threshold).any():
            return step
    return None


def _steps(was: Box, now: Box) -> list[Movement]:
    """Return the steps (dx, dy) that align two boxes at their corners, edges or centres, each once."""
    across, down = (
        [round((now[k] - was[k]) * (1 - part) + (now[k + 2] - was[k + 2]) * part) for part in WHERE]
        for k in (0, 1)
    )
    return list(dict.fromkeys((dx, dy) for dx in across for dy in down))


def _best_overlaps(one: NDArray[np.bool_], other: NDArray[np.bool_]) -> list[Movement]:
    """Return the steps (dx, dy) at which two masks of different shapes overlap most; none for large ones.

    Contents that an edge cuts off are not found by their boxes.
    """
    shape = [max(lengths) for lengths in zip(one.shape, other.shape, strict=True)]
    if shape[0] * shape[1] > LARGEST:
        return []
    padded = [
        np.pad(mask, [(0, most - length) for most, length in zip(shape, mask.shape, strict=True)])
        for mask in (one, other)
    ]
    return likely_steps(padded[0], padded[1])


def _even_ground(picture: Pixels) -> RGBColor | None:
    """Return the colour along the edges of a picture; None if they are not even."""
    edges = np.concatenate([picture[0], picture[-1], picture[:, 0], picture[:, -1]])  # (2W + 2H, 3)
    color = usual_color(edges)
    return color if (steps_from(color, edges[None]) <= ALIKE).mean() >= EVEN else None


def _shared(shape: tuple[int, ...], other: tuple[int, ...], step: Movement) -> tuple[Slices, Slices]:
    """Return the part of a picture that lies on another one after a step, and its place there.

    shape, other: the shapes (H, W, 3) of both.
    """
    dx, dy = step
    rows = slice(max(0, dy), max(0, dy, min(other[0], shape[0] + dy)))
    columns = slice(max(0, dx), max(0, dx, min(other[1], shape[1] + dx)))
    here = slice(rows.start - dy, rows.stop - dy), slice(columns.start - dx, columns.stop - dx)
    return here, (rows, columns)
