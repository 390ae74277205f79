"""Random truths of pairs of screens, for hypothesis."""

from hypothesis import strategies as st

from whatchanged.worlds.screens.elements import ELEMENTS
from whatchanged.worlds.screens.kinds import ASPECTS, KINDS
from whatchanged.worlds.screens.truth import Motion, ScreenChange, ScreenTruth

SIZE = (400, 300)
COLOURS = ("#1a73e8", "#0b8043", "#d93025", "#ffffff", "#111111", "#888888", "#7b1fa2", "#f29900", "#9fc5f8")
TEXTS = st.text(st.characters(whitelist_categories=("L", "N"), max_codepoint=0x5FF), min_size=1, max_size=12)
TOGGLED = ("shadow", "slant", "decoration", "letter case", "texture", "sharpness", "line style", "clipping")
AMOUNTS = ("opacity", "border width", "radius", "weight", "text size", "line width")
STATES = {"replaced": ("checked", "broken"), "recolored": ("disabled", "selected"), "restyled": ("focused",)}


@st.composite
def boxes(draw, size=SIZE):
    left, top = draw(st.integers(0, size[0] - 20)), draw(st.integers(0, size[1] - 20))
    return (left, top, draw(st.integers(left + 4, size[0])), draw(st.integers(top + 4, size[1])))


@st.composite
def changes(draw, kinds=KINDS):
    kind = draw(st.sampled_from(kinds))
    aspect = draw(st.sampled_from(ASPECTS[kind]))
    values = {"aspect": aspect}
    if kind == "recolored" and aspect != "opacity":
        before, after = draw(st.lists(st.sampled_from(COLOURS), min_size=2, max_size=2, unique=True))
        values |= {"color_before": before, "color_after": after}
    if kind == "moved" and draw(st.booleans()):
        values |= {"dx": draw(st.integers(-40, 40)), "dy": draw(st.integers(-40, 40))}
    if kind == "resized":
        values |= {"dwidth": draw(st.integers(-40, 40)), "dheight": draw(st.integers(-40, 40))}
    if kind == "rewritten" and aspect != "language":
        values |= {"text_before": draw(TEXTS), "text_after": draw(TEXTS)}
    if aspect in AMOUNTS:
        before, after = draw(st.lists(st.integers(1, 30), min_size=2, max_size=2, unique=True))
        values |= {"amount_before": before, "amount_after": after}
    if aspect in TOGGLED or (kind in STATES and draw(st.booleans())):
        if aspect not in TOGGLED:
            values["state"] = draw(st.sampled_from(STATES[kind]))
        on = draw(st.booleans())
        values |= {"on_before": not on, "on_after": on}
    box = draw(boxes())
    return ScreenChange(
        kind=kind,
        element=draw(st.sampled_from(sorted(ELEMENTS))),
        name=draw(st.just("") | TEXTS),
        box_before=None if kind == "added" else box,
        box_after=None if kind == "removed" else box,
        values=values,
        boxes=draw(st.just(()) | st.lists(st.tuples(boxes(), boxes()), min_size=2, max_size=9).map(tuple)),
        consequences=draw(st.just(()) | st.tuples(st.builds(Motion, boxes(), boxes()))),
    )


def truths(least=0, most=3):
    return st.builds(
        ScreenTruth,
        changes=st.lists(changes(), min_size=least, max_size=most).map(tuple),
        noise=st.just(("jpeg 95",)),
        size_before=st.just(SIZE),
        size_after=st.just(SIZE),
        family=st.just("pages"),
        design=st.just({"library": "plain", "scale": 1.5, "rtl": False}),
    )
