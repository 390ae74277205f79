"""Detection of JPEG compression: is one picture the result of compressing the other one?"""

import io
from collections.abc import Sequence
from itertools import pairwise, product

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from whatchanged.measured.pixels.planes import enlarged
from whatchanged.measured.pixels.reading import Pixels

BLOCK = 16
"""The side in pixels of the blocks that JPEG compresses independently when it halves the chroma planes."""
LEAST_DRAWN = 0.5
"""The least fraction of non-uniform blocks that must differ. Compression changes nearly all of them."""
MOST_EVEN = 0.03
"""The largest fraction of uniform blocks among uniform neighbours that may differ by more than ``EVEN``
levels."""
EVEN = 8
QUALITIES = range(98, 49, -1)
SAMPLINGS = ("4:4:4", "4:2:0")
"""The chroma subsamplings that are tried: chroma at full size, and chroma at half size."""
TRIED = 128
"""The largest side in pixels of the part of the picture that is used to find the quality."""
NEARLY_ALL = 0.02
EXPLAINED = 0.35
"""The largest fraction of the mean difference that compression may leave unexplained."""
PROBED = 8
"""The step between the qualities that are tried first.

These trials find the first quality that changes a picture enough.
"""
LEAST_CHANGED = 0.5
"""The least change by compression, as a fraction of the mean difference between the two pictures.

Compression that explains the difference changes a picture by at least 1 - ``EXPLAINED`` of it. The limit is
lower than that, because a lower quality does not always change a picture more.
"""
MEANS = 8
"""The number of levels by which compression may change the mean of a block. It changed the means of drawn and
real blocks by more than that by at most 4 % of the mean difference on average."""
UNLIKE_MEANS = 0.42
"""The largest further difference of the blocks' means, as a fraction of the mean difference: what compression
changes and what it may leave unexplained."""
ROUNDED = 1.0
"""The number of levels by which rounding may change a uniform area at any quality."""


def as_compressed(before: Pixels, after: Pixels, step: NDArray[np.uint8]) -> tuple[Pixels, Pixels] | None:
    """Return the two pictures, with the uncompressed one compressed like the other one.

    The result is None if compression explains too little of the difference.

    step: (H, W) the difference of each pixel in levels.
    """
    largest = _blocks(step, np.maximum)
    found = _explained(before, after, largest)
    if found is not None:
        return found, after
    found = _explained(after, before, largest)
    return None if found is None else (before, found)


def _explained(plain: Pixels, lossy: Pixels, step: NDArray[np.uint8]) -> Pixels | None:
    """Return the first picture, compressed like the second one, or None if that explains too little.

    step: the largest difference in each block.
    """
    if not _may_be_compressed(step, _even(plain)):
        return None
    way = _way(*_part(plain, lossy, step))
    return None if way is None else _compressed(plain, *way)


def _may_be_compressed(step: NDArray[np.uint8], even: NDArray[np.bool_]) -> bool:
    """Return whether the differences cover nearly all non-uniform blocks and hardly any uniform block."""
    drawn = step[~even]
    if not drawn.size or np.mean(drawn > 0) < LEAST_DRAWN:
        return False
    far = ~enlarged(~even, 1, 1)  # Chroma at half size changes the neighbouring blocks too.
    return not far.any() or bool(np.mean(step[far] > EVEN) <= MOST_EVEN)


def _even(pixels: Pixels) -> NDArray[np.bool_]:
    """Return for each block whether all its pixels have the same colour."""
    return np.asarray((_blocks(pixels, np.maximum) == _blocks(pixels, np.minimum)).all(axis=2))


def _blocks(values: NDArray[np.uint8], choose: np.ufunc) -> NDArray[np.uint8]:
    """Return the minimum or the maximum of each block.

    values: a plane (H, W), or channels (H, W, 3), which are reduced independently.
    choose: ``np.minimum`` or ``np.maximum``.
    """
    height, width = values.shape[:2]
    whole = height // BLOCK * BLOCK
    rows = choose.reduce(values[:whole].reshape(-1, BLOCK, *values.shape[1:]), axis=1)
    if whole < height:
        rows = np.append(rows, choose.reduce(values[whole:], axis=0, keepdims=True), axis=0)
    return np.asarray(choose.reduceat(rows, np.arange(0, width, BLOCK), axis=1))


def _part(plain: Pixels, lossy: Pixels, step: NDArray[np.uint8]) -> tuple[Pixels, Pixels]:
    """Return the part of both pictures that has the largest differences, aligned to blocks.

    step: the largest difference in each block.
    """
    step = np.minimum(step, 16).astype(np.int64)
    side = TRIED // BLOCK
    row, column = (
        int(np.argmax(np.convolve(step.sum(axis=1 - axis), np.ones(min(side, step.shape[axis])), "valid")))
        for axis in (0, 1)
    )
    rows, columns = (slice(BLOCK * first, BLOCK * (first + side)) for first in (row, column))
    return plain[rows, columns], lossy[rows, columns]


def _way(plain: Pixels, lossy: Pixels) -> tuple[int, str] | None:
    """Return the quality and the subsampling that explain most of the difference.

    The result is None if no combination explains enough. Only the right quality explains anything, so the
    search ends only when a quality explains nearly the entire difference.
    """
    whole = _distance(plain, lossy)
    unlike = np.maximum(np.abs(_means(plain) - _means(lossy)) - MEANS, 0)
    if unlike.sum() * BLOCK**2 > UNLIKE_MEANS * whole * plain.size:
        return None
    best, least = None, EXPLAINED * whole
    for quality, sampling in product(_qualities(plain, whole), SAMPLINGS):
        left = _distance(_compressed(plain, quality, sampling), lossy)
        if left <= least:
            best, least = (quality, sampling), left
        if left <= NEARLY_ALL * whole:
            break
    return best


def _qualities(plain: Pixels, whole: float) -> Sequence[int]:
    """Return the qualities, best first, that change a picture enough to explain this mean difference."""

    def changes(quality: int) -> bool:
        """Return whether this quality changes the picture enough. Rounding errors are allowed for."""
        changed = _distance(_compressed(plain, quality, SAMPLINGS[-1]), plain)
        return changed + ROUNDED >= LEAST_CHANGED * whole

    # If the picture was already compressed with the lowest quality, that quality may leave it unchanged.
    if not any(changes(quality) for quality in (QUALITIES[-1], QUALITIES[-PROBED])):
        return ()
    probes = range(0, len(QUALITIES), PROBED)
    return QUALITIES[
        next((before for before, probe in pairwise([0, *probes]) if changes(QUALITIES[probe])), probes[-1]) :
    ]


def _means(pixels: Pixels) -> NDArray[np.float64]:
    """Return the mean colour of each whole block: (H, W, 3) -> (rows, columns, 3)."""
    rows, columns = (side // BLOCK for side in pixels.shape[:2])
    whole = pixels[: rows * BLOCK, : columns * BLOCK].reshape(rows, BLOCK, columns, BLOCK, 3)
    sums = whole.sum(axis=1, dtype=np.int64).sum(axis=2)
    return np.asarray(sums / BLOCK**2)


def _distance(one: Pixels, other: Pixels) -> float:
    """Return the mean absolute difference between two pictures, in levels."""
    return int((np.maximum(one, other) - np.minimum(one, other)).sum(dtype=np.int64)) / one.size


def _compressed(pixels: Pixels, quality: int, sampling: str) -> Pixels:
    """Return the picture after JPEG compression with this quality and chroma subsampling."""
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "JPEG", quality=quality, subsampling=sampling)
    return np.asarray(Image.open(buffer, formats=("JPEG",)))
