"""Luminance and chroma of pictures as whole numbers, and their blurs: the same on every machine."""

import numpy as np
from numpy.typing import NDArray

Planes = NDArray[np.int16]
"""(..., H, W) of luminance or chroma, in units of 1/8 of a grey level: blurs of them stay within 16 bits."""

UNIT = 8
"""A difference of one grey level, in units of a plane."""


def luminance(pixels: NDArray[np.uint8]) -> Planes:
    """Y = (R + 2 G + B) / 4 in units of 1/8 of a level: (H, W, 3) -> (H, W)."""
    red, green, blue = (pixels[..., channel].astype(np.int16) for channel in range(3))
    red += blue
    green <<= 1
    red += green
    red <<= 1
    return red


def chroma(pixels: NDArray[np.uint8]) -> Planes:
    """Orange against blue, green against purple: (H, W, 3) -> (2, H, W).

    O = (R - B) / 2, P = (2 G - R - B) / 4, each in units of 1/8 of a level.
    """
    red, green, blue = (pixels[..., channel].astype(np.int16) for channel in range(3))
    return np.stack([(red - blue) << 2, ((green << 1) - red - blue) << 1])


def blurred(planes: Planes) -> Planes:
    """Binomial blur of 5 x 5, standard deviation 1; the border is repeated. Rounded to whole units."""
    padded = padded_by(planes, 2)
    rows = _binomial(
        padded[..., :-4, :],
        padded[..., 1:-3, :],
        padded[..., 2:-2, :],
        padded[..., 3:-1, :],
        padded[..., 4:, :],
    )
    return _binomial(rows[..., :-4], rows[..., 1:-3], rows[..., 2:-2], rows[..., 3:-1], rows[..., 4:])


def halved(planes: Planes) -> Planes:
    """Every second row and column."""
    return planes[..., ::2, ::2]


def contrast(plane: Planes) -> Planes:
    """Size of the local steps: (|right - left| + |below - above|) / 2, the border repeated."""
    padded = padded_by(plane, 1)
    across = np.abs(padded[..., 1:-1, 2:] - padded[..., 1:-1, :-2])
    across += np.abs(padded[..., 2:, 1:-1] - padded[..., :-2, 1:-1])
    across >>= 1
    halves: Planes = across
    return halves


def least_near(planes: Planes) -> Planes:
    """The least of each pixel and its eight neighbours."""
    return _over_neighbours(planes, np.minimum)


def largest_near(planes: Planes) -> Planes:
    """The largest of each pixel and its eight neighbours."""
    return _over_neighbours(planes, np.maximum)


def padded_by(planes: Planes, width: int) -> Planes:
    """The planes with their borders repeated so often."""
    sides = [(0, 0)] * (planes.ndim - 2) + [(width, width)] * 2
    return np.pad(planes, sides, mode="edge")


def enlarged(mask: NDArray[np.bool_], height: int, width: int) -> NDArray[np.bool_]:
    """True wherever a True lies within ``height`` rows and ``width`` columns."""
    return _enlarged_along(_enlarged_along(mask, 0, height), 1, width)


def _binomial(*shifted: Planes) -> Planes:
    """Weights 1 4 6 4 1 over 16, rounded."""
    first, second, third, fourth, fifth = shifted
    total = second + fourth
    total += third
    total <<= 2  # 4 x (second + third + fourth)
    total += third
    total += third
    total += first
    total += fifth
    total += 8
    total >>= 4
    return total


def _over_neighbours(planes: Planes, choose: np.ufunc) -> Planes:
    padded = padded_by(planes, 1)
    rows = choose(choose(padded[..., :-2, :], padded[..., 1:-1, :]), padded[..., 2:, :])
    return np.asarray(choose(choose(rows[..., :-2], rows[..., 1:-1]), rows[..., 2:]))


def _enlarged_along(mask: NDArray[np.bool_], axis: int, radius: int) -> NDArray[np.bool_]:
    """True wherever a True lies within ``radius`` along an axis: windows that double."""
    pad = [(0, 0), (0, 0)]
    pad[axis] = (radius, radius)
    along = np.moveaxis(np.pad(mask, pad), axis, 0)
    window, wanted = 1, 2 * radius + 1
    while window < wanted:
        step = min(window, wanted - window)
        along = along[:-step] | along[step:]
        window += step
    return np.moveaxis(along, 0, axis)
