"""Fuzz one format: ``python -m fuzz.one FORMAT --work FOLDER --seconds S`` (see ``fuzz``).

Atheris, which is libFuzzer on Python, chooses inputs by the code that they reach, and ends the process at an
input that takes too long or too much memory, or that breaks a library. Faults in Python are kept, and it goes
on.

    WORK/corpus         inputs that reached code that none before had reached
    WORK/stops          inputs that ended the process
    WORK/faults.json    each distinct fault with the smallest input that shows it
    WORK/hashes         eight bytes of each input's SHA-256, to count distinct ones
    WORK/counts.json    inputs, inputs accepted, the longest time of one, the largest memory of the process
"""

import argparse
import functools
import hashlib
import json
import os
import random
import resource
import sys
import time
import traceback
import warnings
from pathlib import Path
from typing import Any

from whatchanged.files import whole

LONGEST = 20
"""Seconds that one input may take."""
MOST_MEMORY = 2048
"""Megabytes that the process may take."""
LARGEST = 400_000
"""Bytes of an input."""
ROOM = 200
"""Bytes of the file of counts, so that new ones always cover those before."""


class Counter:
    """What happened so far, on disk after each input, because the process may be ended at any one."""

    def __init__(self, work: Path) -> None:
        self.work = work
        self.inputs = 0
        self.accepted = 0
        self.longest = 0.0
        self.faults: dict[str, dict[str, Any]] = {}
        if (work / "faults.json").is_file():
            self.faults = json.loads((work / "faults.json").read_text(encoding="utf-8"))
        if (work / "counts.json").is_file():
            before = json.loads((work / "counts.json").read_text(encoding="utf-8"))
            self.inputs, self.accepted = before["inputs"], before["accepted"]
            self.longest = before["longest_seconds"]
            self._memory = before["memory_megabytes"]
        else:
            self._memory = 0.0
        # open until the process ends, and unbuffered
        self._hashes = os.open(work / "hashes", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        self._counts = os.open(work / "counts.json", os.O_WRONLY | os.O_CREAT, 0o666)
        self._write()

    def note(self, data: bytes, accepted: bool, seconds: float) -> None:
        """One more input."""
        self.inputs += 1
        self.accepted += accepted
        self.longest = max(self.longest, seconds)
        os.write(self._hashes, hashlib.sha256(data).digest()[:8])
        self._write()

    def note_fault(self, data: bytes, error: BaseException) -> None:
        """A fault; of those at one place the smallest input is kept."""
        name = place_of(error)
        known = self.faults.get(name)
        if known is None or len(data) < len(known["input"]) // 2:
            shown = "".join(traceback.format_exception(error))[-2000:]
            self.faults[name] = {"input": data.hex(), "error": shown}
            with whole(self.work / "faults.json") as draft:
                draft.write_text(json.dumps(self.faults, indent=1), encoding="utf-8")

    def _write(self) -> None:
        """Write the counts over those before: a new file for each input would take too long."""
        self._memory = max(self._memory, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
        counts = {
            "inputs": self.inputs,
            "accepted": self.accepted,
            "longest_seconds": self.longest,
            "memory_megabytes": self._memory,
        }
        os.pwrite(self._counts, json.dumps(counts).ljust(ROOM).encode(), 0)


def place_of(error: BaseException) -> str:
    """What makes two faults one: the kind of error, and the last place of ours that it came through."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "/whatchanged/" in frame.filename] or frames
    where = f"{Path(ours[-1].filename).name}, {ours[-1].name}" if ours else "?"
    return f"{type(error).__name__} in {where}"


def main() -> None:
    """Fuzz until the time is over; libFuzzer ends the process."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("format")
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--inputs", type=int, default=0, help="end after so many; 0: by the time alone")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    import atheris

    with atheris.instrument_imports(include=["whatchanged"]):
        from fuzz import formats as fuzz_formats

        fuzz_formats.warm(arguments.format)
    from fuzz.mutations import mutated
    from whatchanged import plugins

    warnings.simplefilter("ignore")
    # Looking for packages again at each input would take most of the time.
    plugins._entries = functools.cache(plugins._entries)
    work: Path = arguments.work
    for name in ("corpus", "stops"):
        (work / name).mkdir(parents=True, exist_ok=True)
    stage_place = work / f"stage-{os.getpid()}"
    stage_place.mkdir()
    stage = fuzz_formats.Stage(arguments.format, stage_place)
    for number, seed in enumerate(stage.seeds()):
        (work / "corpus" / f"seed-{number}").write_bytes(seed)
    counter = Counter(work)

    def one_input(data: bytes) -> None:
        if len(data) < 3:
            return
        began = time.monotonic()
        accepted = False
        try:
            accepted = stage.play(data)
        except Exception as error:
            counter.note_fault(data, error)
        counter.note(data, accepted, time.monotonic() - began)

    def mutate(data: bytes, most: int, seed: int) -> bytes:
        rng = random.Random(seed)
        content = mutated(data[2:], rng) if len(data) > 2 and rng.random() < 0.6 else None
        if content is None:
            return bytes(atheris.Mutate(data, most))
        return (data[:2] + content)[:most]

    options = [
        f"-max_total_time={arguments.seconds}",
        f"-runs={arguments.inputs or -1}",
        f"-timeout={LONGEST}",
        f"-rss_limit_mb={MOST_MEMORY}",
        f"-max_len={LARGEST}",
        f"-seed={arguments.seed + 1}",
        f"-artifact_prefix={work / 'stops'}/",
        "-print_final_stats=0",
        "-verbosity=0",
        "-len_control=0",
    ]
    atheris.Setup(
        [sys.argv[0], *options, str(work / "corpus")],
        one_input,
        custom_mutator=mutate,
        internal_libfuzzer=True,
    )
    atheris.Fuzz()


if __name__ == "__main__":
    main()
