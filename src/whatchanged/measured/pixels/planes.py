"""Integer luminance, chroma, differences and blurs of pictures. The results are the same on every machine."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Planes = NDArray[np.int16]
"""(..., H, W): luminance or chroma in units of 1/8 of a grey level. Blurs of it stay within 16 bits."""

Values = NDArray[Any]
"""Planes or masks."""

UNIT = 8
"""One grey level in the units of a plane."""


def steps_between(one: NDArray[np.uint8], other: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the largest difference of a channel at each pixel: (H, W, 3) -> (H, W)."""
    steps = np.maximum(one, other)
    steps -= np.minimum(one, other)
    return largest_channel(steps)


def steps_from(
    color: tuple[int, int, int] | NDArray[np.uint8], pixels: NDArray[np.uint8]
) -> NDArray[np.uint8]:
    """Return the largest difference of a channel between a colour and each pixel: (..., 3) -> (...).

    color: one colour, or several that are broadcast like any other NumPy array.
    """
    levels = np.asarray(color, np.int16)
    planes = [pixels[..., channel].astype(np.int16) for channel in range(3)]
    for channel, plane in enumerate(planes):
        plane -= levels[..., channel]
        np.abs(plane, out=plane)
    return np.asarray(np.maximum(np.maximum(planes[0], planes[1]), planes[2]).astype(np.uint8))


def largest_channel(values: Values) -> Values:
    """Return the largest channel of each pixel: (..., 3) -> (...).

    NumPy's own reduction of so short an axis takes twenty times as long.
    """
    return np.asarray(np.maximum(np.maximum(values[..., 0], values[..., 1]), values[..., 2]))


def luminance(pixels: NDArray[np.integer]) -> Planes:
    """Return the luminance Y = (R + 2 G + B) / 4 in units of 1/8 of a level: (H, W, 3) -> (H, W)."""
    red, green, blue = (pixels[..., channel].astype(np.int16) for channel in range(3))
    red += blue
    green <<= 1
    red += green
    red <<= 1
    return red


def luminance_and_chroma(pixels: NDArray[np.uint8]) -> tuple[Planes, Planes, Planes]:
    """Return the luminance and two chroma planes, orange-blue and green-purple: (H, W, 3) -> (H, W) each.

    O = (R - B) / 2 and P = (2 G - R - B) / 4, each in units of 1/8 of a level.
    """
    red, green, blue = (pixels[..., channel].astype(np.int16) for channel in range(3))
    orange = red - blue
    orange <<= 2
    red += blue
    green <<= 1
    purple = green - red
    purple <<= 1
    red += green
    red <<= 1
    return red, orange, purple


def blurred(planes: Planes, every: int = 1) -> Planes:
    """Return planes after a 5 x 5 binomial blur with a standard deviation of 1, rounded to whole units.

    Border values are repeated.

    every: 2 returns only every second row and column, at a quarter of the work.
    """
    padded = padded_by(planes, 2)
    height, width = planes.shape[-2:]
    rows = _binomial(*(padded[..., k : height + k : every, :] for k in range(5)))
    return _binomial(*(rows[..., k : width + k : every] for k in range(5)))


def halved(planes: Planes) -> Planes:
    """Return every second row and column."""
    return planes[..., ::2, ::2]


def contrast(plane: Planes) -> Planes:
    """Return the local contrast (|right - left| + |below - above|) / 2. Border values are repeated."""
    padded = padded_by(plane, 1)
    across = padded[..., 1:-1, 2:] - padded[..., 1:-1, :-2]
    np.abs(across, out=across)
    down = padded[..., 2:, 1:-1] - padded[..., :-2, 1:-1]
    across += np.abs(down, out=down)
    across >>= 1
    halves: Planes = across
    return halves


def range_near(planes: Planes) -> tuple[Planes, Planes]:
    """Return the minimum and the maximum over the 3 x 3 pixels around each pixel."""
    padded = padded_by(planes, 1)
    return _over_neighbours(padded, np.minimum), _over_neighbours(padded, np.maximum)


def largest_near(planes: Planes) -> Planes:
    """Return the maximum over the 3 x 3 pixels around each pixel."""
    return _over_neighbours(padded_by(planes, 1), np.maximum)


def closed(planes: Planes, radius: int) -> Planes:
    """Return the morphological closing of planes with a square of 2 x radius + 1 pixels.

    Structures that are darker than their surroundings and narrower than the square are filled.
    """
    lightest = _along(_along(planes, -2, radius, np.maximum), -1, radius, np.maximum)
    return _along(_along(lightest, -2, radius, np.minimum), -1, radius, np.minimum)


def padded_by(planes: Planes, width: int) -> Planes:
    """Return the planes padded on all sides by ``width`` pixels that repeat the border."""
    height, length = planes.shape[-2:]
    padded = np.empty((*planes.shape[:-2], height + 2 * width, length + 2 * width), planes.dtype)
    inner = padded[..., width : width + length]
    inner[..., width : width + height, :] = planes
    inner[..., :width, :] = planes[..., :1, :]
    inner[..., width + height :, :] = planes[..., -1:, :]
    padded[..., :width] = inner[..., :1]
    padded[..., width + length :] = inner[..., -1:]
    return padded


def enlarged(mask: NDArray[np.bool_], height: int, width: int) -> NDArray[np.bool_]:
    """Dilate a mask: True wherever a True lies within ``height`` rows and ``width`` columns."""
    return _along(_along(mask, 0, height, np.logical_or), 1, width, np.logical_or)


def _binomial(*shifted: Planes) -> Planes:
    """Return the weighted mean of five planes with the weights 1 4 6 4 1 over 16, rounded."""
    first, second, third, fourth, fifth = shifted
    total = second + fourth
    total += third
    total += total  # NumPy adds faster than it shifts.
    total += third
    total += total  # The total is now 4 x (second + fourth) + 6 x third.
    total += first
    total += fifth
    total += 8
    total >>= 4
    return total


def _over_neighbours(padded: Planes, choose: np.ufunc) -> Planes:
    rows = choose(padded[..., :-2, :], padded[..., 1:-1, :])
    choose(rows, padded[..., 2:, :], out=rows)
    chosen: Planes = choose(rows[..., :-2], rows[..., 1:-1])
    choose(chosen, rows[..., 2:], out=chosen)
    return chosen


def _along(planes: Values, axis: int, radius: int, choose: np.ufunc) -> Values:
    """Return the minimum or the maximum of all values within ``radius`` along an axis.

    The window doubles at each step, so the time grows with the logarithm of the radius.
    """
    length = planes.shape[axis]
    sides = [*planes.shape]
    sides[axis] += 2 * radius
    along, source = np.empty(sides, planes.dtype).swapaxes(axis, 0), planes.swapaxes(axis, 0)
    along[radius : radius + length] = source
    along[:radius], along[radius + length :] = source[:1], source[-1:]
    window, wanted = 1, 2 * radius + 1
    while window < wanted:
        step = min(window, wanted - window)
        along = choose(along[:-step], along[step:])
        window += step
    return along.swapaxes(0, axis)
