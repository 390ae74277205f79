"""Rules that classify the change in a box from its layers before and after."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whatchanged import words
from whatchanged.measured.pixels.layers import Layer, RGBColor, far, line_color, read_layer, usual_color
from whatchanged.measured.pixels.planes import enlarged, steps_between, steps_from
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box, Kind

TEXT_HEIGHT = 40
"""The largest height of a line of text in pixels."""
SAME_COLOR = 10
"""The largest difference, in levels, between two colours that count as the same."""

# The following limits and confidences were set by hand, not fitted.
SMALLEST = 12
"""The least side in pixels of a box in which outlines and corners are recognised."""
LINE = 4
"""The largest thickness of a frame's line in pixels."""
WITHIN_FRAME = 0.02
"""The largest fraction of a frame's interior that may differ if only the frame changed."""
MOST_FRAME = 0.5
"""The fraction of a box below which its differences can be a frame."""
THICK = 6
"""The largest thickness in pixels of a line that became thicker or thinner."""
AMOUNTS = ("amount_before", "amount_after")
"""The names of an amount before and after."""
BESIDE_LINE = 0.4
"""The least fraction of the place of an upright bar that looks like what lies beside it, where there is no
bar."""
CORNER, CORNER_PART = 4, 4
"""The least side of a corner in pixels, and the divisor of a larger box's side that gives the corner's
side."""
BESIDE = 3
"""The distance in pixels beside a box at which its fill may continue."""
DEEP, OF_FILL, EVEN_THING = 12, 4, 0.75
"""The extent beside a box, in pixels, of an object that grew into it; the largest difference, in levels, of
these pixels from its fill; and the least fraction of them within that difference.

The pixels of a shadow differ more.
"""
FILLED = 0.4
"""The fraction of fill-coloured pixels above which the fill of a box is significant."""
REFILLED = 0.6
"""The least fraction of a fill's pixels that took the other fill, as a fraction of the smaller fill."""
BARE_FILL = 0.02
"""The fraction of ink below which a fill of the background's colour counts as background."""
NO_INK = 0.01
"""The fraction of ink below which a box counts as empty."""
SAME_INK = 0.85
"""The fraction of overlap above which both pictures have the same ink."""
SAME_PIXELS = 0.9
"""The least fraction of the smaller ink's pixels that the other ink covers if only the colour changed."""
KEPT_INK = 0.55
"""The least overlap of both inks at which an area with another fill still has the same content."""
FADED_INK, MOST_INK = 0.95, 0.5
"""Faded ink lies within the ink of before, at least this fraction of it. Ink that fills more than half of an
area holds any other ink by chance, and so may the ink of an icon."""
COVERING = 0.7
"""The least fraction of fill-coloured pixels in an area that covers other content."""
INK_WITHIN = 0.8
"""The fraction of one ink inside the other above which strokes became thicker or thinner."""
MOST_LONG, LARGEST_ICON = 1.6, 64
"""The largest ratio between the sides of an icon, and the limit of its longer side in pixels (exclusive)."""
AS_MUCH_TEXT = (0.4, 2.5)
"""The range of the ratio between the ink after and before if a text was rewritten."""
MORE_INK = 1.4
"""The least ratio between the ink after and before if an object was added."""
LOW_LINE = 24
"""The largest height in pixels of a line of text in which less ink indicates a removed word.

In 16 higher boxes with less ink, from real pairs of training repositories, an object was removed only twice.
"""
ONE_SIZE = 0.08
"""The largest relative difference between the sides of the box of the same ink."""
ONE_FACTOR = 0.12
"""The largest relative difference between the horizontal and the vertical factor of a scaled object."""
SCALED = (0.5, 2.0)
"""The range of the horizontal factor of a scaled object."""
LEAST_SCALED, LEAST_STEP = 0.1, 2
"""The least relative change of the height of a scaled object, and the least change of both sides in pixels if
the inks overlap."""
SAME_DRAWING = 0.7
"""The least overlap of both inks after they are scaled to the same size."""

CONFIDENCES: dict[tuple[Kind, str], float] = {
    ("added", "fill"): 0.6,
    ("added", "thing"): 0.6,
    ("removed", "fill"): 0.6,
    ("removed", "thing"): 0.6,
    ("recolored", "border"): 0.5,
    ("recolored", "fill"): 0.7,
    ("recolored", "ink"): 0.6,
    ("replaced", "content"): 0.3,
    ("replaced", "fill"): 0.5,
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
"""The confidence in each kind and aspect, from 0 to 1."""
ON_GROUND = 0.75
"""The confidence that an object was added or removed if one picture shows only the background."""
BY_AMOUNT = 0.3
"""The confidence that an object was added or removed if only the amount of ink changed."""


@dataclass(frozen=True)
class Finding:
    """The classification of a change: kind, aspect, confidence and measured values."""

    kind: Kind | None
    aspect: str
    confidence: float
    values: dict[str, Any] = field(default_factory=dict)


def recolored_around(before: Pixels, after: Pixels, box: Box, step: tuple[int, int]) -> Finding | None:
    """Return the change of the fill around content that moved by a step within a box, or None if the fill
    stayed."""
    one, other = read_layer(before, box), read_layer(after, box)
    if far(one.fill, other.fill) <= SAME_COLOR or min(one.even, other.even) <= FILLED:
        return None
    codes = {"color_before": words.color_code(one.fill), "color_after": words.color_code(other.fill)}
    return _finding("recolored", "fill", {**codes, "content": list(step)})


def _finding(kind: Kind, aspect: str, values: dict[str, Any] | None = None) -> Finding:
    """Return a finding with the confidence from ``CONFIDENCES``."""
    return Finding(kind, aspect, CONFIDENCES[kind, aspect], values or {})


def find_kind(before: Pixels, after: Pixels, box: Box, differs: NDArray[np.bool_]) -> Finding:
    """Return the kind of change in a box of two aligned pictures.

    differs: (H, W) whether the pictures differ visibly.
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
    # If ink stays on an apparent background, this background is a fill.
    if one.empty and not other.empty and not ink_within(one.ink, other.ink) > SAME_INK:
        return Finding("added", "thing", ON_GROUND)
    if other.empty and not one.empty and not ink_within(other.ink, one.ink) > SAME_INK:
        return Finding("removed", "thing", ON_GROUND)
    if is_outline(part):
        return _outline(one, other, before, after, box, part)
    if fills_differ and _is_refilled(
        one, other, before[top:bottom, left:right], after[top:bottom, left:right]
    ):
        return _fill(one, other)
    return _ink(one, other)


def _is_refilled(one: Layer, other: Layer, before: Pixels, after: Pixels) -> bool:
    """Return whether most of the pixels of a fill before have the fill after.

    Heavy letters may be most of a region before, and the gaps between lighter ones most of it after. But only
    the edges of the letters changed then.
    """
    was = steps_from(one.fill, before) <= SAME_COLOR
    now = steps_from(other.fill, after) <= SAME_COLOR
    return bool((was & now).mean() >= REFILLED * min(one.even, other.even))


def is_outline(part: NDArray[np.bool_]) -> bool:
    """Return whether the differences form a thin line, a frame or corners, with almost no difference in the
    interior."""
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
    """Return the change of a frame, a line or corners."""
    left, top, right, bottom = box
    was = before[top:bottom, left:right][part]
    now = after[top:bottom, left:right][part]
    old, new = line_color(was, one.ground), line_color(now, other.ground)
    was_line = far(old, one.ground) > SAME_COLOR
    is_line = far(new, other.ground) > SAME_COLOR
    strip = _thickness(before, after, box) or _bar(before, after, box)
    if strip is not None:
        return strip
    if was_line and is_line and far(old, new) > SAME_COLOR:
        values = {"color_before": words.color_code(old), "color_after": words.color_code(new)}
        return _finding("recolored", "border", values)
    return _finding("restyled", "border")


def _bar(before: Pixels, after: Pixels, box: Box) -> Finding | None:
    """Return an upright bar, such as a scroll bar, that came in an area or over a thinner line, or went; else
    None.

    In one picture much of the bar's place looks like what lies beside it, in the other one none of it does.
    """
    left, top, right, bottom = box
    if (
        right - left > LINE
        or right - left >= bottom - top
        or left < BESIDE
        or right + BESIDE > after.shape[1]
    ):
        return None
    shares = []
    for picture in (before, after):
        part = picture[top:bottom, left:right]
        beside = (picture[top:bottom, left - BESIDE : left], picture[top:bottom, right : right + BESIDE])
        colors = [usual_color(side.reshape(-1, 3)) for side in beside]
        shares.append(max(float((steps_from(color, part) <= SAME_COLOR).mean()) for color in colors))
    if max(shares) < BESIDE_LINE or min(shares) > BARE_FILL:
        return None
    return _finding("added" if shares[0] > shares[1] else "removed", "thing")


def _thickness(before: Pixels, after: Pixels, box: Box) -> Finding | None:
    """Return that a line became thicker or thinner at one of its sides, such as an underline, or None.

    The strip that differs has the colour of the rest of the line in one of the pictures only.
    """
    left, top, right, bottom = box
    thick = min(right - left, bottom - top)
    if thick > LINE:
        return None
    across = bottom - top > right - left
    low, high = (left, right) if across else (top, bottom)
    lines = [
        np.moveaxis(picture, 1, 0)[:, top:bottom] if across else picture[:, left:right]
        for picture in (before, after)
    ]
    old, new = (usual_color(part[low:high].reshape(-1, 3)) for part in lines)
    for rest in (slice(max(0, low - THICK), low), slice(high, high + THICK)):
        parts = [part[rest] for part in lines]
        if len(parts[0]) < THICK or (steps_between(*parts) > SAME_COLOR).any():
            continue
        colors = [usual_color(one) for one in (parts[0] if rest.start == high else parts[0][::-1])]
        alike = [min(far(color, old), far(color, new)) for color in colors]
        width = next((k for k, step in enumerate(alike) if step > SAME_COLOR), THICK)
        if not 0 < width < THICK or far(old, new) <= SAME_COLOR:
            continue
        amounts = [thick + width, width] if far(colors[0], old) <= SAME_COLOR else [width, thick + width]
        return Finding("restyled", "line width", 0.5, dict(zip(AMOUNTS, amounts, strict=True)))
    return None


def is_corners(part: NDArray[np.bool_]) -> bool:
    """Return whether all differences lie in the corners of the box."""
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
    """Return the change of length of an object whose fill continues outside the box, or None."""
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
                # If the object or the background could have grown, the object is described.
                lengths.append((far(fill, other.ground) <= SAME_COLOR, finding))
    return min(lengths, key=lambda length: length[0])[1] if lengths else None


def _is_as_broad(pixels: Pixels, box: Box, side: str, fill: RGBColor, ground: RGBColor) -> bool:
    """Return whether the fill beside a box belongs to an object with the same breadth as the box.

    The fill must continue for some pixels, and must not continue beyond the ends of that side. The background
    must lie beyond at least one of these ends. Neither end may lie at the edge of the picture.
    """
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
    """Return whether a box shows only background: a fill of the background's colour with almost no ink."""
    return far(layer.fill, layer.ground) <= SAME_COLOR and layer.ink_share < BARE_FILL


def _fill(one: Layer, other: Layer) -> Finding:
    """Return the change of a fill: recoloured, added or removed."""
    values = {"color_before": words.color_code(one.fill), "color_after": words.color_code(other.fill)}
    if _is_bare(one) and not ink_within(one.ink, other.ink) > SAME_INK:
        return _finding("added", "fill", values)
    if _is_bare(other) and not ink_within(other.ink, one.ink) > SAME_INK:
        return _finding("removed", "fill", values)
    return _finding("recolored", "fill", values) if _has_same_content(one, other) else _covered(one, other)


def _has_same_content(one: Layer, other: Layer) -> bool:
    """Return whether an area with another fill can be the same area.

    It can if it was empty, kept its ink, faded, or stood out from the background before and after.
    """
    stands_out = min(far(layer.fill, layer.ground) for layer in (one, other)) > SAME_COLOR
    less, more = sorted((one, other), key=lambda layer: layer.ink_share)
    faded = more.ink_share < MOST_INK and ink_within(less.ink, more.ink) >= FADED_INK
    faded &= min(one.ink.shape) >= LARGEST_ICON and not _takes_ink_color(one, other)
    return stands_out or faded or one.ink_share < BARE_FILL or ink_overlap(one.ink, other.ink) >= KEPT_INK


def _takes_ink_color(one: Layer, other: Layer) -> bool:
    """Return whether the fill after has the colour that the ink had before, as in an inverted icon."""
    return one.ink_color is not None and far(one.ink_color, other.fill) <= SAME_COLOR


def _covered(one: Layer, other: Layer) -> Finding:
    """Return the change of a box with another fill and other content.

    If the content stood on the background and a filled area now covers it, the area replaced the content, or
    was added if it has content of its own.
    """
    on_ground = far(one.fill, one.ground) <= SAME_COLOR < far(other.fill, other.ground)
    if not on_ground or other.even < COVERING or ink_within(one.ink, other.ink) >= KEPT_INK:
        return _finding("replaced", "content")
    values = {"color_after": words.color_code(other.fill)}
    return _finding("replaced" if other.ink_share < BARE_FILL else "added", "fill", values)


def _ink(one: Layer, other: Layer) -> Finding:
    """Return the change in a box with the same fill and other ink. Ink is everything that differs from the
    fill."""
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
        if step > SAME_COLOR and _covers_same_pixels(one.ink, other.ink):
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
    ratio = (other.ink_share + 1e-6) / (one.ink_share + 1e-6)  # The small terms prevent a division by zero.
    if height <= TEXT_HEIGHT and AS_MUCH_TEXT[0] < ratio < AS_MUCH_TEXT[1]:
        return _finding("rewritten", "text")
    if ratio < MORE_INK and not (height <= LOW_LINE and ratio <= AS_MUCH_TEXT[0]):
        return _finding("replaced", "part")
    return Finding("added" if ratio > 1 else "removed", "thing", BY_AMOUNT, {"by_amount": True})


def _covers_same_pixels(one: NDArray[np.bool_], other: NDArray[np.bool_]) -> bool:
    """Return whether one ink covers almost all pixels of the other, as it does if only its colour changed.

    A paler ink may cover fewer pixels. Letters of another typeface cover other pixels, and thin strokes of
    another width have other shades.
    """
    fewer = min(int(np.count_nonzero(one)), int(np.count_nonzero(other)))
    return int(np.count_nonzero(one & other)) >= SAME_PIXELS * fewer


def _scale(one: Layer, other: Layer) -> float | None:
    """Return the ratio of the sizes of the ink boxes: 1 for equal sizes, None if there is no common
    factor."""
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
    """Return whether the inks of both layers are the same drawing after they are scaled to the same size."""
    parts = [layer.ink[box[1] : box[3], box[0] : box[2]] for layer in (one, other) if (box := layer.ink_box)]
    return ink_overlap(resampled(parts[0], parts[1].shape), parts[1]) >= SAME_DRAWING


def resampled(ink: NDArray[np.bool_], shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """Return a mask drawn at another size."""
    rows = np.arange(shape[0]) * ink.shape[0] // shape[0]
    columns = np.arange(shape[1]) * ink.shape[1] // shape[1]
    return ink[np.ix_(rows, columns)]


def _scaled(one: Layer, other: Layer) -> Finding:
    """Return the finding of a scaled object, with the sizes [width, height] of its ink before and after."""
    sizes = [[box[2] - box[0], box[3] - box[1]] for layer in (one, other) if (box := layer.ink_box)]
    return _finding("resized", "size", {"size_before": sizes[0], "size_after": sizes[1]})


def _is_surely_scaled(one: Layer, other: Layer) -> bool:
    """Return whether the sides of the ink differ by more than its soft edges explain."""
    was, now = one.ink_box, other.ink_box
    if was is None or now is None:
        return False
    return min(abs(now[k + 2] - now[k] - (was[k + 2] - was[k])) for k in (0, 1)) >= LEAST_STEP


def ink_overlap(one: NDArray[np.bool_], other: NDArray[np.bool_]) -> float:
    """Return the smaller one of the two fractions of ink that lie within a pixel of the other picture's
    ink."""
    return min(ink_within(one, other), ink_within(other, one))


def ink_within(one: NDArray[np.bool_], other: NDArray[np.bool_]) -> float:
    """Return the fraction of one picture's ink that lies within a pixel of the other's."""
    count = np.count_nonzero(one)
    return float(np.count_nonzero(one & enlarged(other, 1, 1)) / count) if count else 0.0
