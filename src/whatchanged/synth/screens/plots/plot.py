"""A plot as data, which changes modify and both plotting libraries draw."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

PlotForm = Literal["line", "scatter", "bar", "barh", "area", "histogram", "image", "pie", "box"]
LegendPosition = Literal["top-left", "top-right", "bottom-left", "bottom-right", "right"]
Dash = Literal["solid", "dashed", "dotted", "dash-dot"]
Marker = Literal["none", "circle", "square", "triangle", "diamond", "cross"]
Align = Literal["left", "center", "right"]
Grid = Literal["none", "both", "y", "x"]


@dataclass(frozen=True)
class Text:
    """A title or a label of an axis. color: "" means the theme's colour. size: points."""

    words: str
    size: float
    color: str = ""
    bold: bool = False
    align: Align = "center"


@dataclass(frozen=True)
class Series:
    """One row of numbers and its style.

    x: only of scatter plots; others count 0, 1, 2. width: of lines, points. size: of markers, points across.
    colors: of single bars or slices where they have one of their own, by number.
    """

    name: str
    values: tuple[float, ...]
    color: str
    x: tuple[float, ...] = ()
    width: float = 1.5
    dash: Dash = "solid"
    marker: Marker = "none"
    size: float = 6.0
    opacity: float = 1.0
    colors: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True)
class Legend:
    """The legend: its place, whether it is framed."""

    position: LegendPosition = "top-right"
    framed: bool = True
    size: float = 9.0


@dataclass(frozen=True)
class Note:
    """Text at a point of the plot area, (0, 0) its lower left and (1, 1) its upper right corner."""

    words: str
    x: float
    y: float
    size: float = 9.0


@dataclass(frozen=True)
class Axis:
    """One axis. low, high: its limits. step: between ticks. decimals: of their labels."""

    low: float
    high: float
    step: float
    decimals: int = 0
    label: Text | None = None
    tick_size: float = 9.0
    tick_length: float = 3.5


@dataclass(frozen=True)
class Plot:
    """The content and the style of a plot.

    categories: names along the x axis of bars, boxes and slices. matrix: of an image, row by row. map: name
    of its colour map. panel: colour of the plot area, "" is the theme's own. margins: left, bottom, right,
    top of the plot area, as parts of the picture. line_at: height of a line across all, or None. width,
    height: pixels at scale 1. scale: pixels of the picture for each of them.
    """

    form: PlotForm
    theme: str
    font: str
    width: int
    height: int
    scale: float
    series: tuple[Series, ...]
    x: Axis
    y: Axis
    categories: tuple[str, ...] = ()
    matrix: tuple[tuple[float, ...], ...] = ()
    map: str = "viridis"
    colorbar: bool = False
    title: Text | None = None
    legend: Legend | None = None
    note: Note | None = None
    line_at: float | None = None
    grid: Grid = "none"
    grid_color: str = ""
    grid_width: float = 0.8
    framed: bool = True
    panel: str = ""
    margins: tuple[float, float, float, float] = (0.14, 0.16, 0.05, 0.12)
    errors: tuple[float, ...] = ()

    @property
    def counted(self) -> bool:
        """Whether it has axes with numbers: every form but pies."""
        return self.form != "pie"


class FiveNumbers(NamedTuple):
    """The five numbers of one box in a box plot: the ends of its whiskers, of its box, and the line in it."""

    least: float
    low: float
    middle: float
    high: float
    most: float


def five_numbers(plot: Plot) -> list[FiveNumbers]:
    """Return the boxes of a box plot, around the values of its series; they differ in height."""
    spread = (plot.y.high - plot.y.low) / 12
    results = []
    for index, middle in enumerate(plot.series[0].values):
        reach = spread * (1 + 0.4 * ((index * 7) % 5) / 4)
        results.append(
            FiveNumbers(
                middle - 1.6 * reach, middle - 0.6 * reach, middle, middle + 0.7 * reach, middle + 1.7 * reach
            )
        )
    return results
