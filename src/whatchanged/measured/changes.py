"""From the visible differences of two pictures of one size to ranked statements."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured import sentences
from whatchanged.measured.boxes import Box, area, bands, grown, union
from whatchanged.measured.gate import Visibility
from whatchanged.measured.kinds import Finding, find_kind
from whatchanged.measured.reading import Pixels
from whatchanged.measured.regions import Region, find_regions
from whatchanged.measured.result import Statement
from whatchanged.measured.shifts import Gap, Shift, find_shift

ROUNDS = 2
"""How often a shift is looked for in what the last one left over."""
TEXT_HEIGHT = 40
"""Pixels that a line of text is high at most."""
MOST_PARTS = 8
"""Bands in which shifts are looked for, the largest first."""


@dataclass(frozen=True)
class Found:
    """A statement before it has words: what, where, how much of the picture."""

    finding: Finding
    box_before: Box | None
    box_after: Box | None
    pixels: int
    cause: bool = True


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
        finding = find_kind(aligned, after, region.box, seen.visible(threshold))
        there = None if finding.kind == "removed" else region.box
        was = None if finding.kind == "added" else region.box
        found.append(Found(finding, was, there, region.pixels))
    return [sentences.statement(one.finding, one.box_before, one.box_after, one.pixels, size, one.cause) for one in _ranked(found)]


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
    """What a shift says: what is new, gone, rewritten or stretched, and what moved."""
    text_line = shift.axis == 1 and all(one.after[3] - one.after[1] <= TEXT_HEIGHT for one in shift.moved)
    found = [_of_gap(gap, shift, text_line) for gap in shift.gaps]
    caused = bool(found)
    for moved in shift.moved:
        finding = Finding("moved", "position", 0.7, {"dx": moved.dx, "dy": moved.dy})
        found.append(Found(finding, moved.before, moved.after, area(moved.after), cause=not caused))
    return found


def _of_gap(gap: Gap, shift: Shift, text_line: bool) -> Found:
    """What came and went at one place."""
    if gap.stretch:
        box = union([box for box in (gap.new, gap.gone) if box])
        values = {"dy" if shift.axis == 0 else "dx": gap.lines}
        return Found(Finding("resized", "length", 0.6, values), box, box, area(box))
    if gap.new and gap.gone:
        kind = "rewritten" if text_line else "replaced"
        after = union([gap.new, *(one.after for one in shift.moved)]) if text_line else gap.new
        before = union([gap.gone, *(one.before for one in shift.moved)]) if text_line else gap.gone
        return Found(Finding(kind, "text" if text_line else "part", 0.5), before, after, area(after))
    if gap.new:
        return Found(Finding("added", "pushed in", 0.7), None, gap.new, area(gap.new))
    box = gap.gone or (0, 0, 0, 0)
    return Found(Finding("removed", "closed up", 0.7), box, None, area(box))


def _ranked(found: list[Found]) -> list[Found]:
    """The most telling first: causes before consequences, then by size."""
    return sorted(
        found,
        key=lambda one: (not one.cause, -one.pixels, one.box_after or one.box_before or ()),
    )
