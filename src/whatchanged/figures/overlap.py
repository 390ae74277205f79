"""CIDEr-D against the overlap of the two views: one curve for each report."""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from whatchanged.errors import PredictionsError
from whatchanged.figures.figure import DotMark, Figure, LineMark, Mark, RGBColor, TextMark

WIDTH, HEIGHT = 560, 340
LEFT, RIGHT, TOP, BOTTOM = 62, 18, 34, 48
"""Margins around the axes, in pixels."""
COLORS: tuple[RGBColor, ...] = ((0, 114, 178), (213, 94, 0), (0, 158, 115), (204, 121, 167))
GRID: RGBColor = (225, 225, 225)
_ROW = re.compile(r"IoU (\d(?:\.\d+)?)-(\d(?:\.\d+)?)")


class OverlapBin(NamedTuple):
    """A row of a report: overlaps from ``low`` to ``high`` with the score of their pairs, its confidence
    interval and the number of pairs, where these are known.
    """

    low: float
    high: float
    score: float
    ends: tuple[float, float] | None
    pairs: int | None


def draw_overlap(reports: Sequence[tuple[str, Mapping[str, Any]]], metric: str = "CIDEr-D") -> Figure:
    """Draw one curve for each named report of ``whatchanged evaluate --json``: the score in each bin of
    overlap.

    Bins with few pairs have wide intervals. Raises PredictionsError where a report has no such bins.
    """
    curves = [(name, bins_of(name, report, metric)) for name, report in reports]
    tops = [one.ends[1] if one.ends else one.score for _, bins in curves for one in bins]
    step = _step(max([*tops, 1e-9]))
    top = step * math.ceil(max([*tops, 1e-9]) / step)
    marks = [*_axes(step, top, metric)]
    for number, (name, bins) in enumerate(curves):
        color = COLORS[number % len(COLORS)]
        shift = (number - (len(curves) - 1) / 2) * 6
        points = [(_across((one.low + one.high) / 2) + shift, _up(one.score, top)) for one in bins]
        for one, (x, y) in zip(bins, points, strict=True):
            if one.ends is not None:
                marks.append(LineMark([(x, _up(one.ends[0], top)), (x, _up(one.ends[1], top))], color, 1))
            marks.append(DotMark((x, y), color))
            if one.pairs is not None and len(curves) == 1:
                under = (x, HEIGHT - BOTTOM - 9)
                marks.append(TextMark(under, f"n = {one.pairs:,}", 11, "middle", color))
        marks.append(LineMark(points, color, 2))
        marks.append(TextMark((WIDTH - RIGHT - 4, TOP + 10 + 17 * number), name, 12, "end", color))
    return Figure(WIDTH, HEIGHT, marks)


def bins_of(name: str, report: Mapping[str, Any], metric: str) -> list[OverlapBin]:
    """Return the bins of overlap of a report, ascending. Raises PredictionsError where there are none."""
    rows = report.get("overlap")
    results = []
    for label, scores in rows.items() if isinstance(rows, Mapping) else ():
        found = _ROW.fullmatch(label)
        if found is None or not isinstance(scores, Mapping) or not _is_number(scores.get(metric)):
            continue
        own = _inside(report, "intervals", "overlap", label, metric)
        ends = (
            (own[0], own[1]) if isinstance(own, list) and list(map(_is_number, own)) == [True] * 2 else None
        )
        pairs = _inside(report, "signature", "pairs", label)
        counted = pairs if isinstance(pairs, int) else None
        results.append(OverlapBin(float(found[1]), float(found[2]), scores[metric], ends, counted))
    if not results:
        raise PredictionsError(
            f"{name}: it has no {metric} by overlap of the views. Give what `whatchanged evaluate --json`"
            " wrote of a data set that tells its viewpoints, such as CLEVR-Change or CLEVR-DC."
        )
    return sorted(results)


def _inside(value: Any, *keys: str) -> Any:
    """Return the value below these keys of nested mappings; None where a key is missing."""
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _step(most: float) -> float:
    """Return the distance between tick lines of an axis up to ``most``: 1, 2 or 5 times a power of ten, about
    five lines.
    """
    power = 10.0 ** math.floor(math.log10(most / 5))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= most / 5)


def _axes(step: float, top: float, metric: str) -> list[Mark]:
    """Return lines and labels of the axes; overlaps range from 0 to 1."""
    marks: list[Mark] = [TextMark((LEFT, TOP / 2), f"{metric} by overlap of the two views", 14)]
    for number in range(round(top / step) + 1):
        y = _up(number * step, top)
        marks.append(LineMark([(LEFT, y), (WIDTH - RIGHT, y)], GRID, 1))
        marks.append(TextMark((LEFT - 8, y), f"{number * step:g}", 12, "end"))
    for tenth in range(0, 11, 2):
        x = _across(tenth / 10)
        marks.append(LineMark([(x, HEIGHT - BOTTOM), (x, HEIGHT - BOTTOM + 4)]))
        marks.append(TextMark((x, HEIGHT - BOTTOM + 14), f"{tenth / 10:g}", 12, "middle"))
    marks.append(TextMark(((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12), "overlap (IoU)", 12, "middle"))
    return marks


def _across(overlap: float) -> float:
    return LEFT + overlap * (WIDTH - LEFT - RIGHT)


def _up(score: float, top: float) -> float:
    return HEIGHT - BOTTOM - max(score, 0.0) / top * (HEIGHT - TOP - BOTTOM)
