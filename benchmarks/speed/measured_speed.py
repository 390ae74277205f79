"""Times the answers for a screen, measured and by shipped models, and compares pixelmatch, odiff, looks-same.

    python -m benchmarks.speed.measured_speed --styles NODE_MODULES [--repeats 7] [--record]

NODE_MODULES holds the stylesheets of drawn pages and pixelmatch, odiff-bin and looks-same. A page of
1280 x 800 is drawn by Chromium; beside it: a copy of its file, the same pixels in another file, its text a
third of a pixel away, the page after JPEG, and one changed box. Then a page of 1280 x 12,000.

Figures are milliseconds of processor time, summed over all threads and child processes, decoding included:
the least of ``--repeats`` runs. "start" is the time of a new process until it compares, "in all" that of a
new process with one pair. Processor time is the time that one core would take, and other work on the machine
hardly changes it.
"""

import argparse
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from benchmarks.record import Watch, add_record_option, write_result
from whatchanged import describe
from whatchanged.measured import measure
from whatchanged.synth.screens.browser import Browser
from whatchanged.synth.screens.pages.designs import Library, libraries
from whatchanged.synth.screens.pages.document import HTMLDocument, any_part
from whatchanged.synth.screens.pages.looks import random_look
from whatchanged.synth.screens.pages.shown import Shown
from whatchanged.synth.screens.pages.writer import Writer
from whatchanged.synth.screens.words import RandomTexts

TEXT = "p,button,td,th,label,h1,h2,h3,h4,h5,span"
NUDGE = f"document.querySelectorAll('{TEXT}').forEach(e => e.style.transform = 'translate(0.3px,0.2px)')"
PAIRS = ("identical files", "identical pixels", "text noise", "JPEG noise", "changed")
SCRIPT = Path(__file__).parents[1] / "screens" / "rivals.mjs"
OWN: dict[str, tuple[str, str]] = {
    "whatchanged, measured": ("from whatchanged.measured import measure", "measure"),
    "whatchanged, describe": ("from whatchanged import describe", "describe"),
}
"""Tool -> how it is imported, and its name there."""


def page_of(parts: int, height: int, rng: np.random.Generator, library: Library) -> HTMLDocument:
    """A page of so many components under a library's stylesheets, 1280 pixels wide."""
    writer = Writer(rng, library, RandomTexts(rng, "en"))
    body = "".join(any_part(writer) for _ in range(parts))
    look = random_look(rng, "train", "Roboto", "en", dark=False, width="1280px", own=False)
    return HTMLDocument(body, look, 'dir="ltr" lang="en"', 1280, height, 1.0, False, False, {})


def draw(folder: Path, styles: Path) -> None:
    """The page, what it is compared with, and the long page."""
    rng = np.random.default_rng(5)
    library = next(library for library in libraries() if library.name == "bootstrap")
    with Browser("full") as browser:
        shown = Shown(browser, styles.absolute(), folder)
        layout = shown.load(page_of(22, 800, rng, library), library)
        page = Image.fromarray(shown.photograph(layout))
        browser.run(NUDGE)
        Image.fromarray(shown.photograph(layout)).save(folder / "text noise.png")
        layout = shown.load(page_of(220, 12_000, rng, library), library)
        tall = Image.fromarray(shown.photograph(layout))
    page.save(folder / "page.png")
    shutil.copy(folder / "page.png", folder / "identical files.png")
    page.save(folder / "identical pixels.png", compress_level=1)
    page.save(folder / "page.jpg", quality=95)
    Image.open(folder / "page.jpg").save(folder / "JPEG noise.png")
    with_box(page, (200, 300, 330, 340)).save(folder / "changed.png")
    tall.save(folder / "long.png")
    with_box(tall, (200, 9300, 600, 9400)).save(folder / "long changed.png")
    tall.save(folder / "page.jpg", quality=95)
    Image.open(folder / "page.jpg").save(folder / "long noise.png")


def with_box(picture: Image.Image, box: tuple[int, int, int, int]) -> Image.Image:
    """The picture with a red box."""
    changed = picture.copy()
    changed.paste((200, 30, 30), box)
    return changed


def least(run: Callable[[], object], repeats: int) -> float:
    """Milliseconds of this process's processor time."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return 1000 * min(times)


def of_child(command: list[str], repeats: int, lines: str = "") -> float:
    """Milliseconds of processor time of a command and its children."""
    times = []
    for _ in range(repeats):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, input=lines, text=True, capture_output=True, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    return 1000 * min(times)


def rival_row(name: str, folder: Path, modules: Path, repeats: int) -> dict[str, Any]:
    """A rival's times: what more pairs take in one process, and one pair in a new one."""
    row: dict[str, Any] = {"tool": name}
    small = Image.new("RGB", (8, 8))
    small.save(folder / "small.png")
    pair = f"{folder / 'small.png'}\t{folder / 'small.png'}\n"
    command = ["node", str(SCRIPT), str(modules), name]
    row["start"] = of_child(command, repeats, pair)
    for kind in PAIRS:
        pair = f"{folder / 'page.png'}\t{folder / f'{kind}.png'}\n"
        row[kind] = (of_child(command, 3, pair * 11) - of_child(command, 3, pair)) / 10
    row["in all, noise"] = row["start"] + row["text noise"]
    return row


def odiff_row(folder: Path, modules: Path, repeats: int) -> dict[str, Any]:
    """The times of odiff's own program: a new process for each pair, less what a tiny pair takes."""
    program = str(modules / "odiff-bin" / "bin" / "odiff")
    small = [program, str(folder / "small.png"), str(folder / "small.png"), str(folder / "diff.png")]
    row: dict[str, Any] = {"tool": "odiff", "start": of_child([*small, "--antialiasing"], repeats)}
    for kind in PAIRS:
        command = [program, str(folder / "page.png"), str(folder / f"{kind}.png"), str(folder / "diff.png")]
        row[kind] = of_child([*command, "--antialiasing"], repeats) - row["start"]
    row["in all, noise"] = row["start"] + row["text noise"]
    return row


def own_row(tool: str, ask: Callable[[Path, Path], object], folder: Path, repeats: int) -> dict[str, Any]:
    """The times of an answer of ours."""
    imported, name = OWN[tool]
    page = folder / "page.png"
    row: dict[str, Any] = {"tool": tool}
    row["start"] = of_child([sys.executable, "-c", imported], repeats)
    for kind in PAIRS:
        other = folder / f"{kind}.png"
        row[kind] = least(partial(ask, page, other), repeats)
    code = f"import sys; {imported}; {name}(*sys.argv[1:])"
    noise = str(folder / "text noise.png")
    row["in all, noise"] = of_child([sys.executable, "-c", code, str(page), noise], repeats)
    return row


def long_row(folder: Path, name: str) -> dict[str, Any]:
    """Seconds of processor time and peak memory of a new process that compares the long page."""
    code = (
        "import resource, sys, time; from whatchanged.measured import measure; measure(*sys.argv[1:]);"
        "print(time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)"
    )
    command = [sys.executable, "-c", code, str(folder / "long.png"), str(folder / f"{name}.png")]
    seconds, memory = subprocess.run(command, text=True, capture_output=True, check=True).stdout.split()
    return {"1280 x 12,000": name.removeprefix("long "), "seconds": float(seconds), "MiB": float(memory)}


def main() -> None:
    """Prints the rows, and records them where asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--styles", type=Path, required=True)
    parser.add_argument("--repeats", type=int, default=7)
    add_record_option(parser, "measured_speed")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch, Watch() as watch:
        folder = Path(scratch)
        draw(folder, options.styles)
        rows = [
            own_row("whatchanged, measured", measure, folder, options.repeats),
            own_row("whatchanged, describe", describe, folder, options.repeats),
        ]
        rows += [rival_row(name, folder, options.styles, 3) for name in ("pixelmatch", "looks-same")]
        rows.append(odiff_row(folder, options.styles, options.repeats))
        long = [long_row(folder, name) for name in ("long changed", "long noise")]
    for row in rows + long:
        print(json.dumps(row))
    if options.record:
        write_result(options.record, "measured speed", {"rows": rows, "long": long}, watch=watch)


if __name__ == "__main__":
    main()
