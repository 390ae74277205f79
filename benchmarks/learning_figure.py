"""The learning curves as a picture: ``docs/learning.svg``, drawn from ``benchmarks/results/learning.json``.

    python -m benchmarks.learning_figure            writes the picture
    python -m benchmarks.learning_figure --check    exit code 1 if it is not what the JSON says

One panel for each score, the pairs seen along the bottom, a line for each run. A rate search's short runs are
left out: only the runs with the most pairs of each row are drawn.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

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
}
PANEL_WIDTH, PANEL_HEIGHT, LEFT, TOP, GAP = 260, 180, 44, 34, 56
TICKS = 4


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
        print("Run: python -m benchmarks.learning_figure", file=sys.stderr)
    return int(not fresh)


def longest(runs: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Of each row the runs with the most pairs."""
    most: dict[str, int] = {}
    for run in runs:
        most[run["row"]] = max(run["pairs"], most.get(run["row"], 0))
    return [run for run in runs if run["pairs"] == most[run["row"]]]


def title(row: str) -> str:
    """What a row is called in the picture."""
    method, _, variant = row.partition("-")
    return NAMES[method] + (f", {NAMES[variant]}" if variant else "")


def figure(runs: Sequence[Mapping[str, Any]]) -> str:
    """The picture of these runs as SVG."""
    drawn = longest(runs)
    most = max(point["pairs"] for run in drawn for point in run["curve"])
    rows = list(dict.fromkeys(run["row"] for run in drawn))
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
        parts += [line(panel, run, score) for run in drawn]
    for number, row in enumerate(rows):
        y = TOP + PANEL_HEIGHT + 50 + 18 * number
        parts.append(f'<path d="M{LEFT} {y - 4}h28" {stroke(row)}/>')
        parts.append(f'<text x="{LEFT + 36}" y="{y}" fill="#222222">{escape(title(row))}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def axes(panel: Panel, label: str) -> list[str]:
    """A panel's title, its grid, and the numbers along it."""
    found = [
        f'<text x="{panel.left}" y="{TOP - 14}" fill="#222222" font-weight="bold">{escape(label)}</text>'
    ]
    for tick in range(TICKS + 1):
        score = panel.top * tick / TICKS
        _, y = panel.place(0, score)
        found.append(f'<path d="M{panel.left} {y:.1f}h{PANEL_WIDTH}" stroke="#dddddd"/>')
        found.append(
            f'<text x="{panel.left - 6}" y="{y + 4:.1f}" text-anchor="end" fill="#555555">{score:g}</text>'
        )
        x, bottom = panel.place(panel.pairs * tick / TICKS, 0)
        thousands = f"{panel.pairs * tick / TICKS / 1000:g}k"
        found.append(
            f'<text x="{x:.1f}" y="{bottom + 16:.1f}" text-anchor="middle" fill="#555555">{thousands}</text>'
        )
    middle = panel.left + PANEL_WIDTH / 2
    y = TOP + PANEL_HEIGHT + 31
    found.append(f'<text x="{middle:.1f}" y="{y}" text-anchor="middle" fill="#555555">pairs seen</text>')
    return found


def line(panel: Panel, run: Mapping[str, Any], score: str) -> str:
    """A run's curve of one score."""
    places = [panel.place(point["pairs"], point[score]) for point in run["curve"]]
    return f'<path d="M{" L".join(f"{x:.1f} {y:.1f}" for x, y in places)}" {stroke(run["row"])}/>'


def stroke(row: str) -> str:
    """How a row's lines are drawn: its method's colour, its variant dashed."""
    method, _, variant = row.partition("-")
    dashes = {"": "", "masked": ' stroke-dasharray="2 3"', "unguided": ' stroke-dasharray="6 4"'}[variant]
    return f'fill="none" stroke="{COLOURS[method]}" stroke-width="2"{dashes}'


if __name__ == "__main__":
    sys.exit(main())
