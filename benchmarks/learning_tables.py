"""The tables of ``learning.py``: how the runs were made, their curves, and their tests."""

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.learning_figure import longest, title
from benchmarks.record import Result

Run = Mapping[str, Any]
QUARTERS = 5
"""Points of a curve that are shown, the last among them."""


def made(result: Result) -> list[list[str]]:
    """How each of the longest runs was made."""
    head = ["run", "recipe", "beyond the recipe", "rate", "pairs", "seed", "core seconds", "commit"]
    return [
        head,
        *(
            [
                title(run["row"]),
                run["recipe"],
                ", ".join(run["settings"]) or "-",
                f"{run['rate']:g}",
                f"{run['pairs']:,}",
                str(run["seed"]),
                f"{run['curve'][-1]['seconds']:,.0f}",
                run["commit"][:9] + (" and changes" if run["changed"] else ""),
            ]
            for run in longest(result.figures["runs"])
        ),
    ]


def curves(result: Result) -> list[list[str]]:
    """Wholly true sentences, and the types that are right, by the pairs seen."""
    runs = longest(result.figures["runs"])
    places = _places(runs)
    head = ["% of changed validation pairs", *(f"{pairs:,} pairs" for pairs in places)]
    rows = []
    for score in ("wholly true", "type right"):
        for run in runs:
            at = {point["pairs"]: point[score] for point in run["curve"]}
            rows.append([f"{score}: {title(run['row'])}", *(_one(at.get(pairs)) for pairs in places)])
    return [head, *rows]


def tests(result: Result) -> list[list[str]]:
    """The last weights on the test pairs, with intervals of the scenes."""
    shown = ("type right", "wholly true", "no change told", "CIDEr-D, changed", "CIDEr-D")
    head = ["run", *shown, "parameters that learn"]
    rows = []
    for run in longest(result.figures["runs"]):
        scores = run["test"]["scores"]
        rows.append(
            [title(run["row"]), *(_ranged(scores[name]) for name in shown), f"{run['test']['parameters']:,}"]
        )
    return [head, *rows]


def types(result: Result) -> list[list[str]]:
    """Wholly true sentences on the test pairs by type of change."""
    runs = longest(result.figures["runs"])
    names = list(runs[0]["test"]["types"])
    rows = [
        [title(run["row"]), *(_ranged(run["test"]["types"][name]["wholly true"]) for name in names)]
        for run in runs
    ]
    return [["wholly true, %", *names], *rows]


def _places(runs: Sequence[Run]) -> list[int]:
    """The pairs at which all runs have a point: ``QUARTERS`` of them, evenly, the last among them."""
    common = sorted(set.intersection(*({point["pairs"] for point in run["curve"]} for run in runs)))
    step = max(1, len(common) // QUARTERS)
    return common[::-1][::step][::-1]


def _one(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"


def _ranged(cell: Mapping[str, float]) -> str:
    return f"{cell['mean']:.1f} ({cell['sampling_low']:.1f}-{cell['sampling_high']:.1f})"
