"""Detection of structured differences, which are not noise even if they are faint.

A structured difference is the same at every corner, along an entire edge, in an entire text, or over an
entire fill. Conversely, a difference that compression explains is noise even if it is strong.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from whatchanged.measured.pixels.compression import as_compressed
from whatchanged.measured.pixels.corners import find_corners
from whatchanged.measured.pixels.gate import DOUBT, Visibility, visibility
from whatchanged.measured.pixels.planes import steps_between
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.pixels.recoloring import find_recolorings
from whatchanged.measured.pixels.redrawing import not_redrawn
from whatchanged.measured.pixels.shades import LEAST, find_shades
from whatchanged.measured.pixels.straight import LENGTH, find_runs, moved_edges
from whatchanged.measured.policy import Policy
from whatchanged.measured.result import Box

SURE = 4.0
"""The strength of structured differences, as a multiple of the visibility threshold. It marks them as
certain."""
LEAST_FILL = 5000
"""The least change of a fill, in levels summed over its pixels. Smaller changes are invisible."""
LEAST_COLOR = 5000
"""The least change of recoloured text and borders, in levels summed over all their pixels."""

# All pairs without visible differences pass through these tests, so each test must reject noise quickly.


def visible_by(policy: Policy, before: Pixels, after: Pixels) -> Visibility:
    """Return the visibility of the differences, including the structured differences that a policy counts.

    The two pictures have the same size.
    """
    seen = visibility(before, after, policy.weight)
    if seen.score >= DOUBT:
        explained = as_compressed(before, after)
        if explained is None:
            return _with(seen, structured(before, after, policy)) if seen.score < 1 else seen
        rest = visibility(*explained, policy.weight)
        return replace(rest, differs=seen.differs, is_plain=False)
    if not seen.differs.any():
        return seen
    boxes = list(structured(before, after, policy))
    if boxes and as_compressed(before, after) is not None:
        return seen
    return _with(seen, boxes)


def structured(before: Pixels, after: Pixels, policy: Policy) -> Iterator[Box]:
    """Yield the boxes of the structured differences that a policy counts: edges, fills, colours and
    corners."""
    step = steps_between(before, after)
    sides = list(find_runs(before, after))
    edges = list(moved_edges(before, after, sides, policy.color)) if policy.shift <= 1 else []
    runs = [run for run in sides if run.length >= LENGTH]
    rows = [(run.box, run.new, run.box[2] - run.box[0]) for run in runs if run.box[3] - run.box[1] == 1]
    fills = list(_together(rows, policy.fill, LEAST_FILL))
    shadows = list(find_shades(before, after, runs, max(LEAST, policy.fill)))
    yield from not_redrawn(before, after, step, runs, edges + fills + shadows)
    exchanged = [one for one in find_recolorings(before, after, step > 0) if one.step >= policy.color]
    if sum(one.pixels * one.step for one in exchanged) >= LEAST_COLOR:
        yield from (one.box for one in exchanged)
    yield from (one.box for one in find_corners(before, after, step) if one.radius >= policy.radius)


def _together(parts: Sequence[tuple[Box, float, int]], least: float, most: float) -> Iterator[Box]:
    """Yield the boxes whose step is at least ``least``, if their steps sum up to at least ``most`` over all
    pixels.

    parts: a box, its step in levels, and its number of pixels.
    """
    steep = [one for one in parts if one[1] >= least]
    if sum(step * pixels for _, step, pixels in steep) >= most:
        yield from (box for box, _, _ in steep)


def _with(seen: Visibility, boxes: Iterable[Box]) -> Visibility:
    """Return the visibility, with all pixels in these boxes marked as certain differences."""
    strength = seen.strength
    for left, top, right, bottom in boxes:
        if strength is seen.strength:
            strength = strength.copy()
        np.maximum(strength[top:bottom, left:right], np.float32(SURE), out=strength[top:bottom, left:right])
    return seen if strength is seen.strength else Visibility(seen.differs, strength, is_plain=False)
