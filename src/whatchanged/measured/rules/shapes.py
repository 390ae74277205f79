"""How what is drawn at a place differs between two pictures: numbers that no style, colour or font decides.

Most are ratios and shares, so that a place of another design has about the same ones where the same happened.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured.pixels.layers import Layer, RGBColor, read_layer
from whatchanged.measured.pixels.likeness import LIKENESS, likeness
from whatchanged.measured.pixels.planes import enlarged, in_levels, luminance, steps_between
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box
from whatchanged.measured.rules.kinds import is_corners, is_outline

SHAPES = 71 + LIKENESS
"""Numbers that ``shapes`` gives."""
LARGEST = 600
"""Pixels of a side of what is looked at: of a larger place its middle."""
AROUND = 6
"""Pixels around a place in which it is seen whether its neighbours stayed."""
STEP = 12
"""Levels above which two pixels differ."""
EDGE = 6
"""Pixels of the edge of a place, at most a sixth of its shorter side."""
Mask = NDArray[np.bool_]
Steps = NDArray[np.uint8]
Numbers = list[float]


def shapes(before: Pixels, after: Pixels, boxes: tuple[Box, Box]) -> NDArray[np.float32]:
    """SHAPES numbers of a place; its boxes lie in pixels of their own picture."""
    one_box, other_box = (_middle(box, picture) for box, picture in zip(boxes, (before, after), strict=True))
    one, other = read_layer(before, one_box), read_layer(after, other_box)
    was, now = _part(before, one_box), _part(after, other_box)
    size = (max(was.shape[0], now.shape[0]), max(was.shape[1], now.shape[1]))
    inks = (_enclosed(one.ink, size), _enclosed(other.ink, size))
    steps = steps_between(was, now) if was.shape == now.shape else None
    results = [
        *_inks(inks),
        *_ink_boxes(one, other),
        *_pieces(inks),
        *_strokes(one.ink, other.ink),
        *_shift(inks),
        *_colors(one, other),
        *_differences(was, now, steps, inks),
        *_sharpness(was),
        *_sharpness(now),
        *_surroundings(before, after, (one_box, other_box), steps),
        *_geometry(before, after, other_box),
        *_profiles(inks),
        *likeness((one, other), (was, now)),
    ]
    return np.nan_to_num(np.array(results, np.float32))


def _middle(box: Box, picture: Pixels) -> Box:
    """A box inside the picture, at least a pixel large; of a very large one its middle."""
    height, width = picture.shape[:2]
    left, top = min(max(0, box[0]), width - 1), min(max(0, box[1]), height - 1)
    right, bottom = min(max(box[2], left + 1), width), min(max(box[3], top + 1), height)
    if right - left > LARGEST:
        left = (left + right) // 2 - LARGEST // 2
        right = left + LARGEST
    if bottom - top > LARGEST:
        top = (top + bottom) // 2 - LARGEST // 2
        bottom = top + LARGEST
    return left, top, right, bottom


def _part(picture: Pixels, box: Box) -> Pixels:
    left, top, right, bottom = box
    return picture[top:bottom, left:right]


def _enclosed(ink: Mask, size: tuple[int, int]) -> Mask:
    """Ink in the upper left corner of a part of this size."""
    found = np.zeros(size, bool)
    found[: ink.shape[0], : ink.shape[1]] = ink
    return found


def _ratio(one: float, other: float, least: float = 1.0) -> float:
    """How many times as large, as a logarithm; what is small against ``least`` counts little."""
    return math.log((other + least) / (one + least))


def _signed(step: float) -> float:
    return math.copysign(math.log1p(abs(step)) / 8, step)


def _inks(inks: tuple[Mask, Mask]) -> Numbers:
    """How much of each ink lies on the other's, what is only in one, how much more there is: 5."""
    one, other = inks
    was, now = (int(np.count_nonzero(ink)) for ink in inks)
    stayed = int(np.count_nonzero(one & enlarged(other, 1, 1)))
    there_before = int(np.count_nonzero(other & enlarged(one, 1, 1)))
    return [
        stayed / was if was else 0.0,
        there_before / now if now else 0.0,
        (was - stayed) / one.size,
        (now - there_before) / one.size,
        _ratio(was, now, 4.0),
    ]


def _ink_boxes(one: Layer, other: Layer) -> Numbers:
    """Whether there is ink, how far each side of its box went, how much wider and higher it became: 8."""
    was, now = one.ink_box or (0, 0, 0, 0), other.ink_box or (0, 0, 0, 0)
    return [
        float(one.ink_box is not None),
        float(other.ink_box is not None),
        *(_signed(now[side] - was[side]) for side in range(4)),
        _ratio(was[2] - was[0], now[2] - now[0]),
        _ratio(was[3] - was[1], now[3] - now[1]),
    ]


@dataclass(frozen=True)
class _Pieces:
    """Connected pieces of ink: how many, and in pixels their median height and width, the largest height."""

    count: int
    height: float
    width: float
    highest: float


def _read_pieces(ink: Mask) -> _Pieces:
    """Specks of at most two pixels count only where there is nothing else."""
    from scipy import ndimage  # slow to import

    labels, count = ndimage.label(ink, structure=np.ones((3, 3)))
    if not count:
        return _Pieces(0, 0.0, 0.0, 0.0)
    parts = ndimage.find_objects(labels)
    heights = np.array([rows.stop - rows.start for rows, _ in parts])
    widths = np.array([columns.stop - columns.start for _, columns in parts])
    large = (heights > 2) | (widths > 2)
    if large.any():
        heights, widths = heights[large], widths[large]
    return _Pieces(len(heights), float(np.median(heights)), float(np.median(widths)), float(heights.max()))


def _pieces(inks: tuple[Mask, Mask]) -> Numbers:
    """The pieces that letters and shapes are: how many, how large, and how much more or larger: 9."""
    one, other = (_read_pieces(ink) for ink in inks)
    return [
        math.log1p(one.count) / 5,
        math.log1p(other.count) / 5,
        _ratio(one.count, other.count),
        _ratio(one.height, other.height),
        _ratio(one.width, other.width),
        _ratio(one.highest, other.highest),
        math.log1p(one.height) / 5,
        math.log1p(other.height) / 5,
        math.log1p(one.width) / 5,
    ]


def _strokes(one: Mask, other: Mask) -> Numbers:
    """How thick strokes are, and how much thicker they became: 3."""
    was, now = _thickness(one), _thickness(other)
    return [math.log1p(was), math.log1p(now), _ratio(was, now, 0.1)]


def _thickness(ink: Mask) -> float:
    """Pixels of ink for each pixel of its outline."""
    if not ink.any():
        return 0.0
    from scipy import ndimage  # slow to import

    padded = np.pad(ink, 1)
    inner = ndimage.binary_erosion(padded, np.ones((3, 3)))
    count, within = int(np.count_nonzero(padded)), int(np.count_nonzero(inner))
    return count / max(1, count - within)


def _shift(inks: tuple[Mask, Mask]) -> Numbers:
    """The step at which most ink lies on ink, how much that is, how much without a step, and the gain: 5."""
    one, other = inks
    if not one.any() or not other.any():
        return [0.0] * 5
    from scipy import fft  # slow to import

    size = tuple(fft.next_fast_len(2 * side, real=True) for side in one.shape)
    spectra = [fft.rfft2(ink.astype(np.float32), size) for ink in inks]
    shared = np.rint(fft.irfft2(np.conj(spectra[0]) * spectra[1], size))  # pixels of ink on ink, by step
    most = max(1, int(np.count_nonzero(one)), int(np.count_nonzero(other)))
    best = float(shared.max())
    steps = np.argwhere(shared == best)
    steps = np.where(steps < np.array(one.shape), steps, steps - np.array(size))
    dy, dx = steps[np.abs(steps).sum(axis=1).argmin()].tolist()  # of several the shortest
    still = float(shared[0, 0])
    return [_signed(dy), _signed(dx), best / most, still / most, (best - still) / most]


def _colors(one: Layer, other: Layer) -> Numbers:
    """Of fill, ground and ink mean and largest step, how unlike the channels; how vivid the fills are: 11."""
    pairs = ((one.fill, other.fill), (one.ground, other.ground), (one.ink_color, other.ink_color))
    steps = [number for was, now in pairs for number in _color_step(was, now)]
    return [*steps, _vivid(one.fill), _vivid(other.fill)]


def _color_step(one: RGBColor | None, other: RGBColor | None) -> Numbers:
    """A colour's mean step, its largest one, how unlike its channels' steps are; zeros without a colour."""
    if one is None or other is None:
        return [0.0, 0.0, 0.0]
    steps = [b - a for a, b in zip(one, other, strict=True)]
    return [sum(steps) / 765, max(abs(step) for step in steps) / 255, (max(steps) - min(steps)) / 255]


def _vivid(color: RGBColor) -> float:
    return (max(color) - min(color)) / 255


def _differences(was: Pixels, now: Pixels, steps: Steps | None, inks: tuple[Mask, Mask]) -> Numbers:
    """Where in the place pixels differ, on its edge, on ink, and by steps how large and how even: 13.

    Zeros where the parts are of two sizes.
    """
    if steps is None:
        return [0.0] * 13
    visible = steps > STEP
    height, width = visible.shape
    thick = max(2, min(EDGE, min(height, width) // 6))
    edge = np.ones(visible.shape, bool)
    edge[thick:-thick, thick:-thick] = False
    count = max(1, int(np.count_nonzero(visible)))
    one, other = inks
    steps = steps[visible]
    uneven = (now.astype(np.int16) - was)[visible].std(axis=0).mean() if len(steps) else 0.0
    return [
        1.0,
        float(np.count_nonzero(visible) / visible.size),
        float(np.count_nonzero(visible & edge) / count),
        float(np.count_nonzero(edge) / edge.size),
        float(is_outline(visible)),
        float(bool(len(steps)) and is_corners(visible)),
        *(float(np.count_nonzero(visible & ink) / count) for ink in (one | other, one & other, one, other)),
        float(steps.mean() / 255) if len(steps) else 0.0,
        float(steps.std() / 128) if len(steps) else 0.0,
        float(uneven / 128),
    ]


def _sharpness(part: Pixels) -> Numbers:
    """The mean and the strongest steps of luminance from pixel to pixel: 2."""
    if min(part.shape[:2]) < 3:
        return [0.0, 0.0]
    light = in_levels(luminance(part))
    steps = np.abs(np.concatenate([np.diff(light, axis=axis).ravel() for axis in (1, 0)]))
    return [float(steps.mean() / 64), float(np.percentile(steps, 99) / 128)]


def _surroundings(before: Pixels, after: Pixels, boxes: tuple[Box, Box], steps: Steps | None) -> Numbers:
    """Whether what is around it is as large in both pictures, and the share of that which differs: 2."""
    was, now = (_around(picture, box) for picture, box in zip((before, after), boxes, strict=True))
    if was.shape != now.shape:
        return [0.0, 0.0]
    differing = int(np.count_nonzero(steps_between(was, now) > STEP))
    inside = 0 if steps is None else int(np.count_nonzero(steps > STEP))
    left, top, right, bottom = boxes[0]
    rest = was.shape[0] * was.shape[1] - (right - left) * (bottom - top)
    return [1.0, max(0, differing - inside) / max(1, rest)]


def _around(picture: Pixels, box: Box) -> Pixels:
    left, top, right, bottom = box
    return picture[max(0, top - AROUND) : bottom + AROUND, max(0, left - AROUND) : right + AROUND]


def _geometry(before: Pixels, after: Pixels, box: Box) -> Numbers:
    """Which sides of the picture it touches, its size, and how much larger the picture became: 9."""
    left, top, right, bottom = box
    height, width = after.shape[:2]
    return [
        *(float(touches) for touches in (left <= 1, top <= 1, right >= width - 1, bottom >= height - 1)),
        math.log1p(right - left) / 8,
        math.log1p(bottom - top) / 8,
        _ratio(right - left, bottom - top) / 4,
        _signed(width - before.shape[1]),
        _signed(height - before.shape[0]),
    ]


def _profiles(inks: tuple[Mask, Mask]) -> Numbers:
    """How alike the amounts of ink are, column by column and row by row: their correlations, 2."""
    results = []
    for axis in (0, 1):
        one, other = (ink.sum(axis=axis).astype(np.float64) for ink in inks)
        one, other = one - one.mean(), other - other.mean()
        size = math.sqrt(float((one @ one) * (other @ other)))
        results.append(float(one @ other) / size if size else 0.0)
    return results
