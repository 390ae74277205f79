"""From the visible differences of two pictures of one size to ranked statements."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured import sentences
from whatchanged.measured.gate import Visibility
from whatchanged.measured.kinds import Finding, find_kind
from whatchanged.measured.reading import Pixels
from whatchanged.measured.regions import Region, find_regions
from whatchanged.measured.result import Box, Statement
from whatchanged.measured.shifts import Moved, Shift, find_shift

ROUNDS = 2
"""How often a shift is looked for in what the last one left over."""
MOST_PARTS = 8
"""Bands in which shifts are looked for, the largest first."""


@dataclass(frozen=True)
class Found:
    """A statement before it has words: what, where, how much of the picture."""

    finding: Finding
    box_before: Box | None
    box_after: Box | None
    pixels: int


def find_changes(before: Pixels, after: Pixels, seen: Visibility, threshold: float) -> list[Statement]:
    """All statements about two pictures that lie on each other, best first."""
    size = (after.shape[1], after.shape[0])
    found: list[Found] = []
    shifts: list[Shift] = []
    aligned = before
    for _ in range(ROUNDS):
        shift = _best_shift(aligned, after, seen, threshold)
        if shift is None:
            break
        shifts.append(shift)
        found += _told(shift)
        aligned, seen = shift.aligned, shift.seen
    for region in find_regions(seen, threshold):
        finding = find_kind(aligned, after, region.box, seen.differs & (seen.strength >= threshold))
        there = None if finding.kind == "removed" else region.box
        was = None if finding.kind == "added" else region.box
        found.append(Found(finding, was, there, region.pixels))
    return [sentences.statement(one.finding, one.box_before, one.box_after, one.pixels, size) for one in _ranked(found)]


def _best_shift(before: Pixels, after: Pixels, seen: Visibility, threshold: float) -> Shift | None:
    """The shift that explains most of what differs; None where none does."""
    regions = find_regions(seen, threshold)
    if not regions:
        return None
    best: Shift | None = None
    for box, axis in _parts([region.box for region in regions], (after.shape[1], after.shape[0])):
        shift = find_shift(before, after, seen, box, axis, threshold)
        if shift is not None and (best is None or shift.explained > best.explained + 0.02):
            best = shift
    return best


def _parts(boxes: Sequence[Box], size: tuple[int, int]) -> list[tuple[Box, int]]:
    """Where shifts are looked for: all differences together, then each row of them, each column of them."""
    everything = grown(union(boxes), 2, size)
    parts = [(everything, 0), (everything, 1)]
    rows = [(grown(box, 2, size), 1) for box in bands(boxes, axis=0)]
    columns = [(grown(box, 2, size), 0) for box in bands(boxes, axis=1)]
    others = sorted(rows + columns, key=lambda part: (-area(part[0]), part))
    return list(dict.fromkeys(parts + others[:MOST_PARTS]))


def _told(shift: Shift) -> list[Found]:
    """What a shift says: what is new, what is gone, what moved."""
    found = [Found(Finding("added", "pushed in", 0.7), None, box, area(box)) for box in shift.new]
    found += [Found(Finding("removed", "closed up", 0.7), box, None, area(box)) for box in shift.gone]
    caused = bool(found)
    by_offset: dict[tuple[int, int], list[Moved]] = {}
    for moved in shift.moved:
        by_offset.setdefault((moved.dx, moved.dy), []).append(moved)
    for (dx, dy), group in by_offset.items():
        values = {"dx": dx, "dy": dy}
        finding = Finding("moved", "consequence" if caused else "position", 0.7, values)
        boxes = union([one.box_before for one in group]), union([one.box_after for one in group])
        found.append(Found(finding, *boxes, sum(area(one.box_after) for one in group)))
    return found


def _ranked(found: list[Found]) -> list[Found]:
    """The most telling first: causes before consequences, then by size."""
    return sorted(
        found,
        key=lambda one: (one.finding.aspect == "consequence", -one.pixels, one.box_after or one.box_before or ()),
    )


def bands(boxes: Sequence[Box], axis: int) -> list[Box]:
    """Boxes merged where their rows (axis 0) or columns (axis 1) overlap."""
    low, high = (1, 3) if axis == 0 else (0, 2)
    merged: list[Box] = []
    for box in sorted(boxes, key=lambda one: (one[low], one)):
        if merged and box[low] < merged[-1][high]:
            merged[-1] = union([merged[-1], box])
        else:
            merged.append(box)
    return merged


def union(boxes: Sequence[Box]) -> Box:
    """The box around boxes."""
    lefts, tops, rights, bottoms = zip(*boxes, strict=True)
    return min(lefts), min(tops), max(rights), max(bottoms)


def grown(box: Box, by: int, size: tuple[int, int]) -> Box:
    """The box with this much more on each side, inside the picture."""
    left, top, right, bottom = box
    return max(0, left - by), max(0, top - by), min(size[0], right + by), min(size[1], bottom + by)


def area(box: Box) -> int:
    """Pixels of a box."""
    return (box[2] - box[0]) * (box[3] - box[1])
