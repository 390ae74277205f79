"""RESULTS.md, and pages that repeat its figures, from the recorded measurements.

Every table between two marks is made from a JSON:

    python -m benchmarks.report            write the tables into the pages
    python -m benchmarks.report --check    exit code 1 if a table is not what the JSON says

    <!-- figures NAME VIEW -->
    whatever stands here is replaced
    <!-- end -->

NAME is a file of ``benchmarks/results`` without ``.json`` and VIEW one of the views of its kind (``VIEWS``).
Marks without a view: ``headline``, ``clevr-pcl`` on every data set, ``near-enough``, the part of it that the
guide of that name repeats, and ``measured``, what was measured on which commit.
"""

import argparse
import re
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from benchmarks.learning import tables as learning_tables
from benchmarks.markdown import table
from benchmarks.record import RESULTS, ROOT, Result, read_results
from benchmarks.screens import tables as screen_tables
from whatchanged.evaluation.report.layout import share_with_ends, with_ends
from whatchanged.evaluation.report.tables import tables
from whatchanged.evaluation.statistics.intervals import wilson
from whatchanged.files import write_output

PAGE = ROOT / "RESULTS.md"
PAGES = (PAGE, ROOT / "docs" / "guides" / "near-enough.md")
MARKED = re.compile(r"<!-- figures (?P<view>[^>]*?) -->\n(?P<old>.*?)<!-- end -->", re.DOTALL)
CALM = 0.1
"""Cores busy with other work up to which a time is shown."""

HEADLINE: Mapping[str, str] = {
    "shipped-blender": "100 scenes, Blender",
    "shipped-twin": "500 scenes, drawn",
    "shipped-untouched": "2,000 scenes, drawn, kept for the end",
    "shipped-around": "300 scenes, drawn, cameras anywhere around",
    "shipped-low": "300 scenes, drawn, low cameras",
}
"""Results of ``clevr-pcl`` -> their columns at the head of the page."""
NEAR_ENOUGH = ("shipped-blender", "shipped-twin")
NEAR_SCORES = ("sentence wholly true", "unchanged pairs called unchanged")
"""What the guide "near enough" repeats of the headline."""
WORSE_ROWS = (
    "as they are",
    "JPEG, quality 10",
    "noise, 12 grey levels",
    "a third of the size",
    "light x 0.6",
    "saturation x 0.5",
    "warm",
    "10 % cropped on each side",
)
WORSE_COLUMNS = ("pictures", "wholly true", "unchanged recognised", "warned of")
"""What it repeats of the worse pictures."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or check the page; the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args(arguments)
    results, stale = read_results(RESULTS), False
    for page in PAGES:
        after, views = filled(page.read_text(encoding="utf-8"), results)
        if not given.check:
            write_output(page, after)
            continue
        stale |= bool(views)
        for view in views:
            print(f"{page.name}: {view!r} is not what benchmarks/results says", file=sys.stderr)
    if stale:
        print("Run: python -m benchmarks.report", file=sys.stderr)
    return int(stale)


def filled(page: str, results: Mapping[str, Result]) -> tuple[str, list[str]]:
    """The page with every marked table made anew, and the marks whose tables were not up to date."""
    stale = []

    def replace(found: re.Match[str]) -> str:
        new = f"\n{section(found['view'], results)}\n\n"
        if found["old"] != new:
            stale.append(found["view"])
        return f"<!-- figures {found['view']} -->\n{new}<!-- end -->"

    return MARKED.sub(replace, page), stale


def section(mark: str, results: Mapping[str, Result]) -> str:
    """The table of one mark; raises ValueError where there is no such result or view."""
    if mark == "headline":
        return headline(results)
    if mark == "near-enough":
        return headline(results, NEAR_ENOUGH, NEAR_SCORES)
    if mark == "measured":
        return measured(results)
    name, _, view = mark.partition(" ")
    if name not in results:
        raise ValueError(f"RESULTS.md: figures {mark}: there is no benchmarks/results/{name}.json")
    views = VIEWS.get(results[name].kind, {})
    if view not in views:
        raise ValueError(f"RESULTS.md: figures {mark}: {results[name].kind} has the views {', '.join(views)}")
    return views[view](results[name])


def headline(results: Mapping[str, Result], shown: Sequence[str] = (), scores: Sequence[str] = ()) -> str:
    """The main scores of ``clevr-pcl``, a column for each data set; only some where they are named."""
    columns = {name: results[name].figures for name in shown or HEADLINE}
    return table(
        ["clevr-pcl", *(HEADLINE[name] for name in columns)],
        *([label, *(SCORES[label](figures) for figures in columns.values())] for label in scores or SCORES),
    )


def measured(results: Mapping[str, Result]) -> str:
    """What was measured when, on which commit and machine."""
    rows = []
    for name, result in results.items():
        machine = result.machine
        where = f"{machine['cores']} cores of {machine['processor']}, Python {machine['python']}"
        commit = result.commit[:9] + (" and changes" if result.changed else "")
        rows.append([f"[{name}](benchmarks/results/{name}.json)", commit, result.date, where])
    return table(["figures", "commit", "date", "machine"], *rows)


def score(figures: Mapping[str, Any], subset: str, name: str) -> str:
    """A score of a subset with its interval."""
    return with_ends(figures[subset][name], figures["intervals"][subset][name])


def hits(figures: Mapping[str, Any]) -> str:
    """Hits of the pointing game with their interval; "-" where it was not played."""
    if not figures.get("pointing"):
        return "-"
    return share_with_ends(figures["pointing"]["subsets"]["overall"]["hits"])


def ranked(figures: Mapping[str, Any]) -> str:
    """Area under the curve of the no-change probability, with its interval."""
    return with_ends(figures["no_change"]["AUC"], figures["intervals"]["no_change"]["AUC"])


SCORES: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "change type right": lambda f: share_with_ends(f["scene"]["semantic"]["type_right"]),
    "phrase fits the changed object": lambda f: share_with_ends(f["scene"]["semantic"]["fits"]),
    "phrase fits no other object": lambda f: share_with_ends(f["scene"]["semantic"]["fits_alone"]),
    "sentence wholly true": lambda f: share_with_ends(f["scene"]["semantic"]["true"]),
    "unchanged pairs called unchanged": lambda f: share_with_ends(f["scene"]["distractor"]["called_none"]),
    "changed pairs called unchanged": lambda f: share_with_ends(f["scene"]["semantic"]["called_none"]),
    "AUC of the no-change probability": ranked,
    "CIDEr-D, changed pairs": lambda f: score(f, "semantic", "CIDEr-D"),
    "CIDEr-D, all pairs": lambda f: score(f, "overall", "CIDEr-D"),
    "attention's peak on the object (pointing game)": hits,
}
GOALS: Mapping[str, str] = {
    "change type right": "97 or more",
    "phrase fits the changed object": "92 or more",
    "phrase fits no other object": "85 or more",
    "sentence wholly true": "88 or more, no type under 80",
    "unchanged pairs called unchanged": "98 or more",
    "changed pairs called unchanged": "2 or less",
    "AUC of the no-change probability": "99.5 or more",
    "CIDEr-D, changed pairs": "140 or more",
    "CIDEr-D, all pairs": "152 or more",
    "attention's peak on the object (pointing game)": "85 or more",
}


def goals(result: Result) -> str:
    """What was aimed at on this data set, and what was reached."""
    return table(
        ["", "goal", "reached"], *([name, goal, SCORES[name](result.figures)] for name, goal in GOALS.items())
    )


def evaluation(start: str, views: bool = True) -> Callable[[Result], str]:
    """The table of ``whatchanged evaluate`` whose title starts so, below its title.

    views: with the rows of pairs by how much their views overlap; the JSON has them either way.
    """

    def view(result: Result) -> str:
        for title, rows in tables(result.figures):
            if title.startswith(start):
                shown = [row for row in rows if views or not row[0].startswith(("hardest", "IoU"))]
                return f"{title}:\n\n{table(*shown)}"
        raise ValueError(f"{result.name}: its report has no table {start!r}")

    return view


def warned(result: Result) -> str:
    """How many pairs of a known world are warned of as unfamiliar."""
    found = result.figures["unfamiliar"]
    return f"Warned of as unfamiliar: {found['count']} of {found['of']:,} pairs."


def demo(result: Result) -> str:
    """How many of the demo's sentences are wholly true."""
    figures = result.figures
    rows = [
        [str(n), s["sentence"], "yes" if s["right"] else "no"] for n, s in enumerate(figures["sentences"], 1)
    ]
    return f"{figures['right']} of {figures['of']} sentences are wholly true:\n\n" + table(
        ["pair", "sentence", "wholly true"], *rows
    )


def commands(result: Result) -> str:
    """The commands that took the figures."""
    return "\n".join(f"    {command}" for command in result.command)


def operations(result: Result) -> str:
    """Multiply-adds of a pair by graph; times only where nothing else ran."""
    calm = is_calm(result)
    head = ["one pair", "multiply-adds, M", *(["ms, one thread", "explained, %"] if calm else [])]
    rows = []
    for part in result.figures["parts"]:
        times = [f"{1000 * part['seconds']:.1f}", f"{100 * part['explained']:.0f}"] if calm else []
        rows.append([f"{part['name']} x {part['times']}", f"{part['multiply_adds'] / 1e6:,.1f}", *times])
    total = sum(part["multiply_adds"] for part in result.figures["parts"])
    return table(head, *rows, ["together", f"{total / 1e6:,.1f}", *([""] * (len(head) - 2))])


def rows(result: Result) -> str:
    """Rows of named values as they are; columns of times only where nothing else ran."""
    results: Sequence[Mapping[str, Any]] = result.figures["rows"]
    timed = () if is_calm(result) else result.figures.get("times", ())
    names = [name for name in dict.fromkeys(key for row in results for key in row) if name not in timed]
    decimals: Mapping[str, int] = result.figures.get("decimals", {})
    return table(
        names, *([value_text(row.get(name), decimals.get(name)) for name in names] for row in results)
    )


def some_rows(result: Result) -> str:
    """The rows and columns of worse pictures that the guide "near enough" repeats."""
    of = {row["pictures"]: row for row in result.figures["rows"]}
    shown = [{name: of[pictures][name] for name in WORSE_COLUMNS} for pictures in WORSE_ROWS]
    return rows(replace(result, figures={**result.figures, "rows": shown}))


def occlusion(part: str) -> Callable[[Result], str]:
    """One of the tables of ``occlusion.py``; intervals behind the shares."""

    def view(result: Result) -> str:
        results: Sequence[Mapping[str, Any]] = result.figures[part]
        return table(list(results[0]), *([value_text(value) for value in row.values()] for row in results))

    return view


def wrong(result: Result) -> str:
    """Every false alarm and every wrong sentence of a changed pair, with what is hidden of its object."""
    alarms = [
        [
            alarm["sentence"],
            "nothing",
            " and ".join(f"{100 * share:.0f}" for share in alarm.get("hidden", ())) or "-",
            " and ".join(alarm.get("behind", ())) or "-",
            f"{alarm['lower']:.1f}",
        ]
        for alarm in result.figures["alarms"]
    ]
    errors = [
        [
            error["sentence"],
            f"{error['true kind']}: {error['object']}",
            " and ".join(f"{100 * share:.0f}" for share in error["hidden"]),
            "-",
            f"{error['lower']:.1f}",
        ]
        for error in result.figures["errors"]
    ]
    head = ["said", "what changed", "hidden before and after, %", "behind", "second camera lower by, degrees"]
    return table(head, *alarms, *errors)


def learning(view: Callable[[Result], Sequence[learning_tables.Part]]) -> Callable[[Result], str]:
    """One of the views of ``learning.py``: its tables, each below its title."""

    def text(result: Result) -> str:
        parts = view(result)
        return "\n\n".join(
            piece for part in parts for piece in (part.title, table(*part.rows) if part.rows else "") if piece
        )

    return text


def strange(result: Result) -> str:
    """False alarms on worlds that the model knows, and warnings of other pictures by kind."""
    alarms = [[row["pictures"], f"{row['warned_of']} of {row['of']:,}"] for row in result.figures["known"]]
    results = [
        [row["kind"], f"{row['warned_of']} of {row['of']:,}", value_text(row["least_distance"], 2)]
        for row in result.figures["strange"]
    ]
    warned_of, of = (sum(row[key] for row in result.figures["strange"]) for key in ("warned_of", "of"))
    low, high = (100 * end for end in wilson(warned_of, of))
    results.append(["all", f"{warned_of} of {of:,}: {100 * warned_of / of:.1f} % ({low:.1f}-{high:.1f})", ""])
    return "\n\n".join(
        [
            table(["pairs of a world that it knows", "warned of"], *alarms),
            table(["one picture of the pair", "warned of", "least distance (1: the threshold)"], *results),
        ]
    )


def measured_speed(result: Result) -> str:
    """Processor time of the measured answer and other tools, then of a long page."""
    found = result.figures["rows"]
    names = [name for name in found[0] if name != "tool"]
    rows = [[row["tool"], *(f"{row[name]:.1f}" for name in names)] for row in found]
    long = [
        [row["1280 x 12,000"], f"{row['seconds']:.1f}", f"{row['MiB']:.0f}"] for row in result.figures["long"]
    ]
    return "\n\n".join(
        [
            table(["processor time, ms", *names], *rows),
            table(["1280 x 12,000", "seconds", "peak memory, MiB"], *long),
        ]
    )


def fuzzed(result: Result) -> str:
    """Inputs and faults by format."""
    found = result.figures["rows"]
    names = ("inputs", "distinct", "accepted", "kept")
    counts = [[row["format"], *(f"{row[name]:,}" for name in names), *_worst(row)] for row in found]
    total = ["all", *(f"{sum(row[name] for row in found):,}" for name in names)]
    total += [f"{max(row['memory_megabytes'] for row in found):,.0f}"]
    total += [str(sum(len(row["faults"]) + len(row["stops"]) for row in found))]
    wrong = [f"- {row['format']}: {name}" for row in found for name in (*row["faults"], *row["stops"])]
    head = ["format", "inputs", "distinct", "accepted", "reached new code", "most memory, MB", "faults"]
    return "\n".join([table(head, *counts, total), *(["", *wrong] if wrong else [])])


def _worst(row: Mapping[str, Any]) -> list[str]:
    return [f"{row['memory_megabytes']:,.0f}", str(len(row["faults"]) + len(row["stops"]))]


def killed(result: Result) -> str:
    """How often each command was stopped, by what, and what was lost."""
    found = result.figures["rows"]
    names = [name for name in found[0] if name != "command"]
    body = [[row["command"], *(str(row[name]) for name in names)] for row in found]
    total = ["all", *(str(sum(row[name] for row in found)) for name in names)]
    words = {"full": "file too large", "disk": "small disk", "two": "two writers"}
    return table(["command", *(words.get(name, name) for name in names)], *body, total)


def planted(result: Result) -> str:
    """How often each command was run in a folder that a stranger prepared, and what went wrong."""
    faulty = Counter(str(fault["command"]) for fault in result.figures["faults"])
    body = [
        [row["command"], str(row["cases"]), str(faulty[row["command"]])] for row in result.figures["rows"]
    ]
    total = ["all", f"{result.figures['cases']:,}", str(faulty.total())]
    return table(["command", "cases", "faults"], *body, total)


def gates(result: Result) -> str:
    """How many verdicts of each system are right: of the cases, of each kind of drawn pairs, of all."""
    systems = result.figures["systems"]
    kinds = list(systems["whatchanged"])
    body = [
        [
            kind,
            str(systems["whatchanged"][kind]["pairs"]),
            *(_right(found.get(kind)) for found in systems.values()),
        ]
        for kind in kinds
    ]
    return table(["kind", "pairs", *systems], *body)


def _right(found: Mapping[str, Any] | None) -> str:
    """ "90 of 96 (2, 4)": right, of how many, false greens and false alarms."""
    if found is None:
        return "-"
    return f"{found['right']} of {found['pairs']} ({found['false greens']}, {found['false alarms']})"


def is_calm(result: Result) -> bool:
    """Whether the machine did next to nothing else, so that times count."""
    return result.other_load is not None and result.other_load <= CALM


def value_text(value: Any, decimals: int | None = None) -> str:
    """A value in a cell; without ``decimals`` a number has as many digits as tell something."""
    if value is None:
        return "-"
    if isinstance(value, Mapping):
        return f"{value['mean']:.1f} ({value['low']:.1f}-{value['high']:.1f})"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float) and decimals is not None:
        return f"{value:,.{decimals}f}"
    if isinstance(value, float):
        return f"{value:,.1f}" if abs(value) >= 10 else f"{value:.3g}"
    return str(value)


VIEWS: Mapping[str, Mapping[str, Callable[[Result], str]]] = {
    "evaluation": {
        "goals": goals,
        "references": evaluation("Against the references"),
        "scene": evaluation("Against the scene"),
        "references-by-type": evaluation("Against the references", views=False),
        "scene-by-type": evaluation("Against the scene", views=False),
        "pointing": evaluation("Pointing game"),
        "changed": evaluation("Changed or not"),
        "warned": warned,
        "commands": commands,
    },
    "demo": {"sentences": demo, "commands": commands},
    "operations": {"table": operations, "commands": commands},
    "rows": {"table": rows, "some": some_rows, "commands": commands},
    "screens": {
        "tables": screen_tables.screens,
        "parts": screen_tables.screens_parts,
        "examples": screen_tables.screens_examples,
        "commands": commands,
    },
    "measured speed": {"tables": measured_speed, "commands": commands},
    "strange": {"tables": strange, "commands": commands},
    "fuzz": {"table": fuzzed, "commands": commands},
    "kills": {"table": killed, "commands": commands},
    "planted": {"table": planted, "commands": commands},
    "gate": {"table": gates, "commands": commands},
    "occlusion": {
        "pairs": occlusion("rows"),
        "objects": occlusion("things"),
        "wrong": wrong,
        "commands": commands,
    },
    "learning": {
        "made": learning(learning_tables.made),
        "curves": learning(learning_tables.curves),
        "test": learning(learning_tables.tests),
        "types": learning(learning_tables.types),
        "search": learning(learning_tables.search),
        "retrieval": learning(learning_tables.retrieved),
        "hours": learning(learning_tables.hours),
        "commands": commands,
    },
}
"""Kind of result -> name of a view -> what it shows."""


if __name__ == "__main__":
    sys.exit(main())
