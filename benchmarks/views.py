"""The tables of recorded measurements; each table is a view of a kind of record."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from benchmarks.evaluations import evaluation, goals, warned
from benchmarks.learning import tables as learning_tables
from benchmarks.learning.rows import TABLES
from benchmarks.markdown import table
from benchmarks.record import Result
from benchmarks.screens import tables as screen_tables
from whatchanged.evaluation.statistics.intervals import wilson

CALM = 0.1
"""Cores busy with other work up to which a time is shown."""

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
"""What a page repeats of the worse pictures."""
OWN = ("whatchanged", "gate", "gate before")
"""Systems of the gate that are states of this project; the others are other tools."""


def demo(result: Result) -> str:
    """How many of the demo's sentences are wholly true."""
    figures = result.figures
    rows = [
        [str(n), s["sentence"], "yes" if s["right"] else "no"] for n, s in enumerate(figures["sentences"], 1)
    ]
    return f"{figures['right']} of {figures['of']} sentences are wholly true:\n\n" + table(
        ["pair", "sentence", "wholly true"], *rows
    )


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
    """The rows and columns of worse pictures that a page repeats."""
    of = {row["pictures"]: row for row in result.figures["rows"]}
    shown = [{name: of[pictures][name] for name in WORSE_COLUMNS} for pictures in WORSE_ROWS]
    return rows(replace(result, figures={**result.figures, "rows": shown}))


def validation(result: Result) -> str:
    """CIDEr-D on validation pairs against the step, a column for each run that was validated."""
    curves = {
        name.rpartition(", ")[0]: {line["step"]: line["CIDEr-D"] for line in run["validation"]}
        for name, run in result.figures["runs"].items()
    }
    steps = sorted({step for curve in curves.values() for step in curve})
    cells = ([f"{step:,}", *(value_text(curve.get(step), 1) for curve in curves.values())] for step in steps)
    return table(["step", *curves], *cells)


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
    return _gate(result, list(result.figures["systems"]))


def own_gate(result: Result) -> str:
    """The same of this project's own states."""
    return _gate(result, [name for name in OWN if name in result.figures["systems"]])


def _gate(result: Result, shown: Sequence[str]) -> str:
    """One row a kind, one column a system."""
    systems = result.figures["systems"]
    body = [
        [kind, str(whole["pairs"]), *(_right(systems[name].get(kind)) for name in shown)]
        for kind, whole in systems["whatchanged"].items()
    ]
    return table(["kind", "pairs", *shown], *body)


def looks(result: Result) -> str:
    """Each look at pairs that only measure: what was seen of them, and what was changed after it."""
    return "\n".join(f"- {look}" for look in result.figures["looks"])


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
    },
    "demo": {"sentences": demo},
    "operations": {"table": operations},
    "rows": {"table": rows, "some": some_rows, "looks": looks, "validation": validation},
    "screens": {
        "verdicts": screen_tables.verdicts,
        "statements": screen_tables.statements,
        "network": screen_tables.network,
        "parts": screen_tables.parts,
        "examples": screen_tables.examples,
        "looks": looks,
    },
    "measured speed": {"tables": measured_speed},
    "strange": {"tables": strange},
    "fuzz": {"table": fuzzed},
    "kills": {"table": killed},
    "planted": {"table": planted},
    "gate": {"table": gates, "own": own_gate},
    "occlusion": {
        "pairs": occlusion("rows"),
        "objects": occlusion("things"),
        "wrong": wrong,
    },
    "learning": {
        **{name: learning(learning_tables.short(name)) for name in TABLES},
        "made": learning(learning_tables.made),
        "curves": learning(learning_tables.curves),
        "test": learning(learning_tables.tests),
        "types": learning(learning_tables.types),
        "search": learning(learning_tables.search),
        "retrieval": learning(learning_tables.retrieved),
        "hours": learning(learning_tables.hours),
    },
}
"""Kind of record -> name of a view -> what it shows."""
