"""Themes, fonts, palettes and words of plots; whole themes and fonts are held out for validation and test."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Theme:
    """The default style of a plot.

    ground: around the plot area. panel: the plot area. ink: of texts and axes. palette: of series. sheet: the
    style sheet of matplotlib that it is drawn with.
    """

    ground: str
    panel: str
    ink: str
    grid: str
    palette: tuple[str, ...]
    sheet: str = "default"


_TABLEAU = ("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#7f7f7f")
_DEEP = ("#4c72b0", "#dd8452", "#55a868", "#c44e52", "#8172b3", "#937860", "#da8bc3", "#8c8c8c")
_BRIGHT = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#bbbbbb")
_BMH = ("#348abd", "#a60628", "#7a68a6", "#467821", "#d55e00", "#cc79a7", "#56b4e9")
_PASTEL = ("#8dd3c7", "#feffb3", "#bfbbd9", "#fa8174", "#81b1d2", "#fdb462", "#b3de69")
_PETROFF = ("#3f90da", "#ffa90e", "#bd1f01", "#94a4a2", "#832db6", "#a96b59", "#e76300")
_GREYS = ("#000000", "#4d4d4d", "#7f7f7f", "#a6a6a6", "#c0392b", "#2c3e50")
_SOLAR = ("#268bd2", "#2aa198", "#859900", "#b58900", "#cb4b16", "#dc322f", "#6c71c4")
_GGPLOT = ("#e24a33", "#348abd", "#988ed5", "#777777", "#fbc15e", "#8eba42", "#ffb5b8")
_FIVE = ("#008fd5", "#fc4f30", "#e5ae38", "#6d904f", "#8b8b8b", "#810f7c")
_NEON = ("#00e5ff", "#ff4081", "#76ff03", "#ffd740", "#e040fb", "#ffffff")

THEMES: Mapping[str, Mapping[str, Theme]] = {
    "train": {
        "default": Theme("#ffffff", "#ffffff", "#000000", "#b0b0b0", _TABLEAU),
        "classic": Theme("#bfbfbf", "#ffffff", "#000000", "#555555", _BRIGHT, "classic"),
        "deep": Theme("#ffffff", "#eaeaf2", "#262626", "#ffffff", _DEEP, "seaborn-v0_8-darkgrid"),
        "ticks": Theme("#ffffff", "#ffffff", "#262626", "#cccccc", _DEEP, "seaborn-v0_8-ticks"),
        "night": Theme("#000000", "#000000", "#ffffff", "#555555", _PASTEL, "dark_background"),
        "slate": Theme("#22272e", "#2d333b", "#cdd9e5", "#444c56", _PETROFF),
        "paper": Theme("#fffdf5", "#ffffff", "#333333", "#e2ddcc", _PETROFF, "petroff10"),
        "greys": Theme("#ffffff", "#ffffff", "#000000", "#999999", _GREYS, "grayscale"),
    },
    "val": {
        "bmh": Theme("#ffffff", "#eeeeee", "#000000", "#b2b2b2", _BMH, "bmh"),
        "ink": Theme("#0d1b2a", "#0d1b2a", "#e0e1dd", "#33415c", _NEON),
        "cloud": Theme("#f5f6f8", "#ffffff", "#1f2430", "#d9dce3", _BRIGHT, "seaborn-v0_8-whitegrid"),
    },
    "test": {
        "solar": Theme("#fdf6e3", "#eee8d5", "#657b83", "#fdf6e3", _SOLAR, "Solarize_Light2"),
        "ggplot": Theme("#ffffff", "#e5e5e5", "#555555", "#ffffff", _GGPLOT, "ggplot"),
        "five": Theme("#f0f0f0", "#f0f0f0", "#111111", "#cbcbcb", _FIVE, "fivethirtyeight"),
        "terminal": Theme("#101418", "#171d24", "#9fef00", "#2a3440", _NEON),
    },
}
"""Split -> name -> theme."""

MAPS: Mapping[str, tuple[str, ...]] = {
    "train": ("viridis", "gray", "coolwarm", "plasma", "Blues"),
    "val": ("cividis", "Greens"),
    "test": ("magma", "RdYlBu"),
}
"""Split -> colour maps, by the names of matplotlib."""

_NOUNS = (
    "orders visits revenue latency memory users errors requests speed load rainfall pressure voltage "
    "distance density salary score weight depth yield accuracy loss budget traffic demand supply output"
    " growth noise signal"
)
NOUNS = tuple(_NOUNS.split())
_QUALITIES = (
    "monthly daily mean total median relative weekly maximum net gross average measured expected annual"
    " hourly cumulative active failed open new"
)
QUALITIES = tuple(_QUALITIES.split())
UNITS = ("[s]", "[ms]", "[%]", "[kg]", "[m]", "(EUR)", "(thousands)", "[°C]", "per day", "(log)", "", "", "")
_NAMES = (
    "north, south, east, west, alpha, beta, gamma, delta, group A, group B, control, treated, train, "
    "test, model 1, model 2, 2019, 2020, 2021, 2022, baseline, ours, Berlin, Paris, Madrid, Oslo, cats,"
    " dogs, birds, fish, Mon, Tue, Wed, Thu, Fri"
)
NAMES = tuple(_NAMES.split(", "))


def theme(name: str) -> Theme:
    """The theme of this name, of whichever split."""
    return next(themes[name] for themes in THEMES.values() if name in themes)
