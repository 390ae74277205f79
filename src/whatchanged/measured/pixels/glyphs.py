"""Detection of a single exchanged letter or digit in a line of text.

The size of a difference alone does not show an exchange: two renderings of the same text can differ as much
as an 8 and a 6. But a new rendering changes all glyphs of a line. An exchanged glyph therefore differs more
than the other glyphs of its line.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured.pixels.layers import INK, usual_color
from whatchanged.measured.pixels.planes import UNIT, luminance
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box

# The limits were chosen by hand to separate changed lines from redrawn lines (`python -m
# benchmarks.screens.glyphs --tuning`). With these limits, 18 of 18,369 redrawn lines are reported as changed.
LEAST = 0.15
"""The least residual of an exchanged glyph in a line whose other glyphs have no residual."""
LEAST_BESIDE_SAME = 0.13
"""The least residual of an exchanged glyph in a line whose other glyphs are identical in both pictures.

The limit is lower, because a new rendering would change the other glyphs too.
"""
SAME = 0.02
"""The largest residual at which the other glyphs count as identical."""
LEAST_SIDE = 1 / 3
"""The least fraction of the other glyphs' ink that must lie on one side of a glyph, if that side is used
alone."""
OUTLIER = 1.5
"""The least ratio between the residual of an exchanged glyph and that of any other glyph that is not next to
it."""
SLOPE = 2.0
"""The increase of the limit for each unit of the other glyphs' residual."""
REST = 0.9
"""The quantile, weighted by ink, that summarizes the residuals of the other glyphs."""

LOWEST, HIGHEST = 5, 28
"""The smallest and the largest height of a line of text, in pixels."""
ROOM = 14
"""The number of pixels above and below a difference in which its line is searched for."""
REACH = 64
"""The number of pixels to the left and right of a difference in which the other glyphs of its line are
searched for."""
UPRIGHT = 0.7
"""The least fraction of the rows that a vertical line beside a text fills."""
AROUND = 24
"""The number of pixels to the left and right of a difference whose ink determines the rows of the line."""
BLANK = 12
"""The difference from the background, in levels, below which a column is blank."""
LONG = 1.2
"""The ratio of width to line height above which a shape is split into several touching glyphs."""
BROAD = 0.75
"""The typical width of a glyph, as a fraction of the line's height."""
SHIFTS = (0, -2, 2, -4, 4, -1, 1, -3, 3)
"""The horizontal and vertical shifts, in quarters of a pixel, at which the two pictures of a glyph are
compared."""

InkLevels = NDArray[np.int16]
"""(H, W): the absolute difference of each pixel from the background, in levels."""
Values = NDArray[np.float64]


@dataclass(frozen=True)
class Glyph:
    """One glyph of a line and how much it differs between the pictures.

    residue  the fraction of the glyph's ink that differs at the best alignment of the two pictures
    rest     the same fraction for the other glyphs of the line
    """

    box: Box
    residue: float
    rest: float

    @property
    def strength(self) -> float:
        """The residual as a multiple of its limit. A value of 1 or more means that the glyph was
        exchanged."""
        if self.rest <= SAME:
            return self.residue / LEAST_BESIDE_SAME
        return self.residue / (LEAST + SLOPE * self.rest)


def exchanged(before: Pixels, after: Pixels, boxes: Sequence[Box]) -> Iterator[Glyph]:
    """Yield the exchanged glyph of each box that has one. The pictures have the same size.

    Glyphs with a strength below 1 were merely redrawn and are skipped.
    """
    for box in boxes:
        glyph = most_unlike(before, after, box)
        if glyph is not None and glyph.strength >= 1:
            yield glyph


def most_unlike(before: Pixels, after: Pixels, region: Box) -> Glyph | None:
    """Return the glyph in a box that differs most.

    The result is None if the box does not lie in a line of text, or if the line has no other glyphs.
    """
    left, top, right, bottom = region
    if bottom - top > HIGHEST:
        return None
    first_column, first_row = max(0, left - REACH), max(0, top - ROOM)
    part = (slice(first_row, bottom + ROOM), slice(first_column, right + REACH))
    inks = _without_sides(*_inks(before[part], after[part]))
    left, right = left - first_column, right - first_column
    rows = _rows(
        np.maximum(*inks)[:, max(0, left - AROUND) : right + AROUND], top - first_row, bottom - first_row
    )
    if not LOWEST <= rows.stop - rows.start <= HIGHEST:
        return None
    rows_around = slice(max(0, rows.start - 2), rows.stop + 2)
    one, other = (ink[rows_around] for ink in inks)
    starts = _glyphs(np.maximum(one, other), rows.stop - rows.start)
    stops = np.append(starts[1:], one.shape[1])
    masses = np.maximum(*(np.add.reduceat(ink.sum(axis=0, dtype=np.int64), starts) for ink in (one, other)))
    inked = masses[masses > 0]
    if len(inked) == 0:
        return None
    least = np.maximum(masses, inked.mean() / 2)  # A shape with almost no ink is not a glyph.
    inside = (starts < right) & (stops > left)
    if (np.add.reduceat(np.abs(one - other).sum(axis=0), starts) / least)[inside].max() < LEAST_BESIDE_SAME:
        return None
    residues = _residues(one, other, starts, least, inside)
    if residues is None:
        return None
    place_of = int(np.where(inside, residues, -1).argmax())
    weights = np.where(np.arange(len(masses)) == place_of, 0, masses)
    if weights.sum() < masses[place_of]:
        return None
    box = (
        first_column + int(starts[place_of]),
        first_row + rows_around.start,
        first_column + int(stops[place_of]),
        min(first_row + rows_around.stop, len(before)),
    )
    return Glyph(box, float(residues[place_of]), _rest(residues, weights, place_of))


def _inks(before: Pixels, after: Pixels) -> tuple[InkLevels, InkLevels]:
    """Return the absolute difference of each pixel from the most frequent colour before, for both
    pictures."""
    ground = np.array(usual_color(before.reshape(-1, 3)), np.int16)
    one, other = (np.abs(picture.astype(np.int16) - ground) for picture in (before, after))
    return luminance(one) // UNIT, luminance(other) // UNIT


def _without_sides(one: InkLevels, other: InkLevels) -> tuple[InkLevels, InkLevels]:
    """Remove unchanged vertical lines, such as the sides of a table cell or a button.

    They do not belong to a line of text, and would join it to the lines above and below.
    """
    share = np.mean((one >= INK) & (one == other), axis=0)
    sides = share >= UPRIGHT
    return np.where(sides, 0, one), np.where(sides, 0, other)


def _rows(ink: InkLevels, top: int, bottom: int) -> slice:
    """Return the rows of a line of text: the rows of a difference, and the adjoining rows that contain
    ink."""
    filled = np.asarray((ink >= INK).any(axis=1))
    above, below = filled[:top][::-1], filled[bottom:]
    start = top - (len(above) if above.all() else int(above.argmin()))
    stop = bottom + (len(below) if below.all() else int(below.argmin()))
    return slice(start, stop)


def _glyphs(ink: InkLevels, height: int) -> NDArray[np.intp]:
    """Return the columns at which the glyphs begin.

    The boundary between two glyphs lies in the middle of the blank columns between them. The first column is
    0.
    """
    filled = ink.max(axis=0) >= BLANK
    ends = np.flatnonzero(np.diff(np.r_[False, filled, False].astype(np.int8)))
    begins, stops = ends[::2], ends[1::2]
    starts = [0]
    for number, (begin, stop) in enumerate(zip(begins.tolist(), stops.tolist(), strict=True)):
        if number:
            starts.append((int(stops[number - 1]) + begin) // 2)
        count = round((stop - begin) / (BROAD * height)) if stop - begin > LONG * height else 1
        starts += [begin + (stop - begin) * k // count for k in range(1, count)]
    return np.unique(starts)


def _residues(
    one: InkLevels, other: InkLevels, starts: NDArray[np.intp], masses: Values, inside: NDArray[np.bool_]
) -> Values | None:
    """Return the residual of each glyph at the alignment that suits it best.

    The result is None if no glyph marked in ``inside`` reaches the residual of an exchanged glyph.
    """
    one, other = (np.pad(_smooth(ink), 1) for ink in (one, other))
    best = np.full(len(starts), np.inf)
    for across in SHIFTS:
        left, right = (_shifted(ink, step, 1) for ink, step in ((one, across), (other, -across)))
        for down in SHIFTS:
            rest = np.abs(_shifted(left, down, 0) - _shifted(right, -down, 0)).sum(axis=0, dtype=np.int64)
            np.minimum(best, np.add.reduceat(rest, starts) / (64 * masses), out=best)
        if best[inside].max() < LEAST_BESIDE_SAME:
            return None
    return best


def _smooth(ink: InkLevels) -> InkLevels:
    """Blur with the weights 1, 2, 1 along both axes."""
    padded = np.pad(ink, 1)
    rows = padded[:-2] + 2 * padded[1:-1] + padded[2:]
    blurred: InkLevels = (rows[:, :-2] + 2 * rows[:, 1:-1] + rows[:, 2:]) >> 4
    return blurred


def _shifted(ink: InkLevels, eighths: int, axis: int) -> InkLevels:
    """Return eight times the values, shifted by this many eighths of a pixel along an axis.

    The first and the last line of the axis are dropped.
    """
    lines = np.moveaxis(ink, axis, 0)
    beside = lines[2:] if eighths > 0 else lines[:-2]
    return np.moveaxis((8 - abs(eighths)) * lines[1:-1] + abs(eighths) * beside, 0, axis)


def _rest(residues: Values, masses: NDArray[np.int64], glyph: int) -> float:
    """Return the residual of the other glyphs of a line.

    An exchanged glyph of another width shifts the following glyphs by a fraction of a pixel. One side of the
    line is therefore used alone if it is identical in both pictures and holds enough ink, and if no other
    glyph has a similar residual. The glyph next to the exchanged one is left out there, because the exchange
    may move the cut between two touching glyphs.
    """
    rest = _quantile(residues, masses)
    sides = (slice(0, max(0, glyph - 1)), slice(glyph + 2, None))
    if max(residues[side].max(initial=0.0) for side in sides) * OUTLIER > residues[glyph]:
        return rest
    for side in sides:
        if masses[side].sum() >= LEAST_SIDE * masses.sum():
            beside = _quantile(residues[side], masses[side])
            rest = min(rest, beside) if beside <= SAME else rest
    return rest


def _quantile(values: Values, weights: NDArray[np.int64]) -> float:
    """Return the value below which the fraction ``REST`` of the total weight lies."""
    order = np.argsort(values, kind="stable")
    total = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(total, REST * total[-1])])
