"""Measurement of style changes of the same text: weight, size, slant, underline, letter spacing and typeface.

Two lines are aligned column by column, so that letters may be wider, higher or bolder. The residual shows
whether they have the same letters. The limits between the attributes were set by hand from measurements of
drawn lines, which ``tools/fit/type_limits.py`` prints.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from whatchanged.measured.amounts.coverage import INKED, Floats, columns_of_ink, ink_box
from whatchanged.measured.rules.kinds import Finding

ROWS, COLUMNS = 12, 240
"""The number of rows to which both lines are scaled, and the largest number of columns."""
BAND = 0.12
"""The largest displacement of a column in the alignment, as a fraction of the longer line."""
SHEARS = np.linspace(-0.1, 0.4, 21)
"""The slants that are tried, in columns to the right for each row upwards."""

SAME_LETTERS = 0.33
"""The residual, as a fraction of the ink, below which both lines have the same letters."""
CUT_LETTERS, UNDERLINED_WIDTH = 0.42, (0.9, 1.1)
"""The same residual, and the range of the width ratio, if one line is underlined.

The residual may be larger, because removing the underline can cut off the lower parts of letters.
"""
ALIKE_WIDTH = (0.93, 1.08)
"""The range of the ratio between the growth of the width and of the height, if letters changed their size."""
LARGE_LETTERS, SAME_SHAPES = 16, 0.32
"""The height in pixels from which letters of another size keep their shapes, and their largest residual then.

The shapes of smaller letters depend on how they fit the pixels.
"""
ALIKE_INK = (0.8, 1.25)
"""The range of the ratio between the growth of the ink and of the area, if letters changed their size."""
LEAST_SIZE, LEAST_STEP = 0.05, 0.8
"""The least change of the letter height, relative and in pixels, if letters changed their size."""
LEAST_IN_PROPORTION, IN_PROPORTION = 0.03, 0.02
"""The least relative change if the width changed by the same factor, and the largest difference of the
factors."""
ONE_SIZE, ONE_STEP = 0.05, 1.3
"""The largest relative change of the letter height at the same size. This number of pixels is always
allowed."""
BOLDER, BOLDEST = 1.19, 1.8
"""The least and largest ratio of the stroke widths of bolder letters to those of lighter ones.

It is 1.2 and more for drawn bold letters, and at most 1.18 for another typeface of the same weight.
"""
SEMI_BOLD, SEMI_BOLD_WIDTH, SEMI_BOLD_CONTRAST = 1.1, 1.02, 1.05
"""The least ratios of the stroke widths, line widths and contrasts of slightly bolder letters.

Thicker strokes reach more of their colour. Text of another colour has the same width, and another typeface
seldom differs in all three.
"""
SEMI_BOLD_LETTERS = 0.2
"""The largest residual of slightly bolder letters."""
EVENLY = 0.3
"""The exponent for the least ink ratio of each third of the line: the ratio of the entire line raised to this
power."""
BOLD_WIDTH, BOLD_WIDTH_READ = (0.97, 1.17), (0.95, 1.25)
"""The range of the ratio between the line widths of bolder and lighter letters, and the same range if the
words were read."""
SLANTED = 0.14
"""The least change of the slant of italics, in columns a row."""
SPACED, LEAST_SPACED = 1.018, 2
"""The least ratio and the least difference in pixels between the widths if the letter spacing changed."""
SAME_INK, SAME_ACROSS, SAME_DOWN = 0.015, 0.06, 0.02
"""The largest relative changes of the ink and the height, of the stroke widths along rows, and of those along
columns, if the letter spacing changed."""
SPACED_LETTERS = 0.25
"""The largest residual if the letter spacing changed. Another typeface leaves more, or another height."""
FEWEST_PIECES, SAME_GAP = 3, 1
"""The least number of pieces of a line of which one can have moved, and the largest change of all other gaps
together, in pixels."""
SAME_INKED = 0.08
"""The largest relative change of the number of inked columns, if the letter spacing changed."""
OTHER_FACE = 0.17
"""The least residual of another typeface with the same letters. It is used only if the words were read."""
UNDERLINED, UNBROKEN = 0.7, 1.5
"""The least fraction of the columns that an underline covers, and its least unbroken length in text heights.

Descenders of letters interrupt an underline.
"""
STRUCK = 0.95
"""The least fraction of the columns that a strike-through line covers."""
THICK = 0.16
"""The largest thickness of such a line, as a fraction of the text height. Three pixels are always allowed."""
SHORTEST, SMALLEST, LARGEST = 8, 5, 64
"""The least length, the least height and the largest height of a line of text, in pixels."""


@dataclass(frozen=True)
class TextLine:
    """A line of text without its underline.

    ink         (h, w) the coverage inside the bounding box of the letters
    underlined  whether the text has an underline
    struck      whether the text is struck through
    """

    ink: Floats
    underlined: bool
    struck: bool


@dataclass(frozen=True)
class LineStep:
    """The differences between two lines.

    left_over      the residual at the best alignment, as a fraction of the ink of both lines
    height, width  the ratios of the letter heights and of the line widths; 1 for no change
    area           the ratio of the amounts of ink
    areas          the same ratio for the first, middle and last third of the line
    slant          the change of the slant in columns a row
    inked          the ratio of the numbers of columns with ink
    across, down   the ratios of the mean stroke widths along rows and along columns
    wider          the absolute difference of the widths in pixels
    heights        the heights in pixels, from the highest to the lowest ink, before and after
    one_gap        whether a single gap in the line became wider or narrower, and no other one
    """

    left_over: float
    height: float
    width: float
    area: float
    areas: tuple[float, float, float]
    slant: float
    inked: float
    across: float
    down: float
    wider: int
    heights: tuple[float, float]
    one_gap: bool = False


def read_line(ink: Floats) -> TextLine | None:
    """Return the text line in a part's coverage, or None if it is too small or too large."""
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
    """Return the rows of a horizontal line across most columns, or None if there is none or it is too thick.

    within: the range of rows that is searched.
    least: the least fraction of the columns that the line covers.
    unbroken: the least length of its longest unbroken part.
    """
    covered = ink.mean(axis=1)
    rows = np.flatnonzero(covered[within[0] : within[1]] >= least) + within[0]
    if not len(rows) or rows[-1] - rows[0] + 1 > thick:
        return None
    gaps = np.flatnonzero(ink[rows].max(axis=0) < INKED)
    if np.diff(np.r_[-1, gaps, ink.shape[1]]).max() - 1 < unbroken:
        return None
    # The soft edges of the line belong to it.
    start, stop = int(rows[0]), int(rows[-1]) + 1
    soft_end = stop < len(covered) and covered[stop] > least / 2
    return slice(start - (covered[start - 1] > least / 2), stop + soft_end)


def compare_lines(one: TextLine, other: TextLine) -> LineStep:
    """Measure the differences between two lines."""
    heights = (_height(one.ink), _height(other.ink))
    return LineStep(
        left_over=_left_over(_columns(one.ink), _columns(other.ink)),
        height=heights[1] / heights[0],
        width=other.ink.shape[1] / one.ink.shape[1],
        area=float(other.ink.sum() / one.ink.sum()),
        areas=_by_thirds(one.ink, other.ink),
        slant=_slant(other.ink) - _slant(one.ink),
        inked=_inked(other.ink) / _inked(one.ink),
        across=_stroke_width(other.ink) / _stroke_width(one.ink),
        down=_stroke_width(other.ink.T) / _stroke_width(one.ink.T),
        wider=abs(other.ink.shape[1] - one.ink.shape[1]),
        heights=heights,
        one_gap=_differs_in_one_gap(one.ink, other.ink),
    )


def type_change(
    one: TextLine, other: TextLine, same_words: bool = False, contrast: float = 1.0
) -> Finding | None:
    """Return the style change of a line of the same text, or None if the text may differ or nothing is
    certain.

    same_words: whether both lines were read and have the same words.
    contrast: the ratio between the contrasts of both lines with their backgrounds.
    """
    return change_by_step(one, other, compare_lines(one, other), same_words, contrast)


def change_by_step(
    one: TextLine, other: TextLine, step: LineStep, same_words: bool = False, contrast: float = 1.0
) -> Finding | None:
    """Return the same as ``type_change`` for two lines that were already compared."""
    if one.underlined != other.underlined:
        if step.left_over < CUT_LETTERS and UNDERLINED_WIDTH[0] < step.width < UNDERLINED_WIDTH[1]:
            return Finding("restyled", "decoration", 0.8, {"on_after": other.underlined})
        return None
    if one.struck != other.struck and step.left_over < SAME_LETTERS:
        return Finding("restyled", "struck", 0.7, {"on_after": other.struck})
    if step.left_over >= SAME_LETTERS and not same_words:
        return None
    return attribute_of(step, same_words, contrast)


def attribute_of(step: LineStep, same_words: bool, contrast: float = 1.0) -> Finding | None:
    """Return the style attribute that explains the differences between two lines, or None.

    contrast: the ratio between the contrasts of both lines with their backgrounds.
    """
    grown = step.heights[1] - step.heights[0]
    one_size = abs(step.height - 1) <= ONE_SIZE or abs(grown) <= ONE_STEP
    if _is_spaced(step):
        return Finding(
            "restyled", "letter spacing", 0.6, {"amount_before": 1.0, "amount_after": round(step.width, 3)}
        )
    same_ink = ALIKE_INK[0] < step.area / (step.height * step.width) < ALIKE_INK[1]
    if abs(step.slant) >= SLANTED and one_size and same_ink:
        return Finding("restyled", "slant", 0.7, {"on_after": step.slant > 0})
    if same_ink and _is_scaled(step):
        amounts = {"amount_before": round(step.heights[0], 1), "amount_after": round(step.heights[1], 1)}
        return Finding("resized", "text size", 0.7, {**amounts, "factor": round(step.height, 3)})
    if one_size and (_is_bolder(step, same_words) or (same_words and _is_semi_bold(step, contrast))):
        # The amounts are relative amounts of ink.
        return Finding("restyled", "weight", 0.7, {"amount_before": 1.0, "amount_after": round(step.area, 2)})
    if same_words and step.left_over >= OTHER_FACE:
        return Finding("restyled", "face", 0.6)
    return None


def _is_spaced(step: LineStep) -> bool:
    """Return whether the letters are the same, and only the distances between them are others."""
    same_letters = (
        not step.one_gap
        and step.left_over <= SPACED_LETTERS
        and max(abs(step.area - 1), abs(step.height - 1)) <= SAME_INK
        and abs(step.across - 1) <= SAME_ACROSS
        and abs(step.down - 1) <= SAME_DOWN
        and abs(step.inked - 1) <= SAME_INKED
    )
    return same_letters and max(step.width, 1 / step.width) >= SPACED and step.wider >= LEAST_SPACED


def _is_scaled(step: LineStep) -> bool:
    """Return whether the letters became larger or smaller, equally in width and height."""
    proportion = step.width / step.height
    least = LEAST_IN_PROPORTION if abs(proportion - 1) <= IN_PROPORTION else LEAST_SIZE
    larger = abs(step.height - 1) >= least and abs(step.heights[1] - step.heights[0]) >= LEAST_STEP
    if min(step.heights) >= LARGE_LETTERS and step.left_over > SAME_SHAPES:
        return False
    alike = ALIKE_WIDTH[0] < proportion < ALIKE_WIDTH[1]
    return larger and alike and (step.height > 1) == (step.width > 1)


def _is_bolder(step: LineStep, same_words: bool) -> bool:
    """Return whether the strokes became thicker or thinner in all parts of the line."""
    thicker = float(np.sqrt(step.across * step.down))
    bolder, width = (thicker, step.width) if thicker > 1 else (1 / thicker, 1 / step.width)
    even = all((area if thicker > 1 else 1 / max(area, 1e-3)) >= bolder**EVENLY for area in step.areas)
    low, high = BOLD_WIDTH_READ if same_words else BOLD_WIDTH
    return BOLDER <= bolder <= BOLDEST and even and low <= width <= high


def _is_semi_bold(step: LineStep, contrast: float) -> bool:
    """Return whether the same letters became slightly thicker, wider and stronger, or all of the opposite."""
    thicker = float(np.sqrt(step.across * step.down))
    ratios = np.array([thicker, step.width, contrast, *step.areas])
    ratios = ratios if thicker > 1 else 1 / np.maximum(ratios, 1e-3)
    bolder, width, stronger, *areas = ratios
    return (
        step.left_over <= SEMI_BOLD_LETTERS
        and bolder >= SEMI_BOLD
        and SEMI_BOLD_WIDTH <= width <= BOLD_WIDTH[1]
        and stronger >= SEMI_BOLD_CONTRAST
        and min(areas) >= bolder**EVENLY
    )


def _height(ink: Floats) -> float:
    """Return the height of a line's ink in rows. Soft rows at both ends count by their coverage."""
    covered = ink.max(axis=1)
    return float(len(covered) - 2 + covered[0] + covered[-1])


def _inked(ink: Floats) -> int:
    """Return the number of columns of a line that have ink."""
    return int(np.count_nonzero((ink >= INKED).any(axis=0)))


def _differs_in_one_gap(one: Floats, other: Floats) -> bool:
    """Return whether only one gap between the pieces of a line has another width: what stands behind it
    moved."""
    pieces = [columns_of_ink(ink, 0) for ink in (one, other)]
    if len(pieces[0]) != len(pieces[1]) or len(pieces[0]) < FEWEST_PIECES:
        return False
    gaps = [np.array([b[0] - a[1] for a, b in pairwise(runs)]) for runs in pieces]
    steps = gaps[1] - gaps[0]
    largest = int(np.abs(steps).argmax())
    others = np.delete(steps, largest)
    return bool(abs(steps[largest]) > SAME_GAP >= abs(others.sum()))


def _stroke_width(ink: Floats) -> float:
    """Return the mean length of the inked runs along the rows of a line, in pixels.

    The beginnings of the runs are the sum of all increases of the coverage.
    """
    begun = np.clip(np.diff(ink, axis=1, prepend=0), 0, None).sum()
    return float(ink.sum() / max(1e-6, begun))


def _by_thirds(one: Floats, other: Floats) -> tuple[float, float, float]:
    """Return the ratio of the amounts of ink for each third of a line."""
    inks = []
    for ink in (one, other):
        ends = np.linspace(0, ink.shape[1], 4).round().astype(int)
        inks.append([float(ink[:, a:b].sum()) for a, b in pairwise(ends)])
    first, second, third = (after / max(before, 1.0) for before, after in zip(*inks, strict=True))
    return first, second, third


def _columns(ink: Floats) -> Floats:
    """Return a line as a sequence of columns with ``ROWS`` values each, slightly blurred: (W, ROWS)."""
    from PIL import Image  # Pillow is imported here because its import is slow.

    height, width = ink.shape
    long = int(np.clip(round(width * ROWS / height), 4, COLUMNS))
    smooth = Image.Resampling.BOX if height >= ROWS else Image.Resampling.BILINEAR
    small = np.asarray(Image.fromarray(np.ascontiguousarray(ink, np.float32)).resize((long, ROWS), smooth))
    padded = np.pad(small, 1)
    rows = (padded[:-2] + 2 * padded[1:-1] + padded[2:]) / 4
    return np.ascontiguousarray(((rows[:, :-2] + 2 * rows[:, 1:-1] + rows[:, 2:]) / 4).T)


def _left_over(one: Floats, other: Floats) -> float:
    """Return the dynamic time warping distance of two lines (N, ROWS) and (M, ROWS).

    The distance is the least sum of differences along an alignment path, as a fraction of the ink of both
    lines. Columns are displaced by at most ``BAND``.
    """
    count, others = len(one), len(other)
    cost = np.abs(one[:, None] - other[None]).sum(axis=2)
    scale = (others - 1) / max(1, count - 1)
    apart = np.abs(np.arange(count)[:, None] * scale - np.arange(others)[None])
    cost[apart > max(6, BAND * max(count, others))] = np.inf
    # Each diagonal depends only on the two diagonals before it, so no Python loop over its entries is needed.
    here = _diagonals(cost)
    further = 2 * here
    # There are no values before the first row, so they are infinite.
    before_last, last, current = np.full((3, count + 1), np.inf)
    last[1] = here[0, 0]
    for diagonal in range(1, count + others - 1):
        np.minimum(last[:-1], last[1:], out=current[1:])
        current[1:] += here[diagonal]
        np.minimum(current[1:], before_last[:-1] + further[diagonal], out=current[1:])
        before_last, last, current = last, current, before_last
    return float(last[-1] / max(1e-6, float(one.sum() + other.sum())))


def _diagonals(cost: Floats) -> Floats:
    """Return the diagonals of (N, M), indexed by row: (N + M - 1, N). Entries outside the matrix are
    infinite."""
    count, others = cost.shape
    skewed = np.full((count, others + count), np.inf, np.float32)
    skewed[:, :others] = cost
    # The rows of the reshaped array are one entry shorter, so each row is shifted by one position.
    return np.ascontiguousarray(skewed.ravel()[:-count].reshape(count, others + count - 1).T)


def _slant(ink: Floats) -> float:
    """Return the slant of a line in columns to the right for each row upwards.

    It is the shear at which the inks of the columns differ most after its removal.
    """
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
