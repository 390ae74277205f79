"""A ring around something small and round, such as a radio button: the ring of the focus came or went."""

import numpy as np

from whatchanged.measured.pixels.layers import ground_color
from whatchanged.measured.pixels.planes import steps_between, steps_from
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box
from whatchanged.measured.rules.kinds import Finding

SMALLEST, LARGEST = 12, 64
"""Pixels of the sides of a ring."""
ROUND = 1.2
"""How many times as long as the other one a side of it is at most."""
DIFFERENT = 10
"""Levels from which on a pixel differs."""
HOLE = 0.6
"""Part of the radius within which nothing changed."""
STILL = 0.02
"""Share of the pixels within that may differ."""
SECTORS, FULL = 16, 15
"""Parts of a full turn, and how many of them the ring shows in at least."""
FAINTER = 0.4
"""How strongly the ring stands out from the ground at most where it is not, as a part of where it is."""
LEAST_LEFT, FAINTEST = 24, 3
"""Pixels that stay of the thing within at least, and the levels by which they differ from the ground."""


def ring_change(before: Pixels, after: Pixels, box: Box) -> Finding | None:
    """The ring that fills a box and came or went; None where something else changed.

    What it surrounds is still there: where nothing is left, an icon came or went.
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
