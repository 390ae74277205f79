"""Single components of pages: functions of the writer that return HTML; ``COMPONENTS`` names them."""

import html
from collections.abc import Callable, Mapping

from whatchanged.synth.screens.pages.writer import Writer

Component = Callable[[Writer], str]


def heading(w: Writer) -> str:
    """A heading of any level."""
    level = w.count(1, 5)
    return f'<h{level} data-e="heading">{w.words(1, 4)}</h{level}>'


def prose(w: Writer) -> str:
    """Paragraphs of running text."""
    paragraphs = "".join(f'<p data-e="paragraph">{w.words(6, 32)}.</p>' for _ in range(w.count(1, 2)))
    return paragraphs + (f"<p>{w.words(1, 3)} {link(w)} {w.words(1, 4)}</p>" if w.chance(0.4) else "")


def link(w: Writer) -> str:
    """A link."""
    return w.part("link", w.words(1, 2), "link")


def button(w: Writer) -> str:
    """A button, with words or an icon."""
    part = w.any_of({"button": 3, "button-primary": 2, "button-danger": 0.6})
    if w.chance(0.15):
        return w.part(part, w.icon(16), "icon button", f'aria-label="{w.words(1, 1)}"')
    icon = w.icon(16) + " " if w.chance(0.25) else ""
    return w.part(part, icon + w.words(1, 2), "button", "disabled" if w.chance(0.1) else "")


def buttons(w: Writer) -> str:
    """Buttons in a row."""
    return f'<div class="w-row">{"".join(button(w) for _ in range(w.count(1, 4)))}</div>'


def text_field(w: Writer) -> str:
    """A text field with its label."""
    name = w.words(1, 2)
    shown = w.any_of({"value": 3, "placeholder": 2, "": 1})
    filled = f'{shown}="{html.escape(w.texts.words(1, 3))}"' if shown else ""
    box = w.part("input", "", "text field", f'{filled} aria-label="{name}"')
    hint = w.part("hint", w.words(2, 6), "hint") if w.chance(0.3) else ""
    return w.part("field", w.part("label", name, "label") + box + hint)


def search_field(w: Writer) -> str:
    """A search field with its icon."""
    box = w.part("input", "", "search field", f'placeholder="{w.words(1, 2)}"')
    return f'<div class="w-row" style="flex-wrap:nowrap">{w.icon(18)}{box}</div>'


def text_area(w: Writer) -> str:
    """A text area with its label."""
    return w.part(
        "field", w.part("label", w.words(1, 2), "label") + w.part("textarea", w.words(3, 18), "text area")
    )


def select(w: Writer) -> str:
    """A dropdown with its label."""
    option = f"<option>{w.words(1, 2)}</option>"
    return w.part("field", w.part("label", w.words(1, 2), "label") + w.part("select", option, "select"))


def choices(w: Writer) -> str:
    """Checkboxes or radio buttons with their labels."""
    kind = w.any_of({"check": 1, "radio": 1})
    element = {"check": "checkbox", "radio": "radio button"}[kind]
    rows = []
    for _ in range(w.count(1, 5)):
        name = w.words(1, 3)
        checked = "checked" if w.chance(0.4) else ""
        box = w.part(kind, "", element, f'{checked} aria-label="{name}"')
        rows.append(f'<div class="w-choice">{box}<span data-e="label">{name}</span></div>')
    return "".join(rows)


def switches(w: Writer) -> str:
    """Switches with their labels."""
    rows = []
    for _ in range(w.count(1, 3)):
        name = w.words(1, 3)
        on = " w-on" if w.chance(0.5) else ""
        rows.append(
            f'<div class="w-choice"><span class="w-switch{on}" data-e="switch" aria-label="{name}"></span>'
            f'<span data-e="label">{name}</span></div>'
        )
    return "".join(rows)


def slider(w: Writer) -> str:
    """A slider with its label."""
    at = w.count(5, 95)
    return (
        f'<span data-e="label">{w.words(1, 2)}</span>'
        f'<div class="w-track" data-e="slider" style="margin:8px 10px;height:5px"><div style="width:{at}%"></div>'
        f'<span style="left:{at}%"></span></div>'
    )


def progress(w: Writer) -> str:
    """A progress bar."""
    name = f'<span data-e="label">{w.words(1, 2)} {w.count(1, 99)}%</span>' if w.chance(0.5) else ""
    inner = f'<div style="width:{w.count(8, 95)}%"></div>'
    return f'{name}<div class="w-track" data-e="progress bar" style="margin:7px 0">{inner}</div>'


def table(w: Writer) -> str:
    """A table of words and numbers."""
    columns, rows = w.count(2, 5), w.count(2, 7)
    numeric = [w.chance(0.5) for _ in range(columns)]
    head = "".join(f'<th data-e="column header">{w.words(1, 2)}</th>' for _ in range(columns))
    body = []
    for _ in range(rows):
        cells = []
        for is_number in numeric:
            text = html.escape(w.texts.number()) if is_number else w.words(1, 2)
            extra = ' style="text-align:end"' if is_number else ""
            cells.append(f'<td data-e="table cell"{extra}>{text}</td>')
        body.append(f'<tr data-e="table row">{"".join(cells)}</tr>')
    inner = f"<thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody>"
    return w.part("table", inner, "table")


def card(w: Writer) -> str:
    """A card."""
    picture = w.art("100%", w.count(40, 110)) if w.chance(0.35) else ""
    title = w.part("card-title", w.words(1, 3), "heading")
    text = f'<p data-e="paragraph">{w.words(4, 14)}.</p>'
    end = button(w) if w.chance(0.4) else ""
    return w.part("card", picture + w.part("card-body", title + text + end), "card")


def cards(w: Writer) -> str:
    """Cards side by side."""
    return f'<div class="w-columns">{"".join(card(w) for _ in range(w.count(2, 3)))}</div>'


def menu(w: Writer) -> str:
    """A menu."""
    count = w.count(2, 7)
    chosen = w.count(0, count - 1) if w.chance(0.5) else -1
    icons = w.chance(0.5)
    rows = []
    for i in range(count):
        part = "menu-item-active" if i == chosen else "menu-item"
        rows.append(w.part(part, (w.icon(16) + " " if icons else "") + w.words(1, 3), "menu item"))
    return w.part("menu", "".join(rows), "menu")


def tabs(w: Writer) -> str:
    """A row of tabs."""
    count = w.count(2, 5)
    active = w.count(0, count - 1)
    items = [w.part("tab-active" if i == active else "tab", w.words(1, 1), "tab") for i in range(count)]
    return w.part("tabs", "".join(items))


def toolbar(w: Writer) -> str:
    """A toolbar of icons."""
    items = [w.icon(element="icon") for _ in range(w.count(3, 8))]
    if w.chance(0.4):
        items.insert(w.count(1, len(items)), button(w))
    return f'<div class="w-bar" data-e="toolbar">{"".join(items)}</div>'


def navigation(w: Writer) -> str:
    """A navigation bar."""
    links = [w.part("nav-link", w.words(1, 1), "navigation link") for _ in range(w.count(2, 5))]
    brand = f'<strong data-e="heading">{w.words(1, 1)}</strong>' if w.chance(0.6) else ""
    return w.part("nav", brand + "".join(links), "navigation bar", 'style="display:flex;align-items:center"')


def breadcrumbs(w: Writer) -> str:
    """A path of links."""
    crumbs = [w.part("crumb", w.words(1, 1), "breadcrumb") for _ in range(w.count(2, 4))]
    return w.part("breadcrumbs", "<span>/</span>".join(crumbs))


def chips(w: Writer) -> str:
    """Chips in a row."""
    items = [w.part("chip", w.words(1, 1), "chip") for _ in range(w.count(2, 6))]
    return f'<div class="w-row">{"".join(items)}</div>'


def badges(w: Writer) -> str:
    """Labels with counters."""
    rows = []
    for _ in range(w.count(1, 3)):
        badge = w.part("badge", str(w.count(1, 99)), "badge")
        rows.append(f'<div class="w-row"><span data-e="label">{w.words(1, 2)}</span>{badge}</div>')
    return "".join(rows)


def banner(w: Writer) -> str:
    """A message across the page."""
    part = w.any_of({"alert": 2, "alert-danger": 1})
    icon = w.icon(18) + " " if w.chance(0.5) else ""
    return w.part(part, f"{icon}<span>{w.words(3, 9)}</span>", "banner")


def dialog(w: Writer) -> str:
    """A dialog box."""
    title = f'<h4 data-e="heading">{w.words(1, 3)}</h4>'
    text = f'<p data-e="paragraph">{w.words(5, 16)}.</p>'
    return w.part("dialog", title + text + buttons(w), "dialog")


def bullet_list(w: Writer) -> str:
    """A list."""
    items = [w.part("list-item", w.words(1, 5), "list item") for _ in range(w.count(2, 6))]
    return w.part("list", "".join(items), "list")


def people(w: Writer) -> str:
    """Names with avatars."""
    rows = []
    for _ in range(w.count(1, 4)):
        name = w.texts.words(2, 2)
        avatar = f'<span class="w-avatar" data-e="avatar">{html.escape(name[:2].upper())}</span>'
        rows.append(f'<div class="w-row">{avatar}<span data-e="list item">{html.escape(name)}</span></div>')
    return "".join(rows)


def code(w: Writer) -> str:
    """A block of code."""
    lines = "\n".join(
        f"{w.texts.word().lower()}_{w.count(1, 9)} = {w.texts.number()}" for _ in range(w.count(2, 6))
    )
    return f'<pre class="w-code w-mono" dir="ltr" data-e="code block">{html.escape(lines)}</pre>'


def quote(w: Writer) -> str:
    """A quotation."""
    return f'<blockquote class="w-quote" data-e="quote">{w.words(5, 16)}.</blockquote>'


def divider(w: Writer) -> str:
    """Two texts with a line between them."""
    return f'<p>{w.words(2, 5)}</p><hr class="w-rule" data-e="divider"><p>{w.words(2, 5)}</p>'


def calendar(w: Writer) -> str:
    """A month."""
    today, first = w.count(1, 28), w.count(1, 7)
    days = "".join(
        f'<span data-e="day" class="{"w-today" if day == today else ""}"'
        f"{f' style=grid-column-start:{first}' if day == 1 else ''}>{day}</span>"
        for day in range(1, w.count(28, 31) + 1)
    )
    head = f'<span data-e="heading"><b>{w.words(1, 1)} 20{w.count(10, 35)}</b></span>'
    return f'<div data-e="calendar" style="width:fit-content">{head}<div class="w-days">{days}</div></div>'


def statistics(w: Writer) -> str:
    """Large numbers with labels."""
    items = [
        f'<div><div class="w-figure" data-e="statistic">{html.escape(w.texts.number())}</div>'
        f'<span data-e="label">{w.words(1, 2)}</span></div>'
        for _ in range(w.count(1, 4))
    ]
    return f'<div class="w-columns">{"".join(items)}</div>'


def pagination(w: Writer) -> str:
    """Buttons for pages."""
    count = w.count(3, 7)
    active = w.count(1, count)
    items = [
        w.part("page-active" if i == active else "page", str(i), "page button") for i in range(1, count + 1)
    ]
    return f'<div class="w-pages">{"".join(items)}</div>'


def tooltip(w: Writer) -> str:
    """A button with its tooltip."""
    return f'<div class="w-row">{button(w)}<span class="w-tip" data-e="tooltip">{w.words(1, 4)}</span></div>'


def spinner(w: Writer) -> str:
    """A spinner with its label."""
    return f'<div class="w-row"><span class="w-spin" data-e="spinner"></span><span data-e="label">{w.words(1, 3)}</span></div>'


def chart(w: Writer) -> str:
    """A chart of bars or of a line."""
    width, height = w.count(150, 340), w.count(80, 180)
    values = [float(v) for v in w.rng.uniform(0.08, 0.98, w.count(4, 9))]
    step = width / len(values)
    parts = [
        f'<line data-e="grid" x1="0" x2="{width}" y1="{height * i // 4}.5" y2="{height * i // 4}.5" stroke="#8886"/>'
        for i in range(5)
    ]
    if w.chance(0.5):
        parts += [
            f'<rect data-e="chart bar" x="{step * i + 3:.0f}" y="{height * (1 - v):.0f}" width="{max(4, step - 6):.0f}" '
            f'height="{height * v:.0f}" fill="var(--w-accent)"/>'
            for i, v in enumerate(values)
        ]
    else:
        points = " ".join(f"{step * (i + 0.5):.1f},{height * (1 - v):.1f}" for i, v in enumerate(values))
        thick = w.pick(("1.5", "2", "3"))
        parts.append(
            f'<polyline data-e="series" points="{points}" fill="none" stroke="var(--w-accent)" stroke-width="{thick}"/>'
        )
        if w.chance(0.5):
            parts += [
                f'<circle data-e="point" cx="{step * (i + 0.5):.1f}" cy="{height * (1 - v):.1f}" r="4" fill="var(--w-accent)"/>'
                for i, v in enumerate(values)
            ]
    labels = "".join(
        f'<text data-e="tick label" x="{step * (i + 0.5):.0f}" y="{height + 14}" font-size="11" fill="currentColor" '
        f'text-anchor="middle">{i + 1}</text>'
        for i in range(len(values))
    )
    drawn = f"{''.join(parts)}{labels}"
    return f'<svg data-e="chart" dir="ltr" style="overflow:visible;display:block" width="{width}" height="{height + 18}">{drawn}</svg>'


COMPONENTS: Mapping[Component, float] = {
    heading: 1,
    prose: 1,
    buttons: 2,
    text_field: 2,
    search_field: 0.5,
    text_area: 0.6,
    select: 0.8,
    choices: 1.2,
    switches: 0.7,
    slider: 0.6,
    progress: 0.6,
    table: 1.5,
    card: 1.2,
    cards: 0.5,
    menu: 1.2,
    tabs: 1,
    toolbar: 1,
    navigation: 0.7,
    breadcrumbs: 0.4,
    chips: 0.8,
    badges: 0.5,
    banner: 0.9,
    dialog: 0.6,
    bullet_list: 0.8,
    people: 0.5,
    code: 0.6,
    quote: 0.3,
    divider: 0.3,
    calendar: 0.5,
    statistics: 0.6,
    pagination: 0.5,
    tooltip: 0.4,
    spinner: 0.2,
    chart: 1,
}
"""Every component, with its relative frequency."""
