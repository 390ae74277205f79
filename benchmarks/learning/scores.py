"""Scores of ``learning.py``: of one run, of a row over its seeds, and of two rows compared.

For each test pair, the score of a run's caption is kept (``outcomes_of``), as text that is short enough for
JSON. Intervals and paired tests need nothing else, so runs of many commands can be compared.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whatchanged.evaluation.io.predictions import Prediction, aligned
from whatchanged.evaluation.metrics.additive import Additive, Floats, mean
from whatchanged.evaluation.metrics.subsets import NO_CHANGE, SubsetPath
from whatchanged.evaluation.metrics.truth import Truths
from whatchanged.evaluation.report.report import Report, make_report
from whatchanged.evaluation.report.scored import ReportSettings, score
from whatchanged.evaluation.report.signature import Origin
from whatchanged.evaluation.statistics.comparison import over_seeds
from whatchanged.evaluation.statistics.intervals import mean_interval
from whatchanged.evaluation.statistics.resampling import Sample, exchange_test, holm, intervals
from whatchanged.records import PairRecord

SCORES: Mapping[str, tuple[str, ...]] = {
    "BLEU-4": ("overall", "BLEU-4"),
    "ROUGE-L": ("overall", "ROUGE-L"),
    "CIDEr-D": ("overall", "CIDEr-D"),
    "CIDEr-D, changed": ("semantic", "CIDEr-D"),
    "type right": ("scene", "semantic", "type_right"),
    "wholly true": ("scene", "semantic", "true"),
    "no change told": ("scene", "distractor", "called_none"),
    "change missed": ("scene", "semantic", "called_none"),
}
TYPES = ("color", "material", "add", "drop", "move")
"""Types of change, by each of which the scores are told."""
SHOWN = ("type right", "wholly true", "no change told", "CIDEr-D, changed", "CIDEr-D")
TESTED = ("wholly true", "CIDEr-D")
"""Scores by which rows are compared."""
RESAMPLES = 1000
"""Draws of scenes for an interval, rounds of a paired test."""
Outcomes = Mapping[str, str]
"""Score of ``SHOWN`` -> a digit or a number for each pair that it covers, in the order of the records."""
Cell = Mapping[str, float | None]
Run = Mapping[str, Any]


def scores_of(
    said: Sequence[str], records: Sequence[PairRecord], truths: Truths, resamples: int
) -> dict[str, Any]:
    """The scores of one caption a pair: over all, and by type of change."""
    predictions = tuple(Prediction(r.pair_id, c) for r, c in zip(records, said, strict=True))
    settings = ReportSettings(resamples=resamples)
    report = make_report(
        score(records, aligned(predictions, records), settings, truths), origin=Origin(split="test")
    )
    scores = {title: _cell(report, *path) for title, path in SCORES.items()}
    types = {
        kind: {
            "CIDEr-D": _cell(report, "types", kind, "CIDEr-D"),
            "wholly true": _cell(report, "scene", "types", kind, "true"),
        }
        for kind in TYPES
    }
    return {"scores": scores, "types": types}


def _cell(report: Report, *place: str) -> dict[str, float | None]:
    """A number of a report with its interval over scenes (sampling_low, sampling_high)."""
    node: Any = report
    for step in place:
        node = node.get(step, {})
    if isinstance(node, Mapping):  # a share of the scenes, with Wilson's interval
        return {"mean": node["percent"], "sampling_low": node["low"], "sampling_high": node["high"]}
    ends: Any = report["intervals"]
    for step in place:
        ends = (ends or {}).get(step)
    low, high = ends or (None, None)
    return {"mean": node, "sampling_low": low, "sampling_high": high}


def plain(found: Mapping[str, Any]) -> dict[str, float]:
    """The scores without their intervals."""
    return {name: cell["mean"] for name, cell in found["scores"].items()}


def outcomes_of(said: Sequence[str], records: Sequence[PairRecord], truths: Truths) -> Outcomes:
    """What each caption is worth: shares as 0 and 1, CIDEr-D times 100 to a tenth."""
    predictions = [Prediction(r.pair_id, c) for r, c in zip(records, said, strict=True)]
    scored = score(records, aligned(predictions, records), ReportSettings(resamples=0), truths)
    results = {}
    for name in SHOWN:
        *place, metric = SCORES[name]
        values = _of_pairs(scored.samples[tuple(place)].numbers, metric)
        if _is_share(name):
            results[name] = "".join(f"{value:.0f}" for value in values)
        else:
            results[name] = " ".join(f"{100 * value:.1f}" for value in values)
    return results


def pairs_of(records: Sequence[PairRecord], truths: Truths) -> dict[str, str]:
    """What happened in each pair and which scene it is of, as words between blanks."""
    scenes: dict[str, int] = {}
    numbers = [scenes.setdefault(record.group_id, len(scenes)) for record in records]
    kinds = [truths.world.truth.kind_of(truths.by_id[record.pair_id]) for record in records]
    return {"kinds": " ".join(kinds), "scenes": " ".join(map(str, numbers))}


def sample(pairs: Mapping[str, str], outcomes: Outcomes, name: str, kind: str | None = None) -> Sample:
    """One score of one run as what it is made of, pair by pair; ``kind`` keeps the pairs of that change."""
    kinds = np.array(pairs["kinds"].split())
    covered = np.flatnonzero(_covered(kinds, name))
    if _is_share(name):
        values = np.array([float(digit) for digit in outcomes[name]])
    else:
        values = np.array([float(number) / 100 for number in outcomes[name].split()])
    kept = np.ones(len(covered), bool) if kind is None else kinds[covered] == kind
    scenes = np.array([int(number) for number in pairs["scenes"].split()])
    return Sample(mean(name, values[kept]), scenes[covered[kept]])


def of_seeds(
    runs: Sequence[Run], tested: str, pairs: Mapping[str, str], name: str, kind: str | None = None
) -> dict[str, float | None]:
    """A score of a row's runs on a test set, with the spread of its seeds and of the scenes.

    One run alone has the interval of its report. Runs without outcomes have no interval of scenes together.
    """
    tests = [run["tests"][tested] for run in runs]
    cells = [t["scores"][name] if kind is None else t["types"][kind][name] for t in tests]
    if len(cells) == 1:
        return dict(cells[0])
    if all("outcomes" in t for t in tests):
        path: SubsetPath = ("score",)
        systems = [{path: sample(pairs, t["outcomes"], name, kind)} for t in tests]
        return over_seeds(systems, RESAMPLES)[path][name]
    middle, deviation, low, high = mean_interval([cell["mean"] for cell in cells])
    return {"mean": middle, "sd": deviation, "low": low, "high": high}


def paired(
    rows: Mapping[str, Sequence[Run]],
    compared: Sequence[tuple[str, str]],
    tested: str,
    pairs: Mapping[str, str],
    name: str,
) -> dict[tuple[str, str], dict[str, float]]:
    """The rows of one table compared in a score on a test set, corrected (``holm``) for their number.

    A row is the mean of its runs of those seeds that both rows have: the test asks how the difference would
    fare in other scenes with these very weights. Rows that were not run are left out.
    """
    results: dict[tuple[str, str], dict[str, float]] = {}
    for one, other in compared:
        own = {run["seed"]: run for run in rows.get(one, ()) if _has_outcomes(run, tested)}
        theirs = {run["seed"]: run for run in rows.get(other, ()) if _has_outcomes(run, tested)}
        seeds = sorted(own.keys() & theirs.keys())
        if not seeds:
            continue
        mine, its = (
            [sample(pairs, runs[seed]["tests"][tested]["outcomes"], name) for seed in seeds]
            for runs in (own, theirs)
        )
        a, b, groups = _averaged(mine), _averaged(its), mine[0].groups
        ends = intervals(partial(_difference, a, b), groups, RESAMPLES)[0]
        low, high = (float("nan"), float("nan")) if ends is None else ends
        results[one, other] = {
            "seeds": len(seeds),
            "difference": float((a.values() - b.values())[0]),
            "low": low,
            "high": high,
            "p": float(exchange_test(a, b, groups, RESAMPLES)[0]),
        }
    corrected = holm(np.array([cell["p"] for cell in results.values()]))
    for cell, chance in zip(results.values(), corrected, strict=True):
        cell["p_holm"] = float(chance)
    return results


def _has_outcomes(run: Run, tested: str) -> bool:
    return "outcomes" in run["tests"].get(tested, {})


def _averaged(samples: Sequence[Sample]) -> Additive:
    """The mean over runs of what each pair adds."""
    first = samples[0].numbers
    return Additive(first.names, np.mean([s.numbers.rows for s in samples], axis=0), first.formula)


def _difference(one: Additive, other: Additive, weights: Floats) -> Floats:
    return one.values(weights) - other.values(weights)


def _of_pairs(numbers: Additive, metric: str) -> Floats:
    """(P,) What each pair adds to a mean or a share that counts every pair."""
    own = numbers.only([metric])
    column = own.names.index(metric)
    values: Floats = own.rows[:, column]
    return values


def _covered(kinds: NDArray[np.str_], name: str) -> NDArray[np.bool_]:
    """Which pairs a score is of: all, those that changed, or those that did not."""
    subset = SCORES[name][-2]
    if subset == "overall":
        return np.ones(len(kinds), bool)
    same: NDArray[np.bool_] = kinds == NO_CHANGE
    return same if subset == "distractor" else ~same


def _is_share(name: str) -> bool:
    return SCORES[name][0] == "scene"
