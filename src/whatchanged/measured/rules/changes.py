"""The path from the visible differences of two pictures of one size to the changes that explain them."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured.pixels.boxes import area, bands, box_of, common, gathered, grown, union
from whatchanged.measured.pixels.corners import cornered_boxes
from whatchanged.measured.pixels.gate import Visibility, unexplained, visibility
from whatchanged.measured.pixels.planes import UNIT, enlarged, steps_between
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.pixels.regions import WEAKER, Region, find_regions
from whatchanged.measured.pixels.scales import find_scale
from whatchanged.measured.result import Box
from whatchanged.measured.rules.causes import pushed
from whatchanged.measured.rules.detected import DetectedChange
from whatchanged.measured.rules.displaced import displaced
from whatchanged.measured.rules.first import first_change
from whatchanged.measured.rules.kinds import TEXT_HEIGHT, Finding, find_kind, recolored_around
from whatchanged.measured.rules.lines import rewritten_lines, whole_lines
from whatchanged.measured.rules.matches import find_match
from whatchanged.measured.rules.shifts import (
    Gap,
    Moved,
    Shift,
    clearly_visible,
    covered,
    find_shift,
    may_explain,
    stretched,
)
from whatchanged.measured.rules.sides import edge_shadow, moved_side, refilled_side, resized_thing

ROUNDS = 2
"""The largest number of shifts, each of which is found in the differences that the previous one left."""
SMALLEST_FRAME = 16
"""The least shorter side of a frame in pixels."""
FRAME = 26
"""The distance in pixels from the border of a box within which differences form a frame or corners."""
SAME_OBJECT = 6.0
"""The largest mean difference, in levels, between a moved object before and after."""
MOST_REGIONS = 64
"""The number of clusters that are examined, starting with the largest."""
MOST_GAP = 40
"""The largest distance in pixels between clusters that belong together."""
MOST_ROOM = 1.5
"""The largest ratio of the area around clusters that belong together to their own areas."""
FAINT_PART = 0.1
"""The least difference of a relevant pixel, as a fraction of the largest difference in its cluster."""
LEAST_UNEXPLAINED = 7
"""The largest residual, in levels above the invisible ones, that a movement by one pixel explains."""
NO_RIM = 0.6
"""The least area of a cluster without its rim, as a fraction of its number of pixels."""
NEAR = 4
"""The margin in pixels around unexplained differences that belongs to a change."""
OVERLAP = 4
"""The largest shorter side, in pixels, of a region that is only an edge."""
MUCH_MORE = 2
"""The ratio between appeared and disappeared lines above which an object was added or removed, not
replaced."""
BETTER = 0.02
"""The least additional fraction of the differences that a shift of another part must explain."""
LARGEST_SIDE = 300_000
"""The largest area in pixels of a moved region that may be a side of an object."""
MOST_SIDES = 8
"""The largest number of clusters of a region that are examined one by one."""
MATCH = 0.1
"""The least additional fraction of the differences that matched words must explain compared with lines."""
MOST_PARTS = 8
"""The number of bands that are searched for shifts, starting with the largest."""


def detect_changes(before: Pixels, after: Pixels, seen: Visibility, threshold: float) -> list[DetectedChange]:
    """Find the changes between two aligned pictures: first the shifts, then the remaining differences."""
    changes: list[DetectedChange] = []
    aligned = before
    visible = seen.visible(threshold)
    if visible.any():
        cornered = cornered_boxes(before, after, seen.steps)
        if cornered:
            return [
                DetectedChange(Finding("restyled", "radius", 0.7, {"rounder": rounder}), box, box, area(box))
                for box, rounder in cornered
            ]
        first = first_change(before, after, visible, seen.steps)
        if first is not None:
            change, aligned = first
            changes.append(change)
            seen = visibility(aligned, after)
            visible = seen.visible(threshold)
    scale = find_scale(aligned, after, visible)
    if scale is not None:
        aligned = scale.taken_from(aligned, after)
        rest = visibility(aligned, after)
        pixels = np.count_nonzero(visible) - np.count_nonzero(rest.visible(threshold))
        values = {"axis": scale.axis, "factor": scale.factor}
        finding = Finding("moved", "axis limit", 0.6, values)
        changes.append(DetectedChange(finding, scale.frame, scale.frame, int(pixels)))
        seen = rest
    regions = find_regions(seen, threshold)
    for _ in range(ROUNDS):
        shift = _best_shift(aligned, after, seen, regions, threshold)
        if shift is None:
            break
        changes += [
            _as_side(aligned, after, one) for one in shift_changes(shift.axis, shift.moved, shift.gaps)
        ]
        gone = covered(aligned, shift)
        if gone is not None:
            changes.append(DetectedChange(Finding("removed", "moved over", 0.6), gone, None, area(gone)))
        aligned, seen = shift.aligned, shift.seen
        regions = find_regions(seen, threshold)
    differs = seen.visible(WEAKER * threshold)
    clusters = [tightened(aligned, after, one) for one in regions]
    for region in merged_regions(clusters):
        box = region.box
        sides = _sides(aligned, after, region, clusters)
        if sides:
            changes += sides
            continue
        shadow = edge_shadow(aligned, after, box)
        if shadow is not None:
            changes.append(DetectedChange(shadow[0], shadow[1], shadow[1], region.pixels))
            continue
        elsewhere = displaced(aligned, after, box)
        if elsewhere is not None:
            around = recolored_around(aligned, after, box, (elsewhere.dx, elsewhere.dy))
            # The padding of the new fill moved its content.
            if around is not None and elsewhere.came is None:
                changes.append(DetectedChange(around, box, box, region.pixels))
                continue
            values = {"dx": elsewhere.dx, "dy": elsewhere.dy}
            moved = Finding("moved", "position", 0.7, values)
            changes.append(DetectedChange(moved, elsewhere.before, elsewhere.after, region.pixels))
            if elsewhere.came is not None:
                came = Finding("added", "thing", 0.6)
                changes.append(DetectedChange(came, None, elsewhere.came, area(elsewhere.came)))
            continue
        finding = find_kind(aligned, after, box, differs)
        there = None if finding.kind == "removed" else box
        was = None if finding.kind == "added" else box
        if finding.aspect == "length":
            was, there = _lengths(aligned, after, box, finding)
        changes.append(DetectedChange(finding, was, there, region.pixels))
    lines = whole_lines(before, after, with_moves(aligned, after, changes))
    return pushed(rewritten_lines(lines))


def _sides(before: Pixels, after: Pixels, region: Region, clusters: Sequence[Region]) -> list[DetectedChange]:
    """Return the changes of size that explain a region, or an empty list.

    One object with a moved side explains all of it, or each of its clusters is a side of an object of its
    own, like the ends of two bars that face each other.

    clusters: the clusters of which the region may consist.
    """
    side = _side(before, after, region.box)
    if side is not None:
        return [DetectedChange(*side, region.pixels)]
    inside = [one for one in clusters if common(one.box, region.box) == area(one.box)]
    if not 1 < len(inside) <= MOST_SIDES:
        return []
    sides = [(one.pixels, _side(before, after, one.box)) for one in inside]
    found = [DetectedChange(*side, pixels) for pixels, side in sides if side is not None]
    return found if len(found) == len(inside) else []


def _side(before: Pixels, after: Pixels, box: Box) -> tuple[Finding, Box, Box] | None:
    """Return how an object grew or shrank whose side moved in a box, with its boxes before and after, or
    None."""
    return (
        moved_side(before, after, box)
        or resized_thing(before, after, box)
        or refilled_side(before, after, box)
    )


def _as_side(before: Pixels, after: Pixels, one: DetectedChange) -> DetectedChange:
    """Convert a movement that is only a side of an object into a change of the object's size."""
    if one.finding.kind != "moved" or one.box_before is None or one.box_after is None:
        return one
    around = union([one.box_before, one.box_after])
    side = moved_side(before, after, around) if area(one.box_after) <= LARGEST_SIDE else None
    side = side or _grown_around(before, after, one, around)
    return one if side is None else replace(one, finding=side[0], box_before=side[1], box_after=side[2])


def _grown_around(
    before: Pixels, after: Pixels, moved: DetectedChange, around: Box
) -> tuple[Finding, Box, Box] | None:
    """Return how the object around moved content grew or shrank on both sides, with its boxes, or None.

    Its content then moves with one of the sides, and the other side moves against it.

    around: the box of the moved content before and after.
    """
    step = max(abs(int(moved.finding.values.get(name, 0))) for name in ("dx", "dy"))
    size = (after.shape[1], after.shape[0])
    box = grown(around, 2 * step + NEAR, size)
    return None if (box[2], box[3]) == size and box[:2] == (0, 0) else resized_thing(before, after, box)


def _lengths(before: Pixels, after: Pixels, box: Box, finding: Finding) -> tuple[Box, Box]:
    """Return the boxes before and after of an object that grew into a box, or shrank out of it."""
    axis = 1 if "dx" in finding.values else 0
    grew = finding.values["grew"]
    larger = stretched(after if grew else before, box, axis)
    low, high = (0, 2) if axis == 1 else (1, 3)
    smaller = list(larger)
    if box[low] - larger[low] >= larger[high] - box[high]:
        smaller[high] = box[low]
    else:
        smaller[low] = box[high]
    left, top, right, bottom = smaller
    rest = larger if min(right - left, bottom - top) <= OVERLAP else (left, top, right, bottom)
    return (rest, larger) if grew else (larger, rest)


def tightened(before: Pixels, after: Pixels, region: Region) -> Region:
    """Return a cluster without its rim, which may be noise beside a change.

    The rim consists of faint pixels, and of pixels far from every difference that a movement by one pixel
    does not explain.
    """
    left, top, right, bottom = region.box
    part = (slice(top, bottom), slice(left, right))
    steps = steps_between(before[part], after[part])
    strong = steps >= max(1, FAINT_PART * int(steps.max()))
    near = strong & _near_unexplained(before, after, region.box)
    strong = near if near.any() else strong
    box = box_of(strong, left, top)
    # If most of the cluster would be removed, it is not a rim but a part of the change, such as a pale fill
    # around dark text.
    return region if box is None or area(box) < NO_RIM * region.pixels else replace(region, box=box)


def _near_unexplained(before: Pixels, after: Pixels, box: Box) -> NDArray[np.bool_]:
    """Return a mask of the pixels near differences that a movement by one pixel does not explain.

    All pixels are True if such a movement explains all differences.
    """
    left, top, right, bottom = grown(box, 1, (after.shape[1], after.shape[0]))
    inside = (slice(box[1] - top, box[3] - top), slice(box[0] - left, box[2] - left))
    planes = (
        np.moveaxis(picture[top:bottom, left:right], 2, 0).astype(np.int16, order="C") * UNIT
        for picture in (before, after)
    )
    rest = np.maximum.reduce(np.abs(unexplained(*planes)))[inside]
    most = int(rest.max())
    if most <= LEAST_UNEXPLAINED * UNIT:
        return np.ones(rest.shape, bool)
    return enlarged(rest >= FAINT_PART * most, NEAR, NEAR)


def with_moves(before: Pixels, after: Pixels, changes: list[DetectedChange]) -> list[DetectedChange]:
    """Replace the removal and the addition of the same object by a movement, and return the changes."""
    gone = [one for one in changes if one.finding.kind == "removed"]
    new = [one for one in changes if one.finding.kind == "added"]
    rest = [one for one in changes if one not in gone and one not in new]
    for one in gone:
        twin = next(
            (other for other in new if _same_object(before, after, one.box_before, other.box_after)), None
        )
        if twin is None or one.box_before is None or twin.box_after is None:
            rest.append(one)
            continue
        new.remove(twin)
        values = {"dx": twin.box_after[0] - one.box_before[0], "dy": twin.box_after[1] - one.box_before[1]}
        rest.append(
            DetectedChange(
                Finding("moved", "position", 0.8, values), one.box_before, twin.box_after, twin.pixels
            )
        )
    return rest + new


def _same_object(before: Pixels, after: Pixels, was: Box | None, there: Box | None) -> bool:
    """Return whether two boxes have about the same size and content."""
    if was is None or there is None:
        return False
    width, height = (min(was[k + 2] - was[k], there[k + 2] - there[k]) for k in (0, 1))
    if any(abs((was[k + 2] - was[k]) - (there[k + 2] - there[k])) > 2 for k in (0, 1)):
        return False
    one = before[was[1] : was[1] + height, was[0] : was[0] + width].astype(np.int16)
    other = after[there[1] : there[1] + height, there[0] : there[0] + width]
    return bool(np.abs(one - other).mean() <= SAME_OBJECT)


def merged_regions(regions: list[Region]) -> list[Region]:
    """Merge clusters that belong together, and return the results."""
    regions = regions[:MOST_REGIONS]
    boxes = [region.box for region in regions]
    groups = [list(range(len(boxes)))] if _is_frame(boxes) else gathered(boxes, MOST_GAP, MOST_ROOM)
    gathered_regions = [
        Region(
            union([regions[index].box for index in group]),
            sum(regions[index].pixels for index in group),
            max(regions[index].strength for index in group),
        )
        for group in groups
    ]
    return sorted(gathered_regions, key=lambda region: (-region.pixels, region.box))


def _is_frame(boxes: Sequence[Box]) -> bool:
    """Return whether boxes lie only along the border of their common box and reach all its four corners."""
    if not 2 <= len(boxes) <= 8:
        return False
    left, top, right, bottom = union(boxes)
    if min(right - left, bottom - top) < SMALLEST_FRAME:
        return False
    across, down = min(FRAME, (right - left) // 3), min(FRAME, (bottom - top) // 3)
    at_border = all(
        box[2] <= left + across or box[0] >= right - across or box[3] <= top + down or box[1] >= bottom - down
        for box in boxes
    )
    corners = [(left, top), (right - 1, top), (left, bottom - 1), (right - 1, bottom - 1)]
    near = [
        any(box[0] - 4 <= x < box[2] + 4 and box[1] - 4 <= y < box[3] + 4 for box in boxes)
        for x, y in corners
    ]
    return at_border and all(near)


def _best_shift(
    before: Pixels, after: Pixels, seen: Visibility, regions: Sequence[Region], threshold: float
) -> Shift | None:
    """Return the shift that explains most of the differences, or None if there is none.

    regions: the clusters of the differences.
    """
    if not regions:
        return None
    best: Shift | None = None
    clear, count = clearly_visible(seen, threshold), int(np.count_nonzero(seen.visible(threshold)))
    for box, axis in _parts([region.box for region in regions], (after.shape[1], after.shape[0])):
        if best is not None and best.explained >= 1 - BETTER:
            break  # No other shift can explain more.
        beyond = 0.0 if best is None else best.explained + BETTER
        if may_explain(clear, count, box, axis, beyond):
            best = find_shift(before, after, seen, box, axis, threshold, beyond) or best
    if best is not None and best.explained >= 1 - MATCH:
        return best
    everything = grown(union([region.box for region in regions]), 2, (after.shape[1], after.shape[0]))
    beyond = 0.0 if best is None else best.explained + MATCH
    return find_match(before, after, seen, everything, threshold, beyond) or best


def _parts(boxes: Sequence[Box], size: tuple[int, int]) -> list[tuple[Box, int]]:
    """Return the parts that are searched for shifts: all differences together, then each row and each column
    of them."""
    everything = grown(union(boxes), 2, size)
    parts = [(everything, 0), (everything, 1)]
    rows = [(grown(box, 2, size), 1) for box in bands(boxes, axis=0)]
    columns = [(grown(box, 2, size), 0) for box in bands(boxes, axis=1)]
    others = sorted(rows + columns, key=lambda part: (-area(part[0]), part))
    return list(dict.fromkeys(parts + others[:MOST_PARTS]))


def shift_changes(axis: int, moved: Sequence[Moved], gaps: Sequence[Gap]) -> list[DetectedChange]:
    """Return the changes of a shift: added, removed, rewritten and stretched parts, and movements."""
    text_line = axis == 1 and all(one.after[3] - one.after[1] <= TEXT_HEIGHT for one in moved)
    changes = [_of_gap(gap, axis, moved if text_line else ()) for gap in gaps]
    thick = [one for one in changes if not _is_edge(one)]
    changes = [one if one in thick else replace(one, cause=False) for one in changes]
    for one in moved:
        finding = Finding("moved", "position", 0.7, {"dx": one.dx, "dy": one.dy})
        changes.append(DetectedChange(finding, one.before, one.after, area(one.after), cause=not thick))
    return changes


def _is_edge(one: DetectedChange) -> bool:
    """Return whether a change is only an edge, for example where a moved part meets an unmoved one."""
    box = one.box_after or one.box_before
    return box is not None and min(box[2] - box[0], box[3] - box[1]) <= OVERLAP


def _of_gap(gap: Gap, axis: int, line: Sequence[Moved]) -> DetectedChange:
    """Return the change at a gap.

    line: the moved parts beside the gap, if all of it is one line of text; else empty.
    """
    if gap.stretch:
        box = gap.thing
        values = {"dy" if axis == 0 else "dx": gap.lines, "grew": gap.lines > 0}
        breadth = box[2] - box[0] if axis == 0 else box[3] - box[1]
        finding = Finding("resized", "length", 0.6, values)
        return DetectedChange(finding, *_stretch_boxes(box, axis, gap.lines), abs(gap.lines) * breadth)
    came, went = (stop - start for start, stop in (gap.after, gap.before))
    if gap.new and gap.gone and (line or not MUCH_MORE * min(came, went) < max(came, went)):
        finding = Finding("rewritten", "text", 0.5) if line else Finding("replaced", "part", 0.5)
        after = union([gap.new, *(one.after for one in line)])
        before = union([gap.gone, *(one.before for one in line)])
        return DetectedChange(finding, before, after, area(after))
    if gap.new and not (gap.gone and went > came):
        return DetectedChange(Finding("added", "pushed in", 0.7), None, gap.new, area(gap.new))
    box = gap.gone or (0, 0, 0, 0)
    return DetectedChange(Finding("removed", "closed up", 0.7), box, None, area(box))


def _stretch_boxes(box: Box, axis: int, lines: int) -> tuple[Box, Box]:
    """Return the boxes before and after of an object that grew by ``lines``, or shrank if ``lines`` is
    negative.

    box: the larger one of the two boxes.
    """
    left, top, right, bottom = box
    less = abs(lines)
    if axis == 0:
        smaller = (left, top, right, max(top + 1, bottom - less))
    else:
        smaller = (left, top, max(left + 1, right - less), bottom)
    return (smaller, box) if lines > 0 else (box, smaller)
