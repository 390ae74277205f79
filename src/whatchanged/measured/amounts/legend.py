"""Recognition of a plot's legend: a box with a sample of each line or area, and a text right of it."""

from dataclasses import replace

import numpy as np

from whatchanged.measured.amounts.coverage import Floats, columns_of_ink, rows_of_ink
from whatchanged.measured.pixels.boxes import box_of, lies_in
from whatchanged.measured.pixels.layers import usual_color
from whatchanged.measured.pixels.planes import steps_from
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box
from whatchanged.measured.rules.boxed import STRONG, is_boxed
from whatchanged.measured.rules.detected import DetectedChange

FRAME = 3
"""The width in pixels of the frame of a legend with its soft edge."""
THIN, FULL = 5, 0.95
"""The largest height in pixels of a sample of a line, and the least fraction of its box that a sample of an
area covers."""
LEAST_SAMPLE, GAP = 12, 4
"""The least width of a sample, and the least space between it and its text, in pixels."""
ALIGNED = 2
"""The largest difference in pixels between the ends of the samples of one legend."""
MOST = 40
"""The largest number of lines of text. Every legend has at least one with a sample, at most one without."""


def is_legend(pixels: Pixels, box: Box) -> bool:
    """Return whether a box is a legend with a frame."""
    if not is_boxed(pixels, box):
        return False
    left, top, right, bottom = box
    part = pixels[top + FRAME : bottom - FRAME, left + FRAME : right - FRAME]
    ink = (steps_from(usual_color(part.reshape(-1, 3)), part) >= STRONG).astype(np.float32)
    rows = rows_of_ink(ink)
    if not 1 <= len(rows) <= MOST:
        return False
    samples = [ends for start, stop in rows if (ends := _sample(ink[start:stop])) is not None]
    if len(samples) < max(1, len(rows) - 1):
        return False
    return all(max(side) - min(side) <= ALIGNED for side in zip(*samples, strict=True))


def _sample(row: Floats) -> tuple[int, int] | None:
    """Return the first and last column of the sample at the beginning of a line of ink (h, w), or None."""
    pieces = columns_of_ink(row, GAP - 1)
    if len(pieces) < 2 or pieces[0][1] - pieces[0][0] < LEAST_SAMPLE:
        return None
    start, stop = pieces[0]
    drawn = row[:, start:stop] > 0
    box = box_of(drawn)
    if box is None:
        return None
    inside = drawn[box[1] : box[3]]
    return (start, stop) if len(inside) <= THIN or inside.mean() >= FULL else None


def as_legend(change: DetectedChange, before: Pixels, after: Pixels) -> DetectedChange:
    """Return the change with the element of a legend that came, went or moved."""
    ends = [
        (box, picture) for box, picture in ((change.box_before, before), (change.box_after, after)) if box
    ]
    if change.finding.kind not in ("added", "removed", "moved") or change.boxes:
        return change
    legend = all(lies_in(box, picture.shape) and is_legend(picture, box) for box, picture in ends)
    return replace(change, element="legend") if legend else change
