"""Detection of the state of a control: a tick or dot in a small box, or the side of a switch's knob."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured.pixels.boxes import box_of, common, grown
from whatchanged.measured.pixels.layers import far, ground_color, usual_color
from whatchanged.measured.pixels.planes import steps_from
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box
from whatchanged.measured.rules.kinds import Finding

ROOM, OF_SIDE = 12, 0.7
"""The least distance in pixels from a difference within which its control is searched for, and this distance
as a fraction of the longer side of the difference: a mark fills most of its box."""
STANDS_OUT = 16
"""The least difference, in levels, of a control from its background."""
BOX_SIDES = (10, 132)
"""The least and largest side of a check box in pixels: one of 64 pixels on a screen of double density is the
largest."""
ORDINARY = 40
"""The largest side in pixels of an ordinary check box. A larger one may be a card, so its mark must be a
tick, a cross or a dot in its middle."""
MIDDLE, SPAN = 0.12, (0.25, 0.9)
"""The largest distance of a mark from the middle of its box, and the least and largest length of the mark, as
fractions of the box's side."""
SQUARE = 1.2
"""The largest ratio between the sides of a check box."""
SWITCH_HEIGHTS, SWITCH_LONG = (12, 128), (1.45, 2.7)
"""The least and largest height of a switch in pixels, and its least and largest ratio of width to height."""
RIM = 2
"""The least width in pixels of a box's outline."""
SAME_SIDE = 3
"""The largest difference, in pixels, between the sides of a control in both pictures."""
MARKED = (0.08, 0.85)
"""The least and largest fraction of a box's interior that a tick or dot covers."""
PLAIN = 0.03
"""The largest such fraction if there is no tick or dot."""
ROUND_CORNER, LARGEST_CORNER = 0.12, 4
"""The corner size, as a fraction of the side and at most in pixels, that must show the background if the
control is a circle."""
FULL = 0.65
"""The least fraction of its bounding box that a dot covers."""
SMALLEST_KNOB, EVEN_KNOB = 0.35, 1.15
"""The least side of a switch's knob, as a fraction of the switch's height, and the largest ratio between its
sides. One pixel more is allowed."""
KNOB = 0.25
"""The least difference between the two halves of a switch in how far their colour reaches past the middle."""
ROUND_PART, GAP_PART = 0.66, 0.55
"""The radius of the interior of a radio button, as a fraction of its own, and the radius from which the gap
around its dot is seen."""

ControlName = Literal["checkbox", "radio button", "switch"]


def state_change(before: Pixels, after: Pixels, box: Box) -> tuple[Finding, ControlName, Box] | None:
    """Return the finding for the control at a difference, its name and its box, or None."""
    if max(box[2] - box[0], box[3] - box[1]) > SWITCH_LONG[1] * SWITCH_HEIGHTS[1]:
        return None
    was = _control_box(before, box)
    now = None if was is None else _control_box(after, box)
    if was is None or now is None:
        return None
    if any(abs(a - b) > SAME_SIDE for a, b in zip(was, now, strict=True)):
        return None
    width, height = now[2] - now[0], now[3] - now[1]
    if BOX_SIDES[0] <= min(width, height) and max(width, height) <= min(
        BOX_SIDES[1], SQUARE * min(width, height)
    ):
        return _of_box(before, after, was, now)
    if (
        SWITCH_HEIGHTS[0] <= height <= SWITCH_HEIGHTS[1]
        and SWITCH_LONG[0] <= width / height <= SWITCH_LONG[1]
    ):
        return _of_switch(before, after, was, now)
    return None


def _control_box(pixels: Pixels, box: Box) -> Box | None:
    """Return the box of the object that differs from its background around a difference.

    The result is None if the object extends beyond the room around the difference.
    """
    from scipy import ndimage  # SciPy is imported here because its import is slow.

    room = max(ROOM, round(OF_SIDE * max(box[2] - box[0], box[3] - box[1])))
    window = grown(box, room, (pixels.shape[1], pixels.shape[0]))
    left, top = window[:2]
    part = pixels[top : window[3], left : window[2]]
    ground = ground_color(pixels, window)
    labels, _ = ndimage.label(steps_from(ground, part) >= STANDS_OUT, np.ones((3, 3), bool))
    best, most = None, 0
    for rows, columns in ndimage.find_objects(labels):
        one = (left + columns.start, top + rows.start, left + columns.stop, top + rows.stop)
        shared = common(one, box)
        if shared > most:
            best, most = one, shared
    if best is None or best[0] <= window[0] or best[1] <= window[1]:
        return None
    return None if best[2] >= window[2] or best[3] >= window[3] else best


def _of_box(before: Pixels, after: Pixels, was: Box, now: Box) -> tuple[Finding, ControlName, Box] | None:
    """Return a tick or dot that appeared or disappeared in a small box or circle, or None."""
    one, other = _marked(before, was), _marked(after, now)
    marked = [MARKED[0] <= share <= MARKED[1] for share in (one, other)]
    plain = [share <= PLAIN for share in (one, other)]
    if not (marked[0] and plain[1]) and not (marked[1] and plain[0]):
        return None
    if max(now[2] - now[0], now[3] - now[1]) > ORDINARY and not _is_central(
        *((before, was) if marked[0] else (after, now))
    ):
        return None
    element: ControlName = "radio button" if _is_round(after, now) else "checkbox"
    # A circle may also contain a number.
    if element == "radio button" and not _is_dot(*((before, was) if marked[0] else (after, now))):
        return None
    return Finding("replaced", "mark", 0.7, {"state": "checked", "on_after": marked[1]}), element, now


def _radius(width: int, height: int) -> NDArray[np.float64]:
    """Return the distance of each pixel of a box from its middle, as a fraction of half its sides."""
    down, across = np.mgrid[:height, :width]
    return np.asarray(np.hypot((2 * across + 1) / width - 1, (2 * down + 1) / height - 1))


def _is_dot(pixels: Pixels, box: Box) -> bool:
    """Return whether a circle contains a filled dot at its centre."""
    part = pixels[box[1] : box[3], box[0] : box[2]]
    radius = _radius(part.shape[1], part.shape[0])
    gap = usual_color(part[(radius >= GAP_PART) & (radius < ROUND_PART)])
    mark = (steps_from(gap, part) > 2 * STANDS_OUT) & (radius < ROUND_PART)
    around = box_of(mark)
    if around is None:
        return False
    middle = [abs(around[k] + around[k + 2] - mark.shape[1 - k]) <= 3 for k in (0, 1)]
    full = mark[around[1] : around[3], around[0] : around[2]].mean() >= FULL
    long = abs((around[2] - around[0]) - (around[3] - around[1])) <= 2
    return bool(full and long and all(middle))


def _is_central(pixels: Pixels, box: Box) -> bool:
    """Return whether the mark of a large box is one in its middle."""
    mark, rim = _mark(pixels, box)
    around = box_of(mark)
    if around is None:
        return False
    sides = [box[2] - box[0], box[3] - box[1]]
    off = [abs(around[k] + around[k + 2] + 2 * rim - sides[k]) / 2 for k in (0, 1)]
    spans = [(around[k + 2] - around[k]) / sides[k] for k in (0, 1)]
    return max(off) <= MIDDLE * max(sides) and all(SPAN[0] <= span <= SPAN[1] for span in spans)


def _mark(pixels: Pixels, box: Box) -> tuple[NDArray[np.bool_], int]:
    """Return which pixels of a box's interior differ from its most frequent colour, and the width of the
    rim around this interior."""
    rim = max(RIM, round(0.2 * min(box[2] - box[0], box[3] - box[1])))
    part = pixels[box[1] + rim : box[3] - rim, box[0] + rim : box[2] - rim]
    if not part.size:
        return np.zeros((0, 0), bool), rim
    return steps_from(usual_color(part.reshape(-1, 3)), part) > 2 * STANDS_OUT, rim


def _marked(pixels: Pixels, box: Box) -> float:
    """Return the fraction of a small box's interior that differs from its most frequent colour."""
    if _is_round(pixels, box):
        part = pixels[box[1] : box[3], box[0] : box[2]]
        inside = part[_radius(part.shape[1], part.shape[0]) < ROUND_PART]
        return float((steps_from(usual_color(inside), inside) > 2 * STANDS_OUT).mean())
    mark, _ = _mark(pixels, box)
    return float(mark.mean()) if mark.size else 0.0


def _is_round(pixels: Pixels, box: Box) -> bool:
    """Return whether the corners of a box show the background, as around a circle."""
    ground = ground_color(pixels, box)
    corner = min(LARGEST_CORNER, max(1, round(ROUND_CORNER * (box[2] - box[0]))))
    left, top, right, bottom = box
    corners = (
        pixels[top : top + corner, left : left + corner],
        pixels[top : top + corner, right - corner : right],
        pixels[bottom - corner : bottom, left : left + corner],
        pixels[bottom - corner : bottom, right - corner : right],
    )
    return all(bool((steps_from(ground, part) < 2 * STANDS_OUT).mean() > 0.7) for part in corners)


def _of_switch(before: Pixels, after: Pixels, was: Box, now: Box) -> tuple[Finding, ControlName, Box] | None:
    """Return the change of a switch whose knob moved to the other side, or None. With the knob at the right
    it is on."""
    one, other = _knob_side(before, was), _knob_side(after, now)
    if one is None or other is None or one == other:
        return None
    return Finding("recolored", "fill", 0.7, {"state": "on", "on_after": other == "right"}), "switch", now


def _knob_side(pixels: Pixels, box: Box) -> Literal["left", "right"] | None:
    """Return the side of the knob: the end whose colour forms a shape as wide as high, and not the track."""
    from scipy import ndimage  # SciPy is imported here because its import is slow.

    left, top, right, bottom = box
    height, width = bottom - top, right - left
    part = pixels[top:bottom, left:right]
    middle = height // 2
    columns = (middle, width - 1 - middle)
    colors = [
        usual_color(part[middle - 1 : middle + 2, column - 1 : column + 2].reshape(-1, 3))
        for column in columns
    ]
    if far(*colors) <= STANDS_OUT:
        return None
    ground = ground_color(pixels, box)
    others = [ground] if min(far(color, ground) for color in colors) > STANDS_OUT else []
    nearest = np.argmin([steps_from(color, part) for color in (*colors, *others)], axis=0)
    even = []
    for number, column in enumerate(columns):
        labels, _ = ndimage.label(nearest == number)
        shape = box_of(labels == labels[middle, column]) if labels[middle, column] else None
        if shape is None:
            return None
        sides = sorted((shape[2] - shape[0], shape[3] - shape[1]))
        even.append(sides[0] >= SMALLEST_KNOB * height and sides[1] <= EVEN_KNOB * sides[0] + 1)
    if even[0] != even[1]:
        return "left" if even[0] else "right"
    return _side_by_reach(part)


def _side_by_reach(part: Pixels) -> Literal["left", "right"] | None:
    """Return the side of a knob that touches the outline of its switch, or None. The track's colour extends
    past the middle, and the knob's colour ends before it."""
    height, width = part.shape[:2]
    rows = part[height // 2 - 1 : height // 2 + 2, 2 : width - 2]
    half = rows.shape[1] // 2
    inner = min(half - 1, max(3, round(0.5 * height)))
    colors = [usual_color(end.reshape(-1, 3)) for end in (rows[:, :inner], rows[:, -inner:])]
    reach = [
        float((steps_from(color, rows[:, half - 1 : half + 1]) <= STANDS_OUT).mean()) for color in colors
    ]
    if far(*colors) <= 2 * STANDS_OUT or abs(reach[0] - reach[1]) < KNOB:
        return None
    return "left" if reach[0] < reach[1] else "right"
