"""A plot whose data is the same, and whose lines or points are drawn thicker, thinner, larger or smaller."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured import Statement
from whatchanged.measured.pixels.reading import Pixels

COLORFUL = 40
"""The least difference between the channels of a colour of data; axes and text are mostly grey."""
REACH = 5
"""By how many pixels lines and points may grow on each side."""
ALIKE = 80
"""The largest difference, in levels, of the colours of one line in two pictures."""
STAYS = 0.97
"""The least fraction of coloured pixels that are near the same colour of the other picture."""
THICKER = 1.4
"""The least growth of the coloured area that is told."""
HELD = 0.9
"""The least fraction of the thinner drawing that the thicker one covers: it grows to all sides."""
LEAST_DATA = 50
"""The least number of coloured pixels from which data is recognised."""
MOST = 20_000
"""The largest number of coloured pixels that are looked for in the other picture. They are sampled evenly."""
SPARSE = 0.35
"""The largest fraction of a plot that lines and points cover. Bars and areas cover more."""


def with_thickness(statements: Sequence[Statement], pictures: tuple[Pixels, Pixels]) -> Sequence[Statement]:
    """Return the statements; one that a plot shows other data as thicker or thinner drawing of the same
    data, if all of it lies around the former place."""
    first = statements[0]
    box = first.box_after
    if first.values.get("aspect") != "data" or not first.values.get("same_axes") or box is None:
        return statements
    parts = [picture[box[1] : box[3], box[0] : box[2]].astype(np.int16) for picture in pictures]
    inked = [np.ptp(part, axis=2) >= COLORFUL for part in parts]
    counts = [int(mask.sum()) for mask in inked]
    if min(counts) < LEAST_DATA or max(counts) > SPARSE * inked[0].size:
        return statements
    if max(counts) < THICKER * min(counts):
        return statements
    thin = int(counts[1] < counts[0])
    held = (inked[0] & inked[1]).sum() >= HELD * counts[thin]
    if not held or not all(_near(parts[k], inked[k], parts[1 - k]) for k in (0, 1)):
        return statements
    more = counts[1] > counts[0]
    sentence = f"What is drawn in the plot became {'thicker or larger' if more else 'thinner or smaller'}."
    values = {"aspect": "stroke", "factor": round(counts[1] / counts[0], 2)}
    return [replace(first, kind="restyled", sentence=sentence, values=values), *statements[1:]]


def _near(part: NDArray[np.int16], inked: NDArray[np.bool_], other: NDArray[np.int16]) -> bool:
    """Return whether nearly all coloured pixels are near a pixel of their colour in the other picture."""
    rows, columns = np.nonzero(inked)
    every = max(1, -(-len(rows) // MOST))
    rows, columns = rows[::every], columns[::every]
    colors = part[rows, columns]
    there = np.zeros(len(rows), dtype=np.bool_)
    for dy in range(-REACH, REACH + 1):
        for dx in range(-REACH, REACH + 1):
            at = np.clip(rows + dy, 0, other.shape[0] - 1), np.clip(columns + dx, 0, other.shape[1] - 1)
            there |= np.abs(other[at] - colors).max(axis=1) <= ALIKE
    return bool(there.mean() >= STAYS)
