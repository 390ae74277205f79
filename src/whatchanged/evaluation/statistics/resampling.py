"""The variance of scores over samples of scenes: bootstrap intervals and a paired test.

The bootstrap draws groups, not pairs: the two pairs of a scene share a picture, so a resample contains both
or neither.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whatchanged.evaluation.metrics.additive import Additive, Floats

LEVEL = 0.95
_AT_ONCE = 2_000_000
"""Limit on the weights in memory at a time: 16 MB."""

Groups = Sequence[str] | NDArray[np.int64]
CountsToNumbers = Callable[[Floats], Floats]
"""A function from how often each pair counts (B, P) to scores (B, M)."""


@dataclass(frozen=True)
class Sample:
    """Scores of some pairs, and the group (scene) of each pair: all data that resampling needs."""

    numbers: Additive
    groups: NDArray[np.int64]


def bootstrap(numbers: CountsToNumbers, groups: Groups, resamples: int, seed: int = 0) -> Floats:
    """Return the scores of each resample (B, M): as many groups as there are, drawn with replacement.

    ``groups[i]`` is the group of pair i. The draws follow from the groups, their order and the seed alone, so
    two systems on the same pairs see the same draws. Source: Efron, Annals of Statistics 1979.
    """
    _, member = np.unique(groups, return_inverse=True)
    count = int(member.max()) + 1
    rng = np.random.default_rng(seed)
    drawn = []
    for size in _blocks(resamples, len(member)):
        picked = rng.integers(count, size=(size, count)) + count * np.arange(size)[:, None]
        times = np.bincount(picked.ravel(), minlength=size * count).reshape(size, count)
        drawn.append(numbers(times[:, member].astype(float)))
    return np.concatenate(drawn)


def percentile(draws: Floats) -> list[list[float] | None]:
    """Return the middle 95 % of each column of (B, M) resamples, as [low, high]; None where most are
    undefined.
    """
    ends: list[list[float] | None] = []
    for column in draws.T:
        defined = column[np.isfinite(column)]
        if 2 * len(defined) < len(column):
            ends.append(None)
        else:
            low, high = np.quantile(defined, ((1 - LEVEL) / 2, (1 + LEVEL) / 2))
            ends.append([float(low), float(high)])
    return ends


def intervals(
    numbers: CountsToNumbers, groups: Groups, resamples: int, seed: int = 0
) -> list[list[float] | None]:
    """Return the 95 % percentile interval of each score; None for all if there is only one group."""
    if len(set(groups)) < 2:
        width = numbers(np.ones((1, len(groups)))).shape[-1]
        return [None] * width
    return percentile(bootstrap(numbers, groups, resamples, seed))


def exchange_test(one: Additive, other: Additive, groups: Groups, rounds: int, seed: int = 0) -> Floats:
    """Return two-sided p-values (M,) for the hypothesis "both systems are equally good".

    The outputs of the systems are exchanged at random, group by group:

        p = (1 + #{|A* - B*| >= |A - B|}) / (rounds + 1)

    The test is valid for any metric whose statistics of a pair depend only on the output for that pair
    (CIDEr-D's document frequencies come from the references, which both systems share). NaN where the
    difference is undefined. Source: Noreen, Computer Intensive Methods for Testing Hypotheses, 1989
    (approximate randomisation).
    """
    _, member = np.unique(groups, return_inverse=True)
    gap = np.zeros((int(member.max()) + 1, one.rows.shape[1]))
    np.add.at(gap, member, other.rows - one.rows)
    mine, theirs = one.rows.sum(axis=0), other.rows.sum(axis=0)
    seen = np.abs(one.formula(mine) - other.formula(theirs))
    rng = np.random.default_rng(seed)
    as_far = np.zeros(len(seen))
    for size in _blocks(rounds, len(gap)):
        moved = rng.integers(2, size=(size, len(gap))).astype(float) @ gap
        apart = np.abs(one.formula(mine + moved) - other.formula(theirs - moved))
        # A round that exchanges all or nothing gives the difference itself, but for rounding.
        as_far += (apart >= seen - 1e-9).sum(axis=0)
    return np.where(np.isnan(seen), np.nan, (1 + as_far) / (rounds + 1))


def holm(chances: Floats) -> Floats:
    """Correct p-values (M,) for the number of tests: the probability of any false alarm stays at the level.

        p'_(i) = max over j <= i of min(1, (M - j + 1) p_(j)),   p_(1) <= p_(2) <= ... <= p_(M)

    NaN, where nothing was tested, stays NaN and does not count. The tests need not be independent. Source:
    Holm, A simple sequentially rejective multiple test procedure, Scand. J. Statistics 1979.
    """
    corrected = np.full(len(chances), np.nan)
    tested = np.flatnonzero(~np.isnan(chances))
    order = tested[np.argsort(chances[tested], kind="stable")]
    scaled = chances[order] * np.arange(len(order), 0, -1)
    corrected[order] = np.minimum(1, np.maximum.accumulate(scaled))
    return corrected


def _blocks(rounds: int, width: int) -> Iterator[int]:
    """Return the block sizes for the rounds, so that at most ``_AT_ONCE`` weights are in memory."""
    step = max(1, _AT_ONCE // width)
    for first in range(0, rounds, step):
        yield min(step, rounds - first)
