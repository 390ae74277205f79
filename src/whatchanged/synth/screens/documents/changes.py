"""Changes to a typeset document: its words, its blocks, their style; from obvious to barely visible."""

from collections.abc import Callable
from dataclasses import replace

from whatchanged.synth.screens.choices import magnitude, pick, pick_by_share, shade
from whatchanged.synth.screens.documents.document import Block, BlockLook, TypesetDocument, TypesetWord
from whatchanged.synth.screens.documents.sampling import formula, number, random_block, table, words
from whatchanged.synth.screens.documents.styles import LETTERS
from whatchanged.synth.screens.edits import Edit
from whatchanged.synth.screens.words import LANGUAGES, Rng
from whatchanged.worlds.screens.kinds import Kind
from whatchanged.worlds.screens.truth import Value

EditedDocument = tuple[TypesetDocument, Edit] | None
DocumentWay = Callable[[Rng, TypesetDocument], EditedDocument]

NAMES = {
    "heading": "heading",
    "paragraph": "paragraph",
    "list": "list",
    "table": "table",
    "formula": "formula",
    "figure": "figure",
    "rule": "rule",
    "code": "code block",
    "quote": "quote",
}
"""Kind of block -> name of the element."""
ROWS = {"list": "list item", "table": "table cell", "code": "code block", "figure": "figure caption"}
"""Kind of block -> the name of one of its rows or cells; other blocks are named as a whole."""


def with_block(document: TypesetDocument, block: Block) -> TypesetDocument:
    """Return the document with the block of this number replaced."""
    blocks = tuple(block if one.number == block.number else one for one in document.blocks)
    return replace(document, blocks=blocks)


def any_block(rng: Rng, document: TypesetDocument, *kinds: str) -> Block | None:
    """Return a random block of these kinds (any kind where none is named); None where there is none."""
    fitting = [block for block in document.blocks if not kinds or block.kind in kinds]
    return pick(rng, fitting) if fitting else None


def _spot(rng: Rng, block: Block | None) -> tuple[int, int, int] | None:
    """A word of a block: its row, cell and place; None where it has no words."""
    if block is None or not block.rows or block.kind == "code":
        return None
    row = int(rng.integers(len(block.rows)))
    cell = int(rng.integers(len(block.rows[row])))
    return row, cell, int(rng.integers(len(block.rows[row][cell])))


def _row_key(block: Block, row: int, cell: int) -> str:
    key = f"block {block.number} row {row}"
    return f"{key} cell {cell}" if block.kind == "table" else key


def _with_words(block: Block, row: int, cell: int, words: tuple[TypesetWord, ...]) -> Block:
    rows = [list(cells) for cells in block.rows]
    rows[row][cell] = words
    return replace(block, rows=tuple(tuple(cells) for cells in rows))


def _joined(words: tuple[TypesetWord, ...]) -> str:
    return " ".join(word.text for word in words)


def word_text(rng: Rng, document: TypesetDocument) -> EditedDocument:
    """One word is another, or has another letter."""
    block = any_block(rng, document, "heading", "paragraph", "list", "table", "quote", "figure")
    spot = _spot(rng, block)
    if block is None or spot is None:
        return None
    row, cell, index = spot
    said = block.rows[row][cell]
    old = said[index].text
    if any(letter.isdigit() for letter in old):
        new, aspect = number(rng), "number"
    elif rng.random() < 0.35 and old.isascii():
        at = int(rng.integers(len(old)))
        new, aspect = old[:at] + pick(rng, "aeinorst") + old[at + 1 :], "text"
    else:
        new, aspect = pick(rng, LANGUAGES[document.language].words), "text"
    if new == old:
        return None
    changed = _with_words(
        block, row, cell, (*said[:index], replace(said[index], text=new), *said[index + 1 :])
    )
    values: dict[str, Value] = {"text_before": old, "text_after": new}
    key = f"{_row_key(block, row, cell)} word {index}"
    element = ROWS.get(block.kind, NAMES[block.kind]) if len(said) == 1 else "word"
    if block.kind == "heading":
        element = "heading"
    return with_block(document, changed), Edit("rewritten", element, aspect, (key,), values, name=new)


def row_text(rng: Rng, document: TypesetDocument) -> EditedDocument:
    """A heading, an item, a cell, a caption says something else."""
    block = any_block(rng, document, "heading", "list", "table", "figure")
    spot = _spot(rng, block)
    if block is None or spot is None:
        return None
    row, cell, _ = spot
    old = block.rows[row][cell]
    digits = any(letter.isdigit() for letter in _joined(old))
    new = (
        (TypesetWord(number(rng)),)
        if digits and len(old) == 1
        else words(rng, document.language, 1, max(2, len(old) + 1))
    )
    values: dict[str, Value] = {"text_before": _joined(old), "text_after": _joined(new)}
    element = ROWS.get(block.kind, NAMES[block.kind])
    edit = Edit("rewritten", element, "text", (_row_key(block, row, cell),), values, name=_joined(new))
    return with_block(document, _with_words(block, row, cell, new)), edit


def word_look(rng: Rng, document: TypesetDocument) -> EditedDocument:
    """A word is bold, slanted, underlined, coloured, or no longer."""
    block = any_block(rng, document, "heading", "paragraph", "list", "table", "quote")
    spot = _spot(rng, block)
    if block is None or spot is None or block.look.italic:
        return None
    row, cell, index = spot
    said = block.rows[row][cell]
    old = said[index]
    way = pick(rng, ("weight", "slant", "decoration", "ink"))
    values: dict[str, Value] = {}
    if way == "weight":
        if block.look.bold or (block.kind == "table" and row == 0):
            return None
        new = replace(old, bold=not old.bold)
    elif way == "slant":
        new = replace(old, italic=not old.italic)
        values = {"on_before": old.italic, "on_after": new.italic}
    elif way == "decoration":
        new = replace(old, underlined=not old.underlined)
        values = {"on_before": old.underlined, "on_after": new.underlined}
    else:
        was = old.color or block.look.color or document.styling.ink
        new = replace(old, color=shade(rng, was, 40, 200))
        values = {"color_before": was, "color_after": new.color}
    changed = _with_words(block, row, cell, (*said[:index], new, *said[index + 1 :]))
    kind: Kind = "recolored" if way == "ink" else "restyled"
    edit = Edit(kind, "word", way, (f"{_row_key(block, row, cell)} word {index}",), values, name=old.text)
    return with_block(document, changed), edit


def block_there(rng: Rng, document: TypesetDocument) -> EditedDocument:
    """A block is added or removed."""
    if len(document.blocks) > 1 and rng.random() < 0.5:
        gone = pick(rng, document.blocks)
        rest = tuple(block for block in document.blocks if block is not gone)
        edit = Edit("removed", NAMES[gone.kind], "element", (f"block {gone.number}",), name=_title(gone))
        return replace(document, blocks=rest), edit
    if len(document.blocks) > 10:
        return None
    own = max(block.number for block in document.blocks) + 1
    new = random_block(rng, document, own)
    place = int(rng.integers(len(document.blocks) + 1))
    blocks = (*document.blocks[:place], new, *document.blocks[place:])
    edit = Edit("added", NAMES[new.kind], "element", (f"block {own}",), name=_title(new))
    return replace(document, blocks=blocks), edit


def _title(block: Block) -> str:
    """Return the name of a block: the words of a heading or a short item; "" for others."""
    return _joined(block.rows[0][0]) if block.kind == "heading" else ""


def block_order(rng: Rng, document: TypesetDocument) -> EditedDocument:
    """Two blocks that follow each other change places."""
    if len(document.blocks) < 2 or document.columns > 1:
        return None
    place = int(rng.integers(len(document.blocks) - 1))
    one, other = document.blocks[place : place + 2]
    if one.kind == other.kind == "rule":
        return None
    blocks = (*document.blocks[:place], other, one, *document.blocks[place + 2 :])
    edit = Edit("moved", NAMES[one.kind], "order", (f"block {one.number}",), name=_title(one))
    return replace(document, blocks=blocks), edit


def last_row(rng: Rng, document: TypesetDocument) -> EditedDocument:
    """The last item or row is removed, or one more comes."""
    block = any_block(rng, document, "list", "table")
    if block is None:
        return None
    element = "list item" if block.kind == "list" else "table row"
    last = len(block.rows) - 1
    if last > 1 and rng.random() < 0.5:
        name = _joined(block.rows[last][0])
        edit = Edit("removed", element, "element", (f"block {block.number} row {last}",), name=name)
        return with_block(document, replace(block, rows=block.rows[:last])), edit
    if block.kind == "list":
        row: tuple[tuple[TypesetWord, ...], ...] = (words(rng, document.language, 1, 8),)
    else:
        row = (table(rng, document.language)[1][0], *((TypesetWord(number(rng)),) for _ in block.rows[0][1:]))
    key = (f"block {block.number} row {last + 1}",)
    edit = Edit("added", element, "element", key, name=_joined(row[0]))
    return with_block(document, replace(block, rows=(*block.rows, row))), edit


def formula_text(rng: Rng, document: TypesetDocument) -> EditedDocument:
    """A formula has another letter, number or sign, or is another one."""
    block = any_block(rng, document, "formula")
    if block is None:
        return None
    tokens = block.formula.split()
    places = [i for i, token in enumerate(tokens) if token in LETTERS or token.isdigit() or token in "+-=<>"]
    if not places or rng.random() < 0.2:
        new = formula(rng)
    else:
        place = pick(rng, places)
        old = tokens[place]
        others = list("+-") if old in "+-" else list("=<>")
        if old.isdigit():
            others = [str(int(rng.integers(1, 20)))]
        elif old in LETTERS:
            others = list(LETTERS)
        tokens[place] = pick(rng, [other for other in others if other != old] or [old])
        new = " ".join(tokens)
    if new.split() == block.formula.split():
        return None
    edit = Edit("rewritten", "formula", "formula", (f"block {block.number} formula",))
    return with_block(document, replace(block, formula=new)), edit


def _looks(rng: Rng, document: TypesetDocument, block: Block) -> tuple[BlockLook, Edit] | None:
    """Change the style of one block."""
    look, key, element = block.look, (f"block {block.number}",), NAMES[block.kind]
    way = pick(rng, ("size", "ink", "ink", "align", "leading", "indent", "face", "weight"))
    if way == "size":
        if block.kind in ("rule", "figure"):
            return None
        new = round(look.size * magnitude(rng, 1.06, 1.5) ** pick(rng, (1, -1)), 2)
        return replace(look, size=new), Edit("resized", element, "text size", key)
    if way == "ink":
        old = look.color or document.styling.ink
        if block.kind == "list":
            return None
        color = shade(rng, old, 20, 200)
        values: dict[str, Value] = {"color_before": old, "color_after": color}
        aspect = "fill" if block.kind == "figure" else "ink"
        keys = (f"block {block.number} shape",) if block.kind == "figure" else key
        return replace(look, color=color), Edit("recolored", element, aspect, keys, values)
    if way == "align":
        if block.kind in ("rule", "list", "table"):
            return None
        align = pick(rng, [one for one in ("left", "center", "right") if one != look.align])
        return replace(look, align=align), Edit("moved", element, "alignment", key)  # type: ignore[arg-type]
    if way == "leading":
        if block.kind in ("rule", "figure", "formula", "table") or (block.kind == "heading"):
            return None
        leading = round(look.leading * magnitude(rng, 1.1, 2) ** pick(rng, (1, -1)), 3)
        return replace(look, leading=leading), Edit("restyled", element, "line spacing", key)
    if way == "indent":
        if block.kind == "rule":
            return None
        return replace(look, indent=look.indent + magnitude(rng, 2, 24)), Edit(
            "moved", element, "margin", key
        )
    if way == "face":
        if block.kind in ("rule", "formula", "code"):
            return None
        font = "Liberation Sans" if document.font != "Liberation Sans" else "Libertinus Serif"
        return (replace(look, font=font), Edit("restyled", element, "face", key)) if not look.font else None
    if way == "weight":
        if block.kind == "rule":
            weight = round(max(0.3, look.weight * magnitude(rng, 1.4, 4)), 1)
            return replace(look, weight=weight), Edit(
                "restyled", "rule", "line width", (f"block {block.number} rule",)
            )
        if block.kind not in ("heading", "paragraph", "list", "quote"):
            return None
        return replace(look, bold=not look.bold), Edit("restyled", element, "weight", key)
    return None


def block_look(rng: Rng, document: TypesetDocument) -> EditedDocument:
    """A block has another size, colour, alignment, spacing, face or weight."""
    block = any_block(rng, document)
    made = block and _looks(rng, document, block)
    if not block or not made:
        return None
    look, edit = made
    return with_block(document, replace(block, look=look)), replace(edit, name=_title(block))


def gap(rng: Rng, document: TypesetDocument) -> EditedDocument:
    """A block stands farther from the one above it, or nearer; what is below moves with it."""
    if len(document.blocks) < 2 or document.columns > 1:
        return None
    place = int(rng.integers(len(document.blocks) - 1))
    above, below = document.blocks[place : place + 2]
    new = max(1.0, above.look.gap + magnitude(rng, 2, 30) * pick(rng, (1, 1, -1)))
    edit = Edit("moved", NAMES[below.kind], "margin", (f"block {below.number}",), name=_title(below))
    return with_block(document, replace(above, look=replace(above.look, gap=new))), edit


def table_look(rng: Rng, document: TypesetDocument) -> EditedDocument:
    """A table has other lines, other space around its text, another fill of its header."""
    block = any_block(rng, document, "table")
    if block is None:
        return None
    style, look = document.styling, block.look
    key = f"block {block.number}"
    way = pick(rng, ("lines", "padding", "fill"))
    if way == "lines":
        if style.lines == "none":
            return None
        weight = round(look.weight * magnitude(rng, 1.5, 4), 2)
        edit = Edit("restyled", "table", "border width", (f"{key} lines",))
        return with_block(document, replace(block, look=replace(look, weight=weight))), edit
    if way == "padding":
        inset = max(1.0, look.inset + magnitude(rng, 1, 6) * pick(rng, (1, 1, -1)))
        edit = Edit("resized", "table", "padding", (key,))
        return with_block(document, replace(block, look=replace(look, inset=inset))), edit
    if not look.fill:
        return None
    fill = shade(rng, look.fill, 15, 150)
    values: dict[str, Value] = {"color_before": look.fill, "color_after": fill}
    keys = tuple(f"{key} header {column}" for column in range(len(block.rows[0])))
    edit = Edit("recolored", "column header", "fill", keys, values)
    return with_block(document, replace(block, look=replace(look, fill=fill))), edit


def figure(rng: Rng, document: TypesetDocument) -> EditedDocument:
    """A drawing is another one, or larger or smaller."""
    block = any_block(rng, document, "figure")
    if block is None:
        return None
    key = (f"block {block.number} shape",)
    if rng.random() < 0.5:
        shape = pick(rng, [one for one in ("rect", "circle", "triangle") if one != block.shape])
        return with_block(document, replace(block, shape=shape)), Edit("replaced", "figure", "picture", key)
    step = magnitude(rng, 1.06, 1.6) ** pick(rng, (1, -1))
    size = (round(block.figure[0] * step, 1), round(block.figure[1] * step, 1))
    return with_block(document, replace(block, figure=size)), Edit("resized", "figure", "size", key)


def marker(rng: Rng, document: TypesetDocument) -> EditedDocument:
    """A list has other marks in front of its items."""
    block = any_block(rng, document, "list")
    if block is None:
        return None
    new = pick(rng, [one for one in ("•", "–", "1.", "a)") if one != block.look.marker])
    keys = tuple(f"block {block.number} marker {row}" for row in range(len(block.rows)))
    changed = replace(block, look=replace(block.look, marker=new))
    return with_block(document, changed), Edit("replaced", "list", "mark", keys)


def ground(rng: Rng, document: TypesetDocument) -> EditedDocument:
    """The page has another colour."""
    old = document.ground or document.styling.ground
    new = shade(rng, old, 10, 60)
    edit = Edit("recolored", "page", "fill", ("page",), {"color_before": old, "color_after": new})
    return replace(document, ground=new), edit


def foot(rng: Rng, document: TypesetDocument) -> EditedDocument:
    """The page number or the running head is added or removed."""
    if rng.random() < 0.5:
        kind: Kind = "removed" if document.numbered else "added"
        edit = Edit(kind, "page number", "text", ("page number word 0",))
        return replace(document, numbered=not document.numbered), edit
    key = ("header word 0",)
    if document.header:
        return replace(document, header=""), Edit("removed", "page header", "text", key, name=document.header)
    said = _joined(words(rng, document.language, 2, 4))
    return replace(document, header=said), Edit("added", "page header", "text", key, name=said)


def size(rng: Rng, document: TypesetDocument) -> EditedDocument:
    """The page is wider or narrower, or all of its text larger or smaller."""
    if rng.random() < 0.5:
        width = round(document.width * magnitude(rng, 1.03, 1.3) ** pick(rng, (1, -1)))
        return replace(document, width=float(width)), Edit("resized", "page", "canvas", ("page",))
    new = round(document.size * magnitude(rng, 1.05, 1.3) ** pick(rng, (1, -1)), 1)
    keys = tuple(f"block {block.number}" for block in document.blocks if block.kind not in ("rule", "figure"))
    if not keys:
        return None
    return replace(document, size=new), Edit("resized", "text", "text size", keys)


WAYS: tuple[tuple[DocumentWay, float], ...] = (
    (word_text, 4),
    (row_text, 2.5),
    (word_look, 3),
    (block_there, 3),
    (block_order, 1),
    (last_row, 2),
    (formula_text, 2.5),
    (block_look, 6),
    (gap, 1.5),
    (table_look, 2),
    (figure, 1.5),
    (marker, 1),
    (ground, 0.6),
    (foot, 1),
    (size, 0.8),
)
"""Every change, with its probability."""


def any_change(rng: Rng, document: TypesetDocument) -> EditedDocument:
    """Return the document with one random change; None where the drawn change does not fit the document."""
    return pick_by_share(rng, WAYS)(rng, document)
