"""Draws batches of pairs with few causes each, for the weights of the groups of the measured answer.

    python -m benchmarks.screens.groups OUT [--styles FOLDER] [--batches 16] [--tables 0] [--pairs 20]
        [--seed 0]

A batch has one stylesheet in which one to seven rules are changed, as in a commit. Each of its documents
shows one of these changes. In half of the batches, a picture ends at the end of its document. Every third
batch holds plots instead (``groups_plots.py``). ``--tables`` adds batches of small pages with tables. Each of
these has two to six of the causes of ``eleven_causes.py``. The program writes ``pairs.jsonl`` (id, commit,
causes, before, after, held) and ``images/``.
"""

import argparse
import json
import re
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.screens import eleven_causes
from benchmarks.screens.groups_plots import plot_pairs
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
Drawn = tuple[bool, str, Pixels, Pixels]
"""Whether a pair is held out, its cause, and its pictures."""


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
        ("heading-removed", components.heading, "heading", "display:none"),
        ("button-moved", components.buttons, "button", f"position:relative;left:{3 * step}px"),
        ("link-plain", components.prose, "link", "text-decoration:none"),
        ("button-capitals", components.buttons, "button", "text-transform:uppercase"),
        ("field-width", components.text_field, "text field", f"width:{90 + 20 * step}px"),
        ("line-height", components.prose, "paragraph", f"line-height:{1.1 + step / 8}"),
    ]
    found = [
        (name, maker, f'[data-e="{element}"]{{{style}!important}}') for name, maker, element, style in made
    ]
    return [*found, *wide_rules(rng, step)]


def wide_rules(rng: Rng, step: int) -> list[tuple[str, Component, str]]:
    """Rules for elements of several sorts, and added content: a name, a component that shows it, the rule."""
    many = [components.buttons, components.chips, components.tabs, components.card, components.text_field]
    several, elsewhere = (many[int(rng.integers(len(many)))] for _ in range(2))
    fonts = ("monospace", "serif", "cursive")
    themed = ",".join(f'[data-e="{one}"]' for one in ("button", "chip", "tab", "card", "text field"))
    return [
        ("theme-fill", several, f"{themed}{{background:{color(rng)}!important}}"),
        ("theme-radius", elsewhere, f"{themed}{{border-radius:{3 * step}px!important}}"),
        ("theme-border", several, f"{themed}{{border:2px solid {color(rng)}!important}}"),
        ("font", elsewhere, f"*{{font-family:{fonts[step % 3]}!important}}"),
        ("page-padding", several, f"body{{padding:{6 + 3 * step}px!important}}"),
        ("dark", elsewhere, "html,body{background:#15181d!important}*{color:#e4e7eb!important}"),
        ("mark-added", components.text_field, '[data-e="label"]::after{content:" *";color:#d00}'),
        ("badge-added", components.buttons, '[data-e="button"]::after{content:" \\25CF";color:#e33}'),
        (
            "note-added",
            several,
            f'body::before{{content:"Preview";display:block;padding:{step}px;background:#fe9}}',
        ),
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
    if number % 6 == 1 and rng.random() < 0.6:
        cause, maker = f"icon {place}", components.toolbar
    if number % 6 == 3 and rng.random() < 0.5:
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


def page_pairs(number: int, options: argparse.Namespace, shown: Shown, other: Shown) -> Iterator[Drawn]:
    """The pairs of one batch of pages."""
    batch = make_batch(options.seed, number)
    for _ in range(options.pairs):
        yield batch.split != "train", *draw_pair(batch, number, shown, other)


def table_pairs(seed: int, number: int, pairs: int) -> Iterator[Drawn]:
    """The pairs of one batch of small pages with tables."""
    rng = np.random.default_rng([seed, 13, number])
    chosen = rng.permutation(list(eleven_causes.CAUSES))[: int(rng.integers(2, 7))]
    with Browser("grey") as browser:
        for _ in range(pairs):
            cause = str(rng.choice(chosen))
            page = eleven_causes.random_page(rng)
            pictures = []
            for one in (page, eleven_causes.CAUSES[cause](page, rng)):
                browser.show(eleven_causes.document(one), *eleven_causes.SIZE, 1.0)
                pictures.append(np.asarray(browser.photograph().convert("RGB")))
            yield False, cause, pictures[0], pictures[1]


def stored(name: str, drawn: Iterable[Drawn], out: Path) -> Iterator[dict[str, object]]:
    """Write the pictures of a batch that differ. Yield their records."""
    for index, (held, cause, before, after) in enumerate(drawn):
        if before.shape == after.shape and np.array_equal(before, after):
            continue
        paths = {end: f"images/{name}-{index:02d}_{end}.png" for end in ("before", "after")}
        for end, picture in (("before", before), ("after", after)):
            (out / paths[end]).write_bytes(png(picture))
        yield {
            "id": f"{name}-{index:02d}",
            "commit": f"batch-{name}",
            "held": held,
            "causes": [cause],
            **paths,
        }


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
    parser.add_argument("--tables", type=int, default=0)
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
        for number in range(options.batches + options.tables):
            if number >= options.batches:
                drawn = table_pairs(options.seed, number, options.pairs)
            elif number % 3 == 2:
                drawn = plot_pairs(options.seed, number, options.pairs)
            else:
                drawn = page_pairs(number, options, shown, other)
            for record in stored(f"{options.seed}-{number:03d}", drawn, options.out):
                print(json.dumps(record), file=lines, flush=True)


if __name__ == "__main__":
    main()
