"""The change that explains most differences of a pair or all of them, before single ones are searched for."""

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.rules.boxed import moved_box
from whatchanged.measured.rules.detected import DetectedChange
from whatchanged.measured.rules.frame import resized_frame
from whatchanged.measured.rules.ground import recolored_ground
from whatchanged.measured.rules.grown_fill import grown_fill
from whatchanged.measured.rules.highlight import moved_highlight
from whatchanged.measured.rules.reordered import reordered


def first_change(
    before: Pixels, after: Pixels, visible: NDArray[np.bool_], steps: NDArray[np.uint8]
) -> tuple[DetectedChange, Pixels] | None:
    """Return the background in another colour, a highlight, a frame, a fill or a box that moved or grew, or
    parts in another order, and the picture before in which that has changed already; or None.

    before, after: (H, W, 3), RGB. visible, steps: (H, W) where and by how many levels they differ.
    """
    found = (
        recolored_ground(before, after, visible)
        or moved_highlight(before, after, visible, steps)
        or resized_frame(before, after, steps)
        or grown_fill(before, after, steps)
        or moved_box(before, after, visible)
    )
    if found is not None:
        return found
    in_order = reordered(before, after, visible)
    return None if in_order is None else (in_order, after)  # It explains everything.
