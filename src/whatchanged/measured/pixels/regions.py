"""Where two pictures differ: clusters of visible differences, as boxes."""

from dataclasses import dataclass

import numpy as np

from whatchanged.measured.pixels.boxes import box_of
from whatchanged.measured.pixels.gate import Visibility
from whatchanged.measured.pixels.planes import enlarged
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


def find_regions(seen: Visibility, threshold: float) -> list[Region]:
    """The clusters whose strength reaches the threshold, the largest first."""
    from scipy import ndimage  # takes longer to import than equal pictures take to compare

    if seen.score < threshold or not seen.differs.any():
        return []
    mask = seen.visible(WEAKER * threshold)
    if not mask.any():
        mask = seen.differs  # what is strong lies beside what differs
    around = box_of(mask)
    if around is None:
        return []
    left, top = max(0, around[0] - REACH), max(0, around[1] - REACH)
    part = (slice(top, around[3] + REACH), slice(left, around[2] + REACH))
    mask, strength = mask[part], seen.strength[part]
    joined, count = ndimage.label(enlarged(mask, REACH, REACH), np.ones((3, 3), bool))
    strong = np.unique(joined[strength >= threshold])
    labels = np.where(mask, joined, 0)
    sizes = np.bincount(labels.ravel(), minlength=count + 1)
    places = ndimage.find_objects(labels)
    regions = []
    for label in strong[strong > 0].tolist():
        rows, columns = places[label - 1]
        box = (left + columns.start, top + rows.start, left + columns.stop, top + rows.stop)
        strongest = strength[rows, columns][joined[rows, columns] == label].max()
        regions.append(Region(box, int(sizes[label]), float(strongest)))
    return sorted(regions, key=lambda region: (-region.pixels, region.box))
