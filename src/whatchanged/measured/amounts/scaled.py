"""Detection of a drawing, such as a logo, that is drawn larger or smaller, perhaps elsewhere and with other
things beside it now."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured.amounts.icon import ONE_FACTOR, SAME_GROUND, STANDS_OUT, iou_of
from whatchanged.measured.amounts.redrawn import UNCLEAR
from whatchanged.measured.pixels.boxes import area, union
from whatchanged.measured.pixels.layers import far, ground_color
from whatchanged.measured.pixels.planes import steps_between, steps_from
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box
from whatchanged.measured.rules.detected import DetectedChange
from whatchanged.measured.rules.kinds import Finding, resampled

SMALLEST, LARGEST = 20, 2_000_000
"""The least side of a part of such a drawing in pixels, since letters are smaller, and the largest area in
which it is searched for."""
MOST_PARTS = 10
"""The number of parts of each picture that are compared, the largest first."""
LEAST_FACTOR, MOST_FACTOR, LEAST_STEP = 1.1, 10, 4
"""The least and the largest factor of a scaled drawing, and the least change of its sides in pixels."""
SAME_FORM, SAME_COLORS, COLOR_STEP = 0.8, 0.85, 40
"""The least intersection over union of the forms of two parts of one size, and the least fraction of their
common pixels whose colours differ by at most so many levels."""
PLAIN = 0.97
"""The fraction of its box that a plain rectangle covers. It looks like any other one of its colour."""
ONE_PLACE = 0.04
"""The largest distance between a part and its place in the scaled drawing, as a fraction of the drawing."""
FOUND_AGAIN = 0.8
"""The least fraction of one picture's drawn pixels in these parts. The other picture may show more."""
LETTERS, LONG = 3, 2
"""The least number of parts of a line of text, and the least ratio of its width to its height."""


@dataclass(frozen=True)
class _DrawnPart:
    """A connected part of a drawing: its box in the picture, its form and its pixels."""

    box: Box
    form: NDArray[np.bool_]
    pixels: Pixels

    @property
    def size(self) -> tuple[int, int]:
        """The width and the height."""
        return self.box[2] - self.box[0], self.box[3] - self.box[1]


def scaled_drawing(change: DetectedChange, before: Pixels, after: Pixels, box: Box) -> DetectedChange | None:
    """Return a change that only says that something looks different as another size of the same drawing, or
    None."""
    finding = change.finding
    vague = (finding.kind, finding.aspect) in UNCLEAR and not finding.values
    if not (vague or "by_amount" in finding.values) or area(box) > LARGEST:
        return None
    if far(ground_color(before, box), ground_color(after, box)) > SAME_GROUND:
        return None
    (parts, drawn), (others, drawn_after) = _parts(before, box), _parts(after, box)
    pairs = [(one, other) for one in parts for other in others if _is_scaled(one, other)]
    for seed in pairs:
        group = _of_one_scale(seed, pairs)
        shares = [
            sum(np.count_nonzero(pair[end].form) for pair in group) / count
            for end, count in enumerate((drawn, drawn_after))
        ]
        if max(shares) < FOUND_AGAIN or _may_be_text(group):
            continue
        was, now = (union([pair[end].box for pair in group]) for end in (0, 1))
        sizes = [[one[2] - one[0], one[3] - one[1]] for one in (was, now)]
        values = {"size_before": sizes[0], "size_after": sizes[1], "drawing": True}
        finding = Finding("resized", "size", 0.6, {**values, "grew": sizes[1] > sizes[0]})
        return replace(change, finding=finding, box_before=was, box_after=now, look="drawing")
    return None


def _may_be_text(group: Sequence[tuple[_DrawnPart, _DrawnPart]]) -> bool:
    """Return whether several parts stand in one line, as letters do."""
    boxes = [one.box for one, _ in group]
    around = union(boxes)
    return len(group) >= LETTERS and around[2] - around[0] >= LONG * (around[3] - around[1])


def _parts(pixels: Pixels, box: Box) -> tuple[list[_DrawnPart], int]:
    """Return the largest parts of what is drawn on the background of a box, and how many pixels are drawn."""
    from scipy import ndimage  # SciPy is imported here because its import is slow.

    left, top, right, bottom = box
    shown = pixels[top:bottom, left:right]
    drawn = steps_from(ground_color(pixels, box), shown) > STANDS_OUT
    labels, _ = ndimage.label(drawn, np.ones((3, 3), bool))
    parts = []
    for number, (rows, columns) in enumerate(ndimage.find_objects(labels), 1):
        if min(rows.stop - rows.start, columns.stop - columns.start) >= SMALLEST:
            place = (left + columns.start, top + rows.start, left + columns.stop, top + rows.stop)
            parts.append(_DrawnPart(place, labels[rows, columns] == number, shown[rows, columns]))
    parts.sort(key=lambda part: (-area(part.box), part.box))
    return parts[:MOST_PARTS], max(1, int(np.count_nonzero(drawn)))


def _is_scaled(one: _DrawnPart, other: _DrawnPart) -> bool:
    """Return whether two parts are the same drawing at two sizes."""
    across, down = (b / a for a, b in zip(one.size, other.size, strict=True))
    if min(abs(b - a) for a, b in zip(one.size, other.size, strict=True)) < LEAST_STEP:
        return False
    if not LEAST_FACTOR <= max(across, 1 / across) <= MOST_FACTOR or abs(across / down - 1) > ONE_FACTOR / 2:
        return False
    small, large = sorted((one, other), key=lambda part: part.size)
    form = resampled(small.form, large.form.shape)
    if min(float(part.form.mean()) for part in (one, other)) >= PLAIN or iou_of(form, large.form) < SAME_FORM:
        return False
    rows = np.arange(large.size[1]) * small.size[1] // large.size[1]
    columns = np.arange(large.size[0]) * small.size[0] // large.size[0]
    steps = steps_between(small.pixels[np.ix_(rows, columns)], large.pixels)[form & large.form]
    return bool((steps <= COLOR_STEP).mean() >= SAME_COLORS)


def _of_one_scale(
    seed: tuple[_DrawnPart, _DrawnPart], pairs: Sequence[tuple[_DrawnPart, _DrawnPart]]
) -> list[tuple[_DrawnPart, _DrawnPart]]:
    """Return the pairs of parts that lie where the scale of one of them puts them, that one included."""
    (left, top, *_), (new_left, new_top, *_) = seed[0].box, seed[1].box
    factor = seed[1].size[0] / seed[0].size[0]
    found = []
    for one, other in pairs:
        expected = [
            start + factor * (place - origin)
            for place, origin, start in zip(
                one.box, (left, top, left, top), (new_left, new_top, new_left, new_top), strict=True
            )
        ]
        most = max(2.0, ONE_PLACE * max(*seed[1].size, *other.size))
        if max(abs(a - b) for a, b in zip(expected, other.box, strict=True)) <= most:
            found.append((one, other))
    return found
