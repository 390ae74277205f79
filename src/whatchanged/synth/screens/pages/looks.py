"""Random styles of pages: colours, fonts, spacing, corners, and treatments of each part
(``treatments.toml``).

A page in our own design has a random treatment of each part, so that hardly two pages share a design. A page
of a published library has some of the library's measures altered. Treatments of validation and test are held
out.
"""

import colorsys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from whatchanged.records import Split
from whatchanged.synth.screens.choices import pick
from whatchanged.synth.screens.fonts import font_stack, fonts_of
from whatchanged.synth.screens.words import Rng
from whatchanged.worlds.screens.truth import Value

SIZES = (11.0, 12.0, 12.5, 13.0, 13.0, 14.0, 14.0, 14.0, 15.0, 16.0, 16.0, 17.0, 18.0)
RADII = (0, 0, 1, 2, 3, 4, 4, 6, 8, 10, 12, 16)
STROKES = (1.0, 1.0, 1.0, 1.5, 2.0, 2.0)
MARGINS = (0, 4, 8, 8, 12, 16, 16, 24, 32)
SHADOWS = (
    "0 1px 2px #0000002e",
    "0 1px 3px #0000001f,0 1px 2px #0000003d",
    "0 2px 6px #00000033",
    "0 4px 12px #0000002e",
    "0 8px 24px #00000029",
    "0 0 0 1px #0000001a,0 3px 10px #00000024",
)
ICON_STYLES = (
    'stroke-linecap="round" stroke-linejoin="round"',
    'stroke-linecap="round" stroke-linejoin="round"',
    "",
    'stroke-linecap="square"',
    'style="fill:currentColor;fill-opacity:.25"',
    'style="fill:var(--w-tint)" stroke-linejoin="round"',
    'style="color:var(--w-accent)"',
)
"""Attributes that the icons of one page share."""
HEADED = 0.3
"""The fraction of our own pages whose headings have a font of their own."""
ALTERED = 0.6
"""The fraction of pages of a published library with some altered measures."""
CONTRAST = 0.06
"""The fraction of pages in high contrast."""


@dataclass(frozen=True)
class PageLook:
    """The style of one page.

    variables: CSS for the style of the root element. sheet: CSS rules. icons: attributes of icons. names: of
    the design's parts.
    """

    variables: str
    sheet: str
    icons: str
    names: dict[str, Value]


@cache
def treatments() -> Mapping[str, Mapping[Split, Mapping[str, str]]]:
    """Part -> split -> name -> CSS."""
    with (Path(__file__).parent / "treatments.toml").open("rb") as file:
        return tomllib.load(file)


def random_look(
    rng: Rng, split: Split, font: str, language: str, dark: bool, width: str, own: bool
) -> PageLook:
    """Return a random style of this split.

    width: of the body, in CSS. own: whether the page has our own design, not a library's.
    """
    contrast = bool(rng.random() < CONTRAST)
    colors = _contrast_colors(rng, dark) if contrast else _colors(rng, dark)
    pad = int(rng.choice([2, 3, 4, 5, 6, 6, 8, 8, 10, 13]))
    variables = {
        **colors,
        "radius": f"{pick(rng, RADII)}px",
        "stroke": f"{pick(rng, STROKES)}px",
        "shadow": pick(rng, SHADOWS),
        "pad": f"{pad}px",
        "gap": f"{pad + int(rng.integers(1, 12))}px",
        "size": f"{pick(rng, SIZES)}px",
        "leading": f"{rng.uniform(1.25, 1.7):.2f}",
        "margin": f"{pick(rng, MARGINS)}px",
        "width": width,
        "font": font_stack(font, language),
        "mono": font_stack("Fira Code" if font == "Fira Code" else "DejaVu Sans Mono", language, "monospace"),
    }
    css = ";".join(f"--w-{name}:{value}" for name, value in variables.items())
    theme = ("contrast " if contrast else "") + ("dark" if dark else "light")
    density = "compact" if pad < 4 else "loose" if pad > 8 else "normal"
    names: dict[str, Value] = {"theme": theme, "accent": colors["accent"], "density": density}
    if not own:
        return PageLook(css, _altered(rng), pick(rng, ICON_STYLES), names)
    sheet, chosen = _treated(rng, split)
    names |= {part: chosen[part] for part in ("button", "field", "card", "table")}
    return PageLook(css, sheet + _typed(rng, split, language), pick(rng, ICON_STYLES), names)


def _treated(rng: Rng, split: Split) -> tuple[str, dict[str, str]]:
    """Return a random treatment of each part, and the name of each."""
    chosen = {part: pick(rng, tuple(ways[split])) for part, ways in treatments().items()}
    return "".join(treatments()[part][split][name] for part, name in chosen.items()), chosen


def _typed(rng: Rng, split: Split, language: str) -> str:
    """Return the typography: weight and spacing of all text, a font of headings, the size of small text."""
    weight = rng.choice([300, 400, 400, 400, 500])
    rules = [f"body{{line-height:var(--w-leading) !important;font-weight:{weight}}}"]
    if rng.random() < 0.2:
        rules.append(f"body{{letter-spacing:{rng.uniform(-0.01, 0.03):.3f}em}}")
    if rng.random() < HEADED:
        stack = font_stack(pick(rng, fonts_of(split)), language)
        rules.append(f"body :is(h1,h2,h3,h4,h5):not(.w-mono){{font-family:{stack} !important}}")
    rules.append(f".w-hint,.w-badge{{font-size:{rng.uniform(0.7, 0.92):.2f}em}}")
    return "".join(rules)


def _altered(rng: Rng) -> str:
    """Return altered measures of a published library, as its users alter them."""
    if rng.random() > ALTERED:
        return ""
    controls = '[data-e="button"],[data-e="text field"],[data-e="select"],[data-e="text area"]'
    corners, shadow = f"{pick(rng, RADII)}px", pick(rng, SHADOWS)
    able = (
        _rule(controls, border_radius=corners),
        _rule('[data-e="button"]', padding=_room(rng, 14, 26), height="auto", line_height="1.3"),
        _rule('[data-e="button"]', font_weight=pick(rng, ("400", "600", "700"))),
        _rule('[data-e="button"],[data-e="column header"]', text_transform="uppercase"),
        _rule('[data-e="text field"],[data-e="select"]', padding=_room(rng, 10, 14), height="auto"),
        _rule('[data-e="card"],[data-e="menu"]', border_radius=corners, box_shadow=shadow),
        _rule('[data-e="card"]', border=f"{pick(rng, STROKES)}px solid var(--w-line)", box_shadow="none"),
        _rule('[data-e="table cell"],[data-e="column header"]', padding=_room(rng, 14, 18)),
        _rule('[data-e="heading"]', font_weight=pick(rng, ("300", "400", "600", "800"))),
        _rule('[data-e="heading"]', color="var(--w-accent)"),
        _rule('[data-e="chip"],[data-e="badge"]', border_radius=corners),
        _rule("body", font_size=f"{pick(rng, SIZES)}px"),
        _rule("body", line_height="var(--w-leading)"),
    )
    chosen = rng.permutation(len(able))[: int(rng.integers(1, 6))]
    return "".join(able[i] for i in sorted(chosen))


def _rule(selector: str, **properties: str) -> str:
    """Return a CSS rule that a library's own rules do not override."""
    inner = ";".join(f"{name.replace('_', '-')}:{value} !important" for name, value in properties.items())
    return f"{selector}{{{inner}}}"


def _room(rng: Rng, upright: int, across: int) -> str:
    """Return padding above and below, and at both sides, up to so many pixels."""
    return f"{rng.integers(1, upright)}px {rng.integers(4, across)}px"


def _hex(hue: float, vivid: float, light: float) -> str:
    """Return a colour by hue, saturation and lightness, each from 0 to 1."""
    return "#" + "".join(f"{round(255 * c):02x}" for c in colorsys.hls_to_rgb(hue % 1, light, vivid))


def _brightness(color: str) -> float:
    """Return how bright a colour looks, from 0 to 255."""
    red, green, blue = (int(color[i : i + 2], 16) for i in (1, 3, 5))
    return 0.299 * red + 0.587 * green + 0.114 * blue


def _on(color: str) -> str:
    """Return a text colour that is readable on a colour."""
    return "#111111" if _brightness(color) > 150 else "#ffffff"


def _accent(hue: float, vivid: float, light: float, dark: bool) -> str:
    """Return a colour that is readable on a light background, or on a dark one."""
    color = _hex(hue, vivid, light)
    while not dark and _brightness(color) > 155:
        light -= 0.03
        color = _hex(hue, vivid, light)
    while dark and _brightness(color) < 120:
        light += 0.03
        color = _hex(hue, vivid, light)
    return color


def _colors(rng: Rng, dark: bool) -> dict[str, str]:
    """Return the colours of background, text, accents, and the tones between them."""
    hue = rng.random()
    tone = hue if rng.random() < 0.6 else rng.random()
    vivid = rng.uniform(0.05, 0.3) if rng.random() < 0.12 else rng.uniform(0.4, 0.95)
    accent = _accent(hue, vivid, rng.uniform(0.5, 0.72) if dark else rng.uniform(0.27, 0.55), dark)
    second = _hex(hue + float(rng.choice([-1, 1])) * rng.uniform(0.06, 0.4), vivid, rng.uniform(0.35, 0.65))
    tint = float(rng.choice([0, 0.05, 0.15, 0.35]))
    if dark:
        light = rng.uniform(0.03, 0.2)
        ground, ink = _hex(tone, tint, light), _hex(tone, tint, rng.uniform(0.8, 1.0))
        raised = pick(rng, (ground, _hex(tone, tint, light + 0.05), "#ffffff12"))
    else:
        ground = "#ffffff" if rng.random() < 0.5 else _hex(tone, tint, rng.uniform(0.92, 0.99))
        ink = _hex(tone, tint, rng.uniform(0.0, 0.28))
        raised = pick(rng, (ground, "#ffffff", "#ffffff"))
    return {
        "ground": ground,
        "ink": ink,
        "accent": accent,
        "second": second,
        "on-accent": _on(accent),
        "line": f"{ink}{int(rng.integers(28, 110)):02x}",
        "soft": f"{ink}{int(rng.integers(10, 34)):02x}",
        "tint": f"{accent}{int(rng.integers(22, 60)):02x}",
        "raised": raised,
    }


def _contrast_colors(rng: Rng, dark: bool) -> dict[str, str]:
    """Return black, white and one bright colour."""
    ground, ink = ("#000000", "#ffffff") if dark else ("#ffffff", "#000000")
    accents: Sequence[str] = ("#ffff00", "#00ffff", "#ffd700") if dark else ("#0000cc", "#6a0000", "#005a00")
    accent = pick(rng, accents)
    return {
        "ground": ground,
        "ink": ink,
        "accent": accent,
        "second": ink,
        "on-accent": _on(accent),
        "line": ink,
        "soft": f"{ink}26",
        "tint": f"{accent}33",
        "raised": ground,
    }
