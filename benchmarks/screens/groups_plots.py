"""Draws the batches of plots of ``groups.py``: plots of one theme, each with one of one to five changes."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whatchanged.records import Split
from whatchanged.synth.screens.plots.family import MatplotlibMaker
from whatchanged.synth.screens.plots.plot import Legend, Note, Plot, Text
from whatchanged.synth.screens.plots.themes import THEMES

Rng = np.random.Generator
Way = Callable[[Plot], Plot]
"""Alters a plot; the result equals the plot where there is nothing to alter."""


def _text(change: Callable[[Text], Text]) -> Way:
    """A change of the title."""
    return lambda plot: plot if plot.title is None else replace(plot, title=change(plot.title))


def _axes(**fields: Any) -> Way:
    """A change of both axes."""
    return lambda plot: replace(plot, x=replace(plot.x, **fields), y=replace(plot.y, **fields))


def _series(**fields: object) -> Way:
    """A change of every series."""
    return lambda plot: replace(plot, series=tuple(replace(one, **fields) for one in plot.series))  # type: ignore[arg-type]


def _recolored(colors: tuple[str, ...]) -> Way:
    """Other colours of the series, in order."""

    def change(plot: Plot) -> Plot:
        series = [replace(one, color=colors[k % len(colors)]) for k, one in enumerate(plot.series)]
        return replace(plot, series=tuple(series))

    return change


def _legend(change: Callable[[Legend], Legend]) -> Way:
    """A change of the legend."""
    return lambda plot: plot if plot.legend is None else replace(plot, legend=change(plot.legend))


def _without_labels(plot: Plot) -> Plot:
    return replace(plot, x=replace(plot.x, label=None), y=replace(plot.y, label=None))


def ways(rng: Rng) -> dict[str, Way]:
    """Changes of the style of plots, by name, with random amounts."""
    factor = float(rng.choice([0.7, 1.3, 1.6]))
    hue = "#" + "".join(f"{value:02x}" for value in rng.integers(40, 220, 3))
    left = float(rng.uniform(0.2, 0.26))
    palettes = [theme.palette for theme in THEMES["train"].values()]
    palette = palettes[int(rng.integers(len(palettes)))]
    return {
        "grid added": lambda plot: replace(plot, grid="both"),
        "grid removed": lambda plot: replace(plot, grid="none"),
        "grid colour": lambda plot: replace(plot, grid_color=hue),
        "grid width": lambda plot: replace(plot, grid_width=2.2),
        "title size": _text(lambda text: replace(text, size=text.size * factor)),
        "title bold": _text(lambda text: replace(text, bold=not text.bold)),
        "title left": _text(lambda text: replace(text, align="left")),
        "title colour": _text(lambda text: replace(text, color=hue)),
        "title removed": lambda plot: replace(plot, title=None),
        "tick labels": _axes(tick_size=float(rng.choice([6.0, 12.0, 14.0]))),
        "tick length": _axes(tick_length=8.0),
        "axis labels removed": _without_labels,
        "legend removed": lambda plot: replace(plot, legend=None),
        "legend moved": _legend(lambda legend: replace(legend, position="bottom-left")),
        "legend frame": _legend(lambda legend: replace(legend, framed=not legend.framed)),
        "line width": _series(width=1.5 + 2 * factor),
        "dashes": _series(dash="dashed"),
        "markers": _series(marker="square"),
        "marker size": _series(size=6.0 * factor),
        "opacity": _series(opacity=0.5),
        "palette": _recolored(palette),
        "one colour": _recolored((hue,)),
        "map": lambda plot: replace(plot, map="plasma"),
        "panel": lambda plot: replace(plot, panel=hue),
        "frame": lambda plot: replace(plot, framed=not plot.framed),
        "margins": lambda plot: replace(plot, margins=(left, *plot.margins[1:])),
        "font": lambda plot: replace(plot, font="DejaVu Serif"),
        "larger": lambda plot: replace(plot, width=round(plot.width * 1.15)),
        "note added": lambda plot: replace(plot, note=Note("sample", 0.1, 0.9)),
    }


def plot_pairs(
    seed: int, number: int, pairs: int
) -> Iterator[tuple[bool, str, NDArray[np.uint8], NDArray[np.uint8]]]:
    """Whether each pair of a batch is held out, its cause and its pictures; plots of one theme and font."""
    rng = np.random.default_rng([seed, 12, number])
    split: Split = "val" if number % 4 == 3 else "train"
    maker = MatplotlibMaker()
    possible = ways(rng)
    count = int(rng.integers(1, 6))
    chosen = [list(possible)[k] for k in rng.permutation(len(possible))[:count]]
    shares = rng.dirichlet(np.full(count, 0.8))
    style = maker.document(rng, split)
    size = (int(rng.integers(240, 600)), int(rng.integers(200, 420)))
    for _ in range(pairs):
        plot = maker.document(rng, split)
        if plot.theme != style.theme:
            plot = _recolored(THEMES[split][style.theme].palette)(plot)
        plot = replace(plot, theme=style.theme, font=style.font, scale=1.0)
        plot = replace(plot, width=size[0], height=size[1]) if rng.random() < 0.7 else plot
        cause = chosen[int(rng.choice(count, p=shares))]
        other = possible[cause](plot)
        if other != plot:
            yield split != "train", cause, *(maker.draw(one, maker.usual).pixels for one in (plot, other))
