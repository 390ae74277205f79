"""Commands that are stopped at random moments: ``python tests/kills --count N``.

Each trial runs one command (``kill_commands``) in a folder of its own and stops it: by SIGKILL, SIGINT or
SIGTERM at a random moment, by a limit on the size of files (as on a full disk), on a small disk of its own
(where one can be mounted), or by a second process that writes to the same place. Then it is looked at:

    torn      an output is not what was there before, what an unbroken run writes, or a beginning of that
    left      drafts or locks stay after a command that could clean up, or after the next run in any case
    alive     a process that it started lives on
    code      it ended with another exit code than docs/trust.md says, or with a traceback
    lost      the command, run again to go on, does not end with what an unbroken run writes

Only processes of the trial are signalled. ``--record`` writes the counts by command and kind.
"""

import argparse
import os
import random
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.record import (
    RESULTS,
    add_record_option,
    code_that_runs,
    read_result,
    write_result,
)
from kills.commands import COMMANDS, Command, draw_inputs, make_needed
from kills.outputs import Snapshot, differences, hidden, snapshot, torn
from kills.processes import Process, left_of, start
from whatchanged.locks import locked

SIGNALS = {"SIGKILL": signal.SIGKILL, "SIGINT": signal.SIGINT, "SIGTERM": signal.SIGTERM}
KINDS = (*SIGNALS, "full", "disk", "two")
LONGEST = 600.0
"""Seconds that a command may take on a busy machine."""
DONE = (0, 1)
CODES = {"SIGKILL": (-9,), "SIGINT": (130, -2), "SIGTERM": (143, -15), "full": (2,), "disk": (2,)}
"""Exit codes that a stopped command may have; negative: a signal that came before Python could hear it."""


@dataclass
class Tally:
    """What happened to one command."""

    trials: Counter[str] = field(default_factory=Counter)
    """Trials in which the command was stopped, by kind."""
    late: int = 0
    """Trials in which it had ended before."""
    faults: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Bench:
    """A command, what an unbroken run of it writes and how long that takes."""

    command: Command
    folder: Path
    expected: Snapshot
    seconds: float
    start: Path | None
    """A folder as it is before the command runs, of one that begins with more than the inputs."""
    execute: bool
    """Whether each run is an interpreter of its own, not a copy of this process, which has all imported."""

    def begin(
        self, place: Path, added: Sequence[str] = (), prepare: Callable[[], None] | None = None
    ) -> Process:
        """Start the command in a folder."""
        return start((*self.command.arguments, *added), place, self.execute, prepare)


def prepare(command: Command, folder: Path, execute: bool) -> Bench:
    """Run a command unbroken, twice where that takes little: what both write is what is expected."""
    inputs = folder / "inputs"

    def run(arguments: Sequence[str]) -> None:
        _finished(start(arguments, _place(folder, "needed"), execute), arguments)

    make_needed(command.needs, inputs, run)
    start_folder = _begun(command, folder, execute) if command.first else None
    results = []
    for number in range(2):
        path = _place(folder, f"expected-{number}", start_folder)
        began = time.monotonic()
        _finished(start(command.arguments, path, execute), command.arguments)
        seconds = time.monotonic() - began
        results.append(snapshot(command, path))
        shutil.rmtree(path)
    unstable = sorted(name for name in results[0] if results[0][name] != results[1].get(name))
    if unstable:
        raise RuntimeError(f"{command.name}: two runs write two things: {unstable}")
    return Bench(command, folder, results[0], seconds, start_folder, execute)


def _begun(command: Command, folder: Path, execute: bool) -> Path:
    """The folder that a command begins with: pictures with several rights, and what ``first`` wrote."""
    path = _place(folder, "start")
    shutil.copytree(folder / "inputs" / "old", path / "base")
    for number, picture in enumerate(sorted((path / "base").iterdir())):
        picture.chmod((0o644, 0o600, 0o664)[number % 3])
    _finished(start(command.first, path, execute), command.first)
    return path


def _finished(process: Process, arguments: Sequence[str]) -> None:
    code, said = process.ended(LONGEST)
    if code not in DONE:
        raise RuntimeError(f"{' '.join(arguments)} ended with {code}: {said}")


def _place(folder: Path, name: str, begun: Path | None = None) -> Path:
    """A folder to run in, where ``in`` leads to the inputs; begun: what it is a copy of."""
    place = folder / name
    if begun is not None:
        shutil.copytree(begun, place, symlinks=True)
    place.mkdir(parents=True, exist_ok=True)
    if not (place / "in").is_symlink():
        (place / "in").symlink_to(folder / "inputs")
    return place


def trial(bench: Bench, kind: str, rng: random.Random, tally: Tally) -> None:
    """Stop the command once, look, go on, and look again."""
    path = _place(bench.folder, f"trial-{time.monotonic_ns()}", bench.start)
    before = {} if bench.start is None else snapshot(bench.command, bench.start)
    over = bool(bench.command.over) and rng.random() < 0.5
    if over and bench.command.kind == "whole":
        before = {name: b"what was there before\n" for name in bench.command.outputs if "." in name}
        for name, content in before.items():
            (path / name).write_bytes(content)
    added = bench.command.over if before else ()
    mounted = kind == "disk" and bench.start is None and _mount(path, bench, rng)
    try:
        stopped = _stopped(bench, kind, rng, path, added, before, tally)
    finally:
        if mounted:
            _unmount(path, bench)
    if stopped:
        tally.trials[kind] += 1
    else:
        tally.late += 1
    _go_on(bench, kind, path, before, tally)
    shutil.rmtree(path)


def _stopped(
    bench: Bench,
    kind: str,
    rng: random.Random,
    place: Path,
    added: Sequence[str],
    before: dict[str, bytes],
    tally: Tally,
) -> bool:
    """Whether the command was stopped before it had ended; what is wrong goes into the tally."""
    if kind == "two":
        return _two_writers(bench, rng, place, added, tally)
    limit = None
    if kind == "full":
        largest = max((len(content) for content in bench.expected.values()), default=1)
        most = rng.randrange(largest)
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))  # noqa: E731
    process = bench.begin(place, added, limit)
    if kind in SIGNALS:
        process.wait(rng.uniform(0, bench.seconds))
        process.signal(SIGNALS[kind])
    code, said = process.ended(LONGEST)
    if alive := left_of(process):
        tally.faults.append(f"{kind}: alive: {alive}")
    if code in DONE:
        return False
    early = code < 0 and kind in ("SIGINT", "SIGTERM")
    if code not in CODES[kind] or ("Traceback" in said and not early):
        tally.faults.append(f"{kind}: code {code}: {said[-1500:]}")
    tally.faults += [f"{kind}: torn: {name}" for name in torn(bench.command, place, bench.expected, before)]
    if kind != "SIGKILL" and not early and (left := hidden(place)):
        tally.faults.append(f"{kind}: left: {left}")
    return True


def _two_writers(bench: Bench, rng: random.Random, place: Path, added: Sequence[str], tally: Tally) -> bool:
    """Two processes write to one place; whether the second one was refused while the first one wrote."""
    first = bench.begin(place, added)
    first.wait(rng.uniform(0, bench.seconds * 0.8))
    second = bench.begin(place, added)
    codes = [first.ended(LONGEST), second.ended(LONGEST)]
    refused = [said for code, said in codes if code == 2]
    if not any(code in DONE for code, _ in codes) or any(code not in (*DONE, 2) for code, _ in codes):
        tally.faults.append(f"two: codes {[code for code, _ in codes]}: {[said[-600:] for _, said in codes]}")
    wrong = differences(bench.command, place, bench.expected)
    tally.faults += [f"two: mixed: {name}" for name in wrong]
    if left := hidden(place):
        tally.faults.append(f"two: left: {left}")
    return any("is writing it" in said for said in refused)


def _go_on(bench: Bench, kind: str, place: Path, before: dict[str, bytes], tally: Tally) -> None:
    """Run the command again: in the end there is what an unbroken run writes, and nothing else."""
    if not differences(bench.command, place, bench.expected) and not hidden(place):
        return
    added = [*bench.command.again]
    there = [name for name in bench.command.outputs if (place / name).exists()]
    if bench.command.over and there:
        added += bench.command.over
    if bench.command.first:
        _finished(start(bench.command.first, place, bench.execute), bench.command.first)
    code, said = bench.begin(place, added).ended(LONGEST)
    if code not in DONE:
        tally.faults.append(f"{kind}: lost: run again, it ended with {code}: {said[-1500:]}")
        return
    wrong = differences(bench.command, place, bench.expected)
    tally.faults += [f"{kind}: lost: {name}" for name in wrong]
    if left := hidden(place):
        tally.faults.append(f"{kind}: left by both: {left}")


def _mount(place: Path, bench: Bench, rng: random.Random) -> bool:
    """A disk of its own at ``place``, too small for what is written; False where none can be mounted."""
    size = sum(len(content) for content in bench.expected.values())
    pages = max(4, rng.randrange(max(size // 4096, 5)))
    command = ["mount", "-t", "tmpfs", "-o", f"size={pages * 4096}", "none", str(place)]
    if os.geteuid() or subprocess.run(command, capture_output=True, check=False).returncode:
        return False
    (place / "in").symlink_to(bench.folder / "inputs")
    return True


def _unmount(place: Path, bench: Bench) -> None:
    """What is on the small disk goes to the large one, where there is room to go on."""
    kept = place.with_name(place.name + "-kept")
    shutil.copytree(place, kept, symlinks=True)
    subprocess.run(["umount", str(place)], check=True)
    shutil.rmtree(place)
    kept.rename(place)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the trials; returns 1 where something was lost, mixed, torn or left."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = [command.name for command in COMMANDS]
    parser.add_argument("--count", type=int, default=60, help="commands that are stopped, in all")
    parser.add_argument("--commands", nargs="+", choices=names, default=names, metavar="COMMAND")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS), metavar="KIND")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--execute", action="store_true", help="an interpreter of its own for each run: slower"
    )
    add_record_option(parser, "kills")
    asked = parser.parse_args(arguments)
    chosen = [command for command in COMMANDS if command.name in asked.commands]
    rng = random.Random(asked.seed)
    faults = 0
    with tempfile.TemporaryDirectory() as scratch:
        draw_inputs(Path(scratch) / "inputs")
        shares = sum(command.share for command in chosen)
        for command in chosen:
            count = max(1, round(asked.count * command.share / shares))
            tally = _tally(prepare(command, Path(scratch), asked.execute), count, asked.kinds, rng)
            faults += len(tally.faults)
            if asked.record:
                record(asked.record, _row(command, tally), _typed(asked))
            print(_line(command, tally), flush=True)
            for fault in tally.faults:
                print(f"  {fault}", flush=True)
    return int(faults > 0)


def record(name: str, row: Mapping[str, Any], command: str, folder: Path = RESULTS) -> None:
    """Write the counts of one command. Those of others, measured on the same code, stay beside them."""
    path = folder / f"{name}.json"
    rows, commands = [row], [command]
    with locked(path):
        if path.is_file():
            before = read_result(path)
            if (before.commit, list(before.changed)) == (code_that_runs().commit, code_that_runs().changed):
                rows = [*(one for one in before.figures["rows"] if one["command"] != row["command"]), row]
                commands = list(dict.fromkeys([*before.command, command]))
        write_result(name, "kills", {"rows": rows}, command=commands, folder=folder)


def _typed(asked: argparse.Namespace) -> str:
    """The command that is running, as anyone can type it."""
    words = ["python", "tests/kills", "--count", str(asked.count), "--seed", str(asked.seed)]
    if len(asked.commands) < len(COMMANDS):
        words += ["--commands", *asked.commands]
    if asked.kinds != list(KINDS):
        words += ["--kinds", *asked.kinds]
    return shlex.join(words + ["--execute"] * asked.execute)


def _tally(bench: Bench, count: int, kinds: Sequence[str], rng: random.Random) -> Tally:
    """Trials until ``count`` have stopped the command, or three times as many were tried."""
    tally = Tally()
    for number in range(3 * count):
        if tally.trials.total() >= count:
            break
        trial(bench, kinds[number % len(kinds)], rng, tally)
    return tally


def _row(command: Command, tally: Tally) -> dict[str, object]:
    counts = {kind: tally.trials[kind] for kind in KINDS}
    return {"command": command.name, **counts, "stopped": tally.trials.total(), "faults": len(tally.faults)}


def _line(command: Command, tally: Tally) -> str:
    counts = ", ".join(f"{kind} {tally.trials[kind]}" for kind in KINDS)
    return f"{command.name:20} {counts}; {tally.late} had ended before; faults {len(tally.faults)}"


if __name__ == "__main__":
    sys.exit(main())
