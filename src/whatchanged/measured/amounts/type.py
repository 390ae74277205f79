"""What became of a line of text that says the same: weight, size, slant, underline, letter spacing, face.

Both lines are laid on each other column by column, so that letters may be wider, higher or bolder; what is
left over tells whether they are the same letters. The limits that tell the attributes apart were set by hand
where the measures of drawn lines part, which ``tools/fit/type_limits.py`` prints.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from whatchanged.measured.amounts.coverage import INKED, Floats, ink_box
from whatchanged.measured.rules.kinds import Finding

ROWS, COLUMNS = 12, 240
"""Both lines are brought to so many rows, and to so many columns at most."""
BAND = 0.12
"""Columns may lie so far from their place, as a part of the longer line."""
SHEARS = np.linspace(-0.1, 0.4, 21)
"""Slants that are tried: columns to the right for each row upwards."""

SAME_LETTERS = 0.33
"""What is left over, as a part of the ink, below which both lines show the same letters."""
CUT_LETTERS, UNDERLINED_WIDTH = 0.42, (0.9, 1.1)
"""The same where one is underlined, which may cut off the feet of letters; and between which its width
grew then."""
ALIKE_WIDTH = (0.92, 1.09)
"""Between which the width grew beside the height where letters grew or shrank."""
ALIKE_INK = (0.8, 1.25)
"""Between which their ink grew beside height and width."""
LEAST_SIZE, LEAST_STEP = 0.05, 0.8
"""How much of their height letters grew or shrank at least, and how many pixels."""
ONE_SIZE, ONE_STEP = 0.05, 1.3
"""How much of their height letters may differ where they have one size, and how many pixels always."""
BOLDER, BOLDEST = 1.15, 1.8
"""How much more ink bolder letters have at least and at most, or how much less the others."""
EVENLY = 0.3
"""How much of it each third of the line shows at least."""
BOLD_WIDTH = (0.97, 1.17)
"""Between which the line's width grew as well, for each time that its letters became bolder."""
SLANTED = 0.14
"""Columns for each row that italics are slanted more."""
SPACED, LEAST_SPACED = 1.03, 2
"""How much wider a line with more space between its letters is at least, and by how many pixels."""
SAME_INK = 0.04
"""Part by which its ink, and the columns that have any, may differ then."""
OTHER_FACE = 0.17
"""What is left over at least where another typeface shows the same letters; only where they were read."""
UNDERLINED, UNBROKEN = 0.7, 1.5
"""Share of the columns that a line under the text covers at least, and how long its longest part is at
least, in heights of the text: letters that reach below it interrupt it."""
STRUCK = 0.95
"""Share of the columns that a line through the text covers at least."""
THICK = 0.16
"""How thick such a line is at most, as a part of the text's height; three pixels always."""
SHORTEST, SMALLEST, LARGEST = 8, 5, 64
"""Pixels that a line of text is long at least, and high at least and at most."""


@dataclass(frozen=True)
class TextLine:
    """A line of text without what underlines it.

    ink         (h, w) the coverage in the box of the letters
    underlined  whether there is a line under it
    struck      whether there is a line through it
    """

    ink: Floats
    underlined: bool
    struck: bool


@dataclass(frozen=True)
class LineStep:
    """What became of a line.

    left_over       what differs when both are laid on each other, as a part of the ink of both
    height, width   how much larger its letters and its length are: 1 for no change
    area            how much more ink there is
    areas           the same of the first, the middle and the last third of the line
    slant           columns for each row by which it is slanted more
    inked           how many more of its columns have ink
    wider           by how many pixels the lengths differ
    heights         pixels from its highest to its lowest ink, before and after
    """

    left_over: float
    height: float
    width: float
    area: float
    areas: tuple[float, float, float]
    slant: float
    inked: float
    wider: int
    heights: tuple[float, float]


def read_line(ink: Floats) -> TextLine | None:
    """The line that a part's coverage shows; None where it is too small or too large for one."""
    box = ink_box(ink)
    if box is None:
        return None
    part = ink[box[1] : box[3], box[0] : box[2]]
    height, width = part.shape
    if width < SHORTEST or not SMALLEST <= height <= LARGEST:
        return None
    thick = max(3, round(THICK * height))
    unbroken = min(width, UNBROKEN * height)
    under = _rule(part, (height // 2, height), UNDERLINED, unbroken, thick)
    through = None
    if under is None:
        through = _rule(part, (height // 4, 3 * height // 4), STRUCK, unbroken, thick)
    if under is None:
        return TextLine(part, False, through is not None)
    letters = part.copy()
    letters[under] = 0
    without = ink_box(letters)
    if without is None or without[3] - without[1] < SMALLEST:
        return None
    return TextLine(letters[without[1] : without[3], without[0] : without[2]], True, False)


def _rule(ink: Floats, within: tuple[int, int], least: float, unbroken: float, thick: int) -> slice | None:
    """The rows of a line across most of the columns; None where there is none, or it is too thick.

    within: between which rows. least: share of the columns that it covers. unbroken: how long its longest
    part is.
    """
    covered = ink.mean(axis=1)
    rows = np.flatnonzero(covered[within[0] : within[1]] >= least) + within[0]
    if not len(rows) or rows[-1] - rows[0] + 1 > thick:
        return None
    gaps = np.flatnonzero(ink[rows].max(axis=0) < INKED)
    if np.diff(np.r_[-1, gaps, ink.shape[1]]).max() - 1 < unbroken:
        return None
    # its soft edges belong to it
    start, stop = int(rows[0]), int(rows[-1]) + 1
    soft_end = stop < len(covered) and covered[stop] > least / 2
    return slice(start - (covered[start - 1] > least / 2), stop + soft_end)


def compare_lines(one: TextLine, other: TextLine) -> LineStep:
    """How the letters of a line differ from those of another one."""
    heights = (_height(one.ink), _height(other.ink))
    return LineStep(
        left_over=_left_over(_columns(one.ink), _columns(other.ink)),
        height=heights[1] / heights[0],
        width=other.ink.shape[1] / one.ink.shape[1],
        area=float(other.ink.sum() / one.ink.sum()),
        areas=_by_thirds(one.ink, other.ink),
        slant=_slant(other.ink) - _slant(one.ink),
        inked=_inked(other.ink) / _inked(one.ink),
        wider=abs(other.ink.shape[1] - one.ink.shape[1]),
        heights=heights,
    )


def type_change(one: TextLine, other: TextLine, same_words: bool = False) -> Finding | None:
    """What became of a line that says the same; None where it may say something else, or nothing is sure.

    same_words: whether both were read and say the same.
    """
    return change_by_step(one, other, compare_lines(one, other), same_words)


def change_by_step(
    one: TextLine, other: TextLine, step: LineStep, same_words: bool = False
) -> Finding | None:
    """The same, of two lines that were compared before."""
    if one.underlined != other.underlined:
        if step.left_over < CUT_LETTERS and UNDERLINED_WIDTH[0] < step.width < UNDERLINED_WIDTH[1]:
            return Finding("restyled", "decoration", 0.8, {"on_after": other.underlined})
        return None
    if one.struck != other.struck and step.left_over < SAME_LETTERS:
        return Finding("restyled", "struck", 0.7, {"on_after": other.struck})
    if step.left_over >= SAME_LETTERS and not same_words:
        return None
    return attribute_of(step, same_words)


def attribute_of(step: LineStep, same_words: bool) -> Finding | None:
    """The attribute that explains a step, if one does."""
    low, high = ALIKE_WIDTH
    grown = step.heights[1] - step.heights[0]
    one_size = abs(step.height - 1) <= ONE_SIZE or abs(grown) <= ONE_STEP
    same_ink = ALIKE_INK[0] < step.area / (step.height * step.width) < ALIKE_INK[1]
    if abs(step.slant) >= SLANTED and one_size and same_ink:
        return Finding("restyled", "slant", 0.7, {"on_after": step.slant > 0})
    larger = abs(step.height - 1) >= LEAST_SIZE and abs(grown) >= LEAST_STEP
    alike = low < step.width / step.height < high and (step.height > 1) == (step.width > 1)
    if larger and alike and same_ink:
        amounts = {"amount_before": round(step.heights[0], 1), "amount_after": round(step.heights[1], 1)}
        return Finding("resized", "text size", 0.7, {**amounts, "factor": round(step.height, 3)})
    if not one_size:
        return None
    bolder, width = (step.area, step.width) if step.area > 1 else (1 / step.area, 1 / step.width)
    even = all((area if step.area > 1 else 1 / max(area, 1e-3)) >= bolder**EVENLY for area in step.areas)
    if BOLDER <= bolder <= BOLDEST and even and BOLD_WIDTH[0] <= width <= BOLD_WIDTH[1]:
        # relative amounts: how much ink the letters have
        return Finding("restyled", "weight", 0.7, {"amount_before": 1.0, "amount_after": round(step.area, 2)})
    spaced = max(step.width, 1 / step.width) >= SPACED and step.wider >= LEAST_SPACED
    if max(abs(step.area - 1), abs(step.inked - 1)) <= SAME_INK and spaced:
        return Finding(
            "restyled", "letter spacing", 0.6, {"amount_before": 1.0, "amount_after": round(step.width, 3)}
        )
    if same_words and step.left_over >= OTHER_FACE:
        return Finding("restyled", "face", 0.6)
    return None


def _height(ink: Floats) -> float:
    """Rows that a line's ink covers; the soft ones at both ends as far as they are covered."""
    covered = ink.max(axis=1)
    return float(len(covered) - 2 + covered[0] + covered[-1])


def _inked(ink: Floats) -> int:
    """How many columns of a line have ink."""
    return int(np.count_nonzero((ink >= INKED).any(axis=0)))


def _by_thirds(one: Floats, other: Floats) -> tuple[float, float, float]:
    """How much more ink each third of a line's length has."""
    inks = []
    for ink in (one, other):
        ends = np.linspace(0, ink.shape[1], 4).round().astype(int)
        inks.append([float(ink[:, a:b].sum()) for a, b in pairwise(ends)])
    first, second, third = (after / max(before, 1.0) for before, after in zip(*inks, strict=True))
    return first, second, third


def _columns(ink: Floats) -> Floats:
    """A line as a row of columns of ``ROWS`` values each, slightly blurred: (W, ROWS)."""
    from PIL import Image  # slow to import

    height, width = ink.shape
    long = int(np.clip(round(width * ROWS / height), 4, COLUMNS))
    smooth = Image.Resampling.BOX if height >= ROWS else Image.Resampling.BILINEAR
    small = np.asarray(Image.fromarray(np.ascontiguousarray(ink, np.float32)).resize((long, ROWS), smooth))
    padded = np.pad(small, 1)
    rows = (padded[:-2] + 2 * padded[1:-1] + padded[2:]) / 4
    return np.ascontiguousarray(((rows[:, :-2] + 2 * rows[:, 1:-1] + rows[:, 2:]) / 4).T)


def _left_over(one: Floats, other: Floats) -> float:
    """Dynamic time warping of two lines (N, ROWS) and (M, ROWS): the least sum of differences along a way
    through both, as a part of the ink of both. Nothing that lies further from its place than ``BAND`` is
    tried.
    """
    count, others = len(one), len(other)
    cost = np.abs(one[:, None] - other[None]).sum(axis=2)
    scale = (others - 1) / max(1, count - 1)
    apart = np.abs(np.arange(count)[:, None] * scale - np.arange(others)[None])
    cost[apart > max(6, BAND * max(count, others))] = np.inf
    # Along the diagonals each value follows from the two before: no loop over the pixels of one.
    here = _diagonals(cost)
    further = 2 * here
    before_last, last, current = np.full((3, count + 1), np.inf)  # what comes before the first row is not
    last[1] = here[0, 0]
    for diagonal in range(1, count + others - 1):
        np.minimum(last[:-1], last[1:], out=current[1:])
        current[1:] += here[diagonal]
        np.minimum(current[1:], before_last[:-1] + further[diagonal], out=current[1:])
        before_last, last, current = last, current, before_last
    return float(last[-1] / max(1e-6, float(one.sum() + other.sum())))


def _diagonals(cost: Floats) -> Floats:
    """The diagonals of (N, M), each by its rows: (N + M - 1, N), infinite where a row is not on one."""
    count, others = cost.shape
    skewed = np.full((count, others + count), np.inf, np.float32)
    skewed[:, :others] = cost
    # of rows that are one shorter each one begins one place further right
    return np.ascontiguousarray(skewed.ravel()[:-count].reshape(count, others + count - 1).T)


def _slant(ink: Floats) -> float:
    """How many columns for each row upwards a line leans to the right: where its columns are most unlike."""
    height, width = ink.shape
    best, slant = -1.0, 0.0
    heights = height / 2 - np.arange(height)
    columns = np.arange(width)
    for shear in SHEARS:
        shifts = np.round(heights * shear).astype(int)
        upright = np.bincount(
            (columns[None] - shifts[:, None] + height).ravel(), ink.ravel(), minlength=width + 2 * height
        )
        sharp = float((np.diff(upright) ** 2).sum())
        if sharp > best:
            best, slant = sharp, float(shear)
    return slant
