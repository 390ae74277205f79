"""Draw plots by matplotlib, and locate each of their elements."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whatchanged.synth.screens.edits import DrawnElement, DrawnPicture, Pixels
from whatchanged.synth.screens.plots.plot import Plot, Series, Text, five_numbers
from whatchanged.synth.screens.plots.themes import theme

DPI = 96
MARKERS = {"none": "", "circle": "o", "square": "s", "triangle": "^", "diamond": "D", "cross": "x"}
DASHES = {"solid": "-", "dashed": "--", "dotted": ":", "dash-dot": "-."}
LEGEND_LOCATIONS = {
    "top-left": "upper left",
    "top-right": "upper right",
    "bottom-left": "lower left",
    "bottom-right": "lower right",
    "right": "center left",
}


@dataclass(frozen=True)
class Rendering:
    """The settings of a rendering: differences between versions of a library, which do not count as changes.

    shift: of the whole, in pixels of the picture, below half of one. nudged: key of an element that alone is
    shifted, or "".
    """

    hinting: str = "force_autohint"
    snap: bool = True
    simplify: bool = True
    shift: float = 0.0
    nudged: str = ""


USUAL = Rendering()


def draw(plot: Plot, how: Rendering = USUAL) -> DrawnPicture:
    """The plot as a picture, and its elements by key."""
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib import pyplot as plt
    from matplotlib import style

    settings = {
        "font.family": plot.font,
        "text.hinting": how.hinting,
        "text.antialiased": True,
        "path.simplify": how.simplify,
        "path.snap": how.snap,
        "axes.unicode_minus": False,
        "figure.autolayout": False,
        "figure.constrained_layout.use": False,
        "figure.facecolor": theme(plot.theme).ground,
        "savefig.facecolor": theme(plot.theme).ground,
    }
    # after_reset: what a file called matplotlibrc in the working directory says does not count.
    with style.context(theme(plot.theme).sheet, after_reset=True), mpl.rc_context(settings):
        dpi = DPI * plot.scale
        figure = plt.figure(figsize=(plot.width / DPI, plot.height / DPI), dpi=dpi)
        try:
            drawn = _Drawer(figure, plot, how)
            figure.canvas.draw()
            if how.nudged in drawn.artists:
                drawn.nudge(how.nudged, how.shift)
                figure.canvas.draw()
            pixels: Pixels = np.asarray(figure.canvas.buffer_rgba())[..., :3].copy()
            placed = drawn.elements(pixels.shape[0])
        finally:
            plt.close(figure)
    return DrawnPicture(pixels, placed)


class _Drawer:
    """One figure while it is made: its artists by the key of their element."""

    def __init__(self, figure: Any, plot: Plot, how: Rendering) -> None:
        self.plot = plot
        self.theme = theme(plot.theme)
        self.figure = figure
        self.artists: dict[str, list[Any]] = {}
        left, bottom, right, top = plot.margins
        whole = 0.0 if how.nudged else how.shift
        across, down = whole / (plot.width * plot.scale), whole / (plot.height * plot.scale)
        self.axes = figure.add_axes((left + across, bottom + down, 1 - left - right, 1 - bottom - top))
        self.axes.grid(False)
        self.axes.set_facecolor(plot.panel or self.theme.panel)
        getattr(self, f"_{plot.form}")()
        if plot.counted:
            self._axes()
        self._texts()
        self._legend()

    def keep(self, key: str, artists: Iterable[Any]) -> None:
        """Remember what an element consists of."""
        self.artists.setdefault(key, []).extend(artists)

    def nudge(self, key: str, shift: float) -> None:
        """Shift one element by a part of a pixel, to the right and up."""
        from matplotlib.transforms import Affine2D

        for artist in self.artists[key]:
            artist.set_transform(artist.get_transform() + Affine2D().translate(shift, shift))

    def _series(self) -> Iterable[tuple[int, Series]]:
        return enumerate(self.plot.series)

    def _line(self) -> None:
        for number, one in self._series():
            made = self.axes.plot(
                range(len(one.values)),
                one.values,
                DASHES[one.dash],
                color=one.color,
                lw=one.width,
                marker=MARKERS[one.marker],
                ms=one.size,
                label=one.name,
                alpha=one.opacity,
            )
            self.keep(f"series {number}", made)

    def _area(self) -> None:
        for number, one in self._series():
            made = self.axes.fill_between(
                range(len(one.values)),
                one.values,
                color=one.color,
                alpha=min(one.opacity, 0.7),
                label=one.name,
                lw=0,
            )
            self.keep(f"series {number}", [made])

    def _scatter(self) -> None:
        for number, one in self._series():
            marker = MARKERS[one.marker] or "o"
            made = self.axes.scatter(
                one.x,
                one.values,
                s=one.size**2,
                color=one.color,
                marker=marker,
                alpha=one.opacity,
                label=one.name,
                lw=1,
            )
            self.keep(f"series {number}", [made])

    def _bar(self) -> None:
        count = len(self.plot.series)
        thick = 0.8 / count
        for number, one in self._series():
            places = [at + (number - (count - 1) / 2) * thick for at in range(len(one.values))]
            errors = self.plot.errors or None
            bars = self.axes.bar(
                places, one.values, thick, color=one.color, label=one.name, yerr=errors, ecolor=self.theme.ink
            )
            if errors:
                self.keep("error bars", bars.errorbar[2])
            self._bars(number, one, bars)

    def _barh(self) -> None:
        count = len(self.plot.series)
        thick = 0.8 / count
        for number, one in self._series():
            places = [at + (number - (count - 1) / 2) * thick for at in range(len(one.values))]
            bars = self.axes.barh(places, one.values, thick, color=one.color, label=one.name)
            self._bars(number, one, bars)

    def _histogram(self) -> None:
        for number, one in self._series():
            bars = self.axes.bar(
                range(len(one.values)),
                one.values,
                1.0,
                color=one.color,
                alpha=one.opacity,
                label=one.name,
                edgecolor=self.plot.panel or self.theme.panel,
            )
            self._bars(number, one, bars)

    def _bars(self, number: int, one: Series, bars: Any) -> None:
        own = dict(one.colors)
        for index, bar in enumerate(bars):
            if index in own:
                bar.set_facecolor(own[index])
            self.keep(f"item {number} {index}", [bar])
        self.keep(f"series {number}", bars)

    def _pie(self) -> None:
        one = self.plot.series[0]
        palette = self.theme.palette
        colors = [palette[i % len(palette)] for i in range(len(one.values))]
        for index, color in one.colors:
            colors[index] = color
        wedges, texts = self.axes.pie(
            one.values,
            colors=colors,
            labels=None if self.plot.legend else self.plot.categories,
            textprops={"size": self.plot.x.tick_size, "color": self.theme.ink},
        )
        for index, wedge in enumerate(wedges):
            wedge.set_label(self.plot.categories[index])
            self.keep(f"item 0 {index}", [wedge])
        self.keep("series 0", wedges)
        self.keep("x ticks", texts)
        for number, text in enumerate(texts):
            self.keep(f"category {number}", [text])

    def _box(self) -> None:
        one = self.plot.series[0]
        stats = [
            {
                "med": box.middle,
                "q1": box.low,
                "q3": box.high,
                "whislo": box.least,
                "whishi": box.most,
                "fliers": [],
            }
            for box in five_numbers(self.plot)
        ]
        line = {"color": self.theme.ink, "lw": one.width}
        made = self.axes.bxp(
            stats,
            positions=range(len(stats)),
            widths=0.5,
            patch_artist=True,
            boxprops={"edgecolor": self.theme.ink, "lw": one.width},
            whiskerprops=line,
            capprops=line,
            medianprops={"color": self.theme.ink, "lw": one.width},
        )
        own = dict(one.colors)
        for index, box in enumerate(made["boxes"]):
            box.set_facecolor(own.get(index, one.color))
            parts = [
                box,
                *made["whiskers"][2 * index : 2 * index + 2],
                *made["caps"][2 * index : 2 * index + 2],
            ]
            self.keep(f"item 0 {index}", parts)
            self.keep("series 0", parts)

    def _image(self) -> None:
        shown = self.axes.imshow(
            np.array(self.plot.matrix), cmap=self.plot.map, aspect="auto", vmin=0, vmax=1, origin="lower"
        )
        self.keep("series 0", [shown])
        if self.plot.colorbar:
            bar = self.figure.colorbar(shown, ax=self.axes)
            bar.ax.tick_params(
                labelsize=self.plot.y.tick_size, labelcolor=self.theme.ink, color=self.theme.ink
            )
            self.keep("colorbar", [bar.ax])

    def _axes(self) -> None:
        plot, ink = self.plot, self.theme.ink
        for name, axis, chosen in (("x", self.axes.xaxis, plot.x), ("y", self.axes.yaxis, plot.y)):
            first = int(np.ceil(chosen.low / chosen.step - 1e-9))
            ticks = [i * chosen.step for i in range(first, int(chosen.high / chosen.step + 1e-9) + 1)]
            labels = [f"{tick:.{chosen.decimals}f}" for tick in ticks]
            by_category = bool(plot.categories) and (name == "y") == (plot.form == "barh")
            if by_category:
                ticks, labels = list(range(len(plot.categories))), list(plot.categories)
            axis.set_ticks(ticks, labels)
            self.axes.tick_params(
                axis=name, labelsize=chosen.tick_size, length=chosen.tick_length, colors=ink, labelcolor=ink
            )
            self.keep(f"{name} ticks", axis.get_ticklabels())
            for number, text in enumerate(axis.get_ticklabels()):
                self.keep(f"category {number}" if by_category else f"{name} tick {labels[number]}", [text])
            if plot.grid in ("both", name):
                self.axes.grid(
                    True, axis=name, color=plot.grid_color or self.theme.grid, lw=plot.grid_width, zorder=0
                )
        self.axes.set_axisbelow(True)
        self.axes.set_xlim(plot.x.low, plot.x.high)
        self.axes.set_ylim(plot.y.low, plot.y.high)
        for side, spine in self.axes.spines.items():
            spine.set_visible(plot.framed or side in ("left", "bottom"))
            spine.set_edgecolor(ink)
            spine.set_linewidth(0.8)
        if plot.line_at is not None:
            self.keep("reference line", [self.axes.axhline(plot.line_at, color=ink, lw=1.2, ls="--")])

    def _text(self, key: str, text: Text | None, put: Any, **more: object) -> None:
        if text is None:
            return
        made = put(
            text.words,
            size=text.size,
            color=text.color or self.theme.ink,
            weight="bold" if text.bold else "normal",
            **more,
        )
        self.keep(key, [made])

    def _texts(self) -> None:
        plot = self.plot
        if plot.title:
            self._text("title", plot.title, self.axes.set_title, loc=plot.title.align)
        if plot.counted:
            self._text("x label", plot.x.label, self.axes.set_xlabel)
            self._text("y label", plot.y.label, self.axes.set_ylabel)
        if plot.note is not None:
            made = self.axes.text(
                plot.note.x,
                plot.note.y,
                plot.note.words,
                transform=self.axes.transAxes,
                size=plot.note.size,
                color=self.theme.ink,
            )
            self.keep("note", [made])

    def _legend(self) -> None:
        chosen = self.plot.legend
        if chosen is None:
            return
        beside = {"bbox_to_anchor": (1.01, 0.5)} if chosen.position == "right" else {}
        made = self.axes.legend(
            loc=LEGEND_LOCATIONS[chosen.position],
            frameon=chosen.framed,
            fontsize=chosen.size,
            labelcolor=self.theme.ink,
            facecolor=self.plot.panel or self.theme.panel,
            edgecolor=self.theme.grid,
            **beside,
        )
        self.keep("legend", [made])
        for number, text in enumerate(made.get_texts()):
            self.keep(f"legend label {number}", [text])

    def elements(self, height: int) -> dict[str, DrawnElement]:
        """Where all elements lie, y downwards. Called after the figure was drawn."""
        renderer = self.figure.canvas.get_renderer()
        placed = {}
        for key, artists in self.artists.items():
            boxes, texts = [], []
            for artist in artists:
                if hasattr(artist, "get_text") and not artist.get_text():
                    continue
                extent = artist.get_tightbbox(renderer)
                if extent is None or not np.isfinite(extent.extents).all() or extent.width <= 0:
                    extent = artist.get_window_extent(renderer)
                boxes.append(extent.extents)
                texts += [artist.get_text()] if hasattr(artist, "get_text") else []
            if boxes:
                single = bool(texts) and len(artists) == 1
                placed[key] = DrawnElement(_upright(np.array(boxes), height), " ".join(texts), single)
        placed["plot area"] = DrawnElement(_upright(self.axes.bbox.extents[None], height))
        width = int(self.figure.bbox.width)
        placed["plot"] = DrawnElement((0.0, 0.0, float(width), float(height)))
        self._points(placed, height)
        return placed

    def _points(self, elements: dict[str, DrawnElement], height: int) -> None:
        """Single points of lines, areas and clouds; cells of images."""
        plot = self.plot
        if plot.form in ("line", "area", "scatter"):
            for number, one in self._series():
                reach = (one.size / 2 + 1) * self.figure.dpi / 72
                xs = one.x or tuple(float(i) for i in range(len(one.values)))
                at = self.axes.transData.transform(np.column_stack([xs, one.values]))
                for index, (x, y) in enumerate(at):
                    box = np.array([[x - reach, y - reach, x + reach, y + reach]])
                    elements[f"item {number} {index}"] = DrawnElement(_upright(box, height))
        for row, numbers in enumerate(plot.matrix):
            for column in range(len(numbers)):
                corners = [[column - 0.5, row - 0.5], [column + 0.5, row + 0.5]]
                box = self.axes.transData.transform(corners).reshape(1, 4)
                elements[f"item {row} {column}"] = DrawnElement(_upright(box, height))


def _upright(boxes: NDArray[np.float64], height: int) -> tuple[float, float, float, float]:
    """The box around boxes whose y goes upwards, with y downwards."""
    left, bottom = boxes[:, :2].min(axis=0)
    right, top = boxes[:, 2:].max(axis=0)
    return float(left), float(height - top), float(right), float(height - bottom)
