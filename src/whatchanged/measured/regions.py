"""Where two pictures differ: clusters of visible differences, as boxes."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured.gate import Visibility
from whatchanged.measured.planes import enlarged
from whatchanged.measured.result import Box

REACH = 6
"""Differences up to twice this many pixels apart belong to one cluster."""


@dataclass(frozen=True)
class Region:
    """A cluster of differences: its box, how many pixels differ in it, how far above noise."""

    box: Box
    pixels: int
    strength: float


def find_regions(seen: Visibility, threshold: float) -> list[Region]:
    """The clusters whose strength reaches the threshold, strongest first."""
    from scipy import ndimage  # takes longer to import than equal pictures take to compare

    visible = seen.differs & (seen.strength >= threshold)
    if not visible.any():
        return []
    labels, count = ndimage.label(enlarged(visible, REACH, REACH), np.ones((3, 3), bool))
    labels[~visible] = 0
    sizes = np.bincount(labels.ravel(), minlength=count + 1)
    regions = []
    for label, place in enumerate(ndimage.find_objects(labels), start=1):
        inside = labels[place] == label
        strength = float(seen.strength[place][inside].max())
        rows, columns = place
        box = (int(columns.start), int(rows.start), int(columns.stop), int(rows.stop))
        regions.append(Region(box, int(sizes[label]), strength))
    return sorted(regions, key=lambda region: (-region.pixels * min(region.strength, 4.0), region.box))


def area(mask: NDArray[np.bool_]) -> float:
    """The share of a mask that is true."""
    return float(np.count_nonzero(mask)) / mask.size
