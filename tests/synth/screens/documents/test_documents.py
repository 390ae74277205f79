"""Typeset documents: where their words lie, against the pixels; changes, and what they say."""

from dataclasses import replace

import numpy as np
import pytest

from whatchanged.synth.screens.documents.changes import WAYS, block_look, word_look
from whatchanged.synth.screens.documents.document import Block, BlockLook, TypesetDocument, TypesetWord
from whatchanged.synth.screens.documents.sampling import formula, random_document
from whatchanged.synth.screens.documents.source import KeyColors, typst_source
from whatchanged.synth.screens.documents.styles import OWN_FONTS, STYLES
from whatchanged.worlds.screens.elements import ELEMENTS
from whatchanged.worlds.screens.kinds import ASPECTS

TEXT = tuple(
    TypesetWord(word)
    for word in ["some", "words", "stand", "in", "a", "row", "of", "two", "lines", "or", "three"]
)
PAGE = TypesetDocument(
    style="plain",
    styling=STYLES["train"]["plain"],
    font="Libertinus Serif",
    size=14,
    language="en",
    width=220,
    margin=12,
    scale=2.0,
    blocks=(
        Block(1, "paragraph", rows=((TEXT,),)),
        Block(2, "rule", BlockLook(weight=2.0, color="#00b000")),
        Block(3, "formula", formula="a = b + c"),
    ),
)


@pytest.fixture(scope="module")
def press():
    pytest.importorskip("typst")
    pytest.importorskip("pypdfium2")
    from whatchanged.synth.screens.documents.with_typst import Press

    return Press()


def with_word(place: int, **look) -> TypesetDocument:
    words = (*TEXT[:place], replace(TEXT[place], **look), *TEXT[place + 1 :])
    return replace(PAGE, blocks=(replace(PAGE.blocks[0], rows=((words,),)), *PAGE.blocks[1:]))


@pytest.mark.parametrize("program", ["typst", "pdfium"])
@pytest.mark.parametrize("place", [0, 3, 8])
def test_a_word_lies_where_its_colour_is(press, program: str, place: int):
    from whatchanged.synth.screens.documents.with_typst import Printing

    drawn = press.draw(with_word(place, color="#ff0000"), Printing(program))
    red = (drawn.pixels[..., 0].astype(int) - drawn.pixels[..., 1]) > 60
    rows, columns = np.flatnonzero(red.any(axis=1)), np.flatnonzero(red.any(axis=0))
    results = (columns[0], rows[0], columns[-1] + 1, rows[-1] + 1)
    assert np.allclose(drawn.elements[f"block 1 row 0 word {place}"].box, results, atol=2.5)


def test_colours_alter_nothing_of_the_layout(press):
    from whatchanged.synth.screens.documents.with_typst import USUAL

    plain = press.draw(PAGE, USUAL)
    ink = (plain.pixels < 200).any(axis=2)
    covered = np.zeros_like(ink)
    for key, one in plain.elements.items():
        if key != "page":
            left, top, right, bottom = one.box
            covered[int(top) - 2 : int(bottom) + 3, int(left) - 2 : int(right) + 3] = True
    assert ink.any()
    assert not (ink & ~covered).any()  # all ink lies in a box that the coloured document told


def test_a_block_is_around_its_words(press):
    from whatchanged.synth.screens.documents.with_typst import USUAL

    placed = press.draw(PAGE, USUAL).elements
    words = [placed[f"block 1 row 0 word {i}"].box for i in range(len(TEXT))]
    lefts, tops, rights, bottoms = zip(*words, strict=True)
    assert placed["block 1"].box == pytest.approx((min(lefts), min(tops), max(rights), max(bottoms)))
    assert placed["block 2"].box[1] > placed["block 1"].box[3]


def test_typst_and_pdfium_put_words_in_the_same_places(press):
    from whatchanged.synth.screens.documents.with_typst import Printing

    one, other = (press.draw(PAGE, Printing(program)) for program in ("typst", "pdfium"))
    assert one.pixels.shape == other.pixels.shape
    dark = [(drawn.pixels < 128).all(axis=2) for drawn in (one, other)]
    assert (dark[0] != dark[1]).any()
    assert abs(int(dark[0].sum()) - int(dark[1].sum())) < 0.35 * dark[0].sum()


@pytest.mark.parametrize("way", [way for way, _ in WAYS], ids=lambda way: way.__name__)
def test_every_change_is_made_of_some_document_and_says_what_it_is(way):
    rng = np.random.default_rng(1)
    made = 0
    for _ in range(500):
        document = random_document(rng, "train")
        step = way(rng, document)
        if step is None:
            continue
        changed, edit = step
        made += 1
        assert changed != document
        assert edit.element in ELEMENTS
        assert edit.aspect in ASPECTS[edit.kind], (edit.kind, edit.aspect)
        if made == 20:
            return
    assert made >= 5


def test_every_look_of_a_paragraph_can_be_another():
    one = replace(PAGE, blocks=PAGE.blocks[:1])
    assert all(block_look(np.random.default_rng(seed), one) is not None for seed in range(100))


@pytest.mark.parametrize(("look", "aspect"), [("italic", "slant"), ("underlined", "decoration")])
@pytest.mark.parametrize("on", [False, True])
def test_of_a_word_it_is_told_whether_it_became_slanted_or_underlined(look, aspect, on):
    words = tuple(replace(word, **{look: not on}) for word in TEXT)
    one = replace(PAGE, blocks=(replace(PAGE.blocks[0], rows=((words,),)),))
    made = [word_look(np.random.default_rng(seed), one) for seed in range(40)]
    told = [edit.values for _, edit in filter(None, made) if edit.aspect == aspect]
    assert told
    assert all(values == {"on_before": not on, "on_after": on} for values in told)


def test_splits_share_no_style_and_no_font_of_their_own():
    for table in (STYLES, OWN_FONTS):
        names = [name for split in ("train", "val", "test") for name in table[split]]
        assert len(names) == len(set(names))


def test_a_colour_tells_its_key_and_no_other():
    colors = KeyColors()
    told = [colors(f"key {i}", "#123456") for i in range(300)]
    assert len(set(told)) == 300
    channels = [int(told[270][i : i + 2], 16) for i in (1, 3, 5)]
    assert colors.key_of(*channels) == "key 270"
    assert colors.key_of(255, 255, 255) is None
    assert colors("key 270", "#000000") == told[270]


def test_words_cannot_leave_their_quotes():
    source = typst_source(with_word(2, text='a"b\\#c'))
    assert '"a\\"b\\\\#c"' in source


def test_every_formula_is_set(press):
    from whatchanged.synth.screens.documents.with_typst import USUAL

    rng = np.random.default_rng(2)
    for _ in range(30):
        document = replace(PAGE, blocks=(Block(1, "formula", formula=formula(rng)),), scale=1.0)
        assert "block 1 formula" in press.draw(document, USUAL).elements
