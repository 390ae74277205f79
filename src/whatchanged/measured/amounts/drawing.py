"""What became of a drawing of which the rules tell no more than that it looks otherwise: whether a part of it
came or went, or whether it is drawn more strongly or more faintly."""

import numpy as np

from whatchanged.measured.pixels.layers import far, ground_color
from whatchanged.measured.pixels.planes import steps_between, steps_from
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box
from whatchanged.measured.rules.kinds import Finding

SAME_GROUND = 6
"""Levels by which the ground of both pictures may differ."""
DIFFERS = 16
"""Levels from which on a pixel differs."""
FEWEST = 24
"""Pixels that differ at least."""
ONE_WAY = 0.92
"""Part of all that differs that goes one way at least: away from the ground, or towards it."""
GONE = 0.9
"""Part of the pixels that differ which show nothing but the ground where a part came or went."""
BARE = 12
"""Levels by which the ground itself may differ from its usual colour."""
MOST = 0.35
"""Share of the box above which what came or went is no part of a drawing."""
REST = 0.25
"""Share of a drawing that stays at least where a part of it came or went: else all of it did."""
STRONGER = 1.15
"""How many times as far from the ground what differs is at least, where it is drawn more strongly."""


def drawing_change(before: Pixels, after: Pixels, box: Box) -> Finding | None:
    """Whether a drawing gained or lost a part, came or went, or is drawn more strongly or more faintly.

    None where the ground differs, or where some of it went one way and some the other: then another thing
    may stand there.
    """
    left, top, right, bottom = box
    one, other = before[top:bottom, left:right], after[top:bottom, left:right]
    grounds = ground_color(before, box), ground_color(after, box)
    if not one.size or far(*grounds) > SAME_GROUND:
        return None
    differs = steps_between(one, other) >= DIFFERS
    if np.count_nonzero(differs) < FEWEST:
        return None
    was, now = (
        steps_from(ground, part)[differs].astype(np.float64)
        for ground, part in zip(grounds, (one, other), strict=True)
    )
    ways = float(np.maximum(now - was, 0).sum()), float(np.maximum(was - now, 0).sum())
    if max(ways) < ONE_WAY * sum(ways):
        return None
    stronger = ways[0] > ways[1]
    fainter_side = was if stronger else now
    if (fainter_side <= BARE).mean() >= GONE:
        if differs.mean() > MOST:
            return None
        covered = [
            int(np.count_nonzero(steps_from(ground, part) > BARE))
            for ground, part in zip(grounds, (one, other), strict=True)
        ]
        fewer, more = sorted(covered)
        if fewer < REST * more:
            return Finding("added" if stronger else "removed", "thing", 0.5)
        return Finding("restyled", "part", 0.5, {"on_after": stronger})
    factor = now.mean() / max(1e-6, was.mean())
    if max(factor, 1 / max(1e-6, factor)) < STRONGER:
        return None
    return Finding(
        "recolored", "contrast", 0.5, {"amount_before": 1.0, "amount_after": round(float(factor), 2)}
    )
