"""Draws batches of pairs with few causes each, for the weights of the groups of the measured answer.

    python benchmarks/screen_groups.py OUT --styles NODE_MODULES [--batches 16] [--pairs 20] [--seed 0]

A batch is one stylesheet with one to seven rules altered, as a commit alters it; each of its documents shows
one of them. In half of the batches pictures end where their document does. Writes ``pairs.jsonl`` (id,
commit, causes, before, after, held) and ``images/``.
"""

import argparse
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image

from benchmarks.screen_documents import (
    FONTS,
    HELD_OUT_FONTS,
    HELD_OUT_STYLES,
    ICONS,
    STYLES,
    Writer,
    write_document,
)
from whatchanged.worlds.screens.drawing.browser import Browser

Rng = np.random.Generator
Maker = Callable[[Writer], str]


def color(rng: Rng) -> str:
    """Any colour."""
    return f"hsl({int(rng.integers(360))},{int(rng.integers(30, 90))}%,{int(rng.integers(30, 75))}%)"


def rules(rng: Rng) -> list[tuple[str, Maker, str]]:
    """Rules of a stylesheet: a name, what a document must hold to show it, the rule."""
    step = int(rng.integers(2, 9))
    size = float(rng.choice([0.85, 1.12, 1.25]))
    return [
        ("button-fill", Writer.buttons, f"button{{background:{color(rng)}!important}}"),
        ("button-padding", Writer.buttons, f"button{{padding-left:{10 + 2 * step}px!important}}"),
        ("button-radius", Writer.buttons, f"button{{border-radius:{4 + step}px!important}}"),
        ("field-border", Writer.field, f"input{{border:1px solid {color(rng)}!important}}"),
        ("label-gap", Writer.field, f"label{{margin-bottom:{step + 3}px!important;display:block!important}}"),
        ("label-colour", Writer.field, f"label{{color:{color(rng)}!important}}"),
        ("table-padding", Writer.table, f"td,th{{padding:{step + 3}px!important}}"),
        ("table-lines", Writer.table, f"td,th{{border-bottom:2px solid {color(rng)}!important}}"),
        ("heading-size", Writer.heading, f"h1,h2,h3,h4,h5{{font-size:{14 + 2 * step}px!important}}"),
        ("text-size", Writer.prose, f"p{{font-size:{size}em!important}}"),
        ("text-colour", Writer.prose, f"p{{color:{color(rng)}!important}}"),
        ("card-radius", Writer.card, f".card{{border-radius:{8 + 2 * step}px!important}}"),
        ("card-shadow", Writer.card, f".card{{box-shadow:0 {step}px {2 * step}px #0006!important}}"),
        ("menu-rows", Writer.menu, f".row{{padding:{6 + step}px 10px!important}}"),
        ("chip-fill", Writer.chips, f".chip{{background:{color(rng)}!important}}"),
        ("chip-bold", Writer.chips, ".chip{font-weight:700!important}"),
        ("tab-colour", Writer.tabs, f".bar span{{color:{color(rng)}!important}}"),
        ("text-smaller", Writer.buttons, f"button{{font-size:{11 + step % 3}px!important}}"),
        ("part-gap", Writer.heading, f".part{{margin-bottom:{max(1, 8 - step)}px!important}}"),
        ("field-height", Writer.field, f"input{{height:{26 + 2 * step}px!important}}"),
        ("glyph-colour", Writer.toolbar, f".icon{{color:{color(rng)}!important}}"),
        ("focus-ring", Writer.buttons, f"button:first-of-type{{outline:2px solid {color(rng)}!important}}"),
        ("choice-shift", Writer.choice, f"input[type]{{position:relative!important;top:{min(step, 3)}px}}"),
        ("toolbar-fill", Writer.toolbar, f".bar{{background:{color(rng)}!important}}"),
        ("code-size", Writer.code, f"pre{{font-size:{11 + step}px!important}}"),
    ]


def picture_of(browser: Browser, fitted: bool) -> Image.Image:
    """The window, or as much of it as the document fills."""
    picture = browser.photograph()
    if not fitted:
        return picture
    end = int(browser.run("Math.ceil(document.body.getBoundingClientRect().bottom)"))
    return picture.crop((0, 0, picture.width, min(picture.height, max(end, 8))))


def draw_batch(
    batch: int, options: argparse.Namespace, browser: Browser, other: Browser
) -> list[dict[str, object]]:
    """The pairs of one batch."""
    rng = np.random.default_rng([options.seed, 11, batch])
    held = batch % 4 == 3
    style = str(rng.choice([name for name in STYLES if (name in HELD_OUT_STYLES) == held]))
    font = str(rng.choice(HELD_OUT_FONTS if held else FONTS))
    possible = rules(rng)
    count = int(rng.integers(1, 8))
    chosen = [possible[k] for k in rng.permutation(len(possible))[:count]]
    shares = rng.dirichlet(np.full(count, 0.8))
    fitted = bool(batch % 2)
    icons = [str(path) for path in rng.permutation(ICONS)]
    records: list[dict[str, object]] = []
    for index in range(options.pairs):
        cause, maker, rule = chosen[int(rng.choice(count, p=shares))]
        if batch % 3 == 1 and rng.random() < 0.6:
            place = int(rng.choice(3, p=[0.6, 0.25, 0.15]))
            cause, maker, rule = f"icon {place}", Writer.toolbar, icons[place]
        if batch % 3 == 2 and rng.random() < 0.5:
            cause, maker, rule = "text rendering", Writer.prose, ""
        width, height = int(rng.integers(140, 480)), int(rng.integers(60, 300))
        document = write_document(rng, style, font, options.styles, int(rng.integers(0, 4)), width)
        writer = Writer(rng)
        parts = "".join(f'<div class="part">{maker(writer)}</div>' for _ in range(int(rng.integers(1, 3))))
        document = document.replace("<body>", f"<body>{parts}", 1)
        if cause.startswith("icon"):
            document = document.replace("<path d=", f'<path d="{rule}" data-was=', 1)
        browser.show(document, width, height)
        before = picture_of(browser, fitted)
        if cause == "text rendering":
            other.show(document, width, height)
            after = picture_of(other, fitted)
        else:
            script = f"document.head.insertAdjacentHTML('beforeend', {json.dumps(f'<style>{rule}</style>')})"
            if cause.startswith("icon"):
                script = f"document.querySelector('path[data-was]').setAttribute('d', '{icons[3 + place]}')"
            browser.run(script)
            after = picture_of(browser, fitted)
        if before.tobytes() == after.tobytes():
            continue
        name = f"{options.seed}-{batch:03d}-{index:02d}"
        for end, picture in (("before", before), ("after", after)):
            picture.save(options.out / "images" / f"{name}_{end}.png", compress_level=1)
        records.append({
            "id": name, "commit": f"batch-{batch:03d}", "held": held, "causes": [cause],
            "before": f"images/{name}_before.png", "after": f"images/{name}_after.png",
        })  # fmt: skip
    return records


def main() -> None:
    """Draws the batches."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path)
    parser.add_argument("--styles", type=Path, required=True)
    parser.add_argument("--batches", type=int, default=16)
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    (options.out / "images").mkdir(parents=True, exist_ok=True)
    with (
        Browser("full") as browser,
        Browser("unhinted") as other,
        (options.out / "pairs.jsonl").open("w", encoding="utf-8") as lines,
    ):
        for batch in range(options.batches):
            for record in draw_batch(batch, options, browser, other):
                print(json.dumps(record), file=lines, flush=True)


if __name__ == "__main__":
    main()
