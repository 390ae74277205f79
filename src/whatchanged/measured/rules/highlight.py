"""Detection of a highlight that moved from one item to another: a fill, an outline, a line or a text colour.

The items themselves stay where they are. The same two colours are exchanged at two places, in opposite
directions, and what is drawn on them is drawn there in both pictures.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from whatchanged import words
from whatchanged.measured.pixels.boxes import area, box_of, common, gap, grown, union
from whatchanged.measured.pixels.layers import (
    INK,
    RGBColor,
    coarse_codes,
    colors_in,
    far,
    ground_color,
    usual_color,
)
from whatchanged.measured.pixels.planes import enlarged, steps_from
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box
from whatchanged.measured.rules.detected import DetectedChange
from whatchanged.measured.rules.kinds import Finding, ink_overlap, ink_within

Mask = NDArray[np.bool_]
HighlightStyle = Literal["fill", "outline", "line", "ink"]

DIFFERS = 8
"""The least difference, in levels, between a highlight and its background."""
FEWEST, MOST_PART = 40, 0.4
"""The least number of differing pixels, and the largest fraction of the picture that differs."""
CANDIDATES = 3
"""The number of pairs of colours that are tried, starting with the most frequent."""
SAMPLE, LEAST_SHARE = 20_000, 0.005
"""The number of differing pixels among which the most frequent pair of colours is searched for, and the least
fraction of them that have it."""
SAME_COLOR = 12
"""The largest difference, in levels, between equal colours. It is smaller for a faint highlight."""
STRIPES = 40
"""The largest difference, in levels, between the backgrounds of two items, such as the stripes of a table."""
BALANCE = 0.25
"""The least ratio between the sizes of a highlight before and after. Items may be of different widths."""
ONE_PLACE, ITS_PLACE = 0.5, 0.85
"""The least fraction of a highlight's pixels that lie in one place, and of those that lie there or near it,
such as an underline and its text."""
ACROSS, DOWN = 10, 4
"""The largest gaps in pixels, horizontal and vertical, within a highlight: between letters and dashes."""
SAME_SIDE, SAME_PART = 2, 0.1
"""The largest difference between the equal sides of two items, in pixels and as a fraction of the side."""
EXPLAINED = 0.4
"""The least fraction of the differences around both items that are the highlight. The others are its soft
edges and the items' text."""
LEAST_STEP = 12
"""The least distance in pixels across a line between its places beside two items."""
MOST_LONGER = 4
"""The largest ratio between the other sides of two items."""
THIN, LONG, STRAIGHT = 8, 3, 0.8
"""The largest thickness of a line in pixels, its least ratio of length to thickness, and the least fraction
of its box that it covers."""
HOLE, IN_HOLE, SECTORS = 0.7, 0.02, 8
"""The radius within which an outline is empty, as a fraction of its own, the largest fraction of its pixels
that lie there, and the number of directions in which it must be visible."""
FILLED, WHOLE = 0.35, 0.7
"""The least fraction of its box that a fill covers without the item's text, and together with it."""
RING = 3
"""The width in pixels of the ring around an item that shows what lies around it."""
MOSTLY, HARDLY = 0.5, 0.2
"""The least fraction of the ring that has the colour of an item without highlight, and the largest fraction
that has the colour of the highlight."""
MORE_OFTEN, FEW = 2, 20
"""The least ratio between the numbers of unchanged pixels that have the colour of items without highlight and
of pixels with the colour of the highlight, and the least difference of these numbers."""
STAYED, ALIKE_STAYED = 0.7, 0.5
"""The least overlap of an item's content before and after, and the least overlap if it may also be bolder."""
BOLDER = 0.82
"""The least ratio of the lengths of a text before and after that only became bolder."""
LEAST_CONTENT = 8
"""The least number of pixels of an item's content."""
NEAR, FARTHEST, OF_SIDE = 16, 48, 0.45
"""The largest distances in pixels between a highlight and other parts of its item that changed with it: for
small highlights, for large ones, and as a fraction of the longer side of those between."""
RIM = 4
"""The distance in pixels from a highlight within which differences are its shadow or its soft edge."""
LARGEST_DOT = 80
"""The largest side in pixels of the dot of a radio button."""
MIDDLE, REACH = 0.5, (0.3, 1.15)
"""The radius, as a fraction of that of the dot, within which a radio button without it is empty, and the
distances from its centre, as fractions of its side, at which the circle is searched for."""
DIRECTIONS = 7
"""The least number of the eight directions in which a dot is surrounded by its radio button."""

NOUNS: dict[HighlightStyle, str] = {
    "fill": "highlight",
    "outline": "outline",
    "line": "line",
    "ink": "highlight",
}
"""What a highlight is called."""


@dataclass(frozen=True)
class ColoredPart:
    """A highlight in one picture: its pixels, their box, and its colour and that of the item without it."""

    mask: Mask
    box: Box
    lit: RGBColor
    plain: RGBColor


def moved_highlight(
    before: Pixels, after: Pixels, visible: Mask, steps: NDArray[np.uint8]
) -> tuple[DetectedChange, Pixels] | None:
    """Return the highlight that moved from one item to another, and the picture before in which it has moved
    already; or None.

    visible: (H, W) whether the pictures differ visibly. steps: (H, W) by how many levels they differ.
    """
    differs = steps >= DIFFERS
    count = int(np.count_nonzero(differs))
    if not FEWEST <= count <= MOST_PART * differs.size:
        return None
    for gone, came in _exchanged(before, after, differs):
        if not (visible & gone.mask).any() or not (visible & came.mask).any():
            continue
        if not _explain(differs, gone, came):
            continue
        style = style_of(gone)
        if style is None or style != style_of(came) or not _alike(gone.box, came.box, style):
            continue
        direction = _direction(before, gone, came, differs, style)
        if direction is None:
            continue
        if direction == "back":
            gone, came = _turned(came), _turned(gone)
        found = _explained(before, after, differs, style, gone, came)
        if found is not None:
            return found
    return None


def _explain(differs: Mask, gone: ColoredPart, came: ColoredPart) -> bool:
    """Return whether two places are a large part of all differences in the box around both."""
    around = union([gone.box, came.box])
    both = np.count_nonzero(gone.mask) + np.count_nonzero(came.mask)
    return bool(both >= EXPLAINED * np.count_nonzero(_part(differs, around)))


def _turned(mark: ColoredPart) -> ColoredPart:
    """Return a place with the roles of its two colours exchanged."""
    return replace(mark, lit=mark.plain, plain=mark.lit)


def _exchanged(before: Pixels, after: Pixels, differs: Mask) -> Iterator[tuple[ColoredPart, ColoredPart]]:
    """Yield pairs of places between which two colours were exchanged, the most frequent pair of colours
    first.

    The first place has the first colour before and the second one after, the second place the reverse.
    """
    was, now = (colors_in(picture, differs) for picture in (before, after))
    keys = (coarse_codes(was).astype(np.uint32) << 15) | coarse_codes(now)
    left = np.ones(len(was), bool)
    for _ in range(CANDIDATES):
        if np.count_nonzero(left) < FEWEST:
            return
        sample = keys[left]
        sample = sample[:: 1 + len(sample) // SAMPLE]
        values, counts = np.unique(sample, return_counts=True)
        if counts.max() < LEAST_SHARE * len(sample):
            return  # A photograph has no frequent pair of colours.
        chosen = left & (keys == values[counts.argmax()])
        first, second = (usual_color(colors_in(end, chosen)) for end in (was, now))
        limit = min(SAME_COLOR, far(first, second) // 3)
        one = (steps_from(first, was) <= limit) & (steps_from(second, now) <= limit)
        back = ~one & (steps_from(first, now) <= limit) & (steps_from(second, was) <= STRIPES)
        left &= ~(one | chosen)
        if np.count_nonzero(back) < BALANCE * np.count_nonzero(one):
            continue
        third = usual_color(colors_in(was, back))
        back &= steps_from(third, was) <= limit
        gone = part_of(differs, one, first, second)
        came = None if gone is None else part_of(differs, back, first, third)
        if gone is None or came is None or common(gone.box, came.box):
            continue
        yield gone, came


def part_of(differs: Mask, flags: NDArray[np.bool_], lit: RGBColor, plain: RGBColor) -> ColoredPart | None:
    """Return the place that holds almost all of the flagged pixels, or None if they lie in several places."""
    from scipy import ndimage  # SciPy is imported here because its import is slow.

    mask = np.zeros(differs.shape, bool)
    mask[differs] = flags
    count = int(np.count_nonzero(mask))
    around = box_of(mask)
    if around is None or count < LEAST_CONTENT:
        return None
    part = mask[around[1] : around[3], around[0] : around[2]]
    labels, _ = ndimage.label(enlarged(part, DOWN, ACROSS))
    sizes = np.bincount(labels[part])
    largest = part & (labels == sizes.argmax())
    near = part & enlarged(largest, NEAR, NEAR)
    if np.count_nonzero(largest) < ONE_PLACE * count or np.count_nonzero(near) < ITS_PLACE * count:
        return None
    mask[:] = False
    mask[around[1] : around[3], around[0] : around[2]] = largest
    box = box_of(mask)
    return None if box is None else ColoredPart(mask, box, lit, plain)


def _part(mask: Mask, box: Box) -> Mask:
    """Return the part of a mask in a box."""
    return mask[box[1] : box[3], box[0] : box[2]]


def style_of(mark: ColoredPart) -> HighlightStyle | None:
    """Return how a highlight is drawn, or None if that is unclear."""
    from scipy import ndimage  # SciPy is imported here because its import is slow.

    part = _part(mark.mask, mark.box)
    height, width = part.shape
    short, long = sorted((height, width))
    share = float(part.mean())
    if short <= THIN and long >= LONG * short:
        return "line" if share >= STRAIGHT else None
    down, across = np.mgrid[:height, :width]
    y, x = (2 * down + 1) / height - 1, (2 * across + 1) / width - 1
    hole = np.hypot(x, y) < HOLE
    if np.count_nonzero(part & hole) <= IN_HOLE * np.count_nonzero(part):
        sectors = ((np.arctan2(y, x) / (2 * np.pi) + 0.5) * SECTORS).astype(int) % SECTORS
        return "outline" if len(np.unique(sectors[part])) == SECTORS else None
    whole = share >= FILLED and ndimage.binary_fill_holes(part).mean() >= WHOLE
    return "fill" if whole else "ink"


def _alike(one: Box, other: Box, style: HighlightStyle) -> bool:
    """Return whether two boxes can be items of one row, column or grid.

    One pair of their sides is equal. Texts stand in one row or column.
    """
    sides = [(box[2] - box[0], box[3] - box[1]) for box in (one, other)]
    pairs = [sorted(pair) for pair in zip(*sides, strict=True)]
    equal = [b - a <= max(SAME_SIDE, SAME_PART * b) for a, b in pairs]
    if style == "ink":
        in_line = any(
            abs(one[k] + one[k + 2] - other[k] - other[k + 2]) <= 2 * RING or abs(one[k] - other[k]) <= RING
            for k in (0, 1)
        )
        return in_line and all(b <= MOST_LONGER * a for a, b in pairs)
    if style == "line":
        axis = int(sides[0][0] >= sides[0][1])  # The axis across the line.
        step = abs(one[axis] - other[axis])
        if 0 < step < LEAST_STEP:
            return False  # The side of something that grew, or an edge.
    return any(equal) and all(b <= MOST_LONGER * a for a, b in pairs)


def _direction(
    before: Pixels, gone: ColoredPart, came: ColoredPart, differs: Mask, style: HighlightStyle
) -> Literal["on", "back"] | None:
    """Return whether the first colour is the highlight ("on") or the second one ("back"), or None if that is
    unclear.

    The other colour is what lies around the items. Items may also have a colour of their own, as texts do:
    then it is the one that more of what is nearby has.
    """
    size = (before.shape[1], before.shape[0])

    def shares(boxes: list[Box], inside: list[Box]) -> list[int]:
        """Return the numbers of unchanged pixels in boxes without other boxes: of each of both colours, and
        of all."""
        counts = [0, 0, 0]
        for box in boxes:
            still = ~_part(differs, box)
            for hole in inside:
                left, top, right, bottom = hole
                still[
                    max(0, top - box[1]) : max(0, bottom - box[1]),
                    max(0, left - box[0]) : max(0, right - box[0]),
                ] = False
            pixels = before[box[1] : box[3], box[0] : box[2]][still]
            limit = min(SAME_COLOR, far(gone.lit, gone.plain) // 3)
            counts[0] += int(np.count_nonzero(steps_from(gone.lit, pixels) <= limit))
            nearest = np.minimum(steps_from(gone.plain, pixels), steps_from(came.plain, pixels))
            counts[1] += int(np.count_nonzero(nearest <= limit))
            counts[2] += len(pixels)
        return counts

    boxes = [gone.box, came.box]
    rings = [grown(box, RING, size) for box in boxes]
    lit, plain, total = shares(rings, boxes)
    on = plain >= MOSTLY * total and lit < HARDLY * total
    back = lit >= MOSTLY * total and plain < HARDLY * total
    if style == "ink" and max(lit, plain) >= HARDLY * total:
        return None  # What is drawn appeared, disappeared or moved.
    if on or back or style in ("line", "outline"):
        return "on" if on else "back" if back else None
    sides = [max(box[2] - box[0], box[3] - box[1]) for box in boxes]
    window = grown(union(boxes), max(sides), size)
    lit, plain, _ = shares([window], boxes)
    if plain >= MORE_OFTEN * lit + FEW:
        return "on"
    return "back" if lit >= MORE_OFTEN * plain + FEW else None


def _explained(
    before: Pixels, after: Pixels, differs: Mask, style: HighlightStyle, gone: ColoredPart, came: ColoredPart
) -> tuple[DetectedChange, Pixels] | None:
    """Return the highlight that moved between two places if their items stayed, or None."""
    noun = NOUNS[style]
    ends = ((before, after, gone), (after, before, came))
    if style in ("fill", "outline") and all(_is_choice(plain, mark) for _, plain, mark in ends):
        noun = "selection"
    elif not _items_stayed(before, after, differs, style, gone, came):
        return None
    boxes = _items(before, after, differs, gone, came)
    if style == "line" and came.box[2] - came.box[0] > came.box[3] - came.box[1]:
        noun = "underline"
    values = {
        "mark": noun,
        "dx": boxes[1][0] - boxes[0][0] if style != "line" else came.box[0] - gone.box[0],
        "dy": boxes[1][1] - boxes[0][1] if style != "line" else came.box[1] - gone.box[1],
        "color_before": words.color_code(came.plain),
        "color_after": words.color_code(came.lit),
    }
    kinds: dict[HighlightStyle, Finding] = {
        "fill": Finding("recolored", "highlight", 0.7, values),
        "ink": Finding("recolored", "highlight", 0.6, values),
        "outline": Finding("restyled", "highlight", 0.7, values),
        "line": Finding("moved", "highlight", 0.7, values),
    }
    change = DetectedChange(kinds[style], boxes[0], boxes[1], area(boxes[0]) + area(boxes[1]), look=noun)
    size = (after.shape[1], after.shape[0])
    aligned = before.copy()
    for box in boxes:
        left, top, right, bottom = grown(box, RIM, size)
        aligned[top:bottom, left:right] = after[top:bottom, left:right]
    return change, aligned


def _items_stayed(
    before: Pixels, after: Pixels, differs: Mask, style: HighlightStyle, gone: ColoredPart, came: ColoredPart
) -> bool:
    """Return whether the content of both items is the same in both pictures."""
    ends = ((before, after, gone), (after, before, came))
    if style == "fill":
        contents = [content_on_fill(*end, differs) for end in ends]
        empty = min(one or 0 for one in contents) < LEAST_CONTENT
        # A block without content may have moved on the background.
        moved = empty and far(ground_color(after, gone.box), gone.plain) <= SAME_COLOR
        return None not in contents and not moved
    if style == "outline":
        return all(_inside_stayed(*end, differs) for end in ends)
    return style == "line" or all(_drawn_in_both(before, after, part.box) for part in (gone, came))


def content_on_fill(lit: Pixels, plain: Pixels, mark: ColoredPart, differs: Mask) -> int | None:
    """Return the number of pixels of an item's content on a fill, or None if the content differs.

    lit, plain: the picture in which the item is highlighted, and the other one.
    """
    from scipy import ndimage  # SciPy is imported here because its import is slow.

    left, top, right, bottom = mark.box
    inside = ndimage.binary_fill_holes(_part(mark.mask, mark.box))
    one, other = (picture[top:bottom, left:right] for picture in (lit, plain))
    inside &= _part(differs, mark.box) | (steps_from(mark.plain, other) > INK)
    inks = (steps_from(mark.lit, one) > INK) & inside, (steps_from(mark.plain, other) > INK) & inside
    counts = [int(np.count_nonzero(ink)) for ink in inks]
    if max(counts) < LEAST_CONTENT:
        return 0
    return min(counts) if _stayed(*inks) else None


def _stayed(one: Mask, other: Mask) -> bool:
    """Return whether two inks are the same content, perhaps once bolder."""
    if ink_overlap(one, other) >= STAYED:
        return True
    was, now = box_of(one), box_of(other)
    if was is None or now is None:
        return False
    if max(abs(was[1] - now[1]), abs(was[3] - now[3])) > 1:
        return False
    short, long = sorted((was[2] - was[0], now[2] - now[0]))
    most = max(ink_within(one, other), ink_within(other, one))
    return short >= BOLDER * long and most >= ALIKE_STAYED


def _is_choice(plain: Pixels, mark: ColoredPart) -> bool:
    """Return whether a highlight is the dot or the thick rim of a radio button, whose circle is visible
    without it too.

    plain: the picture in which the radio button is not selected.
    """
    left, top, right, bottom = mark.box
    width, height = right - left, bottom - top
    if max(width, height) > LARGEST_DOT or abs(width - height) > max(SAME_SIDE, SAME_PART * width):
        return False
    down, across = np.mgrid[:height, :width]
    middle = np.hypot((2 * across + 1) / width - 1, (2 * down + 1) / height - 1) < MIDDLE
    if (steps_from(mark.plain, plain[top:bottom, left:right][middle]) > INK).any():
        return False
    drawn = enlarged(steps_from(mark.plain, plain) > INK, 1, 1)
    seen = 0
    for angle in np.arange(8) * np.pi / 4:
        steps = np.arange(*REACH, 0.25 / width) * width
        rows = np.clip((top + bottom - 1) / 2 + steps * np.sin(angle), 0, plain.shape[0] - 1)
        columns = np.clip((left + right - 1) / 2 + steps * np.cos(angle), 0, plain.shape[1] - 1)
        seen += bool(drawn[np.rint(rows).astype(int), np.rint(columns).astype(int)].any())
    return seen >= DIRECTIONS


def _inside_stayed(lit: Pixels, plain: Pixels, mark: ColoredPart, differs: Mask) -> bool:
    """Return whether the content of an outline is the same in both pictures."""
    left, top, right, bottom = mark.box
    inside = ~enlarged(_part(mark.mask, mark.box), RIM, RIM)
    changed = _part(differs, mark.box) & inside
    if np.count_nonzero(changed) <= IN_HOLE * np.count_nonzero(inside):
        return True
    ground = ground_color(plain, mark.box)
    inks = [(steps_from(ground, picture[top:bottom, left:right]) > INK) & inside for picture in (lit, plain)]
    return _stayed(*inks)


def _items(
    before: Pixels, after: Pixels, differs: Mask, gone: ColoredPart, came: ColoredPart
) -> tuple[Box, Box]:
    """Return the boxes of both items, with the texts and icons near the highlight that changed with it."""
    from scipy import ndimage  # SciPy is imported here because its import is slow.

    size = (after.shape[1], after.shape[0])
    items = [gone.box, came.box]
    side = max(came.box[2] - came.box[0], came.box[3] - came.box[1])
    near = min(FARTHEST, max(NEAR, round(OF_SIDE * side)))
    window = grown(union(items), near + ACROSS, size)
    outside = differs.copy()
    for item in items:
        left, top, right, bottom = grown(item, RIM // 2, size)
        outside[top:bottom, left:right] = False
    rest = _part(outside, window)
    labels, _ = ndimage.label(enlarged(rest, DOWN // 2, ACROSS // 2))
    for number, place in enumerate(ndimage.find_objects(labels), 1):
        part = rest[place] & (labels[place] == number)
        box = box_of(part, window[0] + place[1].start, window[1] + place[0].start)
        if box is None:
            continue
        gaps = [gap(mark.box, box) for mark in (gone, came)]
        nearer = int(gaps[1] < gaps[0])
        if gaps[nearer] <= near and _drawn_in_both(before, after, box):
            items[nearer] = union([items[nearer], box])
    if (items[0] == gone.box) != (items[1] == came.box) or common(*items):
        return gone.box, came.box
    return items[0], items[1]


def _drawn_in_both(before: Pixels, after: Pixels, box: Box) -> bool:
    """Return whether a box contains the same drawing in both pictures, perhaps in another colour."""
    left, top, right, bottom = box
    inks = [
        steps_from(ground_color(picture, box), picture[top:bottom, left:right]) > INK
        for picture in (before, after)
    ]
    least = min(int(np.count_nonzero(ink)) for ink in inks)
    return least >= LEAST_CONTENT and _stayed(inks[0], inks[1])
