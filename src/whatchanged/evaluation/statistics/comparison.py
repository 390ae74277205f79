"""Statistics of systems on the same pairs: intervals of one, comparison of two, spread of one over several
seeds.

A system is a mapping from paths in the report, such as ("types", "color"), to the samples of scores there.
"""

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from whatchanged.evaluation.metrics.additive import Additive, Floats
from whatchanged.evaluation.metrics.subsets import SubsetPath
from whatchanged.evaluation.statistics.intervals import mean_interval
from whatchanged.evaluation.statistics.resampling import (
    Sample,
    bootstrap,
    exchange_test,
    holm,
    intervals,
    percentile,
)

MOST: Mapping[str, float] = {"CIDEr-D": 1000.0}
"""The largest value in percent of a number that is no share."""
System = Mapping[SubsetPath, Sample]
Cell = dict[str, float | None]
"""The statistics of one number."""


def confidence(system: System, resamples: int, seed: int) -> dict[SubsetPath, dict[str, list[float] | None]]:
    """Return the 95 % bootstrap interval [low, high] of each number."""
    results = {}
    for path, sample in system.items():
        ends = intervals(sample.numbers.values, sample.groups, resamples, seed)
        results[path] = dict(zip(sample.numbers.names, ends, strict=True))
    return results


def compared(one: System, other: System, resamples: int, seed: int) -> dict[SubsetPath, dict[str, Cell]]:
    """Compare in pairs: ``{("overall",): {"CIDEr-D": {"a", "b", "difference", "low", "high", "p", "p_holm"}},
    ..}``.

    Both systems are scored on each resample of scenes, and the interval is that of the difference, so the
    difficulty that both share cancels. ``p`` is the two-sided p-value of the exchange test. ``p_holm`` is
    corrected (``holm``) for the number of metrics that both systems have at the same path, not for the number
    of paths. If few scenes differ, the interval is too narrow: four scenes that all favour A give an interval
    without 0, though p is .125. Without ``resamples``, interval and p are None.
    """
    results = {}
    for path, sample in one.items():
        mine, theirs = _shared(path, (one, other))
        ends: list[list[float] | None] = [None] * len(mine.names)
        chance = np.full(len(mine.names), np.nan)
        if resamples:
            ends = intervals(partial(_difference, mine, theirs), sample.groups, resamples, seed)
            chance = exchange_test(mine, theirs, sample.groups, resamples, seed)
        columns = zip(mine.names, mine.values(), theirs.values(), ends, chance, holm(chance), strict=True)
        results[path] = {
            name: {
                "a": _number(a),
                "b": _number(b),
                "difference": _number(a - b),
                "low": None if end is None else end[0],
                "high": None if end is None else end[1],
                "p": _number(p),
                "p_holm": _number(corrected),
            }
            for name, a, b, end, p, corrected in columns
        }
    return results


def over_seeds(systems: Sequence[System], resamples: int, seed: int = 0) -> dict[SubsetPath, dict[str, Cell]]:
    """Summarise one method trained from two or more seeds: ``{("overall",): {"CIDEr-D": {"mean", "sd", ..}},
    ..}``.

    The result separates two sources of variance. Training (other seeds, same pairs): ``sd`` (n - 1) of the
    seeds' numbers on these pairs, and ``low``, ``high``, the t interval of their mean. Sampling (same seeds,
    other scenes): ``sampling_sd``, ``sampling_low``, ``sampling_high``, from the bootstrap of the mean over
    seeds. Without ``resamples`` the latter are absent.
    """
    results = {}
    for path, sample in systems[0].items():
        own = _shared(path, systems)
        names = own[0].names
        by_seed = np.array([numbers.values() for numbers in own])
        cells = {
            name: _over_training(column, MOST.get(name, 100.0))
            for name, column in zip(names, by_seed.T, strict=True)
        }
        if resamples and len(set(sample.groups)) > 1:
            draws = bootstrap(partial(_mean, own), sample.groups, resamples, seed)
            for name, column, ends in zip(names, draws.T, percentile(draws), strict=True):
                cells[name] |= _over_sampling(column, ends)
        results[path] = cells
    return results


def _over_training(values: Floats, most: float) -> Cell:
    """Return mean, standard deviation and interval over seeds; None for all where a seed's number is
    undefined.

    most: the largest possible number; the interval is clipped to it and to 0.
    """
    if not np.isfinite(values).all():
        return {"mean": None, "sd": None, "low": None, "high": None}
    mean, deviation, low, high = mean_interval(values.tolist())
    return {"mean": mean, "sd": deviation, "low": max(low, 0.0), "high": min(high, most)}


def _over_sampling(draws: Floats, ends: list[float] | None) -> Cell:
    """Return standard deviation and interval over resamples of scenes."""
    if ends is None:
        return {"sampling_sd": None, "sampling_low": None, "sampling_high": None}
    deviation = float(np.nanstd(draws, ddof=1))
    return {"sampling_sd": deviation, "sampling_low": ends[0], "sampling_high": ends[1]}


def _shared(path: SubsetPath, systems: Sequence[System]) -> list[Additive]:
    """Return each system's numbers at a path that all systems have: a metric may fail for one of them."""
    all_of = [system[path].numbers for system in systems]
    names = [name for name in all_of[0].names if all(name in numbers.names for numbers in all_of)]
    return [numbers.only(names) for numbers in all_of]


def _difference(one: Additive, other: Additive, weights: Floats) -> Floats:
    return one.values(weights) - other.values(weights)


def _mean(systems: Sequence[Additive], weights: Floats) -> Floats:
    result: Floats = np.mean([numbers.values(weights) for numbers in systems], axis=0)
    return result


def _number(value: float) -> float | None:
    """Return a number for JSON, which has no NaN: an undefined number becomes null."""
    return float(value) if np.isfinite(value) else None
