"""Documents to photograph: a small grammar of components, under the stylesheets of published libraries.

Stylesheets lie in a folder into which npm installed them:

    npm install bootstrap bulma @picocss/pico water.css spectre.css milligram uikit materialize-css
    foundation-sites
"""

from pathlib import Path

import numpy as np

Rng = np.random.Generator

STYLES = {
    "plain": "",
    "bootstrap": "bootstrap/dist/css/bootstrap.min.css",
    "bulma": "bulma/css/bulma.min.css",
    "pico": "@picocss/pico/css/pico.min.css",
    "water": "water.css/out/water.min.css",
    "spectre": "spectre.css/dist/spectre.min.css",
    "milligram": "milligram/dist/milligram.min.css",
    "uikit": "uikit/dist/css/uikit.min.css",
    "materialize": "materialize-css/dist/css/materialize.min.css",
    "foundation": "foundation-sites/dist/css/foundation.min.css",
}
HELD_OUT_STYLES = ("milligram", "uikit", "materialize", "foundation")
"""No threshold is fitted on these; what is fitted is tried on them."""

FONTS = ("DejaVu Sans", "Liberation Sans", "Roboto", "Noto Sans", "Liberation Serif", "DejaVu Sans Mono")
HELD_OUT_FONTS = ("Open Sans", "Noto Serif", "DejaVu Serif", "Roboto Slab", "Liberation Mono")

_WORDS = (
    "account active add agenda alert all amount apply archive back balance between bold book browse "
    "budget calendar cancel chart city client close cloud code color column comment company confirm "
    "contact copy country create customer daily dark data date delete details digital done download draft "
    "edit email empty error event export failed field file filter first folder form general green group "
    "header help history home image inbox index info invoice item label language last left light link "
    "list local location login mail manage map market menu message model month name network new next note "
    "number offer open option order owner page paid panel paste payment phone photo plan player point "
    "preview price print product profile project public quarter query queue rate read recent record "
    "region remove report reset result return role room row sample save scale search second secure select "
    "send server service session settings share shop sign size sort source start state status step store "
    "street style submit subtotal summary support table target task team test text theme ticket time "
    "title today token tool total track train travel type update upload user value version view visit "
    "wallet warning week width window work year zone "
)
WORDS = _WORDS.split()

ICONS = (
    "M4 12h16M12 4v16", "M5 12l5 5L20 7", "M6 6l12 12M18 6L6 18", "M8 5l8 7-8 7", "M5 9l7 7 7-7",
    "M12 3a9 9 0 1 0 .01 0M12 7v6l4 2", "M4 6h16M4 12h16M4 18h16", "M11 4a7 7 0 1 0 .01 0M16 16l5 5",
    "M5 5h14v14H5zM5 10h14M9 3v4M15 3v4", "M12 3l9 17H3zM12 10v4M12 17v1", "M4 20h4L20 8l-4-4L4 16z",
    "M12 12a4 4 0 1 0-.01 0M4 21c1-5 4-7 8-7s7 2 8 7", "M3 11l9-8 9 8v10H3z", "M6 4h12v16l-6-4-6 4z",
)  # fmt: skip
"""Paths of stroked icons on a square of 24."""

LIGHT = ("#ffffff", "#ffffff", "#ffffff", "#fafafa", "#f5f6f8", "#fdf8ee")
DARK = ("#121212", "#1e1e2e", "#22272e", "#2b2b2b", "#0d1b2a")
ACCENTS = ("#1a73e8", "#0b8043", "#d93025", "#f29900", "#7b1fa2", "#00838f", "#333333", "#e91e63", "#5c6bc0")


class Writer:
    """Writes one random document."""

    def __init__(self, rng: Rng) -> None:
        self.rng = rng
        self.accent = self.pick(ACCENTS)

    def pick(self, choices: tuple[str, ...] | list[str]) -> str:
        """One of the choices."""
        return choices[int(self.rng.integers(len(choices)))]

    def words(self, least: int, most: int) -> str:
        """Some words, the first with a capital letter."""
        count = int(self.rng.integers(least, most + 1))
        return " ".join(self.pick(WORDS) for _ in range(count)).capitalize()

    def number(self) -> str:
        """A number as screens show it."""
        value = int(self.rng.integers(1, 10 ** int(self.rng.integers(1, 6))))
        return self.pick(
            [f"{value}", f"{value:,}", f"${value / 100:.2f}", f"{value % 100} %", f"{value % 24}:30"]
        )

    def icon(self, size: int = 0) -> str:
        """A stroked icon."""
        side = size or int(self.rng.integers(14, 28))
        return (
            f'<svg class="icon" width="{side}" height="{side}" viewBox="0 0 24 24" fill="none" '
            f'stroke="currentColor" stroke-width="2"><path d="{self.pick(ICONS)}"/></svg>'
        )

    def heading(self) -> str:
        level = int(self.rng.integers(1, 6))
        return f"<h{level}>{self.words(1, 4)}</h{level}>"

    def prose(self) -> str:
        return f"<p>{self.words(5, 40)}.</p>"

    def buttons(self) -> str:
        kinds = [
            "",
            "btn-primary is-primary uk-button-primary",
            "btn-secondary secondary outline",
            "disabled",
        ]
        return "".join(
            f'<button class="btn button uk-button {kind}" {"disabled" if kind == "disabled" else ""}>'
            f"{self.icon(16) if self.rng.random() < 0.3 else ''}{self.words(1, 2)}</button> "
            for kind in (self.pick(kinds) for _ in range(int(self.rng.integers(1, 4))))
        )

    def field(self) -> str:
        value = self.pick([f'value="{self.words(1, 3)}"', f'placeholder="{self.words(1, 3)}"', ""])
        return (
            f'<div class="field form-group"><label class="label form-label">{self.words(1, 3)}</label>'
            f'<input type="text" class="input form-control form-input uk-input" {value}></div>'
        )

    def area(self) -> str:
        return f'<textarea class="textarea form-control uk-textarea" rows="3">{self.words(4, 20)}</textarea>'

    def choice(self) -> str:
        kind = self.pick(["checkbox", "radio"])
        rows = "".join(
            f'<label style="display:block"><input type="{kind}" class="uk-{kind}" style="position:static;opacity:1" '
            f"{'checked' if self.rng.random() < 0.4 else ''}> <span>{self.words(1, 3)}</span></label>"
            for _ in range(int(self.rng.integers(1, 5)))
        )
        return f"<div>{rows}</div>"

    def select(self) -> str:
        return (
            '<div class="select"><select class="form-select uk-select browser-default">'
            f"<option>{self.words(1, 3)}</option></select></div>"
        )

    def table(self) -> str:
        columns = int(self.rng.integers(2, 6))
        head = "".join(f"<th>{self.words(1, 2)}</th>" for _ in range(columns))
        rows = "".join(
            "<tr>"
            + "".join(
                f"<td>{self.number() if self.rng.random() < 0.5 else self.words(1, 2)}</td>"
                for _ in range(columns)
            )
            + "</tr>"
            for _ in range(int(self.rng.integers(2, 8)))
        )
        return f'<table class="table uk-table striped"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'

    def card(self) -> str:
        picture = ""
        if self.rng.random() < 0.4:
            hue = int(self.rng.integers(360))
            picture = (
                f'<div class="art" style="height:{int(self.rng.integers(30, 90))}px;background:'
                f'linear-gradient(90deg,hsl({hue},60%,60%),hsl({hue + 60},60%,40%))"></div>'
            )
        return (
            f'<div class="card box panel uk-card uk-card-default" style="border:1px solid #8884;'
            f'border-radius:{int(self.rng.integers(0, 13))}px;padding:10px">{picture}'
            f'<h4 class="title card-title">{self.words(1, 3)}</h4><p>{self.words(3, 14)}.</p></div>'
        )

    def menu(self) -> str:
        rows = []
        for i in range(int(self.rng.integers(2, 8))):
            chosen = f"background:{self.accent};color:white;" if i == 1 and self.rng.random() < 0.5 else ""
            mark = self.icon(16) if self.rng.random() < 0.5 else ""
            rows.append(
                f'<div class="row" style="padding:6px 10px;{chosen}">{mark} <span>{self.words(1, 3)}</span></div>'
            )
        width = int(self.rng.integers(120, 260))
        return f'<div class="menu" style="width:{width}px;border:1px solid #8886;border-radius:4px">{"".join(rows)}</div>'

    def tabs(self) -> str:
        names = [self.words(1, 1) for _ in range(int(self.rng.integers(2, 6)))]
        marked = int(self.rng.integers(len(names)))
        items = "".join(
            f'<span style="display:inline-block;padding:8px 14px;'
            f'{f"border-bottom:2px solid {self.accent};color:{self.accent}" if i == marked else ""}">{name}</span>'
            for i, name in enumerate(names)
        )
        return f'<div class="bar" style="border-bottom:1px solid #8885">{items}</div>'

    def toolbar(self) -> str:
        items = "".join(
            f'<span style="padding:5px">{self.icon()}</span>' for _ in range(int(self.rng.integers(3, 9)))
        )
        return f'<div class="bar" style="background:#8882;padding:4px;display:flex;align-items:center">{items}</div>'

    def chips(self) -> str:
        return "".join(
            f'<span class="chip" style="display:inline-block;border-radius:12px;padding:2px 10px;margin:2px;'
            f'background:{self.pick(["#8883", self.accent + "33", self.accent])}">{self.words(1, 1)}</span>'
            for _ in range(int(self.rng.integers(2, 6)))
        )

    def notice(self) -> str:
        return (
            f'<div class="notice" style="background:{self.accent}22;border-left:4px solid {self.accent};padding:8px">'
            f"{self.icon(18)} <span>{self.words(3, 9)}</span></div>"
        )

    def progress(self) -> str:
        return (
            '<div style="background:#8884;height:8px;border-radius:4px;margin:8px 0"><div style="height:8px;'
            f'border-radius:4px;background:{self.accent};width:{int(self.rng.integers(10, 95))}%"></div></div>'
        )

    def code(self) -> str:
        lines = "\n".join(f"{self.pick(WORDS)}_{self.pick(WORDS)} = {self.number()}" for _ in range(4))
        return f'<pre style="background:#8882;padding:8px;font-family:DejaVu Sans Mono">{lines}</pre>'

    def chart(self) -> str:
        width, height = int(self.rng.integers(160, 340)), int(self.rng.integers(80, 180))
        values = self.rng.random(int(self.rng.integers(4, 10)))
        step = width / len(values)
        grid = "".join(
            f'<line x1="0" x2="{width}" y1="{height * i // 4}.5" y2="{height * i // 4}.5" stroke="#8884"/>'
            for i in range(5)
        )
        if self.rng.random() < 0.5:
            body = "".join(
                f'<rect x="{step * i + 3:.0f}" y="{height * (1 - v):.0f}" width="{step - 6:.0f}" '
                f'height="{height * v:.0f}" fill="{self.accent}"/>'
                for i, v in enumerate(values)
            )
        else:
            points = " ".join(f"{step * (i + 0.5):.1f},{height * (1 - v):.1f}" for i, v in enumerate(values))
            body = f'<polyline points="{points}" fill="none" stroke="{self.accent}" stroke-width="2"/>'
        return f'<svg class="chart" width="{width}" height="{height}">{grid}{body}</svg>'

    def calendar(self) -> str:
        days = "".join(
            f'<span style="width:24px;text-align:center;display:inline-block;padding:3px 0;'
            f'{f"background:{self.accent};color:#fff;border-radius:50%" if day == 12 else ""}">{day}</span>'
            for day in range(1, 29)
        )
        return f'<div style="width:172px;padding:2px">{days}</div>'

    def avatar(self) -> str:
        return (
            f'<span class="avatar" style="display:inline-block;width:36px;height:36px;line-height:36px;text-align:center;'
            f'border-radius:50%;background:{self.accent};color:#fff">{self.pick(WORDS)[:2].upper()}</span>'
        )

    def body(self, count: int) -> str:
        """So many components, one under the other or two side by side."""
        makers = [
            self.heading, self.prose, self.buttons, self.buttons, self.field, self.field, self.area, self.choice,
            self.select, self.table, self.card, self.menu, self.tabs, self.toolbar, self.chips, self.notice,
            self.progress, self.code, self.chart, self.calendar, self.avatar,
        ]  # fmt: skip
        parts = []
        for _ in range(count):
            part = f'<div class="part">{makers[int(self.rng.integers(len(makers)))]()}</div>'
            if self.rng.random() < 0.2:
                other = f'<div class="part">{makers[int(self.rng.integers(len(makers)))]()}</div>'
                part = f'<div class="pair" style="display:flex;gap:12px">{part}{other}</div>'
            parts.append(part)
        return "".join(parts)


def write_document(rng: Rng, style: str, font: str, styles: Path, count: int, width: int) -> str:
    """A random document of so many components, laid out in at most ``width`` pixels."""
    sheet = (styles / STYLES[style]).read_text(encoding="utf-8") if STYLES[style] else ""
    writer = Writer(rng)
    dark = rng.random() < 0.25
    ground = writer.pick(DARK if dark else LIGHT)
    ink = writer.pick(["#eeeeee", "#cccccc"] if dark else ["#000000", "#222222", "#3c4043"])
    direction = "rtl" if rng.random() < 0.08 else "ltr"
    size = writer.pick(["12px", "13px", "14px", "14px", "16px"])
    own = (
        f"html,body{{background:{ground};color:{ink};margin:0;width:auto;max-width:none;min-width:0}}"
        f"body{{font-family:'{font}',sans-serif;font-size:{size};padding:{int(rng.integers(4, 24))}px;"
        f"max-width:{width}px;box-sizing:border-box;direction:{direction}}}"
        f".part{{margin-bottom:{int(rng.integers(4, 18))}px}} *{{transition:none!important;animation:none!important}}"
    )
    theme = "dark" if dark else "light"
    return (
        f'<!DOCTYPE html><html data-theme="{theme}" data-bs-theme="{theme}"><head><meta charset="utf-8">'
        f"<style>{sheet}</style><style>{own}</style></head><body>{writer.body(count)}</body></html>"
    )
