"""What became of the edge of a thing: its outline, how thick that is, its corners, its shadow."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whatchanged import words
from whatchanged.measured.pixels.layers import RGBColor, ground_color, usual_color
from whatchanged.measured.pixels.planes import steps_between, steps_from
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box
from whatchanged.measured.rules.kinds import Finding

ALIKE = 10
"""Levels up to which two colours are the same."""
OUTSIDE, INSIDE = 3, 14
"""Pixels outside and inside the box of a thing in which its outline is looked for."""
THICKEST = 8
"""Pixels of an outline at most."""
SMALLEST = 10
"""Pixels of the sides of a thing at least."""
SIDES = 3
"""Sides, of four, that must agree."""
SAME_WITHIN = 0.8
"""Share of what a thing holds that is the same where its outline alone changed."""
EVEN = 0.8
"""Share of a stretch of a line that has its colour at least."""
DASHES = 4
"""Dashes of a dashed line along one side at least."""
DASHED = (0.25, 0.85)
"""Share of a dashed line that is drawn."""
LARGEST_CORNER = 40
"""Pixels of a corner's sides at most."""
QUARTER = 1 - np.pi / 4
"""Part of the square around a quarter of a circle that lies outside of it."""
ROUND = 0.3
"""Part of its radius by which a corner may begin earlier or later."""
ROUNDER = 1.0
"""Pixels by which a radius grew or shrank at least."""
FAINTEST, FAINT = 3, 80
"""Levels between which a shadow is darker than its ground, at its darkest."""
SHADES = 3
"""Shades that a shadow has at least: one shade is a line."""
BARE = 0.93
"""Share of a shadow's pixels that are ground where it is not there."""
HOLLOW = 0.75
"""Part of the box that a shadow covers at most: the thing that throws it stands within or beside it."""


@dataclass(frozen=True)
class Outline:
    """The outline of a thing.

    thick   its pixels; 0 where there is none
    color   its colour; that of the thing where there is none
    dashed  whether it is dashed
    """

    thick: int
    color: RGBColor
    dashed: bool


def read_outline(pixels: Pixels, box: Box) -> Outline | None:
    """The outline of the thing that a box stands around; None where its sides do not agree on one."""
    left, top, right, bottom = box
    if min(right - left, bottom - top) < SMALLEST:
        return None
    sides = [side for side in _sides(pixels, box) if side is not None]
    if len(sides) < SIDES:
        return None
    widths = sorted(side.thick for side in sides)
    usual = widths[len(widths) // 2]
    alike = [side for side in sides if side.thick == usual]
    if len(alike) < SIDES:
        return None
    return Outline(usual, alike[0].color, sum(side.dashed for side in alike) >= SIDES)


def _sides(pixels: Pixels, box: Box) -> list[Outline | None]:
    """The outline as each side of a box shows it: left, top, right, bottom."""
    left, top, right, bottom = box
    height, width = pixels.shape[:2]
    deep = min(INSIDE, (min(right - left, bottom - top) + 1) // 2)
    down, across = _middle(top, bottom), _middle(left, right)
    parts = [
        pixels[down, max(0, left - OUTSIDE) : left + deep],
        pixels[max(0, top - OUTSIDE) : top + deep, across].transpose(1, 0, 2),
        pixels[down, right - deep : min(width, right + OUTSIDE)][:, ::-1],
        pixels[bottom - deep : min(height, bottom + OUTSIDE), across].transpose(1, 0, 2)[:, ::-1],
    ]
    return [_side(part) for part in parts]


def _middle(start: int, stop: int) -> slice:
    """The part of a side without its corners."""
    corner = max(2, (stop - start) // 4)
    return slice(start + corner, max(start + corner + 1, stop - corner))


def _side(part: Pixels) -> Outline | None:
    """The outline in lines (N, M, 3) that run from outside a thing into it; None where they disagree."""
    if not part.size:
        return None
    ground = usual_color(part[:, 0])
    usual = np.median(part, axis=0)  # (M, 3)
    outside = np.abs(usual - ground).max(axis=1) <= ALIKE
    if outside.all():
        return _dashed_side(part, ground)
    start = int(np.argmin(outside))
    line = usual[start]
    # a soft edge is one pixel of a colour between both
    if (
        start + 1 < len(usual)
        and np.abs(usual[start + 1] - ground).max() > np.abs(line - ground).max() + ALIKE
    ):
        line = usual[start + 1]
    ends = np.flatnonzero(np.abs(usual[start + 1 :] - line).max(axis=1) > ALIKE)
    red, green, blue = (int(level) for level in line)
    same = np.abs(part[:, start].astype(np.int16) - usual[start]).max(axis=1) <= 2 * ALIKE
    if same.mean() < EVEN:
        return _dashed_side(part, ground)
    thick = int(ends[0]) + 1 if len(ends) else 0
    return Outline(0 if thick > THICKEST else thick, (red, green, blue), False)


def _dashed_side(part: Pixels, ground: RGBColor) -> Outline | None:
    """A dashed line along the side; None where there is none."""
    drawn = steps_from(ground, part) > 2 * ALIKE
    shares = drawn.mean(axis=0)
    rows = np.flatnonzero((shares >= DASHED[0]) & (shares <= DASHED[1]))
    if not len(rows):
        empty = shares.max() < 1 - EVEN
        return Outline(0, ground, False) if empty else None
    row = int(rows[0])
    starts = np.count_nonzero(np.diff(drawn[:, row].astype(np.int8)) == 1)
    if starts < DASHES:
        return None
    thick = int(np.argmin(np.append(shares[row:] >= DASHED[0], False)))
    return Outline(thick, usual_color(part[drawn[:, row], row]), True)


def outline_change(before: Pixels, after: Pixels, box: Box) -> Finding | None:
    """What became of the outline of the thing in a box: it came, went, became thicker or dashed, or another colour."""
    one, other = read_outline(before, box), read_outline(after, box)
    if one is None or other is None or not _same_within(before, after, box, max(one.thick, other.thick) + 1):
        return None
    values = {"amount_before": one.thick, "amount_after": other.thick}
    if bool(one.thick) != bool(other.thick):
        shown = other if other.thick else one
        return Finding(
            "restyled",
            "outline",
            0.7,
            {"on_after": other.thick > 0, "outline_color": words.color_code(shown.color)},
        )
    if not one.thick:
        return None
    if one.dashed != other.dashed:
        return Finding("restyled", "line style", 0.7, {"on_after": other.dashed})
    if one.thick != other.thick:
        return Finding("restyled", "border width", 0.7, values)
    return None


def _same_within(before: Pixels, after: Pixels, box: Box, rim: int) -> bool:
    """Whether what a thing holds within its rim is the same in both pictures."""
    rows, columns = slice(box[1] + rim, box[3] - rim), slice(box[0] + rim, box[2] - rim)
    steps = steps_between(before[rows, columns], after[rows, columns])
    return steps.size > 0 and bool((steps <= ALIKE).mean() >= SAME_WITHIN)


def radius_change(before: Pixels, after: Pixels, box: Box) -> Finding | None:
    """Whether the corners of the thing in a box became rounder or sharper; None where neither is sure."""
    one, other = _radius(before, box), _radius(after, box)
    if one is None or other is None or abs(one - other) < ROUNDER:
        return None
    return Finding(
        "restyled", "radius", 0.7, {"amount_before": round(one, 1), "amount_after": round(other, 1)}
    )


def _radius(pixels: Pixels, box: Box) -> float | None:
    """The radius of the corners of the thing that fills a box, by the ground within the corners; None where the
    corners do not agree."""
    left, top, right, bottom = box
    side = min(LARGEST_CORNER, (right - left) // 2, (bottom - top) // 2)
    if side < 4:
        return None
    ground = ground_color(pixels, box)
    radii = []
    for rows, columns in (
        (slice(top, top + side), slice(left, left + side)),
        (slice(top, top + side), slice(right - side, right)),
        (slice(bottom - side, bottom), slice(left, left + side)),
        (slice(bottom - side, bottom), slice(right - side, right)),
    ):
        part = pixels[rows, columns]
        part = part[:: 1 if rows.start == top else -1, :: 1 if columns.start == left else -1]
        radius = _corner(part, ground)
        if radius is not None:
            radii.append(radius)
    if len(radii) < SIDES or np.ptp(sorted(radii)[1:]) > max(1.5, 0.25 * max(radii)):
        return None
    return float(np.median(radii))


def _corner(part: Pixels, ground: RGBColor) -> float | None:
    """The radius of a corner that lies at the first row and column; None where no edge begins beside it."""
    if min(part.shape[:2]) < 4:
        return None
    steps = steps_from(ground, part).astype(np.float32)
    edge = float(np.median(np.concatenate([steps[0, -2:], steps[-2:, 0]])))
    if edge <= ALIKE:
        return None
    uncovered = 1 - np.clip(steps / edge, 0, 1)
    # ground is counted from the corner on along each row: what is inside an outline may have its colour
    outside = np.minimum.accumulate(uncovered, axis=1)
    radius = float(np.sqrt(outside.sum() / QUARTER))
    along, down = float(outside[0].sum()), float(outside[:, 0].sum())
    # a quarter of a circle begins one radius from the corner on both sides
    fits = max(abs(along - radius), abs(down - radius)) <= max(1.5, ROUND * radius)
    return radius if fits and radius < len(part) - 1 else None


def shadow_change(before: Pixels, after: Pixels, box: Box) -> Finding | None:
    """Whether a shadow came or went in a box: many faint shades on what is plain ground in the other picture."""
    left, top, right, bottom = box
    one, other = before[top:bottom, left:right], after[top:bottom, left:right]
    steps = steps_between(one, other)
    differs = steps >= FAINTEST
    if differs.mean() > HOLLOW or not FAINTEST < int(steps.max()) <= FAINT:
        return None
    for bare, shaded, on in ((one, other, True), (other, one, False)):
        if _is_shadow(bare[differs], shaded[differs]):
            return Finding("restyled", "shadow", 0.6, {"on_after": on})
    return None


def _is_shadow(bare: NDArray[np.uint8], shaded: NDArray[np.uint8]) -> bool:
    """Whether pixels (N, 3) of one ground became darker in several shades of grey."""
    if len(bare) < 4 * SMALLEST:
        return False
    ground = usual_color(bare)
    if (steps_from(ground, bare[:, None])[:, 0] <= FAINTEST).mean() < BARE:
        return False
    darker = bare.astype(np.int16) - shaded
    shades = np.unique(darker.max(axis=1) // 2, return_counts=True)[1]
    several = np.count_nonzero(shades >= 0.04 * len(bare)) >= SHADES
    grey = np.abs(darker.max(axis=1) - darker.min(axis=1)).mean() <= max(4, 0.35 * darker.mean())
    return bool(several and grey and (darker.mean(axis=1) > 0).mean() > BARE)
