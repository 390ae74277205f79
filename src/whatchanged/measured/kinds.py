"""Rules that tell what kind of change one place shows, from its layers before and after."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured import colours
from whatchanged.measured.layers import Layer, far, read_layer, usual_colour
from whatchanged.measured.planes import enlarged
from whatchanged.measured.reading import Pixels
from whatchanged.measured.result import Box, Kind

TEXT_HEIGHT = 40
"""Pixels that a line of text is high at most."""
SAME_COLOUR = 10
"""Levels up to which two colours are the same."""


@dataclass(frozen=True)
class Finding:
    """What happened at a place: kind, the finer word, how sure, and measured values."""

    kind: Kind | None
    aspect: str
    confidence: float
    values: dict[str, Any] = field(default_factory=dict)


def find_kind(before: Pixels, after: Pixels, box: Box, differs: NDArray[np.bool_]) -> Finding:
    """The kind of change in a box of two pictures that lie on each other.

    differs: (H, W), where the pictures differ visibly.
    """
    one, other = read_layer(before, box), read_layer(after, box)
    left, top, right, bottom = box
    part = differs[top:bottom, left:right]
    if not part.any():
        part = np.ones(part.shape, bool)
    if is_corners(part):
        return Finding("restyled", "radius", 0.6)
    fills_differ = far(one.fill, other.fill) > SAME_COLOUR and one.even > 0.4 and other.even > 0.4
    length = _length(one, other, before, after, box) if fills_differ else None
    if length is not None:
        return length
    if one.empty and not other.empty:
        return Finding("added", "thing", 0.75)
    if other.empty and not one.empty:
        return Finding("removed", "thing", 0.75)
    if is_outline(part):
        return _outline(one, other, before, after, box, part)
    if fills_differ:
        return _fill(one, other)
    return _ink(one, other)


def is_outline(part: NDArray[np.bool_]) -> bool:
    """Whether what differs is a thin line, a frame, or corners: next to nothing within."""
    height, width = part.shape
    thick = 4
    if min(height, width) <= thick:
        return bool(max(height, width) >= 12)
    if height < 12 or width < 12:
        return False
    inner = part[thick:-thick, thick:-thick]
    return bool(np.count_nonzero(inner) <= 0.02 * inner.size and np.count_nonzero(part) < 0.5 * part.size)


def _outline(
    one: Layer, other: Layer, before: Pixels, after: Pixels, box: Box, part: NDArray[np.bool_]
) -> Finding:
    """A frame, a line or corners."""
    left, top, right, bottom = box
    was = before[top:bottom, left:right][part]
    now = after[top:bottom, left:right][part]
    old, new = np.median(was, axis=0), np.median(now, axis=0)
    ground_before, ground_after = np.array(one.ground), np.array(other.ground)
    was_line = np.abs(old - ground_before).max() > SAME_COLOUR
    is_line = np.abs(new - ground_after).max() > SAME_COLOUR
    if was_line and is_line:
        first, second = (tuple(int(v) for v in colour) for colour in (old, new))
        values = {
            "color_before": colours.code((first[0], first[1], first[2])),
            "color_after": colours.code((second[0], second[1], second[2])),
        }
        return Finding("recolored", "border", 0.5, values)
    return Finding("restyled", "border", 0.5)


def is_corners(part: NDArray[np.bool_]) -> bool:
    """Whether what differs lies in the corners of the box alone."""
    height, width = part.shape
    if height < 12 or width < 12:
        return False
    reach_down, reach_across = max(4, height // 4), max(4, width // 4)
    rest = part.copy()
    for rows in (slice(0, reach_down), slice(height - reach_down, None)):
        for columns in (slice(0, reach_across), slice(width - reach_across, None)):
            rest[rows, columns] = False
    return not rest.any()


def _length(one: Layer, other: Layer, before: Pixels, after: Pixels, box: Box) -> Finding | None:
    """A fill that goes on outside the box: the thing grew into it, or shrank out of it; else None."""
    left, top, right, bottom = box
    height, width = after.shape[:2]
    beside = {
        ("dx", "left"): (slice(top, bottom), slice(max(0, left - 3), left)),
        ("dx", "right"): (slice(top, bottom), slice(right, min(width, right + 3))),
        ("dy", "top"): (slice(max(0, top - 3), top), slice(left, right)),
        ("dy", "bottom"): (slice(bottom, min(height, bottom + 3)), slice(left, right)),
    }
    fills = {}
    for (axis, side), part in beside.items():
        if after[part].size:
            colours_there = [usual_colour(picture[part].reshape(-1, 3)) for picture in (before, after)]
            if far(*colours_there) <= SAME_COLOUR:
                fills[axis, side] = colours_there[0]
    opposite = {"left": "right", "right": "left", "top": "bottom", "bottom": "top"}
    lengths = []
    for (axis, side), colour in fills.items():
        across = fills.get((axis, opposite[side]))
        for fill, ground, sign in ((other.fill, one.fill, 1), (one.fill, other.fill, -1)):
            goes_on = far(colour, fill) <= SAME_COLOUR
            if goes_on and across is not None and far(across, ground) <= SAME_COLOUR:
                step = (right - left if axis == "dx" else bottom - top) * sign
                finding = Finding("resized", "length", 0.5, {axis: step, "grew": sign > 0})
                # of a thing and the ground, one grew where the other shrank: the thing is told
                lengths.append((far(fill, other.ground) <= SAME_COLOUR, finding))
    return min(lengths, key=lambda length: length[0])[1] if lengths else None


def _fill(one: Layer, other: Layer) -> Finding:
    """Another fill: recoloured, added on the ground, removed from it, or another picture."""
    values = {"color_before": colours.code(one.fill), "color_after": colours.code(other.fill)}
    if far(one.fill, one.ground) <= SAME_COLOUR and one.ink_share < 0.02:
        return Finding("added", "fill", 0.6, values)
    if far(other.fill, other.ground) <= SAME_COLOUR and other.ink_share < 0.02:
        return Finding("removed", "fill", 0.6, values)
    return Finding("recolored", "fill", 0.7, values)


def _ink(one: Layer, other: Layer) -> Finding:
    """The same fill with other ink on it."""
    if one.ink_share < 0.01 and other.ink_share >= 0.01:
        return Finding("added", "thing", 0.6)
    if other.ink_share < 0.01 and one.ink_share >= 0.01:
        return Finding("removed", "thing", 0.6)
    overlap = ink_overlap(one.ink, other.ink)
    if one.ink_colour is not None and other.ink_colour is not None and overlap > 0.85:
        step = far(one.ink_colour, other.ink_colour)
        if step > SAME_COLOUR:
            values = {
                "color_before": colours.code(one.ink_colour),
                "color_after": colours.code(other.ink_colour),
            }
            return Finding("recolored", "ink", 0.6, values)
        return Finding("restyled", "shape", 0.4)
    height, width = one.ink.shape
    scale = _scale(one, other)
    if scale == 1 and max(ink_within(one.ink, other.ink), ink_within(other.ink, one.ink)) > 0.8:
        return Finding("restyled", "weight", 0.5)
    if scale not in (None, 1):
        return Finding("resized", "size", 0.5)
    if width <= 1.6 * height and height <= 1.6 * width and max(width, height) < 64:
        return Finding("replaced", "icon", 0.4)
    ratio = (other.ink_share + 1e-6) / (one.ink_share + 1e-6)
    if height <= TEXT_HEIGHT and 0.4 < ratio < 2.5:
        return Finding("rewritten", "text", 0.45)
    if 0.7 < ratio < 1.4:
        return Finding("replaced", "part", 0.3)
    return Finding("added" if ratio > 1 else "removed", "thing", 0.3)


def _scale(one: Layer, other: Layer) -> float | None:
    """How much larger the ink's box is in both directions: 1 for the same size, None for no common factor."""
    if one.ink_box is None or other.ink_box is None:
        return None
    across, down = (
        (other.ink_box[k + 2] - other.ink_box[k]) / (one.ink_box[k + 2] - one.ink_box[k]) for k in (0, 1)
    )
    if abs(across - 1) < 0.08 and abs(down - 1) < 0.08:
        return 1
    if abs(across / down - 1) < 0.12 and 0.5 < across < 2 and abs(down - 1) > 0.1:
        return across
    return None


def ink_overlap(one: NDArray[np.bool_], other: NDArray[np.bool_]) -> float:
    """The share of each picture's ink that lies within a pixel of the other's, the smaller of both."""
    return min(ink_within(one, other), ink_within(other, one))


def ink_within(one: NDArray[np.bool_], other: NDArray[np.bool_]) -> float:
    """The share of one picture's ink that lies within a pixel of the other's."""
    count = np.count_nonzero(one)
    return float(np.count_nonzero(one & enlarged(other, 1, 1)) / count) if count else 0.0
