"""Colour statistics of a whole picture, a cheap test for out-of-distribution pictures.

A model's card holds the range of each statistic over its training pictures. A picture outside a range, such
as a grey or a strongly tinted picture of the same scenes, is out of distribution, though the encoder's
features hardly show it. Let R, G and B be the mean red, green and blue of each cell c of ``CELL`` x ``CELL``
pixels:

    l = (R + G + B) / 3              p = (R - G) / (l + 1)            q = ((R + G) / 2 - B) / (l + 1)

    red_green     the median of p: the tint of the ground
    yellow_blue   the median of q
    vividness     log2 of the 99 % quantile of max(|p - red_green|, |q - yellow_blue|), at least 1/255: how
                  much colour stands out from the tint
    brightness    the median of l, in grey levels
    contrast      the standard deviation of l, in grey levels
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

NAMES = ("red_green", "yellow_blue", "vividness", "brightness", "contrast")
"""The statistics in the order of ``color_numbers``."""
CELL = 4
"""The side of a cell in pixels; its mean removes noise and compression artefacts."""
VIVID = 0.99
"""The quantile of the vivid cells: objects may be few and small."""

NO_COLOR = float(np.log2(1 / 255))
"""The vividness of a picture without any colour that differs from the tint."""

Ranges = Mapping[str, tuple[float, float]]
"""Name -> the least and the largest value in distribution."""


def color_numbers(pixels: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Return the colour statistics of pictures (B, H, W, 3) of at least ``CELL`` pixels a side: (B, 5)."""
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


def color_distance(numbers: NDArray[np.float64], ranges: Ranges) -> NDArray[np.float64]:
    """Return how far the statistics (B, 5) of pictures are from the middle of the ranges: (B,); above 1 is
    outside.

    The unit for each statistic is half its range; the largest distance counts. 0 where there are no ranges.
    """
    distance = np.zeros(len(numbers))
    for name, (low, high) in ranges.items():
        number = numbers[:, NAMES.index(name)]
        distance = np.maximum(distance, np.abs(number - (low + high) / 2) / ((high - low) / 2))
    return distance
