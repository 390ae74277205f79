"""Small pages, as HTML for Chromium, in which one thing changes, or only the rendering.

A page is a few components in one look. A pair is either two looks of one page, which differ in a value of
``Look``, or one look rendered in two ways. The given random generator determines everything.
"""

import html
from dataclasses import dataclass, replace

import numpy as np

Rng = np.random.Generator
Color = tuple[int, int, int]

FACES: dict[str, tuple[int, ...]] = {
    "Inter": (400, 500, 600, 700),
    "Roboto": (400, 500, 700),
    "Open Sans": (400, 600, 700),
    "Lato": (400, 600, 700),
    "Cantarell": (400, 700),
    "Liberation Sans": (400, 700),
    "DejaVu Sans": (400, 700),
}
"""Faces and the weights that they are drawn in."""
WORDS = (
    *("save", "cancel", "delete", "report", "monthly", "team", "closed", "tickets", "in", "March", "that"),
    *("is", "more", "than", "mean", "time", "to", "answer", "hours", "update", "your", "card", "expires"),
    *("at", "the", "end", "of", "this", "month", "read", "settings", "profile", "invoice", "total", "open"),
    *("sign", "out", "search", "results", "project", "members", "share", "export", "import", "new", "file"),
    *("folder", "preview", "publish", "draft"),
)


@dataclass(frozen=True)
class Look:
    """What a page is drawn by; lengths in CSS pixels.

    part  the parts to draw: buttons, card, table, form, dots
    text  the words and numbers of the parts
    move  how far the middle part is moved, right and down
    """

    parts: tuple[str, ...]
    text: tuple[str, ...]
    face: str
    size: float
    weight: int
    ground: Color
    fill: Color
    ink: Color
    border: Color
    accent: Color
    radius: float
    line: float
    ring: float
    dots: tuple[tuple[int, int], ...]
    dot: float
    shadow: str = "none"
    move: tuple[float, float] = (0, 0)
    pad: tuple[float, float] = (8, 14)


def random_look(rng: Rng, parts: tuple[str, ...] = ()) -> Look:
    """A page in a look of its own, light or dark."""
    dark = rng.random() < 0.25
    base = rng.integers(8, 48, 3) if dark else rng.integers(238, 256, 3)
    if rng.random() < 0.5:
        base[:] = base[0]
    away = 1 if dark else -1
    names = ("buttons", "card", "table", "form")
    chosen = parts or tuple(rng.permutation(names)[: rng.integers(2, 4)].tolist())
    face = str(rng.choice(list(FACES)))
    ink = base.astype(int) + away * rng.integers(90, 205)
    return Look(
        parts=chosen,
        text=tuple(_phrase(rng) for _ in range(24)),
        face=face,
        size=float(rng.choice([11, 12, 13, 14, 14, 15, 16, 18])),
        weight=int(rng.choice(FACES[face][:2])),
        ground=_color(base),
        fill=_color(base + away * rng.integers(0, 14)),
        ink=_color(ink),
        border=_color(base + away * rng.integers(14, 90)),
        accent=_color(rng.integers(0, 256, 3)),
        radius=float(rng.choice([0, 2, 4, 6, 8])),
        line=float(rng.choice([1, 1, 2])),
        ring=0.0,
        dots=tuple((int(x), int(y)) for x, y in rng.integers(10, 100, (int(rng.integers(6, 30)), 2))),
        dot=float(rng.uniform(2, 4)),
    )


def with_digit(rng: Rng, look: Look) -> tuple[Look, Look]:
    """The page with a number in a place of its own or in words, and the same with one digit exchanged."""
    number = f"{rng.integers(1, 1000)}.{rng.integers(10, 100)}"
    at = int(rng.choice([k for k, letter in enumerate(number) if letter.isdigit()]))
    other = str(rng.choice([d for d in "0123456789" if d != number[at] and not (at == 0 and d == "0")]))
    place = int(rng.integers(0, 8))
    words = look.text[place].split()[:2] if rng.random() < 0.6 else []
    texts = []
    for value in (number, number[:at] + other + number[at + 1 :]):
        text = list(look.text)
        text[place] = " ".join([*words, value])
        texts.append(replace(look, text=tuple(text)))
    return texts[0], texts[1]


def page(look: Look, extra: str = "") -> str:
    """The whole document. extra: CSS that changes how it is drawn, not what it shows."""
    css = (
        f"*{{box-sizing:border-box}}body{{margin:0;padding:18px;background:{_css(look.ground)};"
        f"color:{_css(look.ink)};font:{look.weight} {look.size}px '{look.face}';line-height:1.4}}"
        f".b{{display:inline-block;padding:{look.pad[0]}px {look.pad[1]}px;margin-right:10px;"
        f"border:{look.line}px solid {_css(look.border)};border-radius:{look.radius}px;"
        f"background:{_css(look.fill)}}}"
        f".p{{background:{_css(look.accent)};color:{_css(_on(look.accent))};border-color:transparent}}"
        f".f{{outline:{look.ring}px solid {_css(look.accent)};outline-offset:1px}}"
        f".c{{border:{look.line}px solid {_css(look.border)};border-radius:{look.radius}px;"
        f"background:{_css(look.fill)};padding:12px;box-shadow:{look.shadow};max-width:340px}}"
        f"td{{border-bottom:1px solid {_css(look.border)};padding:3px 14px 3px 0}}"
        f".i{{border:{look.line}px solid {_css(look.border)};border-radius:{look.radius}px;"
        f"background:{_css(look.fill)};padding:5px 8px;width:200px}}"
        "section{margin-bottom:14px}h4,p{margin:0 0 6px}em{display:inline-block;font-style:normal}"
        f"section:nth-child(2){{position:relative;left:{look.move[0]}px;top:{look.move[1]}px}}{extra}"
    )
    parts = {"buttons": _buttons, "card": _card, "table": _table, "form": _form, "dots": _dots}
    body = "".join(f"<section>{parts[name](look)}</section>" for name in look.parts)
    return f"<!doctype html><html><head><style>{css}</style></head><body>{body}</body></html>"


def _buttons(look: Look) -> str:
    one, two, three = (_drawn(text) for text in look.text[:3])
    return f'<span class="b f">{one}</span><span class="b p">{two}</span><span class="b">{three}</span>'


def _card(look: Look) -> str:
    head, body = _drawn(look.text[3]), _drawn(" ".join(look.text[4:8]))
    return f'<div class="c"><h4>{head}</h4><p>{body}</p></div>'


def _table(look: Look) -> str:
    cells = [_drawn(text) for text in (*look.text[:3], *look.text[8:14])]
    rows = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells[k : k + 3])}</tr>" for k in (0, 3, 6))
    return f'<table cellspacing="0">{rows}</table>'


def _form(look: Look) -> str:
    label, value = (_drawn(text) for text in look.text[4:6])
    return f'<p>{label}</p><div class="i f">{value}</div>'


def _dots(look: Look) -> str:
    circles = "".join(
        f'<circle cx="{3 * x}" cy="{y}" r="{look.dot}" fill="{_css(look.accent)}"/>' for x, y in look.dots
    )
    frame = f'<path d="M5.5 4V106.5H320" fill="none" stroke="{_css(look.border)}"/>'
    return f'<svg width="330" height="112">{frame}{circles}</svg>'


def _drawn(text: str) -> str:
    """Text in an element of its own, so that it alone can be drawn in another way."""
    return f"<em>{html.escape(text)}</em>"


def _phrase(rng: Rng) -> str:
    words = rng.choice(WORDS, int(rng.integers(1, 4))).tolist()
    if rng.random() < 0.25:
        words.append(f"{rng.integers(1, 2000)}.{rng.integers(10, 100)}")
    return " ".join(words).capitalize()


def _color(levels: "np.ndarray[tuple[int], np.dtype[np.signedinteger]]") -> Color:
    red, green, blue = (int(level) for level in np.clip(levels, 0, 255))
    return red, green, blue


def _on(color: Color) -> Color:
    return (255, 255, 255) if sum(color) < 420 else (17, 17, 17)


def _css(color: Color) -> str:
    return f"rgb{color}"
