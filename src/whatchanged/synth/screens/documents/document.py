"""A typeset document as data: a column of blocks with a style."""

from dataclasses import dataclass
from typing import Literal

from whatchanged.synth.screens.documents.styles import Style

BlockKind = Literal["heading", "paragraph", "list", "table", "formula", "figure", "rule", "code", "quote"]
Align = Literal["left", "center", "right"]


@dataclass(frozen=True)
class TypesetWord:
    """One word of a text. color: "" means the text's colour."""

    text: str
    bold: bool = False
    italic: bool = False
    underlined: bool = False
    color: str = ""


@dataclass(frozen=True)
class BlockLook:
    """The style of a block. size: relative to the document's text size. gap: points to the next block.

    color: "" means the style's colour. weight: of lines, in points. fill: the background; "" for none.
    leading: between lines, in ems. inset: points around the text of cells. marker: of lists.
    """

    size: float = 1.0
    color: str = ""
    bold: bool = False
    italic: bool = False
    align: Align = "left"
    justified: bool = False
    leading: float = 0.65
    indent: float = 0.0
    weight: float = 0.5
    fill: str = ""
    inset: float = 5.0
    marker: str = "•"
    gap: float = 8.0
    font: str = ""


@dataclass(frozen=True)
class Block:
    """One block.

    number: unique, and unchanged when other blocks are added or removed. rows: words of each line or cell. A
    heading, a paragraph or a quote has one row of one cell; a list has a row for each item; a table has rows
    of cells, the first one being its header; code has a row for each line. formula: Typst's notation. figure:
    width, height in points.
    """

    number: int
    kind: BlockKind
    look: BlockLook = BlockLook()
    rows: tuple[tuple[tuple[TypesetWord, ...], ...], ...] = ()
    level: int = 1
    formula: str = ""
    shape: str = "rect"
    figure: tuple[float, float] = (0.0, 0.0)


@dataclass(frozen=True)
class TypesetDocument:
    """A page: its size in points, and its content.

    style: its name. styling: the style's settings, perhaps with other colours, lines or fonts. margin:
    points.
    scale: pixels of the picture for a point. numbered: whether it has a page number at its foot. header: a
    running head; "" for none. columns: one or two. height: points; 0 for the height of the text. program: the
    program that draws it, "typst" or "pdfium".
    """

    style: str
    styling: Style
    font: str
    size: float
    language: str
    width: float
    margin: float
    scale: float
    blocks: tuple[Block, ...]
    numbered: bool = False
    header: str = ""
    columns: int = 1
    ground: str = ""
    program: str = "typst"
    height: float = 0.0
