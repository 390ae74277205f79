"""A thing that grew or shrank, where one of its sides alone shows it: the side lies elsewhere."""

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured.pixels.boxes import box_of
from whatchanged.measured.pixels.layers import ground_color, usual_color
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box
from whatchanged.measured.rules.kinds import Finding
from whatchanged.measured.rules.shifts import ALIKE

SHORTEST = 12
"""Pixels that a side is long at least, and that the thing goes on at least beside it."""
CORNER = 3
"""Pixels at both ends of a side in which the sides beside it are looked for."""
BORDER = 4
"""Lines at a side that may look otherwise than what lies within."""
BESIDE = 3
"""Pixels beyond both ends of a side that must be ground as well."""
ROUND = 4
"""Part of a side at either end that may belong to a round corner: one in so many."""
SAME_SIDE, LEAST_STEP = 24, 2
"""Levels by which the sides of a thing may differ that is of another size, and by how many pixels it is."""
MOST_GROWTH = 2
"""How many times as long as the other one a side of it is at most."""
STRAIGHT = 0.9
"""Share of the middle third of a side that has one colour at least."""
ALONG = 0.9
"""Part of an edge of the picture along which a shadow goes at least."""
THICKEST = 16
"""Pixels that such a shadow is thick at most."""
FAINTEST, COLORLESS = 40, 6
"""Levels that it is dark at most, and by which the channels may differ in it."""
STRONG = 0.25
"""What is of such a shadow is at least this part as dark as its darkest."""
ONE_WAY = 0.02
"""Share of its values that may have become lighter where it came, or darker where it went."""
EMPTY = 0.95
"""Share of a line of the ground that has its colour at least."""
SHADOW = 8
"""Lines beyond a side that may be of its shadow."""
FILLED = 0.4
"""Share of a line within a filled thing that has its colour at least; the rest is what stands in it."""


def moved_side(before: Pixels, after: Pixels, box: Box) -> tuple[Finding, Box, Box] | None:
    """The thing of which a side moved inside a box: how it grew or shrank, its boxes before and after.

    None where what differs is more than a straight side, or no thing goes on beside the box. Of several, the
    longest thing; what reaches three edges of the picture may be the ground, and of two such things the
    shorter one is told, as a page's header.
    """
    left, top, right, bottom = box
    results = []
    for axis, name, strip, side in (
        (1, "dx", (left, right), (top, bottom)),
        (0, "dy", (top, bottom), (left, right)),
    ):
        one, other = (np.moveaxis(picture, axis, 0) for picture in (before, after))
        length = len(other)
        for outwards in (1, -1):  # towards higher lines, towards lower ones
            lines = strip if outwards == 1 else (length - strip[1], length - strip[0])
            ends = _ends(one[::outwards], other[::outwards], lines, side)
            if ends is None:
                continue
            begin, was, now = ends
            finding = Finding("resized", "length", 0.6, {name: now - was, "grew": now > was})
            spans = [(begin, end) if outwards == 1 else (length - end, length - begin) for end in (was, now)]
            boxes = [
                (low, side[0], high, side[1]) if axis == 1 else (side[0], low, side[1], high)
                for low, high in spans
            ]
            results.append((now - begin, finding, boxes[0], boxes[1]))
    things = [one for one in results if not _reaches_edges(one[3], after.shape)]
    if things:
        return max(things, key=lambda one: one[0])[1:]
    return min(results, key=lambda one: one[0])[1:] if results else None


def _reaches_edges(box: Box, shape: tuple[int, ...]) -> bool:
    """Whether a box reaches three edges of a picture (H, W, 3)."""
    ends = (box[0] <= 0, box[1] <= 0, box[2] >= shape[1], box[3] >= shape[0])
    return sum(ends) >= 3


def resized_thing(before: Pixels, after: Pixels, box: Box) -> tuple[Finding, Box, Box] | None:
    """The thing with four straight sides that is all that a box holds, and is of another size after: how it
    grew or shrank, its boxes before and after.

    None where it has no such sides in one of the pictures, or sides of another colour.
    """
    one, other = _four_sides(before, box), _four_sides(after, box)
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
    """The thing of which a side moved inside a box, and with it what stands in the thing, such as the centred
    text of a button: how it grew or shrank, its boxes before and after.

    Its fill goes on from beside the box up to the side, around what stands in it; beyond the side is ground.
    None where that is not so in both pictures.
    """
    left, top, right, bottom = box
    results = []
    for axis, name, strip, side in (
        (1, "dx", (left, right), (top, bottom)),
        (0, "dy", (top, bottom), (left, right)),
    ):
        one, other = (np.moveaxis(picture, axis, 0) for picture in (before, after))
        length = len(other)
        for outwards in (1, -1):
            lines = strip if outwards == 1 else (length - strip[1], length - strip[0])
            ends = _filled_ends(one[::outwards], other[::outwards], lines, side)
            if ends is None:
                continue
            (begin, was, now), (low, high) = ends
            spans = [(begin, end) if outwards == 1 else (length - end, length - begin) for end in (was, now)]
            boxes = [(a, low, b, high) if axis == 1 else (low, a, high, b) for a, b in spans]
            finding = Finding("resized", "length", 0.6, {name: now - was, "grew": now > was})
            if _of_about_one_size(boxes[0], boxes[1]) and not _reaches_edges(boxes[1], after.shape):
                results.append((now - begin, finding, boxes[0], boxes[1]))
    return max(results, key=lambda one: one[0])[1:] if results else None


def _filled_ends(
    one: Pixels, other: Pixels, strip: tuple[int, int], side: tuple[int, int]
) -> tuple[tuple[int, int, int], tuple[int, int]] | None:
    """Where a filled thing begins, where it ended and where it ends, in lines (N, M, 3) towards the ground;
    and first and last pixel of it along the side.

    strip: the lines that differ; side: first and last pixel along the side.
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
        return None  # it is the ground that goes on
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
    """Whether no side is more than ``MOST_GROWTH`` times the other one: else something came or went in it."""
    sides = ((one[2] - one[0], one[3] - one[1]) for one in (was, now))
    return all(max(pair) <= MOST_GROWTH * min(pair) for pair in zip(*sides, strict=True))


def _four_sides(pixels: Pixels, box: Box) -> tuple[Box, NDArray[np.int16]] | None:
    """The box of what stands out from the ground in a box, and the colours (4, 3) of its sides, the upper one
    first; None where one of them is not straight."""
    left, top, right, bottom = box
    ground = np.array(ground_color(pixels, box), np.int16)
    there = box_of(~_alike(pixels[top:bottom, left:right], ground), left, top)
    if there is None or min(there[2] - there[0], there[3] - there[1]) < SHORTEST:
        return None
    colors = []
    for axis in (0, 1):
        part = np.moveaxis(pixels[there[1] : there[3], there[0] : there[2]], axis, 0)
        margin = part.shape[1] // ROUND  # corners may be round
        for line in (part[0], part[-1]):
            middle = line[margin : len(line) - margin].astype(np.int16)
            color = np.median(middle, axis=0).astype(np.int16)
            if _alike(color, ground) or _alike(middle, color).mean() < STRAIGHT:
                return None
            colors.append(color)
    return there, np.array(colors)


def edge_shadow(before: Pixels, after: Pixels, box: Box) -> tuple[Finding, Box] | None:
    """The shadow that came or went along an edge of the picture, and its box; None where there is none.

    It goes along most of the edge, is a few pixels thick, without colour, and faint.
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
    """Where the thing begins, where it ended and where it ends, in lines (N, M, 3) towards the ground.

    strip: the lines that differ; side: first and last pixel along the side.
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
    ends = [_end(part, ground) for part in parts]
    if ends[0] is None or ends[1] is None or ends[0] == ends[1]:
        return None
    middle = (high - low) // 2
    if not _alike(parts[0][ends[0] - 1, middle], parts[1][ends[1] - 1, middle]):
        return None
    begins = [
        _begin(one[:first, corner], other[:first, corner], ground)
        for corner in (slice(low, low + CORNER), slice(high - CORNER, high))
    ]
    if begins[0] is None or begins[1] is None or first - min(begins[0], begins[1]) < SHORTEST:
        return None
    return min(begins[0], begins[1]), first - 1 + ends[0], first - 1 + ends[1]


def _end(part: NDArray[np.int16], ground: NDArray[np.int16]) -> int | None:
    """The line (of N, M, 3) after the last one that is not ground, if that is a straight side.

    None where no line is more than ground, or where what the first line shows does not go on to the side.
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
    """The first line (of N, CORNER, 3) from which on the side beside goes on; None where there is none."""
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
    """Where colours (..., 3) are about the others."""
    alike: NDArray[np.bool_] = np.abs(colors.astype(np.int16) - others).max(axis=-1) <= ALIKE
    return alike
