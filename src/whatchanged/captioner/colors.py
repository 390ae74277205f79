"""Numbers about the colours of a whole picture, by which pictures of another kind are told at little cost.

A model's card holds the range of each number over its drawn training pictures. What lies outside, such as a
grey or a strongly tinted picture of the same scenes, is out of distribution, though the encoder's features
hardly show it. With the cells c of ``CELL`` x ``CELL`` pixels, their mean red R, green G and blue B:

    l = (R + G + B) / 3              p = (R - G) / (l + 1)            q = ((R + G) / 2 - B) / (l + 1)

    red_green     the median of p: the tint of the ground
    yellow_blue   the median of q
    vividness     log2 of the 99 % quantile of max(|p - red_green|, |q - yellow_blue|), at least 1/255: how
                  much colour stands out from the tint
    brightness    the median of l, in grey levels
    contrast      the standard deviation of l, in grey levels

Pictures of screens are told by ``unevenness``: what is rendered is mostly flat to the last level, what a lens
or a path tracer saw is not. Where rendering dithers, or a file's noise is of a level or two, ``main_colors``
tells them: a few colours make up most of a screen.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

NAMES = ("red_green", "yellow_blue", "vividness", "brightness", "contrast")
"""The numbers in the order of ``color_numbers``."""
CELL = 4
"""Pixels of a cell's side, so that grain and the blocks of compression do not count."""
VIVID = 0.99
"""The part of the cells that the vivid ones are above: objects may be few and small."""

MAIN, NEAR = 4, 2
"""How many colours are a picture's main ones, and levels of each channel that count as one colour."""
READ = 65_536
"""Pixels that are read for the main colours; of more, every k-th row and column."""
FEW = 0.75
"""Share of its main colours from which on a picture is one of a screen. Set by hand: photographs have at most
0.69 (a grey wall), scenes of CLEVR 0.45, and of drawn screens that are uneven two of three more than 0.75."""

NO_COLOR = float(np.log2(1 / 255))
"""The vividness of a picture in which nothing stands out from the tint."""

Ranges = Mapping[str, tuple[float, float]]
"""Name -> the least and the largest value in distribution."""


def color_numbers(pixels: NDArray[np.uint8]) -> NDArray[np.float64]:
    """The numbers of pictures (B, H, W, 3) of at least ``CELL`` pixels a side: (B, 5)."""
    batch, height, width, _ = pixels.shape
    rows, columns = height // CELL, width // CELL
    whole = pixels[:, : rows * CELL, : columns * CELL]
    cells = whole.reshape(batch, rows, CELL, columns, CELL, 3).mean((2, 4)).reshape(batch, -1, 3)  # (B, C, 3)
    light = cells.mean(2)  # (B, C)
    red, green, blue = np.moveaxis(cells, 2, 0)
    opponents = np.stack([red - green, (red + green) / 2 - blue]) / (light + 1)  # (2, B, C)
    tint = np.median(opponents, axis=2)  # (2, B)
    standing_out = np.abs(opponents - tint[:, :, None]).max(axis=0)  # (B, C)
    vivid = np.quantile(standing_out, VIVID, axis=1)
    vividness = np.maximum(np.log2(np.maximum(vivid, 1e-9)), NO_COLOR)
    return np.stack([*tint, vividness, np.median(light, axis=1), light.std(axis=1)], axis=1)


def color_distance(pixels: NDArray[np.uint8], ranges: Ranges) -> NDArray[np.float64]:
    """How far each picture (B, H, W, 3) is from the middle of the ranges: (B,); above 1 it is outside of one.

    The unit of each number is half its range; the largest counts. 0 where there are no ranges.
    """
    distance = np.zeros(len(pixels))
    numbers = dict(zip(NAMES, color_numbers(pixels).T, strict=True)) if ranges else {}
    for name, (low, high) in ranges.items():
        distance = np.maximum(distance, np.abs(numbers[name] - (low + high) / 2) / ((high - low) / 2))
    return distance


def unevenness(picture: NDArray[np.uint8]) -> float:
    """The share of the pixels of a picture (H, W, 3) that differ from the one to the right or the one below.

    0 for a single row or column, of which nothing can be told.
    """
    differs = (picture[:-1, 1:] != picture[:-1, :-1]) | (picture[1:, :-1] != picture[:-1, :-1])
    return float(differs.any(axis=2).mean()) if differs.size else 0.0


def main_colors(picture: NDArray[np.uint8]) -> float:
    """The share of the pixels of a picture (H, W, 3) that its ``MAIN`` most frequent colours make up.

    A colour takes what is within ``NEAR`` levels of it in each channel, the most frequent one first.
    """
    step = int(np.ceil(np.sqrt(picture.shape[0] * picture.shape[1] / READ)))
    red, green, blue = np.moveaxis(picture[::step, ::step].reshape(-1, 3).astype(np.int32), 1, 0)
    packed, counts = np.unique(red << 16 | green << 8 | blue, return_counts=True)  # (C,)
    colors = np.stack([packed >> 16, packed >> 8 & 255, packed & 255], axis=1)  # (C, 3)
    left = counts.copy()
    for _ in range(MAIN):
        most = colors[left.argmax()]
        left[np.abs(colors - most).max(axis=1) <= NEAR] = 0
    return float(1 - left.sum() / counts.sum())


def unlike_a_screen(picture: NDArray[np.uint8], most_uneven: float) -> float:
    """How unlike a screen a picture (H, W, 3) is, 1 the limit: a screen is flat, or made of a few colours.

    most_uneven: the unevenness up to which a picture is flat.
    """
    uneven = unevenness(picture) / most_uneven
    return uneven if uneven <= 1 else min(uneven, (1 - main_colors(picture)) / (1 - FEW))
