"""A document in Typst's notation: in its visible colours, or with a unique colour for each element.

The unique colours locate the elements: a run of glyphs, a line or a fill of a known colour in the PDF belongs
to a known element. Colours do not alter the layout.
"""

from collections.abc import Callable

from whatchanged.synth.screens.documents.document import Block, TypesetDocument, TypesetWord
from whatchanged.synth.screens.documents.styles import Style

Painter = Callable[[str, str], str]
"""(key of an element, its visible colour) -> its colour in the source."""


class KeyColors:
    """Gives each key a unique colour."""

    def __init__(self) -> None:
        self.keys: list[str] = []

    def __call__(self, key: str, seen: str) -> str:
        """Return the key's colour: its number, counted from one."""
        if key not in self.keys:
            self.keys.append(key)
        return f"#{self.keys.index(key) + 1:06x}"

    def key_of(self, red: int, green: int, blue: int) -> str | None:
        """Return the key of this colour."""
        place = (red << 16 | green << 8 | blue) - 1
        return self.keys[place] if 0 <= place < len(self.keys) else None


def as_seen(key: str, seen: str) -> str:
    """Return the visible colour of every element."""
    return seen


def typst_source(
    document: TypesetDocument, paint: Painter = as_seen, shift: float = 0.0, tracked: int = 0
) -> str:
    """Return the document in Typst's notation.

    shift: the movement of the whole page to the right and down, in points. tracked: number of a block whose
    letters have a hundredth of a point more spacing; 0 for none.
    """
    style = document.styling
    ground = document.ground or style.ground
    height = f"{document.height}pt" if document.height else "auto"
    margins = document.margin + shift, document.margin - shift
    lines = [
        f"#set page(width: {document.width}pt, height: {height}, fill: rgb({_quote(ground)}), margin: ("
        f"left: {margins[0]}pt, top: {margins[0]}pt, right: {margins[1]}pt, bottom: {document.margin}pt))",
        f'#set text(font: ({_quote(document.font)}, "Noto Sans"), size: {document.size}pt, hyphenate: false)',
        "#set par(spacing: 0pt)",
    ]
    if document.header:
        head = _words("header", (TypesetWord(document.header),), style.ink, paint)
        lines.append(f"#text(size: 0.8em)[{head}]#v(6pt)")
    body = [
        _block(document, style, block, paint, index, tracked == block.number)
        for index, block in enumerate(document.blocks)
    ]
    joined = "\n".join(body)
    lines.append(f"#columns({document.columns}, gutter: 14pt)[{joined}]" if document.columns > 1 else joined)
    if document.numbered:
        lines.append(
            f"#v(6pt)#align(center)[{_words('page number', (TypesetWord('– 12 –'),), style.ink, paint)}]"
        )
    return "\n".join(lines)


def _quote(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _words(key: str, words: tuple[TypesetWord, ...], color: str, paint: Painter) -> str:
    """Return words, each one an element of its own: "KEY word 3"."""
    return " ".join(_word(f"{key} word {index}", word, color, paint) for index, word in enumerate(words))


def _word(key: str, word: TypesetWord, color: str, paint: Painter) -> str:
    shown = paint(key, word.color or color)
    style = [f"fill: rgb({_quote(shown)})"]
    if word.bold:
        style.append('weight: "bold"')
    if word.italic:
        style.append('style: "italic"')
    made = f"text({', '.join(style)}, {_quote(word.text)})"
    return f"#underline({made})" if word.underlined else f"#{made}"


def _block(
    document: TypesetDocument, style: Style, block: Block, paint: Painter, index: int, tracked: bool
) -> str:
    """Return one block with the space below it."""
    look = block.look
    makers: dict[str, Callable[[TypesetDocument, Style, Block, Painter], str]] = {
        "list": _list,
        "table": _table,
        "formula": _formula,
        "figure": _figure,
        "rule": _rule,
    }
    made = makers.get(block.kind, _prose)(document, style, block, paint)
    settings = [f"size: {look.size}em"]
    if look.bold:
        settings.append('weight: "bold"')
    if look.italic:
        settings.append('style: "italic"')
    font = look.font or (style.heading_font if block.kind == "heading" else "")
    if font:
        settings.append(f"font: {_quote(font)}")
    if tracked:
        settings.append("tracking: 0.01pt")
    paragraph = f"leading: {look.leading}em, justify: {str(look.justified).lower()}"
    return (
        f"#block(above: 0pt, below: {look.gap}pt, width: 100%)[#set text({', '.join(settings)});"
        f"#set par({paragraph});#align({look.align})[#pad(left: {look.indent}pt)[{made}]]]"
    )


def _prose(document: TypesetDocument, style: Style, block: Block, paint: Painter) -> str:
    """Return a heading, a paragraph, a quote, or lines of code."""
    key = f"block {block.number}"
    color = block.look.color or style.ink
    lines = []
    for row, cells in enumerate(block.rows):
        words = cells[0]
        if block.kind == "code":
            words = (TypesetWord(words[0].text.replace(" ", "\u00a0")),)
        lines.append(_words(f"{key} row {row}", words, color, paint))
    if block.kind == "heading" and style.numbered_headings:
        lines[0] = _word(f"{key} number", TypesetWord(f"{block.number}."), color, paint) + " " + lines[0]
    return " \\\n".join(lines)


def _list(document: TypesetDocument, style: Style, block: Block, paint: Painter) -> str:
    key = f"block {block.number}"
    color = block.look.color or style.ink
    cells = []
    for row, (words,) in enumerate(block.rows):
        marker = {"1.": f"{row + 1}.", "a)": f"{chr(97 + row)})"}.get(block.look.marker, block.look.marker)
        cells.append(f"[{_word(f'{key} marker {row}', TypesetWord(marker), color, paint)}]")
        cells.append(f"[{_words(f'{key} row {row}', words, color, paint)}]")
    inner = ", ".join(cells)
    return f"#grid(columns: (auto, 1fr), column-gutter: 6pt, row-gutter: {block.look.leading}em, {inner})"


def _table(document: TypesetDocument, style: Style, block: Block, paint: Painter) -> str:
    key, look = f"block {block.number}", block.look
    color = look.color or style.ink
    stroke = f"{look.weight}pt + rgb({_quote(paint(f'{key} lines', style.ink))})"
    strokes = {"all": stroke, "rows": f"(y: {stroke})", "none": "none"}[style.lines]
    cells = []
    for row, columns in enumerate(block.rows):
        for column, words in enumerate(columns):
            inner = _words(f"{key} row {row} cell {column}", words, color, paint)
            if row == 0:
                inner = f"#strong[{inner}]"
            aligned = "left" if column == 0 else ("right" if look.align == "left" else look.align)
            fill = (
                f"rgb({_quote(paint(f'{key} header {column}', look.fill))})"
                if row == 0 and look.fill
                else "none"
            )
            cells.append(f"table.cell(align: {aligned}, fill: {fill})[{inner}]")
    return (
        f"#table(columns: {len(block.rows[0])}, stroke: {strokes}, inset: {look.inset}pt, {', '.join(cells)})"
    )


def _formula(document: TypesetDocument, style: Style, block: Block, paint: Painter) -> str:
    color = paint(f"block {block.number} formula", block.look.color or style.ink)
    return f"#text(fill: rgb({_quote(color)}))[$ {block.formula} $]"


def _figure(document: TypesetDocument, style: Style, block: Block, paint: Painter) -> str:
    key = f"block {block.number}"
    width, height = block.figure
    fill = f"fill: rgb({_quote(paint(f'{key} shape', block.look.color))}), stroke: none"
    shape = {
        "rect": f"rect(width: {width}pt, height: {height}pt, {fill})",
        "circle": f"ellipse(width: {width}pt, height: {height}pt, {fill})",
        "triangle": f"polygon({fill}, (0pt, {height}pt), ({width}pt, {height}pt), ({width / 2}pt, 0pt))",
    }[block.shape]
    caption = _words(f"{key} row 0", block.rows[0][0], style.ink, paint)
    return f"#{shape}\n#v(4pt)\n#text(size: 0.85em)[{caption}]"


def _rule(document: TypesetDocument, style: Style, block: Block, paint: Painter) -> str:
    color = paint(f"block {block.number} rule", block.look.color)
    return f"#line(length: 100%, stroke: {block.look.weight}pt + rgb({_quote(color)}))"
