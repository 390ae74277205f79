"""What became of the colours at a change: another fill behind the same text, or all of them paler at once."""

import numpy as np
from numpy.typing import NDArray

from whatchanged import words
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
    return Finding("recolored", "fill", 0.7, values)


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
    steps = one.astype(np.float32) - np.array(target, np.float32)
    strong = np.abs(steps).max(axis=2) >= STANDS_OUT
    # where the colour goes on: at the edges of letters every shade between two colours occurs
    flat = strong[1:, 1:] & (steps_between(one[1:, 1:], one[:-1, 1:]) <= FLAT)
    flat &= steps_between(one[1:, 1:], one[1:, :-1]) <= FLAT
    if strong.mean() < PLATEAU:
        return None
    several = _several_colors(one[1:, 1:][flat])
    if not several and not _written_on(one, target):
        return None
    steps = steps[strong]
    left = other[strong].astype(np.float32) - np.array(target, np.float32)
    part = float((steps * left).sum() / (steps * steps).sum())
    if not GONE <= part <= PALER:
        return None
    rest = np.abs(left - part * steps).sum() / np.abs(left - steps).sum()
    return part if rest <= (ALL_ALIKE if several else WRITTEN_ALIKE) else None


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
