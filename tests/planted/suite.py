"""Commands in folders that a stranger prepared: ``python tests/planted --count N``.

Each case (``planted_cases``) runs one command of ``tests/planted/planted_commands.py`` in a folder of its own
in which links, devices, repositories and code are planted, in an unusual environment, with unusual names.
A fault is:

    changed   what lies outside of the folder is not as it was
    ran       planted code was run
    code      an exit code other than 0, 1 and 2
    said      a traceback, or a line that build services would obey
    late      it did not end within the bound
    alive     a process that it started lives on

Commands are copies of this process, which has everything imported; a few, and those whose environment only
a new interpreter can see, are interpreters of their own. ``--only NUMBER`` runs one case again and shows what
it said. ``--record`` writes the counts by command, and by what was planted.
"""

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from kills.commands import draw_inputs, make_needed
from kills.processes import Process, left_of, start

from benchmarks.record import Watch, add_record_option, write_result
from planted.cases import (
    ENVIRONMENTS,
    Case,
    arguments_of,
    draw,
    enter,
    plant,
)
from planted.folder import OURS, PlantedFolder, digest

SECONDS = 20.0
"""What a case may take on a machine that does nothing else."""
LONG = ("train", "export", "features", "synth", "retrieve", "evaluate with Java", "demo", "caption --run")
"""Commands, by how they begin, that take long by themselves: ten times as much."""
MOST_SAID = 3000
"""Characters that are shown of what a command said."""
CODES = (0, 1, 2)


@dataclass(frozen=True)
class Ended:
    """How a case ended: what is wrong, the exit code (None: it was late), and what the command said."""

    faults: list[str]
    code: int | None
    said: str


def run_case(case: Case, seed: int, inputs: Path, root: Path, bound: float) -> Ended:
    """Run a case in a new folder."""
    folder = PlantedFolder(root)
    (folder.here / "in").mkdir()
    for entry in inputs.iterdir():  # what other commands need is not there for all
        if entry.name in ("old", "new") or entry.is_file() or case.plan.command.needs:
            copied = folder.here / "in" / entry.name
            shutil.copytree(entry, copied) if entry.is_dir() else shutil.copy(entry, copied)
    if case.plan.before is not None:
        case.plan.before(folder.here)
    plant(case, folder, seed)
    variables = {name: value for name, value in folder.variables().items() if name not in OURS}
    variables["TMPDIR"] = str(root)
    if case.execute:
        variables["PYTHONSAFEPATH"] = "1"  # as the program itself, which is started without -m, has it
    for one in case.environment:
        ENVIRONMENTS[one](variables, root)
    prepare = partial(enter, case.environment, variables)
    process = start(arguments_of(case), folder.here, case.execute, prepare)
    return watched(process, folder, bound)


def watched(process: Process, folder: PlantedFolder, bound: float) -> Ended:
    """How a command ends within so many seconds, and what it leaves."""
    results = []
    code, said = None, ""
    try:
        code, said = process.ended(bound)
    except TimeoutError as error:
        results.append(f"late: {error}")
    else:
        if code not in CODES:
            results.append(f"code: {code}")
    if alive := left_of(process):
        results.append(f"alive: {len(alive)} processes")
    if "Traceback" in said:
        results.append("said: a traceback")
    if any(line.startswith("::") for line in said.replace("\r", "\n").split("\n")):
        results.append("said: a line that begins with ::")
    if ran := folder.ran():
        results.append(f"ran: {', '.join(ran)}")
    if digest(folder.victim) != folder.before:
        results.append("changed: what lies outside")
    return Ended(results, code, said)


def bound_of(case: Case, slowness: float) -> float:
    """Seconds that a case may take. slowness: how much longer all takes on a busy machine."""
    return SECONDS * slowness * (10 if case.plan.name.startswith(LONG) else 1)


def _needed(case: Case, inputs: Path) -> None:
    """Make what the command reads, once."""

    def run(arguments: Sequence[str]) -> None:
        code, said = start(arguments, inputs.parent, execute=False).ended(600)
        if code:
            raise RuntimeError(f"{' '.join(arguments)} ended with {code}: {said}")

    make_needed(case.plan.command.needs, inputs, run)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the cases; returns 1 where one has a fault."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=100, help="cases, numbered from 0")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, nargs="+", metavar="NUMBER", help="these cases alone, in words")
    parser.add_argument("--slowness", type=float, default=5.0, help="of a machine that does other things")
    add_record_option(parser, "planted")
    asked = parser.parse_args(arguments)
    cases: Counter[str] = Counter()
    planted: Counter[str] = Counter()
    ended: Counter[str] = Counter()
    faults: list[dict[str, str]] = []
    with tempfile.TemporaryDirectory() as scratch, Watch() as watch:
        inputs = Path(scratch) / "in"
        draw_inputs(inputs)
        for number in asked.only or range(asked.count):
            case = draw(asked.seed, number)
            _needed(case, inputs)
            root = Path(scratch) / f"case-{number}"
            began = time.monotonic()
            ran = run_case(case, asked.seed, inputs, root, bound_of(case, asked.slowness))
            ended[str(ran.code)] += 1
            cases[case.plan.name] += 1
            planted.update((*case.things, *case.environment, *([case.name] if case.name else ())))
            if ran.faults or asked.only:
                took = f"{time.monotonic() - began:.1f} s"
                print(case, ran.faults, repr(ran.said[-MOST_SAID:]), took, sep="\n  ", flush=True)
            faults += [{"command": case.plan.name, "what": str(case), "fault": one} for one in ran.faults]
            shutil.rmtree(root, ignore_errors=True)
    print(f"{cases.total():,} cases of {len(cases)} commands; exit codes {dict(ended)}; faults {len(faults)}")
    if asked.record:
        rows = [{"command": name, "cases": count} for name, count in sorted(cases.items())]
        counts = {"cases": cases.total(), "codes": dict(ended), "planted": dict(planted)}
        figures = {**counts, "rows": rows, "faults": faults}
        write_result(asked.record, "planted", figures, watch=watch, seeds={"cases": asked.seed})
    return int(bool(faults))


if __name__ == "__main__":
    os.umask(0o022)
    sys.exit(main())
