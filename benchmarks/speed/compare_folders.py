"""Speed and memory of ``whatchanged compare``: a folder of screens, and one very long page.

    python -m benchmarks.speed.compare_folders [--files 1000] [--changed 30] [--runs 3] --record

Screens of 1280x800 are drawn once; all but ``--changed`` of them have the same bytes in both folders. The
page of 1280x12,000 is compared with three variants: one element has another colour; every line of text is
shifted by a fraction of a pixel; a banner has moved everything down. Each command runs in a new process.
Memory is the largest resident set of this process or of one that it starts. Processor time is the sum over
all its processes; other work on the machine disturbs it less than wall time.
"""

import argparse
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from subprocess import Popen
from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from benchmarks.record import Watch, add_record_option, write_result

START = "from whatchanged.cli import main; main()"
SCREEN, LONG = (1280, 800), (1280, 12_000)
BANNER = 48
WORDS = (
    "orders",
    "revenue",
    "customer",
    "invoice",
    "region",
    "quarter",
    "total",
    "average",
    "pending",
    "open",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--changed", type=int, default=30)
    parser.add_argument("--runs", type=int, default=3)
    add_record_option(parser, "compare_folders")
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as place, Watch() as watch:
        folder = Path(place)
        for row in (*_folder_rows(folder, options), *_long_rows(folder, options.runs)):
            rows.append(row)
            print(", ".join(f"{key} {_shown(value)}" for key, value in row.items()), flush=True)
    if options.record:
        figures = {"rows": rows, "times": ["median s", "files a second"]}
        write_result(options.record, "rows", figures, watch=watch, seeds={"screens": 0})


def _folder_rows(folder: Path, options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """One folder of many screens: first on one core and on all, then again with stored answers."""
    old, new = folder / "old", folder / "new"
    for side in (old, new):
        side.mkdir()
    changed = set(range(0, options.files, options.files // options.changed)[: options.changed])
    for number in range(options.files):
        picture = screen(np.random.default_rng(number), SCREEN)
        name = f"screen-{number:04}.png"
        picture.save(old / name, compress_level=1)
        if number in changed:
            recoloured(picture).save(new / name, compress_level=1)
        else:
            shutil.copyfile(old / name, new / name)
    cores = len(os.sched_getaffinity(0))
    label = f"{options.files:,} screens, {options.changed} changed"
    for workers in sorted({1, cores}):
        arguments = [old, new, "-o", folder / "out", "--workers", workers, "--force"]
        runs = [_run(arguments, expected=1) for _ in range(options.runs)]
        yield _row(f"{label}, {workers} process{'es' if workers > 1 else ''}", runs, options.files)
    again = [_run([old, new, "-o", folder / "out"], expected=1) for _ in range(options.runs)]
    yield _row(f"{label}, again, answers stored", again, options.files)


def _long_rows(folder: Path, runs: int) -> Iterator[dict[str, Any]]:
    """One page of 1280x12,000 and its three variants, on one core."""
    page = screen(np.random.default_rng(0), LONG)
    pushed = Image.new("RGB", (LONG[0], LONG[1] + BANNER), (255, 244, 204))
    pushed.paste(page, (0, BANNER))
    variants = {
        "one element recoloured": (recoloured(page), 1),
        "all text drawn beside its place": (screen(np.random.default_rng(0), LONG, beside=0.25), 0),
        f"a banner of {BANNER} pixels on top": (pushed, 1),
    }
    for label, (variant, expected) in variants.items():
        old, new = folder / "long" / label / "old", folder / "long" / label / "new"
        for side, picture in ((old, page), (new, variant)):
            side.mkdir(parents=True)
            picture.save(side / "page.png", compress_level=1)
        timed = [_run([old, new, "--workers", 1], expected) for _ in range(runs)]
        yield _row(f"a page of 1280x12,000, {label}", timed, 1)


def screen(random: np.random.Generator, size: tuple[int, int], beside: float = 0.0) -> Image.Image:
    """A page of cards with lines of text; ``beside``: how many pixels further right text is drawn."""
    image = Image.new("RGB", size, (246, 247, 249))
    draw = ImageDraw.Draw(image)
    font = ImageFont.load_default(15)
    for top in range(24, size[1] - 180, 200):
        for left in range(24, size[0] - 300, 312):
            draw.rounded_rectangle((left, top, left + 288, top + 172), 8, (255, 255, 255), (214, 218, 224))
            draw.rectangle((left + 16, top + 130, left + 96, top + 156), tuple(random.integers(30, 220, 3)))
            for line in range(5):
                text = " ".join(random.choice(WORDS, 4)) + f" {random.integers(10_000)}"
                draw.text((left + 16 + beside, top + 14 + 22 * line), text, (40, 44, 52), font)
    return image


def recoloured(picture: Image.Image) -> Image.Image:
    """A copy in which the first card's button is red."""
    copy = picture.copy()
    ImageDraw.Draw(copy).rectangle((40, 154, 120, 180), (220, 30, 30))
    return copy


def _run(arguments: Sequence[object], expected: int) -> tuple[float, float, float]:
    """Seconds, seconds of the processor and the largest resident set in MB of a command in a new process."""
    command = [sys.executable, "-c", START, "compare", *map(str, arguments), "--quiet"]
    began = time.perf_counter()
    process = Popen(command, stdout=-3)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != expected:
        raise SystemExit(f"{' '.join(command)}: exit code {process.returncode}, expected {expected}")
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def _row(what: str, runs: Sequence[tuple[float, float, float]], files: int) -> dict[str, Any]:
    """Medians of the runs, and the most memory that one took."""
    seconds, processor = (statistics.median(run[place] for run in runs) for place in (0, 1))
    row = {"what": what, "median s": seconds, "processor s": processor, "MB": max(run[2] for run in runs)}
    if files > 1:
        row |= {"files a second": files / seconds, "files a processor second": files / processor}
    return row


def _shown(value: object) -> str:
    return f"{value:.2f}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    main()
