"""JPEG: a picture beside itself after compression. Is the one what compressing the other gives?"""

import io
from collections.abc import Sequence
from itertools import pairwise, product

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from whatchanged.measured.pixels.planes import enlarged, steps_between
from whatchanged.measured.pixels.reading import Pixels

BLOCK = 16
"""Pixels of a side of the blocks that are compressed by themselves, where colours are halved."""
LEAST_DRAWN = 0.5
"""The share of the blocks with something in them that differ: compression spares none."""
MOST_EVEN = 0.03
"""The share of the even blocks beside even ones, at most, that differ by more than ``EVEN`` levels."""
EVEN = 8
QUALITIES = range(98, 49, -1)
SAMPLINGS = ("4:4:4", "4:2:0")
"""Whether colours are kept at full size or halved."""
TRIED = 128
"""Pixels of a side of the part, at most, by which the quality is found."""
NEARLY_ALL = 0.02
EXPLAINED = 0.35
"""The part of the mean difference that compression leaves at most."""
PROBED = 8
"""Steps between the qualities that are tried first, to see from which one on a picture changes by enough."""
LEAST_CHANGED = 0.5
"""The part of the mean difference by which compression must change a picture to explain the rest of it: it
changes it by what it explains, 1 - ``EXPLAINED``, less a margin, as lower qualities do not always change
more."""
ROUNDED = 1.0
"""Levels by which any quality may change an even ground, whatever its neighbours do: rounding decides."""


def as_compressed(before: Pixels, after: Pixels) -> tuple[Pixels, Pixels] | None:
    """The two pictures, the one that was not compressed in the way that explains the other.

    None where compression explains too little of what differs.
    """
    step = _blocks(steps_between(before, after), np.maximum)
    found = _explained(before, after, step)
    if found is not None:
        return found, after
    found = _explained(after, before, step)
    return None if found is None else (before, found)


def _explained(plain: Pixels, lossy: Pixels, step: NDArray[np.uint8]) -> Pixels | None:
    """The first picture, compressed as the second one was; None where that explains too little.

    step: the largest difference in each block.
    """
    if not _may_be_compressed(step, _even(plain)):
        return None
    way = _way(*_part(plain, lossy, step))
    return None if way is None else _compressed(plain, *way)


def _may_be_compressed(step: NDArray[np.uint8], even: NDArray[np.bool_]) -> bool:
    """Whether what differs lies where something is drawn, and everywhere there."""
    drawn = step[~even]
    if not drawn.size or np.mean(drawn > 0) < LEAST_DRAWN:
        return False
    far = ~enlarged(~even, 1, 1)  # colours at half size reach into the blocks beside them
    return not far.any() or bool(np.mean(step[far] > EVEN) <= MOST_EVEN)


def _even(pixels: Pixels) -> NDArray[np.bool_]:
    """Of each block whether it has one colour."""
    return np.asarray((_blocks(pixels, np.maximum) == _blocks(pixels, np.minimum)).all(axis=2))


def _blocks(values: NDArray[np.uint8], choose: np.ufunc) -> NDArray[np.uint8]:
    """The chosen value (least, largest) of each block: of a plane (H, W), or of each channel (H, W, 3)."""
    height, width = values.shape[:2]
    whole = height // BLOCK * BLOCK
    rows = choose.reduce(values[:whole].reshape(-1, BLOCK, *values.shape[1:]), axis=1)
    if whole < height:
        rows = np.append(rows, choose.reduce(values[whole:], axis=0, keepdims=True), axis=0)
    return np.asarray(choose.reduceat(rows, np.arange(0, width, BLOCK), axis=1))


def _part(plain: Pixels, lossy: Pixels, step: NDArray[np.uint8]) -> tuple[Pixels, Pixels]:
    """The part of both pictures in which most differs, cut at blocks. step: as for ``_explained``."""
    step = np.minimum(step, 16).astype(np.int64)
    side = TRIED // BLOCK
    row, column = (
        int(np.argmax(np.convolve(step.sum(axis=1 - axis), np.ones(min(side, step.shape[axis])), "valid")))
        for axis in (0, 1)
    )
    rows, columns = (slice(BLOCK * first, BLOCK * (first + side)) for first in (row, column))
    return plain[rows, columns], lossy[rows, columns]


def _way(plain: Pixels, lossy: Pixels) -> tuple[int, str] | None:
    """The quality and sampling that explain most; None where they explain too little.

    Each quality is tried until one explains nearly all: only the right one explains anything.
    """
    whole = _distance(plain, lossy)
    best, least = None, EXPLAINED * whole
    for quality, sampling in product(_qualities(plain, whole), SAMPLINGS):
        left = _distance(_compressed(plain, quality, sampling), lossy)
        if left <= least:
            best, least = (quality, sampling), left
        if left <= NEARLY_ALL * whole:
            break
    return best


def _qualities(plain: Pixels, whole: float) -> Sequence[int]:
    """The qualities, best first, that change a picture by enough to explain a mean difference from it."""

    def changes(quality: int) -> bool:
        """Whether a quality changes it by enough, or may by rounding."""
        changed = _distance(_compressed(plain, quality, SAMPLINGS[-1]), plain)
        return changed + ROUNDED >= LEAST_CHANGED * whole

    # the lowest one may leave alone what was compressed with it before
    if not any(changes(quality) for quality in (QUALITIES[-1], QUALITIES[-PROBED])):
        return ()
    probes = range(0, len(QUALITIES), PROBED)
    return QUALITIES[
        next((before for before, probe in pairwise([0, *probes]) if changes(QUALITIES[probe])), probes[-1]) :
    ]


def _distance(one: Pixels, other: Pixels) -> float:
    """Mean levels between two pictures."""
    return int((np.maximum(one, other) - np.minimum(one, other)).sum(dtype=np.int64)) / one.size


def _compressed(pixels: Pixels, quality: int, sampling: str) -> Pixels:
    """The picture after JPEG."""
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "JPEG", quality=quality, subsampling=sampling)
    return np.asarray(Image.open(buffer, formats=("JPEG",)))
