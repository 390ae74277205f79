"""What a thing without a name looks like, as far as its pixels tell: "red shape", "line", "picture"."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from whatchanged import words
from whatchanged.measured.amounts.coverage import columns_of_ink, read_coverage, rows_of_ink
from whatchanged.measured.pixels.boxes import lies_in
from whatchanged.measured.pixels.layers import INK, ground_color, usual_color
from whatchanged.measured.pixels.planes import steps_from
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box

LARGEST = 0.6
"""Share of the picture from which on a box is no thing that a look could name."""
ONE_COLOR, COLOR_STEP = 0.75, 24
"""Share of a thing's pixels that have its colour at least, and the levels by which they may differ."""
MOST_ENDS = 3
"""Pixels that a line is thick at most."""
LONG = 5
"""How many times as long as thick a line is at least."""
FULL = 0.93
"""Share of its box that an area covers at least."""
ONE_PIECE = 0.9
"""Share of a shape that hangs together at least."""
COMPACT = 0.35
"""Share of its box that a shape covers at least: what covers less of it may be a drawing or a letter."""
SMALLEST = 10
"""Pixels of the sides of a shape or of an area at least: what is smaller may be a letter."""
PICTURE = 48
"""Pixels of a picture's sides at least."""
SHADES = 160
"""Shades of the coarse colours that a picture has at least."""
BUSY = 0.5
"""Share of a picture's pixels that are of another colour than the most frequent one at least."""


def look_of(pixels: Pixels, box: Box, colored: bool = True) -> str | None:
    """A noun for what stands in a box, with its colour where it has one: "blue area", "picture"; None where
    it looks like nothing that has a plain name.

    colored: whether the colour is told.
    """
    height, width = pixels.shape[:2]
    if not lies_in(box, pixels.shape) or (box[2] - box[0]) * (box[3] - box[1]) > LARGEST * width * height:
        return None
    part = pixels[box[1] : box[3], box[0] : box[2]]
    if not part.size:
        return None
    ground = ground_color(pixels, box)
    drawn = steps_from(ground, part) > INK
    if not drawn.any():
        return None
    if min(part.shape[:2]) >= PICTURE and _is_picture(part):
        return "picture"
    if _may_be_text(part):
        return None
    color = usual_color(part[drawn])
    one_color = float((steps_from(color, part[drawn]) <= COLOR_STEP).mean()) >= ONE_COLOR
    noun = _noun(drawn) if one_color else None
    if noun is None:
        return None
    return f"{words.color_name(color)} {noun}" if colored else noun


def look_in_both(
    before: Pixels, after: Pixels, was: Box | None, now: Box | None, colored: bool = True
) -> str | None:
    """The look of a thing wherever it is seen; None where it looks otherwise before than after.

    was, now: its boxes; None where it is not there.
    """
    pairs = [(pixels, box) for pixels, box in ((before, was), (after, now)) if box is not None]
    looks = [look_of(pixels, box, colored) for pixels, box in pairs]
    return looks[0] if looks and all(look == looks[0] for look in looks) else None


def look_of_all(pixels: Pixels, boxes: Sequence[Box], colored: bool = True) -> str | None:
    """The look that things in several boxes have in common; None where they have none."""
    looks = {look_of(pixels, box, colored) for box in boxes}
    return looks.pop() if len(looks) == 1 else None


def _noun(drawn: NDArray[np.bool_]) -> str | None:
    """A noun for what is drawn in one colour, by its outline."""
    from scipy import ndimage  # slow to import

    height, width = drawn.shape
    if min(height, width) <= MOST_ENDS and max(height, width) >= LONG * min(height, width):
        return "line"
    if min(height, width) < SMALLEST:
        return None
    share = float(drawn.mean())
    if share >= FULL:
        return "area"
    labels, count = ndimage.label(drawn, np.ones((3, 3), bool))
    largest = int(np.bincount(labels[drawn], minlength=count + 1).max())
    whole = largest >= ONE_PIECE * np.count_nonzero(drawn)
    return "shape" if whole and share >= COMPACT else None


def _may_be_text(part: Pixels) -> bool:
    """Whether a part holds several pieces in a row, as words do."""
    covered = read_coverage(part)
    if covered is None:
        return False
    rows = rows_of_ink(covered.ink)
    return any(len(columns_of_ink(covered.ink[start:stop], 0)) > 2 for start, stop in rows)


def _is_picture(part: Pixels) -> bool:
    """Whether a part has so many shades all over as photographs have."""
    coarse = (part >> 4).astype(np.int32)
    codes = (coarse[..., 0] << 8 | coarse[..., 1] << 4 | coarse[..., 2]).ravel()
    counts = np.bincount(codes)
    usual = usual_color(part.reshape(-1, 3))
    other = float((steps_from(usual, part) > INK).mean())
    return int(np.count_nonzero(counts >= 2)) >= SHADES and other >= BUSY
