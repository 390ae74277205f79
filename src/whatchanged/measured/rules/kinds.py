"""Rules that tell what kind of change one place shows, from its layers before and after."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whatchanged import words
from whatchanged.measured.pixels.layers import Layer, RGBColor, far, read_layer, usual_color
from whatchanged.measured.pixels.planes import enlarged, steps_from
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box, Kind

TEXT_HEIGHT = 40
"""Pixels that a line of text is high at most."""
SAME_COLOR = 10
"""Levels up to which two colours are the same."""

# The limits below, and how sure each kind is, were set by hand; nothing was fitted.
SMALLEST = 12
"""Pixels of the sides of a place at least, in which outlines and corners are told from all else."""
LINE = 4
"""Pixels of a frame's line at most."""
WITHIN_FRAME = 0.02
"""Share of what a frame holds that may differ where nothing but the frame did."""
MOST_FRAME = 0.5
"""Share of a place below which what differs can be a frame."""
CORNER, CORNER_PART = 4, 4
"""Pixels of a corner's sides at least; of a larger place, one in so many."""
BESIDE = 3
"""Pixels beside a place in which its fill may go on."""
DEEP, OF_FILL, EVEN_THING = 12, 4, 0.75
"""Pixels beside a place in which a thing goes on that grew into it, the levels by which these may differ from
its fill, unlike those of a shadow, and the share of them that do not differ by more."""
FILLED = 0.4
"""Share of a place's pixels that have the fill's colour, above which the fill tells."""
BARE_FILL = 0.02
"""Share of ink below which a fill of the ground's colour is ground."""
NO_INK = 0.01
"""Share of ink below which there is none."""
SAME_INK = 0.85
"""Share of either ink that lies on the other's, above which it is the same ink."""
INK_WITHIN = 0.8
"""Share of one ink that lies on the other's, above which strokes became thicker or thinner."""
MOST_LONG, LARGEST_ICON = 1.6, 64
"""How many times as long as broad an icon is at most, and below how many pixels long."""
AS_MUCH_TEXT = (0.4, 2.5)
"""Between which the ink after is of the ink before, where a text was rewritten."""
MORE_INK = 1.4
"""How many times the ink before that after is at least where something was added."""
LOW_LINE = 24
"""Pixels that a line of text is high at most in which less ink tells that a word was removed: of 16 other
places with less ink in real pairs of training repositories a thing was removed in two."""
ONE_SIZE = 0.08
"""Part of its side by which the box of the same ink may differ."""
ONE_FACTOR = 0.12
"""Part by which the factors across and down may differ where a thing was scaled."""
SCALED = (0.5, 2.0)
"""Between which the factor across lies then."""
LEAST_SCALED, LEAST_STEP = 0.1, 2
"""Part by which the height differs then at least; and the pixels of both sides where the inks lie on each
other."""
SAME_DRAWING = 0.7
"""Share of either ink that lies on the other's once both have one size."""

CONFIDENCES: dict[tuple[Kind, str], float] = {
    ("added", "fill"): 0.6,
    ("added", "thing"): 0.6,
    ("removed", "fill"): 0.6,
    ("removed", "thing"): 0.6,
    ("recolored", "border"): 0.5,
    ("recolored", "fill"): 0.7,
    ("recolored", "ink"): 0.6,
    ("replaced", "icon"): 0.4,
    ("replaced", "part"): 0.3,
    ("resized", "length"): 0.5,
    ("resized", "size"): 0.5,
    ("restyled", "border"): 0.5,
    ("restyled", "radius"): 0.6,
    ("restyled", "shape"): 0.4,
    ("restyled", "weight"): 0.5,
    ("rewritten", "text"): 0.45,
}
"""How sure each kind and finer word is, from 0 to 1."""
ON_GROUND = 0.75
"""How sure it is that a thing came or went where nothing but the ground was before or is after."""
BY_AMOUNT = 0.3
"""How sure it is that one did because there is more ink, or less."""


@dataclass(frozen=True)
class Finding:
    """What happened at a place: kind, the finer word, how sure, and measured values."""

    kind: Kind | None
    aspect: str
    confidence: float
    values: dict[str, Any] = field(default_factory=dict)


def _finding(kind: Kind, aspect: str, values: dict[str, Any] | None = None) -> Finding:
    """A kind and its finer word, as sure as ``CONFIDENCES`` tells."""
    return Finding(kind, aspect, CONFIDENCES[kind, aspect], values or {})


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
        return _finding("restyled", "radius")
    fills_differ = far(one.fill, other.fill) > SAME_COLOR and min(one.even, other.even) > FILLED
    length = _length(one, other, before, after, box) if fills_differ else None
    if length is not None:
        return length
    # where something stands on what looks like ground, and stays, the ground is a fill
    if one.empty and not other.empty and not ink_within(one.ink, other.ink) > SAME_INK:
        return Finding("added", "thing", ON_GROUND)
    if other.empty and not one.empty and not ink_within(other.ink, one.ink) > SAME_INK:
        return Finding("removed", "thing", ON_GROUND)
    if is_outline(part):
        return _outline(one, other, before, after, box, part)
    if fills_differ:
        return _fill(one, other)
    return _ink(one, other)


def is_outline(part: NDArray[np.bool_]) -> bool:
    """Whether what differs is a thin line, a frame, or corners: next to nothing within."""
    height, width = part.shape
    if min(height, width) <= LINE:
        return bool(max(height, width) >= SMALLEST)
    if min(height, width) < SMALLEST:
        return False
    inner = part[LINE:-LINE, LINE:-LINE]
    if np.count_nonzero(inner) > WITHIN_FRAME * inner.size:
        return False
    return bool(np.count_nonzero(part) < MOST_FRAME * part.size)


def _outline(
    one: Layer, other: Layer, before: Pixels, after: Pixels, box: Box, part: NDArray[np.bool_]
) -> Finding:
    """A frame, a line or corners."""
    left, top, right, bottom = box
    was = before[top:bottom, left:right][part]
    now = after[top:bottom, left:right][part]
    old, new = np.median(was, axis=0), np.median(now, axis=0)
    ground_before, ground_after = np.array(one.ground), np.array(other.ground)
    was_line = np.abs(old - ground_before).max() > SAME_COLOR
    is_line = np.abs(new - ground_after).max() > SAME_COLOR
    if was_line and is_line:
        first, second = (tuple(int(v) for v in color) for color in (old, new))
        values = {
            "color_before": words.color_code((first[0], first[1], first[2])),
            "color_after": words.color_code((second[0], second[1], second[2])),
        }
        return _finding("recolored", "border", values)
    return _finding("restyled", "border")


def is_corners(part: NDArray[np.bool_]) -> bool:
    """Whether what differs lies in the corners of the box alone."""
    height, width = part.shape
    if min(height, width) < SMALLEST:
        return False
    reach_down, reach_across = (max(CORNER, side // CORNER_PART) for side in (height, width))
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
        ("dx", "left"): (slice(top, bottom), slice(max(0, left - BESIDE), left)),
        ("dx", "right"): (slice(top, bottom), slice(right, min(width, right + BESIDE))),
        ("dy", "top"): (slice(max(0, top - BESIDE), top), slice(left, right)),
        ("dy", "bottom"): (slice(bottom, min(height, bottom + BESIDE)), slice(left, right)),
    }
    fills = {}
    for (axis, side), part in beside.items():
        if after[part].size:
            colours_there = [usual_color(picture[part].reshape(-1, 3)) for picture in (before, after)]
            if far(*colours_there) <= SAME_COLOR:
                fills[axis, side] = colours_there[0]
    opposite = {"left": "right", "right": "left", "top": "bottom", "bottom": "top"}
    lengths = []
    for (axis, side), color in fills.items():
        across = fills.get((axis, opposite[side]))
        for fill, ground, sign in ((other.fill, one.fill, 1), (one.fill, other.fill, -1)):
            goes_on = far(color, fill) <= SAME_COLOR
            bare = across is not None and far(across, ground) <= SAME_COLOR
            if goes_on and (bare or _is_as_broad(after, box, side, fill, ground)):
                step = (right - left if axis == "dx" else bottom - top) * sign
                finding = _finding("resized", "length", {axis: step, "grew": sign > 0})
                # of a thing and the ground, one grew where the other shrank: the thing is told
                lengths.append((far(fill, other.ground) <= SAME_COLOR, finding))
    return min(lengths, key=lambda length: length[0])[1] if lengths else None


def _is_as_broad(pixels: Pixels, box: Box, side: str, fill: RGBColor, ground: RGBColor) -> bool:
    """Whether what goes on at a side of a box is a thing that ends where the box does: its fill goes on for
    some pixels, lies not beyond either end of that side, where the ground lies, and these do not lie at the
    edge of the picture."""
    left, top, right, bottom = box
    if side in ("left", "right"):
        columns = slice(max(0, left - DEEP), left) if side == "left" else slice(right, right + DEEP)
        thing, ends = (
            pixels[top:bottom, columns],
            [slice(max(0, top - BESIDE), top), slice(bottom, bottom + BESIDE)],
        )
        beyond = [pixels[rows, columns] for rows in ends]
    else:
        rows = slice(max(0, top - DEEP), top) if side == "top" else slice(bottom, bottom + DEEP)
        thing, ends = (
            pixels[rows, left:right],
            [slice(max(0, left - BESIDE), left), slice(right, right + BESIDE)],
        )
        beyond = [pixels[rows, columns] for columns in ends]
    if (steps_from(fill, thing) <= OF_FILL).mean() < EVEN_THING:
        return False
    if not all(part.size for part in beyond):
        return False
    colors = [usual_color(part.reshape(-1, 3)) for part in beyond]
    return (
        min(far(color, fill) for color in colors) > SAME_COLOR >= min(far(color, ground) for color in colors)
    )


def _is_bare(layer: Layer) -> bool:
    """Whether a place shows nothing but ground: a fill of the ground's colour, and next to no ink on it."""
    return far(layer.fill, layer.ground) <= SAME_COLOR and layer.ink_share < BARE_FILL


def _fill(one: Layer, other: Layer) -> Finding:
    """Another fill: recoloured, added on the ground, removed from it, or another picture."""
    values = {"color_before": words.color_code(one.fill), "color_after": words.color_code(other.fill)}
    if _is_bare(one) and not ink_within(one.ink, other.ink) > SAME_INK:
        return _finding("added", "fill", values)
    if _is_bare(other) and not ink_within(other.ink, one.ink) > SAME_INK:
        return _finding("removed", "fill", values)
    return _finding("recolored", "fill", values)


def _ink(one: Layer, other: Layer) -> Finding:
    """What happened to a place whose fill is the same and whose ink (all that stands out from it) is not."""
    if one.ink_share < NO_INK <= other.ink_share:
        return _finding("added", "thing")
    if other.ink_share < NO_INK <= one.ink_share:
        return _finding("removed", "thing")
    overlap = ink_overlap(one.ink, other.ink)
    scale = _scale(one, other)
    if overlap > SAME_INK and scale not in (None, 1) and _is_surely_scaled(one, other):
        return _scaled(one, other)
    if one.ink_color is not None and other.ink_color is not None and overlap > SAME_INK:
        step = far(one.ink_color, other.ink_color)
        if step > SAME_COLOR:
            values = {
                "color_before": words.color_code(one.ink_color),
                "color_after": words.color_code(other.ink_color),
            }
            return _finding("recolored", "ink", values)
        return _finding("restyled", "shape")
    height, width = one.ink.shape
    if scale == 1 and max(ink_within(one.ink, other.ink), ink_within(other.ink, one.ink)) > INK_WITHIN:
        return _finding("restyled", "weight")
    if scale not in (None, 1):
        return _scaled(one, other)
    if max(width, height) <= MOST_LONG * min(width, height) and max(width, height) < LARGEST_ICON:
        return _finding("replaced", "icon")
    ratio = (other.ink_share + 1e-6) / (one.ink_share + 1e-6)  # no division by zero
    if height <= TEXT_HEIGHT and AS_MUCH_TEXT[0] < ratio < AS_MUCH_TEXT[1]:
        return _finding("rewritten", "text")
    if ratio < MORE_INK and not (height <= LOW_LINE and ratio <= AS_MUCH_TEXT[0]):
        return _finding("replaced", "part")
    return Finding("added" if ratio > 1 else "removed", "thing", BY_AMOUNT)


def _scale(one: Layer, other: Layer) -> float | None:
    """How much larger the ink's box is in both directions: 1 for the same size, None for no common factor."""
    if one.ink_box is None or other.ink_box is None:
        return None
    across, down = (
        (other.ink_box[k + 2] - other.ink_box[k]) / (one.ink_box[k + 2] - one.ink_box[k]) for k in (0, 1)
    )
    if abs(across - 1) < ONE_SIZE and abs(down - 1) < ONE_SIZE:
        return 1
    alike = abs(across / down - 1) < ONE_FACTOR
    if (
        alike
        and SCALED[0] < across < SCALED[1]
        and abs(down - 1) > LEAST_SCALED
        and _same_drawing(one, other)
    ):
        return across
    return None


def _same_drawing(one: Layer, other: Layer) -> bool:
    """Whether the ink of both is the same drawing once it is brought to one size."""
    parts = [layer.ink[box[1] : box[3], box[0] : box[2]] for layer in (one, other) if (box := layer.ink_box)]
    height, width = parts[1].shape
    rows = np.arange(height) * parts[0].shape[0] // height
    columns = np.arange(width) * parts[0].shape[1] // width
    return ink_overlap(parts[0][np.ix_(rows, columns)], parts[1]) >= SAME_DRAWING


def _scaled(one: Layer, other: Layer) -> Finding:
    """A thing that was scaled, with the sizes of its ink, [width, height], before and after."""
    sizes = [[box[2] - box[0], box[3] - box[1]] for layer in (one, other) if (box := layer.ink_box)]
    return _finding("resized", "size", {"size_before": sizes[0], "size_after": sizes[1]})


def _is_surely_scaled(one: Layer, other: Layer) -> bool:
    """Whether the sides of the ink differ by more than its soft edges may."""
    was, now = one.ink_box, other.ink_box
    if was is None or now is None:
        return False
    return min(abs(now[k + 2] - now[k] - (was[k + 2] - was[k])) for k in (0, 1)) >= LEAST_STEP


def ink_overlap(one: NDArray[np.bool_], other: NDArray[np.bool_]) -> float:
    """The share of each picture's ink that lies within a pixel of the other's, the smaller of both."""
    return min(ink_within(one, other), ink_within(other, one))


def ink_within(one: NDArray[np.bool_], other: NDArray[np.bool_]) -> float:
    """The share of one picture's ink that lies within a pixel of the other's."""
    count = np.count_nonzero(one)
    return float(np.count_nonzero(one & enlarged(other, 1, 1)) / count) if count else 0.0
