"""The families of plots: matplotlib draws ``plots``, Vega in a browser draws ``charts``."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from whatchanged.errors import MissingExtra, WhatchangedError
from whatchanged.records import Split
from whatchanged.synth.screens import Family, FamilyOptions
from whatchanged.synth.screens.browser import Browser, chromium_version
from whatchanged.synth.screens.choices import pick, pick_by_share
from whatchanged.synth.screens.edits import DrawnPicture, Edit
from whatchanged.synth.screens.fonts import fonts_of
from whatchanged.synth.screens.pages.designs import find_files
from whatchanged.synth.screens.plots import changes, looks
from whatchanged.synth.screens.plots.changes import PlotWay
from whatchanged.synth.screens.plots.plot import Plot
from whatchanged.synth.screens.plots.sampling import random_plot
from whatchanged.synth.screens.plots.with_matplotlib import USUAL, Rendering, draw
from whatchanged.synth.screens.plots.with_vega import PROGRAM, BrowserRendering, VegaPage
from whatchanged.synth.screens.plots.with_vega import USUAL as BROWSER_USUAL
from whatchanged.synth.screens.redrawn import Redrawn
from whatchanged.synth.screens.words import Rng
from whatchanged.worlds.screens.truth import Value

WAYS: Sequence[tuple[PlotWay, float]] = (*changes.WAYS, *looks.WAYS)
NUDGED = ("title", "x label", "y label", "legend", "note", "series 0", "x ticks", "y ticks")
"""Elements that renderers' noise may shift by a part of a pixel."""


def any_change(rng: Rng, plot: Plot) -> tuple[Plot, Edit] | None:
    """Return the plot with one random change; None where the drawn change does not fit the plot."""
    return pick_by_share(rng, WAYS)(rng, plot)


def design_of(plot: Plot) -> dict[str, Value]:
    """Return the parts of a plot's design."""
    return {"form": plot.form, "theme": plot.theme, "font": plot.font, "scale": plot.scale}


class MatplotlibMaker:
    """Plots drawn by matplotlib."""

    family = "plots"
    usual = USUAL

    def __init__(self) -> None:
        from matplotlib import font_manager, get_cachedir

        self.known = frozenset(font_manager.get_font_names())
        self.cache = get_cachedir()

    def document(self, rng: Rng, split: Split) -> Plot:
        """A random plot, in a font of the split that matplotlib can read. Raises WhatchangedError where
        matplotlib knows none of them.
        """
        installed = fonts_of(split)
        fonts = [font for font in installed if font in self.known]
        if not fonts:
            raise WhatchangedError(
                f"matplotlib's list of fonts, made before they were installed, holds none of"
                f" {', '.join(installed)}. Remove fontlist-*.json in {self.cache}: matplotlib writes it anew."
            )
        return random_plot(rng, split, fonts)

    def changed(self, rng: Rng, document: Plot) -> tuple[Plot, Edit] | None:
        """The plot with one random change."""
        return any_change(rng, document)

    def noisy(self, rng: Rng, document: Plot) -> tuple[Rendering, str]:
        """One text or line a part of a pixel beside its place, or all texts hinted otherwise."""
        if rng.random() < 0.6:
            key = pick(rng, NUDGED)
            shift = float(rng.uniform(0.1, 0.45))
            return Rendering(nudged=key, shift=shift), f"{key} beside its place by {shift:.2f} pixels"
        hinting = pick(rng, ("no_hinting", "no_autohint", "default"))
        how = Rendering(hinting, snap=rng.random() < 0.8, simplify=rng.random() < 0.5)
        if rng.random() < 0.25:
            how = Rendering(shift=float(rng.uniform(0.1, 0.4)), snap=how.snap)
            return how, f"all beside its place by {how.shift:.2f} pixels"
        return how, f"texts drawn with {hinting}, snap {how.snap}"

    def draw(self, document: Plot, how: Rendering) -> DrawnPicture:
        """The plot's picture."""
        return draw(document, how)

    def design(self, document: Plot) -> Mapping[str, Value]:
        """Form, theme, font, scale."""
        return {"library": "matplotlib", **design_of(document)}


@contextmanager
def open_plots(options: FamilyOptions) -> Iterator[Family]:
    """Plots by matplotlib. Raises MissingExtra where it is not installed."""
    try:
        import matplotlib as mpl
    except ImportError as error:
        raise MissingExtra("Drawing plots", "matplotlib", "screens") from error
    module: Any = mpl
    yield Redrawn(MatplotlibMaker(), f"matplotlib {module.__version__}", 1, options.several)


class VegaMaker:
    """Plots drawn by Vega in a browser."""

    family = "charts"
    usual = BROWSER_USUAL

    def __init__(self, page: VegaPage) -> None:
        self.page = page

    def document(self, rng: Rng, split: Split) -> Plot:
        """A random plot."""
        return random_plot(rng, split, fonts_of(split))

    def changed(self, rng: Rng, document: Plot) -> tuple[Plot, Edit] | None:
        """The plot with one random change."""
        return any_change(rng, document)

    def noisy(self, rng: Rng, document: Plot) -> tuple[BrowserRendering, str]:
        """All a part of a pixel beside its place, or drawn as SVG."""
        if rng.random() < 0.5:
            shift = float(rng.uniform(0.1, 0.4)) / document.scale
            return BrowserRendering(shift=shift), f"all beside its place by {shift:.2f} pixels"
        css = pick(rng, ("", "text-rendering:geometricPrecision"))
        return BrowserRendering("svg", css=css), f"drawn as SVG {css}".strip()

    def draw(self, document: Plot, how: BrowserRendering) -> DrawnPicture:
        """The plot's picture."""
        return self.page.draw(document, how)

    def design(self, document: Plot) -> Mapping[str, Value]:
        """Form, theme, font, scale."""
        return {"library": "vega", **design_of(document)}


@contextmanager
def open_charts(options: FamilyOptions) -> Iterator[Family]:
    """Plots by Vega. Raises MissingProgram where the browser, or Vega, is not there."""
    program = find_files("Drawing charts", options.styles, [("vega", PROGRAM)]) / PROGRAM
    with Browser() as browser:
        page = VegaPage(browser, program)
        renderer = f"vega {page.version}, {chromium_version()}"
        yield Redrawn(VegaMaker(page), renderer, 2, options.several)
