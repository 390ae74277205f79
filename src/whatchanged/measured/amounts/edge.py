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
LEAST_SIDES, MOST_SIDES = 2, 0.7
"""Sides that must agree at least, and the part of those that tell anything."""
CORNERS = 3
"""Corners, of four, that must agree."""
SAME_WITHIN = 0.8
"""Share of what a thing holds that is the same where its outline alone changed."""
LEAST_INK = 0.005
"""The share of its pixels that differ from the background if a thing holds text or a drawing."""
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
IN_CORNERS = 0.9
"""Share of what differs that lies in the corners where they alone changed."""
ROUNDER = 1.0
"""Pixels by which a radius grew or shrank at least."""
FAINTEST, FAINT = 3, 120
"""Levels between which a shadow is darker than its ground, at its darkest."""
SHADES = 3
"""Shades that a shadow has at least: one shade is a line."""
NARROW = 20
"""Pixels of the shorter side of a box up to which it may be all shadow: that of one side."""
BARE = 0.85
"""Share of a shadow's pixels that are ground where it is not there."""
FADES = (0.4, 0.3)
"""What is left at least of a shadow's pixel in the next one, and of that one in the one after."""
SOFT = 0.5
"""Share of the darkest pixels of a shadow that fade so in some direction."""
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


def read_outline(pixels: Pixels, box: Box) -> list[Outline | None]:
    """The outline as each side of a box shows it: left, top, right, bottom; None where a side shows
    neither a line nor none."""
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
    if thick > THICKEST // 2:
        return None
    return Outline(thick, usual_color(part[drawn[:, row], row]), True)


def outline_change(before: Pixels, after: Pixels, box: Box) -> Finding | None:
    """What became of the outline of the thing in a box: it came, went, became thicker or dashed."""
    if min(box[2] - box[0], box[3] - box[1]) < SMALLEST:
        return None
    sides = [
        (one, other)
        for one, other in zip(read_outline(before, box), read_outline(after, box), strict=True)
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


def _same_within(before: Pixels, after: Pixels, box: Box, rim: int) -> bool:
    """Whether what a thing holds within its rim is the same in both pictures."""
    rows, columns = slice(box[1] + rim, box[3] - rim), slice(box[0] + rim, box[2] - rim)
    steps = steps_between(before[rows, columns], after[rows, columns])
    return steps.size > 0 and bool((steps <= ALIKE).mean() >= SAME_WITHIN)


def _holds_ink(pixels: Pixels, box: Box, rim: int) -> bool:
    """Return whether more than the background is visible within the rim of a box."""
    inside = pixels[box[1] + rim : box[3] - rim, box[0] + rim : box[2] - rim]
    ink = steps_from(usual_color(inside.reshape(-1, 3)), inside) > 3 * ALIKE
    return bool(ink.mean() >= LEAST_INK)


def radius_change(before: Pixels, after: Pixels, box: Box) -> Finding | None:
    """Whether the corners of the thing in a box became rounder or sharper; None where neither is sure."""
    if not _differs_in_corners(before, after, box):
        return None
    one, other = _radius(before, box), _radius(after, box)
    if one is None or other is None or abs(one - other) < ROUNDER:
        return None
    return Finding(
        "restyled", "radius", 0.7, {"amount_before": round(one, 1), "amount_after": round(other, 1)}
    )


def _differs_in_corners(before: Pixels, after: Pixels, box: Box) -> bool:
    """Whether what differs in a box lies in the squares at its corners, nearly all of it."""
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
    """The radius of the corners of the thing that fills a box, by the ground within the corners; None
    where the corners do not agree."""
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
    """The radius of a corner that lies at the first row and column; None where no edge begins beside it."""
    if min(part.shape[:2]) < 4:
        return None
    steps = steps_from(ground, part).astype(np.float32)
    edge = float(np.median(np.concatenate([steps[0, -2:], steps[-2:, 0], steps[-1, -2:]])))
    if edge <= ALIKE:
        return None
    uncovered = 1 - np.clip(steps / edge, 0, 1)
    # ground is counted from the corner on along each row: what is inside an outline may have its colour
    outside = np.minimum.accumulate(uncovered, axis=1)
    radius = float(np.sqrt(outside.sum() / QUARTER))
    along, down = float(outside[0].sum()), float(outside[:, 0].sum())
    # a circle leaves its first row, half a pixel deep, where it is sqrt(r - 1/4) from the end of the corner
    along, down = (length + np.sqrt(max(0.0, radius - 0.25)) for length in (along, down))
    fits = max(abs(along - radius), abs(down - radius)) <= max(1.5, ROUND * radius)
    return radius if fits and radius <= len(part) + 1 else None


def shadow_change(before: Pixels, after: Pixels, box: Box) -> Finding | None:
    """Whether a shadow came or went in a box: many faint shades on what is plain ground in the other
    picture."""
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
        if _is_shadow(bare[differs], shaded[differs]):
            return Finding("restyled", "shadow", 0.6, {"on_after": on})
    return None


def _is_soft(steps: NDArray[np.integer]) -> bool:
    """Whether the strongest of what differs (h, w) fades over two pixels at least, as a shadow does: strokes
    and areas end at once."""
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
