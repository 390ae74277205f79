"""Changes of style: borders, corners, shadows, fonts, clipping, and focus frames."""

from whatchanged.synth.screens.pages.changes.edit import PageEdit, Setting, Way, has_look, has_text, styled
from whatchanged.synth.screens.words import Rng

FACES = ("DejaVu Serif", "DejaVu Sans Mono", "Liberation Serif", "Lato", "Liberation Sans")


def border_width(rng: Rng, at: Setting) -> PageEdit | None:
    """A thicker border, or none; the box keeps its size."""
    e = at.element
    if e.border < 0.9 or e.border_color[3] < 0.1:
        return None
    width = float(rng.choice([0.0, 2.0, 3.0, 4.0]))
    if abs(width - e.border) < 0.5:
        return None
    style = styled(
        border_width=f"{width}px", box_sizing="border-box", width=f"{e.width}px", height=f"{e.height}px"
    )
    return PageEdit("restyled", "border width", style, alike=True)


def border_style(rng: Rng, at: Setting) -> PageEdit | None:
    """A dashed or dotted border."""
    e = at.element
    if e.border < 0.9 or e.border_color[3] < 0.2:
        return None
    style = str(rng.choice(["dashed", "dotted"]))
    on = True if style == "dashed" else None  # nothing is said of dots
    return PageEdit("restyled", "line style", styled(border_style=style), on=on, alike=True)


def new_border(rng: Rng, at: Setting) -> PageEdit | None:
    """A border where there was none, inside the box."""
    e = at.element
    if e.border > 0.4 or not (e.fill[3] > 0.04 or e.picture) or e.drawn or e.element == "page":
        return None
    width = int(rng.integers(1, 4))
    color = str(rng.choice(["#888888", "#222222", "#1a73e8", "#d93025"]))
    style = styled(outline=f"{width}px solid {color}", outline_offset=f"-{width}px")
    return PageEdit("restyled", "border width", style, alike=True)


def radius(rng: Rng, at: Setting) -> PageEdit | None:
    """Rounder or sharper corners."""
    e = at.element
    shows = e.fill[3] > 0.04 or e.picture or (e.border > 0.9 and e.borders == 4)
    if not shows or e.drawn or e.element in ("table row", "table cell", "column header", "page"):
        return None
    new = float(rng.choice([0, 2, 4, 6, 8, 12, 20]))
    if abs(new - e.radius) < 2 or min(e.width, e.height) < 10:
        return None
    return PageEdit("restyled", "radius", styled(border_radius=f"{new}px"), alike=True)


def shadow(rng: Rng, at: Setting) -> PageEdit | None:
    """A shadow, or none."""
    e = at.element
    if e.drawn or not has_look(e) or e.element in ("table row", "table cell", "page"):
        return None
    if e.shadow:
        return PageEdit("restyled", "shadow", styled(box_shadow="none"), on=False, alike=True)
    depth = int(rng.integers(2, 14))
    strength = rng.uniform(0.25, 0.6)
    style = styled(box_shadow=f"0 {depth // 2}px {depth}px rgba(0,0,0,{strength:.2f})")
    return PageEdit("restyled", "shadow", style, on=True, alike=True)


def weight(rng: Rng, at: Setting) -> PageEdit | None:
    """Bold, or no longer."""
    e = at.element
    if not has_text(e):
        return None
    return PageEdit("restyled", "weight", styled(font_weight="400" if e.weight > 500 else "700"), alike=True)


def slant(rng: Rng, at: Setting) -> PageEdit | None:
    """Italic, or no longer."""
    e = at.element
    if not has_text(e):
        return None
    style = styled(font_style="normal" if e.italic else "italic")
    return PageEdit("restyled", "slant", style, on=not e.italic, alike=True)


def face(rng: Rng, at: Setting) -> PageEdit | None:
    """Another typeface."""
    if not has_text(at.element):
        return None
    return PageEdit(
        "restyled", "face", styled(font_family=f"'{rng.choice(FACES)}',var(--w-font)"), alike=True
    )


def decoration(rng: Rng, at: Setting) -> PageEdit | None:
    """Underlined, struck through, or no longer."""
    e = at.element
    if not has_text(e) or e.tag == "text":
        return None
    line = "none" if e.underlined else str(rng.choice(["underline", "underline", "line-through"]))
    return PageEdit("restyled", "decoration", styled(text_decoration=line), on=not e.underlined, alike=True)


def letter_case(rng: Rng, at: Setting) -> PageEdit | None:
    """In capitals."""
    e = at.element
    if not has_text(e) or e.text.upper() == e.text:
        return None
    return PageEdit("restyled", "letter case", styled(text_transform="uppercase"), on=True, alike=True)


def line_spacing(rng: Rng, at: Setting) -> PageEdit | None:
    """Lines farther apart or closer."""
    e = at.element
    if not has_text(e) or e.height < 2.4 * e.size or e.drawn:
        return None
    return PageEdit(
        "restyled", "line spacing", styled(line_height=str(rng.choice(["1.1", "1.25", "1.8", "2.1"])))
    )


def clipping(rng: Rng, at: Setting) -> PageEdit | None:
    """Text that no longer fits and ends in an ellipsis, or is cut."""
    e = at.element
    if not has_text(e) or e.drawn or e.ink is None or e.ink[2] - e.ink[0] < 50:
        return None
    width = (e.ink[2] - e.ink[0]) * rng.uniform(0.4, 0.85) + e.padding[1] + e.padding[3]
    display = {} if e.display not in ("inline", "inline-block") else {"display": "inline-block"}
    style = styled(
        overflow="hidden",
        white_space="nowrap",
        text_overflow=str(rng.choice(["ellipsis", "ellipsis", "clip"])),
        max_width=f"{width:.0f}px",
        min_width="0",
        vertical_align="bottom",
        **display,
    )
    return PageEdit("restyled", "clipping", style, on=True)


def focus(rng: Rng, at: Setting) -> PageEdit | None:
    """A frame around what has the focus."""
    e = at.element
    able = (
        "button",
        "icon button",
        "link",
        "text field",
        "text area",
        "select",
        "checkbox",
        "radio button",
        "tab",
    )
    if e.element not in (*able, "switch", "search field", "menu item", "navigation link", "page button"):
        return None
    color = str(rng.choice(["#1a73e8", "#888888", "#d93025", "#ffbf00"]))
    width, gap = int(rng.integers(1, 4)), int(rng.integers(-1, 3))
    glow = {"box_shadow": f"0 0 0 {width}px {color}88"}
    line = {"outline": f"{width}px solid {color}", "outline_offset": f"{gap}px"}
    return PageEdit(
        "restyled", "outline", styled(**(line if rng.random() < 0.7 else glow)), state="focused", on=True
    )


def texture(rng: Rng, at: Setting) -> PageEdit | None:
    """Stripes on what was plain."""
    e = at.element
    if e.element not in ("progress bar", "banner", "card", "chart bar", "toolbar") or e.drawn:
        return None
    stripes = "repeating-linear-gradient(45deg,#8885 0 6px,transparent 6px 12px)"
    return PageEdit("restyled", "texture", styled(background_image=stripes), on=True)


def sharpness(rng: Rng, at: Setting) -> PageEdit | None:
    """A blurred picture."""
    if at.element.element not in ("picture", "avatar"):
        return None
    return PageEdit("restyled", "sharpness", styled(filter=f"blur({rng.uniform(1.5, 4):.1f}px)"), on=True)


def line_width(rng: Rng, at: Setting) -> PageEdit | None:
    """A thicker or thinner line in a chart or an icon."""
    e = at.element
    if e.tag not in ("polyline", "svg") or e.element not in ("series", "icon") or e.stroke_width == 0:
        return None
    width = e.stroke_width * float(rng.choice([0.5, 1.6, 2.2]))
    return PageEdit("restyled", "line width", styled(stroke_width=f"{width:.1f}"), alike=True)


STYLES: dict[Way, float] = {
    border_width: 1.0,
    border_style: 0.35,
    new_border: 0.5,
    radius: 1.0,
    shadow: 0.8,
    weight: 0.6,
    slant: 0.35,
    face: 0.7,
    decoration: 0.4,
    letter_case: 0.25,
    line_spacing: 0.2,
    clipping: 0.4,
    focus: 0.8,
    texture: 0.2,
    sharpness: 0.3,
    line_width: 0.4,
}
"""How often each is tried."""
