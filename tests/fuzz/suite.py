"""Damaged and hostile files against everything that reads strangers' files: ``python tests/fuzz``.

Each format (``fuzz_formats``) is fuzzed in a process of its own (``fuzz_one``) for its share of the time,
again and again where an input ends the process. A fault is an input that raises anything but
WhatchangedError, takes more than 20 seconds or 2 GiB, or ends the process. ``--record`` writes the counts by
format; the last line names the faults. Ends with 1 where there are any.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.record import ROOT, Watch, add_record_option, write_result
from fuzz.formats import FORMATS
from fuzz.one import LONGEST, MOST_MEMORY

LEAST_SECONDS = 3
"""A process that would run for less is not started."""


@dataclass(frozen=True)
class Found:
    """What fuzzing one format showed.

    inputs      read in all; distinct: of different bytes
    accepted    inputs that were read as good ones
    kept        inputs that each reached code that none before had reached
    faults      places in the code at which an input raised something else than a message for people
    stops       inputs that ended the process: by its time, its memory, or a library that broke
    """

    format: str
    inputs: int
    distinct: int
    accepted: int
    kept: int
    faults: tuple[str, ...]
    stops: tuple[str, ...]
    longest_seconds: float
    memory_megabytes: float

    @property
    def wrong(self) -> tuple[str, ...]:
        """All faults, in words; libFuzzer looks at the memory once a second, so a short peak shows here."""
        results = (*self.faults, *self.stops)
        if self.longest_seconds > LONGEST:
            results += (f"{self.longest_seconds:.0f} seconds for one input",)
        if self.memory_megabytes > MOST_MEMORY:
            results += (f"{self.memory_megabytes:.0f} MB",)
        return results


def fuzz(name: str, work: Path, seconds: float, inputs: int = 0, seed: int = 0) -> Found:
    """Fuzz one format for so long, or so many inputs, in processes of its own.

    work: what they keep. inputs: all these processes together; 0 for any number.
    """
    work.mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + seconds
    last = _counts(work)["inputs"] + inputs
    while (left := end - time.monotonic()) > LEAST_SECONDS:
        inputs_left = last - _counts(work)["inputs"] if inputs else 0
        if inputs and inputs_left <= 0:
            break
        before = len(_stops(work))
        command = [sys.executable, "-m", "fuzz.one", name, "--work", str(work)]
        command += ["--seconds", str(int(left)), "--inputs", str(inputs_left), "--seed", str(seed + before)]
        done = subprocess.run(command, cwd=ROOT / "tests", capture_output=True, text=True, check=False)
        if len(_stops(work)) == before:
            if done.returncode:
                raise RuntimeError(f"{name}: fuzzing failed with {done.returncode}: {done.stderr[-2000:]}")
            break
    return found_in(name, work)


def found_in(name: str, work: Path) -> Found:
    """What lies in the folder of one format's fuzzing."""
    counts = _counts(work)
    faults: dict[str, Any] = {}
    if (work / "faults.json").is_file():
        faults = json.loads((work / "faults.json").read_text(encoding="utf-8"))
    hashes = (
        np.fromfile(work / "hashes", np.uint64) if (work / "hashes").is_file() else np.zeros(0, np.uint64)
    )
    kept = len(list((work / "corpus").glob("*"))) if (work / "corpus").is_dir() else 0
    return Found(
        name,
        counts["inputs"],
        len(np.unique(hashes)),
        counts["accepted"],
        kept,
        tuple(sorted(faults)),
        tuple(path.name for path in _stops(work)),
        counts["longest_seconds"],
        counts["memory_megabytes"],
    )


def _counts(work: Path) -> dict[str, Any]:
    """What was counted so far, by this call and earlier ones."""
    if not (work / "counts.json").is_file():
        return {"inputs": 0, "accepted": 0, "longest_seconds": 0.0, "memory_megabytes": 0.0}
    counts: dict[str, Any] = json.loads((work / "counts.json").read_text(encoding="utf-8"))
    return counts


def _stops(work: Path) -> list[Path]:
    return sorted((work / "stops").glob("*")) if (work / "stops").is_dir() else []


def main(arguments: Sequence[str] | None = None) -> int:
    """Fuzz the formats in turn; returns 1 where a fault was found."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--hours", type=float, default=1 / 60, help="for all formats together; default: a minute"
    )
    parser.add_argument("--formats", nargs="+", choices=FORMATS, default=list(FORMATS), metavar="FORMAT")
    parser.add_argument(
        "--inputs", type=int, default=0, help="about so many inputs of a format; 0: by the time alone"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--keep", type=Path, help="a folder for inputs, faults and counts, gone on with if there"
    )
    add_record_option(parser, "fuzz")
    asked = parser.parse_args(arguments)
    results = []
    with Watch() as watch, tempfile.TemporaryDirectory() as scratch:
        share = asked.hours * 3600 / len(asked.formats)
        for name in asked.formats:
            work = (asked.keep or Path(scratch)) / name
            results.append(fuzz(name, work, share, asked.inputs, asked.seed))
            print(_line(results[-1]), flush=True)
    if asked.record:
        rows = [asdict(one) for one in results]
        write_result(asked.record, "fuzz", {"rows": rows}, watch=watch, seeds={"seed": asked.seed})
    wrong = [f"{one.format}: {what}" for one in results for what in one.wrong]
    print(f"{sum(one.distinct for one in results):,} distinct inputs; faults: {'; '.join(wrong) or 'none'}")
    return int(bool(wrong))


def _line(one: Found) -> str:
    return (
        f"{one.format:12} {one.inputs:9,} inputs, {one.distinct:9,} distinct, {one.accepted:7,} accepted,"
        f" {one.kept:6,} kept; longest {one.longest_seconds:5.2f} s, {one.memory_megabytes:6.0f} MB;"
        f" faults {len(one.faults)}, stops {len(one.stops)}"
    )


if __name__ == "__main__":
    sys.exit(main())
