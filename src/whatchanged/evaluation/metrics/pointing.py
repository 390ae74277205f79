"""The pointing game: does the maximum of the attention lie in the bounding box of the change?

Source: Zhang et al., ECCV 2016, as played by Park, Darrell and Rohrbach (ICCV 2019, and their
``utils/eval_utils.py``). Departures: maps are enlarged to the picture's true size, or to the size given by
the user where the pictures are missing; the authors use 360 x 480 for pictures 320 high. The interpolation is
this module's, as theirs uses a function that its library has dropped; where values are nearly equal, the
maximum may differ by less than a pixel. The map is the mean over the caption's content words.
"""

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from whatchanged.errors import PredictionsError
from whatchanged.images import picture_size
from whatchanged.records import PairRecord, SizedBox
from whatchanged.urls import is_remote

Floats = NDArray[np.float64]
PairMaps = NDArray[np.floating[Any]]
"""(2, rows, columns): attention over the picture before and over the one after."""


class Shot(NamedTuple):
    """The result for one box."""

    side: int
    """0: the picture before, 1: the one after."""
    hit: bool
    """Whether the map's maximum lies in the box."""
    mass: float
    """The fraction of the map (enlarged, its sum 1) inside the box."""
    area: float
    """The fraction of the picture that the box covers: the hit rate of random pointing."""
    reachable: bool
    """Whether a map with a single hot cell can hit the box at all: the limit set by the grid."""


def play(record: PairRecord, maps: PairMaps | None, given_size: tuple[int, int] | None = None) -> list[Shot]:
    """Play the game on each box of a pair: two for most changes, one for an addition or a removal.

    ``maps`` is None for a pair without attention (it failed, or its caption is empty), which counts as a
    miss. given_size: (W, H) in pixels, used instead of opening the pictures. Raises PredictionsError for a
    box outside its picture, or where neither a picture nor its size is available; ImageError for a picture
    that cannot be opened.
    """
    shots = []
    for side, (picture, box) in enumerate(zip((record.before, record.after), record.boxes, strict=True)):
        if box is None:
            continue
        if picture is None:
            raise PredictionsError(
                f"{record.pair_id}: it has a box but no picture. Name the data set's folder as references."
            )
        size = given_size or _own_size(record.pair_id, picture)
        whole = _whole_pixels(record.pair_id, box, size)
        area = whole[2] * whole[3] / (size[0] * size[1])
        if maps is None:
            shots.append(Shot(side, False, 0.0, area, False))
        else:
            shots.append(_shoot(side, maps[side], whole, area, size))
    return shots


def _own_size(pair_id: str, picture: Path) -> tuple[int, int]:
    """Return the size (W, H) of a picture's file."""
    if not is_remote(picture) and not picture.exists():
        raise PredictionsError(
            f"{pair_id}: its picture is not there ({picture}), so the pointing game does not know how large"
            " it is. Give its size: --picture-size WIDTHxHEIGHT."
        )
    return picture_size(picture)


def enlarged(heat: PairMaps, size: tuple[int, int]) -> Floats:
    """Enlarge a map (rows, columns) to a picture's ``size`` (W, H): bilinear between the centres of cells.

    Beyond the outermost centres the map is constant.
    """
    wide = _along(heat.astype(np.float64), size[0])
    low, high, part = _neighbouring_cells(len(heat), size[1])
    return wide[low] * (1 - part)[:, None] + wide[high] * part[:, None]


def peak(heat: PairMaps, size: tuple[int, int]) -> tuple[int, int]:
    """Return the pixel (x, y) of the enlarged map's maximum; of equal ones the first, row by row."""
    y, x = divmod(int(enlarged(heat, size).argmax()), size[0])
    return x, y


def _shoot(
    side: int, heat: PairMaps, box: tuple[int, int, int, int], area: float, size: tuple[int, int]
) -> Shot:
    """Return the result of one map for one box."""
    x, y, width, height = box
    canvas = enlarged(heat, size)
    total = float(canvas.sum())
    row, column = divmod(int(canvas.argmax()), size[0])
    hit = total > 0 and y <= row < y + height and x <= column < x + width
    mass = float(canvas[y : y + height, x : x + width].sum()) / total if total > 0 else 0.0
    peaks = _single_cell_peaks(heat.shape, size)
    inside = (peaks[:, 0] >= x) & (peaks[:, 0] < x + width)
    inside &= (peaks[:, 1] >= y) & (peaks[:, 1] < y + height)
    return Shot(side, hit, mass, area, bool(inside.any()))


def _whole_pixels(pair_id: str, box: SizedBox, size: tuple[int, int]) -> tuple[int, int, int, int]:
    """Return a box (x, y, width, height) in whole pixels. Raises PredictionsError where it leaves the
    picture.
    """
    x, y, width, height = (round(value) for value in box)
    if width < 1 or height < 1 or x < 0 or y < 0 or x + width > size[0] or y + height > size[1]:
        raise PredictionsError(
            f"{pair_id}: its box {list(box)} does not lie in its picture of {size[0]} x {size[1]} pixels. "
            "Boxes are x, y, width, height in the original picture's pixels."
        )
    return x, y, width, height


def _along(values: Floats, pixels: int) -> Floats:
    """Enlarge the last axis to ``pixels`` values."""
    # By indexing: a matrix product this small would start all threads of the linear algebra library.
    low, high, part = _neighbouring_cells(values.shape[-1], pixels)
    return values[:, low] * (1 - part) + values[:, high] * part


@functools.lru_cache(maxsize=64)
def _neighbouring_cells(cells: int, pixels: int) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
    """Return, for each pixel centre, the cells before and after it, and its relative position between them,
    0..1.
    """
    place = np.clip((np.arange(pixels) + 0.5) * cells / pixels - 0.5, 0, cells - 1)
    low = np.floor(place).astype(np.int64)
    return low, np.minimum(low + 1, cells - 1), place - low


@functools.lru_cache(maxsize=64)
def _single_cell_peaks(grid: Sequence[int], size: tuple[int, int]) -> NDArray[np.int64]:
    """Return, for each cell, the pixel (x, y) of the maximum of a map that is hot only there: (cells, 2)."""
    rows, columns = (
        _along(np.eye(cells), pixels).argmax(axis=1) for cells, pixels in zip(grid, size[::-1], strict=True)
    )
    return np.stack(np.meshgrid(columns, rows), axis=-1).reshape(-1, 2)
