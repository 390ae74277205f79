"""Whole documents: the content of a page, its theme, its font, its size."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from whatchanged.records import Split
from whatchanged.synth.screens.choices import magnitude
from whatchanged.synth.screens.fonts import fonts_of
from whatchanged.synth.screens.pages.components import (
    COMPONENTS,
    Component,
    bullet_list,
    buttons,
    cards,
    chart,
    chips,
    dialog,
    heading,
    menu,
    navigation,
    pagination,
    prose,
    search_field,
    statistics,
    table,
    tabs,
    text_field,
    toolbar,
)
from whatchanged.synth.screens.pages.compositions import (
    COMPOSITIONS,
    board,
    data_grid,
    editor,
    footer,
    gallery,
    hero,
    news,
    page_head,
    program,
    terminal,
    tree,
)
from whatchanged.synth.screens.pages.controls import CONTROLS, form, preferences, sign_in
from whatchanged.synth.screens.pages.designs import OWN, Library
from whatchanged.synth.screens.pages.graphics import GRAPHICS
from whatchanged.synth.screens.pages.looks import PageLook, random_look
from whatchanged.synth.screens.pages.writer import Writer
from whatchanged.synth.screens.words import LANGUAGES, RandomTexts, Rng, random_language
from whatchanged.worlds.screens.truth import Value

SCALES = (1.0, 1.0, 1.0, 1.0, 1.5, 2.0)
SHAPES = {"component": 0.58, "panel": 0.26, "window": 0.1, "phone": 0.06}
"""The frequencies of pages: one or two components, some, a whole window, the screen of a phone."""
FITTED = {"component": 0.8, "panel": 0.75, "window": 0.7, "phone": 0.0}
"""The fractions of pages whose picture ends at the end of the content."""
DARK = 0.35
"""The fraction of dark pages, where the library has them."""
NARROW_WIDTH = 360
"""The least width, in pixels, at which words of a narrow page break."""
NARROW = 0.6
"""The fraction of components whose picture also ends at their right end."""
PARTS: Mapping[Component, float] = {**COMPONENTS, **COMPOSITIONS, **CONTROLS, **GRAPHICS}
"""Every component, with its relative frequency."""


@dataclass(frozen=True)
class PageCrop:
    """The part of a published page that is shown, selected after the layout.

    names: CSS selector -> the name of such elements; the first match counts. part: the part that is shown
    alone, among those of a usual size, as a number from 0 to 1; None for the window. top: where the window
    begins, as a fraction of the scrollable height.
    """

    names: Mapping[str, str]
    part: float | None
    top: float


@dataclass(frozen=True)
class HTMLDocument:
    """A page to be shown.

    body: HTML. root: attributes of the root element. width, height: of the window, in pixels of the document;
    scale: device pixels for each. fitted: the picture ends where the content does; narrow: on the right too.
    design: the names of its style's parts. crop: the part of a published page that is shown; None for all.
    """

    body: str
    look: PageLook
    root: str
    width: int
    height: int
    scale: float
    fitted: bool
    narrow: bool
    design: dict[str, Value]
    crop: PageCrop | None = None


def write_document(rng: Rng, library: Library, split: Split, largest: tuple[int, int]) -> HTMLDocument:
    """Write a random page under a library; its picture has at most ``largest`` width and height."""
    language = random_language(rng)
    fonts = fonts_of(split)
    font = fonts[int(rng.integers(len(fonts)))]
    shape = str(rng.choice(list(SHAPES), p=list(SHAPES.values())))
    scale = 1.0 if shape == "window" else float(rng.choice(SCALES))
    width, height = _window(rng, shape, scale, largest)
    own = library.name == OWN
    dark = bool(rng.random() < DARK) and (own or bool(library.dark))  # half dark, nobody would show it
    rtl = LANGUAGES[language].rtl or bool(rng.random() < 0.02)
    narrow = shape == "component" and not rtl and bool(rng.random() < NARROW)
    wide = "fit-content" if narrow else f"{width}px"
    look = random_look(rng, split, font, language, dark, wide, own)
    writer = Writer(rng, library, RandomTexts(rng, language), look.icons)
    body = WRITERS[shape](writer, width, height)
    root = f'dir="{"rtl" if rtl else "ltr"}" lang="{language}" {library.dark if dark else ""}'
    design: dict[str, Value] = {
        "library": library.name,
        "font": font,
        "language": language,
        "rtl": rtl,
        "shape": shape,
        "scale": scale,
        **look.names,
    }
    fitted = narrow or bool(rng.random() < FITTED[shape])
    if fitted:
        height = int(largest[1] / scale)
    if narrow:
        width = min(max(width, NARROW_WIDTH), int(largest[0] / scale))
    return HTMLDocument(body, look, root, width, height, scale, fitted, narrow, design)


def _window(rng: Rng, shape: str, scale: float, largest: tuple[int, int]) -> tuple[int, int]:
    """Return width and height of the window, in pixels of the document."""
    least, most = WINDOWS[shape]
    sides = (magnitude(rng, low, high) for low, high in zip(least, most, strict=True))
    width, height = (min(int(whole / scale), int(side)) for whole, side in zip(largest, sides, strict=True))
    return width, height


WINDOWS: Mapping[str, tuple[tuple[int, int], tuple[int, int]]] = {
    "component": ((180, 70), (800, 420)),
    "panel": ((240, 160), (680, 600)),
    "window": ((720, 460), (1281, 901)),
    "phone": ((320, 480), (440, 900)),
}
"""Shape of a page -> the least and the largest width and height."""


def any_part(writer: Writer) -> str:
    """Return any component, in its frame."""
    weights = np.array(list(PARTS.values()))
    chosen = int(writer.rng.choice(len(weights), p=weights / weights.sum()))
    return f'<div class="w-part">{list(PARTS)[chosen](writer)}</div>'


def _component(writer: Writer, width: int, height: int) -> str:
    """Return one or two components on empty background."""
    return "".join(any_part(writer) for _ in range(writer.count(1, 2 if height > 130 else 1)))


def _panel(writer: Writer, width: int, height: int) -> str:
    """Return some components, one below the other or two side by side."""
    count = 1 + int(width * height / 45_000 * writer.rng.uniform(0.5, 1.3))
    parts = []
    for _ in range(min(count, 9)):
        if width > 520 and writer.chance(0.22):
            parts.append(f'<div class="w-columns">{any_part(writer)}{any_part(writer)}</div>')
        else:
            parts.append(any_part(writer))
    return "".join(parts)


def _page(writer: Writer, width: int, height: int) -> str:
    """Return a window: a bar at the top, a menu at the side, and the working area."""
    top = _framed(writer, navigation if writer.chance(0.6) else toolbar)
    main = LAYOUTS[writer.count(0, len(LAYOUTS) - 1)](writer)
    if writer.chance(0.45):
        side = _framed(writer, _beside(writer)) + (any_part(writer) if writer.chance(0.4) else "")
        return f'{top}<div class="w-shell"><div>{side}</div><div>{main}</div></div>'
    return top + main


def _beside(writer: Writer) -> Component:
    """Return the side of a window."""
    return (menu, tree, preferences, bullet_list)[writer.count(0, 3)]


def _phone(writer: Writer, width: int, height: int) -> str:
    """Return a screen of a phone: a bar, the content, tools at the foot."""
    top = f'<div class="w-line">{writer.icon(20)}<b class="w-grow" data-e="heading">{writer.words(1, 2)}</b>{writer.icon(20)}</div>'
    main = "".join(any_part(writer) for _ in range(1 + height // 220))
    foot = "".join(writer.icon(22) for _ in range(writer.count(3, 5)))
    bar = f'<div class="w-foot-bar" data-e="toolbar" style="top:{height - 42}px">{foot}</div>'
    return top + main + (bar if writer.chance(0.6) else "")


def _framed(writer: Writer, component: Component) -> str:
    return f'<div class="w-part">{component(writer)}</div>'


def _settings(writer: Writer) -> str:
    fields = "".join(_framed(writer, text_field) for _ in range(writer.count(2, 4)))
    return _framed(writer, heading) + fields + "".join(any_part(writer) for _ in range(3))


def _dashboard(writer: Writer) -> str:
    return (
        _framed(writer, statistics)
        + f'<div class="w-columns">{_framed(writer, chart)}{_framed(writer, bullet_list)}</div>'
        + _framed(writer, table)
    )


def _article(writer: Writer) -> str:
    parts = "".join(_framed(writer, prose) for _ in range(writer.count(1, 3)))
    over = (
        f'<div class="w-over" style="top:120px;left:30%">{dialog(writer)}</div>' if writer.chance(0.2) else ""
    )
    return _framed(writer, heading) + parts + any_part(writer) + over


def _free(writer: Writer) -> str:
    return _panel(writer, 700, 560)


def _two_by_two(writer: Writer) -> str:
    """Return cards of charts and numbers in rows."""
    rows = []
    for _ in range(writer.count(2, 3)):
        cells = []
        for _ in range(writer.count(2, 3)):
            graphic = list(GRAPHICS)[writer.count(0, len(GRAPHICS) - 1)](writer)
            title = writer.part("card-title", writer.words(1, 2), "heading")
            cells.append(writer.part("card", writer.part("card-body", title + graphic), "card"))
        rows.append(f'<div class="w-part w-columns">{"".join(cells)}</div>')
    return "".join(rows)


def _mail(writer: Writer) -> str:
    """Return a mail program: folders, the messages of one, and an open message."""
    read = heading(writer) + prose(writer) + buttons(writer)
    return f'<div class="w-three"><div>{tree(writer)}</div><div>{news(writer)}</div><div>{read}</div></div>'


def _code(writer: Writer) -> str:
    """Return an editor: files, a program, a terminal."""
    main = tabs(writer) + program(writer) + (terminal(writer) if writer.chance(0.5) else "")
    return f'<div class="w-three"><div>{tree(writer)}</div><div style="flex:1">{main}</div></div>'


def _entry(writer: Writer) -> str:
    """Return a small form in the middle."""
    return f'<div class="w-middle">{sign_in(writer)}</div>'


def _front(writer: Writer) -> str:
    """Return a landing page."""
    return _framed(writer, hero) + _framed(writer, cards) + _framed(writer, footer)


def _records(writer: Writer) -> str:
    """Return a table with its tools."""
    parts = (page_head, search_field, data_grid, pagination)
    return "".join(_framed(writer, part) for part in parts)


def _shop(writer: Writer) -> str:
    """Return a shop: pictures of its goods."""
    return (
        _framed(writer, page_head)
        + _framed(writer, gallery)
        + _framed(writer, chips)
        + _framed(writer, gallery)
    )


LAYOUTS = (
    *(_settings, _dashboard, _article, _free, _free, _two_by_two, _mail, _code, _entry, _front, _records),
    *(_shop, lambda w: _framed(w, board), lambda w: _framed(w, editor), lambda w: _framed(w, form)),
)
"""The functions for the content of a window, all equally frequent."""
WRITERS: Mapping[str, Callable[[Writer, int, int], str]] = {
    "component": _component,
    "panel": _panel,
    "window": _page,
    "phone": _phone,
}
"""Shape of a page -> the function that writes it."""
