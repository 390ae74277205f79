"""The learning curves as a picture: ``docs/learning.svg``, drawn from ``benchmarks/results/learning.json``.

    python -m benchmarks.learning.figure            writes the picture
    python -m benchmarks.learning.figure --check    exit code 1 if it is not what the JSON says

The figure has one panel for each score; the horizontal axis shows the pairs read. A thick line is a row's
mean over its seeds, a thin line a single seed. It shows the methods with and without the additions of this
package, but not the rows of the published tables or the short runs of a rate search.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

from benchmarks.learning.rows import TABLES
from benchmarks.learning.tables import longest
from benchmarks.record import RESULTS, ROOT, read_result
from whatchanged.files import write_output

FIGURE = ROOT / "docs" / "learning.svg"
RESULT = RESULTS / "learning.json"
SCORES: Mapping[str, tuple[str, float]] = {
    "wholly true": ("wholly true, % of changed pairs", 100),
    "type right": ("type of change right, % of changed pairs", 100),
    "CIDEr-D, changed": ("CIDEr-D x 100, changed pairs", 200),
}
"""Score -> the title of its panel, and the top of its axis."""
COLOURS: Mapping[str, str] = {"pcl": "#1f6fb2", "scorer": "#b8590a", "clip4idc": "#2a7f3f"}
NAMES: Mapping[str, str] = {
    "pcl": "PCL",
    "scorer": "SCORER + CBR",
    "clip4idc": "CLIP4IDC",
    "masked": "masked words",
    "unguided": "without guided attention",
    "small": "smaller",
}
PANEL_WIDTH, PANEL_HEIGHT, LEFT, TOP, GAP = 260, 180, 44, 34, 56
TICKS = 4
THICK, THIN = 2.0, 0.6
DRAWN = (*TABLES["guided"].rows, "clip4idc-small")
"""The rows in the picture."""
Run = Mapping[str, Any]


class Panel(NamedTuple):
    """Where a score is drawn: its left edge, the most pairs, and the top of its axis."""

    left: float
    pairs: float
    top: float

    def place(self, pairs: float, score: float) -> tuple[float, float]:
        """The point of a score, in pixels."""
        x = self.left + PANEL_WIDTH * pairs / self.pairs
        return x, TOP + PANEL_HEIGHT * (1 - min(score, self.top) / self.top)


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or check the picture; the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args(arguments)
    drawn = figure(read_result(RESULT).figures["runs"])
    if not given.check:
        write_output(FIGURE, drawn)
        return 0
    fresh = FIGURE.is_file() and FIGURE.read_text(encoding="utf-8") == drawn
    if not fresh:
        print("docs/learning.svg is not what benchmarks/results says.", file=sys.stderr)
        print("Run: python -m benchmarks.learning.figure", file=sys.stderr)
    return int(not fresh)


def title(row: str) -> str:
    """What a row is called in the picture."""
    method, _, variant = row.partition("-")
    return NAMES[method] + (f", {NAMES[variant]}" if variant else "")


def figure(runs: Sequence[Run]) -> str:
    """The picture of these runs as SVG."""
    drawn = {row: own for row, own in longest(runs).items() if row in DRAWN}
    most = max(point["pairs"] for own in drawn.values() for run in own for point in run["curve"])
    rows = list(drawn)
    width = LEFT + len(SCORES) * (PANEL_WIDTH + GAP) - GAP + 16
    height = TOP + PANEL_HEIGHT + 50 + 18 * len(rows)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"'
        f' viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="11">',
        "<title>What three methods learn on the same frozen tokens</title>",
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
    ]
    for number, (score, (label, top)) in enumerate(SCORES.items()):
        panel = Panel(LEFT + number * (PANEL_WIDTH + GAP), most, top)
        parts += axes(panel, label)
        for row, own in drawn.items():
            parts += curves(panel, row, [points(run["curve"], score) for run in own])
    for number, row in enumerate(rows):
        y = TOP + PANEL_HEIGHT + 50 + 18 * number
        parts.append(f'<path d="M{LEFT} {y - 4}h28" {stroke(row, THICK)}/>')
        parts.append(f'<text x="{LEFT + 36}" y="{y}" fill="#222222">{escape(title(row))}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def axes(panel: Panel, label: str) -> list[str]:
    """A panel's title, its grid, and the numbers along it."""
    results = [
        f'<text x="{panel.left}" y="{TOP - 14}" fill="#222222" font-weight="bold">{escape(label)}</text>'
    ]
    for tick in range(TICKS + 1):
        score = panel.top * tick / TICKS
        _, y = panel.place(0, score)
        results.append(f'<path d="M{panel.left} {y:.1f}h{PANEL_WIDTH}" stroke="#dddddd"/>')
        results.append(
            f'<text x="{panel.left - 6}" y="{y + 4:.1f}" text-anchor="end" fill="#555555">{score:g}</text>'
        )
        x, bottom = panel.place(panel.pairs * tick / TICKS, 0)
        thousands = f"{panel.pairs * tick / TICKS / 1000:g}k"
        results.append(
            f'<text x="{x:.1f}" y="{bottom + 16:.1f}" text-anchor="middle" fill="#555555">{thousands}</text>'
        )
    middle = panel.left + PANEL_WIDTH / 2
    y = TOP + PANEL_HEIGHT + 31
    results.append(f'<text x="{middle:.1f}" y="{y}" text-anchor="middle" fill="#555555">pairs seen</text>')
    return results


def points(curve: Sequence[Mapping[str, Any]], score: str) -> dict[int, float]:
    """A score by the pairs seen."""
    return {point["pairs"]: point[score] for point in curve}


def curves(panel: Panel, row: str, seeds: Sequence[Mapping[int, float]]) -> list[str]:
    """The curves of a row's seeds, and above them their mean where all have a point."""
    common = sorted(set.intersection(*(set(seed) for seed in seeds)))
    mean = {pairs: sum(seed[pairs] for seed in seeds) / len(seeds) for pairs in common}
    thin = [line(panel, seed, stroke(row, THIN)) for seed in seeds] if len(seeds) > 1 else []
    return [*thin, line(panel, mean, stroke(row, THICK))]


def line(panel: Panel, scores: Mapping[int, float], drawn: str) -> str:
    """One curve, drawn so."""
    places = [panel.place(pairs, score) for pairs, score in scores.items()]
    return f'<path d="M{" L".join(f"{x:.1f} {y:.1f}" for x, y in places)}" {drawn}/>'


def stroke(row: str, width: float) -> str:
    """How a row's lines are drawn: its method's colour, its variant dashed."""
    method, _, variant = row.partition("-")
    dashes = {
        "": "",
        "masked": ' stroke-dasharray="2 3"',
        "unguided": ' stroke-dasharray="6 4"',
        "small": ' stroke-dasharray="9 3"',
    }[variant]
    return f'fill="none" stroke="{COLOURS[method]}" stroke-width="{width:g}"{dashes}'


if __name__ == "__main__":
    sys.exit(main())
