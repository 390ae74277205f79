"""The marks of a plot in Vega's notation; the name of each is the key of its element."""

import math
from typing import Any

from whatchanged.synth.screens.plots.plot import Plot, Series, five_numbers
from whatchanged.synth.screens.plots.themes import Theme, theme

DASHES = {"solid": [], "dashed": [6, 4], "dotted": [2, 3], "dash-dot": [8, 3, 2, 3]}
SHAPES = {
    "none": "circle",
    "circle": "circle",
    "square": "square",
    "triangle": "triangle-up",
    "diamond": "diamond",
    "cross": "cross",
}
PIXELS = 96 / 72
"""Pixels of a point."""
Spec = dict[str, Any]


def slice_colors(plot: Plot) -> list[str]:
    """The colour of each slice of a pie."""
    one = plot.series[0]
    palette = theme(plot.theme).palette
    own = dict(one.colors)
    return [own.get(i, palette[i % len(palette)]) for i in range(len(one.values))]


def _mark(kind: str, name: str, rows: list[Spec], encoding: Spec) -> Spec:
    """A mark with its own data."""
    return {"type": kind, "name": name, "clip": kind != "text", "rows": rows, "encode": {"enter": encoding}}


def _field(name: str, scale: str = "") -> Spec:
    return {"scale": scale, "field": name} if scale else {"field": name}


def marks_of(plot: Plot, look: Theme) -> list[Spec]:
    """All marks of a plot, the lowest first; their data are still with them (``rows``)."""
    makers = {
        "line": _line,
        "area": _area,
        "scatter": _scatter,
        "bar": _bars,
        "barh": _bars,
        "histogram": _bars,
        "box": _boxes,
    }
    made: list[Spec] = []
    if plot.form == "image":
        made.append(_cells(plot))
    elif plot.form == "pie":
        made.append(_slices(plot))
    else:
        for number, one in enumerate(plot.series):
            made += makers[plot.form](plot, look, number, one)
    if plot.line_at is not None:
        made.append(
            _mark(
                "rule",
                "reference line",
                [{"y": plot.line_at}],
                {
                    "x": {"value": 0},
                    "x2": {"signal": "width"},
                    "y": _field("y", "y"),
                    "stroke": {"value": look.ink},
                    "strokeWidth": {"value": 1.5},
                    "strokeDash": {"value": [6, 4]},
                },
            )
        )
    if plot.note:
        made.append(
            _mark(
                "text",
                "note",
                [{"text": plot.note.words}],
                {
                    "x": {"signal": f"width * {plot.note.x}"},
                    "y": {"signal": f"height * {1 - plot.note.y}"},
                    "text": _field("text"),
                    "fill": {"value": look.ink},
                    "fontSize": {"value": plot.note.size * PIXELS},
                },
            )
        )
    return made


def _points(one: Series) -> list[Spec]:
    xs = one.x or range(len(one.values))
    return [{"x": x, "y": y} for x, y in zip(xs, one.values, strict=True)]


_XY = {"x": _field("x", "x"), "y": _field("y", "y")}


def _line(plot: Plot, look: Theme, number: int, one: Series) -> list[Spec]:
    line = _mark(
        "line",
        f"series {number}",
        _points(one),
        {
            **_XY,
            "stroke": {"value": one.color},
            "strokeWidth": {"value": one.width * PIXELS},
            "strokeDash": {"value": DASHES[one.dash]},
            "strokeOpacity": {"value": one.opacity},
        },
    )
    return [line] if one.marker == "none" else [line, *_symbols(number, one, f"markers {number}")]


def _symbols(number: int, one: Series, name: str) -> list[Spec]:
    return [
        _mark(
            "symbol",
            name,
            _points(one),
            {
                **_XY,
                "fill": {"value": one.color},
                "size": {"value": (one.size * PIXELS) ** 2},
                "shape": {"value": SHAPES[one.marker]},
                "opacity": {"value": one.opacity},
            },
        )
    ]


def _scatter(plot: Plot, look: Theme, number: int, one: Series) -> list[Spec]:
    return _symbols(number, one, f"series {number}")


def _area(plot: Plot, look: Theme, number: int, one: Series) -> list[Spec]:
    return [
        _mark(
            "area",
            f"series {number}",
            _points(one),
            {
                **_XY,
                "y2": {"scale": "y", "value": plot.y.low},
                "fill": {"value": one.color},
                "fillOpacity": {"value": min(one.opacity, 0.7)},
            },
        )
    ]


def _bars(plot: Plot, look: Theme, number: int, one: Series) -> list[Spec]:
    count = len(plot.series)
    thick = (1.0 if plot.form == "histogram" else 0.8) / count
    own = dict(one.colors)
    rows = []
    for index, value in enumerate(one.values):
        middle = index + (number - (count - 1) / 2) * thick
        color = own.get(index, one.color)
        rows.append({"a": middle - thick / 2, "b": middle + thick / 2, "v": value, "zero": 0, "color": color})
    along, across = ("x", "y") if plot.form == "barh" else ("y", "x")
    encoding = {
        along: _field("v", along),
        f"{along}2": _field("zero", along),
        across: _field("a", across),
        f"{across}2": _field("b", across),
        "fill": _field("color"),
        "opacity": {"value": one.opacity},
    }
    if plot.form == "histogram":
        encoding["stroke"] = {"value": plot.panel or look.panel}
    made = [_mark("rect", f"series {number}", rows, encoding)]
    if plot.errors:
        spans = [
            {"x": position, "low": value - reach, "high": value + reach}
            for position, (value, reach) in enumerate(zip(one.values, plot.errors, strict=True))
        ]
        made.append(
            _mark(
                "rule",
                "error bars",
                spans,
                {
                    "x": _field("x", "x"),
                    "y": _field("low", "y"),
                    "y2": _field("high", "y"),
                    "stroke": {"value": look.ink},
                    "strokeWidth": {"value": 1.5},
                },
            )
        )
    return made


def _boxes(plot: Plot, look: Theme, number: int, one: Series) -> list[Spec]:
    own = dict(one.colors)
    rows = [
        {
            "x": index,
            "a": index - 0.25,
            "b": index + 0.25,
            "color": own.get(index, one.color),
            **box._asdict(),
        }
        for index, box in enumerate(five_numbers(plot))
    ]
    ink = {"stroke": {"value": look.ink}, "strokeWidth": {"value": one.width * PIXELS}}
    whiskers = {"x": _field("x", "x"), "y": _field("least", "y"), "y2": _field("most", "y"), **ink}
    body = {
        "x": _field("a", "x"),
        "x2": _field("b", "x"),
        "y": _field("low", "y"),
        "y2": _field("high", "y"),
        "fill": _field("color"),
        **ink,
    }
    middle_line = {"x": _field("a", "x"), "x2": _field("b", "x"), "y": _field("middle", "y"), **ink}
    return [
        _mark("rule", f"whiskers {number}", rows, whiskers),
        _mark("rect", f"series {number}", rows, body),
        _mark("rule", f"medians {number}", rows, middle_line),
    ]


def _cells(plot: Plot) -> Spec:
    rows = [
        {"x": column - 0.5, "x2": column + 0.5, "y": row - 0.5, "y2": row + 0.5, "v": value}
        for row, values in enumerate(plot.matrix)
        for column, value in enumerate(values)
    ]
    sides = {name: _field(name, name[0]) for name in ("x", "x2", "y", "y2")}
    return _mark("rect", "series 0", rows, {**sides, "fill": _field("v", "color")})


def _slices(plot: Plot) -> Spec:
    one = plot.series[0]
    total, at, rows = sum(one.values), 0.0, []
    for value, color in zip(one.values, slice_colors(plot), strict=True):
        turn = 2 * math.pi * value / total
        rows.append({"from": at, "to": at + turn, "color": color})
        at += turn
    return _mark(
        "arc",
        "series 0",
        rows,
        {
            "x": {"signal": "width / 2"},
            "y": {"signal": "height / 2"},
            "startAngle": _field("from"),
            "endAngle": _field("to"),
            "outerRadius": {"signal": "min(width, height) / 2"},
            "fill": _field("color"),
        },
    )
