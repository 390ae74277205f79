"""Times writing a page of many pairs, opening it in headless Chromium, and using it.

    python -m benchmarks.speed.page

The pairs link 2 x 100 drawn pictures of 640 x 400, each pair under names of its own (hard links). Every pair
has three changes with boxes; the first row has the pairs in groups, the second in order with heat maps,
references and scores. Times are medians; opening is from the start of the navigation until the script has run
and the page counts as loaded, in a browser that is already running.
"""

import argparse
import os
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
from PIL import Image

from benchmarks.record import Watch, add_record_option, write_result
from whatchanged.page import Group, Page, Pair, write_page
from whatchanged.synth.screens.browser import Browser

PICTURES = 100
SIZE = (640, 400)
TIMES = ("write_s", "open_s", "open_slowest_s", "first_paint_s", "search_ms")
"""Figures that count only where nothing else ran."""
GROUPS = 25
KINDS = ("added", "moved", "recolored", "rewritten", "resized")
LOADED = "performance.getEntriesByType('navigation')[0].loadEventEnd"
PAINTED = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
SEARCH = """
(() => {
  const start = performance.now();
  text.value = "%s";
  text.dispatchEvent(new Event("input"));
  list.getBoundingClientRect();
  return performance.now() - start;
})()
"""


def draw_pictures(folder: Path, rng: np.random.Generator) -> list[Path]:
    """Pictures of coarse random tiles."""
    paths = []
    for number in range(2 * PICTURES):
        tiles = rng.integers(0, 256, (SIZE[1] // 40, SIZE[0] // 40, 3), np.uint8)
        path = folder / f"drawn-{number}.png"
        Image.fromarray(tiles).resize(SIZE, Image.Resampling.NEAREST).save(path)
        paths.append(path)
    return paths


def linked(folder: Path, drawn: list[Path], count: int) -> list[tuple[Path, Path]]:
    """Two pictures for each pair, under its own names."""
    made = []
    for number in range(count):
        names = (folder / f"{number:05d}-before.png", folder / f"{number:05d}-after.png")
        for name, source in zip(names, (2 * number, 2 * number + 1), strict=True):
            os.link(drawn[source % len(drawn)], name)
        made.append(names)
    return made


def line(number: int, rng: np.random.Generator) -> dict[str, object]:
    """A line of output with three changes."""
    changes = []
    for kind in rng.choice(KINDS, 3):
        left, top = int(rng.integers(0, 500)), int(rng.integers(0, 300))
        box = [left, top, left + 100, top + 60]
        sentence = f"A button at the upper left {kind} by {number % 97} pixels."
        changes.append({"kind": str(kind), "sentence": sentence, "box_before": box, "box_after": box})
    return {
        "caption": " ".join(str(change["sentence"]) for change in changes),
        "no_change": float(rng.random()),
        "verdict": "changed",
        "answer": "measured",
        "changes": changes,
        "size_before": SIZE,
        "size_after": SIZE,
    }


def grouped_page(paths: list[tuple[Path, Path]], rng: np.random.Generator) -> Page:
    """As `compare` writes it: groups with odd members."""
    pairs = [Pair(f"{i:05d}.png", *names, line(i, rng)) for i, names in enumerate(paths)]
    members = np.array_split(np.arange(len(pairs)), GROUPS)
    groups = [Group("What is drawn at the top moved.", part.tolist(), part[:2].tolist()) for part in members]
    return Page("Old against new", pairs, groups=groups)


def scored_page(paths: list[tuple[Path, Path]], rng: np.random.Generator) -> Page:
    """As `evaluate` writes it: maps of 20 x 30 with a few hot cells, references, scores."""
    pairs = []
    for number, names in enumerate(paths):
        maps = np.zeros((2, 20, 30))
        maps[rng.integers(0, 2, 6), rng.integers(0, 20, 6), rng.integers(0, 30, 6)] = rng.random(6)
        references = [f"the small red cube changed its location, {i}" for i in range(6)]
        facts = [f"ROUGE-L {100 * rng.random():.1f}", f"CIDEr-D {1000 * rng.random():.1f}"]
        pair = Pair(
            f"{number:05d}.png", *names, line(number, rng), references=references, heatmaps=maps, facts=facts
        )
        pairs.append(pair)
    return Page(
        "Predictions against references", pairs, orders={"worst first": rng.permutation(len(pairs)).tolist()}
    )


def measure(browser: Browser, page: Page, path: Path, repeats: int) -> dict[str, float]:
    """Seconds to write the page and to open it, and milliseconds of a search."""
    start = time.perf_counter()
    write_page(path, page)
    written = time.perf_counter() - start
    loaded, painted, searched = [], [], []
    for number in range(repeats):
        browser.open(path.as_uri())
        loaded.append(browser.run(f"new Promise((d) => setTimeout(() => d({LOADED}), 50))") / 1000)
        painted.append(browser.run(PAINTED) / 1000)
        searched.append(browser.run(SEARCH % f"by {number + 3} pixels"))
        if browser.complaints():
            raise SystemExit(f"the page complains: {browser.complaints()}")
    return {
        "megabytes": path.stat().st_size / 1e6,
        "write_s": written,
        "open_s": statistics.median(loaded),
        "open_slowest_s": max(loaded),
        "first_paint_s": statistics.median(painted),
        "search_ms": statistics.median(searched),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--pairs", type=int, default=5000)
    parser.add_argument("--repeats", type=int, default=7)
    add_record_option(parser, "page")
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    rows = []
    with tempfile.TemporaryDirectory() as name, Watch() as watch, Browser() as browser:
        folder = Path(name)
        paths = linked(folder, draw_pictures(folder, rng), options.pairs)
        for what, make in (("in groups", grouped_page), ("with heat maps", scored_page)):
            figures = measure(browser, make(paths, rng), folder / "page.html", options.repeats)
            rows.append({"page": what, "pairs": options.pairs, **figures})
            print(what, ", ".join(f"{key} {value:.3g}" for key, value in figures.items()))
    if options.record:
        recorded = {"rows": rows, "times": TIMES}
        write_result(options.record, "rows", recorded, watch=watch, seeds={"pictures": 0})


if __name__ == "__main__":
    main()
