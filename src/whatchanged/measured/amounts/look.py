"""A plain noun for an unnamed object, derived from its pixels: "red shape", "line", "picture"."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from whatchanged import words
from whatchanged.measured.amounts.coverage import columns_of_ink, read_coverage, rows_of_ink, stroke
from whatchanged.measured.pixels.boxes import lies_in
from whatchanged.measured.pixels.layers import INK, colors_in, ground_color, usual_color
from whatchanged.measured.pixels.planes import largest_channel, steps_from
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box

LARGEST = 0.6
"""The largest fraction of the picture that an object with a noun covers."""
ONE_COLOR, COLOR_STEP = 0.75, 24
"""The least fraction of an object's pixels that have its colour, and the largest difference from it in
levels."""
MOST_ENDS = 3
"""The largest thickness of a line in pixels."""
LONG = 5
"""The least ratio of the length to the thickness of a line."""
FULL = 0.93
"""The least fraction of its box that an area covers."""
ONE_PIECE = 0.9
"""The least fraction of a shape that is one connected component."""
COMPACT = 0.35
"""The least fraction of its box that a shape covers. Drawings and letters may cover less."""
SMALLEST = 10
"""The least side in pixels of a shape or an area. A smaller object may be a letter."""
BAR = (20, 6)
"""The largest thickness of a bar in pixels, and the least ratio of its length to its thickness."""
VIVID, SHADE_STEP = 48, 48
"""The least difference between the channels of a colourful pixel, and the largest difference between two
shades of one colour, in levels."""
FEWEST_VIVID, TINTED = 40, 0.6
"""The least number of colourful pixels, and the least fraction of the drawn pixels that are colourful."""
BAND = 0.7
"""The fraction of a side of the picture from which a box across or down the picture is a band."""
COVERED, THIN_STROKE = 0.7, 5
"""The fraction of a box above which its colour is a fill, and the largest thickness of a line in pixels."""
SMALLEST_CLOSED = 14
"""The least side in pixels of a frame, a ring or a circle. A smaller one may be a letter."""
ONE_LINE, HOLLOW = 0.97, 0.6
"""The least fraction of a closed line that is one connected component, and the largest fraction of what it
surrounds that it covers itself."""
ROUND, EVEN_SIDES = 0.93, 1.1
"""The least overlap of a circle with a round shape, and the largest ratio of its sides."""
SQUARE_CORNERS = 0.85
"""The least fraction of its box that a frame surrounds. Its corners may be rounded."""
ICON = 40
"""The largest side of an icon in pixels."""
PICTURE = 48
"""The least side of a picture in pixels."""
SHADES = 160
"""The least number of coarse colours in a picture."""
BUSY = 0.5
"""The least fraction of a picture's pixels that differ from its most frequent colour."""


def look_of(pixels: Pixels, box: Box, colored: bool = True) -> str | None:
    """Return a noun for the content of a box, with its colour if it has one: "blue area", "picture".

    The result is None if no plain noun fits.

    colored: whether the colour is included.
    """
    height, width = pixels.shape[:2]
    if not lies_in(box, pixels.shape):
        return None
    large = (box[2] - box[0]) * (box[3] - box[1]) > LARGEST * width * height
    part = pixels[box[1] : box[3], box[0] : box[2]]
    if not part.size:
        return None
    ground = ground_color(pixels, box)
    drawn = steps_from(ground, part) > INK
    if not drawn.any():
        return None
    if not large and min(part.shape[:2]) >= PICTURE and _is_picture(part):
        return "picture"
    if _may_be_text(part):
        return None
    ink = colors_in(part, drawn)
    color = usual_color(ink)
    one_color = float((steps_from(color, ink) <= COLOR_STEP).mean()) >= ONE_COLOR
    noun = _noun(drawn) if one_color and not large else None
    if noun is None:
        shares = part.shape[0] / height, part.shape[1] / width
        band = max(shares) >= BAND > min(shares)  # It may be any part of a page.
        return _tinted(part, drawn) if colored and not band else None
    return f"{words.color_name(color)} {noun}" if colored else noun


def look_in_both(
    before: Pixels, after: Pixels, was: Box | None, now: Box | None, colored: bool = True
) -> str | None:
    """Return the noun for an object in both pictures, or None if the two pictures disagree.

    was, now: the boxes of the object before and after; None where it is absent.
    """
    pairs = [(pixels, box) for pixels, box in ((before, was), (after, now)) if box is not None]
    if not pairs:
        return None
    look = look_of(*pairs[0], colored)
    if look is None:
        return None
    return look if all(look_of(pixels, box, colored) == look for pixels, box in pairs[1:]) else None


def look_of_all(pixels: Pixels, boxes: Sequence[Box], colored: bool = True) -> str | None:
    """Return the noun that fits the objects in all boxes, or None if they disagree."""
    looks = {look_of(pixels, box, colored) for box in boxes}
    return looks.pop() if len(looks) == 1 else None


def _tinted(part: Pixels, drawn: NDArray[np.bool_]) -> str | None:
    """Return a noun for content whose colourful pixels have one colour, or None: "blue line", "blue drawing".

    A curve over a grey grid and a coloured icon with soft edges are such content.
    """
    vivid = drawn & is_vivid(part)
    count = int(np.count_nonzero(vivid))
    if min(drawn.shape) < SMALLEST or count < max(FEWEST_VIVID, TINTED * np.count_nonzero(drawn)):
        return None
    colors = colors_in(part, vivid)
    color = usual_color(colors)
    if (steps_from(color, colors) <= SHADE_STEP).mean() < ONE_COLOR or vivid.mean() >= COVERED:
        return None
    thin = stroke(vivid.astype(np.float32)) <= THIN_STROKE and min(drawn.shape) >= PICTURE
    if thin:
        return f"{words.color_name(color)} {_closed(vivid) or 'line'}"
    return f"{words.color_name(color)} {'icon' if max(drawn.shape) <= ICON else 'drawing'}"


def is_vivid(part: Pixels) -> NDArray[np.bool_]:
    """Return which pixels (h, w) of a part (h, w, 3) are colourful."""
    red, green, blue = np.moveaxis(part, 2, 0)
    least = np.minimum(np.minimum(red, green), blue)
    return np.asarray(largest_channel(part) - least >= VIVID)


def _noun(drawn: NDArray[np.bool_]) -> str | None:
    """Return a noun for a drawing in one colour, by its outline."""
    from scipy import ndimage  # SciPy is imported here because its import is slow.

    height, width = drawn.shape
    if min(height, width) <= MOST_ENDS and max(height, width) >= LONG * min(height, width):
        return "line"
    share = float(drawn.mean())
    short, long = sorted((height, width))
    if MOST_ENDS < short <= BAR[0] and long >= BAR[1] * short and share >= FULL:
        return "bar"
    if short < SMALLEST:
        return None
    if share >= FULL:
        return "area"
    closed = _closed(drawn)
    if closed is not None:
        return closed
    labels, count = ndimage.label(drawn, np.ones((3, 3), bool))
    largest = int(np.bincount(labels[drawn], minlength=count + 1).max())
    whole = largest >= ONE_PIECE * np.count_nonzero(drawn)
    return "shape" if whole and share >= COMPACT else None


def _closed(drawn: NDArray[np.bool_]) -> str | None:
    """Return "frame", "ring" or "ellipse" for one closed line, "circle" for a disc, or None for all other
    drawings."""
    from scipy import ndimage  # SciPy is imported here because its import is slow.

    height, width = drawn.shape
    labels, _ = ndimage.label(drawn, np.ones((3, 3), bool))
    inside = ndimage.binary_fill_holes(drawn)
    counts = np.bincount(labels[drawn])
    if counts.max() < ONE_LINE * counts.sum() or min(height, width) < SMALLEST_CLOSED:
        return None
    rows, columns = (np.arange(side) - (side - 1) / 2 for side in (height, width))
    ellipse = (rows[:, None] / (height / 2)) ** 2 + (columns[None] / (width / 2)) ** 2 <= 1
    is_round = np.count_nonzero(ellipse & inside) >= ROUND * np.count_nonzero(ellipse | inside)
    hollow = np.count_nonzero(drawn) <= HOLLOW * np.count_nonzero(inside)
    if is_round and max(height, width) <= EVEN_SIDES * min(height, width):
        return "ring" if hollow else "circle" if not (inside & ~drawn).any() else None
    if is_round and hollow:
        return "ellipse"
    return "frame" if hollow and inside.mean() >= SQUARE_CORNERS else None


def _may_be_text(part: Pixels) -> bool:
    """Return whether a part contains several pieces in a row, like words."""
    covered = read_coverage(part)
    if covered is None:
        return False
    rows = rows_of_ink(covered.ink)
    return any(len(columns_of_ink(covered.ink[start:stop], 0)) > 2 for start, stop in rows)


def _is_picture(part: Pixels) -> bool:
    """Return whether a part has as many shades as a photograph."""
    coarse = (part >> 4).astype(np.int32)
    codes = (coarse[..., 0] << 8 | coarse[..., 1] << 4 | coarse[..., 2]).ravel()
    counts = np.bincount(codes)
    usual = usual_color(part.reshape(-1, 3))
    other = float((steps_from(usual, part) > INK).mean())
    return int(np.count_nonzero(counts >= 2)) >= SHADES and other >= BUSY
