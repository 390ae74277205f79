"""Measurement of changes at the edge of an object: outline, thickness, corners and shadow."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whatchanged import words
from whatchanged.measured.pixels.layers import RGBColor, colors_in, ground_color, usual_color
from whatchanged.measured.pixels.planes import steps_between, steps_from
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box
from whatchanged.measured.rules.kinds import Finding

ALIKE = 10
"""The largest difference, in levels, between two colours that count as the same."""
OUTSIDE, INSIDE = 3, 14
"""The distances in pixels outside and inside the box of an object in which its outline is searched for."""
THICKEST = 8
"""The largest thickness of an outline in pixels."""
SMALLEST = 10
"""The least side of an object in pixels."""
LEAST_SIDES, MOST_SIDES = 2, 0.7
"""The least number of sides that must agree, and the least fraction of the readable sides that must agree."""
CORNERS = 3
"""The number of corners, of four, that must agree."""
SAME_WITHIN = 0.8
"""The least fraction of an object's interior that stays the same if only its outline changed."""
LEAST_INK = 0.005
"""The least fraction of an object's interior that differs from its background if it contains text or a
drawing."""
EVEN = 0.8
"""The least fraction of a part of a line that has the line's colour."""
DASHES = 4
"""The least number of dashes along one side of a dashed outline."""
DASHED = (0.25, 0.85)
"""The least and largest fraction of a dashed line that is drawn."""
LARGEST_CORNER = 40
"""The largest side of a corner in pixels."""
QUARTER = 1 - np.pi / 4
"""The fraction of a square outside the quarter circle that is inscribed in it."""
ROUND = 0.3
"""The largest deviation of the start of a corner, as a fraction of its radius."""
IN_CORNERS = 0.9
"""The least fraction of the differences inside the corners if only the corners changed."""
ROUNDER = 1.0
"""The least change of a radius in pixels."""
FAINTEST, FAINT = 3, 120
"""The least and the largest darkening, in levels, at the darkest pixel of a shadow."""
SHADES = 3
"""The least number of shades in a shadow. A single shade is a line."""
NARROW = 20
"""The largest shorter side, in pixels, of a box that may consist entirely of a shadow at one side of an
object."""
BARE = 0.85
"""The least fraction of a shadow's pixels that show plain background in the other picture."""
FADES = (0.4, 0.3)
"""The least ratios between the darkening of adjacent pixels, for the first and the second step of a fading
shadow."""
SOFT = 0.5
"""The least fraction of the darkest pixels of a shadow that fade like this in some direction."""
HOLLOW = 0.75
"""The largest fraction of the box that a shadow covers. The object with the shadow lies inside or beside
it."""


@dataclass(frozen=True)
class Outline:
    """The outline of an object at one side.

    thick   the thickness in pixels; 0 if there is no outline
    color   the colour of the outline, or of the object if it has no outline
    dashed  whether the outline is dashed
    """

    thick: int
    color: RGBColor
    dashed: bool


def read_outline(pixels: Pixels, box: Box) -> list[Outline | None]:
    """Return the outline at each side of a box: left, top, right, bottom.

    An entry is None if the side is ambiguous.
    """
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
    """Return the part of a side without its corners."""
    corner = max(2, (stop - start) // 4)
    return slice(start + corner, max(start + corner + 1, stop - corner))


def _side(part: Pixels) -> Outline | None:
    """Return the outline in lines (N, M, 3) that run from the outside into an object, or None if they
    disagree."""
    if not part.size:
        return None
    ground = usual_color(part[:, 0])
    usual = np.median(part, axis=0)  # The shape is (M, 3).
    outside = np.abs(usual - ground).max(axis=1) <= ALIKE
    if outside.all():
        return _dashed_side(part, ground)
    start = int(np.argmin(outside))
    line = usual[start]
    # A soft edge is one pixel with a colour between the background and the line.
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
    """Return the dashed outline along a side. It has thickness 0 if nothing is drawn, and is None if the side
    is ambiguous."""
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
    if thick > THICKEST // 2:
        return None
    return Outline(thick, usual_color(part[drawn[:, row], row]), True)


def outline_change(before: Pixels, after: Pixels, box: Box) -> Finding | None:
    """Return how the outline of the object in a box changed: appeared, disappeared, thickness or dashes."""
    if min(box[2] - box[0], box[3] - box[1]) < SMALLEST:
        return None
    sides = [
        (one, other)
        for one, other in zip(
            *(_without_letters(read_outline(one, box)) for one in (before, after)), strict=True
        )
        if one is not None and other is not None
    ]
    if len(sides) < LEAST_SIDES:
        return None
    rim = max(max(one.thick, other.thick) for one, other in sides) + 1
    if not _same_within(before, after, box, rim):
        return None
    for on, pairs in ((True, sides), (False, [(other, one) for one, other in sides])):
        new = [other for one, other in pairs if not one.thick and other.thick]
        if len(new) >= max(LEAST_SIDES, MOST_SIDES * len(sides)):
            if _holds_ink(before, box, rim) != _holds_ink(after, box, rim):
                return None  # the contents appeared or disappeared with their outline
            values = {"on_after": on, "outline_color": words.color_code(new[0].color)}
            return Finding("restyled", "outline", 0.7, values)
    both = [(one, other) for one, other in sides if one.thick and other.thick]
    if len(both) < max(LEAST_SIDES, MOST_SIDES * len(sides)):
        return None
    if all(one.dashed != other.dashed for one, other in both):
        return Finding("restyled", "line style", 0.7, {"on_after": both[0][1].dashed})
    step = float(np.median([other.thick - one.thick for one, other in both]))
    alike = [pair for pair in both if (pair[1].thick - pair[0].thick) * step > 0]
    if abs(step) < 1 or len(alike) < MOST_SIDES * len(both):
        return None
    amounts = (float(np.median([side.thick for side in ends])) for ends in zip(*alike, strict=True))
    return Finding(
        "restyled", "border width", 0.7, dict(zip(("amount_before", "amount_after"), amounts, strict=True))
    )


def _without_letters(sides: Sequence[Outline | None]) -> list[Outline | None]:
    """Return the outline of each side, None where letters near a side look like dashes: where several other
    sides have no outline, that side has none either."""
    bare = [side for side in sides if side is not None and not side.thick]
    if len(bare) < LEAST_SIDES:
        return list(sides)
    return [None if side is not None and side.dashed else side for side in sides]


def _same_within(before: Pixels, after: Pixels, box: Box, rim: int) -> bool:
    """Return whether the interior of an object, within its rim, is the same in both pictures."""
    rows, columns = slice(box[1] + rim, box[3] - rim), slice(box[0] + rim, box[2] - rim)
    steps = steps_between(before[rows, columns], after[rows, columns])
    return steps.size > 0 and bool((steps <= ALIKE).mean() >= SAME_WITHIN)


def _holds_ink(pixels: Pixels, box: Box, rim: int) -> bool:
    """Return whether more than the background is visible within the rim of a box."""
    inside = pixels[box[1] + rim : box[3] - rim, box[0] + rim : box[2] - rim]
    ink = steps_from(usual_color(inside.reshape(-1, 3)), inside) > 3 * ALIKE
    return bool(ink.mean() >= LEAST_INK)


def radius_change(before: Pixels, after: Pixels, box: Box) -> Finding | None:
    """Return how the corner radius of the object in a box changed, or None if that is uncertain."""
    if not _differs_in_corners(before, after, box):
        return None
    one, other = _radius(before, box), _radius(after, box)
    if one is None or other is None or abs(one - other) < ROUNDER:
        return None
    return Finding(
        "restyled", "radius", 0.7, {"amount_before": round(one, 1), "amount_after": round(other, 1)}
    )


def _differs_in_corners(before: Pixels, after: Pixels, box: Box) -> bool:
    """Return whether nearly all differences in a box lie in the squares at its corners."""
    left, top, right, bottom = box
    differs = steps_between(before[top:bottom, left:right], after[top:bottom, left:right]) >= 2 * ALIKE
    height, width = differs.shape
    down, across = (min(LARGEST_CORNER, (side + 1) // 2) for side in (height, width))
    rows, columns = np.zeros(height, bool), np.zeros(width, bool)
    rows[:down] = rows[-down:] = True
    columns[:across] = columns[-across:] = True
    inside = np.count_nonzero(differs & rows[:, None] & columns[None])
    return bool(inside >= IN_CORNERS * max(1, int(np.count_nonzero(differs))))


def _radius(pixels: Pixels, box: Box) -> float | None:
    """Return the corner radius of the object that fills a box, or None if the corners disagree.

    The radius is computed from the area of the background inside the corners.
    """
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
    if len(radii) < CORNERS or np.ptp(sorted(radii)[1:]) > max(1.5, 0.25 * max(radii)):
        return None
    return float(np.median(radii))


def _corner(part: Pixels, ground: RGBColor) -> float | None:
    """Return the radius of a corner at the first row and column, or None if no edge begins beside it."""
    if min(part.shape[:2]) < 4:
        return None
    steps = steps_from(ground, part).astype(np.float32)
    edge = float(np.median(np.concatenate([steps[0, -2:], steps[-2:, 0], steps[-1, -2:]])))
    if edge <= ALIKE:
        return None
    uncovered = 1 - np.clip(steps / edge, 0, 1)
    # The background is counted only up to the outline, because the interior may have the same colour.
    outside = np.minimum.accumulate(uncovered, axis=1)
    radius = float(np.sqrt(outside.sum() / QUARTER))
    along, down = float(outside[0].sum()), float(outside[:, 0].sum())
    # The circle leaves the first row, which is half a pixel deep, at the distance sqrt(r - 1/4) from the end
    # of the corner.
    along, down = (length + np.sqrt(max(0.0, radius - 0.25)) for length in (along, down))
    fits = max(abs(along - radius), abs(down - radius)) <= max(1.5, ROUND * radius)
    return radius if fits and radius <= len(part) + 1 else None


def shadow_change(before: Pixels, after: Pixels, box: Box) -> Finding | None:
    """Return whether a shadow appeared or disappeared in a box.

    A shadow consists of many faint shades where the other picture shows plain background.
    """
    left, top, right, bottom = box
    one, other = before[top:bottom, left:right], after[top:bottom, left:right]
    steps = steps_between(one, other)
    differs = steps >= FAINTEST
    hollow = differs.mean() <= HOLLOW or min(differs.shape) <= NARROW
    if not hollow or not FAINTEST < int(steps.max()) <= FAINT:
        return None
    if not _is_soft(steps):
        return None
    for bare, shaded, on in ((one, other, True), (other, one, False)):
        if _is_shadow(colors_in(bare, differs), colors_in(shaded, differs)):
            return Finding("restyled", "shadow", 0.6, {"on_after": on})
    return None


def _is_soft(steps: NDArray[np.integer]) -> bool:
    """Return whether the strongest differences (h, w) fade over at least two pixels, as in a shadow.

    Strokes and areas end abruptly.
    """
    padded = np.pad(steps.astype(np.float32), 2)
    height, width = steps.shape
    here = padded[2:-2, 2:-2]
    fades = np.zeros(steps.shape, bool)
    for down, across in ((0, 1), (0, -1), (1, 0), (-1, 0)):
        next_one, one_after = (
            padded[2 + k * down : 2 + k * down + height, 2 + k * across : 2 + k * across + width]
            for k in (1, 2)
        )
        fades |= (
            (next_one < here)
            & (next_one >= FADES[0] * here)
            & (one_after < next_one)
            & (one_after >= FADES[1] * next_one)
        )
    return float(fades[steps >= max(FAINTEST, int(steps.max()) / 2)].mean()) >= SOFT


def _is_shadow(bare: NDArray[np.uint8], shaded: NDArray[np.uint8]) -> bool:
    """Return whether pixels (N, 3) of a uniform background became darker in several shades of grey."""
    if len(bare) < 4 * SMALLEST:
        return False
    ground = usual_color(bare)
    if (steps_from(ground, bare) <= FAINTEST).mean() < BARE:
        return False
    darker = bare.astype(np.int16) - shaded
    shades = np.unique(darker.max(axis=1) // 2, return_counts=True)[1]
    several = np.count_nonzero(shades >= 0.04 * len(bare)) >= SHADES
    grey = np.abs(darker.max(axis=1) - darker.min(axis=1)).mean() <= max(4, 0.35 * darker.mean())
    return bool(several and grey and (darker.mean(axis=1) > 0).mean() > BARE)
