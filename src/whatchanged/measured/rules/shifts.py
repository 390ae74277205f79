"""Detection of shifts: parts of the picture whose content was pushed. Found shifts are then removed from the
differences."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured.pixels.boxes import area, box_of, grown, union
from whatchanged.measured.pixels.gate import REACH, Visibility, far_from_differences, visibility_within
from whatchanged.measured.pixels.layers import far, usual_color
from whatchanged.measured.pixels.motion import FARTHEST, LineRun, runs_of_lines
from whatchanged.measured.pixels.planes import steps_from
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box
from whatchanged.measured.rules.ink import ink_box, ink_count

EXPLAINED = 0.4
"""The least fraction of the visible differences that a shift must remove. Added and removed content counts as
remaining."""
CLEAR = 2.0
"""The least strength, as a multiple of the threshold or of 1, of a difference that is visible however it is
rounded. Rounding changes strengths by up to a quarter."""
FAINT_INK = 3
"""The same limit for the sides of an object that continues through repeated lines and may have a pale
fill."""
SHORTEST = 6
"""The least number of lines that move together."""
ALIKE = 12
"""The largest difference, in levels, between adjacent lines of a continuing object."""
LEAST_BREADTH = 12
"""The least breadth in pixels of an object that grew. Narrower regions may be strokes of letters."""
LEAST_NOVEL = 6
"""The least number of pixels in an object."""


@dataclass(frozen=True)
class Gap:
    """The new and the removed lines between two parts that moved by different steps.

    new, gone  the boxes of their ink, after and before; None if there is no ink
    stretch    whether the lines repeat their neighbours because an object became longer or shorter
    lines      the number of lines after minus the number before
    ink        the number of their pixels that differ from their neighbours
    thing      the box of the stretched object, or of all new or removed content
    after      the range of the new lines in the box after: first and last line, exclusive
    before     the same range for the removed lines
    """

    new: Box | None
    gone: Box | None
    stretch: bool
    lines: int
    ink: int
    thing: Box
    after: tuple[int, int]
    before: tuple[int, int]

    @property
    def exchanged(self) -> bool:
        """Whether about as many lines were removed as added. Such lines are examined again for changes."""
        came, went = (stop - start for start, stop in (self.after, self.before))
        return self.new is not None and self.gone is not None and 2 * min(came, went) >= max(came, went)


@dataclass(frozen=True)
class Moved:
    """Content that moved: its boxes and its movement."""

    before: Box
    after: Box
    dx: int
    dy: int


@dataclass(frozen=True)
class Shift:
    """The movement of the rows or the columns of one part of a picture.

    axis       0 for rows, 1 for columns
    moved      the moved content, grouped by offset, the largest first
    gaps       the content that appeared or disappeared in between
    aligned    the picture before with its lines moved to their positions after
    seen       the visibility of the differences between it and the picture after
    explained  the fraction of the visible differences that disappeared
    """

    axis: int
    moved: tuple[Moved, ...]
    gaps: tuple[Gap, ...]
    aligned: Pixels
    seen: Visibility
    explained: float


def find_shift(
    before: Pixels, after: Pixels, seen: Visibility, box: Box, axis: int, threshold: float, beyond: float = 0
) -> Shift | None:
    """Return the shift of rows (axis 0) or columns (axis 1) inside a box, or None if it explains too little.

    beyond: the fraction of the differences that the shift must exceed.
    """
    runs = _long_runs(before, after, box, axis)
    if not any(run.offset for run in runs):
        return None
    longest = max((run for run in runs if run.offset), key=lambda run: run.stop - run.start)
    wider = _with_sources(box, axis, longest, after.shape[axis])
    if wider != box:
        more = _long_runs(before, after, wider, axis)
        if any(run.offset == longest.offset for run in more):
            box, runs = wider, more
    left, top, right, bottom = box
    part = (slice(top, bottom), slice(left, right))
    moved = moved_runs(before, after, box, axis, runs)
    if not moved:
        return None
    gaps = gaps_between(before, after, (box, box), axis, runs)
    aligned = before.copy()
    aligned[part] = _warped(before[part], after[part], axis, runs)
    for gap in gaps:
        if gap.exchanged:
            _exchange(aligned[part], before[part], after[part], axis, gap)
    gaps = tuple(gap for gap in gaps if not gap.exchanged)
    new = sum(gap.ink for gap in gaps if not gap.stretch)
    rest = rest_of((before, aligned, after), seen, threshold, new, beyond)
    return None if rest is None else Shift(axis, moved, gaps, aligned, *rest)


def rest_of(
    pictures: tuple[Pixels, Pixels, Pixels], seen: Visibility, threshold: float, new: int, beyond: float
) -> tuple[Visibility, float] | None:
    """Return the visibility of the differences that an alignment leaves, and the fraction of the differences
    that it explains, or None if it explains too little.

    pictures: the picture before, its alignment, and the picture after. seen: the visibility of their
    differences before the alignment. new: the number of pixels of the content that appeared or disappeared.
    """
    before, aligned, after = pictures
    count = max(1, int(np.count_nonzero(seen.visible(threshold))))
    staying = clearly_visible(seen, threshold) & far_from_differences(before, aligned)
    if not _is_enough(1 - (new + int(np.count_nonzero(staying))) / count, beyond):
        return None
    most = int(count * (1 - max(EXPLAINED, beyond))) + 1 - new
    rest = visibility_within(aligned, after, threshold, most)
    if rest is None:
        return None
    explained = 1 - (new + int(np.count_nonzero(rest.visible(threshold)))) / count
    return (rest, explained) if _is_enough(explained, beyond) else None


def may_explain(clear: NDArray[np.bool_], count: int, box: Box, axis: int, beyond: float) -> bool:
    """Return whether enough of the visible differences lie where a shift inside a box may explain them.

    These are the differences in the box, in the lines from which its content may come, and near these.

    clear: the clearly visible pixels. count: the number of all visible pixels.
    """
    left, top, right, bottom = box
    down, across = (REACH + FARTHEST * (axis == lines) for lines in (0, 1))
    near = clear[max(0, top - down) : bottom + down, max(0, left - across) : right + across]
    elsewhere = int(np.count_nonzero(clear)) - int(np.count_nonzero(near))
    return _is_enough(1 - elsewhere / max(1, count), beyond)


def clearly_visible(seen: Visibility, threshold: float) -> NDArray[np.bool_]:
    """Return a mask (H, W) of the pixels that stay visible, whatever happens to pixels far from them."""
    return seen.visible(CLEAR * max(1.0, threshold)) & seen.is_plain


def _is_enough(explained: float, beyond: float) -> bool:
    """Return whether a shift explains enough of the differences, and more than earlier shifts."""
    return explained >= EXPLAINED and explained > beyond


def _long_runs(before: Pixels, after: Pixels, box: Box, axis: int) -> list[LineRun]:
    """Return the runs of lines in a box. Runs that moved but are too short become new lines."""
    left, top, right, bottom = box
    part = (slice(top, bottom), slice(left, right))
    return [
        run if run.offset == 0 or run.stop - run.start >= SHORTEST else LineRun(run.start, run.stop, None)
        for run in runs_of_lines(before[part], after[part], axis)
    ]


def _with_sources(box: Box, axis: int, moved: LineRun, length: int) -> Box:
    """Return the box enlarged by the source lines of its first or last lines, if these lie outside.

    The additional lines are unchanged. They show whether an object continues there.

    moved: the lines of the box that moved.
    length: the number of lines of the picture.
    """
    offset = moved.offset or 0
    low, high = (1, 3) if axis == 0 else (0, 2)
    ends = list(box)
    first, last = moved.start - offset, moved.stop - offset
    if offset > 0 and first < 0:
        ends[low] = max(0, box[low] - offset - 2)
    if offset < 0 and last > box_length(box, axis):
        ends[high] = min(length, box[high] - offset + 2)
    left, top, right, bottom = ends
    return left, top, right, bottom


def _warped(before: Pixels, after: Pixels, axis: int, runs: list[LineRun]) -> Pixels:
    """Return the lines before at their positions after. New lines are copied from the picture after."""
    source, target = np.moveaxis(before, axis, 0), np.moveaxis(after, axis, 0).copy()
    for run in runs:
        if run.offset is not None:
            start, stop = max(run.start, run.offset), min(run.stop, len(source) + run.offset)
            target[start:stop] = source[start - run.offset : stop - run.offset]
    return np.moveaxis(target, 0, axis)


def _exchange(aligned: Pixels, before: Pixels, after: Pixels, axis: int, gap: Gap) -> None:
    """Copy the removed lines to the position of the new ones, in place.

    The lines are aligned at their beginnings or at their ends, whichever fits better.
    """
    target, source, shown = (np.moveaxis(picture, axis, 0) for picture in (aligned, before, after))
    (first, last), (start, stop) = gap.after, gap.before
    count = min(last - first, stop - start)
    ends = (source[start : start + count], source[stop - count : stop])
    places = (slice(first, first + count), slice(last - count, last))
    unlike = [
        int(np.abs(lines.astype(np.int16) - shown[place]).sum())
        for lines, place in zip(ends, places, strict=True)
    ]
    best = int(np.argmin(unlike))
    target[first:last] = ends[best][-1 if best == 0 else 0]
    target[places[best]] = ends[best]


def moved_runs(before: Pixels, after: Pixels, box: Box, axis: int, runs: list[LineRun]) -> tuple[Moved, ...]:
    """Return the moved content with ink, one entry for each offset.

    If content moved in from beyond the edge of the picture, its box before is clipped to the picture.
    """
    results: dict[int, list[Box]] = {}
    for run in runs:
        if run.offset:
            ink = ink_box(after, _lines(box, axis, run.start, run.stop))
            if ink is not None:
                results.setdefault(run.offset, []).append(ink)
    moved = []
    for offset, boxes in results.items():
        there = union(boxes)
        dx, dy = (0, offset) if axis == 0 else (offset, 0)
        was = (there[0] - dx, there[1] - dy, there[2] - dx, there[3] - dy)
        seen = grown(was, 0, (before.shape[1], before.shape[0]))
        if seen[0] < seen[2] and seen[1] < seen[3]:
            moved.append(Moved(seen, there, dx, dy))
    return tuple(sorted(moved, key=lambda one: (-area(one.after), one.after)))


def gaps_between(
    before: Pixels, after: Pixels, boxes: tuple[Box, Box], axis: int, runs: list[LineRun]
) -> tuple[Gap, ...]:
    """Return the content that appeared or disappeared between the matched lines of two boxes (before,
    after)."""
    length_before, length = (box_length(box, axis) for box in boxes)
    kept = [(run.start, run.stop, run.offset) for run in runs if run.offset is not None]
    used = np.zeros(length_before, bool)
    for start, stop, offset in kept:
        used[max(0, start - offset) : max(0, stop - offset)] = True
    gaps = []
    end_after = end_before = last = 0
    for start, stop, offset in [*kept, (length, length, length - length_before)]:
        source = start - offset
        free = np.flatnonzero(~used[end_before : max(end_before, source)]) + end_before
        gone = (int(free[0]), int(free[-1]) + 1) if len(free) else (0, 0)
        gap = _gap(
            before, after, boxes, axis, *_trimmed(before, after, boxes, axis, (end_after, start), gone)
        )
        cut = (
            length == length_before
            and start == length
            and 0 < abs(gap.lines) <= abs(last)
            and _lies_in_last(gap, boxes[1], axis, abs(last))
        )
        # Such lines were pushed out of the box, unless the lines before them moved away from its end.
        if cut and gap.gone and not gap.new and last < 0:
            gaps.append(replace(gap, ink=0))
        elif (gap.new or gap.gone) and not (cut and not (gap.new and gap.gone)):
            gaps.append(gap)
        else:
            grown_by = offset - last - max(0, start - end_after)
            if last < offset and start < length and 0 < grown_by <= start and source < end_before:
                # Lines before appear twice after.
                gaps += _repeated(after, boxes[1], axis, (start - grown_by, start))
        end_after, end_before, last = stop, max(end_before, stop - offset), offset
    return tuple(gaps)


def _lies_in_last(gap: Gap, box: Box, axis: int, lines: int) -> bool:
    """Return whether the content at the end of a box lies only in its last ``lines``, which moved in or out
    of the box."""
    end = box[3 - axis]
    place = gap.new or gap.gone
    return place is not None and place[1 - axis] >= end - lines - SHORTEST


def _trimmed(
    before: Pixels,
    after: Pixels,
    boxes: tuple[Box, Box],
    axis: int,
    new: tuple[int, int],
    gone: tuple[int, int],
) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the ranges of new and of removed lines, without equal lines at both ends, such as those of a
    frame."""
    came, went = (
        np.moveaxis(picture[top:bottom, left:right], axis, 0)[lines[0] : lines[1]].astype(np.int16)
        for picture, (left, top, right, bottom), lines in (
            (after, _lines(boxes[1], axis, 0, box_length(boxes[1], axis)), new),
            (before, _lines(boxes[0], axis, 0, box_length(boxes[0], axis)), gone),
        )
    )
    count = min(len(came), len(went))
    if came.shape[1] != went.shape[1] or not count:
        return new, gone
    differs = [
        np.abs(came[ends] - went[ends]).reshape(count, -1).max(axis=1) > ALIKE for ends in _ends(count)
    ]
    first = int(differs[0].argmax()) if differs[0].any() else count
    last = int(differs[1][::-1].argmax()) if differs[1].any() else count
    last = min(last, count - first)
    return (new[0] + first, new[1] - last), (gone[0] + first, gone[1] - last)


def _ends(count: int) -> tuple[slice, slice]:
    """Return slices of the first and of the last ``count`` lines."""
    return slice(0, count), slice(-count, None)


def _repeated(after: Pixels, box: Box, axis: int, lines: tuple[int, int]) -> list[Gap]:
    """Return the gap of lines that appear twice after.

    An object that continues through these lines became longer. Otherwise the lines contain one more object of
    the same kind.
    """
    ink = ink_box(after, _lines(box, axis, *lines), FAINT_INK)
    if ink is None or box_length(ink, 1 - axis) < LEAST_BREADTH:
        return []
    more = lines[1] - lines[0]
    count = ink_count(after, ink)
    new = novel(after, _lines(box, axis, *lines), axis)
    if new is not None:  # There is one more object of the same kind.
        few = more < SHORTEST or box_length(new, axis) < SHORTEST
        return [] if few else [Gap(new, None, False, more, count, new, lines, (0, 0))]
    thing = stretched(after, ink, axis)
    return [
        Gap(new=ink, gone=None, stretch=True, lines=more, ink=count, thing=thing, after=lines, before=(0, 0))
    ]


def _gap(
    before: Pixels,
    after: Pixels,
    boxes: tuple[Box, Box],
    axis: int,
    new: tuple[int, int],
    gone: tuple[int, int],
) -> Gap:
    """Return the gap between a range of lines after and a range of lines before."""
    gone_lines, new_lines = _lines(boxes[0], axis, *gone), _lines(boxes[1], axis, *new)
    ink = ink_count(after, new_lines) + ink_count(before, gone_lines)
    came, went = novel(after, new_lines, axis), novel(before, gone_lines, axis)
    stretch = came is None and went is None
    more = new[1] - new[0] - (gone[1] - gone[0])
    if stretch:
        came, went = ink_box(after, new_lines), ink_box(before, gone_lines)
    thing = union([box for box in (came, went) if box] or [new_lines])
    if stretch and (came or went):
        picture = after if came else before
        thing = stretched(picture, came or went or new_lines, axis)
    return Gap(new=came, gone=went, stretch=stretch, lines=more, ink=ink, thing=thing, after=new, before=gone)


def covered(before: Pixels, shift: Shift) -> Box | None:
    """Return the box of the content that a moved object on the same line now covers, or None."""
    if shift.axis == 0 or shift.gaps:
        return None
    for one in shift.moved:
        low, high = one.after[0], one.after[2]
        if one.dx > 0:
            low = max(low, max(other.before[2] for other in shift.moved) + 1)
        else:
            high = min(high, min(other.before[0] for other in shift.moved) - 1)
        box = ink_box(before, (low, one.after[1], high, one.after[3])) if low < high else None
        if box is not None and min(box[2] - box[0], box[3] - box[1]) >= LEAST_NOVEL:
            return box
    return None


def novel(pixels: Pixels, lines: Box, axis: int) -> Box | None:
    """Return the box of the content of a range of lines that both adjacent lines lack, or None if there is
    none.

    Frames and fills that continue through the lines also appear in both adjacent lines, so they are not
    novel.
    """
    left, top, right, bottom = lines
    if right <= left or bottom <= top:
        return None
    part = np.moveaxis(pixels[top:bottom, left:right], axis, 0)
    start, stop = (top, bottom) if axis == 0 else (left, right)
    outside = [line for line in (start - 1, stop) if 0 <= line < pixels.shape[axis]]
    new = np.ones(part.shape[:2], bool)
    for line in outside or [start]:
        neighbour = pixels[line, left:right] if axis == 0 else pixels[top:bottom, line]
        new &= steps_from(neighbour, part) > ALIKE
    new = np.moveaxis(new, 0, axis)
    if np.count_nonzero(new) < LEAST_NOVEL or _is_ground(pixels, lines, axis):
        return None
    return box_of(new, left, top)


def _is_ground(pixels: Pixels, lines: Box, axis: int) -> bool:
    """Return whether lines are empty and have the most frequent colour of an adjacent line."""
    left, top, right, bottom = lines
    if ink_count(pixels, lines):
        return False
    own = usual_color(pixels[top:bottom, left:right].reshape(-1, 3))
    start, stop = (top, bottom) if axis == 0 else (left, right)
    beside = [line for line in (start - 1, stop) if 0 <= line < pixels.shape[axis]]
    colors = [
        usual_color(pixels[line, left:right] if axis == 0 else pixels[top:bottom, line]) for line in beside
    ]
    return any(far(own, color) <= ALIKE for color in colors)


def stretched(pixels: Pixels, box: Box, axis: int) -> Box:
    """Return the box of the object that contains repeated lines. It extends along the axis as far as its
    edges continue."""
    left, top, right, bottom = box
    picture = np.moveaxis(pixels, axis, 0)  # The axis of the lines comes first.
    first, last, low, high = (top, bottom, left, right) if axis == 0 else (left, right, top, bottom)
    inset = min(2, (high - low - 1) // 2)  # Edges are often blurred.
    # The search follows both edges, because the interior may have content.
    reaches = [_reach(picture[:, edge], first, last) for edge in {low + inset, high - 1 - inset}]
    start, stop = max(reach[0] for reach in reaches), min(reach[1] for reach in reaches)
    return (left, start, right, stop) if axis == 0 else (start, top, stop, bottom)


def _reach(line: Pixels, first: int, last: int) -> tuple[int, int]:
    """Return how far the colour in the middle of a range extends along a line (N, 3): start and stop."""
    alike = steps_from(line[(first + last) // 2], line) <= ALIKE
    alike[first:last] = True
    before, after = np.flatnonzero(~alike[:first]), np.flatnonzero(~alike[last:])
    start = int(before[-1]) + 1 if len(before) else 0
    return start, int(after[0]) + last if len(after) else len(line)


def box_length(box: Box, axis: int) -> int:
    """Return the number of lines in a box."""
    return box[3] - box[1] if axis == 0 else box[2] - box[0]


def _lines(box: Box, axis: int, start: int, stop: int) -> Box:
    """Return the box of a range of lines in a box."""
    if axis == 0:
        return box[0], box[1] + start, box[2], box[1] + stop
    return box[0] + start, box[1], box[0] + stop, box[3]
