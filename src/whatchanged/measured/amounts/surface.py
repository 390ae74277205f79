"""Measurement of a box with content, such as a button, a tag or a card, that took another fill and another
outline at once."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whatchanged import words
from whatchanged.measured.amounts.edge import read_outline
from whatchanged.measured.pixels.boxes import box_of, grown
from whatchanged.measured.pixels.layers import RGBColor, colors_in, far, ground_color, usual_color
from whatchanged.measured.pixels.planes import steps_between, steps_from
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box
from whatchanged.measured.rules.kinds import Finding, ink_overlap

DIFFERS = 6
"""The least difference, in levels, at which a pixel counts as different. Fills of cards differ by little."""
SMALLEST = 14
"""The least side of such a box in pixels. A smaller one holds no text."""
LARGEST = 0.6
"""The largest fraction of the picture. A larger area is its background."""
BORDER = 3
"""The margin in pixels around the differences in which an outline that stayed is searched for."""
SAME_GROUND, OTHER_FILL = 6, 8
"""The largest difference, in levels, between the surroundings in both pictures, and the least difference of a
fill from another one or from the surroundings."""
OTHER_OUTLINE = 24
"""The least difference, in levels, between an outline and the fill beside it, and between two outlines."""
SIDES, MOST_SIDES = 2, 3
"""The least number of sides that must be readable, and the number of those that must show the same outline.
Round ends, as those of a pill, are not readable."""
ALONE = 0.85
"""The least fraction of the pixels around the box that have the colour of its surroundings."""
FAINT_FILL, CLEAR_FILL = 16, 24
"""The least differences, in levels, from the surroundings of a fill with another colour name, and of one with
the same name. A fainter one counts as none."""
RIM = 4
"""The distance in pixels from the sides of the box at which its content begins."""
INK, LEAST_INK = 0.4, 12
"""The least fraction of the largest difference from the fill at which a pixel is content, and the least
number of such pixels."""
LEAST_CONTRAST = 40
"""The least contrast of content in levels."""
SAME_CONTENT = 0.75
"""The least overlap of both contents. Light letters on a dark fill look bolder than dark ones."""
MOST_CONTENT = 0.5
"""The largest fraction of the box that its content covers. What covers more overlaps anything."""


ONE_FACTOR = 0.15
"""The largest relative difference between the factors by which an outline and the content in it faded."""
STRONGEST = 90
"""The percentile of the distances from the fill from which the colour of content is read."""
DARK = 110
"""The mean level of a fill below which fading towards it counts as darkening."""
REFILLED = 0.4
"""The least fraction of the box that has the one fill before and the other one after. Where heavy letters
cover most of a box before and less of it after, only their edges changed so."""


@dataclass(frozen=True)
class Surface:
    """The surface of a box in one picture.

    fill     the most frequent colour inside
    filled   whether this colour clearly differs from the surroundings
    outline  the colour of its outline, or None if it has none that differs clearly from its fill
    faint    whether it has an outline that hardly differs from its fill
    content  (h, w) the pixels inside that differ from the fill
    """

    fill: RGBColor
    filled: bool
    outline: RGBColor | None
    faint: bool
    content: NDArray[np.bool_]


def surface_change(before: Pixels, after: Pixels, box: Box) -> tuple[Finding, Box] | None:
    """Return the change of the fill, the outline or both of the thing in a box, and the box of the thing.

    The result is None if its content is not the same, or if it has none.
    """
    thing = _thing(before, after, box)
    if thing is None or not all(_stands_alone(pixels, thing) for pixels in (before, after)):
        return None
    if far(_ground(before, thing), _ground(after, thing)) > SAME_GROUND:
        return None
    one, other = _read(before, thing), _read(after, thing)
    if one is None or other is None or not (_is_box(one) or _is_box(other)):
        return None
    if min(np.count_nonzero(one.content), np.count_nonzero(other.content)) < LEAST_INK:
        return None
    if max(one.content.mean(), other.content.mean()) > MOST_CONTENT:
        return None
    if ink_overlap(one.content, other.content) < SAME_CONTENT:
        return None
    if far(one.fill, other.fill) > OTHER_FILL and not _is_refilled(
        before, after, thing, one.fill, other.fill
    ):
        return None
    finding = _finding(one, other)
    if finding is not None and finding.aspect == "border":
        finding = _faded(before, after, thing, one, other) or finding
    if finding is None or (finding.aspect == "border" and not _at_one_edge(before, after, thing)):
        return None
    return finding, thing


def _at_one_edge(before: Pixels, after: Pixels, box: Box) -> bool:
    """Return whether something is drawn along the top and the bottom of a box in both pictures.

    An outline around the other one would leave the surroundings there.
    """
    left, top, right, bottom = box
    middle = slice(left + (right - left) // 4, right - (right - left) // 4)
    return all(
        far(usual_color(pixels[row, middle]), _ground(pixels, box)) >= DIFFERS
        for pixels in (before, after)
        for row in (top, bottom - 1)
    )


def _is_refilled(before: Pixels, after: Pixels, box: Box, was: RGBColor, now: RGBColor) -> bool:
    """Return whether the pixels of a fill in a box took another colour."""
    left, top, right, bottom = box
    first = steps_from(was, before[top:bottom, left:right]) <= OTHER_FILL
    second = steps_from(now, after[top:bottom, left:right]) <= OTHER_FILL
    return bool((first & second).mean() >= REFILLED)


def _is_box(surface: Surface) -> bool:
    """Return whether a surface stands out from its surroundings."""
    return surface.filled or surface.faint or surface.outline is not None


def _thing(before: Pixels, after: Pixels, box: Box) -> Box | None:
    """Return the box of the differences in a box and around it, with an outline that is in both pictures."""
    size = (after.shape[1], after.shape[0])
    left, top, right, bottom = around = grown(box, BORDER, size)
    differs = steps_between(before[top:bottom, left:right], after[top:bottom, left:right]) >= DIFFERS
    thing = box_of(differs, left, top)
    if thing is None or any(one == other for one, other in zip(thing, around, strict=True)):
        return None
    width, height = thing[2] - thing[0], thing[3] - thing[1]
    if min(width, height) < SMALLEST or width * height > LARGEST * size[0] * size[1]:
        return None
    return thing


def _ground(pixels: Pixels, box: Box) -> RGBColor:
    """Return the colour around a box and an outline beside it."""
    return ground_color(pixels, grown(box, BORDER, (pixels.shape[1], pixels.shape[0])))


def _stands_alone(pixels: Pixels, box: Box) -> bool:
    """Return whether a box is surrounded by one colour. The cells of a table or of a heat map are not."""
    left, top, right, bottom = box
    outer = grown(box, BORDER + 2, (pixels.shape[1], pixels.shape[0]))
    around = pixels[outer[1] : outer[3], outer[0] : outer[2]]
    ring = np.ones(around.shape[:2], bool)
    ring[
        max(0, top - BORDER - outer[1]) : bottom + BORDER - outer[1],
        max(0, left - BORDER - outer[0]) : right + BORDER - outer[0],
    ] = False
    if not ring.any():
        return False
    return bool((steps_from(_ground(pixels, box), colors_in(around, ring)) <= SAME_GROUND).mean() >= ALONE)


def _read(pixels: Pixels, box: Box) -> Surface | None:
    """Return the surface of a box, or None if its sides disagree."""
    part = pixels[box[1] + RIM : box[3] - RIM, box[0] + RIM : box[2] - RIM]
    fill = usual_color(part.reshape(-1, 3))
    ground = _ground(pixels, box)
    step = far(fill, ground)
    filled = step >= CLEAR_FILL or (step >= FAINT_FILL and words.color_name(fill) != words.color_name(ground))
    sides = [side for side in read_outline(pixels, box) if side is not None]
    lines = [side for side in sides if 0 < side.thick <= RIM]
    drawn = [side for side in lines if far(side.color, fill) >= OTHER_OUTLINE]
    if len(sides) < SIDES or 0 < len(drawn) < min(len(sides), MOST_SIDES):
        return None
    color = drawn[0].color if drawn else None
    if color is not None and any(far(side.color, color) > OTHER_OUTLINE for side in drawn):
        return None
    steps = steps_from(fill, part)
    content = steps > max(LEAST_CONTRAST, INK * int(steps.max()))
    return Surface(fill, filled, color, len(lines) > len(drawn), content)


def _finding(one: Surface, other: Surface) -> Finding | None:
    """Return the change of the fill, of the outline or of both, or None if neither changed."""
    fills = far(one.fill, other.fill) > OTHER_FILL
    lines = one.outline, other.outline
    unsure = one.faint or other.faint
    new_line = not unsure and _outlines_differ(*lines)
    renamed = words.color_name(one.fill) != words.color_name(other.fill)
    alone = lines == (None, None) or (one.filled == other.filled and (one.filled or renamed))
    if fills and not new_line and alone and (one.filled or other.filled or renamed):
        values = {"color_before": words.color_code(one.fill), "color_after": words.color_code(other.fill)}
        return Finding("recolored", "fill", 0.75, values)
    if not fills or not (one.filled or other.filled):
        return _outline(*lines) if new_line else None
    return Finding("recolored", "surface", 0.7, _values(one, other))


def _faded(before: Pixels, after: Pixels, box: Box, one: Surface, other: Surface) -> Finding | None:
    """Return that the outline and the content of a box faded towards its fill by the same factor, or the
    other way, or None."""
    if one.outline is None or other.outline is None or far(one.fill, other.fill) > OTHER_FILL:
        return None
    factors = []
    for inks in (
        (one.outline, other.outline),
        tuple(map(_strongest, (before, after), (box,) * 2, (one, other))),
    ):
        steps = [np.array(ink, float) - np.array(one.fill, float) for ink in inks]
        factor = float(steps[0] @ steps[1] / max(1.0, float(steps[0] @ steps[0])))
        if np.abs(steps[1] - factor * steps[0]).max() > OTHER_OUTLINE:
            return None
        factors.append(factor)
    if abs(factors[0] - factors[1]) > ONE_FACTOR * max(factors) or not min(factors) > 0:
        return None
    paler = factors[0] < 1
    left = round(factors[0] if paler else 1 / factors[0], 2)
    dark = float(np.mean(one.fill)) < DARK
    amounts = (1.0, left) if paler else (left, 1.0)
    values = {"amount_before": amounts[0], "amount_after": amounts[1], "towards": "dark" if dark else "light"}
    return Finding("recolored", "opacity", 0.6, values)


def _strongest(pixels: Pixels, box: Box, surface: Surface) -> RGBColor:
    """Return the colour of the content of a box farthest from its fill, as thin letters have it in their
    middle."""
    part = pixels[box[1] + RIM : box[3] - RIM, box[0] + RIM : box[2] - RIM]
    ink = colors_in(part, surface.content)
    steps = steps_from(surface.fill, ink)
    return usual_color(ink[steps >= np.percentile(steps, STRONGEST)])


def _outline(one: RGBColor | None, other: RGBColor | None) -> Finding:
    """Return the change of an outline alone."""
    if one is not None and other is not None:
        codes = {"color_before": words.color_code(one), "color_after": words.color_code(other)}
        return Finding("recolored", "border", 0.6, codes)
    return Finding("restyled", "outline", 0.7, {"on_after": one is None})


def _values(one: Surface, other: Surface) -> dict[str, Any]:
    """Return the colours of the fill and the outline in both pictures.

    The keys ``fill_before``, ``fill_after``, ``outline_before`` and ``outline_after`` hold colours, or None
    where there is no fill or no outline. A fill that does not stand out from the surroundings is none.
    """
    values: dict[str, Any] = {}
    for end, surface in (("before", one), ("after", other)):
        values[f"fill_{end}"] = words.color_code(surface.fill) if surface.filled else None
        values[f"outline_{end}"] = None if surface.outline is None else words.color_code(surface.outline)
    return values


def _outlines_differ(one: RGBColor | None, other: RGBColor | None) -> bool:
    """Return whether an outline appeared, disappeared or took another colour."""
    if one is None or other is None:
        return one is not other
    return far(one, other) >= OTHER_OUTLINE
