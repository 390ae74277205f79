"""Draws labelled pairs of plots: one element of a plot changed, or noise.

    python -m benchmarks.screens.plots OUT --pairs 400 [--seed 0] [--first 0]

Needs matplotlib. Writes ``pairs.jsonl`` anew, and ``images/``.
"""

import argparse
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
from numpy.typing import NDArray
from PIL import Image

mpl.use("agg")
import matplotlib.pyplot as plt

from whatchanged.synth.screens.fonts import fonts_of
from whatchanged.synth.screens.words import LANGUAGES

Rng = np.random.Generator
WORDS = LANGUAGES["en"].words
COLORS = ("tab:blue", "tab:orange", "tab:green", "tab:red", "black", "tab:purple", "gray", "#4477aa")


@dataclass(frozen=True)
class Plot:
    """What a plot shows."""

    form: str
    values: tuple[tuple[float, ...], ...]
    colors: tuple[str, ...]
    width: float
    marker: str
    line: str
    title: str
    label: str
    legend: bool
    grid: bool
    high: float
    cmap: str
    size: tuple[int, int]
    font: str


@dataclass(frozen=True)
class Rendering:
    """How it is rendered: what differs between versions of a library and nobody calls a change."""

    hinting: str = "force_autohint"
    shift: float = 0.0
    simplify: bool = True
    snap: bool = True


class Altered(NamedTuple):
    """A plot of which one element changed: the kind of change, what of it changed, and by how much."""

    plot: Plot
    kind: str
    aspect: str
    size: float


def random_plot(rng: Rng) -> Plot:
    """Any plot."""
    series, points = int(rng.integers(1, 4)), int(rng.integers(4, 30))
    values = np.cumsum(rng.normal(0, 1, (series, points)), axis=1) + 5
    words = [str(word) for word in rng.choice(WORDS, 3)]
    return Plot(
        form=str(rng.choice(["line", "line", "scatter", "bar", "image", "hist"])),
        values=tuple(tuple(float(v) for v in row) for row in values),
        colors=tuple(str(color) for color in rng.choice(COLORS, series, replace=False)),
        width=float(rng.choice([0.8, 1.0, 1.5, 2.5])),
        marker=str(rng.choice(["", "", "o", "s", "^"])),
        line=str(rng.choice(["-", "-", "--", ":"])),
        title=" ".join(words[:2]),
        label=words[2],
        legend=bool(rng.random() < 0.5),
        grid=bool(rng.random() < 0.4),
        high=float(values.max() + rng.uniform(0.2, 2)),
        cmap=str(rng.choice(["viridis", "gray", "coolwarm"])),
        size=(int(rng.integers(240, 640)), int(rng.integers(180, 480))),
        font=str(rng.choice(fonts_of("train"))),
    )


def changed_plot(rng: Rng, plot: Plot) -> Altered | None:
    """The plot with one element changed; None where it has none to lose."""
    way = str(rng.choice([
        "value", "value", "color", "width", "marker", "line", "title", "label", "legend", "grid",
        "high", "cmap", "series",
    ]))  # fmt: skip
    if way == "value":
        rows = [list(row) for row in plot.values]
        row, column = int(rng.integers(len(rows))), int(rng.integers(len(rows[0])))
        step = float(np.exp(rng.uniform(np.log(0.15), np.log(3))))
        rows[row][column] += step
        return Altered(replace(plot, values=tuple(map(tuple, rows))), "moved", "value", step)
    if way == "color":
        place = int(rng.integers(len(plot.colors)))
        color = str(rng.choice([c for c in COLORS if c not in plot.colors]))
        colors = (*plot.colors[:place], color, *plot.colors[place + 1 :])
        return Altered(replace(plot, colors=colors), "recolored", "ink", 50)
    if way == "series":
        if len(plot.values) < 2:
            return None
        fewer = replace(plot, values=plot.values[:-1], colors=plot.colors[:-1])
        return Altered(fewer, "removed", "series", 1)
    others: dict[str, tuple[Any, str]] = {
        "width": (plot.width * 2, "restyled"),
        "marker": ("" if plot.marker else "o", "restyled"),
        "line": ("--" if plot.line == "-" else "-", "restyled"),
        "title": (str(rng.choice(WORDS)), "rewritten"),
        "label": (str(rng.choice(WORDS)), "rewritten"),
        "legend": (not plot.legend, "removed" if plot.legend else "added"),
        "grid": (not plot.grid, "removed" if plot.grid else "added"),
        "high": (plot.high * 1.1, "moved"),
        "cmap": ("plasma", "recolored"),
    }
    value, kind = others[way]
    return Altered(replace(plot, **{way: value}), kind, way, 1)


def render(plot: Plot, how: Rendering) -> tuple[Image.Image, NDArray[np.float64]]:
    """The plot as a picture, and the boxes of its texts."""
    settings = {
        "font.family": plot.font, "text.hinting": how.hinting, "path.simplify": how.simplify,
        "path.snap": how.snap, "axes.unicode_minus": False,
    }  # fmt: skip
    with mpl.rc_context(settings):
        figure, axes = plt.subplots(figsize=(plot.size[0] / 80, plot.size[1] / 80), dpi=80)
        shift = how.shift / plot.size[1]
        figure.subplots_adjust(0.14, 0.16 + shift, 0.95, 0.88 + shift)
        columns = np.arange(len(plot.values[0]))
        for i, (row, color) in enumerate(zip(plot.values, plot.colors, strict=True)):
            name = f"{plot.label} {i}"
            if plot.form == "line":
                axes.plot(columns, row, plot.line, color=color, lw=plot.width, marker=plot.marker, label=name)
            elif plot.form == "scatter":
                axes.scatter(
                    columns, row, color=color, s=8 * plot.width, marker=plot.marker or "o", label=name
                )
            elif plot.form == "bar":
                axes.bar(columns + i * 0.25, row, 0.25, color=color, label=name)
            elif plot.form == "hist":
                axes.hist(row, bins=6, color=color, alpha=0.6, label=name)
        if plot.form == "image":
            axes.imshow(np.array(plot.values), cmap=plot.cmap, aspect="auto")
        elif plot.form != "hist":
            axes.set_ylim(min(map(min, plot.values)) - 1, plot.high)
        axes.set_title(plot.title)
        axes.set_ylabel(plot.label)
        if plot.grid:
            axes.grid(True)
        if plot.legend and plot.form != "image":
            axes.legend(loc="upper right")
        figure.canvas.draw()
        pixels = np.asarray(figure.canvas.buffer_rgba())[..., :3].copy()
        texts = [text for text in figure.findobj(mpl.text.Text) if text.get_text() and text.get_visible()]
        boxes = np.array([text.get_window_extent().extents for text in texts])
        plt.close(figure)
    return Image.fromarray(pixels), boxes


def draw(index: int, seed: int, out: Path) -> dict[str, Any] | None:
    """One pair and its truth; None where no pixel differs."""
    rng = np.random.default_rng([seed, 7, index])
    held = index % 4 == 3
    plot = random_plot(rng)
    usual = Rendering()
    other = usual
    if rng.random() < 0.6:
        other = Rendering(
            hinting=str(rng.choice(["force_autohint", "no_hinting", "default"])),
            shift=float(rng.choice([0, 0, 0.3, -0.3])),
            simplify=bool(rng.random() < 0.5),
        )
    made: Altered | None = Altered(plot, "noise", "none", 0.0)
    if other == usual or rng.random() < 0.3:
        made = changed_plot(rng, plot)
    if made is None:
        return None
    (before, boxes), (after, _) = render(plot, usual), render(made.plot, other)
    noisy, other_boxes = render(plot, other)
    if np.abs(boxes - other_boxes).max() > 1.0:
        return None
    visible = "no"
    box: list[int] | None = None
    if made.kind != "noise":
        step = difference(noisy, after)
        if not step.any():
            return None
        visible = visibly(step)
        rows, columns = np.flatnonzero((step > 10).any(axis=1)), np.flatnonzero((step > 10).any(axis=0))
        if len(rows):
            box = [int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1]
    if before.tobytes() == after.tobytes():
        return None
    name = f"plot-{seed}-{index:06d}"
    for end, picture in (("before", before), ("after", after)):
        picture.save(out / "images" / f"{name}_{end}.png", compress_level=1)
    return {
        "id": name, "held": held, "style": f"plot-{plot.form}", "font": plot.font, "scale": 1.0,
        "noise": "" if other == usual else "renderer",
        "kind": made.kind, "aspect": made.aspect, "size": made.size, "visible_change": visible,
        "before": f"images/{name}_before.png", "after": f"images/{name}_after.png",
        "element": plot.form, "box_before": box, "box": box, "moved": [],
    }  # fmt: skip


def visibly(step: NDArray[np.int16]) -> str:
    """Whether somebody who flips between two plots would see a difference of so many levels a pixel."""
    if np.count_nonzero(step > 10) >= 12 and step.max() > 40:
        return "yes"
    return "uncertain" if step.max(initial=0) > 6 else "no"


def difference(before: Image.Image, after: Image.Image) -> NDArray[np.int16]:
    """The largest channel's difference of each pixel."""
    steps: NDArray[np.int16] = np.abs(np.asarray(before).astype(np.int16) - np.asarray(after)).max(axis=2)
    return steps


def main() -> None:
    """Draws the pairs and says how many of each label there are."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path)
    parser.add_argument("--pairs", type=int, default=400)
    parser.add_argument("--first", type=int, default=0, help="number of the first pair")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    (options.out / "images").mkdir(parents=True, exist_ok=True)
    counts: dict[str, int] = {}
    with (options.out / "pairs.jsonl").open("w", encoding="utf-8") as lines:
        for index in range(options.first, options.first + options.pairs):
            record = draw(index, options.seed, options.out)
            key = "nothing to see" if record is None else record["visible_change"]
            counts[key] = counts.get(key, 0) + 1
            if record is not None:
                print(json.dumps(record), file=lines, flush=True)
    print(counts)


if __name__ == "__main__":
    main()
