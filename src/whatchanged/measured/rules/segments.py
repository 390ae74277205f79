"""Lines of a picture as segments: empty lines of one colour, and lines with content."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured.pixels.layers import RGBColor, far
from whatchanged.measured.pixels.planes import largest_channel, steps_between
from whatchanged.measured.pixels.reading import Pixels

EVEN = 6
"""The largest difference, in levels, between the pixels of a line of one colour."""
ONE_COLOR = 12
"""The largest difference, in levels, between the colours of two lines that count as the same."""
LEAST_SPACE = 4
"""The least number of even lines beside content that are space. Fewer may be strokes of letters."""
SAMPLE = 13
"""One of so many pixels of a line is examined first. They rule out most lines that are not even."""


@dataclass(frozen=True)
class Segment:
    """Neighbouring lines of a part: empty lines of one colour, or lines with content (``color`` is None)."""

    start: int
    stop: int
    color: RGBColor | None

    @property
    def length(self) -> int:
        """The number of lines."""
        return self.stop - self.start


def segments_of(pixels: Pixels, axis: int) -> list[Segment]:
    """Return the segments of a part (H, W, 3) of a picture along an axis."""
    lines = np.moveaxis(pixels, axis, 0)
    even = _even_rows(pixels) if axis == 0 else _even_columns(pixels)
    colors = lines[:, 0]
    steps = steps_between(colors[1:], colors[:-1]) > EVEN
    breaks = np.flatnonzero((even[1:] != even[:-1]) | (even[1:] & even[:-1] & steps)) + 1
    results = []
    for start, stop in pairwise([0, *breaks.tolist(), len(lines)]):
        red, green, blue = colors[(start + stop) // 2].tolist()
        results.append(Segment(start, stop, (red, green, blue) if even[start] else None))
    return _without_strokes(results)


def _even_columns(pixels: Pixels) -> NDArray[np.bool_]:
    """Return a mask of the columns of one colour."""
    return np.asarray(largest_channel(pixels.max(axis=0) - pixels.min(axis=0)) <= EVEN)


def _even_rows(pixels: Pixels) -> NDArray[np.bool_]:
    """Return a mask of the rows of one colour.

    NumPy finds the extremes of rows slowly, so these are found only where simpler tests do not decide.
    """
    levels = pixels.reshape(len(pixels), -1)
    even = (levels[:, 3:] == levels[:, :-3]).all(axis=1)
    others = np.flatnonzero(~even)
    for every in (SAMPLE, 1):
        others = others[_even_columns(np.ascontiguousarray(pixels[:, ::every][others].swapaxes(0, 1)))]
    even[others] = True
    return np.asarray(even)


def _without_strokes(segments: Sequence[Segment]) -> list[Segment]:
    """Return segments in which short even ones beside content are a part of it, like the strokes of letters
    and the space between these."""
    short = [one.color is not None and one.length < LEAST_SPACE for one in segments]
    content = [one.color is None for one in segments]
    count = len(segments)
    for order in (range(count), reversed(range(count))):
        for k in order:
            near = [j for j in (k - 1, k + 1) if 0 <= j < count]
            if short[k] and any(content[j] for j in near):
                content[k] = True
    return _merged(segments, content)


def _merged(segments: Sequence[Segment], content: Sequence[bool]) -> list[Segment]:
    """Return segments in which neighbouring ones with content are one."""
    results: list[Segment] = []
    for one, inside in zip(segments, content, strict=True):
        if inside and results and results[-1].color is None:
            results[-1] = Segment(results[-1].start, one.stop, None)
        else:
            results.append(Segment(one.start, one.stop, None if inside else one.color))
    return results


def _with_ends(
    segments: Sequence[Segment], others: Sequence[Segment], ground: RGBColor | None
) -> list[Segment]:
    """Return segments with no lines at an end at which the other ones show the ground and these have
    content."""
    results = list(segments)
    first, last = others[0].color, others[-1].color
    if (
        results[0].color is None
        and first is not None
        and ground is not None
        and far(first, ground) <= ONE_COLOR
    ):
        results.insert(0, Segment(results[0].start, results[0].start, first))
    if (
        results[-1].color is None
        and last is not None
        and ground is not None
        and far(last, ground) <= ONE_COLOR
    ):
        results.append(Segment(results[-1].stop, results[-1].stop, last))
    return results


def paired(
    one: Sequence[Segment], other: Sequence[Segment], ground: RGBColor | None
) -> list[tuple[Segment, Segment]] | None:
    """Return the segments of both parts in pairs, or None if they have other colours or another order.

    ground: the colour of the space that one of both may lack at an end.
    """
    base = base_of(one)
    one, other = _on_base(one, base), _on_base(other, base)
    one, other = _with_ends(one, other, ground), _with_ends(other, one, ground)
    if len(one) != len(other):
        return None
    for was, now in zip(one, other, strict=True):
        if was.color is None or now.color is None:
            if was.color is not now.color:
                return None
        elif far(was.color, now.color) > ONE_COLOR:
            return None
    return list(zip(one, other, strict=True))


def base_of(segments: Sequence[Segment]) -> RGBColor | None:
    """Return the colour of the ground: that at the ends, or else that of most empty lines."""
    first, last = segments[0].color, segments[-1].color
    if first is None or last is None:
        end = first or last
        if end is not None:
            return end
    elif far(first, last) <= ONE_COLOR:
        return first
    lengths: dict[RGBColor, int] = {}
    for one in segments:
        if one.color is not None:
            lengths[one.color] = lengths.get(one.color, 0) + one.length
    return max(lengths, key=lambda color: lengths[color], default=None)


def _on_base(segments: Sequence[Segment], base: RGBColor | None) -> list[Segment]:
    """Return segments in which empty lines of another colour than the ground are content, but for those that
    divide the ground."""
    count = len(segments)

    def is_ground(number: int) -> bool:
        color = segments[number].color
        return color is not None and base is not None and far(color, base) <= ONE_COLOR

    inside = [
        not is_ground(k)
        and not (
            0 < k < count - 1 and segments[k].color is not None and is_ground(k - 1) and is_ground(k + 1)
        )
        for k in range(count)
    ]
    if all(inside):
        inside = [one.color is None for one in segments]
    return _merged(segments, inside)
