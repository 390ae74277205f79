"""Detection of a fill behind text, such as a text selection, that became longer or shorter at one end."""

import numpy as np
from numpy.typing import NDArray

from whatchanged import words
from whatchanged.measured.pixels.boxes import area
from whatchanged.measured.pixels.layers import RGBColor, colors_in, far, usual_color
from whatchanged.measured.pixels.planes import steps_from
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box
from whatchanged.measured.rules.detected import DetectedChange
from whatchanged.measured.rules.highlight import (
    DIFFERS,
    FEWEST,
    LEAST_CONTENT,
    RIM,
    SAME_COLOR,
    ColoredPart,
    content_on_fill,
    part_of,
    style_of,
)
from whatchanged.measured.rules.kinds import Finding
from whatchanged.measured.rules.shifts import stretched

Mask = NDArray[np.bool_]

ONE_WAY = 0.05
"""The largest fraction of pixels that changed back from the second colour to the first one."""
EXPLAINED = 0.9
"""The least fraction of all differences that lie in the part that was filled or emptied."""
BESIDE = 6
"""The number of pixels beside such a part that show what continues there."""
EVEN = 0.6
"""The least fraction of these pixels that have one colour. The others may be letters."""


def grown_fill(
    before: Pixels, after: Pixels, steps: NDArray[np.uint8]
) -> tuple[DetectedChange, Pixels] | None:
    """Return the fill that grew over a text that stayed, or shrank from it, and the picture before in which
    it has done so already; or None.

    The fill continues beside the part that changed, and its background continues at the other end of this
    part and along its sides.

    steps: (H, W) by how many levels the pictures differ.
    """
    differs = steps >= DIFFERS
    if np.count_nonzero(differs) < FEWEST:
        return None
    was, now = (colors_in(picture, differs) for picture in (before, after))
    first, second = usual_color(was), usual_color(now)
    limit = min(SAME_COLOR, far(first, second) // 3)
    flags = (steps_from(first, was) <= limit) & (steps_from(second, now) <= limit)
    back = (steps_from(second, was) <= limit) & (steps_from(first, now) <= limit)
    if np.count_nonzero(back) > ONE_WAY * np.count_nonzero(flags):
        return None
    mark = part_of(differs, flags, first, second)
    if mark is None or style_of(mark) != "fill":
        return None
    box = mark.box
    inside = np.count_nonzero(differs[box[1] : box[3], box[0] : box[2]])
    content = content_on_fill(before, after, mark, differs)
    if inside < EXPLAINED * len(was) or content is None or content < LEAST_CONTENT:
        return None
    grew = _grew(before, mark)
    if grew is None:
        return None
    end, grows = grew
    axis = 1 if end in (0, 2) else 0
    larger = stretched(after if grows else before, box, axis)
    smaller = list(larger)
    smaller[(end + 2) % 4] = box[end]
    rest: Box = (smaller[0], smaller[1], smaller[2], smaller[3])
    if area(rest) <= 0:
        return None
    step = (box[2] - box[0] if axis == 1 else box[3] - box[1]) * (1 if grows else -1)
    values = {
        "dx" if axis == 1 else "dy": step,
        "grew": grows,
        "color_before": words.color_code(first),
        "color_after": words.color_code(second),
    }
    finding = Finding("resized", "highlight", 0.6, values)
    aligned = before.copy()
    around = (slice(max(0, box[1] - RIM), box[3] + RIM), slice(max(0, box[0] - RIM), box[2] + RIM))
    aligned[around] = after[around]
    boxes = (rest, larger) if grows else (larger, rest)
    return DetectedChange(finding, *boxes, int(inside), look="highlight"), aligned


def _grew(pixels: Pixels, mark: ColoredPart) -> tuple[int, bool] | None:
    """Return the end of a part at which the fill continues (0 left, 1 top, 2 right, 3 bottom), and whether
    the fill grew; or None if that is unclear."""
    colors = [_beside(pixels, mark.box, end) for end in range(4)]
    for fill, ground, grows in ((mark.plain, mark.lit, True), (mark.lit, mark.plain, False)):
        filled = [_is(color, fill) for color in colors]
        plain = [_is(color, ground) for color in colors]
        if sum(filled) == 1 and sum(plain) == len(colors) - 1:
            return filled.index(True), grows
    return None


def _beside(pixels: Pixels, box: Box, end: int) -> RGBColor | None:
    """Return the most frequent colour beside one end of a box, or None if there is no such colour."""
    left, top, right, bottom = box
    strips = {
        0: pixels[top:bottom, max(0, left - BESIDE) : left],
        1: pixels[max(0, top - BESIDE) : top, left:right],
        2: pixels[top:bottom, right : right + BESIDE],
        3: pixels[bottom : bottom + BESIDE, left:right],
    }
    colors = strips[end].reshape(-1, 3)
    if not len(colors):
        return None
    usual = usual_color(colors)
    return usual if (steps_from(usual, colors) <= SAME_COLOR).mean() >= EVEN else None


def _is(color: RGBColor | None, other: RGBColor) -> bool:
    """Return whether a colour is known and equals another one."""
    return color is not None and far(color, other) <= SAME_COLOR // 2
