"""Detection of several simultaneous colour changes in the same drawing."""

import numpy as np
from numpy.typing import NDArray

from whatchanged import words
from whatchanged.measured.pixels.layers import RGBColor, colors_in, far, usual_color
from whatchanged.measured.pixels.planes import steps_between, steps_from
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box
from whatchanged.measured.rules.kinds import Finding

FLAT = 4
"""The largest difference, in levels, between neighbouring pixels of the same colour."""
DIFFERS = 24
"""The least difference, in levels, at which a pixel counts as different."""
FEWEST = 60
"""The least number of differing pixels in uniform areas. Letters alone have few of them."""
ONE_STEP = 0.7
"""The least fraction of these pixels at which one pair of colours alone describes the change."""
LEAST, ALL = 0.08, 0.75
"""The least fraction of these pixels for each pair of colours, and for all described pairs together."""
PURE = 0.8
"""The least fraction of one colour's pixels that turned to the same other colour."""
MOST_PAIRS = 3
"""The largest number of pairs that are described."""
ALIKE = 40
"""The largest difference, in levels, between two shades of the same colour."""


def palette_change(before: Pixels, after: Pixels, box: Box) -> Finding | None:
    """Return the pairs of colours that changed.

    ``values["colors"]`` contains pairs ["#rrggbb", "#rrggbb"], the most frequent first. It is empty if one
    colour turned to several. The result is None if one pair explains most of the change, or if too few pixels
    are uniform.
    """
    left, top, right, bottom = box
    one, other = before[top:bottom, left:right], after[top:bottom, left:right]
    chosen = _flat(one) & _flat(other) & (steps_between(one, other) >= DIFFERS)
    if np.count_nonzero(chosen) < FEWEST:
        return None
    was, now = colors_in(one, chosen), colors_in(other, chosen)
    steps = _steps(was, now)
    if not steps or steps[0][2] >= ONE_STEP:
        return None
    names = [(words.color_name(first), words.color_name(second)) for first, second, _ in steps]
    if len(set(names)) < 2:
        return None
    pure = all(_purity(was, now, first, second) >= PURE for first, second, _ in steps)
    told = pure and sum(share for _, _, share in steps) >= ALL
    pairs = [[words.color_code(first), words.color_code(second)] for first, second, _ in steps[:MOST_PAIRS]]
    if told:
        return Finding("recolored", "palette", 0.6, {"colors": pairs})
    return Finding("recolored", "palette", 0.6, {"colors": [], **_one_color(was, steps)})


def _one_color(was: NDArray[np.uint8], steps: list[tuple[RGBColor, RGBColor, float]]) -> dict[str, str]:
    """Return the colour of before that turned to several others, as a value, or nothing.

    was: the differing pixels before (N, 3). steps: the most frequent pairs of colours.
    """
    color = usual_color(was)
    others = {words.color_name(second) for first, second, _ in steps if far(first, color) <= ALIKE}
    one_color = _near(was, color).mean() >= ALL and len(others) > 1
    return {"color_before": words.color_code(color)} if one_color else {}


def _flat(part: Pixels) -> NDArray[np.bool_]:
    """Return a mask (h, w) of the pixels that have about the colour of their upper and left neighbours."""
    flat = np.zeros(part.shape[:2], bool)
    flat[1:, 1:] = (steps_between(part[1:, 1:], part[:-1, 1:]) <= FLAT) & (
        steps_between(part[1:, 1:], part[1:, :-1]) <= FLAT
    )
    return flat


def _steps(was: NDArray[np.uint8], now: NDArray[np.uint8]) -> list[tuple[RGBColor, RGBColor, float]]:
    """Return the most frequent pairs of colours of pixels (N, 3) before and after, with the fraction of
    each."""
    results: list[tuple[RGBColor, RGBColor, float]] = []
    left = np.ones(len(was), bool)
    while left.any() and len(results) <= 2 * MOST_PAIRS:
        first = usual_color(colors_in(was, left))
        of_first = left & _near(was, first)
        second = usual_color(colors_in(now, of_first)) if of_first.any() else first
        both = of_first & _near(now, second)
        share = int(np.count_nonzero(both)) / len(was)
        if share < LEAST:
            break
        results.append((first, second, share))
        left &= ~both
    return sorted(results, key=lambda step: -step[2])


def _purity(was: NDArray[np.uint8], now: NDArray[np.uint8], first: RGBColor, second: RGBColor) -> float:
    """Return the fraction of one colour's pixels (N, 3) that turned to another colour."""
    of_first = _near(was, first)
    both = int(np.count_nonzero(of_first & _near(now, second)))
    return both / max(1, int(np.count_nonzero(of_first)))


def _near(colors: NDArray[np.uint8], color: RGBColor) -> NDArray[np.bool_]:
    """Return a mask of the colours (N, 3) that count as the same as another one."""
    return steps_from(color, colors) <= ALIKE
