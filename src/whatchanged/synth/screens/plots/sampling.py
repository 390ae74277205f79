"""Random plots."""

import math
from collections.abc import Sequence
from colorsys import hls_to_rgb
from dataclasses import replace
from typing import get_args

import numpy as np

from whatchanged.records import Split
from whatchanged.synth.screens.choices import magnitude, pick
from whatchanged.synth.screens.plots.plot import (
    Align,
    Axis,
    Dash,
    Legend,
    LegendPosition,
    Marker,
    Note,
    Plot,
    PlotForm,
    Series,
    Text,
)
from whatchanged.synth.screens.plots.themes import MAPS, NAMES, NOUNS, QUALITIES, THEMES, UNITS, theme
from whatchanged.synth.screens.words import Rng

FORMS: tuple[PlotForm, ...] = (
    "line",
    "line",
    "line",
    "scatter",
    "scatter",
    "bar",
    "bar",
    "barh",
    "area",
    "histogram",
    "image",
    "pie",
    "box",
)
LEGEND_POSITIONS: tuple[LegendPosition, ...] = get_args(LegendPosition)
DASHES: tuple[Dash, ...] = get_args(Dash)
MARKERS: tuple[Marker, ...] = ("circle", "square", "triangle", "diamond", "cross")


def words(rng: Rng) -> str:
    """A title."""
    said = f"{pick(rng, QUALITIES)} {pick(rng, NOUNS)}"
    if rng.random() < 0.4:
        said += f" by {pick(rng, ('region', 'month', 'group', 'device', 'method', 'sensor'))}"
    return said[0].upper() + said[1:] if rng.random() < 0.7 else said


def label(rng: Rng) -> str:
    """A label of an axis."""
    return f"{pick(rng, NOUNS)} {pick(rng, UNITS)}".strip()


def random_plot(rng: Rng, split: Split, fonts: Sequence[str]) -> Plot:
    """Any plot of the designs of a split, in one of these fonts."""
    form = pick(rng, FORMS)
    name = pick(rng, tuple(THEMES[split]))
    size = float(rng.choice([7, 8, 9, 9, 10, 11, 13]))
    series, categories, matrix = _data(rng, form, theme(name).palette)
    plot = Plot(
        form=form,
        theme=name,
        font=pick(rng, fonts),
        width=round(magnitude(rng, 180, 900)),
        height=round(magnitude(rng, 140, 600)),
        scale=float(rng.choice([1, 1, 1, 1.25, 2])),
        series=series,
        x=_flat_axis(rng, _ends(series, matrix, form), size),
        y=_upright_axis(rng, series, matrix, form, size),
        categories=categories,
        matrix=matrix,
        map=pick(rng, MAPS[split]),
        colorbar=form == "image" and rng.random() < 0.5,
        title=_title(rng, size) if rng.random() < 0.7 else None,
        grid=pick(rng, ("none", "none", "both", "y")) if form not in ("image", "pie") else "none",
        framed=rng.random() < 0.75,
    )
    return _decorated(rng, plot, size)


def _title(rng: Rng, size: float) -> Text:
    aligns: tuple[Align, ...] = ("center", "center", "left", "right")
    align = pick(rng, aligns)
    return Text(words(rng), size + float(rng.integers(0, 6)), bold=rng.random() < 0.3, align=align)


def _decorated(rng: Rng, plot: Plot, size: float) -> Plot:
    """With a legend, a note, a line across, error bars, at random."""
    several = len(plot.series) > 1 or plot.form == "pie"
    legend = None
    if plot.form not in ("image", "box") and rng.random() < (0.65 if several else 0.25):
        legend = Legend(pick(rng, LEGEND_POSITIONS), rng.random() < 0.7, size)
    note = None
    if plot.form in ("line", "scatter", "area", "bar") and rng.random() < 0.2:
        note = Note(pick(rng, NOUNS), float(rng.uniform(0.1, 0.7)), float(rng.uniform(0.2, 0.9)), size)
    across = None
    if plot.form in ("line", "scatter", "bar", "area") and rng.random() < 0.2:
        across = float(rng.uniform(plot.y.low + 0.2 * _span(plot.y), plot.y.high - 0.2 * _span(plot.y)))
    errors: tuple[float, ...] = ()
    if plot.form == "bar" and len(plot.series) == 1 and rng.random() < 0.3:
        errors = tuple(float(v) for v in rng.uniform(0.02, 0.08, len(plot.categories)) * _span(plot.y))
    room = max(1.0, size / 9)  # larger letters need more
    left = 0.22 * room if plot.form == "barh" else 0.1 + 26 * room / plot.width
    bottom = 0.08 + (34 if plot.x.label else 20) * room / plot.height
    right = 0.05 if legend is None or legend.position != "right" else 0.28
    top = 0.05 + ((6 + 1.4 * plot.title.size) / plot.height if plot.title else 0)
    return replace(
        plot, legend=legend, note=note, line_at=across, errors=errors, margins=(left, bottom, right, top)
    )


def _span(axis: Axis) -> float:
    return axis.high - axis.low


NumberRows = tuple[tuple[float, ...], ...]


def _data(
    rng: Rng, form: PlotForm, palette: Sequence[str]
) -> tuple[tuple[Series, ...], tuple[str, ...], NumberRows]:
    """Series, categories, matrix."""
    if form == "image":
        shape = (int(rng.integers(3, 12)), int(rng.integers(3, 14)))
        rows = rng.random(shape)
        return (), (), tuple(tuple(float(v) for v in row) for row in rows)
    count = {"pie": 1, "box": 1, "histogram": 1}.get(form, int(rng.integers(1, 5)))
    colors = _colors(rng, count) or [palette[i] for i in rng.permutation(len(palette))[:count]]
    names = [NAMES[i] for i in rng.permutation(len(NAMES))]
    by_category = form in ("bar", "barh", "pie", "box")
    points = int(rng.integers(3, 9 if by_category else 32))
    categories = tuple(names[count : count + points]) if by_category else ()
    scale = float(rng.choice([1, 10, 100, 1000]))
    made = []
    for number in range(count):
        xs: tuple[float, ...] = ()
        if form == "scatter":
            xs = tuple(float(v) for v in rng.normal(number, 1.2, points) * 3)
            values = rng.normal(number, 1, points) + 5
        elif form in ("bar", "barh", "pie", "histogram"):
            values = rng.gamma(3, 1.2, points) + 0.4
        elif form == "box":
            values = rng.normal(5, 1, points)
        else:
            values = np.cumsum(rng.normal(0, 1, points))
            values = values - values.min() + rng.uniform(0.5, 4)
        made.append(
            Series(
                names[number],
                tuple(float(v) for v in values * scale),
                colors[number],
                xs,
                float(rng.choice([0.8, 1.0, 1.5, 2.0, 3.0])),
                pick(rng, DASHES) if rng.random() < 0.3 else "solid",
                pick(rng, MARKERS)
                if form == "scatter" or (form == "line" and rng.random() < 0.35)
                else "none",
                float(rng.uniform(4, 9)),
                float(rng.choice([1, 1, 0.7, 0.4])) if form in ("scatter", "area", "histogram") else 1.0,
            )
        )
    return tuple(made), categories, ()


def _colors(rng: Rng, count: int) -> list[str]:
    """Colours of somebody's own in half of the plots: steps around the wheel, or shades of one; else none."""
    if rng.random() < 0.5:
        return []
    hue, vivid, light = rng.random(), rng.uniform(0.25, 0.9), rng.uniform(0.35, 0.62)
    step = float(rng.choice([0.0, 0.08, 0.17, 0.38]))
    steps = [(hue + i * step) % 1 for i in range(count)]
    shades = [hls_to_rgb(h, light + (0 if step else 0.09 * i), vivid) for i, h in enumerate(steps)]
    return ["#" + "".join(f"{round(255 * channel):02x}" for channel in color) for color in shades]


def _ends(series: Sequence[Series], matrix: NumberRows, form: PlotForm) -> tuple[float, float]:
    """The least and the largest number along the x axis."""
    if form == "image":
        return -0.5, len(matrix[0]) - 0.5
    if form == "barh":
        return 0.0, 1.1 * max(max(one.values) for one in series)
    if form == "scatter":
        numbers = [x for one in series for x in one.x]
        return min(numbers) - 0.5, max(numbers) + 0.5
    points = len(series[0].values)
    if form in ("bar", "box", "histogram"):
        return -0.6, points - 0.4
    return -0.03 * points, points - 1 + 0.03 * points


def nice_step(span: float, wanted: int) -> float:
    """1, 2 or 5 times a power of ten, so that about so many steps make the span."""
    rough = span / wanted
    power = 10.0 ** math.floor(math.log10(rough))
    return next(times * power for times in (1, 2, 2.5, 5, 10) if times * power >= rough * 0.999)


def decimals_of(step: float) -> int:
    """The digits behind the point that a step needs."""
    return next(digits for digits in range(12) if abs(step * 10**digits - round(step * 10**digits)) < 1e-6)


def _axis(rng: Rng, low: float, high: float, size: float, named: bool) -> Axis:
    step = nice_step(high - low, int(rng.integers(4, 8)))
    text = Text(label(rng), size) if named else None
    return Axis(low, high, step, decimals_of(step), text, size - 1, float(rng.choice([0, 3.5, 3.5, 5])))


def _flat_axis(rng: Rng, ends: tuple[float, float], size: float) -> Axis:
    return _axis(rng, *ends, size, rng.random() < 0.6)


def _upright_axis(
    rng: Rng, series: Sequence[Series], matrix: NumberRows, form: PlotForm, size: float
) -> Axis:
    if form == "image":
        ends = (-0.5, len(matrix) - 0.5)
    elif form == "barh":
        ends = (-0.6, len(series[0].values) - 0.4)
    else:
        values = [value for one in series for value in one.values]
        low, high = min(values), max(values)
        room = 0.08 * (high - low)
        zero = form in ("bar", "histogram", "area", "pie")
        spread = 0.45 * (high - low) if form == "box" else 0.0
        ends = (0.0 if zero else low - room - spread, high + 2 * room + spread)
    return _axis(rng, *ends, size, rng.random() < 0.6)
