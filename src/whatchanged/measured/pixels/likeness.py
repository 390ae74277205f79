"""How alike what is drawn at a place is in two pictures, whatever its size.

Words in a larger font stay alike, other words do not.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured.pixels.layers import Layer
from whatchanged.measured.pixels.planes import in_levels, luminance
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box

LIKENESS = 14
"""Numbers that ``likeness`` gives."""
SIDE = 24
"""Pixels of a side of the squares that whole places are shrunk or stretched to."""
GLYPH_SIDE = 10
"""Those of the pieces of ink that letters are."""
MOST = 64
"""Pieces of a place that are compared: the largest ones."""
ALIKE = 0.8
"""From here on two pieces are taken for one and the same letter."""
SLIMMER = 0.5
"""What a piece e times as slim as another loses of its likeness."""
Floats = NDArray[np.float32]
Mask = NDArray[np.bool_]
Numbers = list[float]


def likeness(layers: tuple[Layer, Layer], parts: tuple[Pixels, Pixels]) -> Numbers:
    """LIKENESS numbers of a place: of its layers and its pixels in both pictures.

    The correlation of the places as wholes; whether both have ink; the correlations of the inks and, whatever
    their sign, of the pixels there; and how alike the pieces of ink are.
    """
    one, other = (in_levels(luminance(part)) for part in parts)
    whole = correlation(resized(one, SIDE), resized(other, SIDE))
    was, now = layers[0].ink_box, layers[1].ink_box
    if was is None or now is None:
        return [whole, *[0.0] * (LIKENESS - 1)]
    ink, light = _inked(layers[0].ink, one, was)
    other_ink, other_light = _inked(layers[1].ink, other, now)
    return [
        whole,
        1.0,
        correlation(resized(ink, SIDE), resized(other_ink, SIDE)),
        abs(correlation(resized(light, SIDE), resized(other_light, SIDE))),
        *_alike(read_glyphs(layers[0].ink), read_glyphs(layers[1].ink)),
    ]


def resized(plane: NDArray[np.floating] | Mask, side: int) -> Floats:
    """A plane as a square of so many pixels."""
    from PIL import Image  # slow to import

    smooth = Image.Resampling.BOX if min(plane.shape) >= side else Image.Resampling.BILINEAR
    image = Image.fromarray(np.ascontiguousarray(plane, np.float32))
    return np.asarray(image.resize((side, side), smooth), np.float32)


def correlation(one: Floats, other: Floats) -> float:
    """Of two planes of one size; 0 where one of them is even."""
    one, other = one - one.mean(), other - other.mean()
    size = math.sqrt(float((one * one).sum() * (other * other).sum()))
    return float((one * other).sum()) / size if size > 1e-6 else 0.0


def _inked(ink: Mask, light: Floats, box: Box) -> tuple[Mask, Floats]:
    """The part of a box that has ink, as ink and as luminance."""
    left, top, right, bottom = box
    return ink[top:bottom, left:right], light[top:bottom, left:right]


@dataclass(frozen=True)
class Glyphs:
    """The pieces of ink, the largest first.

    forms: (G, GLYPH_SIDE ** 2), each of length 1 about its mean. sizes: (G, 2), their heights and widths in
    pixels. inks: (G,), pixels of ink.
    """

    forms: NDArray[np.floating]
    sizes: NDArray[np.float64]
    inks: NDArray[np.float64]


def read_glyphs(ink: Mask) -> Glyphs:
    """The MOST largest pieces of more than two pixels' height or width."""
    from scipy import ndimage  # slow to import

    labels, _ = ndimage.label(ink, np.ones((3, 3)))
    parts = [(number, *part) for number, part in enumerate(ndimage.find_objects(labels), 1)]
    sizes = {
        number: (rows.stop - rows.start, columns.stop - columns.start) for number, rows, columns in parts
    }
    large = [part for part in parts if max(sizes[part[0]]) > 2]
    large.sort(key=lambda part: -math.prod(sizes[part[0]]))
    masks = [labels[rows, columns] == number for number, rows, columns in large[:MOST]]
    return Glyphs(
        np.array([_form(mask) for mask in masks]).reshape(-1, GLYPH_SIDE**2),
        np.array([mask.shape for mask in masks], float).reshape(-1, 2),
        np.array([np.count_nonzero(mask) for mask in masks], float),
    )


def _form(mask: Mask) -> Floats:
    form: Floats = resized(mask, GLYPH_SIDE).ravel()
    form = form - form.mean()
    length = np.linalg.norm(form)
    if length > 1e-6:
        form /= length
    return form


def _alike(one: Glyphs, other: Glyphs) -> Numbers:
    """How alike each piece's likest one in the other picture is, and by how much such pairs grew: 10.

    The mean and the tenth percentile of both directions, the shares of pieces that have their like; of the
    pairs that are alike the median growth of heights, widths and thickness, and the largest of heights.
    """
    if not len(one.forms) or not len(other.forms):
        return [0.0] * 10
    slim = [np.log(glyphs.sizes[:, 0] / glyphs.sizes[:, 1]) for glyphs in (one, other)]
    alike = one.forms @ other.forms.T - SLIMMER * np.abs(slim[0][:, None] - slim[1])  # (G, G')
    likest = alike.argmax(axis=1)
    best, best_back = alike.max(axis=1), alike.max(axis=0)
    same = best > ALIKE
    results = [
        best.mean(),
        best_back.mean(),
        np.percentile(best, 10),
        np.percentile(best_back, 10),
        same.mean(),
        (best_back > ALIKE).mean(),
    ]
    if not same.any():
        return [*map(float, results), *[0.0] * 4]
    height, width = (np.log(other.sizes[likest, side] / one.sizes[:, side])[same] for side in (0, 1))
    thick = np.log(np.sqrt(other.inks[likest]) / np.sqrt(one.inks))[same] - 0.5 * (height + width)
    growth = [np.median(height), np.median(width), np.median(thick), np.abs(height).max()]
    return [*map(float, results), *map(float, growth)]
