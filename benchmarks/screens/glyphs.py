"""Counts which one-character changes in a line of text the measured answer finds, by the size of the letters.

    python -m benchmarks.screens.glyphs [--sheets 4] [--seed 0] [--tuning] [--record]

Chromium draws sheets of lines: numbers, dates, prices and words. Their typefaces were not used to fit any
limit (with ``--tuning``, they were). Each line is drawn

- once as it is,
- once with one digit or letter replaced (a letter by one of similar shape),
- three times with small differences: moved by up to half a pixel, letters up to a fiftieth of a pixel farther
  apart, turned by a fiftieth of a degree, in a separate layer, or with precise outlines,
- once with other settings of the font library,
- once after JPEG or WebP.

A line that is drawn again counts as unchanged if its width changes by at most half a pixel. "By sizes alone"
means: without the comparison of each glyph with the rest of its line.
"""

import argparse
import io
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any
from unittest import mock

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from benchmarks.record import Watch, add_record_option, write_result
from whatchanged.measured.pixels import gate
from whatchanged.synth.screens.browser import Browser

Rng = np.random.Generator
Pixels = NDArray[np.uint8]

FITTED = (
    "Liberation Sans",
    "DejaVu Sans",
    "Inter",
    "Carlito",
    "Liberation Serif",
    "Lato",
    "Fira Code",
    "Cantarell",
)
"""Faces on which limits were fitted."""
UNFITTED = (
    "Nimbus Sans",
    "DejaVu Serif",
    "Liberation Mono",
    "Nimbus Roman",
    "DejaVu Sans Mono",
    "Inter Display",
    "Liberation Sans Narrow",
)
"""Faces on which no limit was fitted."""
SIZES = (11, 12, 13, 14, 16, 18, 20, 24)
RENDERERS = ("grey", "unhinted", "slight", "full", "lcd", "bgr", "full-lcd")
COLOURS = (
    ("#111", "#fff"),
    ("#000", "#fff"),
    ("#555", "#fff"),
    ("#888", "#f6f6f6"),
    ("#eee", "#1a1d22"),
    ("#fff", "#1a73e8"),
    ("#1a5fb4", "#fff"),
    ("#c01c28", "#fdf4f4"),
)
WORDS = (
    "total price orders shipped user report account monthly average settings value balance search results "
    "version speed page active name status week energy market record model height clean budget review input"
)
LIKE = {
    **{"a": "eos", "b": "hd", "c": "eo", "d": "b", "e": "aco", "f": "t", "g": "qy", "h": "bnk", "i": "lj"},
    **{"j": "i", "k": "h", "l": "it", "m": "nw", "n": "hur", "o": "aec", "p": "q", "q": "g", "r": "tn"},
    **{"s": "ae", "t": "fl", "u": "nv", "v": "uy", "w": "v", "x": "v", "y": "v", "z": "s"},
}
"""Letters of like shape."""
ANEW = (
    *(f"transform:translateX({step}px)" for step in (0.1, 0.25, 0.33, 0.5)),
    *(f"transform:translateY({step}px)" for step in (0.25, 0.5)),
    *(f"letter-spacing:{step}px" for step in (0.01, 0.02)),
    "transform:rotate(.02deg)",
    "will-change:transform;transform:translateZ(0)",
    "text-rendering:geometricPrecision",
)
"""Styles under which a line is drawn anew."""
WIDTH, HEIGHT, LINES = 360, 40, 32
MOST_WIDER = 0.5


@dataclass(frozen=True)
class Sheet:
    """A picture of lines below one another, and how wide each of them is."""

    pixels: Pixels
    widths: list[float]

    def line(self, number: int) -> Pixels:
        """The picture of one line."""
        return self.pixels[number * HEIGHT : (number + 1) * HEIGHT]


def random_line(rng: Rng) -> str:
    """A price, a date, a count, or words."""

    def digits(count: int) -> str:
        return "".join(str(digit) for digit in rng.integers(0, 10, count))

    first, second = (str(rng.choice(WORDS.split())) for _ in range(2))
    forms = (
        f"{digits(2)}.{digits(2)}",
        f"{first.capitalize()} {digits(1)},{digits(3)}.{digits(2)}",
        f"{first.capitalize()} {second}",
        f"{first} {digits(2)} of {digits(3)} {second}",
        f"20{digits(2)}-0{digits(1)}-1{digits(1)}",
        f"{first.capitalize()}: {digits(2)} %",
    )
    return forms[int(rng.integers(len(forms)))]


def with_another_character(rng: Rng, line: str) -> str:
    """The line with one digit, or a letter where it has none, exchanged."""
    places = [k for k, one in enumerate(line) if one.isdigit()] or [
        k for k, one in enumerate(line) if one.lower() in LIKE
    ]
    place = int(rng.choice(places))
    was = line[place]
    if was.isdigit():
        other = str((int(was) + int(rng.integers(1, 10))) % 10)
    else:
        other = str(rng.choice(list(LIKE[was.lower()])))
        other = other.upper() if was.isupper() else other
    return line[:place] + other + line[place + 1 :]


def photograph(browser: Browser, lines: list[str], style: str, own: list[str] | None = None) -> Sheet:
    """The lines in a browser, each with a style of its own where there are some."""
    parts = [
        f'<div style="height:{HEIGHT}px;line-height:{HEIGHT}px;padding:0 16px;overflow:hidden;'
        f'white-space:nowrap;text-align:{("left", "right", "center")[k % 3]}">'
        f'<span style="display:inline-block;{own[k] if own else ""}">{line}</span></div>'
        for k, line in enumerate(lines)
    ]
    body = f'<html><body style="margin:0;{style}">{"".join(parts)}</body></html>'
    browser.show(body, WIDTH, HEIGHT * len(lines))
    widths = browser.run(
        "[...document.querySelectorAll('span')].map(one => { let range = document.createRange();"
        "range.selectNodeContents(one); return range.getBoundingClientRect().width })"
    )
    return Sheet(np.asarray(browser.photograph()), widths)


def recoded(rng: Rng, sheet: Sheet) -> Sheet:
    """The sheet after JPEG or WebP of high quality."""
    file = io.BytesIO()
    kind = str(rng.choice(["JPEG", "WEBP"]))
    Image.fromarray(sheet.pixels).save(file, kind, quality=int(rng.choice([92, 95, 98])))
    with Image.open(file) as picture:
        return Sheet(np.asarray(picture.convert("RGB")), sheet.widths)


def score(before: Pixels, after: Pixels) -> tuple[float, float]:
    """The strength of the difference, without and with the comparison with the rest of the line."""
    with mock.patch.object(gate, "MOST_GLYPH_BOXES", 0):
        alone = gate.visibility(before, after).score
    return alone, gate.visibility(before, after).score


def scores(
    browsers: dict[str, Browser], rng: Rng, face: str, size: int
) -> Iterator[tuple[bool, tuple[float, float]]]:
    """Of each pair of lines of one sheet whether a character changed, and its scores."""
    ink, ground = COLOURS[int(rng.integers(len(COLOURS)))]
    weight = int(rng.choice([400, 400, 700]))
    style = f"font:{weight} {size}px '{face}';color:{ink};background:{ground}"
    lines = [random_line(rng) for _ in range(LINES)]
    name, other = (str(one) for one in rng.choice(RENDERERS, 2, replace=False))
    before = photograph(browsers[name], lines, style)
    changed = photograph(browsers[name], [with_another_character(rng, line) for line in lines], style)
    anew = [
        photograph(browsers[name], lines, style, [str(one) for one in rng.choice(ANEW, LINES)])
        for _ in range(3)
    ]
    anew += [photograph(browsers[other], lines, style), recoded(rng, before)]
    for number in range(LINES):
        yield True, score(before.line(number), changed.line(number))
        for sheet in anew:
            wider = abs(sheet.widths[number] - before.widths[number])
            differs = not np.array_equal(sheet.line(number), before.line(number))
            if wider < MOST_WIDER and differs:
                yield False, score(before.line(number), sheet.line(number))


def row(size: str, found: list[tuple[bool, tuple[float, float]]]) -> dict[str, Any]:
    """The shares of one size of letters."""
    shares: dict[str, Any] = {"pixels": size}
    for wanted, label, share in (
        (True, "one character changed", "seen, %"),
        (False, "drawn anew", "called changed, %"),
    ):
        own = np.array([both for changed, both in found if changed == wanted])
        shares[f"lines, {label}"] = len(own)
        for index, way in enumerate(("by sizes alone", "now")):
            shares[f"{share}, {way}"] = 100 * float(np.mean(own[:, index] >= 1))
    return shares


def main() -> None:
    """Prints a row for each size, and records them where asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sheets", type=int, default=4, help="of each size")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tuning", action="store_true")
    add_record_option(parser, "screen_glyphs")
    options = parser.parse_args()
    faces = FITTED if options.tuning else UNFITTED
    rows, everything = [], []
    with Watch() as watch, ExitStack() as stack:
        browsers = {name: stack.enter_context(Browser(name)) for name in RENDERERS}
        for size in SIZES:
            rng = np.random.default_rng([options.seed, size])
            results = [
                one
                for face in rng.choice(faces, options.sheets)
                for one in scores(browsers, rng, str(face), size)
            ]
            everything += results
            rows.append(row(str(size), results))
            print(rows[-1], flush=True)
    rows.append(row("all", everything))
    print(rows[-1])
    if options.record:
        decimals = {name: 1 for name in rows[0] if "%" in name}
        write_result(
            options.record,
            "rows",
            {"rows": rows, "decimals": decimals},
            watch=watch,
            seeds={"lines": options.seed},
        )


if __name__ == "__main__":
    main()
