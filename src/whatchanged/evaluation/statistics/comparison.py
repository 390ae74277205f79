"""Systems measured on the same pairs: one with intervals, two compared, one trained from several seeds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whatchanged.evaluation.metrics.additive import Additive, Floats
from whatchanged.evaluation.metrics.scene_grading import Graded, Truth, graded
from whatchanged.evaluation.report.breakdown import (
    Program,
    Scored,
    Subsets,
    nested,
    placed,
    score,
    subsets,
    viewpoints,
)
from whatchanged.evaluation.statistics.intervals import mean_interval
from whatchanged.evaluation.statistics.resampling import bootstrap, exchange_test, holm, intervals, percentile
from whatchanged.records import PairRecord

Place = tuple[str, ...]
"""Where a block of numbers stands in the report: ("types", "color"), ("scene", "semantic")."""


@dataclass(frozen=True)
class Block:
    """Numbers of one subset, and the group (scene) of each of its pairs."""

    summed: Additive
    groups: NDArray[np.int64]


@dataclass(frozen=True)
class Measured:
    """One system's captions held against the references, and against the scenes where they are known."""

    chosen: Subsets
    blocks: Mapping[Place, Block]
    graded: Graded | None
    unavailable: Mapping[str, str]


def measure(
    records: Sequence[PairRecord],
    captions: Sequence[str],
    truths: Mapping[str, Truth],
    tokenizer: str = "ptb",
    frequencies: str = "subset",
    programs: Mapping[str, Program] | None = None,
) -> Measured:
    """Every number that is a function of sums over pairs; ``captions[i]`` is of ``records[i]``."""
    numbers: dict[str, int] = {}
    groups = np.array([numbers.setdefault(r.group_id, len(numbers)) for r in records])
    chosen = subsets(records)
    scored: Scored = score(captions, [r.captions for r in records], tokenizer, frequencies, programs)
    blocks = {placed(name): Block(scored.of(pairs), groups[pairs]) for name, pairs in chosen.items()}
    grades = None
    if any(r.pair_id in truths for r in records):
        grades = graded(records, captions, truths)
        for name, pairs in grades.subsets(viewpoints(chosen)).items():
            blocks["scene", *placed(name)] = Block(grades.of(pairs), groups[pairs])
    return Measured(chosen, blocks, grades, scored.unavailable)


def confidence(system: Measured, resamples: int, seed: int) -> dict[str, Any]:
    """The 95 % bootstrap interval [low, high] of each number against the references, placed as these are."""
    found = {}
    for place, block in system.blocks.items():
        if place[0] != "scene":
            ends = intervals(block.summed.of, block.groups, resamples, seed)
            found[place] = dict(zip(block.summed.names, ends, strict=True))
    return nested(found)


def compared(one: Measured, other: Measured, resamples: int, seed: int) -> dict[str, Any]:
    """Paired: ``{"overall": {"CIDEr-D": {"a", "b", "difference", "low", "high", "p", "p_holm"}}, ..}``.

    Both systems are scored on each draw of scenes, and the interval is of the difference: what is hard for
    both drops out. ``p`` is two-sided, of the exchange test; ``p_holm`` is corrected (``holm``) for the
    metrics that both systems have in the same block, not for the number of blocks.
    Where few scenes differ the interval is too short (four that all favour A: it leaves out 0, p is .125).
    """
    found = {}
    for place, block in one.blocks.items():
        mine, theirs = _shared(place, (one, other))

        def difference(weights: Floats, a: Additive = mine, b: Additive = theirs) -> Floats:
            return a.of(weights) - b.of(weights)

        ends = intervals(difference, block.groups, resamples, seed)
        chance = exchange_test(mine, theirs, block.groups, resamples, seed)
        columns = zip(mine.names, mine.of(), theirs.of(), ends, chance, holm(chance), strict=True)
        found[place] = {
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
    return nested(found)


def over_seeds(systems: Sequence[Measured], resamples: int, seed: int = 0) -> dict[str, Any]:
    """One method trained from two or more seeds: ``{"overall": {"CIDEr-D": {"mean", "sd", ..}}, ..}``.

    Two kinds of chance, kept apart. Training: ``sd`` (n - 1) of the seeds' numbers on these pairs, and
    ``low``, ``high``, the t interval of their mean: other seeds, same pairs. Sampling: ``sampling_sd``,
    ``sampling_low``, ``sampling_high``, the bootstrap of the mean over seeds: same seeds, other scenes. With
    no ``resamples`` the latter are absent.
    """
    found = {}
    for place, block in systems[0].blocks.items():
        own = _shared(place, systems)
        values = np.array([summed.of() for summed in own])
        numbers: dict[str, dict[str, float | None]] = {}
        for name, column in zip(own[0].names, values.T, strict=True):
            spread = mean_interval(column.tolist()) if np.isfinite(column).all() else (None,) * 4
            numbers[name] = dict(zip(("mean", "sd", "low", "high"), spread, strict=True))

        def mean(weights: Floats, own: Sequence[Additive] = own) -> Floats:
            result: Floats = np.mean([summed.of(weights) for summed in own], axis=0)
            return result

        if resamples and len(set(block.groups)) > 1:
            draws = bootstrap(mean, block.groups, resamples, seed)
            for name, column, end in zip(own[0].names, draws.T, percentile(draws), strict=True):
                low, high = end or (None, None)
                sampled = None if end is None else float(np.nanstd(column, ddof=1))
                numbers[name].update(sampling_sd=sampled, sampling_low=low, sampling_high=high)
        found[place] = numbers
    return nested(found)


def _shared(place: Place, systems: Sequence[Measured]) -> list[Additive]:
    """Each system's numbers there, but those that one lacks: a program may fail for one alone."""
    all_of = [system.blocks[place].summed for system in systems]
    names = [name for name in all_of[0].names if all(name in summed.names for summed in all_of)]
    return [summed.only(names) for summed in all_of]


def _number(value: float) -> float | None:
    """JSON knows no NaN: an undefined number is null."""
    return float(value) if np.isfinite(value) else None
