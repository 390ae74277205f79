"""A page of a browser that shows a document, changes it and takes screenshots."""

import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from whatchanged.json_values import read_json
from whatchanged.synth.screens.browser import Browser
from whatchanged.synth.screens.pages.designs import HERE, OWN
from whatchanged.synth.screens.pages.document import HTMLDocument, PageCrop

Pixels = NDArray[np.uint8]
Boxes = NDArray[np.float64]
Ends = tuple[float, float, float, float]
"""Left, top, right, bottom in pixels of the document."""
RGBAColor = tuple[float, float, float, float]
"""Red, green, blue from 0 to 255, and opacity from 0 to 1."""

FRAMED = frozenset(
    {"svg", "rect", "circle", "path", "input", "textarea", "select", "line", "polyline", "img"}
)
"""Tags whose box is visible in any style."""
LEAST_SIDE = 24
"""The least side of a picture, in pixels of the document."""


@dataclass(frozen=True)
class PageElement:
    """One element in the browser's layout; ``page.js`` computes its fields.

    i: its number; the same after any change. element: its name in ``elements.ELEMENTS``. parent: the number
    of the named element around it; -1 for none. ink: the box around its texts, icons and pictures. leaf:
    whether it contains no other element. text: its own text. look: a key that alike elements share. ground:
    the background colour behind it.
    """

    i: int
    element: str
    tag: str
    parent: int
    box: Ends
    ink: Ends | None
    seen: bool
    leaf: bool
    text: str
    name: str
    ground: tuple[int, int, int]
    color: RGBAColor
    fill: RGBAColor
    svg_fill: RGBAColor
    stroke: RGBAColor
    stroke_width: float
    picture: bool
    border: float
    borders: int
    border_color: RGBAColor
    radius: float
    shadow: bool
    size: float
    weight: float
    italic: bool
    underlined: bool
    align: str
    opacity: float
    padding: tuple[float, float, float, float]
    margin: tuple[float, float, float, float]
    display: str
    checked: bool
    disabled: bool
    look: str

    @property
    def width(self) -> float:
        """The width of its box."""
        return self.box[2] - self.box[0]

    @property
    def height(self) -> float:
        """The height of its box."""
        return self.box[3] - self.box[1]

    @property
    def drawn(self) -> bool:
        """Whether it is part of a chart or an icon: its colours are those of SVG."""
        return self.tag in ("svg", "rect", "line", "polyline", "circle", "path", "text")

    @property
    def framed(self) -> bool:
        """Whether its box itself is visible: a fill, a border, a picture, or a control."""
        if self.tag in FRAMED:
            return True
        if self.tag.startswith("sl-"):
            return True
        return self.fill[3] > 0.04 or (self.border > 0.4 and self.border_color[3] > 0.1) or self.picture

    @property
    def outline(self) -> Ends:
        """The visible outline: the bounding box that an annotator would draw around it."""
        return self.box if self.framed or self.ink is None else self.ink


@dataclass(frozen=True)
class PageLayout:
    """The layout of a document.

    words: (words, 6): number of the text, number in the text, left, top, right, bottom. bottom, right: where
    the content ends.
    """

    elements: tuple[PageElement, ...]
    words: NDArray[np.float64]
    bottom: float
    right: float

    def inside(self, element: PageElement, ancestor: int) -> bool:
        """Return whether an element is inside another one, or is the same."""
        while element.i != ancestor and element.parent >= 0:
            element = self.elements[element.parent]
        return element.i == ancestor


def read_layout(text: str) -> PageLayout:
    """Parse the result of ``screens.describe``."""
    found = read_json(text)
    words = np.array(found["words"], np.float64).reshape(-1, 6)
    return PageLayout(
        tuple(_element(e) for e in found["elements"]), words, float(found["bottom"]), float(found["right"])
    )


def _element(fields: dict[str, Any]) -> PageElement:
    values: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in fields.items()}
    return PageElement(**values)


class Design(Protocol):
    """The design of documents: a library's files, or those of a published page."""

    @property
    def name(self) -> str:
        """A unique name."""
        ...

    @property
    def body(self) -> str:
        """The classes of the body."""
        ...

    @property
    def published(self) -> bool:
        """Whether its style sheets may refer to pictures."""
        ...

    def head(self, modules: Path) -> str:
        """Return the HTML of the head; ``modules`` is the folder of the npm packages."""
        ...


class Shown:
    """One page of a browser. ``load`` displays a document; ``change`` and ``reset`` work on it."""

    def __init__(self, browser: Browser, modules: Path, folder: Path) -> None:
        self._browser = browser
        self._modules = modules
        self._folder = folder
        self._design = ""
        self._document: HTMLDocument | None = None

    def load(self, document: HTMLDocument, design: Design) -> PageLayout:
        """Display a document with a design's stylesheets; one in our own design needs no page of a
        library.
        """
        if self._design != design.name and (design.name != OWN or not self._design):
            self._open(design, document)
        self._document = document
        self._browser.resize(document.width, document.height, document.scale)
        shown = {
            "body": document.body,
            "theme": document.look.variables,
            "sheet": document.look.sheet,
            "own": design.name == OWN,
            "published": design.published,
            "root": _attributes(document.root),
            "bodyClass": design.body,
        }
        return read_layout(self._browser.run(f"screens.load({json.dumps(shown)})"))

    def named(self, crop: PageCrop) -> str:
        """Return the HTML of the displayed document, with names for its elements, restricted to a part
        of it.
        """
        wanted = {"names": list(crop.names.items()), "part": crop.part, "top": crop.top}
        return str(self._browser.run(f"screens.name({json.dumps(wanted)})"))

    def change(self, script: str) -> PageLayout:
        """Run a script in the page, and return the layout after it."""
        return read_layout(self._browser.run(f"screens.change({json.dumps(script)})"))

    def reset(self) -> None:
        """Restore the document as it was loaded; its layout is again that of ``load``."""
        self._browser.run("screens.reset()")

    def photograph(self, layout: PageLayout) -> Pixels:
        """Return the picture, (height, width, 3): the window, or as much of it as the content fills."""
        document = self._document
        assert document is not None, "a document is loaded before it is photographed"
        width, height = document.width, document.height
        if document.fitted:
            height = int(min(height, max(LEAST_SIDE, np.ceil(layout.bottom))))
        if document.narrow:
            width = int(min(width, max(LEAST_SIDE, np.ceil(layout.right))))
        # Cut here: a browser that is asked for a part of its window may lay its tiles anew for it.
        height, width = (int(side * document.scale + 0.5) for side in (height, width))
        return np.asarray(self._browser.photograph())[:height, :width]

    def _open(self, design: Design, document: HTMLDocument) -> None:
        """Open a page with the design's files, our own parts and scripts, in a window of the document's size.

        A graphics card may keep painting in tiles that suit the initial size of the window, and restarts its
        dithering of gradients at each tile.
        """
        parts = (HERE / "parts.css").read_text(encoding="utf-8")
        files = [(HERE / name).read_text(encoding="utf-8") for name in ("page.js", "edits.js")]
        scripts = "".join(f"<script>{text}</script>" for text in files)
        page = self._folder / f"{design.name.replace('/', '-')}.html"
        page.write_text(
            f'<!DOCTYPE html><html><head><meta charset="utf-8">{design.head(self._modules)}'
            f'<style>{parts}</style><style id="w-sheet"></style>{scripts}</head>'
            "<body></body></html>",
            encoding="utf-8",
        )
        self._browser.call("Network.enable")
        # A picture that is kept was scaled for another document, and would be scaled again from that.
        self._browser.call("Network.setCacheDisabled", cacheDisabled=design.published)
        self._browser.open(page.as_uri(), document.width, document.height, scale=document.scale)
        self._design = design.name


def _attributes(text: str) -> dict[str, str]:
    """Attributes as HTML writes them, by name."""
    return dict(word.partition("=")[::2] for word in shlex.split(text))


def same_words(before: PageLayout, after: PageLayout) -> tuple[Boxes, Boxes]:
    """Return the boxes, (words, 4), of the words that are in both layouts of one document."""
    keys = [layout.words[:, 0] * 10_000 + layout.words[:, 1] for layout in (before, after)]
    _, one, other = np.intersect1d(keys[0], keys[1], return_indices=True)
    return before.words[one, 2:], after.words[other, 2:]


def bounds(boxes: Sequence[Ends]) -> Ends:
    """Return the bounding box of boxes."""
    left, top, right, bottom = zip(*boxes, strict=True)
    return min(left), min(top), max(right), max(bottom)
