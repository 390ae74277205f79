"""Measurement of colour changes: another fill behind the same text, or a fading of all colours."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from whatchanged import words
from whatchanged.measured.amounts.coverage import thinned
from whatchanged.measured.pixels.layers import (
    RGBColor,
    colors_in,
    far,
    ground_color,
    read_layer,
    usual_color,
)
from whatchanged.measured.pixels.planes import luminance, steps_between, steps_from
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box
from whatchanged.measured.rules.detected import DetectedChange
from whatchanged.measured.rules.kinds import SAME_COLOR, Finding

SAME_INK = 0.6
"""The least fraction of the combined ink that both pictures share if the same content is drawn on another
fill."""
LEAST_INK = 12
"""The least number of ink pixels of content on a fill."""
OTHER_FILL = 6
"""The least difference, in levels, between two fills."""
COVERED = 0.5
"""The least fraction of a part that its fill covers."""
SAME_GROUND = 6
"""The largest difference, in levels, between the backgrounds of both pictures if an object faded."""
STANDS_OUT = 20
"""The least difference from the background, in levels, of a pixel that is used to measure the fading."""
GONE, PALER = 0.15, 0.93
"""The least and the largest remaining fraction of the contrast to the background if something faded.

With a smaller fraction the object counts as removed.
"""
FLAT = 4
"""The largest difference, in levels, between neighbouring pixels of the same colour."""
FEWEST = 24
"""The least number of such pixels that determine the colours of an object."""
ALL_ALIKE = 0.15
"""The largest fraction of the change that a common fading factor may leave unexplained."""
WRITTEN_ALIKE = 0.07
"""The same limit if one of the two colours belongs to thin letters."""
PLATEAU = 0.03
"""The least fraction of the pixels that have one of the colours."""
FRINGED, BALANCED = 0.25, 0.35
"""The least fraction of tinted ink in letters with coloured fringes, and the largest imbalance between warm
and cold tints."""
DARKEST = 97
"""The percentile of the ink's distances from the background at which the ink's own colour is read."""
MAIN, OTHER_COLOR = 0.6, 60
"""The least fraction of ink that has its usual colour, and the least difference, in levels, between two inks
of different colours."""
VEIL = 0.25
"""The least fraction of the picture that a black overlay covers."""
DARK = 110
"""The luminance of the target colour below which a fading towards it counts as darkening."""


def ink_step(before: Pixels, after: Pixels, box: Box) -> dict[str, str]:
    """Return the usual colours, before and after, of the ink in a box that differs, or an empty dictionary.

    The keys are those of ``Statement.values``. It is empty if the background differs, if one of the inks has
    no usual colour, or if both have colours of one name.
    """
    left, top, right, bottom = box
    one, other = before[top:bottom, left:right], after[top:bottom, left:right]
    grounds = ground_color(before, box), ground_color(after, box)
    if far(*grounds) > SAME_GROUND:
        return {}
    differs = steps_between(one, other) >= STANDS_OUT
    colors = []
    for ground, part in zip(grounds, (one, other), strict=True):
        ink = colors_in(part, differs & (steps_from(ground, part) >= 2 * STANDS_OUT))
        if len(ink) < FEWEST:
            return {}
        color = usual_color(ink)
        if (steps_from(color, ink) <= 2 * STANDS_OUT).mean() < MAIN:
            return {}
        colors.append(color)
    names = [words.color_name(color).split()[-1] for color in colors]
    if names[0] == names[1] or far(*colors) < OTHER_COLOR:
        return {}
    return {"color_before": words.color_code(colors[0]), "color_after": words.color_code(colors[1])}


def fill_change(before: Pixels, after: Pixels, box: Box) -> Finding | None:
    """Return the change of the fill behind the same ink.

    The result is None if the ink is not the same, or if there is none.
    """
    one, other = read_layer(before, box), read_layer(after, box)
    if far(one.fill, other.fill) < OTHER_FILL or min(one.even, other.even) < COVERED:
        return None
    both, either = (
        int(np.count_nonzero(join(one.ink, other.ink))) for join in (np.logical_and, np.logical_or)
    )
    if both < LEAST_INK or both < SAME_INK * either:
        return None
    values = {"color_before": words.color_code(one.fill), "color_after": words.color_code(other.fill)}
    return Finding("recolored", "fill", 0.75, values)


def fringed_ink(pixels: Pixels, box: Box) -> RGBColor | None:
    """Return the colour of letters with sub-pixel rendering, which are red at one edge and blue at the other.

    The coloured fringes cancel in the sum, so the direction of the ink colour from the background is that of
    all ink pixels together. The result is None if the ink of the box has no such fringes.
    """
    left, top, right, bottom = box
    part = pixels[top:bottom, left:right]
    fill = usual_color(part.reshape(-1, 3))
    ink = colors_in(part, steps_from(fill, part) >= STANDS_OUT)
    if len(ink) < FEWEST:
        return None
    ground = np.array(fill, np.float32)
    steps = ink.astype(np.float32) - ground
    tint = steps[:, 0] - steps[:, 2]
    warm, cold = float(tint[tint > 0].sum()), float(-tint[tint < 0].sum())
    fringes = np.count_nonzero(np.abs(tint) >= STANDS_OUT) / len(tint)
    if fringes < FRINGED or abs(warm - cold) > BALANCED * (warm + cold):
        return None
    way = steps.sum(axis=0)
    way /= float(np.abs(way).max())
    reach = float(np.percentile(steps @ way / float(way @ way), DARKEST))
    red, green, blue = (int(level) for level in np.clip(np.round(ground + reach * way), 0, 255))
    return red, green, blue


def opacity_change(before: Pixels, after: Pixels, box: Box) -> Finding | None:
    """Return the change of opacity of a box: all its colours moved towards, or away from, one colour by a
    common factor.

    That colour is the background, or black if an overlay covers a large part of the picture. The result is
    None if no common factor explains the change.
    """
    left, top, right, bottom = box
    parts = [picture[top:bottom, left:right] for picture in (before, after)]
    grounds = [ground_color(picture, box) for picture in (before, after)]
    targets = [grounds[0]] if far(*grounds) <= SAME_GROUND else []
    if (right - left) * (bottom - top) >= VEIL * before.shape[0] * before.shape[1]:
        targets.append((0, 0, 0))
    for target in targets:
        for one, other, paler in ((parts[0], parts[1], True), (parts[1], parts[0], False)):
            left_over = _part_left(one, other, target)
            if left_over is None:
                continue
            amounts = (1.0, round(left_over, 2)) if paler else (round(left_over, 2), 1.0)
            dark = float(luminance(np.array(target, np.uint8))) / 8 < DARK
            values = {
                "amount_before": amounts[0],
                "amount_after": amounts[1],
                "towards": "dark" if dark else "light",
            }
            return Finding("recolored", "opacity", 0.6, values)
    return None


def _part_left(one: Pixels, other: Pixels, target: RGBColor) -> float | None:
    """Return the factor by which all pixels faded towards ``target``, or None if they have no common factor.

    The factor is the remaining fraction of the contrast to ``target``. The pixels must have several colours,
    or show ink on a fill.
    """
    every = thinned(one.shape)
    strong = steps_from(target, one[::every, ::every]) >= STANDS_OUT
    if strong.mean() < PLATEAU:
        return None
    steps, left = (
        colors_in(part[::every, ::every], strong).astype(np.float32) - np.array(target, np.float32)
        for part in (one, other)
    )
    part = float((steps * left).sum() / (steps * steps).sum())
    if not GONE <= part <= PALER:
        return None
    rest = float(np.abs(left - part * steps).sum() / np.abs(left - steps).sum())
    if rest > ALL_ALIKE:
        return None
    several = _several_colors(_flat(one, target))
    return part if several or (rest <= WRITTEN_ALIKE and _written_on(one, target)) else None


def _flat(part: Pixels, target: RGBColor) -> NDArray[np.uint8]:
    """Return the pixels (N, 3) of uniform areas whose colour clearly differs from ``target``.

    Pixels at the edges of letters are left out, because they have all shades between two colours.
    """
    flat = steps_from(target, part[1:, 1:]) >= STANDS_OUT
    flat &= steps_between(part[1:, 1:], part[:-1, 1:]) <= FLAT
    flat &= steps_between(part[1:, 1:], part[1:, :-1]) <= FLAT
    return colors_in(part[1:, 1:], flat)


def _written_on(part: Pixels, target: RGBColor) -> bool:
    """Return whether there is content on a fill whose colour differs from the colour of the fading."""
    fill = usual_color(part.reshape(-1, 3))
    if far(fill, target) < STANDS_OUT:
        return False
    ink = steps_from(fill, part) > 3 * STANDS_OUT
    return bool(LEAST_INK <= np.count_nonzero(ink) < ink.size / 2)


def _several_colors(pixels: NDArray[np.uint8]) -> bool:
    """Return whether pixels (N, 3) have at least two clearly different colours.

    With one colour, fading cannot be distinguished from recolouring.
    """
    if len(pixels) < FEWEST:
        return False
    keys = (pixels >> 4).astype(np.int32) @ np.array([256, 16, 1])
    counts = np.bincount(keys)
    usual = np.flatnonzero(counts >= PLATEAU * len(pixels))
    levels = np.stack([usual >> 8, (usual >> 4) & 15, usual & 15], axis=1) << 4
    return len(levels) > 1 and int(np.abs(levels - levels[counts[usual].argmax()]).max()) > 2 * STANDS_OUT


def without_fringes(change: DetectedChange, before: Pixels, after: Pixels) -> DetectedChange:
    """Correct the colours of a change of ink colour for the coloured fringes of letters. Ink of the same
    colour was only drawn differently."""
    finding, was, now = change.finding, change.box_before, change.box_after
    if (finding.kind, finding.aspect) != ("recolored", "ink") or was is None or now is None:
        return change
    inks = fringed_ink(before, was), fringed_ink(after, now)
    if inks[0] is not None and inks[1] is not None:
        codes = {"color_before": words.color_code(inks[0]), "color_after": words.color_code(inks[1])}
        finding = replace(finding, values={**finding.values, **codes})
    told = [finding.values.get(name) for name in ("color_before", "color_after")]
    if None not in told and far(*(words.color_of_code(str(code)) for code in told)) <= SAME_COLOR:
        finding = Finding("restyled", "shape", 0.4)
    return replace(change, finding=finding)
