"""Changes of position and of size."""

from whatchanged.synth.screens.choices import magnitude
from whatchanged.synth.screens.pages.changes.edit import PageEdit, Setting, Way, call, has_text, sign, styled
from whatchanged.synth.screens.words import Rng

INLINE = ("inline", "contents")


def position(rng: Rng, at: Setting) -> PageEdit | None:
    """Elsewhere, the rest in place."""
    e = at.element
    if e.element == "page" or (e.drawn and e.tag != "svg"):
        return None
    step, along = magnitude(rng, 1, 40) * sign(rng), int(rng.integers(4))
    dx = 0.0 if along == 0 else step
    dy = 0.0 if along in (1, 2) else abs(step) * sign(rng)
    shift = f"{round(dx)}px {round(dy)}px"
    return PageEdit("moved", "position", styled(translate=shift))


def margin(rng: Rng, at: Setting) -> PageEdit | None:
    """More room outside, which pushes what follows."""
    e = at.element
    if e.drawn or e.element == "page" or e.tag in ("tr", "td", "th"):
        return None
    top = e.display not in INLINE and rng.random() < 0.6
    step = round(magnitude(rng, 2, 36))
    side, old = ("margin_top", e.margin[0]) if top else ("margin_left", e.margin[3])
    return PageEdit("moved", "margin", styled(**{side: f"{old + step}px"}))


def alignment(rng: Rng, at: Setting) -> PageEdit | None:
    """Text at another end of its box."""
    e = at.element
    if not has_text(e) or e.ink is None or e.drawn or e.display in INLINE:
        return None
    if e.width - (e.ink[2] - e.ink[0]) < 30:
        return None
    choices = [way for way in ("left", "center", "right") if way != e.align]
    return PageEdit("moved", "alignment", styled(text_align=str(rng.choice(choices))))


def order(rng: Rng, at: Setting) -> PageEdit | None:
    """Two neighbours of one sort change places."""
    e = at.element
    beside = [
        o
        for o in at.layout.elements
        if o.parent == e.parent and o.element == e.element and o.i > e.i and o.seen
    ]
    if (
        e.drawn
        or not beside
        or e.name == beside[0].name
        or e.element in ("table cell", "day", "column header")
    ):
        return None
    other = beside[0].i
    return PageEdit("moved", "order", call("order", other), swap=other)


def overlap(rng: Rng, at: Setting) -> PageEdit | None:
    """Something slides over its neighbour."""
    e = at.element
    if e.element not in ("button", "card", "chip", "badge", "banner", "avatar", "picture", "menu"):
        return None
    step = round(-min(60, 0.6 * e.height) * rng.uniform(0.3, 1))
    return PageEdit("moved", "overlap", styled(margin_top=f"{step}px", position="relative", z_index="3"))


def padding(rng: Rng, at: Setting) -> PageEdit | None:
    """More or less room inside a box that shows."""
    e = at.element
    if not e.framed or e.drawn or e.element in ("page", "checkbox", "radio button", "switch", "slider"):
        return None
    step = round(magnitude(rng, 2, 16))
    name = str(rng.choice(["padding", "padding_left", "padding_top", "padding_bottom"]))
    old = e.padding[{"padding_left": 3, "padding_bottom": 2}.get(name, 0)]
    new = old - step if old >= step and rng.random() < 0.35 else old + step
    return PageEdit("resized", "padding", styled(**{name: f"{new}px"}, height="auto"), alike=True)


def gap(rng: Rng, at: Setting) -> PageEdit | None:
    """Parts of a bar or a list farther from one another."""
    e = at.element
    if e.display not in ("flex", "inline-flex", "grid"):
        return None
    return PageEdit("moved", "margin", styled(gap=f"{round(magnitude(rng, 3, 26)) + 6}px"))


def width(rng: Rng, at: Setting) -> PageEdit | None:
    """Wider or narrower."""
    return _side(rng, at, "width", at.element.width)


def height(rng: Rng, at: Setting) -> PageEdit | None:
    """Higher or lower."""
    return _side(rng, at, "height", at.element.height)


def _side(rng: Rng, at: Setting, side: str, old: float) -> PageEdit | None:
    e = at.element
    whole = e.framed and e.tag not in ("tr", "td", "th", "line", "polyline", "circle", "svg")
    if not whole or e.element == "page" or e.display in INLINE:
        return None
    step = round(magnitude(rng, 2, 60)) * sign(rng)
    if old + step < max(6, 0.3 * old):
        return None
    if e.tag == "rect":
        return PageEdit("resized", side, call("attribute", side, round(old + step)))
    new = f"{old + step:.0f}px"
    limits = {f"min_{side}": "0", f"max_{side}": "none", "box_sizing": "border-box", "flex": "none"}
    return PageEdit("resized", side, styled(**{side: new}, **limits), alike=True)


def text_size(rng: Rng, at: Setting) -> PageEdit | None:
    """Larger or smaller text."""
    e = at.element
    if not has_text(e):
        return None
    new = e.size + magnitude(rng, 1, 8) * sign(rng, 0.6)
    return None if new < 7 else PageEdit("resized", "text size", styled(font_size=f"{new:.1f}px"), alike=True)


def icon_size(rng: Rng, at: Setting) -> PageEdit | None:
    """A larger or smaller icon, mark or picture."""
    e = at.element
    if e.element not in ("icon", "avatar", "spinner", "picture") or e.width < 8:
        return None
    share = 1 + rng.uniform(0.12, 0.6) * sign(rng)
    new = {"width": f"{e.width * share:.0f}px", "height": f"{e.height * share:.0f}px"}
    return PageEdit("resized", "size", styled(**new), alike=True)


def point(rng: Rng, at: Setting) -> PageEdit | None:
    """A data point or a bar of a chart with another value."""
    e = at.element
    step = round(magnitude(rng, 4, 40)) * sign(rng)
    if e.tag == "circle":
        return PageEdit("moved", "point", styled(translate=f"0 {step}px"))
    if e.element != "chart bar" or e.height + step < 3:
        return None
    return PageEdit("resized", "height", call("bar", step))


def series(rng: Rng, at: Setting) -> PageEdit | None:
    """A line of a chart with other values."""
    e = at.element
    if e.tag != "polyline":
        return None
    share = rng.uniform(0.06, 0.3)
    steps = [round(float(v), 3) for v in rng.normal(0, 1, 12)]
    return PageEdit("replaced", "values", call("series", round(float(share), 3), steps))


def progress(rng: Rng, at: Setting) -> PageEdit | None:
    """A progress bar or a slider that stands elsewhere."""
    e = at.element
    if e.element not in ("progress bar", "slider"):
        return None
    value = int(rng.integers(3, 98))
    return PageEdit("replaced", "values", call("progress", value))


GEOMETRY: dict[Way, float] = {
    position: 1.4,
    margin: 0.9,
    alignment: 0.9,
    order: 0.7,
    overlap: 0.5,
    padding: 0.9,
    gap: 0.4,
    width: 1.0,
    height: 0.7,
    text_size: 0.9,
    icon_size: 0.6,
    point: 0.6,
    series: 0.4,
    progress: 0.4,
}
"""How often each is tried."""
