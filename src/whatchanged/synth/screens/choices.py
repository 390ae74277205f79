"""Random choices of the families."""

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from whatchanged.synth.screens.words import Rng

T = TypeVar("T")


def pick(rng: Rng, choices: Sequence[T]) -> T:
    """Return one of the choices."""
    return choices[int(rng.integers(len(choices)))]


def pick_by_share(rng: Rng, choices: Sequence[tuple[T, float]]) -> T:
    """Return one of the choices, with probabilities in proportion to their weights."""
    shares = np.array([share for _, share in choices])
    return choices[int(rng.choice(len(choices), p=shares / shares.sum()))][0]


def magnitude(rng: Rng, least: float, most: float) -> float:
    """Return a step between two sizes, with equal probability for each octave."""
    return float(np.exp(rng.uniform(np.log(least), np.log(most))))


def shade(rng: Rng, color: str, least: float, most: float) -> str:
    """Return another colour that differs from ``least`` to ``most`` levels in one channel, and less in the
    others.
    """
    step = magnitude(rng, least, most)
    channels = [int(color[i : i + 2], 16) for i in (1, 3, 5)]
    chosen = int(rng.integers(3))
    new = [
        round(min(255, max(0, channel + step * (1 if channel < 128 else -1) * (1 if i == chosen else 0.4))))
        for i, channel in enumerate(channels)
    ]
    return "#" + "".join(f"{channel:02x}" for channel in new)
