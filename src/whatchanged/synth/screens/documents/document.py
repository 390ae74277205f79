"""A typeset document as data: a column of blocks with a style."""

from dataclasses import dataclass
from typing import Literal

from whatchanged.synth.screens.documents.styles import Style

BlockKind = Literal["heading", "paragraph", "list", "table", "formula", "figure", "rule", "code", "quote"]
Align = Literal["left", "center", "right"]


@dataclass(frozen=True)
class TypesetWord:
    """One word of a text. color: "" is that of the text."""

    text: str
    bold: bool = False
    italic: bool = False
    underlined: bool = False
    color: str = ""


@dataclass(frozen=True)
class BlockLook:
    """How a block is set. size: times the size of the document's text. gap: points to the next block.

    color: "" is the style's own. weight: points, of lines. fill: behind it; "" for nothing. leading: between
    lines, in ems. inset: points around the text of cells. marker: of lists.
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

    number: its own, which it keeps when others come or go. rows: words of each line or cell. A heading, a
    paragraph or a quote has one row of one cell; a list one row an item; a table rows of cells, the first one
    its header; code one row a line. formula: Typst's notation. figure: width, height in points.
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
    """A page: its size in points, and what stands on it.

    style: its name. styling: what the style says, perhaps with other colours, lines or fonts. margin: points.
    scale: pixels of the picture for a point. numbered: whether a page number stands at its foot. header: a
    running head; "" for none. columns: one or two. height: points; 0 for as high as the text is. program:
    what draws it, "typst" or "pdfium".
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
