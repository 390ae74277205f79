"""Compares the gate with other tools, on cases with truth: does it miss changes, or report noise as a change?

    python -m benchmarks.screens.gate CASES DRAWN [--half 1] [--seed 12]
        [--rivals NODE_MODULES] [--old TREE] [--record]

CASES: a folder with ``cases.jsonl`` (``before``, ``after``, ``verdict``: changed, same, either). DRAWN: what
``gate_draw`` drew; limits are set on half 0, and half 1 is read once. NODE_MODULES holds pixelmatch,
odiff-bin and looks-same (npm install pixelmatch odiff-bin looks-same), used with their defaults: any counted
pixel is a change. TREE: the sources of another version, whose verdicts and times are reported too.

A pair counts as changed if ``describe --exit-code`` exits with 1. The gate of the measured answer runs first.
If it reports a change, or is uncertain, so does the answer (``verdict_of``); only otherwise does a model run.
The other tools run on all cases and on the first pairs of each drawn kind.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.record import Watch, add_record_option, write_result
from whatchanged.answers import Answerer
from whatchanged.measured.pixels.gate import DOUBT
from whatchanged.measured.pixels.reading import read_picture
from whatchanged.measured.pixels.structure import visible_by
from whatchanged.measured.policy import DEFAULT

FAINT = 8
"""Levels below which shadows are told apart."""
SCRIPT = Path(__file__).parent / "rivals.mjs"
GATE = (
    "import json, sys, time\n"
    "try:\n"
    "    from whatchanged.measured.pixels.gate import DOUBT, visibility\n"
    "    from whatchanged.measured.pixels.reading import read_picture\n"
    "except ImportError:\n"
    "    from whatchanged.measured.gate import DOUBT, visibility\n"
    "    from whatchanged.measured.reading import read_picture\n"
    "for line in sys.stdin:\n"
    "    one, other = (read_picture(path).on_white for path in line.rstrip('\\n').split('\\t'))\n"
    "    start = time.process_time()\n"
    "    changed = one.shape != other.shape or visibility(one, other).score >= DOUBT\n"
    "    print(json.dumps([bool(changed), time.process_time() - start]))\n"
)
"""Verdicts of the gate alone, and its seconds of processor time, by the sources of another version."""
EACH = 20
"""Pairs of each drawn kind that rivals are asked for, and all cases."""


@dataclass(frozen=True)
class Case:
    """Two pictures, what kind of difference they show, and whether that is a change; None: either."""

    kind: str
    before: Path
    after: Path
    changed: bool | None
    name: str


def read_cases(folder: Path) -> list[Case]:
    """The cases of a folder that people collected."""
    wanted = {"changed": True, "same": False, "either": None}
    return [
        Case("cases", folder / one["before"], folder / one["after"], wanted[one["verdict"]], one["id"])
        for one in _lines(folder / "cases.jsonl")
    ]


def read_drawn(folder: Path, half: int) -> list[Case]:
    """The drawn pairs of one half; shadows fainter than ``FAINT`` are a kind of their own."""
    cases = []
    for one in _lines(folder / "pairs.jsonl"):
        if one["half"] == half:
            kind = (
                f"shadow below {FAINT}" if one["kind"] == "shadow" and one["levels"] < FAINT else one["kind"]
            )
            cases.append(Case(kind, folder / one["before"], folder / one["after"], one["changed"], one["id"]))
    return cases


def own_verdicts(cases: Sequence[Case]) -> Iterator[tuple[bool, bool, float]]:
    """Of each case whether it counts as changed, for the answer and for the gate, and the gate's seconds."""
    answerer = Answerer(threads=1)
    for case in cases:
        one, other = (read_picture(path).on_white for path in (case.before, case.after))
        start = time.process_time()
        seen = one.shape != other.shape or visible_by(DEFAULT, one, other).score >= DOUBT
        seconds = time.process_time() - start
        yield seen or answerer.answer(case.before, case.after).changed, bool(seen), seconds


def verdicts_of(tree: Path, cases: Sequence[Case]) -> list[tuple[bool, float]]:
    """The gate's verdicts and seconds by the sources of another version."""
    answer = subprocess.run(
        [sys.executable, "-c", GATE],
        input=_pairs(cases),
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(tree)},
    )
    return [(changed, seconds) for changed, seconds in map(json.loads, answer.stdout.splitlines())]


def fewer(cases: Sequence[Case]) -> list[Case]:
    """All that people collected, and the first ``EACH`` of each drawn kind."""
    kept: Counter[str] = Counter()
    chosen = []
    for case in cases:
        kept[case.kind] += 1
        if case.kind == "cases" or kept[case.kind] <= EACH:
            chosen.append(case)
    return chosen


def rival_verdicts(modules: Path, cases: Sequence[Case]) -> dict[str, tuple[list[bool], float]]:
    """Tool -> whether it counts any pixel of each case, and its seconds a pair, a process for all."""
    results = {}
    for name in ("looks-same", "pixelmatch", "odiff"):
        start = time.perf_counter()
        command = ["node", str(SCRIPT), str(modules), name]
        answer = subprocess.run(command, input=_pairs(cases), capture_output=True, text=True, check=True)
        seconds = (time.perf_counter() - start) / len(cases)
        results[name] = ([json.loads(line)[name] > 0 for line in answer.stdout.splitlines()], seconds)
    return results


def row(cases: Sequence[Case], said: Sequence[bool]) -> dict[str, int]:
    """How many decided cases are right, changes that are green, noise that is called changed."""
    decided = [(case.changed, one) for case, one in zip(cases, said, strict=True) if case.changed is not None]
    return {
        "pairs": len(decided),
        "right": sum(truth == one for truth, one in decided),
        "changes": sum(bool(truth) for truth, _ in decided),
        "false greens": sum(bool(truth) and not one for truth, one in decided),
        "false alarms": sum(one and not truth for truth, one in decided),
    }


def rows_of(cases: Sequence[Case], said: Sequence[bool]) -> dict[str, dict[str, int]]:
    """A row a kind, and one of all drawn pairs but those that are told apart."""
    kinds = list(dict.fromkeys(case.kind for case in cases))
    rows = {}
    for kind in kinds:
        own = [k for k, case in enumerate(cases) if case.kind == kind]
        rows[kind] = row([cases[k] for k in own], [said[k] for k in own])
    drawn = [k for k, case in enumerate(cases) if case.kind not in ("cases", f"shadow below {FAINT}")]
    rows["all drawn"] = row([cases[k] for k in drawn], [said[k] for k in drawn])
    return rows


def _pairs(cases: Sequence[Case]) -> str:
    return "".join(f"{case.before}\t{case.after}\n" for case in cases)


def _lines(path: Path) -> Iterator[Mapping[str, Any]]:
    return map(json.loads, path.read_text(encoding="utf-8").splitlines())


def main() -> None:
    """Prints the rows, and records them where asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("cases", type=Path)
    parser.add_argument("drawn", type=Path)
    parser.add_argument("--half", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1, help="the one of gate_draw, for the record")
    parser.add_argument("--rivals", type=Path)
    parser.add_argument("--old", type=Path)
    add_record_option(parser, "gate")
    options = parser.parse_args()
    with Watch() as watch:
        cases = [*read_cases(options.cases), *read_drawn(options.drawn, options.half)]
        answered = list(own_verdicts(cases))
        said = [one[0] for one in answered]
        systems = {"whatchanged": rows_of(cases, said), "gate": rows_of(cases, [one[1] for one in answered])}
        seconds = {"gate": sum(one[2] for one in answered) / len(cases)}
        print(json.dumps([systems, seconds]), flush=True)
        if options.old:
            before = verdicts_of(options.old, cases)
            systems["gate before"] = rows_of(cases, [one[0] for one in before])
            seconds["gate before"] = sum(one[1] for one in before) / len(cases)
            print(json.dumps([systems["gate before"], seconds]), flush=True)
        if options.rivals:
            asked = fewer(cases)
            own = [one for case, one in zip(cases, said, strict=True) if case in asked]
            systems["whatchanged, where rivals are asked"] = rows_of(asked, own)
            for name, (rival, taken) in rival_verdicts(options.rivals, asked).items():
                systems[name], seconds[name] = rows_of(asked, rival), taken
    wrong = [case.name for case, one in zip(cases, said, strict=True) if case.changed not in (None, one)]
    figures = {
        "half": options.half,
        "systems": systems,
        "seconds a pair": seconds,
        "wrong": wrong,
    }
    print(json.dumps(figures, indent=1))
    if options.record:
        write_result(options.record, "gate", figures, seeds={"drawn": options.seed}, watch=watch)


if __name__ == "__main__":
    main()
