"""The background of the whole picture that took another colour."""

import numpy as np
from numpy.typing import NDArray

from whatchanged import words
from whatchanged.measured.pixels.boxes import box_of
from whatchanged.measured.pixels.layers import RGBColor, far
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.pixels.straight import Codes, codes
from whatchanged.measured.rules.detected import DetectedChange
from whatchanged.measured.rules.kinds import SAME_COLOR, Finding

SAMPLE = 7
"""Every pixel at a multiple of this number, in reading order, is one of those that tell the colours."""
LEAST_SHARE, LEAST_SIDE = 0.5, 0.95
"""The least fraction of the picture that is background of the one colour before and of the other one after,
and of each of its sides that this background reaches over."""
SURROUNDING_SHARE, ONE_EDGE = 0.2, 0.85
"""The same least fraction where the background surrounds what is in the picture, and the fraction of the
picture's outermost pixels that then have its colour."""
MOST_OTHER = 0.1
"""The largest fraction of the background before that has another colour after: of what was added there."""


def recolored_ground(
    before: Pixels, after: Pixels, visible: NDArray[np.bool_]
) -> tuple[DetectedChange, Pixels] | None:
    """Return that the background took another colour, and the picture before with that colour; or None.

    before, after: (H, W, 3), RGB. visible: (H, W) where they differ visibly. Shadows and smooth edges keep
    their colours.
    """
    least = SURROUNDING_SHARE if all(map(_is_surrounded, (before, after))) else LEAST_SHARE
    if np.count_nonzero(visible) < least * visible.size:
        return None
    was = codes(before.reshape(-1, 3)[::SAMPLE])
    color = _most(codes(_edges(before))) if least < LEAST_SHARE else _most(was)
    if not (was == color).any():
        return None
    now = _most(codes(after.reshape(-1, 3)[::SAMPLE])[was == color])
    if far(_rgb(color), _rgb(now)) <= SAME_COLOR:
        return None
    own = codes(before) == color
    taken = own & (codes(after) == now)
    count = int(np.count_nonzero(taken))
    if count < max(least * taken.size, (1 - MOST_OTHER) * np.count_nonzero(own)):
        return None
    box = box_of(taken)
    height, width = taken.shape
    if box is None or min((box[2] - box[0]) / width, (box[3] - box[1]) / height) < LEAST_SIDE:
        return None
    values = {"color_before": words.color_code(_rgb(color)), "color_after": words.color_code(_rgb(now))}
    aligned = before.copy()
    aligned[own] = _rgb(now)
    return DetectedChange(Finding("recolored", "fill", 0.7, values), box, box, count), aligned


def _edges(picture: Pixels) -> Pixels:
    """Return the outermost pixels (N, 3) of a picture."""
    return np.concatenate([picture[0], picture[-1], picture[:, 0], picture[:, -1]])


def _is_surrounded(picture: Pixels) -> bool:
    """Return whether almost all pixels at the edges of a picture have one colour."""
    edges = codes(_edges(picture))
    return bool(np.count_nonzero(edges == _most(edges)) >= ONE_EDGE * len(edges))


def _most(some: Codes) -> int:
    """Return the most frequent of some colours."""
    found, counts = np.unique(some, return_counts=True)
    return int(found[counts.argmax()])


def _rgb(code: int) -> RGBColor:
    """Return the colour of a number."""
    return code >> 16, (code >> 8) & 255, code & 255
