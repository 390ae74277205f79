"""Tables made from several records, or from readers' verdicts."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from benchmarks.evaluations import HEADLINE, SCORES
from benchmarks.markdown import table
from benchmarks.record import Result
from benchmarks.screens.blind_reading import VERDICTS
from benchmarks.screens.verdicts import preferences, verdict_rows, verdicts

READINGS = "benchmarks/readings"
NEAR_ENOUGH = ("shipped-blender", "shipped-twin")
NEAR_SCORES = ("sentence wholly true", "unchanged pairs called unchanged")
"""What the guide "near enough" repeats of the scores of ``clevr-pcl``."""
MODELS: Mapping[str, str] = {
    "shipped-blender": "clevr-pcl",
    "scorer-blender": "clevr-scorer",
    "clip4idc-blender": "clevr-clip4idc",
}
"""Records of the shipped models on the same pictures from Blender -> the model."""
KILLS: Mapping[str, str] = {
    "kills": "comparing, captioning, drawing",
    "kills-long": "training, features, retrieval, export",
    "kills-drawing": "drawing pools and screens, finding places, captioning by a run",
    "kills-accept": "accepting changes, among others",
}
"""Records of commands that were stopped -> what they did."""


class Across(NamedTuple):
    """A table of several records, and what it is made of: records by name, other files by path."""

    table: Callable[[Mapping[str, Result]], str]
    records: Sequence[str] = ()
    files: Sequence[str] = ()


def evaluated(
    columns: Mapping[str, str], scores: Sequence[str] = (), corner: str = ""
) -> Callable[[Mapping[str, Result]], str]:
    """The main scores of several evaluations, a column each.

    columns: record -> title. scores: those shown; all of them if none. corner: what stands above the scores.
    """

    def view(results: Mapping[str, Result]) -> str:
        figures = [results[name].figures for name in columns]
        return table(
            [corner, *columns.values()],
            *([label, *(SCORES[label](each) for each in figures)] for label in scores or SCORES),
        )

    return view


def stopped(results: Mapping[str, Result]) -> str:
    """Commands that were stopped at random moments: how many, and what was lost."""
    body, sums = [], [0, 0]
    for name, what in KILLS.items():
        rows = results[name].figures["rows"]
        counts = [sum(row[key] for row in rows) for key in ("stopped", "faults")]
        sums = [one + other for one, other in zip(sums, counts, strict=True)]
        body.append([what, ", ".join(f"`{row['command']}`" for row in rows), *map(str, counts)])
    return table(["runs", "commands", "stopped", "faults"], *body, ["all", "", *map(str, sums)])


def records(results: Mapping[str, Result]) -> str:
    """Every record: its commit, date, machine and commands."""
    rows = []
    for name, result in results.items():
        machine = result.machine
        where = f"{machine['cores']} cores of {machine['processor']}, Python {machine['python']}"
        commit = result.commit[:9] + (" and changes" if result.changed else "")
        typed = "<br>".join(f"`{command}`" for command in result.command)
        rows.append([f"[{name}](benchmarks/results/{name}.json)", commit, result.date, where, typed])
    return table(["record", "commit", "date", "machine", "commands"], *rows)


def read_blind(_: Mapping[str, Result]) -> str:
    """What readers said of sentences without knowing which state of the program had written them."""
    counts = verdicts()
    changed, unchanged = (next(iter(counts.values()))[of].total() for of in ("changed", "unchanged"))
    head = [f"of {changed} changed pairs", "useful", "true but vague", "partly wrong", "false"]
    head += [f"of {unchanged} unchanged pairs: right", "false alarm", "other"]
    return table(head, *verdict_rows(counts))


def preferred(_: Mapping[str, Result]) -> str:
    """How often readers preferred each of two states' sentences, and what they said of each."""
    names = ("preferred", *VERDICTS[:5])
    rows = [
        [state, *(str(counts[name]) if name in counts else "-" for name in names)]
        for state, counts in sorted(preferences().items())
    ]
    return table(["state", "preferred", "useful", "true but vague", "partly wrong", "false", "missed"], *rows)


ACROSS: Mapping[str, Across] = {
    "clevr-pcl": Across(evaluated(HEADLINE, corner="clevr-pcl"), tuple(HEADLINE)),
    "near-enough": Across(
        evaluated({name: HEADLINE[name] for name in NEAR_ENOUGH}, NEAR_SCORES, "clevr-pcl"), NEAR_ENOUGH
    ),
    "models": Across(evaluated(MODELS), tuple(MODELS)),
    "stopped": Across(stopped, tuple(KILLS)),
    "verdicts": Across(
        read_blind, (), (f"{READINGS}/screens.list.json", f"{READINGS}/screens.verdicts.jsonl")
    ),
    "preferences": Across(preferred, (), (f"{READINGS}/screens.preferences.jsonl",)),
    "records": Across(records),
}
"""Mark -> its table."""
