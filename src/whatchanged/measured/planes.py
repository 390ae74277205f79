"""Luminance and chroma of pictures as integers, and their blurs: sums of whole numbers, the same everywhere."""

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured.reading import Pixels

Plane = NDArray[np.int32]
"""(H, W). Units of a plane of colour: 1/32 of a grey level."""

UNIT = 32
"""A difference of one grey level, in units of a plane."""


def opponent(pixels: NDArray[np.integer]) -> tuple[Plane, Plane, Plane]:
    """Luminance, orange against blue, green against purple: of colours, or of differences of colours.

    Y = (R + 2 G + B) / 4, O = (R - B) / 2, P = (2 G - R - B) / 4, each in units of 1/32 of a level.
    """
    red, green, blue = (pixels[..., i].astype(np.int32) for i in range(3))
    both = red + blue
    return (both + 2 * green) * 8, (red - blue) * 16, (2 * green - both) * 8


def blurred(plane: Plane) -> Plane:
    """Binomial blur of 5 x 5, standard deviation 1; the border is repeated. Rounded to whole units."""
    padded = np.pad(plane, 2, mode="edge")
    rows = _binomial(padded, axis=0)
    return (_binomial(rows, axis=1) + 128) >> 8


def halved(plane: Plane) -> Plane:
    """Every second row and column."""
    return plane[::2, ::2]


def _binomial(plane: Plane, axis: int) -> Plane:
    """Weights 1 4 6 4 1 along an axis, not divided; the axis is four shorter."""
    along = np.moveaxis(plane, axis, 0)
    pairs = along[:-1] + along[1:]
    threes = pairs[:-1] + pairs[1:]
    fours = threes[:-1] + threes[1:]
    return np.moveaxis(fours[:-1] + fours[1:], 0, axis)


def contrast(luminance: Plane) -> Plane:
    """Size of the local steps: |right - left| + |below - above|, the border repeated."""
    padded = np.pad(luminance, 1, mode="edge")
    across = np.abs(padded[1:-1, 2:] - padded[1:-1, :-2])
    down = np.abs(padded[2:, 1:-1] - padded[:-2, 1:-1])
    return across + down


def box_sums(plane: NDArray[np.integer], height: int, width: int) -> NDArray[np.int64]:
    """Sum over the box of this height and width around each pixel, zeros outside; both sizes odd."""
    sums = plane.astype(np.int64)
    for axis, size in ((0, height), (1, width)):
        if size == 1:
            continue
        pad = [(0, 0), (0, 0)]
        pad[axis] = (size // 2 + 1, size // 2)
        running = np.moveaxis(np.cumsum(np.pad(sums, pad), axis=axis), axis, 0)
        sums = np.moveaxis(running[size:] - running[:-size], 0, axis)
    return sums


def enlarged(mask: NDArray[np.bool_], height: int, width: int) -> NDArray[np.bool_]:
    """True wherever a True lies within ``height`` rows and ``width`` columns."""
    grown = mask
    for axis, radius in ((0, height), (1, width)):
        grown = _enlarged_along(grown, axis, radius)
    return grown


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
