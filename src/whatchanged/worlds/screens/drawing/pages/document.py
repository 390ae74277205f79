"""Whole documents: what stands on a page, its theme, its font, its size."""

from dataclasses import dataclass

import numpy as np

from whatchanged.records import Split
from whatchanged.worlds.screens.drawing.fonts import font_stack, fonts_of
from whatchanged.worlds.screens.drawing.pages.components import (
    COMPONENTS,
    Component,
    bullet_list,
    chart,
    dialog,
    heading,
    menu,
    navigation,
    prose,
    statistics,
    table,
    text_field,
    toolbar,
)
from whatchanged.worlds.screens.drawing.pages.designs import Library
from whatchanged.worlds.screens.drawing.pages.writer import Writer
from whatchanged.worlds.screens.drawing.words import LANGUAGES, Rng, Texts, random_language
from whatchanged.worlds.screens.truth import Value

LIGHT = ("#ffffff", "#ffffff", "#ffffff", "#fafafa", "#f5f6f8", "#fdf8ee")
DARK = ("#121212", "#1e1e2e", "#22272e", "#2b2b2b", "#0d1b2a")
CONTRAST = ("#000000", "#ffffff")
ACCENTS = (
    "#1a73e8",
    "#0b8043",
    "#d93025",
    "#f29900",
    "#7b1fa2",
    "#00838f",
    "#424242",
    "#e91e63",
    "#5c6bc0",
    "#8d6e63",
    "#9e9d24",
)
PALE = ("#f29900", "#9e9d24")
"""Accents on which text is dark."""
MARGINS = (4, 8, 12, 16, 24)
SCALES = (1.0, 1.0, 1.0, 1.5, 2.0)


@dataclass(frozen=True)
class Document:
    """A page to be shown.

    body: HTML. theme: CSS variables, for the style of the root element. root: attributes of the root element.
    width, height: of the window, in pixels of the document; scale: device pixels for each.
    fitted: the picture ends where the content does. design: what its look is made of.
    """

    body: str
    theme: str
    root: str
    width: int
    height: int
    scale: float
    fitted: bool
    design: dict[str, Value]


def write_document(rng: Rng, library: Library, split: Split, largest: tuple[int, int]) -> Document:
    """A random page under a library; its picture has at most ``largest`` width and height."""
    language = random_language(rng)
    fonts = fonts_of(split)
    font = fonts[int(rng.integers(len(fonts)))]
    shape = str(rng.choice(["component", "panel", "window"], p=[0.5, 0.36, 0.14]))
    scale = 1.0 if shape == "window" else float(rng.choice(SCALES))
    width, height = _window(rng, shape, scale, largest)
    dark = bool(rng.random() < 0.28)
    theme, look = random_theme(rng, font, language, dark, width)
    rtl = LANGUAGES[language].rtl or bool(rng.random() < 0.02)
    writer = Writer(rng, library, Texts(rng, language))
    body = {"component": _component, "panel": _panel, "window": _page}[shape](writer, width, height)
    root = f'dir="{"rtl" if rtl else "ltr"}" lang="{language}" {library.dark if dark else ""}'
    design: dict[str, Value] = {
        "library": library.name,
        "font": font,
        "language": language,
        "rtl": rtl,
        "shape": shape,
        "scale": scale,
        **look,
    }
    fitted = shape != "window" and bool(rng.random() < 0.6)
    return Document(body, theme, root, width, height, scale, fitted, design)


def _window(rng: Rng, shape: str, scale: float, largest: tuple[int, int]) -> tuple[int, int]:
    most_width, most_height = int(largest[0] / scale), int(largest[1] / scale)
    if shape == "window":
        return min(most_width, int(rng.integers(760, 1281))), min(most_height, int(rng.integers(480, 901)))
    if shape == "component":
        return min(most_width, int(rng.integers(110, 420))), min(most_height, int(rng.integers(60, 280)))
    return min(most_width, int(rng.integers(260, 680))), min(most_height, int(rng.integers(160, 560)))


def random_theme(rng: Rng, font: str, language: str, dark: bool, width: int) -> tuple[str, dict[str, Value]]:
    """CSS variables of the page's own look, and what they are called in its design."""
    contrast = bool(rng.random() < 0.07)
    grounds = (CONTRAST[0] if dark else CONTRAST[1],) if contrast else DARK if dark else LIGHT
    ground = grounds[int(rng.integers(len(grounds)))]
    inks = ("#eeeeee", "#d0d0d0", "#ffffff") if dark else ("#000000", "#222222", "#3c4043")
    ink = inks[int(rng.integers(len(inks)))]
    accent = ACCENTS[int(rng.integers(len(ACCENTS)))]
    density = str(rng.choice(["compact", "normal", "loose"], p=[0.3, 0.5, 0.2]))
    pad = {"compact": 3, "normal": 6, "loose": 10}[density]
    mono = "Fira Code" if font == "Fira Code" else "DejaVu Sans Mono"
    variables = {
        "ground": ground,
        "ink": ink,
        "accent": accent,
        "on-accent": "#111111" if accent in PALE else "#ffffff",
        "line": "#ffffff" if contrast and dark else "#000000" if contrast else "#8888887a",
        "soft": "#88888826",
        "tint": f"{accent}24",
        "raised": ground if rng.random() < 0.5 else ("#ffffff12" if dark else "#ffffff"),
        "radius": f"{int(rng.choice([0, 2, 4, 6, 8, 12]))}px",
        "pad": f"{pad}px",
        "gap": f"{pad + int(rng.integers(2, 9))}px",
        "size": str(rng.choice(["12px", "13px", "14px", "14px", "15px", "16px"])),
        "margin": f"{int(rng.choice(MARGINS))}px",
        "width": f"{width}px",
        "font": font_stack(font, language),
        "mono": font_stack(mono, language, "monospace"),
    }
    css = ";".join(f"--w-{name}:{value}" for name, value in variables.items())
    theme = ("contrast " if contrast else "") + ("dark" if dark else "light")
    return css, {"theme": theme, "accent": accent, "density": density}


def any_part(writer: Writer) -> str:
    """Any component, in its frame."""
    weights = np.array(list(COMPONENTS.values()))
    chosen = int(writer.rng.choice(len(weights), p=weights / weights.sum()))
    return f'<div class="w-part">{list(COMPONENTS)[chosen](writer)}</div>'


def _component(writer: Writer, width: int, height: int) -> str:
    """One or two components on empty ground."""
    return "".join(any_part(writer) for _ in range(writer.count(1, 2 if height > 130 else 1)))


def _panel(writer: Writer, width: int, height: int) -> str:
    """Some components, one under the other or two side by side."""
    count = 1 + int(width * height / 45_000 * writer.rng.uniform(0.5, 1.3))
    parts = []
    for _ in range(min(count, 9)):
        if width > 380 and writer.chance(0.22):
            parts.append(f'<div class="w-columns">{any_part(writer)}{any_part(writer)}</div>')
        else:
            parts.append(any_part(writer))
    return "".join(parts)


def _page(writer: Writer, width: int, height: int) -> str:
    """A window: a bar at the top, a menu at the side, and what one works with."""
    layout = writer.any_of({"settings": 1, "dashboard": 1, "article": 1, "free": 1.5})
    top = _framed(writer, navigation if writer.chance(0.6) else toolbar)
    main = {"settings": _settings, "dashboard": _dashboard, "article": _article, "free": _free}[layout](
        writer
    )
    if writer.chance(0.55):
        side = _framed(writer, menu) + (any_part(writer) if writer.chance(0.4) else "")
        return f'{top}<div class="w-shell"><div>{side}</div><div>{main}</div></div>'
    return top + main


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
