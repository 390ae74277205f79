"""What became of the colours at a change: another fill behind the same text, or all of them paler at once."""

import numpy as np
from numpy.typing import NDArray

from whatchanged import words
from whatchanged.measured.amounts.coverage import thinned
from whatchanged.measured.pixels.layers import RGBColor, far, ground_color, read_layer, usual_color
from whatchanged.measured.pixels.planes import luminance, steps_between, steps_from
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box
from whatchanged.measured.rules.kinds import Finding

SAME_INK = 0.6
"""Share of both inks together that they have in common where the same is written on another fill."""
LEAST_INK = 12
"""Pixels of ink that make something that is written on a fill."""
OTHER_FILL = 6
"""Levels by which two fills differ at least."""
COVERED = 0.5
"""Share of a part that its fill has at least."""
SAME_GROUND = 6
"""Levels by which the ground of both pictures may differ where what stands on it became paler."""
STANDS_OUT = 20
"""Levels from the ground from which on a pixel tells how much paler it became."""
GONE, PALER = 0.15, 0.93
"""What is left of the steps from the ground at least and at most where something became paler: of less it
is gone."""
FLAT = 4
"""Levels up to which a pixel has the colour of the one beside it."""
FEWEST = 24
"""Such pixels that tell the colours of something at least."""
ALL_ALIKE = 0.15
"""What one part for all pixels may leave unexplained, as a part of all that changed."""
WRITTEN_ALIKE = 0.07
"""The same where one of two colours is that of thin letters."""
PLATEAU = 0.03
"""Share of the pixels that one of its colours has at least."""
FRINGED, BALANCED = 0.25, 0.35
"""Share of the ink that has a tint where letters have coloured fringes, and by how much of both warm and cold
tints may differ."""
DARKEST = 97
"""Percentile of how far ink is from the ground that tells its own colour."""
VEIL = 0.25
"""Share of the picture that a black veil lies over at least."""
DARK = 110
"""Luminance below which what goes towards the ground becomes darker."""


def fill_change(before: Pixels, after: Pixels, box: Box) -> Finding | None:
    """Another fill behind the same ink; None where the ink is not the same, or there is none."""
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
    """The colour of letters that are drawn by sub-pixels, red at one edge and blue at the other; None where
    the ink of a box has no such fringes.

    Its fringes cancel each other out: the ink's way from the ground is that of all its pixels together.
    """
    left, top, right, bottom = box
    part = pixels[top:bottom, left:right].astype(np.float32)
    ground = np.array(usual_color(pixels[top:bottom, left:right].reshape(-1, 3)), np.float32)
    steps = part - ground
    inked = np.abs(steps).max(axis=2) >= STANDS_OUT
    if np.count_nonzero(inked) < FEWEST:
        return None
    steps = steps[inked]
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
    """Whether all that is in a box, of several colours, went towards one colour by one part, or came from
    there.

    That colour is the ground, or the black of a veil over much of the picture. None where one part does not
    explain it.
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
    """The part that is left of the steps from a colour, the same for all pixels of several colours; else
    None."""
    every = thinned(one.shape)
    steps = one[::every, ::every].astype(np.float32) - np.array(target, np.float32)
    strong = np.abs(steps).max(axis=2) >= STANDS_OUT
    if strong.mean() < PLATEAU:
        return None
    steps = steps[strong]
    left = other[::every, ::every][strong].astype(np.float32) - np.array(target, np.float32)
    part = float((steps * left).sum() / (steps * steps).sum())
    if not GONE <= part <= PALER:
        return None
    rest = float(np.abs(left - part * steps).sum() / np.abs(left - steps).sum())
    if rest > ALL_ALIKE:
        return None
    several = _several_colors(_flat(one, target))
    return part if several or (rest <= WRITTEN_ALIKE and _written_on(one, target)) else None


def _flat(part: Pixels, target: RGBColor) -> NDArray[np.uint8]:
    """The pixels (N, 3) whose colour goes on beside and above them, and is far from another one: at the
    edges of letters every shade between two colours occurs."""
    flat = steps_from(target, part[1:, 1:]) >= STANDS_OUT
    flat &= steps_between(part[1:, 1:], part[:-1, 1:]) <= FLAT
    flat &= steps_between(part[1:, 1:], part[1:, :-1]) <= FLAT
    return np.asarray(part[1:, 1:][flat])


def _written_on(part: Pixels, target: RGBColor) -> bool:
    """Whether something is written on a fill of another colour than the one that it may fade to."""
    fill = usual_color(part.reshape(-1, 3))
    if far(fill, target) < STANDS_OUT:
        return False
    ink = steps_from(fill, part) > 3 * STANDS_OUT
    return bool(LEAST_INK <= np.count_nonzero(ink) < ink.size / 2)


def _several_colors(pixels: NDArray[np.uint8]) -> bool:
    """Whether pixels (N, 3) have at least two colours that are clearly apart: of one nobody knows whether
    it is paler or another one."""
    if len(pixels) < FEWEST:
        return False
    keys = (pixels >> 4).astype(np.int32) @ np.array([256, 16, 1])
    counts = np.bincount(keys)
    usual = np.flatnonzero(counts >= PLATEAU * len(pixels))
    levels = np.stack([usual >> 8, (usual >> 4) & 15, usual & 15], axis=1) << 4
    return len(levels) > 1 and int(np.abs(levels - levels[counts[usual].argmax()]).max()) > 2 * STANDS_OUT
