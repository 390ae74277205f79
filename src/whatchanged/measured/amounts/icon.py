"""Detection of how a small drawing changed at its place: its size, its direction, its filling, or another
drawing."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured.pixels.boxes import box_of, grown, lies_in, union
from whatchanged.measured.pixels.layers import far, ground_color
from whatchanged.measured.pixels.planes import enlarged, steps_from
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box
from whatchanged.measured.rules.detected import DetectedChange
from whatchanged.measured.rules.kinds import Finding, ink_overlap, resampled

Mask = NDArray[np.bool_]

LARGEST = 132
"""The largest side of an icon in pixels: one of 64 pixels on a screen of double density."""
SMALLEST, SMALLEST_ICON = 4, 12
"""The least shorter side, in pixels, of an arrow, and of an icon that may be another one."""
MOST_LONG = 2.4
"""The largest ratio between the sides of an icon. An arrow is about twice as wide as high."""
SQUARE = 1.6
"""The largest ratio between the sides of an icon that may be another one. A longer one may be a word."""
ROOM, OF_SIDE = 8, 0.4
"""The least distance in pixels around a difference within which the whole icon must lie, and this distance as
a fraction of the longer side of the difference: it may be the interior of an outline."""
PARTS = 2
"""The largest gap in pixels between a difference and another part of its icon."""
STANDS_OUT = 28
"""The least difference, in levels, between an icon and its background."""
HALF = 0.5
"""The fraction of the largest difference from the background above which a pixel belongs to the icon."""
SAME_GROUND = 10
"""The largest difference, in levels, between the backgrounds before and after."""
ONE_FACTOR, LEAST_FACTOR, LEAST_STEP = 0.12, 0.08, 2
"""The largest relative difference between the horizontal and the vertical factor of a scaled icon, the least
relative change of its sides, and the least change of each side in pixels."""
MOST_FACTOR = 2.6
"""The largest factor of a scaled icon."""
LARGEST_ARROW = 24
"""The largest side in pixels of such an arrow. Larger ones are measured like any other icon."""
EDGES = 2
"""The largest number of edges along a row or column of a solid form: where it begins and where it ends."""
SAME_DRAWING = 0.72
"""The least overlap of both drawings after they are scaled to one size."""
TURNED, BETTER = 0.7, 0.2
"""The least intersection over union of a turned drawing with the other one, and how much larger it must be
than without a turn."""
PUSHED = 2
"""The largest ratio between the step of what a small drawing pushed and the change of its sides."""
ONE_SIZE, OF_SIZE = 2, 0.06
"""The largest difference between the sides of an icon of the same size, in pixels and as a fraction of its
longer side."""
SYMMETRIC, TAPERED = 0.65, 1.4
"""The least intersection over union of an arrow and its mirror image, and the least ratio between its widths
at both ends."""
FILLED, HOLLOW = 0.85, 0.75
"""The least intersection over union of a filled icon with the outline that is filled in, and the largest
fraction of its pixels that the outline covers."""
INVERTED = 0.05
"""The least fraction of an outlined icon that lies in holes of the filled one, if its inner part is inverted:
a light bar on a disc is a dark one in a ring."""
OTHER_DRAWING = 0.6
"""The overlap below which two icons are different drawings. Icons that are only redrawn overlap more."""
OTHER_SIZE = 0.6
"""The least ratio between the sides of an icon and of another one in its place."""

_MAY_BE = (
    ("added", "fill"),
    ("added", "thing"),
    ("removed", "fill"),
    ("removed", "thing"),
    ("recolored", "fill"),
    ("recolored", "ink"),
    ("replaced", "content"),
    ("replaced", "icon"),
    ("replaced", "part"),
    ("resized", "length"),
    ("resized", "size"),
    ("restyled", "border"),
    ("restyled", "shape"),
    ("restyled", "weight"),
    ("rewritten", "text"),
)
"""The kinds and aspects that the rules may find for an icon that changed in one of these ways."""


@dataclass(frozen=True)
class _Icon:
    """A small drawing: its box in the picture, and its pixels in that box."""

    box: Box
    ink: Mask

    @property
    def size(self) -> tuple[int, int]:
        """The width and the height."""
        return self.box[2] - self.box[0], self.box[3] - self.box[1]


def icon_change(change: DetectedChange, before: Pixels, after: Pixels, box: Box) -> DetectedChange | None:
    """Return a change of a small drawing as another size, direction or filling of it, or as another drawing;
    None if it is none of these."""
    aspect = (change.finding.kind, change.finding.aspect)
    if aspect not in _MAY_BE or max(box[2] - box[0], box[3] - box[1]) > LARGEST:
        return None
    icons = _icon(before, box), _icon(after, box)
    one, other = icons
    if one is None or other is None or not _may_be_icon(one) or not _may_be_icon(other):
        return None
    around = union([one.box, other.box])
    if far(ground_color(before, around), ground_color(after, around)) > SAME_GROUND:
        return None
    scaled = _scaled(one, other)
    look = _look(other, change)
    if scaled is not None:
        return _with_size(change, scaled, one, other)
    sizes = change.finding.values.get("size_before"), change.finding.values.get("size_after")
    if aspect == ("resized", "size") and sizes[0] and sizes[1]:
        grew = max(sizes[1]) > max(sizes[0])
        values = {**change.finding.values, "drawing": True, "grew": grew}
        element = "arrow" if _are_arrows(one, other) else change.element
        return replace(change, finding=replace(change.finding, values=values), element=element, look=look)
    finding = _turned(one, other) or _refilled(one, other)
    if finding is None and aspect == ("replaced", "icon") and _is_another(one, other):
        finding = replace(change.finding, values={**change.finding.values, "exchanged": True})
    if finding is None:
        return None
    element = "arrow" if "points_after" in finding.values else change.element
    return replace(change, finding=finding, box_before=around, box_after=around, element=element, look=look)


def moved_icon(change: DetectedChange, before: Pixels, after: Pixels) -> DetectedChange | None:
    """Return a movement of a part of a small drawing as another size of that drawing, or None.

    Where an arrow became smaller, one of its sides is found again beside its place.
    """
    was, now = change.box_before, change.box_after
    if not change.cause or was is None or now is None or len(change.boxes) > 1:
        return None
    if max(was[2] - was[0], was[3] - was[1]) > LARGEST:
        return None
    if not (lies_in(was, before.shape) and lies_in(now, after.shape)):
        return None
    one, other = _icon(before, was), _icon(after, now)
    if one is None or other is None or not _may_be_icon(one) or not _may_be_icon(other):
        return None
    scaled = _scaled(one, other)
    return None if scaled is None else _with_size(change, scaled, one, other)


def arrow_at_gap(change: DetectedChange, before: Pixels, after: Pixels, box: Box) -> DetectedChange | None:
    """Return a part that came or went between moved parts as another size of an arrow, or None."""
    if (
        change.finding.aspect not in ("pushed in", "closed up")
        or max(box[2] - box[0], box[3] - box[1]) > LARGEST_ARROW
    ):
        return None
    one, other = _icon(before, box), _icon(after, box)
    if one is None or other is None or not _are_arrows(one, other):
        return None
    scaled = _scaled(one, other)
    return None if scaled is None else replace(_with_size(change, scaled, one, other), cause=True)


def pushed_by_drawings(
    results: Sequence[DetectedChange], changes: Sequence[DetectedChange]
) -> list[DetectedChange]:
    """Return the changes; movements that a small drawing brought about that turned out to have another size
    are consequences.

    changes: the changes before they were measured.
    """
    sizes = [one for one in results if "drawing" in one.finding.values and one not in changes and one.cause]
    steps = [_side_step(one) for one in sizes]
    return [
        replace(one, cause=False)
        if one.finding.kind == "moved" and any(0 < step_of(one) <= PUSHED * step for step in steps)
        else one
        for one in results
    ]


def _side_step(one: DetectedChange) -> int:
    """Return by how many pixels the sides of an object changed at most."""
    sizes = one.finding.values["size_before"], one.finding.values["size_after"]
    return max(abs(int(b) - int(a)) for a, b in zip(*sizes, strict=True))


def step_of(one: DetectedChange) -> int:
    """Return by how many pixels an object moved."""
    return max(abs(int(one.finding.values.get(name, 0))) for name in ("dx", "dy"))


def _with_size(change: DetectedChange, scaled: Finding, one: _Icon, other: _Icon) -> DetectedChange:
    """Return a change as the change of size of a small drawing."""
    element = "arrow" if _are_arrows(one, other) else change.element
    look = _look(other, change)
    return replace(
        change, finding=scaled, box_before=one.box, box_after=other.box, element=element, look=look
    )


def _look(icon: _Icon, change: DetectedChange) -> str | None:
    """Return the noun for a small drawing: it is an icon unless it is long."""
    return "icon" if max(icon.size) <= SQUARE * min(icon.size) else change.look


def _icon(pixels: Pixels, box: Box) -> _Icon | None:
    """Return the drawing of which a part differs in a box, or None if it extends beyond the room around.

    Where only the inner part of a drawing differs, what surrounds the box is a part of the drawing, and its
    background is farther away.
    """
    size = (pixels.shape[1], pixels.shape[0])
    room = max(ROOM, round(OF_SIDE * max(box[2] - box[0], box[3] - box[1])))
    window = grown(box, room, size)
    near = grown(box, PARTS, size)
    return _drawing(pixels, near, window, near) or _drawing(pixels, near, window, window)


def _drawing(pixels: Pixels, inner: Box, window: Box, around: Box) -> _Icon | None:
    """Return the drawing that reaches into a box and stays within a window, or None.

    around: the box around which the background is.
    """
    from scipy import ndimage  # SciPy is imported here because its import is slow.

    left, top, right, bottom = window
    part = pixels[top:bottom, left:right]
    ground = ground_color(pixels, around)
    steps = steps_from(ground, part)
    near = np.zeros(steps.shape, bool)
    near[inner[1] - top : inner[3] - top, inner[0] - left : inner[2] - left] = True
    labels, _ = ndimage.label(steps > STANDS_OUT, np.ones((3, 3), bool))
    chosen = np.isin(labels, np.unique(labels[near & (labels > 0)])) & (labels > 0)
    if not chosen.any():
        return None
    ink = chosen & (steps > HALF * int(steps[chosen].max()))
    whole = box_of(chosen, left, top)
    if whole is None or whole[0] <= left or whole[1] <= top or whole[2] >= right or whole[3] >= bottom:
        return None
    return _Icon(whole, ink[whole[1] - top : whole[3] - top, whole[0] - left : whole[2] - left])


def _may_be_icon(icon: _Icon) -> bool:
    """Return whether a drawing has the size and the proportions of an icon."""
    short, long = sorted(icon.size)
    return short >= SMALLEST and long <= min(LARGEST, MOST_LONG * short)


def _scaled(one: _Icon, other: _Icon) -> Finding | None:
    """Return the change of size of the same drawing, or None."""
    if _is_smaller_arrow(one, other) or _is_smaller_arrow(other, one):
        return _of_size(one, other)
    across, down = (b / a for a, b in zip(one.size, other.size, strict=True))
    if min(abs(b - a) for a, b in zip(one.size, other.size, strict=True)) < LEAST_STEP:
        return None
    off = abs(across * one.size[1] - other.size[1])
    even = off <= max(LEAST_STEP, ONE_FACTOR * other.size[1]) and (across > 1) == (down > 1)
    if not even or min(abs(across - 1), abs(down - 1)) < LEAST_FACTOR:
        return None
    if not 1 / MOST_FACTOR <= across <= MOST_FACTOR:
        return None
    if min(*one.size, *other.size) < SMALLEST_ICON // 2:
        return None
    if ink_overlap(resampled(one.ink, other.ink.shape), other.ink) < SAME_DRAWING:
        return None
    small, large = sorted((one, other), key=lambda icon: icon.size)
    if iou_of(resampled(small.ink, large.ink.shape), large.ink) < SAME_DRAWING - BETTER:
        return None
    return _of_size(one, other)


def _of_size(one: _Icon, other: _Icon) -> Finding:
    """Return the finding of the same drawing at two sizes."""
    values = {"size_before": list(one.size), "size_after": list(other.size), "drawing": True}
    return Finding("resized", "size", 0.6, {**values, "grew": other.size > one.size})


def _is_smaller_arrow(one: _Icon, other: _Icon) -> bool:
    """Return whether the first of two small drawings is a smaller arrow in the same direction, like that of a
    list that opens.

    It is measured without its soft edges, which may be a third of its height.
    """
    inks = [_tight(icon.ink) for icon in (one, other)]
    steps = [b - a for a, b in zip(*(ink.shape for ink in inks), strict=True)]
    across = inks[0].shape[1] / inks[1].shape[1]
    one_form = abs(across * inks[1].shape[0] - inks[0].shape[0]) <= 1
    return one_form and max(steps) >= LEAST_STEP and min(steps) >= 0 and _are_arrows(one, other)


def _are_arrows(one: _Icon, other: _Icon) -> bool:
    """Return whether two small drawings are solid arrows in the same direction."""
    if max(*one.size, *other.size) > LARGEST_ARROW:
        return False
    inks = [_tight(icon.ink) for icon in (one, other)]
    points = [_pointing(ink) for ink in inks]
    return points[0] is not None and points[0] == points[1] and all(_is_solid(ink) for ink in inks)


def _tight(ink: Mask) -> Mask:
    """Return a mask without its empty rows and columns at the edges."""
    around = box_of(ink)
    return ink if around is None else ink[around[1] : around[3], around[0] : around[2]]


def _is_solid(ink: Mask) -> bool:
    """Return whether a form has no gap in any of its rows and columns, like the arrow of a list that opens.
    Few letters are such forms."""
    return all(
        bool((np.count_nonzero(np.diff(lines.astype(np.int8), prepend=0, append=0), axis=1) <= EDGES).all())
        for lines in (ink, ink.T)
    )


def _turned(one: _Icon, other: _Icon) -> Finding | None:
    """Return the turn of the same drawing by 90 or 180 degrees, with the directions in which an arrow points,
    or None."""
    still = iou_of(resampled(one.ink, other.ink.shape), other.ink)
    turns = []
    for quarters in (1, 2, 3):
        turned = np.rot90(one.ink, -quarters)
        if max(abs(a - b) for a, b in zip(turned.shape, other.ink.shape, strict=True)) <= ONE_SIZE:
            turns.append((iou_of(resampled(turned, other.ink.shape), other.ink), quarters))
    best, quarters = max(turns, default=(0.0, 0))
    if abs(one.size[0] - other.size[0]) > ONE_SIZE:
        still = 0.0  # The sides are exchanged, so it is not the same drawing without a turn.
    if best < TURNED or best < still + BETTER:
        return None
    points = _pointing(one.ink), _pointing(other.ink)
    values: dict[str, object] = {"degrees": 90 * quarters}
    if points[0] and points[1] and points[0] != points[1]:
        values |= {"points_before": points[0], "points_after": points[1]}
    elif min(*one.size, *other.size) < SMALLEST_ICON or best < _mirrored(one, other) + BETTER / 2:
        return None  # It may be a letter or a digit, or a mirrored drawing.
    return Finding("replaced", "turned", 0.6, values)


def _mirrored(one: _Icon, other: _Icon) -> float:
    """Return the intersection over union of a mirrored drawing with the other one."""
    images = one.ink[:, ::-1], one.ink[::-1]
    return max(iou_of(resampled(image, other.ink.shape), other.ink) for image in images)


def _pointing(ink: Mask) -> str | None:
    """Return the direction in which an arrow points, or None if the drawing is no simple arrow.

    It is symmetric to its axis, and one end is much broader than the other one.
    """
    for names, lines in ((("up", "down"), ink), (("left", "right"), ink.T)):
        if iou_of(lines, lines[:, ::-1]) < SYMMETRIC:
            continue
        columns = np.arange(lines.shape[1])
        extents = [float(np.ptp(columns[line]) + 1) if line.any() else 0.0 for line in lines]
        third = max(1, len(extents) // 3)
        first, last = float(np.mean(extents[:third])), float(np.mean(extents[-third:]))
        if max(first, last) >= TAPERED * min(first, last) and iou_of(lines, lines[::-1]) < SYMMETRIC:
            return names[0] if first < last else names[1]
    return None


def _refilled(one: _Icon, other: _Icon) -> Finding | None:
    """Return that an outlined icon was filled, or a filled one is only outlined now, or None."""
    from scipy import ndimage  # SciPy is imported here because its import is slow.

    most = max(ONE_SIZE, OF_SIZE * max(one.size))
    if max(abs(a - b) for a, b in zip(one.size, other.size, strict=True)) > most:
        return None
    if min(*one.size, *other.size) < SMALLEST_ICON:
        return None
    less, more = sorted((one, other), key=lambda icon: int(np.count_nonzero(icon.ink)))
    if np.count_nonzero(less.ink) > HOLLOW * np.count_nonzero(more.ink):
        return None
    filled = ndimage.binary_fill_holes(enlarged(less.ink, 1, 1)) | less.ink
    outer = ndimage.binary_fill_holes(enlarged(more.ink, 1, 1)) | more.ink
    if iou_of(resampled(filled, outer.shape), outer) < FILLED:
        return None
    if np.count_nonzero(more.ink) < HOLLOW * np.count_nonzero(outer):
        return None
    holes = resampled(ndimage.binary_fill_holes(more.ink) & ~more.ink, less.ink.shape)
    inverted = np.count_nonzero(less.ink & holes) > INVERTED * np.count_nonzero(less.ink)
    # A drawing whose inner part is inverted is another icon.
    return Finding("replaced" if inverted else "restyled", "filled", 0.6, {"on_after": more is other})


def _is_another(one: _Icon, other: _Icon) -> bool:
    """Return whether two icons at one place are different drawings of similar size."""
    sides = [sorted(pair) for pair in zip(one.size, other.size, strict=True)]
    short, long = sorted(one.size)
    if min(*one.size, *other.size) < SMALLEST_ICON or long > SQUARE * short:
        return False
    if any(a < OTHER_SIZE * b for a, b in sides):
        return False
    around = union([one.box, other.box])
    inks = [_drawn_in(icon, around) for icon in (one, other)]
    return (
        max(ink_overlap(*inks), ink_overlap(resampled(one.ink, other.ink.shape), other.ink)) < OTHER_DRAWING
    )


def _drawn_in(icon: _Icon, around: Box) -> Mask:
    """Return the pixels of an icon in a box around it."""
    mask = np.zeros((around[3] - around[1], around[2] - around[0]), bool)
    left, top = icon.box[0] - around[0], icon.box[1] - around[1]
    mask[top : top + icon.size[1], left : left + icon.size[0]] = icon.ink
    return mask


def iou_of(one: Mask, other: Mask) -> float:
    """Return the intersection over union of two masks of one shape."""
    return int(np.count_nonzero(one & other)) / max(1, int(np.count_nonzero(one | other)))
