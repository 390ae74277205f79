"""Components that consist of several others: functions of the writer that return HTML, as in
``components``.
"""

import html
from collections.abc import Mapping

from whatchanged.synth.screens.pages.components import (
    Component,
    bullet_list,
    button,
    buttons,
    link,
    prose,
    toolbar,
)
from whatchanged.synth.screens.pages.writer import ICONS, Writer

CHEVRON, CROSS, TICK, STAR = (
    ICONS[3],
    ICONS[2],
    ICONS[1],
    "M12 3l2.7 5.8 6.3.8-4.6 4.3 1.2 6.2-5.6-3.1-5.6 3.1 1.2-6.2L3 9.6l6.3-.8z",
)
TOKENS = ("#0550ae", "#cf222e", "#116329", "#8250df", "#b35900", "#57606a")
"""Colours of code on a light ground that are also read on a dark one."""


def named_words(w: Writer, least: int, most: int, element: str = "label", style: str = "") -> str:
    """Some words with a name in the truth."""
    styled = f' style="{style}"' if style else ""
    return f'<span data-e="{element}"{styled}>{w.words(least, most)}</span>'


def avatar(w: Writer) -> str:
    """A round mark with two letters."""
    return f'<span class="w-avatar" data-e="avatar">{html.escape(w.texts.words(2, 2)[:2].upper())}</span>'


def tree(w: Writer) -> str:
    """A tree of folders."""
    rows, depth = [], 0
    for _ in range(w.count(3, 9)):
        mark = w.icon(12, path=CHEVRON) if w.chance(0.5) else '<span style="width:12px"></span>'
        name = f"{mark}{w.icon(15)}<span>{w.words(1, 2)}</span>"
        rows.append(
            f'<div class="w-node" data-e="list item" style="padding-inline-start:{14 * depth}px">{name}</div>'
        )
        depth = max(0, min(3, depth + w.count(-1, 1)))
    return f'<div data-e="list">{"".join(rows)}</div>'


def steps(w: Writer) -> str:
    """Steps of a task, those that are done in colour."""
    count = w.count(2, 5)
    done = w.count(0, count - 1)
    items = [
        f'<span class="w-step {"w-done" if i <= done else ""}" data-e="step"><b>{i + 1}</b>{w.words(1, 1)}</span>'
        for i in range(count)
    ]
    return f'<div class="w-steps">{"<i></i>".join(items)}</div>'


def properties(w: Writer) -> str:
    """Names and values, one under the other."""
    rows = [f'{named_words(w, 1, 2)}<span data-e="text">{w.value()}</span>' for _ in range(w.count(2, 6))]
    return f'<div class="w-pairs">{"".join(rows)}</div>'


def messages(w: Writer) -> str:
    """A conversation."""
    rows = []
    for _ in range(w.count(2, 4)):
        mine = "w-mine" if w.chance(0.45) else ""
        bubble = f'<div class="w-bubble {mine}" data-e="card">{w.words(2, 12)}</div>'
        rows.append(f'<div class="w-row" style="flex-wrap:nowrap">{"" if mine else avatar(w)}{bubble}</div>')
    return "".join(rows)


def files(w: Writer) -> str:
    """Files with their sizes and dates."""
    rows = []
    for _ in range(w.count(2, 7)):
        end = "".join(
            f'<span data-e="label">{html.escape(w.texts.number())}</span>' for _ in range(w.count(1, 2))
        )
        rows.append(
            f'<div class="w-line" data-e="list item">{w.icon(18)}<span class="w-grow">{w.words(1, 3)}</span>{end}</div>'
        )
    return f'<div data-e="list">{"".join(rows)}</div>'


def editor(w: Writer) -> str:
    """A text that is written: tools, the sheet, a line of status."""
    sheet = f'<h3 data-e="heading">{w.words(1, 4)}</h3>{prose(w)}{bullet_list(w) if w.chance(0.4) else ""}'
    status = f'<div class="w-status" data-e="footer">{named_words(w, 1, 2)}{named_words(w, 1, 1)}</div>'
    return f'<div class="w-frame">{toolbar(w)}<div class="w-sheet" data-e="card">{sheet}</div>{status}</div>'


def program(w: Writer) -> str:
    """Lines of code with their numbers, some words in colours."""
    rows = []
    for number in range(1, w.count(3, 11)):
        words = []
        for _ in range(w.count(1, 5)):
            color = f' data-e="word" style="color:{w.pick(TOKENS)}"' if w.chance(0.4) else ""
            words.append(
                f"<span{color}>{html.escape(w.texts.word().lower())}{w.pick(('', '()', ' =', ':', ','))}</span>"
            )
        indent = "&nbsp;" * (2 * w.count(0, 3))
        rows.append(f'<div data-e="text"><i>{number}</i>{indent}{" ".join(words)}</div>')
    return f'<div class="w-program w-mono" dir="ltr" data-e="code block">{"".join(rows)}</div>'


def terminal(w: Writer) -> str:
    """A terminal window."""
    rows = []
    for _ in range(w.count(2, 7)):
        prompt = "$ " if w.chance(0.4) else ""
        rows.append(f'<div data-e="text">{prompt}{html.escape(w.texts.words(1, 5).lower())}</div>')
    return (
        '<div class="w-terminal" dir="ltr"><div class="w-lights"><b></b><b></b><b></b></div>'
        f'<div class="w-mono" data-e="code block">{"".join(rows)}</div></div>'
    )


def accordion(w: Writer) -> str:
    """Sections that open and close."""
    count = w.count(2, 5)
    opened = w.count(0, count)
    rows = []
    for i in range(count):
        head = f'<span class="w-grow" data-e="heading">{w.words(1, 4)}</span>{w.icon(14, path=ICONS[4])}'
        text = f'<p data-e="paragraph">{w.words(5, 16)}.</p>' if i == opened else ""
        rows.append(f'<div class="w-section"><div class="w-line">{head}</div>{text}</div>')
    return "".join(rows)


def timeline(w: Writer) -> str:
    """Events one under the other, along a line."""
    rows = [
        f'<div class="w-event">{named_words(w, 1, 3, "list item", "font-weight:600")}'
        f'<span class="w-hint" data-e="hint">{html.escape(w.texts.number())} {w.words(1, 4)}</span></div>'
        for _ in range(w.count(2, 5))
    ]
    return f'<div class="w-events" data-e="list">{"".join(rows)}</div>'


def board(w: Writer) -> str:
    """Columns of small cards."""
    columns = []
    for _ in range(w.count(2, 4)):
        notes = []
        for _ in range(w.count(1, 3)):
            marks = w.part("chip", w.words(1, 1), "chip") if w.chance(0.6) else ""
            notes.append(
                f'<div class="w-note" data-e="card"><p data-e="paragraph">{w.words(2, 7)}</p>{marks}</div>'
            )
        columns.append(
            f'<div class="w-column">{named_words(w, 1, 2, "heading", "font-weight:700")}{"".join(notes)}</div>'
        )
    return f'<div class="w-columns">{"".join(columns)}</div>'


def gallery(w: Writer) -> str:
    """Pictures in a grid, with captions or without."""
    height, named = w.count(36, 110), w.chance(0.6)
    cells = [
        f"<div>{w.art('100%', height)}{named_words(w, 1, 2) if named else ''}</div>"
        for _ in range(w.count(2, 6))
    ]
    return f'<div class="w-grid" style="--w-cell:{w.count(60, 150)}px">{"".join(cells)}</div>'


def offer(w: Writer) -> str:
    """What something costs, and what one gets."""
    price = f'<div class="w-figure" data-e="statistic">${w.count(1, 99)}</div>{named_words(w, 1, 2)}'
    lines = "".join(
        f'<div class="w-line" data-e="list item">{w.icon(15, path=TICK)}<span>{w.words(1, 3)}</span></div>'
        for _ in range(w.count(2, 4))
    )
    title = w.part("card-title", w.words(1, 2), "heading")
    end = w.part("button-primary", w.words(1, 2), "button")
    return w.part("card", w.part("card-body", title + price + lines + end), "card")


def toast(w: Writer) -> str:
    """A short message that floats."""
    second = f'<span class="w-hint" data-e="hint">{w.words(2, 5)}</span>' if w.chance(0.5) else ""
    inner = f'{w.icon(20)}<div class="w-grow"><b data-e="label">{w.words(1, 4)}</b>{second}</div>{w.icon(14, path=CROSS)}'
    return f'<div class="w-toast" data-e="banner">{inner}</div>'


def nothing_here(w: Writer) -> str:
    """What is shown where there is nothing yet."""
    text = f'<h3 data-e="heading">{w.words(1, 3)}</h3><p data-e="paragraph">{w.words(4, 10)}.</p>'
    return f'<div class="w-empty">{w.icon(w.count(36, 64))}{text}{button(w)}</div>'


def news(w: Writer) -> str:
    """Notices with a face, a time and a dot where one is new."""
    rows = []
    for _ in range(w.count(1, 4)):
        dot = '<span class="w-dot" data-e="badge"></span>' if w.chance(0.5) else ""
        text = f'<div class="w-grow"><span data-e="text">{w.words(3, 8)}</span><span class="w-hint" data-e="hint">{html.escape(w.texts.number())}</span></div>'
        rows.append(f'<div class="w-line" data-e="list item">{avatar(w)}{text}{dot}</div>')
    return f'<div data-e="list">{"".join(rows)}</div>'


def footer(w: Writer) -> str:
    """The end of a page: columns of links."""
    columns = "".join(
        f"<div>{named_words(w, 1, 1, 'heading', 'font-weight:700')}"
        + "".join(f"<div>{link(w)}</div>" for _ in range(w.count(2, 4)))
        + "</div>"
        for _ in range(w.count(2, 4))
    )
    return f'<footer class="w-foot" data-e="footer"><div class="w-columns">{columns}</div>{named_words(w, 2, 5, "hint")}</footer>'


def hero(w: Writer) -> str:
    """The head of a page that praises something."""
    text = f'<h1 data-e="heading">{w.words(2, 5)}</h1><p data-e="paragraph">{w.words(6, 16)}.</p>{buttons(w)}'
    picture = w.art("100%", w.count(100, 220)) if w.chance(0.6) else ""
    return f'<div class="w-hero"><div>{text}</div>{f"<div>{picture}</div>" if picture else ""}</div>'


def data_grid(w: Writer) -> str:
    """A dense table with boxes to check, marks and tools in its rows."""
    columns, ticked, marked = w.count(2, 4), w.chance(0.6), w.chance(0.6)
    head = "".join(f'<th data-e="column header">{w.words(1, 1)}</th>' for _ in range(columns))
    rows = []
    for _ in range(w.count(3, 9)):
        cells = (
            f"<td>{w.part('check', '', 'checkbox', 'checked' if w.chance(0.3) else '')}</td>"
            if ticked
            else ""
        )
        cells += "".join(f'<td data-e="table cell">{w.value()}</td>' for _ in range(columns))
        if marked:
            cells += f"<td>{w.part(w.pick(('badge', 'chip')), w.words(1, 1), 'badge')}</td>"
        rows.append(f'<tr data-e="table row">{cells}</tr>')
    head = ("<th></th>" if ticked else "") + head + ("<th></th>" if marked else "")
    return w.part("table", f"<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody>", "table")


def page_head(w: Writer) -> str:
    """A heading with what one can do at the other end."""
    end = "".join(button(w) for _ in range(w.count(1, 2)))
    return f'<div class="w-line"><h2 class="w-grow" data-e="heading" style="margin:0">{w.words(1, 3)}</h2>{end}</div>'


def schedule(w: Writer) -> str:
    """Bars along the time, a row each."""
    rows = []
    for _ in range(w.count(2, 6)):
        left = w.count(0, 55)
        bar = f'<span data-e="chart bar" style="margin-inline-start:{left}%;width:{w.count(10, 95 - left)}%">{w.words(1, 1)}</span>'
        rows.append(f'<div class="w-time">{named_words(w, 1, 1)}<div>{bar}</div></div>')
    return f'<div class="w-times" data-e="chart">{"".join(rows)}</div>'


def player(w: Writer) -> str:
    """What is played: a picture, a title, how far it is."""
    side = w.count(40, 90)
    bar = f'<div class="w-track" data-e="progress bar"><div style="width:{w.count(5, 95)}%"></div></div>'
    tools = "".join(w.icon(20) for _ in range(w.count(2, 4)))
    text = f'{named_words(w, 1, 3, "heading", "font-weight:600;display:block")}{bar}<div class="w-row">{tools}</div>'
    return f'<div class="w-line w-card" data-e="card">{w.art(f"{side}px", side)}<div class="w-grow">{text}</div></div>'


def profile(w: Writer) -> str:
    """Somebody: a face, a name, some numbers."""
    numbers = "".join(
        f'<div><b data-e="statistic">{w.count(1, 999)}</b><br>{named_words(w, 1, 1)}</div>'
        for _ in range(w.count(2, 3))
    )
    name = f'<h4 data-e="heading">{html.escape(w.texts.words(2, 2))}</h4>{named_words(w, 1, 3, "hint")}'
    return f'<div class="w-card w-empty" data-e="card">{avatar(w)}{name}<div class="w-columns">{numbers}</div>{button(w)}</div>'


def waiting(w: Writer) -> str:
    """Grey bars where something will be."""
    bars = "".join(
        f'<div class="w-bone" data-e="area" style="width:{w.count(30, 100)}%;height:{w.count(8, 20)}px"></div>'
        for _ in range(w.count(2, 5))
    )
    return f"<div>{bars}</div>"


COMPOSITIONS: Mapping[Component, float] = {
    tree: 0.7,
    steps: 0.6,
    properties: 0.7,
    messages: 0.5,
    files: 0.6,
    editor: 0.6,
    program: 0.6,
    terminal: 0.3,
    accordion: 0.6,
    timeline: 0.4,
    board: 0.4,
    gallery: 0.5,
    offer: 0.3,
    toast: 0.6,
    nothing_here: 0.4,
    news: 0.5,
    footer: 0.2,
    hero: 0.3,
    data_grid: 0.9,
    page_head: 0.4,
    schedule: 0.4,
    player: 0.3,
    profile: 0.3,
    waiting: 0.2,
}
"""Each of them, and how often it is drawn beside the others."""
