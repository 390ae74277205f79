"""Formats one figure of a record for a sentence of a page.

    screens: measured/kind/value as %                    "61 %"
    gate: systems/whatchanged/all drawn/right as ,       "1,155"
    worse_pictures: rows/pictures=warm/wholly true as .0 "94"
    kills: rows/*/stopped as sum                         "409"
    learning: pcl/near/wholly true as .1                 "93.0": a row's mean over its seeds on a test set
    verdicts: rules/changed/useful as share              "38 %": of sentences that were read blind

A path names keys of the record's figures; ``KEY=VALUE`` selects an entry of a list, ``*`` all its entries.
"""

from collections.abc import Callable, Mapping
from statistics import fmean
from typing import Any

from benchmarks.learning.tables import longest, seed_scores
from benchmarks.record import Result
from benchmarks.screens.verdicts import shares, verdicts
from whatchanged.evaluation.report.layout import share_with_ends

FORMATS: Mapping[str, Callable[[Any], str]] = {
    "%": lambda value: f"{100 * value:.0f} %",
    "%.1": lambda value: f"{100 * value:.1f} %",
    "share": lambda value: f"{100 * value['count'] / value['of']:.0f} %",
    "share.1": lambda value: f"{100 * value['count'] / value['of']:.1f} %",
    "ends": share_with_ends,
    "percent": lambda value: f"{value:.0f} %",
    "percent.1": lambda value: f"{value:.1f} %",
    ",": lambda value: f"{value:,}",
    "sum": lambda value: f"{sum(value):,}",
    "count": lambda value: f"{len(value):,}",
    "text": str,
    "g": lambda value: f"{value:g}",
    ".0": lambda value: f"{value:,.0f}",
    ".1": lambda value: f"{value:,.1f}",
    ".2": lambda value: f"{value:,.2f}",
}


def figure(results: Mapping[str, Result], key: str) -> str:
    """The figure that a mark names; raises ValueError where its record, path or format is none."""
    name, _, rest = key.partition(": ")
    path, _, form = rest.rpartition(" as ")
    if name not in {*results, "verdicts"} or form not in FORMATS:
        raise ValueError(f"figure {key!r}: want NAME: PATH as FORMAT, FORMAT one of {', '.join(FORMATS)}")
    try:
        if name == "verdicts":
            return FORMATS[form](_at(shares(verdicts()), path.split("/")))
        if results[name].kind == "learning":
            return FORMATS[form](_mean(results[name], *path.split("/")))
        return FORMATS[form](_at(results[name].figures, path.split("/")))
    except (KeyError, IndexError, TypeError, ValueError, StopIteration) as error:
        raise ValueError(f"figure {key!r}: {name} has no such figure") from error


def _at(value: Any, path: list[str]) -> Any:
    """What lies at a path."""
    if not path:
        return value
    step, rest = path[0], path[1:]
    if step == "*":
        return [_at(each, rest) for each in value]
    if isinstance(value, list):
        name, equals, wanted = step.partition("=")
        if equals:
            return _at(next(each for each in value if str(each[name]) == wanted), rest)
        return _at(value[int(step)], rest)
    return _at(value[step], rest)


def _mean(result: Result, row: str, tested: str, name: str) -> float:
    """A score of a row on a test set, the mean of its seeds."""
    return fmean(seed_scores(longest(result.figures["runs"])[row], tested, name))
