"""A plot as a specification for Vega, which draws it in a browser."""

import math

from whatchanged.synth.screens.plots.plot import Axis, Plot, Text
from whatchanged.synth.screens.plots.themes import Theme, theme
from whatchanged.synth.screens.plots.vega_marks import PIXELS, Spec, marks_of, slice_colors

MAPS = {
    "viridis": "viridis",
    "gray": "greys",
    "coolwarm": "redblue",
    "plasma": "plasma",
    "Blues": "blues",
    "cividis": "cividis",
    "Greens": "greens",
    "magma": "magma",
    "RdYlBu": "redyellowblue",
}


def vega_spec(plot: Plot) -> Spec:
    """The specification; marks have the keys of their elements as names."""
    look = theme(plot.theme)
    left, bottom, right, top = plot.margins
    width = round(plot.width * (1 - left - right))
    height = round(plot.height * (1 - bottom - top))
    edges = {"left": round(left * plot.width), "top": round(top * plot.height)}
    padding = {
        **edges,
        "right": plot.width - width - edges["left"],
        "bottom": plot.height - height - edges["top"],
    }
    spec: Spec = {
        "width": width,
        "height": height,
        "padding": padding,
        "autosize": "none",
        "background": look.ground,
        "config": _config(plot, look),
        "scales": _scales(plot),
        "marks": marks_of(plot, look),
    }
    if plot.counted:
        spec["encode"] = _ground(plot, look)
        spec["axes"] = _axes(plot, look)
    if plot.title:
        anchor = {"left": "start", "center": "middle", "right": "end"}[plot.title.align]
        spec["title"] = {
            "text": plot.title.words,
            "anchor": anchor,
            "frame": "group",
            **_font(plot.title, look, ""),
        }
    if plot.legend and plot.form not in ("image", "box"):
        spec["legends"] = [_legend(plot, look)]
    if plot.form == "image" and plot.colorbar:
        spec["legends"] = [{"fill": "color", "type": "gradient", "labelColor": look.ink}]
    return spec


def _config(plot: Plot, look: Theme) -> Spec:
    fonts = {"labelFont": plot.font, "titleFont": plot.font}
    return {
        "axis": fonts,
        "legend": fonts,
        "title": {"font": plot.font},
        "text": {"font": plot.font},
        "symbol": {"strokeWidth": 1.5},
    }


def _font(text: Text, look: Theme, prefix: str) -> Spec:
    """Size, weight and colour of a text, each name begun with ``prefix``."""
    said = {
        "fontSize": text.size * PIXELS,
        "fontWeight": "bold" if text.bold else "normal",
        "color": text.color or look.ink,
    }
    return {prefix + name[0].upper() + name[1:] if prefix else name: value for name, value in said.items()}


def _scales(plot: Plot) -> list[Spec]:
    names = list(plot.categories) if plot.form == "pie" else [one.name for one in plot.series]
    colors = slice_colors(plot) if plot.form == "pie" else [one.color for one in plot.series]
    return [
        {"name": "x", "type": "linear", "domain": [plot.x.low, plot.x.high], "range": "width", "zero": False},
        {
            "name": "y",
            "type": "linear",
            "domain": [plot.y.low, plot.y.high],
            "range": "height",
            "zero": False,
        },
        {"name": "color", "type": "linear", "domain": [0, 1], "range": {"scheme": MAPS[plot.map]}},
        {"name": "names", "type": "ordinal", "domain": names, "range": colors},
    ]


def _axes(plot: Plot, look: Theme) -> list[Spec]:
    made = []
    for name, orient, axis in (("x", "bottom", plot.x), ("y", "left", plot.y)):
        by_category = bool(plot.categories) and (name == "y") == (plot.form == "barh")
        made.append(
            {
                "scale": name,
                "orient": orient,
                "values": ticks_of(axis, len(plot.categories) if by_category else 0),
                "labelFontSize": axis.tick_size * PIXELS,
                "labelColor": look.ink,
                "tickColor": look.ink,
                "domainColor": look.ink,
                "tickSize": axis.tick_length * PIXELS,
                "labelOverlap": False,
                "labelBound": False,
                "grid": plot.grid in ("both", name),
                "format": f".{axis.decimals}f",
                "gridColor": plot.grid_color or look.grid,
                "gridWidth": plot.grid_width * PIXELS,
                "zindex": 0,
            }
        )
        if by_category:
            names = ", ".join(_quoted(category) for category in plot.categories)
            made[-1]["encode"] = {"labels": {"update": {"text": {"signal": f"[{names}][datum.value]"}}}}
        if axis.label:
            made[-1] |= {"title": axis.label.words, **_font(axis.label, look, "title")}
    return made


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def ticks_of(axis: Axis, categories: int) -> list[float]:
    """Where the ticks of an axis are."""
    if categories:
        return [float(i) for i in range(categories)]
    first = math.ceil(axis.low / axis.step - 1e-9)
    return [i * axis.step for i in range(first, math.floor(axis.high / axis.step + 1e-9) + 1)]


def _legend(plot: Plot, look: Theme) -> Spec:
    chosen = plot.legend
    assert chosen is not None
    drawn = {"line": "stroke", "scatter": "stroke"}.get(plot.form, "fill")
    symbols = {"line": "stroke", "scatter": "circle"}.get(plot.form, "square")
    return {
        drawn: "names",
        "orient": chosen.position,
        "symbolType": symbols,
        "labelFontSize": chosen.size * PIXELS,
        "labelColor": look.ink,
        "fillColor": plot.panel or look.panel,
        "padding": 6,
        "strokeColor": look.grid if chosen.framed else "transparent",
    }


def _ground(plot: Plot, look: Theme) -> Spec:
    """The plot area with its frame."""
    ground: Spec = {"fill": {"value": plot.panel or look.panel}}
    if plot.framed:
        ground["stroke"] = {"value": look.ink}
    return {"enter": ground}


def take_data(spec: Spec) -> Spec:
    """The specification with the rows of its marks as data sets, as Vega wants them."""
    data = []
    for mark in spec["marks"]:
        if "rows" in mark:
            data.append({"name": f"rows of {mark['name']}", "values": mark.pop("rows")})
            mark["from"] = {"data": data[-1]["name"]}
    return {**spec, "data": data}
