"""Charts of pages as SVG: functions of the writer that return HTML, as in ``components``."""

import math
from collections.abc import Mapping

from whatchanged.synth.screens.pages.components import Component
from whatchanged.synth.screens.pages.writer import Writer


def _colors(w: Writer, count: int) -> list[str]:
    """Colours of series: the page's own, or steps around the wheel."""
    if w.chance(0.35):
        return (["var(--w-accent)", "var(--w-second)"] * count)[:count]
    hue, step = w.count(0, 359), w.count(25, 75)
    vivid, light = w.count(35, 85), w.count(40, 65)
    return [f"hsl({(hue + i * step) % 360} {vivid}% {light}%)" for i in range(count)]


def _svg(w: Writer, width: float, height: float, inner: str) -> str:
    return (
        f'<svg data-e="chart" dir="ltr" style="overflow:visible;display:block" width="{width:.0f}" '
        f'height="{height:.0f}">{inner}</svg>'
    )


def _label(x: float, y: float, text: str, anchor: str = "middle", element: str = "tick label") -> str:
    return (
        f'<text data-e="{element}" x="{x:.0f}" y="{y:.0f}" font-size="11" fill="currentColor" '
        f'text-anchor="{anchor}">{text}</text>'
    )


def _values(w: Writer, count: int) -> list[float]:
    return [float(value) for value in w.rng.uniform(0.08, 0.97, count)]


def _legend(w: Writer, colors: list[str]) -> str:
    """A legend in HTML."""
    entries = "".join(
        f'<span class="w-key" data-e="legend entry"><i style="background:{color}"></i>{w.words(1, 1)}</span>'
        for color in colors
    )
    return f'<div class="w-row" data-e="legend">{entries}</div>'


def ring(w: Writer) -> str:
    """A pie or a ring of slices, with a legend."""
    side, count = w.count(60, 170), w.count(2, 6)
    hole = w.pick(("0", "0.55", "0.7"))
    colors, shares = _colors(w, count), [value / 10 + 0.05 for value in _values(w, count)]
    whole, turn, parts = sum(shares), -math.pi / 2, []
    outer, inner = side / 2, side / 2 * float(hole)
    for share, color in zip(shares, colors, strict=True):
        end = turn + 2 * math.pi * share / whole
        large = int(end - turn > math.pi)
        (ax, ay), (bx, by) = (
            (outer + outer * math.cos(angle), outer + outer * math.sin(angle)) for angle in (turn, end)
        )
        (cx, cy), (dx, dy) = (
            (outer + inner * math.cos(angle), outer + inner * math.sin(angle)) for angle in (end, turn)
        )
        line = (
            f"M{ax:.2f} {ay:.2f}A{outer} {outer} 0 {large} 1 {bx:.2f} {by:.2f}"
            f"L{cx:.2f} {cy:.2f}A{inner} {inner} 0 {large} 0 {dx:.2f} {dy:.2f}Z"
        )
        parts.append(f'<path data-e="slice" d="{line}" fill="{color}"/>')
        turn = end
    middle = _label(outer, outer + 4, f"{w.count(1, 99)}%", element="statistic") if hole != "0" else ""
    return _svg(w, side, side, "".join(parts) + middle) + (_legend(w, colors) if w.chance(0.6) else "")


def stacked(w: Writer) -> str:
    """Bars made of several parts."""
    width, height, series = w.count(140, 360), w.count(70, 180), w.count(2, 3)
    colors, bars = _colors(w, series), w.count(3, 9)
    step, parts = width / bars, []
    for i in range(bars):
        top = float(height)
        for value, color in zip(_values(w, series), colors, strict=True):
            tall = value * height / series
            top -= tall
            parts.append(
                f'<rect data-e="chart bar" x="{step * i + 2:.0f}" y="{top:.1f}" width="{step - 4:.0f}" '
                f'height="{tall:.1f}" fill="{color}"/>'
            )
        parts.append(_label(step * (i + 0.5), height + 13, str(i + 1)))
    return _svg(w, width, height + 16, "".join(parts)) + (_legend(w, colors) if w.chance(0.5) else "")


def lying(w: Writer) -> str:
    """Bars that lie, with names."""
    width, thick, count = w.count(120, 320), w.count(8, 22), w.count(2, 7)
    (color,) = _colors(w, 1)
    parts = []
    for i, value in enumerate(_values(w, count)):
        y = i * (thick + 7)
        parts.append(_label(66, y + thick / 2 + 4, w.words(1, 1)[:9], "end"))
        parts.append(
            f'<rect data-e="chart bar" x="72" y="{y}" width="{value * width:.0f}" height="{thick}" rx="{w.pick(("0", "2"))}" fill="{color}"/>'
        )
    return _svg(w, width + 76, count * (thick + 7), "".join(parts))


def curves(w: Writer) -> str:
    """Several curves, perhaps filled, on a grid with axes."""
    width, height, count = w.count(150, 420), w.count(80, 200), w.count(6, 24)
    parts = [
        f'<line data-e="grid" x1="26" x2="{width}" y1="{height * i // 4}.5" y2="{height * i // 4}.5" stroke="var(--w-line)"/>'
        for i in range(5)
    ]
    parts += [_label(21, height * i / 4 + 4, str(100 - 25 * i), "end") for i in range(5)]
    colors = _colors(w, w.count(1, 3))
    filled = w.chance(0.35)
    for color in colors:
        level, points = float(w.rng.uniform(0.3, 0.7)), []
        for i in range(count):
            level = min(0.97, max(0.05, level + float(w.rng.normal(0, 0.09))))
            points.append(f"{26 + i * (width - 26) / (count - 1):.1f},{height * (1 - level):.1f}")
        if filled:
            area = f"M{points[0]}L{' '.join(points)}L{width},{height}L26,{height}Z"
            parts.append(f'<path data-e="filled area" d="{area}" fill="{color}" fill-opacity=".25"/>')
        parts.append(
            f'<polyline data-e="series" points="{" ".join(points)}" fill="none" stroke="{color}" '
            f'stroke-width="{w.pick(("1", "1.5", "2", "3"))}" stroke-linejoin="round"/>'
        )
    return _svg(w, width, height + 6, "".join(parts)) + (_legend(w, colors) if w.chance(0.5) else "")


def cloud(w: Writer) -> str:
    """Points in a frame."""
    width, height = w.count(120, 320), w.count(80, 200)
    frame = f'<rect data-e="frame" x=".5" y=".5" width="{width}" height="{height}" fill="none" stroke="var(--w-line)"/>'
    points = []
    for color in _colors(w, w.count(1, 3)):
        radius = w.pick(("2.5", "3.5", "5"))
        xs, ys = w.rng.uniform(0.05, 0.95, (2, w.count(5, 16)))
        points += [
            f'<circle data-e="point" cx="{x * width:.1f}" cy="{y * height:.1f}" r="{radius}" fill="{color}"/>'
            for x, y in zip(xs, ys, strict=True)
        ]
    return _svg(w, width + 1, height + 1, frame + "".join(points))


def squares(w: Writer) -> str:
    """A grid of squares, darker for more."""
    side, columns, rows = w.count(8, 18), w.count(6, 22), w.count(3, 7)
    (color,) = _colors(w, 1)
    cells = "".join(
        f'<rect data-e="day" x="{x * (side + 2)}" y="{y * (side + 2)}" width="{side}" height="{side}" rx="2" '
        f'fill="{color}" fill-opacity="{w.pick((".12", ".35", ".6", "1"))}"/>'
        for x in range(columns)
        for y in range(rows)
    )
    return _svg(w, columns * (side + 2), rows * (side + 2), cells)


def tiles(w: Writer) -> str:
    """Numbers, each with a small curve."""
    made = []
    for _ in range(w.count(1, 4)):
        points = " ".join(f"{i * 10},{24 * (1 - value):.1f}" for i, value in enumerate(_values(w, 8)))
        curve = (
            '<svg data-e="chart" width="70" height="24" style="overflow:visible"><polyline data-e="series" '
            f'points="{points}" fill="none" stroke="var(--w-accent)" stroke-width="1.5"/></svg>'
        )
        number = f'<div class="w-figure" data-e="statistic">{w.texts.number()}</div>'
        made.append(
            f'<div class="w-card" data-e="card"><span data-e="label">{w.words(1, 2)}</span>{number}{curve}</div>'
        )
    return f'<div class="w-columns">{"".join(made)}</div>'


def gauge(w: Writer) -> str:
    """Half a ring that shows a share."""
    share, r, thick = w.count(5, 95), w.count(28, 60), w.count(5, 14)
    angle = math.pi * (1 - share / 100)
    arc = f"M{thick} {r + thick}A{r} {r} 0 0 1"
    whole = f"{arc} {2 * r + thick} {r + thick}"
    part = f"{arc} {thick + r + r * math.cos(angle):.1f} {thick + r - r * math.sin(angle):.1f}"
    lines = (
        f'<path d="{whole}" fill="none" stroke="var(--w-line)" stroke-width="{thick}"/>'
        f'<path d="{part}" fill="none" stroke="var(--w-accent)" stroke-width="{thick}"/>'
    )
    text = _label(r + thick, r + thick - 2, f"{share}%", element="statistic")
    return _svg(w, 2 * (r + thick), r + thick + 4, lines + text)


GRAPHICS: Mapping[Component, float] = {
    ring: 0.7,
    stacked: 0.5,
    lying: 0.5,
    curves: 0.9,
    cloud: 0.4,
    squares: 0.3,
    tiles: 0.5,
    gauge: 0.3,
}
"""Each of them, and how often it is drawn beside the others."""
