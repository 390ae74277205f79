"""Changes of colour: of ink, fill, border, opacity, of a whole theme."""

from whatchanged.synth.screens.choices import magnitude
from whatchanged.synth.screens.pages.changes.edit import (
    PageEdit,
    Setting,
    Way,
    call,
    has_text,
    other_color,
    sign,
    styled,
)
from whatchanged.synth.screens.words import Rng


def ink(rng: Rng, at: Setting) -> PageEdit | None:
    """Another colour of text or of an icon."""
    e = at.element
    if not has_text(e) and e.element not in ("icon", "icon button"):
        return None
    if e.tag == "text":
        return PageEdit("recolored", "ink", styled(fill=other_color(rng, e.svg_fill)), alike=True)
    return PageEdit("recolored", "ink", styled(color=other_color(rng, e.color)), alike=True)


def fill(rng: Rng, at: Setting) -> PageEdit | None:
    """Another fill, of a box or of a mark in a chart."""
    e = at.element
    if e.tag in ("rect", "circle", "path"):
        return PageEdit("recolored", "fill", styled(fill=other_color(rng, e.svg_fill)), alike=True)
    if e.tag in ("polyline", "line"):
        return PageEdit("recolored", "ink", styled(stroke=other_color(rng, e.stroke)), alike=True)
    if e.fill[3] < 0.04 or e.tag == "svg":
        return None
    color = other_color(rng, e.fill)
    return PageEdit("recolored", "fill", styled(background_color=color, background_image="none"), alike=True)


def new_fill(rng: Rng, at: Setting) -> PageEdit | None:
    """A fill where there was none."""
    e = at.element
    roomy = e.element in (
        "table row",
        "table cell",
        "list item",
        "menu item",
        "card",
        "heading",
        "label",
        "tab",
    )
    if not roomy or e.fill[3] > 0.04 or e.drawn:
        return None
    color = other_color(rng, (*e.ground, 1.0))
    return PageEdit("recolored", "fill", styled(background_color=color), alike=True)


def border(rng: Rng, at: Setting) -> PageEdit | None:
    """Another colour of a border."""
    e = at.element
    if e.border < 0.9 or e.border_color[3] < 0.1:
        return None
    return PageEdit("recolored", "border", styled(border_color=other_color(rng, e.border_color)), alike=True)


def opacity(rng: Rng, at: Setting) -> PageEdit | None:
    """Paler than before, or no longer pale."""
    e = at.element
    if e.opacity < 0.7:
        return PageEdit("recolored", "opacity", styled(opacity="1"), alike=True)
    value = 1 - magnitude(rng, 0.08, 0.8)
    return PageEdit("recolored", "opacity", styled(opacity=f"{e.opacity * value:.2f}"), alike=True)


def theme(rng: Rng, at: Setting) -> PageEdit | None:
    """Another ground and ink of the whole page: light, dark, or another tint of either."""
    if at.element.element != "page":
        return None
    ground = other_color(rng, at.element.fill)
    parts = [float(part) for part in ground[5:-1].split(",")[:3]]
    ink_color = "#f0f0f0" if sum(parts) < 330 else "#1c1c1c"
    return PageEdit("recolored", "theme", call("theme", ground, ink_color))


def disabled(rng: Rng, at: Setting) -> PageEdit | None:
    """Disabled, or no longer; it looks paler."""
    e = at.element
    if e.tag not in ("button", "input", "select", "textarea", "sl-button", "sl-input"):
        return None
    on = not e.disabled
    opacity = f"{rng.uniform(0.35, 0.7):.2f}" if on and rng.random() < 0.5 else None
    return PageEdit("recolored", "opacity", call("disabled", on, opacity), state="disabled", on=on)


def selected(rng: Rng, at: Setting) -> PageEdit | None:
    """Marked as the chosen one, by a fill in the page's accent."""
    e = at.element
    if e.element not in ("menu item", "tab", "table row", "list item", "day", "page button", "chip"):
        return None
    strong = rng.random() < 0.5
    look = {"background_color": "var(--w-accent)", "color": "var(--w-on-accent)"}
    faint = {"background_color": "var(--w-tint)"}
    return PageEdit("recolored", "fill", styled(**(look if strong else faint)), state="selected", on=True)


def hovered(rng: Rng, at: Setting) -> PageEdit | None:
    """A little lighter or darker, as under the pointer."""
    e = at.element
    if e.element not in ("button", "icon button", "menu item", "tab", "navigation link", "link", "table row"):
        return None
    if e.fill[3] < 0.04:
        return PageEdit("recolored", "fill", styled(background_color="#8884"), state="hovered", on=True)
    level = 1 + sign(rng) * rng.uniform(0.1, 0.25)
    return PageEdit("recolored", "fill", styled(filter=f"brightness({level:.2f})"), state="hovered", on=True)


def error(rng: Rng, at: Setting) -> PageEdit | None:
    """A field with a red border, as where something wrong was typed."""
    e = at.element
    if e.element not in ("text field", "text area", "select", "search field") or e.border < 0.4:
        return None
    return PageEdit("recolored", "border", styled(border_color="#d32f2f"), state="error", on=True)


COLORS: dict[Way, float] = {
    ink: 1.0,
    fill: 1.3,
    new_fill: 0.4,
    border: 1.2,
    opacity: 0.5,
    theme: 0.25,
    disabled: 0.4,
    selected: 0.5,
    hovered: 0.3,
    error: 0.35,
}
"""How often each is tried."""
