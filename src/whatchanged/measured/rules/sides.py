"""Detection of an object that grew or shrank, from the movement of one of its sides."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured.pixels.boxes import box_of
from whatchanged.measured.pixels.layers import ground_color, usual_color
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box
from whatchanged.measured.rules.kinds import Finding
from whatchanged.measured.rules.shifts import ALIKE

SHORTEST = 12
"""The least length in pixels of a side, and of the object beside it."""
CORNER = 3
"""The number of pixels at both ends of a side in which the adjacent sides are searched for."""
BORDER = 4
"""The number of lines at a side that may differ from the interior."""
BESIDE = 3
"""The number of pixels beyond both ends of a side that must be background too."""
ROUND = 4
"""The divisor of the length of a side that gives the largest length of a rounded corner."""
SAME_SIDE, LEAST_STEP = 24, 2
"""The largest difference, in levels, between the sides of a resized object, and its least change of size in
pixels."""
MOST_GROWTH = 2
"""The largest ratio between the lengths of a side before and after."""
STRAIGHT = 0.9
"""The least fraction of the middle third of a side that has one colour."""
ALONG = 0.9
"""The least fraction of an edge of the picture along which a shadow extends."""
THICKEST = 16
"""The largest thickness of such a shadow in pixels."""
FAINTEST, COLORLESS = 40, 6
"""The largest darkening by such a shadow, in levels, and the largest difference between its channels."""
STRONG = 0.25
"""The least darkening of the shadow's pixels, as a fraction of the largest one."""
ONE_WAY = 0.02
"""The largest fraction of its values that change in the opposite direction."""
EMPTY = 0.95
"""The least fraction of a background line that has the background's colour."""
SHADOW = 8
"""The number of lines beyond a side that may belong to its shadow."""
FILLED = 0.4
"""The least fraction of a line in a filled object that has the fill's colour. The rest is the object's
content."""


@dataclass(frozen=True)
class _Direction:
    """Two pictures as lines, ordered in one of the four directions in which a side of an object may move.

    axis   the axis of the pictures along which the lines are ordered
    step   1 towards larger indices, -1 towards smaller ones
    one    (N, M, 3) the lines before
    other  (N, M, 3) the lines after
    strip  the range of the lines of a box
    side   the first and last pixel of the box along a line
    """

    axis: int
    step: int
    one: Pixels
    other: Pixels
    strip: tuple[int, int]
    side: tuple[int, int]

    def box(self, begin: int, end: int, side: tuple[int, int]) -> Box:
        """Return the box of lines and of pixels along them, in the pictures as they are."""
        length, (low, high) = len(self.other), side
        first, last = (begin, end) if self.step == 1 else (length - end, length - begin)
        return (first, low, last, high) if self.axis == 1 else (low, first, high, last)

    def finding(self, was: int, now: int) -> Finding:
        """Return how the object grew or shrank whose last line was ``was`` before and is ``now`` after."""
        name = "dx" if self.axis == 1 else "dy"
        return Finding("resized", "length", 0.6, {name: now - was, "grew": now > was})


def _directions(before: Pixels, after: Pixels, box: Box) -> Iterator[_Direction]:
    """Yield both pictures across and down, first towards larger indices, then towards smaller ones."""
    left, top, right, bottom = box
    for axis, strip, side in ((1, (left, right), (top, bottom)), (0, (top, bottom), (left, right))):
        one, other = (np.moveaxis(picture, axis, 0) for picture in (before, after))
        yield _Direction(axis, 1, one, other, strip, side)
        turned = (len(other) - strip[1], len(other) - strip[0])
        yield _Direction(axis, -1, one[::-1], other[::-1], turned, side)


def moved_side(before: Pixels, after: Pixels, box: Box) -> tuple[Finding, Box, Box] | None:
    """Return how an object grew or shrank by the movement of a side inside a box, with its boxes before and
    after.

    The result is None if the differences are more than a straight side, or if no object continues beside the
    box. If several objects qualify, the longest is returned. An object that reaches three edges of the
    picture may be the background, so it is returned only if there is no other one. Of two such objects, the
    shorter is returned, for example the header of a page.
    """
    results = []
    for direction in _directions(before, after, box):
        ends = _ends(direction.one, direction.other, direction.strip, direction.side)
        if ends is None:
            continue
        begin, was, now = ends
        boxes = [direction.box(begin, end, direction.side) for end in (was, now)]
        results.append((now - begin, direction.finding(was, now), boxes[0], boxes[1]))
    things = [one for one in results if not _reaches_edges(one[3], after.shape)]
    if things:
        return max(things, key=lambda one: one[0])[1:]
    return min(results, key=lambda one: one[0])[1:] if results else None


def _reaches_edges(box: Box, shape: tuple[int, ...]) -> bool:
    """Return whether a box reaches three edges of a picture (H, W, 3)."""
    ends = (box[0] <= 0, box[1] <= 0, box[2] >= shape[1], box[3] >= shape[0])
    return sum(ends) >= 3


def resized_thing(before: Pixels, after: Pixels, box: Box) -> tuple[Finding, Box, Box] | None:
    """Return how the object with four straight sides that fills a box grew or shrank, with its boxes before
    and after.

    The result is None if a picture shows no such sides, or if their colours differ.
    """
    one = _four_sides(before, box)
    other = _four_sides(after, box) if one is not None else None
    if one is None or other is None:
        return None
    (was, colors), (now, others) = one, other
    if np.abs(colors - others).max() > SAME_SIDE:
        return None
    wider, taller = now[2] - now[0] - (was[2] - was[0]), now[3] - now[1] - (was[3] - was[1])
    if max(abs(wider), abs(taller)) < LEAST_STEP or not _of_about_one_size(was, now):
        return None
    aspect = "size" if wider and taller else "length"
    values = {} if aspect == "size" else {"dwidth": wider, "dheight": taller}
    return Finding("resized", aspect, 0.6, values), was, now


def refilled_side(before: Pixels, after: Pixels, box: Box) -> tuple[Finding, Box, Box] | None:
    """Return how a filled object and its content changed by the movement of a side, with its boxes before and
    after.

    The content may move too, like the centred text of a button. The fill must continue from beside the box up
    to the side, around the content, and the background must follow beyond the side. The result is None if
    this is not the case in both pictures.
    """
    results = []
    for direction in _directions(before, after, box):
        ends = _filled_ends(direction.one, direction.other, direction.strip, direction.side)
        if ends is None:
            continue
        (begin, was, now), side = ends
        boxes = [direction.box(begin, end, side) for end in (was, now)]
        if _of_about_one_size(boxes[0], boxes[1]) and not _reaches_edges(boxes[1], after.shape):
            results.append((now - begin, direction.finding(was, now), boxes[0], boxes[1]))
    return max(results, key=lambda one: one[0])[1:] if results else None


def _filled_ends(
    one: Pixels, other: Pixels, strip: tuple[int, int], side: tuple[int, int]
) -> tuple[tuple[int, int, int], tuple[int, int]] | None:
    """Return the start of a filled object, its end before and its end after, and its first and last pixel
    along the side.

    The lines (N, M, 3) are ordered from the object towards the background.

    strip: the range of the differing lines.
    side: the first and last pixel along the side.
    """
    (first, last), (low, high) = strip, side
    last = min(last + SHADOW, len(other) - 1)
    if high - low < SHORTEST or first < 1 or strip[1] > last:
        return None
    fill = np.array(usual_color(other[first - 1, low:high]), np.int16)
    ground = np.array(usual_color(other[last, low:high]), np.int16)
    if _alike(fill, ground):
        return None
    for lines in (one, other):
        if _alike(lines[last, low:high], ground).mean() < EMPTY:
            return None
    filled = [_alike(lines[: last + 1, low:high], fill) for lines in (one, other)]
    across = np.flatnonzero(filled[1][first - 1] & filled[0][first - 1])
    if not len(across) or across[-1] - across[0] < SHORTEST:
        return None
    within = slice(int(across[0]), int(across[-1]) + 1)
    beyond = low + within.start - SHADOW, low + within.stop - 1 + SHADOW
    if beyond[0] < 0 or beyond[1] >= other.shape[1]:
        return None
    if any(_alike(lines[first - 1, beyond], fill).any() for lines in (one, other)):
        return None  # The continuing area is the background.
    ends = []
    for lines, inside in zip((one, other), filled, strict=True):
        shown = inside[:, within].mean(axis=1) >= FILLED
        empty = _alike(lines[: last + 1, low:high][:, within], ground).mean(axis=1) >= EMPTY
        end = int(np.flatnonzero(shown)[-1]) + 1 if shown.any() else 0
        if end <= first or not shown[first - 1 : end].all() or not empty[end + SHADOW :].all():
            return None
        ends.append((end, int(np.flatnonzero(~shown[:first])[-1]) + 1 if not shown[:first].all() else 0))
    (was, begin), (now, other_begin) = ends
    if abs(now - was) < LEAST_STEP or begin != other_begin or first - begin < SHORTEST:
        return None
    return (begin, was, now), (low + within.start, low + within.stop)


def _of_about_one_size(was: Box, now: Box) -> bool:
    """Return whether each side changed by a factor of at most ``MOST_GROWTH``. A larger factor indicates
    other content."""
    sides = ((one[2] - one[0], one[3] - one[1]) for one in (was, now))
    return all(max(pair) <= MOST_GROWTH * min(pair) for pair in zip(*sides, strict=True))


def _four_sides(pixels: Pixels, box: Box) -> tuple[Box, NDArray[np.int16]] | None:
    """Return the box of the object in a box, and the colours (4, 3) of its sides, the upper one first.

    The result is None if one of the sides is not straight.
    """
    left, top, right, bottom = box
    ground = np.array(ground_color(pixels, box), np.int16)
    there = box_of(~_alike(pixels[top:bottom, left:right], ground), left, top)
    if there is None or min(there[2] - there[0], there[3] - there[1]) < SHORTEST:
        return None
    colors = []
    for axis in (0, 1):
        part = np.moveaxis(pixels[there[1] : there[3], there[0] : there[2]], axis, 0)
        margin = part.shape[1] // ROUND  # The corners may be rounded.
        for line in (part[0], part[-1]):
            middle = line[margin : len(line) - margin].astype(np.int16)
            color = np.median(middle, axis=0).astype(np.int16)
            if _alike(color, ground) or _alike(middle, color).mean() < STRAIGHT:
                return None
            colors.append(color)
    return there, np.array(colors)


def edge_shadow(before: Pixels, after: Pixels, box: Box) -> tuple[Finding, Box] | None:
    """Return the shadow that appeared or disappeared along an edge of the picture, with its box, or None.

    The shadow covers most of the edge, is a few pixels thick, colourless and faint.
    """
    height, width = after.shape[:2]
    left, top, right, bottom = box
    across = right - left >= ALONG * width and bottom - top <= THICKEST and (top == 0 or bottom == height)
    down = bottom - top >= ALONG * height and right - left <= THICKEST and (left == 0 or right == width)
    if across == down:
        return None
    steps = after[top:bottom, left:right].astype(np.int16) - before[top:bottom, left:right]
    sizes = np.abs(steps)
    most = int(sizes.max())
    if most > FAINTEST or int((sizes.max(axis=2) - sizes.min(axis=2)).max()) > COLORLESS:
        return None
    strong = sizes.max(axis=2) >= max(1, STRONG * most)
    inner = box_of(strong, left, top)
    if inner is None or min(np.count_nonzero(steps > 0), np.count_nonzero(steps < 0)) > ONE_WAY * steps.size:
        return None
    return Finding("restyled", "shadow", 0.6, {"on_after": bool(steps.sum() < 0)}), inner


def _ends(
    one: Pixels, other: Pixels, strip: tuple[int, int], side: tuple[int, int]
) -> tuple[int, int, int] | None:
    """Return the start of an object, its end before and its end after, in lines (N, M, 3) towards the
    background.

    strip: the range of the differing lines.
    side: the first and last pixel along the side.
    """
    (first, last), (low, high) = strip, side
    if high - low < SHORTEST or first < 1 or last >= len(other):
        return None
    around = slice(max(0, low - BESIDE), high + BESIDE)
    ground = np.array(usual_color(other[last, around]), np.int16)
    for lines in (one, other):
        empty = _alike(lines[last, around], ground)
        if empty.mean() < EMPTY or not (empty[0] and empty[-1]):
            return None
    parts = [lines[first - 1 : last, low:high].astype(np.int16) for lines in (one, other)]
    end = _end(parts[0], ground)
    end_after = None if end is None else _end(parts[1], ground)
    if end is None or end_after is None or end == end_after:
        return None
    middle = (high - low) // 2
    if not _one_side(parts[0][:end, middle], parts[1][:end_after, middle]):
        return None
    begins = [
        _begin(one[:first, corner], other[:first, corner], ground)
        for corner in (slice(low, low + CORNER), slice(high - CORNER, high))
    ]
    if begins[0] is None or begins[1] is None or first - min(begins[0], begins[1]) < SHORTEST:
        return None
    return min(begins[0], begins[1]), first - 1 + end, first - 1 + end_after


def _one_side(one: NDArray[np.int16], other: NDArray[np.int16]) -> bool:
    """Return whether two objects end in the same colour, or one of them after a soft edge of one pixel.

    one, other: (N, 3), (M, 3) the pixels of each along a line up to its side.
    """
    pairs = ((1, 1), (2, 1), (1, 2))
    return any(
        bool(_alike(one[-first], other[-second]))
        for first, second in pairs
        if first <= len(one) and second <= len(other)
    )


def _end(part: NDArray[np.int16], ground: NDArray[np.int16]) -> int | None:
    """Return the index after the last line (N, M, 3) that is not background, if that line is a straight side.

    The result is None if all lines are background, or if the content of the first line does not continue to
    the side.
    """
    third = part.shape[1] // 3
    middle = part[:, third : part.shape[1] - third]
    usual = np.median(middle, axis=1)
    shown = np.flatnonzero(~_alike(usual, ground))
    if not len(shown):
        return None
    last = int(shown[-1])
    inside, beyond = middle[: max(1, last + 1 - BORDER)], middle[last + 1 :]
    straight = _alike(middle[last], usual[last]).mean() >= STRAIGHT
    goes_on = _alike(inside, inside[0]).mean() >= STRAIGHT
    empty = not len(beyond) or _alike(beyond, ground).mean() >= STRAIGHT
    return last + 1 if straight and goes_on and empty else None


def _begin(one: Pixels, other: Pixels, ground: NDArray[np.int16]) -> int | None:
    """Return the index of the first line (N, CORNER, 3) of the adjacent side, or None if there is no such
    side."""
    steps = np.abs(other[-1].astype(np.int16) - ground).max(axis=1)
    place = int(steps.argmax())
    color = other[-1, place].astype(np.int16)
    if steps[place] <= ALIKE or not _alike(one[-1, place], color):
        return None
    ended = np.flatnonzero(~_alike(other[:, place], color))
    return int(ended[-1]) + 1 if len(ended) else 0


def _alike(
    colors: Pixels | NDArray[np.int16] | NDArray[np.float64], others: NDArray[np.int16] | NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Return a mask of the colours (..., 3) that are close to the other colours."""
    red, green, blue = (
        np.abs(colors[..., channel].astype(np.int16) - others[..., channel]) for channel in range(3)
    )
    return np.asarray(np.maximum(np.maximum(red, green), blue) <= ALIKE)
