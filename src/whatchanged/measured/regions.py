"""Where two pictures differ: clusters of visible differences, as boxes."""

from dataclasses import dataclass

import numpy as np

from whatchanged.measured.gate import Visibility
from whatchanged.measured.planes import enlarged
from whatchanged.measured.result import Box

REACH = 10
"""Differences up to twice this many pixels apart belong to one cluster."""
WEAKER = 0.4
"""A cluster reaches as far as differences of this part of the threshold do."""


@dataclass(frozen=True)
class Region:
    """A cluster of differences: its box, how many pixels differ in it, how far above noise."""

    box: Box
    pixels: int
    strength: float


def find_regions(seen: Visibility, threshold: float, reach: int = REACH) -> list[Region]:
    """The clusters whose strength reaches the threshold, the largest first."""
    from scipy import ndimage  # takes longer to import than equal pictures take to compare

    if seen.score < threshold or not seen.differs.any():
        return []
    mask = seen.visible(WEAKER * threshold)
    if not mask.any():
        mask = seen.differs  # what is strong lies beside what differs
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    top, left = max(0, int(rows[0]) - reach), max(0, int(columns[0]) - reach)
    part = (slice(top, int(rows[-1]) + 1 + reach), slice(left, int(columns[-1]) + 1 + reach))
    mask, strength = mask[part], seen.strength[part]
    around, count = ndimage.label(enlarged(mask, reach, reach), np.ones((3, 3), bool))
    strong = np.unique(around[strength >= threshold])
    labels = np.where(mask, around, 0)
    sizes = np.bincount(labels.ravel(), minlength=count + 1)
    places = ndimage.find_objects(labels)
    regions = []
    for label in strong[strong > 0].tolist():
        rows, columns = places[label - 1]
        box = (left + columns.start, top + rows.start, left + columns.stop, top + rows.stop)
        strongest = strength[rows, columns][around[rows, columns] == label].max()
        regions.append(Region(box, int(sizes[label]), float(strongest)))
    return sorted(regions, key=lambda region: (-region.pixels, region.box))
