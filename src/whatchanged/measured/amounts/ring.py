"""Detection of a focus ring that appeared or disappeared around a small round object, such as a radio
button."""

import numpy as np

from whatchanged.measured.pixels.layers import ground_color
from whatchanged.measured.pixels.planes import steps_between, steps_from
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box
from whatchanged.measured.rules.kinds import Finding

SMALLEST, LARGEST = 12, 64
"""The least and largest side of a ring in pixels."""
ROUND = 1.2
"""The largest ratio between the sides of a ring."""
DIFFERENT = 10
"""The difference, in levels, above which a pixel counts as different."""
HOLE = 0.6
"""The fraction of the radius within which nothing changed."""
STILL = 0.02
"""The largest fraction of the inner pixels that may differ."""
SECTORS, FULL = 16, 15
"""The number of sectors of a full turn, and the least number of sectors in which the ring is visible."""
FAINTER = 0.4
"""The largest contrast of the ring where it is absent, as a fraction of its contrast where it is present."""
LEAST_LEFT, FAINTEST = 24, 3
"""The least number of pixels that remain of the inner object, and their least difference, in levels, from the
background."""


def ring_change(before: Pixels, after: Pixels, box: Box) -> Finding | None:
    """Return the ring that fills a box and appeared or disappeared, or None if something else changed.

    The object inside the ring must remain. If nothing remains, an icon appeared or disappeared instead.
    """
    left, top, right, bottom = box
    width, height = right - left, bottom - top
    short, long = sorted((width, height))
    if not SMALLEST <= short <= long <= min(LARGEST, ROUND * short):
        return None
    parts = [picture[top:bottom, left:right] for picture in (before, after)]
    differs = steps_between(*parts) > DIFFERENT
    down, across = np.mgrid[:height, :width]
    y, x = (2 * down + 1) / height - 1, (2 * across + 1) / width - 1
    hole = np.hypot(x, y) < HOLE
    if np.count_nonzero(differs & hole) > STILL * np.count_nonzero(hole):
        return None
    ring = differs & ~hole
    sectors = ((np.arctan2(y, x) / (2 * np.pi) + 0.5) * SECTORS).astype(int) % SECTORS
    if len(np.unique(sectors[ring])) < FULL:
        return None
    steps = [
        steps_from(ground_color(picture, box), part)
        for picture, part in zip((before, after), parts, strict=True)
    ]
    was, now = (float(np.median(step[ring])) for step in steps)
    if min(was, now) > FAINTER * max(was, now):
        return None
    rest = steps[0 if now > was else 1]
    if np.count_nonzero(rest >= FAINTEST) < LEAST_LEFT:
        return None
    return Finding("restyled", "ring", 0.6, {"on_after": now > was})
