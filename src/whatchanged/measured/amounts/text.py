"""Measurement of text at a change: its lines in both pictures, and how lines of the same text changed."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from whatchanged import words
from whatchanged.measured.amounts.coverage import (
    INKED,
    Coverage,
    columns_of_ink,
    ink_box,
    read_coverage,
    rows_of_ink,
    unexplained,
)
from whatchanged.measured.amounts.type import (
    SLANTED,
    LineStep,
    TextLine,
    change_by_step,
    compare_lines,
    read_line,
)
from whatchanged.measured.pixels.boxes import area, grown, lies_in
from whatchanged.measured.pixels.layers import far
from whatchanged.measured.pixels.planes import enlarged, steps_between, steps_from
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box
from whatchanged.measured.rules.detected import DetectedChange
from whatchanged.measured.rules.kinds import TEXT_HEIGHT, Finding

DIFFERS = 24
"""The least difference, in levels, at which a pixel counts as different."""
JOINED = (1, 7)
"""The numbers of rows and columns over which differences are joined to one line of text."""
MOST_LINES = 6
"""The number of lines that are examined, starting with the largest."""
ROOM = 2
"""The margin in pixels around the differences that is examined too."""
UNEXPLAINED = 0.4
"""The largest residual that background and ink leave unexplained, as a fraction of the ink. Text of one
colour has less."""
PIECES = 3
"""The least number of letters, or other separate pieces, in a text."""
INK_SHARE = (0.02, 0.6)
"""The least and largest fraction of a line's box that is ink."""
MOST_OF_THEM = 0.6
"""The least fraction of the differing pixels in lines that changed in the same way."""
UPRIGHT = 2.2
"""The least ratio of height to width of vertical text."""
SURELY_BOLDER = 1.4
"""The least ratio of the ink of bolder letters, if the rules classified the text as another one."""
SAME = 0.09
"""The largest residual of a line that only changed its position or its colour."""
SAME_COLOR = 12
"""The largest difference, in levels, between two ink colours that count as the same."""
PALER = 80
"""The largest difference, in levels, between the colours of bolder and lighter letters. Thin letters seldom
reach their full colour."""
THICKEST, LONG = 4, 5
"""The largest thickness of an underline in pixels, and its least ratio of length to thickness."""
HIGHEST, NEAR_TEXT = 32, 8
"""The distance in pixels above an underline in which its text is searched for, and the largest gap between
both."""
HALF = 0.4
"""The least fraction of the underline's columns that has text above it."""
OTHER_LETTERS, OTHER_HEIGHT = 0.45, 1.3
"""The least residual of a line of other text, and the largest ratio between its heights."""
FARTHEST = 60
"""The largest movement, in pixels, of a line of text within a change."""


def text_change(before: Pixels, after: Pixels, change: DetectedChange) -> DetectedChange | None:
    """Return how the text at a change changed, or None if it is not text or nothing is certain.

    Text with the same content and style has moved, or has another colour.
    """
    box = change.box_after or change.box_before
    upright = box is not None and _is_upright(box)
    lines = _line_boxes(before, after, change, upright)
    total = sum(pixels for _, _, pixels in lines[:MOST_LINES])
    weights: dict[tuple[object, str], int] = {}
    pieces: dict[tuple[object, str], int] = {}
    alike: dict[tuple[object, str], list[_LineChange]] = {}
    for was, now, pixels in lines[:MOST_LINES]:
        one = _line_change(before, after, was, now, upright)
        if one is None or one[0] is None:
            continue
        key = one[0].kind, one[0].aspect
        pieces[key] = pieces.get(key, 0) + one[3]
        weights[key] = weights.get(key, 0) + pixels
        alike.setdefault(key, []).append(one)
    best = max(weights, key=lambda key: weights[key], default=None)
    if best is None or weights[best] < MOST_OF_THEM * total or pieces[best] < PIECES:
        return None
    finding, was, now, _ = alike[best][0]
    if finding is None or _is_unsure(finding, change.finding):
        return None
    if finding.kind == "moved":
        if any(one[0] != finding for one in alike[best]):
            return None
        if len(lines) == 1:
            return replace(change, finding=finding, box_before=was, box_after=now)
    return replace(change, finding=finding)


def underline_change(before: Pixels, after: Pixels, box: Box) -> tuple[Finding, Box] | None:
    """Return the finding for an underline that appeared or disappeared, and the box of text and underline.

    The result is None if something else differs.
    """
    left, top, right, bottom = box
    height = bottom - top
    if height > THICKEST or right - left < LONG * height or not top:
        return None
    above = slice(max(0, top - HIGHEST), top)
    text = [read_coverage(picture[above, left:right]) for picture in (before, after)]
    if text[0] is None or text[1] is None:
        return None
    rows = rows_of_ink(text[1].ink)
    if not rows or above.start + rows[-1][1] < top - NEAR_TEXT or rows[-1][1] - rows[-1][0] < 2 * height:
        return None
    line = text[1].ink[rows[-1][0] : rows[-1][1]]
    spread = np.flatnonzero((line >= INKED).any(axis=0))
    if len(columns_of_ink(line, 0)) < PIECES or len(spread) < HALF * (right - left):
        return None
    ink = [
        steps_from(covered.ground, picture[top:bottom, left:right]).mean()
        for covered, picture in zip(text, (before, after), strict=True)
        if covered is not None
    ]
    if max(ink) < 2 * min(ink) + DIFFERS / 2:
        return None
    around = (left, above.start + rows[-1][0], right, bottom)
    return Finding("restyled", "decoration", 0.7, {"on_after": bool(ink[1] > ink[0])}), around


def _is_unsure(finding: Finding, rules: Finding) -> bool:
    """Return whether a change of weight is too weak to overrule the rules, which found a different text."""
    if rules.kind not in ("rewritten", "replaced") or finding.aspect != "weight":
        return False
    return _growth(finding) < SURELY_BOLDER


def _line_boxes(
    before: Pixels, after: Pixels, change: DetectedChange, upright: bool
) -> list[tuple[Box, Box, int]]:
    """Return the boxes of differing text lines before and after, and their differing pixels, the largest
    number first."""
    from scipy import ndimage  # SciPy is imported here because its import is slow.

    was, now = change.box_before, change.box_after
    if was is None or now is None or not area(now):
        return []
    if not lies_in(was, before.shape) or not lies_in(now, after.shape):
        return []
    if was != now:
        return [(was, now, area(now))]
    left, top, right, bottom = now
    differs = steps_between(before[top:bottom, left:right], after[top:bottom, left:right]) >= DIFFERS
    labels, count = ndimage.label(enlarged(differs, *JOINED[:: -1 if upright else 1]), np.ones((3, 3), bool))
    pixels = np.bincount(labels[differs], minlength=count + 1)[1:]
    boxes = [
        (left + columns.start, top + rows.start, left + columns.stop, top + rows.stop)
        for rows, columns in ndimage.find_objects(labels)
    ]
    lines = [(box, box, int(number)) for box, number in zip(boxes, pixels, strict=True)]
    return sorted(lines, key=lambda line: (-line[2], line[1]))


_LineChange = tuple[Finding | None, Box, Box, int]
"""The finding for a line, its boxes before and after, and its number of separate pieces."""


def _line_change(before: Pixels, after: Pixels, was: Box, now: Box, upright: bool) -> _LineChange | None:
    """Return how one line of text changed, or None if one of the pictures shows no line."""
    first, second = _covered(before, was), _covered(after, now)
    if first is None or second is None:
        return None
    (one, one_box), (other, other_box) = first, second
    if upright:
        one, other = (replace(each, ink=np.rot90(each.ink, -1)) for each in (one, other))
    rows, others = rows_of_ink(one.ink), rows_of_ink(other.ink)
    if len(rows) != len(others) or len(rows) > MOST_LINES:
        return None
    lines = [
        (read_line(one.ink[a:b]), read_line(other.ink[c:d]))
        for (a, b), (c, d) in zip(rows, others, strict=True)
    ]
    if not lines or any(first is None or second is None for first, second in lines):
        return None
    pairs = [(first, second) for first, second in lines if first is not None and second is not None]
    finding = _of_lines(pairs, one, other, one_box, other_box)
    return finding, one_box, other_box, len(columns_of_ink(other.ink, 0))


def _is_upright(box: Box) -> bool:
    """Return whether a box is so high that text in it runs vertically, like the label of an axis."""
    return box[3] - box[1] > UPRIGHT * (box[2] - box[0])


def _covered(pixels: Pixels, box: Box) -> tuple[Coverage, Box] | None:
    """Return the coverage of a part that may be text of one colour, and the box of its ink in the picture."""
    around = grown(box, ROOM, (pixels.shape[1], pixels.shape[0]))
    part = pixels[around[1] : around[3], around[0] : around[2]]
    covered = read_coverage(part)
    if covered is None:
        return None
    inside = ink_box(covered.ink)
    if inside is None or not INK_SHARE[0] < covered.area / covered.ink.size < INK_SHARE[1]:
        return None
    if unexplained(part, covered) > UNEXPLAINED:
        return None
    left, top = around[:2]
    return covered, (left + inside[0], top + inside[1], left + inside[2], top + inside[3])


def _of_lines(
    lines: Sequence[tuple[TextLine, TextLine]], one: Coverage, other: Coverage, was: Box, now: Box
) -> Finding | None:
    """Return the change that all lines of a part have in common, or None."""
    steps = [compare_lines(*line) for line in lines]
    if all(_is_same(step) for step in steps):
        return _of_same(one, other, was, now)
    if all(_says_otherwise(step) for step in steps):
        return Finding("rewritten", "text", 0.5)
    findings = [change_by_step(*line, step) for line, step in zip(lines, steps, strict=True)]
    first = findings[0]
    if first is None or any(each is None or each.aspect != first.aspect for each in findings):
        return None
    # Thin strokes seldom reach their full colour, so bolder text also looks slightly darker.
    apart = far(one.color, other.color)
    if first.aspect == "weight" and apart > PALER:
        return None
    return first


def _says_otherwise(step: LineStep) -> bool:
    """Return whether a line of about the same height has other letters, independent of their style."""
    one_height = max(step.heights) <= TEXT_HEIGHT and max(step.height, 1 / step.height) <= OTHER_HEIGHT
    return step.left_over >= OTHER_LETTERS and one_height and abs(step.slant) < SLANTED


def _growth(finding: Finding) -> float:
    """Return the ratio of the ink of the bolder letters to that of the lighter ones."""
    area = float(finding.values["amount_after"])
    return max(area, 1 / area)


def _is_same(step: LineStep) -> bool:
    """Return whether a line is the same except for its position and its colour."""
    return (
        step.left_over <= SAME
        and abs(step.height - 1) < 0.06
        and step.wider <= 1
        and abs(step.area - 1) < 0.1
    )


def _of_same(one: Coverage, other: Coverage, was: Box, now: Box) -> Finding | None:
    """Return the change of colour or of position of the same text, or None if both are the same."""
    if far(one.color, other.color) > SAME_COLOR and far(one.ground, other.ground) <= SAME_COLOR:
        values = {"color_before": words.color_code(one.color), "color_after": words.color_code(other.color)}
        return Finding("recolored", "ink", 0.7, values)
    dx, dy = now[0] - was[0], now[1] - was[1]
    if (dx or dy) and max(abs(dx), abs(dy)) <= FARTHEST and far(one.ground, other.ground) <= SAME_COLOR:
        return Finding("moved", "position", 0.7, {"dx": dx, "dy": dy})
    return None
