"""One letter or digit that was exchanged in a line of text, told from text that was drawn anew.

Text that is drawn anew differs from itself by as much as an 8 from a 6, so the size of a difference alone
does not tell. But whoever draws a line anew draws all of its glyphs anew: an exchanged glyph differs by more
than the others of its line do.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured.pixels.layers import INK, usual_color
from whatchanged.measured.pixels.planes import UNIT, luminance
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box

# Set by hand where changed lines and lines that were drawn anew part (`python -m benchmarks.screens.glyphs
# --tuning`): of 18,369 that were drawn anew these limits call 18 changed.
LEAST = 0.15
"""The residue from which on a glyph is another one, where the rest of its line has none."""
LEAST_BESIDE_SAME = 0.13
"""The same, where the rest of its line is what it was: whoever draws a line anew draws all of it anew."""
SAME = 0.02
"""The residue of the rest up to which that is so."""
LEAST_SIDE = 1 / 3
"""The part of the rest's ink that lies on one side of a glyph, at least, where that side counts alone."""
OUTLIER = 1.5
"""The least ratio of the residue of an exchanged glyph to that of every other glyph but the next ones."""
SLOPE = 2.0
"""How much more for each unit of the residue of the rest."""
REST = 0.9
"""Which quantile of the residues of the rest that is, by ink."""

LOWEST, HIGHEST = 5, 28
"""Pixels that a line of text is high at least and at most."""
ROOM = 14
"""Pixels above and below a difference in which its line is looked for."""
REACH = 64
"""Pixels to the left and right of a difference in which the rest of its line is looked for."""
UPRIGHT = 0.7
"""The part of the rows around a line of text that upright lines beside it fill at least."""
AROUND = 24
"""Pixels to the left and right of a difference whose ink makes the line's rows."""
BLANK = 12
"""Levels from the ground below which a column is blank."""
LONG = 1.2
"""Glyphs that touch are cut where they are longer than so many times the line's height."""
BROAD = 0.75
"""How broad a glyph is, as a part of the line's height."""
SHIFTS = (0, -2, 2, -4, 4, -1, 1, -3, 3)
"""Quarters of a pixel by which a glyph is laid on the other, across and down."""

InkLevels = NDArray[np.int16]
"""(H, W): how far pixels are from the ground, in levels."""
Values = NDArray[np.float64]


@dataclass(frozen=True)
class Glyph:
    """What stands at one place of a line.

    residue  how much ink differs however the one picture is laid on the other, as a part of the ink
    rest     the residue of the rest of the line
    """

    box: Box
    residue: float
    rest: float

    @property
    def strength(self) -> float:
        """In units of the limit: from 1 on the glyph is another one."""
        if self.rest <= SAME:
            return self.residue / LEAST_BESIDE_SAME
        return self.residue / (LEAST + SLOPE * self.rest)


def exchanged(before: Pixels, after: Pixels, boxes: Sequence[Box]) -> Iterator[Glyph]:
    """Of each place at which two pictures of one size differ, the glyph that was exchanged, if one was.

    What is below its limit was drawn anew, and leaves no doubt.
    """
    for box in boxes:
        glyph = most_unlike(before, after, box)
        if glyph is not None and glyph.strength >= 1:
            yield glyph


def most_unlike(before: Pixels, after: Pixels, region: Box) -> Glyph | None:
    """The glyph in a box that differs most; None where the box lies in no line, or there is no rest of it."""
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
    least = np.maximum(masses, inked.mean() / 2)  # what has next to no ink is no glyph
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
    """How far each pixel is from the most usual colour before."""
    ground = np.array(usual_color(before.reshape(-1, 3)), np.int16)
    one, other = (np.abs(picture.astype(np.int16) - ground) for picture in (before, after))
    return luminance(one) // UNIT, luminance(other) // UNIT


def _without_sides(one: InkLevels, other: InkLevels) -> tuple[InkLevels, InkLevels]:
    """The inks without upright lines that did not change, such as the sides of a cell or a button: they are
    no part of a line of text, and would join it to what is above and below."""
    share = np.mean((one >= INK) & (one == other), axis=0)
    sides = share >= UPRIGHT
    return np.where(sides, 0, one), np.where(sides, 0, other)


def _rows(ink: InkLevels, top: int, bottom: int) -> slice:
    """The rows of a line: those of a difference, and those beside them that hold ink."""
    filled = np.asarray((ink >= INK).any(axis=1))
    above, below = filled[:top][::-1], filled[bottom:]
    start = top - (len(above) if above.all() else int(above.argmin()))
    stop = bottom + (len(below) if below.all() else int(below.argmin()))
    return slice(start, stop)


def _glyphs(ink: InkLevels, height: int) -> NDArray[np.intp]:
    """The columns at which glyphs begin: in the middle of what is blank between them, the first at 0."""
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
    """How much of each glyph's ink differs where the pictures are laid on each other as it suits that glyph.

    None as soon as no glyph inside differs by as much as another one does.
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
    """Blurred by weights of 1, 2, 1 across and down."""
    padded = np.pad(ink, 1)
    rows = padded[:-2] + 2 * padded[1:-1] + padded[2:]
    blurred: InkLevels = (rows[:, :-2] + 2 * rows[:, 1:-1] + rows[:, 2:]) >> 4
    return blurred


def _shifted(ink: InkLevels, eighths: int, axis: int) -> InkLevels:
    """Eight times the values so many eighths of a pixel further along an axis, without its first and last."""
    lines = np.moveaxis(ink, axis, 0)
    beside = lines[2:] if eighths > 0 else lines[:-2]
    return np.moveaxis((8 - abs(eighths)) * lines[1:-1] + abs(eighths) * beside, 0, axis)


def _rest(residues: Values, masses: NDArray[np.int64], glyph: int) -> float:
    """The residue of the rest of a line around one of its glyphs.

    An exchanged glyph of another width shifts what follows by a part of a pixel. So the rest on one side
    counts alone if it is the same in both pictures and holds enough ink, and if no other glyph differs as
    much. The next glyph is left out there: where two glyphs touch, the cut between them may lie elsewhere
    after the exchange.
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
    """The value below which ``REST`` of the weight lies."""
    order = np.argsort(values, kind="stable")
    total = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(total, REST * total[-1])])
