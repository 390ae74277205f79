"""Changes to the content of a plot: numbers, series, words, axes; from obvious to barely visible."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from whatchanged.synth.screens.choices import magnitude, pick
from whatchanged.synth.screens.edits import Edit
from whatchanged.synth.screens.plots.plot import Axis, Legend, Note, Plot, Series, Text
from whatchanged.synth.screens.plots.sampling import LEGEND_POSITIONS, decimals_of, label, nice_step, words
from whatchanged.synth.screens.plots.themes import MAPS, NAMES, NOUNS, theme
from whatchanged.synth.screens.words import Rng

EditedPlot = tuple[Plot, Edit] | None
PlotWay = Callable[[Rng, Plot], EditedPlot]

BARS = ("bar", "barh", "histogram")


def series_element(plot: Plot) -> str:
    """Return the name of a series of this plot."""
    named = {"area": "filled area", "image": "heat map", "pie": "chart", "line": "series"}
    return named.get(plot.form, "series")


def item_element(plot: Plot) -> str:
    """Return the name of one number of this plot."""
    return {"pie": "slice", "image": "heat map", **dict.fromkeys(BARS, "chart bar")}.get(plot.form, "point")


def with_series(plot: Plot, number: int, one: Series) -> Plot:
    """The plot with one series replaced."""
    return replace(plot, series=(*plot.series[:number], one, *plot.series[number + 1 :]))


def any_series(rng: Rng, plot: Plot) -> tuple[int, Series]:
    """One of the series, with its number."""
    number = int(rng.integers(len(plot.series)))
    return number, plot.series[number]


def value(rng: Rng, plot: Plot) -> EditedPlot:
    """One number is another: a point moves, a bar is longer, a cell has another colour."""
    if plot.form == "image":
        return _cell(rng, plot)
    if plot.form in ("pie", "box"):
        return None
    number, one = any_series(rng, plot)
    place = int(rng.integers(len(one.values)))
    along = plot.x if plot.form == "barh" else plot.y
    step = magnitude(rng, 0.03, 0.6) * (along.high - along.low) * (1 if rng.random() < 0.5 else -1)
    new = one.values[place] + step
    if not along.low < new < along.high or (plot.form in BARS and new <= 0):
        return None
    changed = replace(one, values=(*one.values[:place], new, *one.values[place + 1 :]))
    key = (f"item {number} {place}",)
    if plot.form in BARS:
        aspect = "width" if plot.form == "barh" else "height"
        edit = Edit("resized", "chart bar", aspect, key, name=_item_name(plot, one, place))
    else:
        trimmed = plot.form != "scatter"
        keys = key if not trimmed else (*key, *(f"item {number} {i}" for i in (place - 1, place + 1)))
        edit = Edit("moved", "point", "point", keys, trimmed=trimmed, name=one.name)
    return with_series(plot, number, changed), edit


def _item_name(plot: Plot, one: Series, index: int) -> str:
    return plot.categories[index] if index < len(plot.categories) else one.name


def _cell(rng: Rng, plot: Plot) -> EditedPlot:
    row, column = int(rng.integers(len(plot.matrix))), int(rng.integers(len(plot.matrix[0])))
    numbers = [list(row) for row in plot.matrix]
    new = float(np.clip(numbers[row][column] + magnitude(rng, 0.1, 0.9) * rng.choice([-1, 1]), 0, 1))
    if abs(new - numbers[row][column]) < 0.05:
        return None
    numbers[row][column] = new
    changed = replace(plot, matrix=tuple(tuple(row) for row in numbers))
    return changed, Edit("recolored", "heat map", "fill", (f"item {row} {column}",))


def point(rng: Rng, plot: Plot) -> EditedPlot:
    """One point of a cloud is added or removed."""
    if plot.form != "scatter":
        return None
    number, one = any_series(rng, plot)
    if rng.random() < 0.5:
        x = float(rng.uniform(*_inner(plot.x)))
        y = float(rng.uniform(*_inner(plot.y)))
        more = replace(one, x=(*one.x, x), values=(*one.values, y))
        edit = Edit("added", "point", "point", (f"item {number} {len(one.values)}",), name=one.name)
        return with_series(plot, number, more), edit
    if len(one.values) < 3:
        return None
    last = len(one.values) - 1  # so that the others keep their numbers
    less = replace(one, x=one.x[:last], values=one.values[:last])
    return with_series(plot, number, less), Edit(
        "removed", "point", "point", (f"item {number} {last}",), name=one.name
    )


def _inner(axis: Axis) -> tuple[float, float]:
    room = 0.08 * (axis.high - axis.low)
    return axis.low + room, axis.high - room


def whole_series(rng: Rng, plot: Plot) -> EditedPlot:
    """The last series is removed, or one more is added."""
    if plot.form not in ("line", "scatter", "area"):
        return None
    last = len(plot.series) - 1
    if len(plot.series) > 1 and rng.random() < 0.5:
        edit = Edit(
            "removed", series_element(plot), "series", (f"series {last}",), name=plot.series[last].name
        )
        return replace(plot, series=plot.series[:last]), edit
    if len(plot.series) >= 4:
        return None
    one = plot.series[last]
    low, high = _inner(plot.y)
    values = np.clip(
        np.array(one.values)[::-1] + rng.normal(0, 0.1, len(one.values)) * (high - low), low, high
    )
    used = {series.color for series in plot.series}
    free = [color for color in theme(plot.theme).palette if color not in used]
    if not free:
        return None
    name = pick(rng, [name for name in NAMES if name not in {series.name for series in plot.series}])
    new = replace(one, values=tuple(float(v) for v in values), color=pick(rng, free), name=name)
    key = (f"series {last + 1}",)
    return replace(plot, series=(*plot.series, new)), Edit(
        "added", series_element(plot), "series", key, name=name
    )


def order(rng: Rng, plot: Plot) -> EditedPlot:
    """Two bars or slices change places."""
    if plot.form not in ("bar", "barh", "pie") or len(plot.series) != 1 or len(plot.categories) < 3:
        return None
    first, second = sorted(rng.permutation(len(plot.categories))[:2].tolist())
    one = plot.series[0]
    values, categories = list(one.values), list(plot.categories)
    for row in (values, categories):
        row[first], row[second] = row[second], row[first]
    changed = replace(with_series(plot, 0, replace(one, values=tuple(values))), categories=tuple(categories))
    keys = (f"item 0 {first}", f"item 0 {second}")
    return changed, Edit("moved", item_element(plot), "order", keys, trimmed=True)


def limits(rng: Rng, plot: Plot) -> EditedPlot:
    """An axis ends elsewhere."""
    if plot.form in ("pie", "image"):
        return None
    upright = plot.form != "barh" and (plot.form != "scatter" or rng.random() < 0.6)
    axis = plot.y if upright else plot.x
    step = magnitude(rng, 0.03, 0.5) * (axis.high - axis.low)
    wider = rng.random() < 0.7
    high = axis.high + step if wider else axis.high - 0.4 * step
    new = replace(axis, high=high)
    changed = _with_axis(plot, upright, new)
    keys = ("plot area", "y ticks" if upright else "x ticks")
    return changed, Edit("moved", "axis", "axis limit", keys, trimmed=True)


def _with_axis(plot: Plot, upright: bool, axis: Axis) -> Plot:
    return replace(plot, y=axis) if upright else replace(plot, x=axis)


def ticks(rng: Rng, plot: Plot) -> EditedPlot:
    """An axis has other ticks, or other digits behind the point."""
    if plot.form in ("pie", "box"):
        return None
    upright = plot.form != "barh"
    axis = plot.y if upright else plot.x
    key = ("y ticks" if upright else "x ticks",)
    if rng.random() < 0.5:
        edit = Edit("rewritten", "tick label", "number", key)
        more = replace(axis, decimals=axis.decimals + int(rng.integers(1, 3)))
        return _with_axis(plot, upright, more), edit
    wanted = (axis.high - axis.low) / axis.step
    step = nice_step(axis.high - axis.low, max(2, int(wanted * rng.choice([0.5, 1.8]))))
    if step == axis.step:
        return None
    other = replace(axis, step=step, decimals=max(decimals_of(step), axis.decimals))
    fewer = step > axis.step
    edit = Edit("removed" if fewer else "added", "tick label", "text", key)
    return _with_axis(plot, upright, other), edit


TEXTS = ("title", "x label", "y label")


def text_of(plot: Plot, key: str) -> Text | None:
    """The title, or the label of an axis."""
    return {"title": plot.title, "x label": plot.x.label, "y label": plot.y.label}[key]


def with_text(plot: Plot, key: str, text: Text | None) -> Plot:
    """The plot with another title, or label of an axis."""
    if key == "title":
        return replace(plot, title=text)
    if key == "x label":
        return replace(plot, x=replace(plot.x, label=text))
    return replace(plot, y=replace(plot.y, label=text))


def text_element(key: str) -> str:
    """What a text is called."""
    return "plot title" if key == "title" else "axis label"


def text_words(rng: Rng, plot: Plot) -> EditedPlot:
    """A title or a label says something else."""
    key = pick(rng, TEXTS)
    text = text_of(plot, key)
    if text is None or (key != "title" and not plot.counted):
        return None
    if rng.random() < 0.4:
        at = int(rng.integers(len(text.words)))
        new = text.words[:at] + pick(rng, "aeinorst") + text.words[at + 1 :]  # one letter
    else:
        new = words(rng) if key == "title" else label(rng)
    if new == text.words:
        return None
    edit = Edit(
        "rewritten", text_element(key), "text", (key,), {"text_before": text.words, "text_after": new}
    )
    return with_text(plot, key, replace(text, words=new)), edit


def text_there(rng: Rng, plot: Plot) -> EditedPlot:
    """A title or a label is added or removed."""
    key = pick(rng, TEXTS)
    text = text_of(plot, key)
    if key != "title" and not plot.counted:
        return None
    if text is not None:
        edit = Edit("removed", text_element(key), "text", (key,), {"text_before": text.words})
        return with_text(plot, key, None), edit
    new = Text(words(rng), plot.y.tick_size + 3) if key == "title" else Text(label(rng), plot.y.tick_size + 1)
    return with_text(plot, key, new), Edit(
        "added", text_element(key), "text", (key,), {"text_after": new.words}
    )


def category(rng: Rng, plot: Plot) -> EditedPlot:
    """A bar, box or slice has another name."""
    if not plot.categories or (plot.form == "pie" and plot.legend):
        return None
    place = int(rng.integers(len(plot.categories)))
    old, new = plot.categories[place], pick(rng, [name for name in NAMES if name not in plot.categories])
    categories = (*plot.categories[:place], new, *plot.categories[place + 1 :])
    keys = (f"category {place}",)
    edit = Edit("rewritten", "tick label", "label", keys, {"text_before": old, "text_after": new})
    return replace(plot, categories=categories), edit


def legend_there(rng: Rng, plot: Plot) -> EditedPlot:
    """The legend is added or removed."""
    if plot.form in ("image", "box", "pie"):
        return None
    if plot.legend:
        return replace(plot, legend=None), Edit("removed", "legend", "legend", ("legend",))
    new = Legend(pick(rng, LEGEND_POSITIONS[:4]), rng.random() < 0.7, plot.y.tick_size)
    return replace(plot, legend=new), Edit("added", "legend", "legend", ("legend",))


def legend_position(rng: Rng, plot: Plot) -> EditedPlot:
    """The legend stands elsewhere."""
    if not plot.legend or plot.legend.position == "right":
        return None
    place = pick(rng, [place for place in LEGEND_POSITIONS[:4] if place != plot.legend.position])
    return replace(plot, legend=replace(plot.legend, position=place)), Edit(
        "moved", "legend", "place", ("legend",)
    )


def legend_label(rng: Rng, plot: Plot) -> EditedPlot:
    """A series has another name in the legend."""
    if not plot.legend or not plot.series or plot.form == "pie":
        return None
    number, one = any_series(rng, plot)
    new = pick(rng, [name for name in NAMES if name not in {series.name for series in plot.series}])
    edit = Edit(
        "rewritten",
        "legend entry",
        "label",
        (f"legend label {number}",),
        {"text_before": one.name, "text_after": new},
    )
    return with_series(plot, number, replace(one, name=new)), edit


def note(rng: Rng, plot: Plot) -> EditedPlot:
    """A note in the plot area is added, removed, moved or rewritten."""
    if plot.form in ("pie", "image"):
        return None
    if plot.note is None:
        new = Note(
            pick(rng, NOUNS), float(rng.uniform(0.1, 0.7)), float(rng.uniform(0.2, 0.9)), plot.y.tick_size
        )
        return replace(plot, note=new), Edit(
            "added", "annotation", "text", ("note",), {"text_after": new.words}
        )
    old = plot.note
    way = pick(rng, ("removed", "moved", "rewritten"))
    if way == "removed":
        return replace(plot, note=None), Edit(
            "removed", "annotation", "text", ("note",), {"text_before": old.words}
        )
    if way == "moved":
        at = (
            old.x + magnitude(rng, 0.01, 0.3) * rng.choice([-1, 1]),
            old.y + magnitude(rng, 0.01, 0.3) * rng.choice([-1, 1]),
        )
        if not (0.02 < at[0] < 0.8 and 0.05 < at[1] < 0.92):
            return None
        changed = replace(old, x=float(at[0]), y=float(at[1]))
        return replace(plot, note=changed), Edit("moved", "annotation", "position", ("note",))
    said = pick(rng, [noun for noun in NOUNS if noun != old.words])
    values = {"text_before": old.words, "text_after": said}
    return replace(plot, note=replace(old, words=said)), Edit(
        "rewritten", "annotation", "text", ("note",), values
    )


def line_across(rng: Rng, plot: Plot) -> EditedPlot:
    """A line across the plot area is added, removed, or stands at another height."""
    if plot.form not in ("line", "scatter", "bar", "area"):
        return None
    low, high = _inner(plot.y)
    key = ("reference line",)
    if plot.line_at is None:
        return replace(plot, line_at=float(rng.uniform(low, high))), Edit("added", "line", "element", key)
    if rng.random() < 0.5:
        return replace(plot, line_at=None), Edit("removed", "line", "element", key)
    new = plot.line_at + magnitude(rng, 0.015, 0.4) * (plot.y.high - plot.y.low) * rng.choice([-1, 1])
    if not low < new < high:
        return None
    return replace(plot, line_at=float(new)), Edit("moved", "line", "position", key)


def errors(rng: Rng, plot: Plot) -> EditedPlot:
    """Error bars are added or removed."""
    if plot.form != "bar" or len(plot.series) != 1:
        return None
    if plot.errors:
        return replace(plot, errors=()), Edit("removed", "error bar", "element", ("error bars",))
    sizes = rng.uniform(0.02, 0.08, len(plot.categories)) * (plot.y.high - plot.y.low)
    return replace(plot, errors=tuple(float(v) for v in sizes)), Edit(
        "added", "error bar", "element", ("error bars",)
    )


def color_bar(rng: Rng, plot: Plot) -> EditedPlot:
    """An image has another colour map."""
    if plot.form != "image":
        return None
    split = next(split for split, maps in MAPS.items() if plot.map in maps)
    new = pick(rng, [name for name in MAPS[split] if name != plot.map])
    return replace(plot, map=new), Edit("recolored", "heat map", "colour map", ("series 0",))


WAYS: tuple[tuple[PlotWay, float], ...] = (
    (value, 4),
    (point, 2),
    (whole_series, 1.5),
    (order, 1),
    (limits, 1),
    (ticks, 1.5),
    (text_words, 3),
    (text_there, 1.5),
    (category, 1),
    (legend_there, 1),
    (legend_position, 1),
    (legend_label, 1),
    (note, 1),
    (line_across, 1),
    (errors, 0.5),
    (color_bar, 1.5),
)
"""Every change to what a plot shows, with how often it is drawn."""
