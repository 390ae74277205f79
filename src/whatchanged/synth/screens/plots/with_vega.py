"""Draw plots by Vega in a browser, and locate each of their elements."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from whatchanged.json_values import read_json
from whatchanged.synth.screens.browser import Browser
from whatchanged.synth.screens.edits import DrawnElement, DrawnPicture
from whatchanged.synth.screens.plots.plot import Plot
from whatchanged.synth.screens.plots.vega_spec import take_data, vega_spec

PROGRAM = "vega/build/vega.min.js"
"""In the folder into which npm installed vega."""
SCRIPT = (Path(__file__).parent / "vega_boxes.js").read_text(encoding="utf-8")


@dataclass(frozen=True)
class BrowserRendering:
    """How it is rendered: canvas or svg; by which part of a pixel all is shifted; further CSS."""

    renderer: str = "canvas"
    shift: float = 0.0
    css: str = ""


USUAL = BrowserRendering()


class VegaPage:
    """One page of a browser in which plots are drawn one after the other."""

    def __init__(self, browser: Browser, program: Path) -> None:
        self.browser = browser
        browser.show(
            "<!doctype html><style>body{margin:0}#plot{line-height:0}</style><div id=plot></div>", 400, 300
        )
        browser.run(program.read_text(encoding="utf-8") + "\n;1")
        browser.run(SCRIPT + "\n;1")

    @property
    def version(self) -> str:
        """Vega's version."""
        return str(self.browser.run("vega.version"))

    def draw(self, plot: Plot, how: BrowserRendering) -> DrawnPicture:
        """The plot's picture and its elements."""
        self.browser.resize(plot.width, plot.height, plot.scale)
        spec = json.dumps(take_data(vega_spec(plot)))
        css = f"transform:translate({how.shift}px,{how.shift}px);{how.css}" if how.shift else how.css
        found = self.browser.run(f"drawPlot({spec}, {json.dumps(how.renderer)}, {json.dumps(css)})")
        pixels = np.asarray(self.browser.photograph())
        return DrawnPicture(pixels, _elements(read_json(found), plot, how.shift * plot.scale))


def _elements(boxes: Mapping[str, Any], plot: Plot, shift: float) -> dict[str, DrawnElement]:
    """Elements with their boxes in pixels of the picture, named as ``with_matplotlib`` names them."""
    placed = {}
    for key, (left, top, right, bottom, text, single) in boxes.items():
        ends = (end * plot.scale + shift for end in (left, top, right, bottom))
        box = tuple(ends)
        placed[_as_cell(key, plot)] = DrawnElement((box[0], box[1], box[2], box[3]), text, bool(single))
    size = (round(plot.width * plot.scale), round(plot.height * plot.scale))
    placed["plot"] = DrawnElement((0.0, 0.0, float(size[0]), float(size[1])))
    return placed


def _as_cell(key: str, plot: Plot) -> str:
    """Cells of images are numbered through by Vega, and by row and column here."""
    if plot.form != "image" or not key.startswith("item 0 "):
        return key
    row, column = divmod(int(key.split()[2]), len(plot.matrix[0]))
    return f"item {row} {column}"
