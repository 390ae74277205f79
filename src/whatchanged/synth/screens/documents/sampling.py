"""Random documents."""

from colorsys import hls_to_rgb
from dataclasses import replace

import numpy as np

from whatchanged.records import Split
from whatchanged.synth.screens.choices import pick
from whatchanged.synth.screens.documents.document import (
    Block,
    BlockKind,
    BlockLook,
    TypesetDocument,
    TypesetWord,
)
from whatchanged.synth.screens.documents.styles import (
    CODE,
    FORMULAS,
    FUNCTIONS,
    LETTERS,
    OWN_FONTS,
    RELATIONS,
    STYLES,
    Style,
)
from whatchanged.synth.screens.fonts import fonts_of
from whatchanged.synth.screens.words import LANGUAGES, Rng, random_language

WordRows = tuple[tuple[tuple[TypesetWord, ...], ...], ...]
KINDS: tuple[BlockKind, ...] = (
    "paragraph",
    "paragraph",
    "paragraph",
    "heading",
    "list",
    "table",
    "formula",
    "figure",
    "rule",
    "code",
    "quote",
)
CODE_FONT = "DejaVu Sans Mono"


def number(rng: Rng) -> str:
    """A number as documents show it."""
    value = float(np.exp(rng.uniform(0, 9)))
    return pick(
        rng, (f"{value:.0f}", f"{value:.1f}", f"{value:.2f}", f"{value:,.0f}", f"{value % 100:.0f} %")
    )


def words(rng: Rng, language: str, least: int, most: int) -> tuple[TypesetWord, ...]:
    """Some words; the first with a capital letter."""
    said = [pick(rng, LANGUAGES[language].words) for _ in range(int(rng.integers(least, most + 1)))]
    said = [number(rng) if rng.random() < 0.04 else word for word in said]
    said[0] = said[0][0].upper() + said[0][1:]
    return tuple(TypesetWord(word, bold=rng.random() < 0.01, italic=rng.random() < 0.01) for word in said)


def random_document(rng: Rng, split: Split) -> TypesetDocument:
    """Any document of the designs of a split: a block alone, a few, or a page of them."""
    name = pick(rng, tuple(STYLES[split]))
    language = random_language(rng)
    columns = 2 if rng.random() < 0.12 else 1
    width = float(rng.integers(300, 560)) if columns == 2 else float(rng.integers(140, 420))
    count = pick(rng, (1, 1, 2, 3, 4, 6, 8))
    document = TypesetDocument(
        style=name,
        styling=_varied(rng, STYLES[split][name], split),
        font=pick(rng, (*fonts_of(split), *OWN_FONTS[split])),
        size=float(pick(rng, (8, 9, 10, 10, 11, 12, 14))),
        language=language,
        width=width,
        margin=float(rng.integers(6, 40)),
        scale=float(pick(rng, (1.0, 96 / 72, 96 / 72, 1.5, 2.0))),
        blocks=(),
        numbered=count > 2 and rng.random() < 0.4,
        header=" ".join(word.text for word in words(rng, language, 2, 4))
        if count > 3 and rng.random() < 0.3
        else "",
        columns=columns,
        program=pick(rng, ("typst", "typst", "pdfium")),
    )
    blocks = [random_block(rng, document, place + 1) for place in range(count)]
    return replace(document, blocks=tuple(blocks))


def _varied(rng: Rng, style: Style, split: Split) -> Style:
    """The style, in two of three documents with another accent, other lines and headings."""
    if rng.random() < 0.33:
        return style
    dark = int(style.ground[1:3], 16) < 128
    hue, vivid = rng.random(), rng.uniform(0.2, 0.9)
    accent = _color(hue, rng.uniform(0.6, 0.75) if dark else rng.uniform(0.25, 0.5), vivid)
    header = _color(hue, rng.uniform(0.15, 0.3) if dark else rng.uniform(0.88, 0.96), 0.4)
    return replace(
        style,
        accent=accent,
        heading_color=pick(rng, ("", accent, style.ink)),
        heading_font=pick(rng, (style.heading_font, "", *fonts_of(split))),
        lines=pick(rng, ("all", "rows", "none")),
        header_fill=pick(rng, ("", header)),
        justified=rng.random() < 0.4,
        numbered_headings=rng.random() < 0.3,
    )


def _color(hue: float, light: float, vivid: float) -> str:
    return "#" + "".join(f"{round(255 * channel):02x}" for channel in hls_to_rgb(hue, light, vivid))


def random_block(rng: Rng, document: TypesetDocument, own: int) -> Block:
    """Any block that suits a document, with a number of its own."""
    kind = pick(rng, KINDS)
    style = document.styling
    look = BlockLook(
        justified=style.justified and kind == "paragraph",
        leading=float(pick(rng, (0.5, 0.65, 0.65, 0.8))),
        gap=float(rng.integers(5, 14)),
    )
    if kind == "heading":
        level = int(rng.integers(1, 4))
        look = replace(look, size=(1.6, 1.3, 1.1)[level - 1], bold=True, color=style.heading_color)
        return Block(own, kind, look, ((words(rng, document.language, 1, 5),),), level)
    if kind == "list":
        look = replace(look, marker=pick(rng, ("•", "–", "1.", "a)")))
        rows = tuple((words(rng, document.language, 1, 8),) for _ in range(int(rng.integers(2, 6))))
        return Block(own, kind, look, rows)
    if kind == "table":
        look = replace(look, fill=style.header_fill, inset=float(pick(rng, (3, 5, 7))))
        return Block(own, kind, look, table(rng, document.language))
    if kind == "formula":
        return Block(own, kind, replace(look, align="center"), formula=formula(rng))
    if kind == "figure":
        size = (float(rng.integers(40, 120)), float(rng.integers(25, 80)))
        look = replace(look, align="center", color=style.accent)
        rows = ((words(rng, document.language, 2, 6),),)
        return Block(own, kind, look, rows, shape=pick(rng, ("rect", "circle", "triangle")), figure=size)
    if kind == "rule":
        return Block(own, kind, replace(look, weight=float(pick(rng, (0.5, 1.0, 1.5))), color=style.accent))
    if kind == "code":
        lines = tuple(((TypesetWord(pick(rng, CODE)),),) for _ in range(int(rng.integers(1, 5))))
        return Block(own, kind, replace(look, size=0.9, font=CODE_FONT), lines)
    if kind == "quote":
        look = replace(look, italic=True, indent=14.0, color=style.accent)
        return Block(own, kind, look, ((words(rng, document.language, 5, 16),),))
    return Block(own, kind, look, ((words(rng, document.language, 5, 60),),))


def table(rng: Rng, language: str) -> WordRows:
    """A header and rows of names and numbers."""
    columns, rows = int(rng.integers(2, 5)), int(rng.integers(2, 6))
    header = tuple(words(rng, language, 1, 1) for _ in range(columns))
    body = tuple(
        (words(rng, language, 1, 2), *((TypesetWord(number(rng)),) for _ in range(columns - 1)))
        for _ in range(rows)
    )
    return header, *body


def formula(rng: Rng) -> str:
    """A formula in Typst's notation."""
    letters = [LETTERS[i] for i in rng.permutation(len(LETTERS))[:3]]
    numbers = [str(int(value)) for value in rng.integers(1, 20, 3)]
    said = pick(rng, FORMULAS)
    for slot, text in zip(
        "abcnmkfr", (*letters, *numbers, pick(rng, FUNCTIONS), pick(rng, RELATIONS)), strict=True
    ):
        said = said.replace("{" + slot + "}", f" {text} ")
    return said
