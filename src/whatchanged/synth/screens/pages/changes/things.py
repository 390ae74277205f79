"""Elements that are added, removed or replaced; other words; and states that add or replace something."""

import html

from whatchanged.synth.screens.pages.changes.edit import (
    PageEdit,
    Setting,
    Way,
    call,
    has_text,
    inserted,
    styled,
)
from whatchanged.synth.screens.pages.writer import ICONS, art_of
from whatchanged.synth.screens.words import LANGUAGES, RandomTexts, Rng

REPEATED = (
    "button",
    "list item",
    "menu item",
    "tab",
    "chip",
    "table row",
    "card",
    "navigation link",
    "breadcrumb",
    "page button",
    "paragraph",
    "statistic",
    "badge",
    "icon",
    "checkbox",
    "link",
    "day",
    "column header",
)
"""What may be there once more."""
SOLID = (
    "svg",
    "rect",
    "line",
    "polyline",
    "circle",
    "text",
    "input",
    "select",
    "textarea",
    "tr",
    "table",
    "td",
    "th",
)
"""Tags that nothing is put into."""


def rewrite(rng: Rng, at: Setting) -> PageEdit | None:
    """Another word, number or letter in a text."""
    e = at.element
    if not has_text(e) or not e.leaf:
        return None
    parts = e.text.split()
    place = int(rng.integers(len(parts)))
    word = parts[place]
    number = any(c.isdigit() for c in word)
    if number:
        digits = [i for i, c in enumerate(word) if c.isdigit()]
        spot = digits[int(rng.integers(len(digits)))]
        parts[place] = word[:spot] + str((int(word[spot]) + int(rng.integers(1, 10))) % 10) + word[spot + 1 :]
    elif rng.random() < 0.25 and len(word) > 3:
        parts[place] = word[:-1]
    elif rng.random() < 0.3:
        parts.insert(place + 1, at.texts.word())
    else:
        parts[place] = at.texts.word()
    if parts == e.text.split():
        return None
    label = e.element in ("label", "button", "tab", "link", "navigation link", "menu item")
    aspect = "number" if number else "label" if label else "text"
    return PageEdit("rewritten", aspect, call("text", " ".join(parts)))


def typed(rng: Rng, at: Setting) -> PageEdit | None:
    """Other words in a field."""
    e = at.element
    if e.element not in ("text field", "search field", "text area") or e.tag not in (
        "input",
        "textarea",
        "sl-input",
    ):
        return None
    return PageEdit("rewritten", "text", call("typed", at.texts.words(1, 3)))


def language(rng: Rng, at: Setting) -> PageEdit | None:
    """All words in another language."""
    e = at.element
    if not has_text(e) or not e.leaf or len(e.text) < 3 or any(c.isdigit() for c in e.text):
        return None
    names = [name for name in LANGUAGES if name != at.texts.name]
    other = RandomTexts(rng, names[int(rng.integers(len(names)))])
    text = other.words(1, max(1, len(e.text.split())))
    return PageEdit("rewritten", "language", call("text", text))


def remove(rng: Rng, at: Setting) -> PageEdit | None:
    """Gone; the others close the gap, or keep their places."""
    e = at.element
    if e.element == "page":
        return None
    if e.drawn and e.tag != "svg":
        return PageEdit("removed", "element", styled(display="none"), alike=e.element == "grid")
    gone = {"visibility": "hidden"} if rng.random() < 0.4 else {"display": "none"}
    return PageEdit("removed", "element", styled(**gone))


def repeat(rng: Rng, at: Setting) -> PageEdit | None:
    """One more of the same sort beside it, with other words."""
    e = at.element
    if e.element not in REPEATED or (e.drawn and e.tag != "svg"):
        return None
    words = [at.texts.words(1, 2) for _ in range(6)]
    return PageEdit("added", "element", call("repeat", words), inserts=True)


def small(rng: Rng, at: Setting) -> PageEdit | None:
    """A small thing beside or in something: an icon, a badge, a word, a chip."""
    e = at.element
    if e.tag in SOLID or e.element == "page":
        return None
    word = html.escape(at.texts.word())
    new = (
        f'<svg class="w-icon" data-e="icon" width="16" height="16" viewBox="0 0 24 24" fill="none" '
        f'stroke="currentColor" stroke-width="2"><path d="{ICONS[int(rng.integers(len(ICONS)))]}"/></svg>',
        f'<span class="w-badge" data-e="badge">{int(rng.integers(1, 99))}</span>',
        f'<span class="w-chip" data-e="chip">{word}</span>',
        f' <span data-e="label">{word}</span>',
        '<span data-e="badge" style="display:inline-block;width:8px;height:8px;border-radius:4px;'
        'background:#d93025"></span>',
    )[int(rng.integers(5))]
    where = ("beforebegin", "afterbegin", "beforeend", "afterend")[int(rng.integers(4))]
    return PageEdit("added", "element", inserted(where, new), inserts=True)


def banner(rng: Rng, at: Setting) -> PageEdit | None:
    """A banner, a line of text or a divider, which pushes what follows."""
    e = at.element
    if e.tag in SOLID or e.display in ("inline", "inline-block", "inline-flex") or e.element == "page":
        return None
    text = html.escape(at.texts.words(2, 6))
    hue, pad = int(rng.integers(360)), int(rng.integers(3, 12))
    new = (
        f'<div data-e="banner" style="padding:{pad}px;background:hsl({hue},60%,75%);color:#222">{text}</div>',
        f'<div class="w-alert" data-e="banner">{text}</div>',
        f'<p data-e="paragraph">{text}</p>',
        f'<hr class="w-rule" data-e="divider" style="margin:{pad}px 0">',
        f'<small class="w-hint" data-e="hint">{text}</small>',
    )[int(rng.integers(5))]
    where = "beforebegin" if rng.random() < 0.5 else "afterend"
    return PageEdit("added", "element", inserted(where, new), inserts=True)


def opened(rng: Rng, at: Setting) -> PageEdit | None:
    """A menu or a tooltip that opens below, over the rest."""
    e = at.element
    if e.element not in ("button", "icon button", "select", "text field", "tab", "navigation link"):
        return None
    place = f"left:{max(0, e.box[0]):.0f}px;top:{e.box[3] + 3:.0f}px"
    if rng.random() < 0.45:
        new = f'<span class="w-tip w-over" data-e="tooltip" style="{place}">{html.escape(at.texts.words(1, 4))}</span>'
    else:
        rows = "".join(
            f'<div class="w-item">{html.escape(at.texts.words(1, 2))}</div>'
            for _ in range(int(rng.integers(2, 5)))
        )
        ground = "background:var(--w-ground);box-shadow:0 3px 9px #0004"
        new = f'<div class="w-menu w-over" data-e="menu" style="{place};min-width:90px;{ground}">{rows}</div>'
    return PageEdit(
        "added", "element", inserted("beforeend", new, inside=False), inserts=True, state="open", on=True
    )


def scroll_bar(rng: Rng, at: Setting) -> PageEdit | None:
    """A scroll bar at the end of a box."""
    e = at.element
    if (
        e.element not in ("text area", "card", "menu", "code block", "table", "list", "dialog")
        or e.height < 40
    ):
        return None
    height, top = e.height * rng.uniform(0.25, 0.6), e.height * rng.uniform(0, 0.3)
    new = (
        f'<div class="w-over" data-e="scroll bar" style="left:{e.box[2] - 11:.0f}px;top:{e.box[1] + 1:.0f}px;width:10px;'
        f'height:{e.height - 2:.0f}px;background:#e8e8e8"><div style="margin:{top:.0f}px 2px 0;height:{height:.0f}px;'
        'background:#9a9a9a;border-radius:3px"></div></div>'
    )
    return PageEdit("added", "scroll bar", inserted("beforeend", new, inside=False), inserts=True)


def cursor(rng: Rng, at: Setting) -> PageEdit | None:
    """A text cursor in a field."""
    e = at.element
    if e.element not in ("text field", "text area", "search field"):
        return None
    left = e.box[0] + e.padding[3] + e.border + rng.uniform(0, 0.5) * e.width
    top = e.box[1] + e.border + max(2.0, e.padding[0])
    new = (
        f'<div class="w-over" data-e="cursor" style="left:{left:.0f}px;top:{top:.0f}px;width:{int(rng.integers(1, 3))}px;'
        f'height:{1.25 * e.size:.0f}px;background:var(--w-ink)"></div>'
    )
    return PageEdit(
        "added", "cursor", inserted("beforeend", new, inside=False), inserts=True, state="cursor", on=True
    )


def replace_icon(rng: Rng, at: Setting) -> PageEdit | None:
    """Another icon: another path, or where icons are letters of a font, that of another one of the page."""
    e = at.element
    if e.element != "icon":
        return None
    if e.tag == "svg":
        return PageEdit("replaced", "icon", call("icon", ICONS[int(rng.integers(len(ICONS)))], ""))
    others = [o for o in at.layout.elements if o.tag == e.tag == "i" and o.look != e.look]
    if not others:
        return None
    other = others[int(rng.integers(len(others)))]
    taken = "className" if not e.text else "textContent"
    return PageEdit("replaced", "icon", call("take", other.i, taken))


def loading(rng: Rng, at: Setting) -> PageEdit | None:
    """A spinner in place of an icon."""
    if at.element.element != "icon" or at.element.tag != "svg":
        return None
    ring = '<circle cx="12" cy="12" r="9" opacity=".3"></circle>'
    return PageEdit("replaced", "icon", call("icon", "M12 3a9 9 0 0 1 9 9", ring), state="loading", on=True)


def replace_picture(rng: Rng, at: Setting) -> PageEdit | None:
    """Another picture, or one that could not be loaded."""
    if at.element.element not in ("picture", "avatar") or (
        at.element.element == "avatar" and at.element.tag != "img"
    ):
        return None
    # An image's own pixels are moved out of its box, so that its background is seen.
    hidden = {"object_position": "-9999px 0"} if at.element.tag == "img" else {}
    if rng.random() < 0.25:
        look = {"background": "#8883", "border": "1px solid #8888"}
        return PageEdit("replaced", "picture", styled(**look, **hidden), state="broken", on=True)
    return PageEdit("replaced", "picture", styled(background=art_of(rng, int(rng.integers(360))), **hidden))


def check(rng: Rng, at: Setting) -> PageEdit | None:
    """Checked or switched on, or no longer."""
    e = at.element
    if e.element not in ("checkbox", "radio button", "switch"):
        return None
    script = call("toggle" if e.element == "switch" else "check")
    return PageEdit("replaced", "mark", script, state="checked", on=not e.checked)


def exchange(rng: Rng, at: Setting) -> PageEdit | None:
    """Something of another sort in its place."""
    e = at.element
    if e.element not in ("chip", "badge", "avatar", "spinner", "icon") or e.tag not in ("span", "svg", "div"):
        return None
    side = round(min(e.width, e.height))
    new = (
        f'<span style="display:inline-block;width:{side}px;height:{side}px;background:var(--w-accent)"></span>',
        f'<b style="display:inline-block;height:{side}px">{html.escape(at.texts.word())}</b>',
    )[int(rng.integers(2))]
    return PageEdit("replaced", "element", call("exchange", new))


THINGS: dict[Way, float] = {
    rewrite: 2.4,
    typed: 0.5,
    language: 0.3,
    remove: 2.2,
    repeat: 1.0,
    small: 1.0,
    banner: 0.9,
    opened: 0.8,
    scroll_bar: 0.45,
    cursor: 0.4,
    replace_icon: 1.5,
    loading: 0.2,
    replace_picture: 1.1,
    check: 1.4,
    exchange: 0.5,
}
"""How often each is tried."""
