"""Forms, menus and controls that consist of several parts: functions of the writer that return HTML, as in
``components``.
"""

from collections.abc import Mapping

from whatchanged.synth.screens.pages.components import (
    Component,
    button,
    buttons,
    link,
    select,
    text_area,
    text_field,
)
from whatchanged.synth.screens.pages.compositions import CHEVRON, CROSS, STAR, avatar, named_words
from whatchanged.synth.screens.pages.writer import Writer


def sign_in(w: Writer) -> str:
    """A form in a card: two fields and a button."""
    title = w.part("card-title", w.words(1, 3), "heading")
    keep = (
        f'<div class="w-choice">{w.part("check", "", "checkbox")}{named_words(w, 1, 3)}</div>'
        if w.chance(0.6)
        else ""
    )
    inner = title + "".join(f'<div class="w-part">{text_field(w)}</div>' for _ in range(2))
    end = w.part("button-primary", w.words(1, 2), "button") + (f" {link(w)}" if w.chance(0.5) else "")
    return w.part("card", w.part("card-body", inner + keep + end), "card")


def form(w: Writer) -> str:
    """Fields in two columns, a text, buttons at the end."""
    fields = [select(w) if w.chance(0.3) else text_field(w) for _ in range(w.count(2, 6))]
    text = text_area(w) if w.chance(0.4) else ""
    cells = "".join(f"<div>{field}</div>" for field in fields)
    return f'<form data-e="form"><div class="w-two">{cells}</div>{text}<div class="w-end">{buttons(w)}</div></form>'


def drop_area(w: Writer) -> str:
    """Where files are dropped."""
    return f'<div class="w-drop" data-e="card">{w.icon(28)}<div>{named_words(w, 2, 4)} {link(w)}</div></div>'


def rating(w: Writer) -> str:
    """Stars."""
    side, good = w.count(14, 30), w.count(1, 5)
    stars = [
        f'<svg class="w-icon" data-e="icon" width="{side}" height="{side}" viewBox="0 0 24 24" stroke="#e0a100" '
        f'fill="{"#f5b301" if i < good else "none"}"><path d="{STAR}"/></svg>'
        for i in range(5)
    ]
    count = f' <span data-e="label">({w.count(1, 999)})</span>' if w.chance(0.5) else ""
    return f"<div>{''.join(stars)}{count}</div>"


def swatches(w: Writer) -> str:
    """Colours to choose from."""
    side, radius = w.count(16, 40), w.pick(("0", "4px", "50%"))
    cells = [
        f'<span data-e="area" style="width:{side}px;height:{side}px;border-radius:{radius};'
        f'background:hsl({w.count(0, 359)},{w.count(30, 90)}%,{w.count(30, 75)}%)"></span>'
        for _ in range(w.count(3, 12))
    ]
    return f'<div class="w-row" style="gap:6px">{"".join(cells)}</div>'


def segments(w: Writer) -> str:
    """Buttons that are joined, one of them chosen."""
    count = w.count(2, 5)
    chosen = w.count(0, count - 1)
    icons = w.chance(0.3)
    cells = []
    for i in range(count):
        inner = w.icon(16) if icons else w.words(1, 1)
        marked = "w-chosen" if i == chosen else ""
        cells.append(
            f'<span class="w-segment {marked}" data-e="{"icon button" if icons else "button"}">{inner}</span>'
        )
    return f'<div class="w-segments">{"".join(cells)}</div>'


def number_field(w: Writer) -> str:
    """A number with buttons for less and more."""
    field = w.part(
        "input", "", "text field", f'value="{w.count(0, 99)}" style="width:70px;text-align:center"'
    )
    less, more = (w.part("button", sign, "button") for sign in ("−", "+"))
    return f'<div class="w-row" style="flex-wrap:nowrap;gap:4px">{less}{field}{more}</div>'


def open_select(w: Writer) -> str:
    """A dropdown that is open."""
    count = w.count(2, 6)
    chosen = w.count(0, count - 1)
    items = [
        w.part("menu-item-active" if i == chosen else "menu-item", w.words(1, 2), "menu item")
        for i in range(count)
    ]
    return select(w) + w.part("menu", "".join(items), "menu")


def commands(w: Writer) -> str:
    """A menu with keys, groups and icons."""
    rows = []
    for i in range(w.count(3, 8)):
        key = f'<kbd data-e="label">{w.pick(("Ctrl+", "⌘", "Alt+", "F"))}{w.pick(tuple("123456789"))}</kbd>'
        end = key if w.chance(0.6) else ""
        rows.append(
            f'<div class="w-item w-line" data-e="menu item">{w.icon(15)}<span class="w-grow">{w.words(1, 2)}</span>{end}</div>'
        )
        if w.chance(0.2) and i:
            rows.append('<hr class="w-rule" data-e="divider">')
    return f'<div class="w-menu" data-e="menu" style="min-width:180px">{"".join(rows)}</div>'


def keypad(w: Writer) -> str:
    """Keys in a grid."""
    keys = [*"789456123", *w.pick(("C0=", "*0#", ".0+"))]
    cells = "".join(w.part("button", key, "button") for key in keys)
    return f'<div class="w-keys" style="--w-cell:{w.count(34, 64)}px">{cells}</div>'


def preferences(w: Writer) -> str:
    """Rows of what can be set, each with a switch, a value or an arrow."""
    rows = []
    for _ in range(w.count(2, 7)):
        end = w.any_of({"switch": 2, "value": 1, "arrow": 1})
        on = " w-on" if w.chance(0.5) else ""
        last = {
            "switch": f'<span class="w-switch{on}" data-e="switch"></span>',
            "value": f'<span data-e="text" style="opacity:.7">{w.value()}</span>',
            "arrow": w.icon(14, path=CHEVRON),
        }[end]
        first = w.icon(20) if w.chance(0.4) else ""
        rows.append(
            f'<div class="w-line w-pref">{first}<span class="w-grow" data-e="label">{w.words(1, 3)}</span>{last}</div>'
        )
    return "".join(rows)


def single(w: Writer) -> str:
    """One small thing alone."""
    return w.choose(
        lambda: w.icon(w.count(16, 72)),
        lambda: avatar(w),
        lambda: w.part("badge", str(w.count(1, 99)), "badge"),
        lambda: w.part("chip", w.words(1, 2), "chip"),
        lambda: w.part("check", "", "checkbox", "checked" if w.chance(0.5) else ""),
        lambda: f'<span class="w-switch{" w-on" if w.chance(0.5) else ""}" data-e="switch"></span>',
        lambda: button(w),
        lambda: link(w),
        lambda: w.part("input", "", "text field", f'value="{w.words(1, 2)}"'),
        lambda: w.art(f"{w.count(30, 300)}px", w.count(20, 180)),
        lambda: named_words(w, 1, 6),
        lambda: '<span class="w-spin" data-e="spinner"></span>',
    )


def window(w: Writer) -> str:
    """A small window of a program: its title, its menus, some fields."""
    menus = "".join(f'<span data-e="menu item">{w.words(1, 1)}</span>' for _ in range(w.count(2, 5)))
    title = f'<div class="w-title"><span class="w-grow" data-e="heading">{w.words(1, 3)}</span>{w.icon(12, path=CROSS)}</div>'
    inner = "".join(f'<div class="w-part">{text_field(w)}</div>' for _ in range(w.count(1, 3)))
    return f'<div class="w-frame" data-e="dialog">{title}<div class="w-menus">{menus}</div><div class="w-inner">{inner}{buttons(w)}</div></div>'


CONTROLS: Mapping[Component, float] = {
    sign_in: 0.5,
    form: 0.8,
    drop_area: 0.3,
    rating: 0.3,
    swatches: 0.4,
    segments: 0.7,
    number_field: 0.5,
    open_select: 0.7,
    commands: 0.7,
    keypad: 0.25,
    preferences: 0.6,
    single: 2.4,
    window: 0.5,
}
"""Each of them, and how often it is drawn beside the others."""
