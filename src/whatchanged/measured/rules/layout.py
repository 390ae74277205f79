"""Comparison of two layouts: the same things, with other distances between them.

Each picture is cut into parts at lines of one colour, again and again across and down. Two layouts match if
all cuts have the same colours in the same order and all things between them are alike.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured.pixels.layers import RGBColor, far, usual_color
from whatchanged.measured.pixels.planes import blurred, steps_between, steps_from
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box
from whatchanged.measured.rules.segments import (
    EVEN,
    LEAST_SPACE,
    ONE_COLOR,
    Segment,
    base_of,
    paired,
    segments_of,
)

BoxPair = tuple[Box, Box]
"""The boxes of one thing before and after."""

SAME = 16
"""The largest difference, in levels, between two pixels of one thing in both pictures."""
MOST_OTHERS = 0.005
"""The largest fraction of pixels that differ more in a thing that stayed the same."""
MOST_PIXELS = 8
"""The largest number of such pixels."""
UNLIKE, FARTHEST = 0.15, 0.6
"""The largest mean and the largest single difference between two drawings of one word, as fractions of their
mean and of their largest contrast. A letter at a fraction of a pixel is drawn differently."""
HIGHEST = 48
"""The largest shorter side in pixels of such a word."""
MIDDLE = 0.2
"""The middle part of a side, along which the thickness of a frame is measured. Corners may be rounded."""
THICKEST = 24
"""The largest thickness in pixels of a frame together with its shadow."""
SMALLEST = 10
"""The least side in pixels of a frame."""
THIN, LONGEST_STROKE = 4, 60
"""The largest thickness of a line that divides the ground, and the length in pixels that it must exceed.
Dashes and strokes of letters are shorter."""
SAMPLE = 4_000
"""The least number of pixels of a larger part from which its fill is read."""
MOST_WORK = 5
"""How often each pixel may be examined, on average, before two layouts count as unlike."""
FEW_ROWS = 16
"""One of so many rows of two parts is compared first."""
DEEPEST = 24
"""The largest number of cuts within each other."""


@dataclass(frozen=True)
class Cutout:
    """A part of a picture: its pixels (H, W, 3), and its place in the picture."""

    pixels: Pixels
    left: int
    top: int

    @property
    def box(self) -> Box:
        """The box of the part in the picture."""
        height, width = self.pixels.shape[:2]
        return self.left, self.top, self.left + width, self.top + height

    def lines(self, axis: int, start: int, stop: int) -> "Cutout":
        """Return some rows (axis 0) or columns (axis 1) of the part."""
        if axis == 0:
            return Cutout(self.pixels[start:stop], self.left, self.top + start)
        return Cutout(self.pixels[:, start:stop], self.left + start, self.top)


@dataclass(frozen=True)
class Cut:
    """Two parts that were cut at the same lines.

    axis      0 if the segments follow from top to bottom, 1 from left to right
    parts     the parts before and after
    segments  the segments of both, as pairs
    holder    the boxes, before and after, of the visible thing that the parts fill; None if they only share
              lines with their neighbours
    ground    the colour around the parts; None for the pictures themselves
    framed    whether the holder has a frame or a shadow at each side
    """

    axis: int
    parts: tuple[Cutout, Cutout]
    segments: tuple[tuple[Segment, Segment], ...]
    holder: BoxPair | None
    ground: RGBColor | None
    framed: bool = False

    def boxes(self, first: int, last: int) -> BoxPair:
        """Return the boxes, before and after, of the segments from ``first`` to ``last``, as broad as their
        content."""
        one, other = (
            _trimmed(
                part.lines(self.axis, self.segments[first][end].start, self.segments[last][end].stop),
                self.axis,
            )
            for end, part in enumerate(self.parts)
        )
        return one, other

    def step(self, number: int) -> int:
        """Return the number of lines that a segment gained."""
        one, other = self.segments[number]
        return other.length - one.length

    def is_line(self, number: int) -> bool:
        """Return whether a segment is a thin line of one colour that crosses a part of the ground."""
        if any(one.length > THIN for one in self.segments[number]):
            return False
        if self.segments[number][0].color is not None:
            return all(part.pixels.shape[1 - self.axis] > LONGEST_STROKE for part in self.parts)
        grounds = (self.segments[k][0].color for k in (number - 1, number + 1) if 0 <= k < len(self.segments))
        ground = next((color for color in grounds if color is not None), None)
        return ground is not None and all(
            _is_long(part.lines(self.axis, one.start, one.stop), self.axis, ground)
            for part, one in zip(self.parts, self.segments[number], strict=True)
        )


@dataclass
class _Comparison:
    """The cuts that were found so far, the outer ones first, and the number of pixels that may still be
    examined."""

    pixels: int
    cuts: list[Cut] = field(default_factory=list)


def matching_cuts(before: Pixels, after: Pixels) -> list[Cut] | None:
    """Return the cuts of two pictures that show the same things with other distances, the outer ones first.

    The result is None if anything but a distance differs.
    """
    comparison = _Comparison(MOST_WORK * max(before.size, after.size))
    whole = tuple(((0, 0, picture.shape[1], picture.shape[0])) for picture in (before, after))
    parts = Cutout(before, 0, 0), Cutout(after, 0, 0)
    return comparison.cuts if _match(comparison, parts, (whole[0], whole[1]), None, 0) else None


def _match(
    comparison: _Comparison,
    parts: tuple[Cutout, Cutout],
    holder: BoxPair | None,
    ground: RGBColor | None,
    depth: int,
) -> bool:
    """Return whether two parts show the same things, and note their cuts."""
    one, other = parts
    if _is_same(one.pixels, other.pixels):
        return True
    comparison.pixels -= one.pixels.size
    if comparison.pixels < 0 or depth > DEEPEST or min(*one.pixels.shape[:2], *other.pixels.shape[:2]) < 1:
        return False
    if _match_framed(comparison, parts, ground, depth):
        return True
    for axis in (0, 1):
        pairs = paired(segments_of(one.pixels, axis), segments_of(other.pixels, axis), ground)
        if pairs is None:
            continue
        if len(pairs) == 1:
            if pairs[0][0].color is not None:
                return True
            continue
        first = pairs[0][0].color
        own = holder
        if ground is not None and first is not None and far(first, ground) > ONE_COLOR:
            own = one.box, other.box
        cut = Cut(axis, parts, tuple(pairs), own, ground)
        so_far = len(comparison.cuts)
        comparison.cuts.append(cut)
        if all(_match(comparison, *inner, depth + 1) for inner in _inner_parts(cut)):
            return True
        del comparison.cuts[so_far:]
    return _is_redrawn(one.pixels, other.pixels)


def _inner_parts(
    cut: Cut,
) -> Iterator[tuple[tuple[Cutout, Cutout], BoxPair | None, RGBColor | None]]:
    """Yield the parts with content of a cut, each with its holder and the colour around it."""
    colors = [segment.color for segment, _ in cut.segments]
    for number, (one, other) in enumerate(cut.segments):
        if one.color is not None:
            continue
        inner = tuple(
            part.lines(cut.axis, segment.start, segment.stop)
            for part, segment in zip(cut.parts, (one, other), strict=True)
        )
        beside = [colors[k] for k in (number - 1, number + 1) if 0 <= k < len(colors)]
        ground = next((color for color in beside if color is not None), cut.ground)
        yield (inner[0], inner[1]), _holder_of_lines(cut, number), ground


def _holder_of_lines(cut: Cut, number: int) -> BoxPair | None:
    """Return the holder of the lines of a segment: that of the cut if the cut has no other content."""
    contents = [k for k, (segment, _) in enumerate(cut.segments) if segment.color is None]
    return cut.holder if contents == [number] else None


def _trimmed(part: Cutout, axis: int) -> Box:
    """Return the box of some lines of a part, without the empty ends of these lines."""
    if min(part.pixels.shape[:2]) < 1:
        return part.box
    segments = segments_of(part.pixels, 1 - axis)
    base = base_of(segments)
    inside = [
        one for one in segments if one.color is None or base is None or far(one.color, base) > ONE_COLOR
    ]
    return part.lines(1 - axis, inside[0].start, inside[-1].stop).box if inside else part.box


def _is_long(part: Cutout, axis: int, ground: RGBColor) -> bool:
    """Return whether the content of a few lines is one straight, long line of one colour."""
    line = np.moveaxis(part.pixels, axis, 0)[len(np.moveaxis(part.pixels, axis, 0)) // 2]
    ink = np.flatnonzero(np.abs(line.astype(np.int16) - np.array(ground, np.int16)).max(axis=1) > EVEN)
    if not len(ink) or ink[-1] - ink[0] < LONGEST_STROKE or len(ink) <= ink[-1] - ink[0]:
        return False
    return bool(np.ptp(line[ink].astype(np.int16), axis=0).max() <= EVEN)


def _match_framed(
    comparison: _Comparison, parts: tuple[Cutout, Cutout], ground: RGBColor | None, depth: int
) -> bool:
    """Return whether two parts are things with a frame or round corners and match within, and note their
    cuts."""
    framed = _frame(parts[0], ground)
    framed_after = None if framed is None else _frame(parts[1], ground)
    if framed is None or framed_after is None:
        return False
    (was, color), (now, other_color) = framed, framed_after
    if far(color, other_color) > ONE_COLOR or not _is_same_frame(parts, was, now, (ground or color, color)):
        return False
    thickness = tuple(max(a, b) for a, b in zip(was, now, strict=True))
    one, other = (_inside(part, thickness, color) for part in parts)
    boxes = parts[0].box, parts[1].box
    for axis in (0, 1):
        pairs = paired(segments_of(one.pixels, axis), segments_of(other.pixels, axis), color)
        if pairs is None or (len(pairs) == 1 and pairs[0][0].color is None):
            continue
        cut = Cut(axis, (one, other), tuple(pairs), boxes, ground, framed=all(thickness))
        so_far = len(comparison.cuts)
        comparison.cuts.append(cut)
        if all(_match(comparison, *inner, depth + 1) for inner in _inner_parts(cut)):
            return True
        del comparison.cuts[so_far:]
    return False


def _frame(part: Cutout, ground: RGBColor | None) -> tuple[tuple[int, ...], RGBColor] | None:
    """Return the thickness of a thing's frame at the left, top, right and bottom, and the fill within.

    The result is None if there is no frame, and the fill is that of the ground.
    """
    height, width = part.pixels.shape[:2]
    edges = [part.pixels[0], part.pixels[-1], part.pixels[:, 0], part.pixels[:, -1]]
    # Two things beside each other have two frames.
    if min(height, width) < SMALLEST or not all(_is_one_line(edge) for edge in edges):
        return None
    every = max(1, math.isqrt(height * width // SAMPLE))
    fill = usual_color(part.pixels[::every, ::every].reshape(-1, 3))
    thickness = []
    for axis, turned in ((1, False), (0, False), (1, True), (0, True)):
        lines = np.moveaxis(part.pixels, axis, 0)
        lines = lines[: -THICKEST - 2 : -1] if turned else lines[: THICKEST + 1]
        middle, half = lines.shape[1] // 2, max(1, int(lines.shape[1] * MIDDLE / 2))
        shown = np.flatnonzero(
            (steps_from(fill, lines[:, middle - half : middle + half]) <= EVEN).all(axis=1)
        )
        if not len(shown):
            return None
        thickness.append(int(shown[0]))
    stands_out = ground is not None and far(fill, ground) > ONE_COLOR
    if not all(thickness) and not stands_out and (ground is not None or any(thickness)):
        return None
    left, top, right, bottom = thickness
    if min(width - left - right, height - top - bottom) < SMALLEST // 2:
        return None
    return tuple(thickness), fill


def _is_one_line(edge: Pixels) -> bool:
    """Return whether the pixels (N, 3) with the colour in the middle of an edge are neighbours."""
    middle = edge[len(edge) // 2].astype(np.int16)
    alike = np.flatnonzero(np.abs(edge - middle).max(axis=1) <= SAME)
    return int(np.diff(alike).max(initial=1)) < LEAST_SPACE


def _is_same_frame(
    parts: tuple[Cutout, Cutout], was: Sequence[int], now: Sequence[int], colors: tuple[RGBColor, RGBColor]
) -> bool:
    """Return whether two frames have about the same thickness, and the same colours in the middle of each
    side.

    colors: the colours of the ground and of the fill. A round side without a frame may begin with a line
    between these.
    """
    if any(abs(a - b) > 1 for a, b in zip(was, now, strict=True)):
        return False
    low, high = np.min(colors, axis=0) - SAME, np.max(colors, axis=0) + SAME
    ends = []
    for part, (left, top, right, bottom) in zip(parts, (was, now), strict=True):
        height, width = part.pixels.shape[:2]
        row, column = part.pixels[height // 2].astype(np.int16), part.pixels[:, width // 2].astype(np.int16)
        ends.append((row[:left], column[:top], row[width - right :], column[height - bottom :]))
    for one, other in zip(*ends, strict=True):
        if len(one) == len(other):
            alike = not len(one) or int(np.abs(one - other).max()) <= SAME
        else:
            lines = max(one, other, key=len)
            alike = len(lines) > 1 or bool(((lines >= low) & (lines <= high)).all())
        if not alike:
            return False
    return True


def _inside(part: Cutout, thickness: Sequence[int], fill: RGBColor) -> Cutout:
    """Return the inside of a frame, with the fill in place of the round corners."""
    height, width = part.pixels.shape[:2]
    left, top, right, bottom = thickness
    pixels = part.pixels[top : height - bottom, left : width - right]
    if (steps_from(fill, pixels[np.ix_((0, -1), (0, -1))]) > EVEN).any():
        pixels = pixels.copy()
        pixels[_corner_pixels(steps_from(fill, pixels) > EVEN)] = fill
    return Cutout(pixels, part.left + left, part.top + top)


def _corner_pixels(ink: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return a mask of the ink that is connected to a corner of a picture. Some corner has ink."""
    from scipy import ndimage  # SciPy is imported here because its import is slow.

    labels, _ = ndimage.label(ink, np.ones((3, 3), bool))
    ends = {int(labels[row, column]) for row in (0, -1) for column in (0, -1)} - {0}
    return np.isin(labels, list(ends))


def _is_same(one: Pixels, other: Pixels) -> bool:
    """Return whether two parts have one size and the same pixels."""
    if one.shape != other.shape:
        return False
    most = min(MOST_PIXELS, MOST_OTHERS * one.shape[0] * one.shape[1])
    # A few rows mostly show already that the parts differ.
    return all(
        int(np.count_nonzero(steps_between(one[::every], other[::every]) > SAME)) <= most
        for every in (FEW_ROWS, 1)
    )


def _is_redrawn(one: Pixels, other: Pixels) -> bool:
    """Return whether two parts are drawings of one word, perhaps at another fraction of a pixel."""
    if any(abs(a - b) > 1 for a, b in zip(one.shape, other.shape, strict=True)):
        return False
    height, width = (min(a, b) for a, b in zip(one.shape[:2], other.shape[:2], strict=True))
    if min(height, width) > HIGHEST:
        return False
    for channel in range(3):
        was, now = (
            blurred(part[:height, :width, channel].astype(np.int16)).astype(np.int32) for part in (one, other)
        )
        steps, contrasts = np.abs(was - now), np.abs(was - np.median(was))
        if steps.mean() > UNLIKE * contrasts.mean() or steps.max() > FARTHEST * contrasts.max():
            return False
    return True
