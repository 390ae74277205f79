"""Show where the limits of ``measured/amounts/type.py`` lie on lines of text drawn with installed fonts.

    python tools/fit type_limits [--lines 1000] [--seed 1]

The tool draws pairs of one line of text. Between the two pictures the line becomes bolder, larger, italic,
underlined or wider spaced; or it changes its typeface, words or colour; or it only moves by less than a
pixel. For each of these changes the tool prints what ``type_change`` answers with the present limits, and the
range of the measures. The limits were set by hand between these ranges. ``fc-list`` says which fonts are
installed.
"""

import argparse
import random
import subprocess
from collections import Counter, defaultdict
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from whatchanged.measured.amounts.coverage import read_coverage
from whatchanged.measured.amounts.type import LineStep, TextLine, compare_lines, read_line, type_change

WORDS = (
    *("Save", "Cancel", "Settings", "Upload", "Documents", "Search", "Profile", "Last", "updated", "Price"),
    *("Order", "history", "Welcome", "Dashboard", "Reports", "12", "new", "messages", "24.5", "kB", "Home"),
    *("Contact", "Delete", "account", "Notifications", "password", "2024-01-15", "Log", "in", "Next"),
)
SIZES = (11, 12, 13, 14, 15, 16, 18, 20, 24, 28, 32)
REGULAR, BOLD = ("Regular", "Book", "Roman"), ("Bold", "Demi", "Semibold", "Medium", "Black", "Extrabold")
SLANTED = ("Italic", "Oblique", "Book Oblique")
KINDS = ("weight", "size", "slant", "spacing", "face", "words", "color", "same", "underline")


@dataclass(frozen=True)
class Style:
    """How a line is drawn."""

    words: str
    font: str
    size: int
    start: float = 10.0
    color: tuple[int, int, int] = (20, 20, 20)
    spacing: float = 0.0
    underlined: bool = False


def installed_fonts() -> dict[str, dict[str, str]]:
    """The files of the installed fonts, by family and style; families with a regular style alone."""
    command = ["fc-list", ":", "family", "style", "file"]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    families: dict[str, dict[str, str]] = defaultdict(dict)
    for line in lines:
        path, family, style = (part.strip() for part in line.split(":")[:3])
        families[family.split(",")[0]][style.removeprefix("style=").split(",")[0]] = path
    return {name: styles for name, styles in families.items() if any(one in styles for one in REGULAR)}


def drawn(style: Style) -> NDArray[np.uint8]:
    """The line on white, (H, W, 3)."""
    font = ImageFont.truetype(style.font, style.size)
    width = int(font.getlength(style.words) + style.spacing * len(style.words)) + 40
    picture = Image.new("RGB", (width, 2 * style.size + 12), "white")
    pen = ImageDraw.Draw(picture)
    left = style.start
    for letter in style.words if style.spacing else [style.words]:
        pen.text((left, 6), letter, fill=style.color, font=font)
        left += font.getlength(letter) + style.spacing
    if style.underlined:
        base = 6 + font.getmetrics()[0] + max(1, style.size // 12)
        pen.rectangle((10, base, left, base + max(0, style.size // 14 - 1)), fill=style.color)
    return np.asarray(picture)


def drawn_pair(rng: random.Random, fonts: dict[str, dict[str, str]]) -> tuple[str, Style, Style] | None:
    """One line, and what became of it; None where its family lacks the style that is wanted."""
    family = rng.choice(sorted(fonts))
    styles, kind = fonts[family], rng.choice(KINDS)
    words = " ".join(rng.choices(WORDS, k=rng.randint(1, 4)))
    one = Style(words, next(styles[name] for name in REGULAR if name in styles), rng.choice(SIZES))
    other = replace(one, start=10 + rng.random())
    match kind:
        case "weight" | "slant":
            names = [name for name in (BOLD if kind == "weight" else SLANTED) if name in styles]
            if not names:
                return None
            other = replace(other, font=styles[rng.choice(names)])
        case "size":
            other = replace(other, size=max(9, one.size + rng.choice([-4, -3, -2, -1, 1, 2, 3, 4])))
        case "spacing":
            other = replace(other, spacing=rng.choice([0.5, 1, 2]))
        case "face":
            strange = fonts[rng.choice(sorted(set(fonts) - {family}))]
            other = replace(other, font=next(strange[name] for name in REGULAR if name in strange))
        case "words":
            other = replace(other, words=" ".join(rng.choices(WORDS, k=rng.randint(1, 4))))
        case "color":
            other = replace(other, color=(rng.randint(0, 180), rng.randint(0, 180), rng.randint(0, 180)))
        case "underline":
            other = replace(other, underlined=True)
    return (kind, one, other) if rng.random() < 0.5 else (kind, other, one)


def read(style: Style) -> TextLine | None:
    """The line as the measurement reads it."""
    covered = read_coverage(drawn(style))
    return None if covered is None else read_line(covered.ink)


def main() -> None:
    """Draw, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--lines", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    rng, fonts = random.Random(arguments.seed), installed_fonts()
    told: dict[str, Counter[str]] = defaultdict(Counter)
    steps: dict[str, list[LineStep]] = defaultdict(list)
    for _ in range(arguments.lines):
        pair = drawn_pair(rng, fonts)
        lines = None if pair is None else (read(pair[1]), read(pair[2]))
        if pair is None or lines is None or lines[0] is None or lines[1] is None:
            continue
        finding = type_change(lines[0], lines[1])
        told[pair[0]][finding.aspect if finding is not None else "nothing"] += 1
        steps[pair[0]].append(compare_lines(lines[0], lines[1]))
    for kind, counts in told.items():
        print(f"{kind}: {dict(counts.most_common())}")
        for name in ("left_over", "height", "width", "area", "slant"):
            values = [getattr(step, name) for step in steps[kind]]
            print(f"    {name:10s} {np.percentile(values, [2, 10, 50, 90, 98]).round(2).tolist()}")


if __name__ == "__main__":
    main()
