"""Clustering of visible differences into regions with bounding boxes."""

from dataclasses import dataclass

import numpy as np

from whatchanged.measured.pixels.boxes import box_of
from whatchanged.measured.pixels.gate import Visibility
from whatchanged.measured.pixels.planes import enlarged
from whatchanged.measured.result import Box

REACH = 10
"""Differing pixels up to twice this number of pixels apart belong to the same cluster."""
WEAKER = 0.4
"""The threshold for the extent of a cluster, as a fraction of the visibility threshold."""


@dataclass(frozen=True)
class Region:
    """A cluster of differences.

    box       the bounding box
    pixels    the number of differing pixels
    strength  the largest strength in the cluster
    """

    box: Box
    pixels: int
    strength: float


def find_regions(seen: Visibility, threshold: float) -> list[Region]:
    """Return the clusters whose largest strength reaches the threshold, the largest cluster first."""
    from scipy import ndimage  # Importing SciPy takes longer than comparing equal pictures.

    if seen.score < threshold or not seen.differs.any():
        return []
    mask = seen.visible(WEAKER * threshold)
    if not mask.any():
        mask = seen.differs  # The strong pixels lie beside the differing pixels.
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
