"""The tables of ``learning.py``: how the rows were trained, their curves, and their tests."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import fmean, stdev
from typing import Any, NamedTuple

from benchmarks.learning.record import (
    CHOSEN_BY,
    SEARCH_SEED,
    best_rate,
    core_hours,
    search_hours,
    search_runs,
)
from benchmarks.learning.rows import METHODS, ROWS, TABLES, TITLES, rows_named
from benchmarks.learning.scores import SHOWN, TESTED, of_seeds, paired
from benchmarks.record import Result

Run = Mapping[str, Any]
Rows = list[list[str]]
QUARTERS = 5
"""Points of a curve that are shown, the last among them."""
SEEDS, PAIRS = 3, 128_000
"""Of the whole comparison."""
WHAT = ("difference (95 %, scenes)", "p", "p, Holm")
"""What is told of a comparison."""
SETS = {
    "near": "drawn, cameras nearby",
    "around": "drawn, cameras anywhere around",
    "blender": "drawn by Blender",
}
"""What the test sets of the comparison are; others are called by their names."""
SHORT = (
    ("wholly true", "near", "wholly true, cameras nearby"),
    ("CIDEr-D", "near", "CIDEr-D, cameras nearby"),
    ("wholly true", "around", "wholly true, cameras anywhere around"),
    ("no change told", "around", "unchanged pairs recognised, cameras anywhere around"),
    ("CIDEr-D", "around", "CIDEr-D, cameras anywhere around"),
    ("wholly true", "blender", "wholly true, Blender"),
)
"""Score, test set and title of the columns of a table that stands in a page."""


class Part(NamedTuple):
    """One table and what stands above it; "" for nothing."""

    title: str
    rows: Rows


def longest(runs: Sequence[Run]) -> dict[str, list[Run]]:
    """Row -> its runs with the most pairs, of the rate that most of them have, by seed; rows in their order.

    Runs of a rate search are not among them.
    """
    results: dict[str, list[Run]] = {}
    for row in ROWS:
        own = [run for run in runs if run["row"] == row and run["seed"] != SEARCH_SEED]
        most = max((run["pairs"] for run in own), default=0)
        own = [run for run in own if run["pairs"] == most]
        if own:
            rates = [run["rate"] for run in own]
            rate = max(rates, key=rates.count)
            results[row] = sorted(
                (run for run in own if run["rate"] == rate), key=lambda run: int(run["seed"])
            )
    return results


def made(result: Result) -> list[Part]:
    """How each row was trained, on which commits."""
    head = [
        "row",
        "recipe",
        "beyond the recipe",
        "rate",
        "pairs",
        "seeds",
        "core seconds a run",
        "commit (seeds)",
    ]
    rows = [head]
    for row, runs in longest(result.figures["runs"]).items():
        first = runs[0]
        seconds = sum(run["curve"][-1]["seconds"] for run in runs) / len(runs)
        rows.append(
            [
                TITLES[row],
                first["recipe"],
                ", ".join(first["settings"]) or "-",
                f"{first['rate']:g}",
                f"{first['pairs']:,}",
                ", ".join(str(run["seed"]) for run in runs),
                f"{seconds:,.0f}",
                _commits(runs),
            ]
        )
    return [Part("", rows)]


def _commits(runs: Sequence[Run]) -> str:
    """Each commit, or commits one after the other, with the seeds that were trained on it."""
    seeds: dict[str, list[str]] = {}
    for run in runs:
        steps = [code["commit"][:9] + (" and changes" if code["changed"] else "") for code in run["code"]]
        seeds.setdefault(", then ".join(steps), []).append(str(run["seed"]))
    return "; ".join(f"{commit} ({', '.join(own)})" for commit, own in seeds.items())


def search(result: Result) -> list[Part]:
    """The rates that were tried for each method, on validation pairs."""
    runs = result.figures["runs"]
    rows = [["method", "rate", "pairs", "seed", CHOSEN_BY, "wholly true", "best", "commit (seed)"]]
    for method in METHODS:
        for run in search_runs(runs, method):
            last = run["curve"][-1]
            best = "yes" if run["rate"] == best_rate(runs, method) else ""
            numbers = [f"{run['rate']:g}", f"{run['pairs']:,}", str(run["seed"])]
            shown = [f"{last[name]:.1f}" for name in (CHOSEN_BY, "wholly true")]
            rows.append([TITLES[method], *numbers, *shown, best, _commits([run])])
    if len(rows) == 1:
        return [Part("No search of rates is recorded yet.", [])]
    return [Part("", rows)]


def curves(result: Result) -> list[Part]:
    """Wholly true sentences, and the types that are right, by the pairs seen; means of the seeds."""
    runs = longest(result.figures["runs"])
    places = _places([run for own in runs.values() for run in own])
    rows = [["% of changed validation pairs", *(f"{pairs:,} pairs" for pairs in places)]]
    for score in ("wholly true", "type right"):
        for row, own in runs.items():
            at = [{point["pairs"]: point[score] for point in run["curve"]} for run in own]
            means = [sum(values[pairs] for values in at) / len(at) for pairs in places]
            rows.append([f"{score}: {TITLES[row]}", *(f"{mean:.1f}" for mean in means)])
    return [Part("", rows)]


def tests(result: Result) -> list[Part]:
    """Each table of rows on each test set: the last weights, with spreads and paired tests."""
    figures = result.figures
    runs = longest(figures["runs"])
    parts = []
    for tested in figures["tests"]:
        placed = {row for table in TABLES.values() for row in table.rows}
        for table in TABLES.values():
            own = _tested(runs, tested, table.rows)
            if any(one in own and other in own for one, other in table.compared):
                parts.append(
                    Part(f"{table.title}: {_of_set(tested, figures)}.", _table(own, tested, figures))
                )
                parts += _compared(table.compared, own, tested, figures, table.rows)
        left = {row: title for row, title in TITLES.items() if row not in placed}
        own = _tested(runs, tested, left)
        if own:
            parts.append(
                Part(f"Beside the tables: {_of_set(tested, figures)}.", _table(own, tested, figures))
            )
    return parts


def short(name: str) -> Callable[[Result], list[Part]]:
    """One table of rows on all test sets, ``SHORT`` alone: the mean of the seeds and their deviation."""

    def view(result: Result) -> list[Part]:
        figures, table = result.figures, TABLES[name]
        runs = longest(figures["runs"])
        shown = [column for column in SHORT if column[1] in figures["tests"]]
        rows = [["row", "seeds", *(title for _, _, title in shown)]]
        for row, title in table.rows.items():
            if row in runs:
                cells = [_of_seeds(seed_scores(runs[row], tested, score)) for score, tested, _ in shown]
                rows.append([title, str(len(runs[row])), *cells])
        return [Part("", rows)]

    return view


def seed_scores(runs: Sequence[Run], tested: str, score: str) -> list[float]:
    """A score of each run, one a seed, on a test set."""
    return [float(run["tests"][tested]["scores"][score]["mean"]) for run in runs]


def types(result: Result) -> list[Part]:
    """Wholly true sentences by type of change, on each test set."""
    figures = result.figures
    parts = []
    for tested in figures["tests"]:
        own = _tested(longest(figures["runs"]), tested, TITLES)
        if not own:
            continue
        names = list(next(iter(own.values()))[1][0]["tests"][tested]["types"])
        rows = [["wholly true, %", "seeds", *names]]
        pairs = figures["tests"][tested]
        for title, runs in own.values():
            cells = [of_seeds(runs, tested, pairs, "wholly true", kind) for kind in names]
            rows.append([title, str(len(runs)), *map(ranged, cells)])
        parts.append(Part(f"{_of_set(tested, figures)}:", rows))
    return parts


def retrieved(result: Result) -> list[Part]:
    """R@1, 5 and 10 of the rows that embed captions, means of the seeds."""
    figures = result.figures
    rows = []
    for tested in figures["tests"]:
        for title, runs in _tested(longest(figures["runs"]), tested, TITLES).values():
            results = [
                run["tests"][tested]["retrieval"] for run in runs if "retrieval" in run["tests"][tested]
            ]
            for when in results[0] if results else ():
                blocks = [one[when] for one in results]
                means = [
                    sum(block[way][name] for block in blocks) / len(blocks)
                    for way in ("text_to_pair", "pair_to_text")
                    for name in blocks[0][way]
                ]
                where = SETS.get(tested, tested)
                rows.append([f"{title}, {when}", where, str(len(blocks)), *(f"{mean:.1f}" for mean in means)])
    if not rows:
        return [Part("Retrieval is not recorded yet.", [])]
    cuts = [f"{way}, R@{cut}" for way in ("text to pair", "pair to text") for cut in (1, 5, 10)]
    return [Part("", [["row", "test set", "seeds", *cuts], *rows])]


def hours(result: Result) -> list[Part]:
    """What the whole comparison takes, after the seconds that are recorded."""
    runs = result.figures["runs"]
    rows = [[f"{SEEDS} seeds of {PAIRS:,} pairs", "runs", "recorded runs", "core hours"]]
    longest_runs = longest(runs)
    for name, table in TABLES.items():
        known = sum(len(longest_runs.get(row, ())) for row in table.rows)
        told = _hours(core_hours(runs, rows_named(name), SEEDS, PAIRS))
        rows.append([table.title, str(SEEDS * len(table.rows)), str(known), told])
    every = rows_named("all")
    known = sum(len(longest_runs.get(row, ())) for row in every)
    told = _hours(core_hours(runs, every, SEEDS, PAIRS))
    rows.append(["all tables, each row once", str(SEEDS * len(every)), str(known), told])
    searched = sum(len(search_runs(runs, method)) for method in METHODS)
    rows.append(["the rate search", str(3 * len(METHODS)), str(searched), _hours(search_hours(runs, PAIRS))])
    return [
        Part("The core hours of a row that has not run are estimated from other rows of its method.", rows)
    ]


def ranged(cell: Mapping[str, float | None]) -> str:
    """The mean, the deviation of the seeds where there are several, and the interval of the scenes."""
    mean, sd = cell["mean"], cell.get("sd")
    low, high = cell.get("sampling_low"), cell.get("sampling_high")
    text = "-" if mean is None else f"{mean:.1f}"
    text += "" if sd is None else f" ± {sd:.1f}"
    return text if low is None or high is None else f"{text} ({low:.1f}-{high:.1f})"


def _of_seeds(scores: Sequence[float]) -> str:
    """Their mean, and their deviation where there are several."""
    deviation = f" ± {stdev(scores):.1f}" if len(scores) > 1 else ""
    return f"{fmean(scores):.1f}{deviation}"


def _hours(found: float | None) -> str:
    return "-" if found is None else f"{found:.1f}"


def _of_set(tested: str, figures: Mapping[str, Any]) -> str:
    """A test set in words."""
    changed = sum(kind != "none" for kind in figures["tests"][tested]["kinds"].split())
    unchanged = figures["tests"][tested]["pairs"] - changed
    return f"{SETS.get(tested, tested)}, {changed} changed and {unchanged} unchanged pairs"


def _tested(
    runs: Mapping[str, Sequence[Run]], tested: str, titles: Mapping[str, str]
) -> dict[str, tuple[str, Sequence[Run]]]:
    """Of these rows those with runs on the test set: row -> title, runs."""
    results: dict[str, tuple[str, Sequence[Run]]] = {}
    for row, title in titles.items():
        own = [run for run in runs.get(row, ()) if tested in run["tests"]]
        if own:
            results[row] = (title, own)
    return results


def _table(own: Mapping[str, tuple[str, Sequence[Run]]], tested: str, figures: Mapping[str, Any]) -> Rows:
    """The scores of rows on a test set."""
    rows = [["row", "seeds", *SHOWN, "95 % of wholly true, seeds", "parameters that learn"]]
    pairs = figures["tests"][tested]
    for title, runs in own.values():
        cells = {name: of_seeds(runs, tested, pairs, name) for name in SHOWN}
        low, high = (cells["wholly true"].get(end) for end in ("low", "high"))
        seeds = "-" if low is None or high is None else f"{low:.1f} to {high:.1f}"
        parameters = f"{runs[0]['tests'][tested]['parameters']:,}"
        rows.append([title, str(len(runs)), *map(ranged, cells.values()), seeds, parameters])
    return rows


def _compared(
    compared: Sequence[tuple[str, str]],
    own: Mapping[str, tuple[str, Sequence[Run]]],
    tested: str,
    figures: Mapping[str, Any],
    titles: Mapping[str, str],
) -> Iterator[Part]:
    """The paired tests of a table's rows; nothing where no two rows can be compared."""
    runs = {row: of_row for row, (_, of_row) in own.items()}
    results = {name: paired(runs, compared, tested, figures["tests"][tested], name) for name in TESTED}
    rows = [["the first less the second", "seeds", *(f"{name}: {what}" for name in TESTED for what in WHAT)]]
    for one, other in results[TESTED[0]]:
        cells = [results[name][one, other] for name in TESTED]
        shown = [text for cell in cells for text in _difference(cell)]
        rows.append([f"{titles[one]} - {titles[other]}", f"{cells[0]['seeds']:.0f}", *shown])
    if len(rows) > 1:
        yield Part("", rows)


def _difference(cell: Mapping[str, float]) -> list[str]:
    """``WHAT`` of one comparison."""
    ends = f"{cell['difference'] + 0:+.1f} ({cell['low'] + 0:.1f} to {cell['high'] + 0:.1f})"
    return [ends, f"{cell['p']:.3f}", f"{cell['p_holm']:.3f}"]


def _places(runs: Sequence[Run]) -> list[int]:
    """The pairs at which all runs have a point: ``QUARTERS`` of them, evenly, the last among them."""
    common = sorted(set.intersection(*({point["pairs"] for point in run["curve"]} for run in runs)))
    step = max(1, len(common) // QUARTERS)
    return common[::-1][::step][::-1]
