"""Draws batches of pairs with few causes each, for the weights of the groups of the measured answer.

    python -m benchmarks.screens.groups OUT [--styles FOLDER] [--batches 16] [--pairs 20] [--seed 0]

A batch has one stylesheet in which one to seven rules are changed, as in a commit. Each of its documents
shows one of these changes. In half of the batches, a picture ends at the end of its document. The program
writes ``pairs.jsonl`` (id, commit, causes, before, after, held) and ``images/``.
"""

import argparse
import json
import re
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from whatchanged.records import Split
from whatchanged.synth.screens.browser import Browser
from whatchanged.synth.screens.pages import components
from whatchanged.synth.screens.pages.components import Component
from whatchanged.synth.screens.pages.designs import Library, find_modules, libraries_of
from whatchanged.synth.screens.pages.document import write_document
from whatchanged.synth.screens.pages.shown import Pixels, Shown
from whatchanged.synth.screens.pages.writer import ICONS, Writer
from whatchanged.synth.screens.recoding import png
from whatchanged.synth.screens.words import RandomTexts

Rng = np.random.Generator


def color(rng: Rng) -> str:
    """Any colour."""
    return f"hsl({int(rng.integers(360))},{int(rng.integers(30, 90))}%,{int(rng.integers(30, 75))}%)"


def rules(rng: Rng) -> list[tuple[str, Component, str]]:
    """Rules of a stylesheet: a name, what a document must hold to show it, the rule."""
    step = int(rng.integers(2, 9))
    size = float(rng.choice([0.85, 1.12, 1.25]))
    made: list[tuple[str, Component, str, str]] = [
        ("button-fill", components.buttons, "button", f"background:{color(rng)}"),
        ("button-padding", components.buttons, "button", f"padding-left:{10 + 2 * step}px"),
        ("button-radius", components.buttons, "button", f"border-radius:{4 + step}px"),
        ("field-border", components.text_field, "text field", f"border:1px solid {color(rng)}"),
        ("label-gap", components.text_field, "label", f"margin-bottom:{step + 3}px!important;display:block"),
        ("label-colour", components.text_field, "label", f"color:{color(rng)}"),
        ("table-padding", components.table, "table cell", f"padding:{step + 3}px"),
        ("table-lines", components.table, "table cell", f"border-bottom:2px solid {color(rng)}"),
        ("heading-size", components.heading, "heading", f"font-size:{14 + 2 * step}px"),
        ("text-size", components.prose, "paragraph", f"font-size:{size}em"),
        ("text-colour", components.prose, "paragraph", f"color:{color(rng)}"),
        ("card-radius", components.card, "card", f"border-radius:{8 + 2 * step}px"),
        ("card-shadow", components.card, "card", f"box-shadow:0 {step}px {2 * step}px #0006"),
        ("menu-rows", components.menu, "menu item", f"padding:{6 + step}px 10px"),
        ("chip-fill", components.chips, "chip", f"background:{color(rng)}"),
        ("chip-bold", components.chips, "chip", "font-weight:700"),
        ("tab-colour", components.tabs, "tab", f"color:{color(rng)}"),
        ("text-smaller", components.buttons, "button", f"font-size:{11 + step % 3}px"),
        ("field-height", components.text_field, "text field", f"height:{26 + 2 * step}px"),
        ("glyph-colour", components.toolbar, "icon", f"color:{color(rng)}"),
        ("focus-ring", components.buttons, "button", f"outline:2px solid {color(rng)}"),
        ("choice-shift", components.choices, "checkbox", f"position:relative!important;top:{min(step, 3)}px"),
        ("toolbar-fill", components.toolbar, "toolbar", f"background:{color(rng)}"),
        ("code-size", components.code, "code block", f"font-size:{11 + step}px"),
    ]
    return [
        (name, maker, f'[data-e="{element}"]{{{style}!important}}') for name, maker, element, style in made
    ]


@dataclass(frozen=True)
class Batch:
    """What the pairs of a batch share."""

    rng: Rng
    library: Library
    split: Split
    fitted: bool
    icons: list[str]
    chosen: list[tuple[str, Component, str]]
    shares: NDArray[np.float64]


def make_batch(seed: int, batch: int) -> Batch:
    """A stylesheet with one to seven rules altered; every fourth of a design that is held out."""
    rng = np.random.default_rng([seed, 11, batch])
    split: Split = "val" if batch % 4 == 3 else "train"
    able = libraries_of(split)
    possible = rules(rng)
    count = int(rng.integers(1, 8))
    return Batch(
        rng,
        able[int(rng.integers(len(able)))],
        split,
        bool(batch % 2),
        [str(path) for path in rng.permutation(ICONS)],
        [possible[k] for k in rng.permutation(len(possible))[:count]],
        rng.dirichlet(np.full(count, 0.8)),
    )


def draw_pair(batch: Batch, number: int, shown: Shown, other: Shown) -> tuple[str, Pixels, Pixels]:
    """The cause of one pair, and its pictures."""
    rng = batch.rng
    cause, maker, rule = batch.chosen[int(rng.choice(len(batch.chosen), p=batch.shares))]
    place = int(rng.choice(3, p=[0.6, 0.25, 0.15]))
    if number % 3 == 1 and rng.random() < 0.6:
        cause, maker = f"icon {place}", components.toolbar
    if number % 3 == 2 and rng.random() < 0.5:
        cause, maker = "text rendering", components.prose
    document = write_document(rng, batch.library, batch.split, (480, 300))
    writer = Writer(rng, batch.library, RandomTexts(rng, "en"))
    parts = "".join(f'<div class="w-part">{maker(writer)}</div>' for _ in range(int(rng.integers(1, 3))))
    if cause.startswith("icon"):
        parts = re.sub(r'<path d="[^"]*"', f'<path class="other" d="{batch.icons[place]}"', parts, count=1)
    document = replace(document, body=parts + document.body, fitted=batch.fitted)
    before = shown.photograph(shown.load(document, batch.library))
    if cause == "text rendering":
        return cause, before, other.photograph(other.load(document, batch.library))
    script = f"document.body.insertAdjacentHTML('beforeend', {json.dumps(f'<style>{rule}</style>')})"
    if cause.startswith("icon"):
        script = f"document.querySelector('path.other').setAttribute('d', '{batch.icons[3 + place]}')"
    return cause, before, shown.photograph(shown.change(script))


def draw_batch(
    number: int, options: argparse.Namespace, shown: Shown, other: Shown
) -> list[dict[str, object]]:
    """The pairs of one batch."""
    batch = make_batch(options.seed, number)
    records: list[dict[str, object]] = []
    for index in range(options.pairs):
        cause, before, after = draw_pair(batch, number, shown, other)
        if before.shape == after.shape and np.array_equal(before, after):
            continue
        name = f"{options.seed}-{number:03d}-{index:02d}"
        for end, picture in (("before", before), ("after", after)):
            (options.out / "images" / f"{name}_{end}.png").write_bytes(png(picture))
        records.append(
            {
                "id": name,
                "commit": f"batch-{number:03d}",
                "held": batch.split != "train",
                "causes": [cause],
                "before": f"images/{name}_before.png",
                "after": f"images/{name}_after.png",
            }
        )
    return records


def main() -> None:
    """Draws the batches."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path)
    parser.add_argument(
        "--styles", type=Path, help="where npm installed the stylesheets; else the cache folder"
    )
    parser.add_argument("--batches", type=int, default=16)
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    (options.out / "images").mkdir(parents=True, exist_ok=True)
    modules = find_modules(options.styles.absolute() if options.styles else None)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        shown, other = (
            Shown(stack.enter_context(Browser(fonts, ("--allow-file-access-from-files",))), modules, folder)
            for fonts in ("unhinted", "slight")
        )
        lines = stack.enter_context((options.out / "pairs.jsonl").open("w", encoding="utf-8"))
        for number in range(options.batches):
            for record in draw_batch(number, options, shown, other):
                print(json.dumps(record), file=lines, flush=True)


if __name__ == "__main__":
    main()
