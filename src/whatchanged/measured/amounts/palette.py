"""Several colours at once: which turned to which, where the same is drawn in other colours."""

import numpy as np
from numpy.typing import NDArray

from whatchanged import words
from whatchanged.measured.pixels.layers import RGBColor, usual_color
from whatchanged.measured.pixels.planes import steps_between, steps_from
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box
from whatchanged.measured.rules.kinds import Finding

FLAT = 4
"""Levels up to which a pixel has the colour of the one beside it."""
DIFFERS = 24
"""Levels from which on a pixel differs."""
FEWEST = 60
"""Even pixels that differ at least: of letters alone there are few."""
ONE_STEP = 0.7
"""Share of them of which one colour turned to one other, above which that alone is told."""
LEAST, ALL = 0.08, 0.75
"""Share of them that each pair of colours has at least, and all pairs that are told together."""
PURE = 0.8
"""Share of one colour that turned to the same other one."""
MOST_PAIRS = 3
"""Pairs that are told."""
ALIKE = 40
"""Levels up to which two shades are one colour here."""


def palette_change(before: Pixels, after: Pixels, box: Box) -> Finding | None:
    """Several colours that turned to others; None where one step tells most of it, or too little is even.

    ``values["colors"]`` holds pairs ["#rrggbb", "#rrggbb"], the most frequent first; none where a colour
    turned to several.
    """
    left, top, right, bottom = box
    one, other = before[top:bottom, left:right], after[top:bottom, left:right]
    chosen = _flat(one) & _flat(other) & (steps_between(one, other) >= DIFFERS)
    if np.count_nonzero(chosen) < FEWEST:
        return None
    was, now = one[chosen], other[chosen]
    steps = _steps(was, now)
    if not steps or steps[0][2] >= ONE_STEP:
        return None
    names = [(words.color_name(first), words.color_name(second)) for first, second, _ in steps]
    if len(set(names)) < 2:
        return None
    pure = all(_purity(was, now, first, second) >= PURE for first, second, _ in steps)
    told = pure and sum(share for _, _, share in steps) >= ALL
    pairs = [[words.color_code(first), words.color_code(second)] for first, second, _ in steps[:MOST_PAIRS]]
    return Finding("recolored", "palette", 0.6, {"colors": pairs if told else []})


def _flat(part: Pixels) -> NDArray[np.bool_]:
    """Which pixels (h, w) have about the colour of those above and to the left of them."""
    flat = np.zeros(part.shape[:2], bool)
    flat[1:, 1:] = (steps_between(part[1:, 1:], part[:-1, 1:]) <= FLAT) & (
        steps_between(part[1:, 1:], part[1:, :-1]) <= FLAT
    )
    return flat


def _steps(was: NDArray[np.uint8], now: NDArray[np.uint8]) -> list[tuple[RGBColor, RGBColor, float]]:
    """The most frequent pairs of colours of pixels (N, 3) before and after, with the share of each."""
    results: list[tuple[RGBColor, RGBColor, float]] = []
    left = np.ones(len(was), bool)
    while left.any() and len(results) <= 2 * MOST_PAIRS:
        first = usual_color(was[left])
        of_first = left & _near(was, first)
        second = usual_color(now[of_first]) if of_first.any() else first
        both = of_first & _near(now, second)
        share = int(np.count_nonzero(both)) / len(was)
        if share < LEAST:
            break
        results.append((first, second, share))
        left &= ~both
    return sorted(results, key=lambda step: -step[2])


def _purity(was: NDArray[np.uint8], now: NDArray[np.uint8], first: RGBColor, second: RGBColor) -> float:
    """The share of one colour's pixels (N, 3) that turned to another one."""
    of_first = _near(was, first)
    both = int(np.count_nonzero(of_first & _near(now, second)))
    return both / max(1, int(np.count_nonzero(of_first)))


def _near(colors: NDArray[np.uint8], color: RGBColor) -> NDArray[np.bool_]:
    """Which of the colours (N, 3) are one with another."""
    return steps_from(color, colors) <= ALIKE
