"""Measurement of a veil: a transparent layer over a whole picture, perhaps with a dialog on it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured.amounts.content import LOWEST_DIALOG
from whatchanged.measured.amounts.coverage import Floats
from whatchanged.measured.pixels.boxes import area, box_of
from whatchanged.measured.pixels.layers import colors_in, usual_color
from whatchanged.measured.pixels.planes import enlarged, steps_between, steps_from
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box
from whatchanged.measured.rules.detected import DetectedChange
from whatchanged.measured.rules.kinds import AMOUNTS, Finding

MOST_PIXELS = 200_000
"""The approximate number of pixels from which the veil is measured."""
COLORS = 6
"""The number of frequent colours from which the veil is measured."""
ONE_COLOR = 4
"""The largest difference, in levels, from a frequent colour at which a pixel has it."""
SAME = 0.5
"""The least fraction of a frequent colour's pixels that turned to one colour. A dialog hides the others."""
CONTRAST = 60
"""The least difference, in levels, between two colours from which the veil is computed."""
THROUGH = (0.2, 0.92)
"""The least and largest fraction of the picture's contrast that is visible through the veil."""
EXPLAINED, FIT = 6, 0.4
"""The largest deviation of an explained pixel in levels, and the least fraction of the picture's pixels that
are explained."""
COLORED = (-12, 267)
"""The range of the levels of the veil's colour, with a tolerance for rounding."""
DIFFERS = 12
"""The least step, in levels, of the most frequent colour. With a smaller one the picture stayed as it was."""
SPECKS = 2
"""The width in pixels of the unexplained edges that are ignored."""
DIALOG = (0.02, 0.7)
"""The least and largest fraction of the picture that a dialog covers."""
SEVERAL = 3
"""The least number of colours that must show the veil where it has no dialog. Two colours alone may also be a
new background behind the same text."""
LEAST_NEW = 0.02
"""The least fraction of the dialog's pixels that differ from the picture without it."""
SOLID = 0.5
"""The least fraction of the dialog's box that the veil does not explain. The rest has colours of the veil by
chance."""
OUTSIDE = 0.05
"""The largest fraction of the unexplained pixels that lie outside of the largest unexplained part."""
VEILED = 0.5
"""The least fraction of the picture that differs where a veil came or went."""


@dataclass(frozen=True)
class Veil:
    """A veil over a picture.

    through  the fraction of the contrast that is visible through it
    dark     whether it made the picture darker
    dialog   the box of what it does not cover and what the picture without it does not show, or None
    """

    through: float
    dark: bool
    dialog: Box | None


def find_veil(bare: Pixels, veiled: Pixels) -> Veil | None:
    """Return the veil that turns one picture into the other one, or None.

    The colours of all pixels outside of the dialog are the same mixture of their colours without the veil and
    of the veil's colour.
    """
    if bare.shape != veiled.shape:
        return None
    pairs = _steps(bare, veiled)
    if len(pairs) < 2:
        return None
    was, now = (np.array(side, np.float32) for side in zip(*pairs, strict=True))
    spread = np.abs(was[:, None] - was[None]).max(axis=2)
    if spread.max() < CONTRAST or np.abs(was[0] - now[0]).max() < DIFFERS:
        return None
    one, other = np.unravel_index(int(spread.argmax()), spread.shape)
    way = was[one] - was[other]
    through = float(((now[one] - now[other]) * way).sum() / (way * way).sum())
    rest = now[one] - through * was[one]
    if not THROUGH[0] <= through <= THROUGH[1]:
        return None
    color = rest / (1 - through)
    if color.min() < COLORED[0] or color.max() > COLORED[1]:
        return None
    unexplained = _unexplained(bare, veiled, through, rest)
    if unexplained.mean() > 1 - FIT:
        return None
    dialog = _dialog(unexplained)
    if dialog is None:
        fits = (np.abs(now - (through * was + rest)) <= EXPLAINED).all(axis=1)
        if len(pairs) < SEVERAL or not fits.all() or _opened(unexplained).any():
            return None
    elif _differing(bare, veiled, dialog) < LEAST_NEW:
        return None  # It stayed as it was while everything around it took other colours.
    return Veil(round(through, 2), bool(now[0].sum() < was[0].sum()), dialog)


def _differing(bare: Pixels, veiled: Pixels, box: Box) -> float:
    """Return the fraction of the pixels of a box that differ."""
    left, top, right, bottom = box
    return float(
        (steps_between(bare[top:bottom, left:right], veiled[top:bottom, left:right]) > EXPLAINED).mean()
    )


def _steps(bare: Pixels, veiled: Pixels) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Return the most frequent colours of a picture, and to which colours most of their pixels turned."""
    every = max(1, int(np.sqrt(bare.shape[0] * bare.shape[1] / MOST_PIXELS)))
    was, now = (picture[::every, ::every].reshape(-1, 3) for picture in (bare, veiled))
    results: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
    for _ in range(COLORS):
        if not len(was):
            break
        color = usual_color(was)
        steps = steps_from(color, was)
        there, left = steps <= ONE_COLOR, steps > 2 * ONE_COLOR
        if there.any():
            shown = colors_in(now, there)
            turned = usual_color(shown)
            if (steps_from(turned, shown) <= ONE_COLOR).mean() >= SAME:
                results.append((color, turned))
        was, now = colors_in(was, left), colors_in(now, left)
    return results


def _unexplained(bare: Pixels, veiled: Pixels, through: float, rest: Floats) -> NDArray[np.bool_]:
    """Return a mask of the pixels whose colour is not the mixture that the veil makes."""
    deviation = np.zeros(bare.shape[:2], np.float32)
    for channel in range(3):
        mixed = through * bare[..., channel].astype(np.float32) + float(rest[channel])
        np.maximum(deviation, np.abs(veiled[..., channel] - mixed), out=deviation)
    return np.asarray(deviation > EXPLAINED)


def _opened(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return a mask without its thin parts."""
    return enlarged(~enlarged(~mask, SPECKS, SPECKS), SPECKS, SPECKS)


def _dialog(unexplained: NDArray[np.bool_]) -> Box | None:
    """Return the box of the only large part that the veil does not explain, or None."""
    from scipy import ndimage  # SciPy is imported here because its import is slow.

    solid = _opened(unexplained)
    labels, count = ndimage.label(enlarged(solid, SPECKS, SPECKS), np.ones((3, 3), bool))
    if not count:
        return None
    sizes = np.bincount(labels[solid], minlength=count + 1)
    largest = int(sizes.argmax())
    box = box_of(solid & (labels == largest))
    if box is None or sizes[largest] < (1 - OUTSIDE) * sizes.sum():
        return None
    if box[3] - box[1] < LOWEST_DIALOG:
        return None
    share = area(box) / unexplained.size
    return box if DIALOG[0] <= share <= DIALOG[1] and sizes[largest] >= SOLID * area(box) else None


def veil_change(changes: Sequence[DetectedChange], before: Pixels, after: Pixels) -> DetectedChange | None:
    """Return all changes as a veil over the picture that came or went, perhaps with a dialog, or None."""
    whole = before.shape[0] * before.shape[1]
    if not changes or sum(one.pixels for one in changes) < VEILED * whole:
        return None
    everything: Box = (0, 0, before.shape[1], before.shape[0])
    for bare, veiled, came in ((before, after, True), (after, before, False)):
        veil = find_veil(bare, veiled)
        if veil is None:
            continue
        if veil.dialog is not None:
            finding = Finding("added" if came else "removed", "dialog", 0.7, {"veil": veil.dark})
            was, now = (None, veil.dialog) if came else (veil.dialog, None)
            return DetectedChange(finding, was, now, area(veil.dialog), element="dialog")
        amounts = dict(zip(AMOUNTS, (1.0, veil.through) if came else (veil.through, 1.0), strict=True))
        finding = Finding(
            "recolored", "opacity", 0.6, {**amounts, "towards": "dark" if veil.dark else "light"}
        )
        return DetectedChange(finding, everything, everything, whole, look="picture")
    return None
