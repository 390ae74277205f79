"""Areas of one colour, and outlines, that grew or shrank where the rules only found that something looks
different.

Other content in an area hides from the comparison of pixels that the area around it has another size. Its
four sides still show it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured.amounts.icon import iou_of
from whatchanged.measured.amounts.look import look_in_both
from whatchanged.measured.pixels.boxes import area, box_of, common, grown, iou, lies_in, union
from whatchanged.measured.pixels.layers import INK, colors_in, usual_color
from whatchanged.measured.pixels.planes import steps_between, steps_from
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.pixels.straight import Codes, codes
from whatchanged.measured.result import Box
from whatchanged.measured.rules.causes import without_chance_likeness
from whatchanged.measured.rules.detected import DetectedChange
from whatchanged.measured.rules.kinds import SAME_COLOR, Finding, ink_overlap
from whatchanged.measured.rules.layout import BoxPair

SMALLEST = 16
"""The least side of an area in pixels. Letters of usual size are smaller."""
DEPTH, STRAIGHT, BESIDE_TEXT = 3, 0.9, 0.4
"""The depth in pixels in which a side is searched for, the least fraction of the middle halves of three sides
that is found there, and the least fraction of the fourth one, where text may begin."""
MOST_COLORS, MOST_PARTS = 12, 2000
"""The number of colours whose areas are examined, the most frequent first, and the largest number of parts of
one colour. A colour with more is that of a pattern or of a photo."""
GROUND = 0.02
"""The least area of background in the colour of the areas, as a fraction of the picture."""
LEAST_STEP, MOST_GROWTH = 2, 2
"""The least change of a size in pixels, and the largest ratio between the lengths of a side."""
MOST_OF_TEXT = 4
"""The largest such ratio of a single area around a text, which may be a much longer one now."""
ONE_PLACE = 0.4
"""The least part of the smaller one of a single area's places before and after that lies in the other one."""
NEAR = 4
"""The margin in pixels around an area that belongs to it, such as its shadow."""
IN_AREAS, IN_AREA, ON_SIDES = 0.8, 0.3, 0.8
"""The least fraction of an unclear change that lies in several areas, the same for a single area, whose side
may have moved other things, and the least fraction of the strip beside a moved side that lies in the unclear
change."""
ALIGNED = (0.0, 1.0, 0.5)
"""Where the content of an area may be aligned along an axis: at its start, its end or its centre."""
KEPT_CONTENT = 0.8
"""The least fraction of the content in each of the pictures that is found in the other one too. Of two texts
of several lines up to 0.78 was found on drawn pages."""
SAME_PIXELS = 0.6
"""The least fraction of the smaller content that lies exactly on the other one: one half for two texts."""
SAME_WEIGHT = 0.8
"""The least ratio of the amounts of ink of content that was kept. Bold text has more than regular text."""
END, SAME_END = 12, 0.6
"""The width in pixels of the end of a line of content, a letter or three dots, and the least intersection
over union of two such ends that are the same."""
KEPT_IN = 0.5
"""The least fraction of alike areas that keep their content."""
THIN = 24
"""The largest shorter side, in pixels, of what seems to have moved and may be a side of an area."""
FRAME = 6
"""The largest distance in pixels between the sides of an area and those of the frame around it."""

VAGUE = (
    ("replaced", "content"),
    ("replaced", "icon"),
    ("replaced", "part"),
    ("restyled", "border"),
    ("restyled", "shape"),
    ("restyled", "weight"),
    ("rewritten", "text"),
)
"""The kinds and aspects of changes of which the rules only know that something looks different."""


def grown_areas(changes: Sequence[DetectedChange], before: Pixels, after: Pixels) -> list[DetectedChange]:
    """Return the changes; where only something looked different, the areas that grew or shrank instead."""
    results = without_chance_likeness(list(changes))
    unclear = [one for one in results if _is_unclear(one, before, after)]
    if not unclear:
        return list(changes)
    groups = _groups(_resized(before, after, unclear))
    for steps, pairs in groups:
        explained = [one for one in unclear if one in results and _explains(pairs, one)]
        if not explained or any(_is_known(pairs, one) for one in results):
            continue
        kept = [_keeps_content(before, after, pair) for pair in pairs]
        if sum(kept) < KEPT_IN * len(kept) and not any(_is_side(pairs, one) for one in explained):
            continue
        first = results.index(explained[0])
        change = _change(steps, pairs, sum(one.pixels for one in explained))
        results[first] = _with_look(change, before, after)
        results = [one for one in results if one not in explained]
    return results


def areas_of_more(changes: Sequence[DetectedChange], before: Pixels, after: Pixels) -> list[DetectedChange]:
    """Return the changes; where the rules only found more or less than before, the area that grew or shrank
    there, or the text that was rewritten in it.

    Without this, the part of a wider button in which its longer text goes on looks like a thing that came.
    """
    return [
        _of_area(one, before, after)
        if "by_amount" in one.finding.values and _is_unclear(one, before, after)
        else one
        for one in changes
    ]


def _of_area(one: DetectedChange, before: Pixels, after: Pixels) -> DetectedChange:
    """Return a change as that of the single area that explains it, or as it is."""
    for steps, pairs in _groups(_resized(before, after, [one], MOST_OF_TEXT)):
        if len(pairs) > 1 or not _explains(pairs, one):
            continue
        if _keeps_content(before, after, pairs[0]):
            return _with_look(_change(steps, pairs, one.pixels), before, after)
        finding = Finding("rewritten", "text", 0.45)
        return replace(one, finding=finding, box_before=pairs[0][0], box_after=pairs[0][1])
    return one


def _with_look(change: DetectedChange, before: Pixels, after: Pixels) -> DetectedChange:
    """Return the change of areas with the noun that their pixels show."""
    look = look_in_both(before, after, change.box_before, change.box_after)
    return replace(change, look=look or change.look)


def _is_unclear(one: DetectedChange, before: Pixels, after: Pixels) -> bool:
    """Return whether the rules only know that something looks different at the place of a change."""
    was, now = one.box_before or one.box_after, one.box_after or one.box_before
    if not one.cause or was is None or now is None or len(one.boxes) > 1:
        return False
    around, finding = union([was, now]), one.finding
    if not (lies_in(around, before.shape) and lies_in(around, after.shape)):
        return False
    if finding.aspect == "position" and finding.kind == "moved":
        return min(_sizes(was)) <= THIN
    measured = "amount_before" in finding.values or "on_after" in finding.values
    by_amount = "by_amount" in finding.values and "number" not in finding.values
    vague = (finding.kind, finding.aspect) in VAGUE and not measured
    return (vague or by_amount) and min(_sizes(around)) >= SMALLEST // 2


def _sizes(box: Box) -> tuple[int, int]:
    """Return the width and the height of a box."""
    return box[2] - box[0], box[3] - box[1]


def _around(one: DetectedChange) -> Box:
    """Return the box around both places of a change."""
    return union([box for box in (one.box_before, one.box_after) if box is not None])


def _resized(
    before: Pixels, after: Pixels, unclear: Sequence[DetectedChange], most: float = MOST_GROWTH
) -> Iterator[BoxPair]:
    """Yield the areas of the colours that differ in unclear changes, if their sizes differ."""
    pictures = codes(before), codes(after)
    for color in _colors(before, after, unclear):
        one = _areas(pictures[0], color)
        other = _areas(pictures[1], color) if one else []
        stayed = set(one) & set(other)
        distances = sorted(
            (sum(abs(a - b) for a, b in zip(was, now, strict=True)), was, now)
            for was in one
            for now in other
            if was not in stayed and now not in stayed
        )
        known: set[Box] = set()
        for _, was, now in distances:
            if was in known or now in known:
                continue
            known |= {was, now}
            sizes = list(zip(_sizes(was), _sizes(now), strict=True))
            if max(abs(b - a) for a, b in sizes) >= LEAST_STEP and all(
                max(pair) <= most * min(pair) for pair in sizes
            ):
                yield was, now


def _colors(before: Pixels, after: Pixels, unclear: Sequence[DetectedChange]) -> list[int]:
    """Return the most frequent colours of the pixels that differ in unclear changes."""
    found: dict[int, int] = {}
    for one in unclear:
        left, top, right, bottom = _around(one)
        parts = [picture[top:bottom, left:right] for picture in (before, after)]
        differs = steps_between(parts[0], parts[1]) > SAME_COLOR
        for part in parts:
            colors, counts = np.unique(codes(colors_in(part, differs)), return_counts=True)
            for color, count in zip(colors.tolist(), counts.tolist(), strict=True):
                found[color] = found.get(color, 0) + count
    return sorted(found, key=lambda color: (-found[color], color))[:MOST_COLORS]


def _areas(picture: Codes, color: int) -> list[Box]:
    """Return the boxes of the areas and outlines of a colour with four straight sides, perhaps with round
    corners.

    The list is empty for the colour of the background, which reaches two edges of the picture: its areas are
    gaps between things.

    picture: (H, W).
    """
    from scipy import ndimage  # SciPy is imported here because its import is slow.

    mask = picture == color
    around = box_of(mask)
    if around is None or min(_sizes(around)) < SMALLEST or _is_ground(mask):
        return []
    labels, count = ndimage.label(mask[around[1] : around[3], around[0] : around[2]], np.ones((3, 3), bool))
    if count > MOST_PARTS:
        return []
    boxes = []
    for number, (rows, columns) in enumerate(ndimage.find_objects(labels), 1):
        box = (
            around[0] + columns.start,
            around[1] + rows.start,
            around[0] + columns.stop,
            around[1] + rows.stop,
        )
        ends = (box[0] <= 0, box[1] <= 0, box[2] >= picture.shape[1], box[3] >= picture.shape[0])
        if sum(ends) >= 2 and area(box) >= GROUND * picture.size:
            return []
        if min(_sizes(box)) >= SMALLEST and sum(ends) < 2 and _has_sides(labels[rows, columns] == number):
            boxes.append(box)
    return boxes


def _is_ground(mask: NDArray[np.bool_]) -> bool:
    """Return whether empty rows or columns show at once that a colour is that of the background.

    mask: (H, W) the pixels of the colour.
    """
    for axis, length in enumerate(mask.shape):
        others = np.flatnonzero(~mask.all(axis=1 - axis))
        lines = int(np.diff(others, prepend=-1, append=length).max()) - 1
        if lines and lines * mask.shape[1 - axis] >= GROUND * mask.size:
            return True  # Neighbouring lines of the colour are one area that reaches two edges.
    return False


def _has_sides(part: NDArray[np.bool_]) -> bool:
    """Return whether a part (H, W) reaches along all four sides of its box, except for its corners."""
    sides = [side for lines in (part, part.T) for side in (lines[:DEPTH], lines[-DEPTH:])]
    whole = [np.asarray(side.any(axis=0)) for side in sides]
    quarters = [len(side) // 4 for side in whole]
    middles = sorted(float(side[k : len(side) - k].mean()) for side, k in zip(whole, quarters, strict=True))
    return middles[1] >= STRAIGHT and min(float(side.mean()) for side in whole) >= BESIDE_TEXT


def _groups(pairs: Iterator[BoxPair]) -> list[tuple[tuple[int, int], list[BoxPair]]]:
    """Return the areas that grew or shrank alike, with by how many pixels they became wider and taller; the
    largest groups first. An area in a frame that grew with it is not an area of its own."""
    groups: dict[tuple[int, int], list[BoxPair]] = {}
    for was, now in sorted(pairs, key=lambda pair: -area(pair[1])):
        (width, height), (new_width, new_height) = _sizes(was), _sizes(now)
        group = groups.setdefault((new_width - width, new_height - height), [])
        framed = any(
            max(abs(a - b) for a, b in zip(now, outer[1], strict=True)) <= FRAME
            and common(now, outer[1]) == area(now)
            for outer in group
        )
        if not framed:
            group.append((was, now))
    return sorted(groups.items(), key=lambda one: -sum(area(pair[1]) for pair in one[1]))


def _explains(pairs: Sequence[BoxPair], one: DetectedChange) -> bool:
    """Return whether areas that grew or shrank explain an unclear change.

    It lies in them, and contains a side that moved. A single area stays at its place.
    """
    if one.finding.kind == "moved":
        return _is_side(pairs, one)
    single = len(pairs) == 1
    if single and common(*pairs[0]) < ONE_PLACE * min(map(area, pairs[0])):
        return False
    place = _around(one)
    around = union([box for pair in pairs for box in pair])
    size = (around[2] + NEAR, around[3] + NEAR)
    if common(place, grown(around, NEAR, size)) < (IN_AREA if single else IN_AREAS) * area(place):
        return False
    beside = grown(place, NEAR, size)
    return any(common(strip, beside) >= ON_SIDES * area(strip) for pair in pairs for strip in _strips(*pair))


def _is_side(pairs: Sequence[BoxPair], one: DetectedChange) -> bool:
    """Return whether a movement is only that of one side of an area, whose opposite side stayed."""
    if len(pairs) > 1 or one.finding.kind != "moved" or one.box_before is None or one.box_after is None:
        return False
    was, now = pairs[0]
    for axis in (0, 1):
        for side, opposite in ((axis, axis + 2), (axis + 2, axis)):
            places = (was[side], one.box_before[side]), (now[side], one.box_after[side])
            long = one.box_after[3 - axis] - one.box_after[1 - axis]
            if (
                was[opposite] == now[opposite]
                and now[side] - was[side] == one.finding.values.get(("dx", "dy")[axis])
                and not one.finding.values.get(("dy", "dx")[axis])
                and all(abs(a - b) <= 1 for a, b in places)
                and long >= ON_SIDES * (now[3 - axis] - now[1 - axis])
                and 2 * (one.box_after[axis + 2] - one.box_after[axis]) < now[axis + 2] - now[axis]
            ):
                return True
    return False


def _keeps_content(before: Pixels, after: Pixels, pair: BoxPair) -> bool:
    """Return whether an area still has most of its content, aligned at a side, a corner or the centre."""
    if _stands_still(before, after, pair):
        return True
    parts = [
        picture[box[1] + NEAR : box[3] - NEAR, box[0] + NEAR : box[2] - NEAR]
        for picture, box in zip((before, after), pair, strict=True)
    ]
    inks = [steps_from(usual_color(part.reshape(-1, 3)), part) > INK for part in parts]
    if not any(ink.any() for ink in inks):
        return True
    less, more = sorted(int(np.count_nonzero(ink)) for ink in inks)
    if less < SAME_WEIGHT * more and inks[0].shape[1] != inks[1].shape[1] and not _end_alike(inks):
        return False
    shape = [min(sides) for sides in zip(*(ink.shape for ink in inks), strict=True)]
    for down, across in product(ALIGNED, ALIGNED):
        one, other = (_part_of(ink, shape, down, across) for ink in inks)
        less, more = sorted(int(np.count_nonzero(ink)) for ink in (one, other))
        same = int(np.count_nonzero(one & other)) >= SAME_PIXELS * less and less >= SAME_WEIGHT * more
        if same and ink_overlap(one, other) >= KEPT_CONTENT:
            return True
    return False


def _stands_still(before: Pixels, after: Pixels, pair: BoxPair) -> bool:
    """Return whether the content within and beside an area stayed at its place, like that of a selection."""
    was, now = pair
    both = (max(was[0], now[0]), max(was[1], now[1]), min(was[2], now[2]), min(was[3], now[3]))
    if not common(was, now):
        return False
    for left, top, right, bottom in (both, *_strips(was, now)):
        parts = [picture[top:bottom, left:right] for picture in (before, after)]
        inks = [steps_from(usual_color(part.reshape(-1, 3)), part) > INK for part in parts]
        if any(ink.any() for ink in inks) and iou_of(inks[0], inks[1]) < KEPT_CONTENT:
            return False
    return True


def _end_alike(inks: Sequence[NDArray[np.bool_]]) -> bool:
    """Return whether the contents of an area end in the same way, like a text that is cut off with dots.

    A longer text, of which the start is the same, ends in other letters.
    """
    ends = []
    for ink in inks:
        last = int(np.flatnonzero(ink.any(axis=0))[-1]) + 1 if ink.any() else 0
        ends.append(ink[:, max(0, last - END) : last])
    shape = [min(sides) for sides in zip(*(end.shape for end in ends), strict=True)]
    return iou_of(*(_part_of(end, shape, 0.5, 1.0) for end in ends)) >= SAME_END


def _part_of(ink: NDArray[np.bool_], shape: Sequence[int], down: float, across: float) -> NDArray[np.bool_]:
    """Return the part of a mask with a smaller shape, at its start (0), its end (1) or its centre (0.5)."""
    top, left = (
        round(share * (length - least))
        for share, length, least in zip((down, across), ink.shape, shape, strict=True)
    )
    return ink[top : top + shape[0], left : left + shape[1]]


def _strips(was: Box, now: Box) -> Iterator[Box]:
    """Yield the strips between the old and the new places of the sides that moved."""
    for axis in (0, 1):
        low, high = (max(was[1 - axis], now[1 - axis]), min(was[3 - axis], now[3 - axis]))
        for side in (axis, axis + 2):
            first, last = sorted((was[side], now[side]))
            if last - first >= 1 and high > low:
                yield (first, low, last, high) if axis == 0 else (low, first, high, last)


def _is_known(pairs: Sequence[BoxPair], one: DetectedChange) -> bool:
    """Return whether a change is already that of the size of one of these areas."""
    now = one.box_after
    return one.finding.kind == "resized" and now is not None and any(iou(now, p[1]) > 0.8 for p in pairs)


def _change(steps: tuple[int, int], pairs: Sequence[BoxPair], pixels: int) -> DetectedChange:
    """Return the change of areas that grew or shrank alike."""
    wider, taller = steps
    values: dict[str, object] = {"dwidth": wider, "dheight": taller}
    if not (wider and taller):
        values = {"dx" if wider else "dy": wider or taller, "grew": wider + taller > 0}
    was, now = (union([pair[end] for pair in pairs]) for end in (0, 1))
    finding = Finding("resized", "length", 0.6, values)
    if len(pairs) == 1:
        return DetectedChange(finding, was, now, pixels, look="area")
    return DetectedChange(finding, was, now, pixels, boxes=tuple(pair[1] for pair in pairs), element="box")
