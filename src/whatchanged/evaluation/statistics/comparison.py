"""Systems measured on the same pairs: one with its intervals, two compared, one trained from several seeds.

A system is a mapping from places in the report, such as ("types", "color"), to what was measured there.
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
"""The largest value of a number in percent that is no share."""
System = Mapping[SubsetPath, Sample]
Cell = dict[str, float | None]
"""What is known of one number."""


def confidence(system: System, resamples: int, seed: int) -> dict[SubsetPath, dict[str, list[float] | None]]:
    """The 95 % bootstrap interval [low, high] of each number."""
    results = {}
    for path, sample in system.items():
        ends = intervals(sample.numbers.values, sample.groups, resamples, seed)
        results[path] = dict(zip(sample.numbers.names, ends, strict=True))
    return results


def compared(one: System, other: System, resamples: int, seed: int) -> dict[SubsetPath, dict[str, Cell]]:
    """Paired: ``{("overall",): {"CIDEr-D": {"a", "b", "difference", "low", "high", "p", "p_holm"}}, ..}``.

    Both systems are scored on each draw of scenes, and the interval is of the difference: what is hard for
    both drops out. ``p`` is two-sided, of the exchange test; ``p_holm`` is corrected (``holm``) for the
    metrics that both systems have at the same place, not for the number of places.
    Where few scenes differ the interval is too short (four that all favour A: it leaves out 0, p is .125).
    With no ``resamples`` interval and p are None.
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
    """One method trained from two or more seeds: ``{("overall",): {"CIDEr-D": {"mean", "sd", ..}}, ..}``.

    Two kinds of chance, kept apart. Training: ``sd`` (n - 1) of the seeds' numbers on these pairs, and
    ``low``, ``high``, the t interval of their mean: other seeds, same pairs. Sampling: ``sampling_sd``,
    ``sampling_low``, ``sampling_high``, the bootstrap of the mean over seeds: same seeds, other scenes. With
    no ``resamples`` the latter are absent.
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
    """Mean, deviation and interval over seeds; None for all where a seed's number is undefined.

    most: the largest number that there can be; the interval, made for numbers without ends, stops there and
    at 0.
    """
    if not np.isfinite(values).all():
        return {"mean": None, "sd": None, "low": None, "high": None}
    mean, deviation, low, high = mean_interval(values.tolist())
    return {"mean": mean, "sd": deviation, "low": max(low, 0.0), "high": min(high, most)}


def _over_sampling(draws: Floats, ends: list[float] | None) -> Cell:
    """Deviation and interval over draws of scenes."""
    if ends is None:
        return {"sampling_sd": None, "sampling_low": None, "sampling_high": None}
    deviation = float(np.nanstd(draws, ddof=1))
    return {"sampling_sd": deviation, "sampling_low": ends[0], "sampling_high": ends[1]}


def _shared(path: SubsetPath, systems: Sequence[System]) -> list[Additive]:
    """Each system's numbers at a place, without those that one of them lacks: a metric may fail for one."""
    all_of = [system[path].numbers for system in systems]
    names = [name for name in all_of[0].names if all(name in numbers.names for numbers in all_of)]
    return [numbers.only(names) for numbers in all_of]


def _difference(one: Additive, other: Additive, weights: Floats) -> Floats:
    return one.values(weights) - other.values(weights)


def _mean(systems: Sequence[Additive], weights: Floats) -> Floats:
    result: Floats = np.mean([numbers.values(weights) for numbers in systems], axis=0)
    return result


def _number(value: float) -> float | None:
    """JSON knows no NaN: an undefined number is null."""
    return float(value) if np.isfinite(value) else None
