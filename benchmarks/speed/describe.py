"""Times ``whatchanged describe`` from the command to the sentence, cold, and per pair once a model is loaded.

    python -m benchmarks.speed.describe [--model NAME-or-FOLDER] [--runs 7] [--pairs 32] [--threads 1]

"Cold" starts a new interpreter each time. The first run is left out, because it fills the disk cache and
writes the compiled modules, which ``pip install`` writes for users. "Warm"
times three things in a running process, on ``--threads`` threads: from pixels to a description, for one pair
and for 16 pairs side by side; the reading of PNG files; and from files to an answer, with the choice of the
model. The pair is a shipped scene of 480x320.
"""

import argparse
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from PIL import Image

from benchmarks.record import Watch, add_record_option, write_result
from whatchanged.answers import Answerer
from whatchanged.captioner.bundle import SHIPPED
from whatchanged.captioner.runtime import Captioner, load

START = "from whatchanged.cli import main; main()"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", default=None)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--pairs", type=int, default=32)
    parser.add_argument("--threads", type=int, default=1)
    add_record_option(parser, "describe")
    options = parser.parse_args()
    load_now = os.getloadavg()[0]
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} processors, load {load_now:.1f}")
    captioner = load(options.model, options.threads)
    print(f"model {captioner.card.name}, {captioner.bundle.size / 1e6:.1f} MB, {captioner.input.size}")
    rows = []
    with Watch() as watch, tempfile.TemporaryDirectory() as folder:
        for label, times in _measured(captioner, Path(folder), options):
            ms = sorted(1000 * t for t in times)
            rows.append(
                {"what": label, "median ms": statistics.median(ms), "least ms": ms[0], "most ms": ms[-1]}
            )
            print(f"{label}: median {statistics.median(ms):.1f} ms, {ms[0]:.1f} to {ms[-1]:.1f}", flush=True)
    if options.record:
        figures = {"rows": rows, "times": ["median ms", "least ms", "most ms"]}
        write_result(options.record, "rows", figures, watch=watch)


def _measured(
    captioner: Captioner, folder: Path, options: argparse.Namespace
) -> Iterator[tuple[str, list[float]]]:
    """What is timed, and the seconds of each run."""
    pair, runs = _pictures(folder), options.runs + 1
    yield "whatchanged --help, cold", [_cold(["--help"]) for _ in range(runs)][1:]
    command = ["describe", *map(str, pair), *([] if options.model is None else ["--model", options.model])]
    yield "whatchanged describe, cold", [_cold(command) for _ in range(runs)][1:]
    answerer = Answerer(options.model, threads=options.threads)
    if answerer.answer(*pair).answer != captioner.card.name:
        raise SystemExit(f"the pair is not answered by {captioner.card.name}")
    pixels = captioner.read(*pair)[None]
    captioner.describe_pixels(pixels)
    yield "reading and resizing a pair", _times(lambda: captioner.read(*pair), options.pairs)
    threads = f"{options.threads} thread(s)"
    yield f"files to answer, {threads}, warm", _times(lambda: answerer.answer(*pair), options.pairs)
    yield f"one pair, {threads}, warm", _times(lambda: captioner.describe_pixels(pixels), options.pairs)
    batch = np.repeat(pixels, 16, axis=0)
    times = _times(lambda: captioner.describe_pixels(batch), max(3, options.pairs // 16))
    yield f"16 pairs side by side, {threads}, per pair", [t / 16 for t in times]


def _pictures(folder: Path) -> tuple[Path, Path]:
    """A pair that the shipped model knows, as PNGs of 480x320."""
    paths = (folder / "before.png", folder / "after.png")
    for path in paths:
        with Image.open(SHIPPED / "demo" / f"00-{path.name}") as picture:
            picture.resize((480, 320), Image.Resampling.BICUBIC).save(path)
    return paths


def _cold(arguments: list[str]) -> float:
    # Without the variable that forbids compiled modules, since every start would compile the sources again.
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-c", START, *arguments]
    begin = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
    return time.perf_counter() - begin


def _times(work: Callable[[], object], count: int) -> list[float]:
    times = []
    for _ in range(count):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return times


if __name__ == "__main__":
    main()
