"""Changes to the style of a plot: colours, widths, markers, fonts, grid, frame, size."""

from dataclasses import replace
from typing import get_args

from whatchanged.synth.screens.choices import magnitude, pick, shade
from whatchanged.synth.screens.edits import Edit
from whatchanged.synth.screens.plots.changes import (
    BARS,
    TEXTS,
    EditedPlot,
    PlotWay,
    any_series,
    item_element,
    text_element,
    text_of,
    with_series,
    with_text,
)
from whatchanged.synth.screens.plots.plot import Align, Plot
from whatchanged.synth.screens.plots.sampling import DASHES, MARKERS
from whatchanged.synth.screens.plots.themes import theme
from whatchanged.synth.screens.words import Rng
from whatchanged.worlds.screens.kinds import Kind


def other_color(rng: Rng, plot: Plot, color: str) -> str:
    """A colour of the palette that no series has, or another shade of this one."""
    if rng.random() < 0.5:
        return shade(rng, color, 14, 160)
    used = {one.color for one in plot.series}
    return pick(
        rng, [one for one in theme(plot.theme).palette if one not in used] or [shade(rng, color, 14, 160)]
    )


def series_color(rng: Rng, plot: Plot) -> EditedPlot:
    """A series has another colour."""
    if plot.form in ("image", "pie"):
        return None
    number, one = any_series(rng, plot)
    new = other_color(rng, plot, one.color)
    if new == one.color:
        return None
    element = {"box": "series", "area": "filled area", **dict.fromkeys(BARS, "chart bar")}.get(
        plot.form, "series"
    )
    aspect = "ink" if plot.form in ("line", "scatter") else "fill"
    values = {"color_before": one.color, "color_after": new}
    edit = Edit(
        "recolored",
        element,
        aspect,
        (f"series {number}",),
        values,
        trimmed=plot.form != "line",
        name=one.name,
    )
    return with_series(plot, number, replace(one, color=new)), edit


def item_color(rng: Rng, plot: Plot) -> EditedPlot:
    """One bar, box or slice has another colour."""
    if plot.form not in (*BARS, "pie", "box"):
        return None
    number, one = any_series(rng, plot)
    place = int(rng.integers(len(one.values)))
    palette = theme(plot.theme).palette
    old = dict(one.colors).get(place, palette[place % len(palette)] if plot.form == "pie" else one.color)
    new = other_color(rng, plot, old)
    if new == old:
        return None
    colors = (*(pair for pair in one.colors if pair[0] != place), (place, new))
    name = plot.categories[place] if plot.categories else one.name
    values = {"color_before": old, "color_after": new}
    element = "series" if plot.form == "box" else item_element(plot)
    edit = Edit(
        "recolored",
        element,
        "fill",
        (f"item {number} {place}",),
        values,
        trimmed=plot.form in ("box", "pie"),
        name=name,
    )
    return with_series(plot, number, replace(one, colors=colors)), edit


def opacity(rng: Rng, plot: Plot) -> EditedPlot:
    """A series lets more or less through."""
    if plot.form not in ("scatter", "histogram", "line"):
        return None
    number, one = any_series(rng, plot)
    new = pick(rng, [value for value in (1.0, 0.8, 0.6, 0.35) if abs(value - one.opacity) > 0.1])
    values = {"amount_before": one.opacity, "amount_after": new}
    edit = Edit(
        "recolored",
        "chart bar" if plot.form == "histogram" else "series",
        "opacity",
        (f"series {number}",),
        values,
        name=one.name,
    )
    return with_series(plot, number, replace(one, opacity=new)), edit


def line_width(rng: Rng, plot: Plot) -> EditedPlot:
    """A line is thicker or thinner."""
    if plot.form not in ("line", "box"):
        return None
    number, one = any_series(rng, plot)
    factor = magnitude(rng, 1.3, 4) ** pick(rng, (1, 1, -1))
    new = round(min(8.0, max(0.4, one.width * factor)), 1)
    pixels = 96 / 72 * plot.scale
    values = {"amount_before": round(one.width * pixels, 1), "amount_after": round(new * pixels, 1)}
    edit = Edit("restyled", "series", "line width", (f"series {number}",), values, name=one.name)
    return with_series(plot, number, replace(one, width=new)), edit


def line_style(rng: Rng, plot: Plot) -> EditedPlot:
    """A line is dashed, dotted, or no longer."""
    if plot.form != "line":
        return None
    number, one = any_series(rng, plot)
    new = pick(rng, [dash for dash in DASHES if dash != one.dash])
    dashed = {"on_before": one.dash == "dashed", "on_after": new == "dashed"}
    values = dashed if any(dashed.values()) else {}  # nothing is said of dots
    edit = Edit("restyled", "series", "line style", (f"series {number}",), values, name=one.name)
    return with_series(plot, number, replace(one, dash=new)), edit


def marker(rng: Rng, plot: Plot) -> EditedPlot:
    """Markers have another shape or size, or are added or removed."""
    if plot.form not in ("line", "scatter"):
        return None
    number, one = any_series(rng, plot)
    key = (f"series {number}",)
    if one.marker == "none":
        changed = replace(one, marker=pick(rng, MARKERS))
        return with_series(plot, number, changed), Edit("added", "marker", "element", key, name=one.name)
    way = pick(rng, ("shape", "size", "size", "gone"))
    if way == "gone" and plot.form == "line":
        changed = replace(one, marker="none")
        return with_series(plot, number, changed), Edit("removed", "marker", "element", key, name=one.name)
    if way == "size":
        new = round(one.size * magnitude(rng, 1.2, 2.5) ** pick(rng, (1, -1)), 1)
        pixels = 96 / 72 * plot.scale
        values = {"amount_before": round(one.size * pixels, 1), "amount_after": round(new * pixels, 1)}
        edit = Edit("resized", "marker", "marker", key, values, name=one.name)
        return with_series(plot, number, replace(one, size=new)), edit
    shape = pick(rng, [name for name in MARKERS if name != one.marker])
    edit = Edit("restyled", "marker", "marker shape", key, name=one.name)
    return with_series(plot, number, replace(one, marker=shape)), edit


def text_look(rng: Rng, plot: Plot) -> EditedPlot:
    """A title or a label has another size, colour, weight or place."""
    key = pick(rng, TEXTS)
    text = text_of(plot, key)
    if text is None or (key != "title" and not plot.counted):
        return None
    element = text_element(key)
    way = pick(rng, ("size", "size", "color", "bold", "align"))
    if way == "size":
        new = round(text.size * magnitude(rng, 1.12, 1.7) ** pick(rng, (1, -1)), 1)
        edit = Edit("resized", element, "text size", (key,))
        return with_text(plot, key, replace(text, size=max(6.0, new))), edit
    if way == "color":
        old = text.color or theme(plot.theme).ink
        values = {"color_before": old, "color_after": shade(rng, old, 40, 200)}
        changed = replace(text, color=str(values["color_after"]))
        return with_text(plot, key, changed), Edit("recolored", element, "ink", (key,), values)
    if way == "bold":
        return with_text(plot, key, replace(text, bold=not text.bold)), Edit(
            "restyled", element, "weight", (key,)
        )
    if key != "title":
        return None
    other = pick(rng, [align for align in get_args(Align) if align != text.align])
    return with_text(plot, key, replace(text, align=other)), Edit("moved", element, "alignment", (key,))


def tick_size(rng: Rng, plot: Plot) -> EditedPlot:
    """The tick labels of an axis are larger or smaller."""
    if plot.form == "pie":
        return None
    upright = rng.random() < 0.5
    axis = plot.y if upright else plot.x
    new = replace(
        axis, tick_size=max(5.0, round(axis.tick_size * magnitude(rng, 1.12, 1.5) ** pick(rng, (1, -1)), 1))
    )
    edit = Edit("resized", "tick label", "text size", ("y ticks" if upright else "x ticks",))
    return (replace(plot, y=new) if upright else replace(plot, x=new)), edit


def grid_there(rng: Rng, plot: Plot) -> EditedPlot:
    """The grid is added or removed."""
    if plot.form in ("pie", "image"):
        return None
    if plot.grid == "none":
        return replace(plot, grid="both"), Edit("added", "grid", "grid", ("plot area",), trimmed=True)
    return replace(plot, grid="none"), Edit("removed", "grid", "grid", ("plot area",), trimmed=True)


def grid_look(rng: Rng, plot: Plot) -> EditedPlot:
    """The grid has another colour or width."""
    if plot.grid == "none":
        return None
    if rng.random() < 0.5:
        old = plot.grid_color or theme(plot.theme).grid
        values = {"color_before": old, "color_after": shade(rng, old, 30, 160)}
        edit = Edit("recolored", "grid", "ink", ("plot area",), values, trimmed=True)
        return replace(plot, grid_color=str(values["color_after"])), edit
    width = plot.grid_width * magnitude(rng, 1.6, 3)
    edit = Edit("restyled", "grid", "line width", ("plot area",), trimmed=True)
    return replace(plot, grid_width=width), edit


def frame(rng: Rng, plot: Plot) -> EditedPlot:
    """The upper and right side of the frame are added or removed."""
    if plot.form == "pie":
        return None
    kind: Kind = "removed" if plot.framed else "added"
    return replace(plot, framed=not plot.framed), Edit(kind, "frame", "element", ("plot area",))


def legend_frame(rng: Rng, plot: Plot) -> EditedPlot:
    """The legend is framed, or no longer."""
    if not plot.legend:
        return None
    changed = replace(plot.legend, framed=not plot.legend.framed)
    return replace(plot, legend=changed), Edit("restyled", "legend", "border width", ("legend",))


def panel(rng: Rng, plot: Plot) -> EditedPlot:
    """The plot area has another colour."""
    if plot.form in ("pie", "image"):
        return None
    old = plot.panel or theme(plot.theme).panel
    new = shade(rng, old, 8, 120)
    edit = Edit("recolored", "chart", "fill", ("plot area",), {"color_before": old, "color_after": new})
    return replace(plot, panel=new), edit


def margin(rng: Rng, plot: Plot) -> EditedPlot:
    """The plot area is wider or narrower, higher or lower."""
    side = int(rng.integers(4))
    step = magnitude(rng, 0.01, 0.12) * (1 if rng.random() < 0.7 or plot.margins[side] < 0.14 else -1)
    margins = list(plot.margins)
    margins[side] = max(0.03, margins[side] + step)
    left, bottom, right, top = margins
    if left + right > 0.7 or bottom + top > 0.7:
        return None
    aspect = "width" if side in (0, 2) else "height"
    changed = replace(plot, margins=(left, bottom, right, top))
    return changed, Edit("resized", "chart", aspect, ("plot area",))


def canvas(rng: Rng, plot: Plot) -> EditedPlot:
    """The whole picture has another size."""
    step = magnitude(rng, 1.02, 1.4) ** pick(rng, (1, -1))
    if rng.random() < 0.5:
        changed = replace(plot, width=max(160, round(plot.width * step)))
    else:
        changed = replace(plot, height=max(120, round(plot.height * step)))
    if changed == plot:
        return None
    return changed, Edit("resized", "chart", "canvas", ("plot",))


WAYS: tuple[tuple[PlotWay, float], ...] = (
    (series_color, 3),
    (item_color, 2),
    (opacity, 1),
    (line_width, 2),
    (line_style, 1.5),
    (marker, 2.5),
    (text_look, 2),
    (tick_size, 1),
    (grid_there, 1),
    (grid_look, 1),
    (frame, 1),
    (legend_frame, 0.5),
    (panel, 1),
    (margin, 1),
    (canvas, 0.4),
)
"""Every change to how a plot looks, with how often it is drawn."""
