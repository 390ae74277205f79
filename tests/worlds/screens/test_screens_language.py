"""Sentences about screens: all that is written is read and true; with a word exchanged it is false."""

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from support.strategies import SIZE, changes, truths

from whatchanged import words
from whatchanged.testing import check_world
from whatchanged.worlds import find_world
from whatchanged.worlds.screens import reading
from whatchanged.worlds.screens.elements import ANYTHING, ELEMENTS, fitting, nouns_of, plural
from whatchanged.worlds.screens.kinds import ASPECTS, KINDS
from whatchanged.worlds.screens.reading import read
from whatchanged.worlds.screens.slots import COLORS, Naming, fill, fits, known_nouns
from whatchanged.worlds.screens.templates import TEMPLATES
from whatchanged.worlds.screens.truth import Motion, ScreenChange, ScreenTruth
from whatchanged.worlds.screens.writing import write

WORLD = find_world("screens")
BUTTON = ScreenChange(
    kind="recolored",
    element="button",
    name="Save",
    box_before=(10, 10, 60, 30),
    box_after=(10, 10, 60, 30),
    values={"aspect": "fill", "color_before": "#1a73e8", "color_after": "#0b8043"},
)
MOVED = ScreenChange(
    "moved",
    "heading",
    "Mail",
    (150, 130, 250, 150),
    (150, 154, 250, 174),
    {"aspect": "margin", "dx": 0, "dy": 24},
)
BANNER = ScreenChange(
    "added",
    "banner",
    "Hello",
    None,
    (0, 0, 400, 40),
    {"aspect": "element"},
    consequences=(Motion((0, 0, 400, 200), (0, 40, 400, 240)),),
)
NONE = ScreenTruth((), ("jpeg 95",), SIZE, SIZE)


def of(*told):
    return ScreenTruth(told, (), SIZE, SIZE)


def test_the_world_keeps_the_contract():
    field = replace(BUTTON, kind="restyled", element="text field", values={"aspect": "radius"})
    gone = replace(MOVED, kind="removed", element="icon", box_after=None, values={"aspect": "element"})
    check_world(WORLD, [of(BUTTON), of(MOVED), of(BANNER), of(field, gone), of(gone, BUTTON), NONE])


@settings(max_examples=30)
@given(truths(), st.integers(0, 10**6))
def test_what_is_written_is_true(truth, seed):
    sentences = (
        *WORLD.language.captions(truth, np.random.default_rng(seed)),
        *(WORLD.write(truth, w) for w in WORLD.language.wordings),
    )
    for sentence in sentences:
        verdict = WORLD.language.judge(sentence, truth)
        assert verdict.parsed and verdict.true, (sentence, verdict)
        assert verdict.unchanged is not bool(truth.changes)
        assert verdict.grades["complete"] is (True if truth.changes else None)


@pytest.mark.parametrize("element", sorted(ELEMENTS))
@pytest.mark.parametrize("kind", ["added", "removed", "resized", "restyled"])
def test_every_noun_of_every_element_is_true(element, kind):
    boxes = {"added": (None, (10, 10, 60, 30)), "removed": ((10, 10, 60, 30), None)}
    before, after = boxes.get(kind, ((10, 10, 60, 30), (10, 10, 60, 30)))
    change = ScreenChange(kind, element, "", before, after, {"aspect": ""})
    for template in (template for template in TEMPLATES if fits(template, change)):
        for noun in nouns_of(element):
            sentence = fill(template, change, Naming(noun), SIZE)
            assert WORLD.language.judge(sentence, of(change)).true, sentence


def test_nouns_that_stand_in_the_plural_take_their_verbs():
    text = replace(BUTTON, element="text", name="", values={"amount_before": 21, "amount_after": 13})
    said = {
        ("resized", "text size", "{the} is set in a {more} type"): "the words are set in a smaller type",
        ("resized", "text size", "the text of {the} became {more}"): "the text of the words became smaller",
        ("added", "element", "there is now {a}"): "there are now words",
        ("removed", "element", "{the} was removed"): "the words were removed",
    }
    for (kind, aspect, wording), expected in said.items():
        change = replace(text, kind=kind, values={**text.values, "aspect": aspect})
        template = next(template for template in TEMPLATES if template.text == wording)
        assert fill(template, change, Naming("words"), SIZE) == expected
        assert WORLD.language.judge(expected, of(change)).true


def told(change, seed):
    """A statement about a change in any wording that fits it."""
    rng = np.random.default_rng(seed)
    able = [template for template in TEMPLATES if fits(template, change)]
    template = able[int(rng.integers(len(able)))]
    naming = Naming(known_nouns(change)[0], with_position=bool(rng.random() < 0.5))
    return fill(template, change, naming, SIZE)


@settings(max_examples=40)
@given(changes(), st.sampled_from(KINDS), st.integers(0, 10**6))
def test_of_another_kind_it_is_false(change, kind, seed):
    assume(kind != change.kind)
    other = replace(change, kind=kind, box_before=change.box_before or change.box_after)
    other = replace(other, box_after=other.box_after or other.box_before)
    sentence = told(change, seed)
    # Some words say two kinds: the reading that fits the truth counts.
    assume(all(reading.template.kind != kind for part in read(sentence).statements for reading in part))
    verdict = WORLD.language.judge(sentence, of(other))
    assert not verdict.true and verdict.grades["kind_right"] is False


@settings(max_examples=40)
@given(changes(), st.sampled_from(sorted(ELEMENTS)), st.integers(0, 10**6))
def test_of_another_element_it_is_false(change, element, seed):
    assume(known_nouns(change)[0] not in fitting(element))
    # "Two words" are two single ones, or the words of two texts.
    assume(change.element != "word" or len(change.boxes) < 2 or "words" not in fitting(element))
    verdict = WORLD.language.judge(told(change, seed), of(replace(change, element=element)))
    assert not verdict.true and verdict.grades["element_right"] is False


VALUES = {
    "color_after": ("#1a73e8", "#d93025", "#ffffff", "#111111", "#0b8043"),
    "dx": (-60, -20, 20, 60),
    "dwidth": (-60, -20, 20, 60),
    "text_after": ("Quux", "Zz9"),
    "amount_after": (0, 99),
    "on_after": (True, False),
}
KINDS_WITH = {
    "color_after": ("recolored",),
    "dx": ("moved",),
    "dwidth": ("resized",),
    "text_after": ("rewritten",),
    "amount_after": ("restyled", "recolored", "resized"),
    "on_after": ("restyled", "recolored", "replaced"),
}
SLOTS = {
    "color_after": ("after",),
    "dx": ("way",),
    "dwidth": ("growth",),
    "text_after": ("text_after",),
    "amount_after": ("more",),
    "on_after": ("on",),
}


@pytest.mark.parametrize("name", VALUES)
@settings(max_examples=30, suppress_health_check=[HealthCheck.filter_too_much])
@given(data=st.data())
def test_of_another_value_it_is_false(name, data):
    change = data.draw(changes(KINDS_WITH[name]))
    assume(name in change.values)
    other = data.draw(st.sampled_from(VALUES[name]))
    true = change.values[name]
    if name == "color_after":
        one, two = (words.color_name(tuple(bytes.fromhex(code[1:]))) for code in (true, other))
        assume(one.split()[-1] != two.split()[-1])
    if name in ("dx", "dwidth"):
        assume(abs(other - true) > 12)
    if name == "amount_after":
        before = change.values["amount_before"]
        assume((other > before) != (true > before))
    assume(other != true)
    able = [t for t in TEMPLATES if fits(t, change) and set(SLOTS[name]) & set(t.slots)]
    assume(able)
    template = data.draw(st.sampled_from(able))
    sentence = fill(template, change, Naming(known_nouns(change)[0]), SIZE)
    if name == "dwidth":  # a thing that became higher alone is told without its width
        assume("wider" in sentence or "narrower" in sentence)
    verdict = WORLD.language.judge(sentence, of(replace(change, values={**change.values, name: other})))
    assert not verdict.true and verdict.grades["value_right"] is False, sentence


@pytest.mark.parametrize(
    ("sentence", "true", "fault"),
    [
        ("The button turned from blue to green.", True, ""),
        ("the  BUTTON turned from blue to green", True, ""),
        ('The button "Save" at the upper left is now green.', True, ""),
        ("Something is now green.", True, ""),
        ("The button at the lower right is now green.", False, "wrong place"),
        ('The button "Send" is now green.', False, "wrong value"),
        ("The button is now red.", False, "wrong value"),
        ("The text of the button is now green.", False, "wrong value"),
        ("The link is now green.", False, "wrong element"),
        ("The button was removed.", False, "wrong kind"),
        ("The button is now green; the button is now green.", False, "tells more than changed"),
        ("Nothing changed.", False, "denies the change"),
    ],
)
def test_a_recoloured_button(sentence, true, fault):
    verdict = WORLD.language.judge(sentence, of(BUTTON))
    assert verdict.parsed
    assert verdict.true is true
    assert not fault or verdict.fault == fault


@pytest.mark.parametrize(
    ("sentence", "true"),
    [
        ("The heading moved down by 24 pixels.", True),
        ("The heading moved down by 26 pixels.", True),  # within a tenth
        ("The heading moved down by 30 pixels.", False),
        ("The heading moved up by 24 pixels.", False),
        ("The heading moved right by 24 pixels.", False),
        ("The heading moved down.", True),
        ("The heading moved to the left.", False),
        ("The title in the middle moved.", True),
        ("The text moved down.", True),  # a heading is text
    ],
)
def test_a_moved_heading(sentence, true):
    assert WORLD.language.judge(sentence, of(MOVED)).true is true


@pytest.mark.parametrize(
    ("sentence", "true"),
    [
        ("A banner appeared, which moved the rest down by 40 pixels.", True),
        ("A message across the top was added, which moved the rest down by 39 pixels.", True),
        ("A banner appeared, which moved the rest up by 40 pixels.", False),
        ("The banner is gone.", False),
    ],
)
def test_what_followed_is_judged(sentence, true):
    assert WORLD.language.judge(sentence, of(BANNER)).true is true


def test_each_statement_needs_a_change_of_its_own():
    both = of(BUTTON, MOVED)
    whole = WORLD.language.judge("The heading moved down; the button is now green.", both)
    assert whole.true and whole.grades["complete"] is True
    part = WORLD.language.judge("The heading moved down.", both)
    assert part.true and part.grades["complete"] is False
    assert part.fault == "does not tell every change"
    wrong = WORLD.language.judge("The heading moved down, and the heading moved down.", both)
    assert not wrong.true


def test_quotations_may_hold_what_parts_sentences():
    change = replace(
        MOVED, kind="rewritten", values={"aspect": "text", "text_before": "a; b", "text_after": "c, and d"}
    )
    sentence = 'The heading changed from "a; b" to "c, and d".'
    assert WORLD.language.judge(sentence, of(change)).true
    assert not WORLD.language.judge(sentence.replace("c, and d", "c, and e"), of(change)).true


@pytest.mark.parametrize(
    "sentence", ["", "The cat sat on the mat.", "the green cube moved", 'The button "Save', "; "]
)
def test_what_is_no_sentence_of_it_is_not_read(sentence):
    assert not WORLD.language.reads(sentence)
    assert not WORLD.language.judge(sentence, of(BUTTON)).parsed


def test_every_colour_and_every_place_has_a_word_that_is_read():
    levels = range(0, 256, 51)
    names = {words.color_name((r, g, b)) for r in levels for g in levels for b in levels}
    assert names <= set(COLORS)
    for left in range(0, 100, 10):
        for top in range(0, 100, 10):
            for width in (5, 60, 100):
                box = (left, top, min(100, left + width), min(100, top + width))
                assert WORLD.language.reads(f"The icon {words.position_phrase(box, (100, 100))} was removed.")


def test_nouns():
    assert [plural(noun) for noun in ("check box", "menu entry", "axis", "switch", "day", "series")] == [
        "check boxes",
        "menu entries",
        "axes",
        "switches",
        "days",
        "series",
    ]
    for element in ELEMENTS.values():
        assert set(element.nouns) <= fitting(element.name)
        assert all(broader in ELEMENTS for broader in element.broader)
        assert ANYTHING in fitting(element.name)


def test_several_alike_are_counted():
    three = replace(BUTTON, boxes=((BUTTON.box_before, BUTTON.box_after),) * 3)
    assert WORLD.language.judge("The three buttons are now green.", of(three)).true
    assert not WORLD.language.judge("The four buttons are now green.", of(three)).true
    assert not WORLD.language.judge("The three buttons are now green.", of(BUTTON)).true


@pytest.mark.parametrize(
    ("element", "aspect", "absent"),
    [("series", "ink", "text of"), ("icon", "ink", "text of"), ("grid", "line style", "border of")],
)
def test_nothing_is_said_of_a_part_that_a_thing_has_not(element, aspect, absent):
    values = {"aspect": aspect, "color_before": "#1a73e8", "color_after": "#0b8043", "on_after": True}
    kind = "recolored" if aspect == "ink" else "restyled"
    one = of(ScreenChange(kind, element, "", (0, 0, 90, 90), (0, 0, 90, 90), values))
    said = [write(one, np.random.default_rng(seed)) for seed in range(60)]
    assert len(set(said)) > 3
    assert not any(absent in sentence for sentence in said)
    assert all(WORLD.language.judge(sentence, one).true for sentence in said)


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda t: f"{t.kind} {t.text}")
def test_each_wording_can_be_said_of_something(template):
    values = {
        "aspect": template.aspects[0] if template.aspects else "anything",
        "state": template.state or None,
        "on_after": True,
        "dx": 7,
        "dwidth": 9,
        "color_before": "#3355ff",
        "color_after": "#112288" if "{shade}" in template.text else "#00aa00",
        "text_before": "one",
        "text_after": "two",
        "amount_before": 1,
        "amount_after": 2,
    }
    change = ScreenChange(template.kind, "button", "", (0, 0, 9, 9), (0, 0, 9, 9), values)
    assert fits(template, change)
    assert WORLD.language.judge(fill(template, change, Naming("button"), SIZE), of(change)).true


def test_wordings_say_only_finer_words_that_their_kind_has():
    assert all(set(template.aspects) <= set(ASPECTS[template.kind]) for template in TEMPLATES)


@pytest.mark.parametrize(
    ("sentence", "amounts", "true"),
    [
        ("The icon became thicker.", (1, 2.2), True),
        ("The line of the icon is thinner.", (1, 0.5), True),
        ("The icon is drawn with a thinner line.", (1, 2.2), False),
        ("The icon became thicker.", (), False),  # nobody knows
        ("The line width of the icon changed.", (), True),
        ("The line width of the icon changed.", (2, 1), True),
        ("The border of the icon became thicker.", (1, 2.2), False),
    ],
)
def test_a_line_of_another_width(sentence, amounts, true):
    values = {"aspect": "line width", **dict(zip(("amount_before", "amount_after"), amounts, strict=False))}
    box = (0, 0, 16, 16)
    assert (
        WORLD.language.judge(sentence, of(ScreenChange("restyled", "icon", "", box, box, values))).true
        is true
    )


def test_of_a_line_of_another_width_the_width_is_told():
    values = {"aspect": "line width", "amount_before": 1, "amount_after": 2}
    one = of(ScreenChange("restyled", "series", "", (0, 0, 90, 90), (0, 0, 90, 90), values))
    said = {write(one, np.random.default_rng(seed)) for seed in range(60)}
    assert any("thicker" in sentence for sentence in said)
    assert not any("thinner" in sentence for sentence in said)
    assert all(WORLD.language.judge(sentence, one).true for sentence in said)


@pytest.mark.parametrize("amount", [",", ",,", "9" * 5000])
def test_an_amount_that_is_no_number_is_no_sentence(amount):
    assert read("The button moved down by 24 pixels.") is not None
    assert read(f"The button moved down by {amount} pixels.") is None
    said = "The button moved down by 24 pixels, which moved the rest down by"
    assert read(f"{said} 24 pixels.") is not None and read(f"{said} {amount} pixels.") is None


@settings(max_examples=200)
@given(
    st.text(alphabet='a"; ,d', max_size=30)
    | st.lists(st.sampled_from(['"', "; ", ", and ", "a"])).map("".join)
)
def test_a_text_is_cut_where_every_quotation_that_begins_also_ends(text):
    quoted = re.compile(r'(?:; |, and )(?=(?:[^"]*"[^"]*")*[^"]*$)')
    assert list(reading._parts(text)) == quoted.split(text)


def test_a_text_of_a_million_quotations_is_cut_at_once():
    # looking ahead from each of them anew would take hours
    assert len(list(reading._parts('"; ' * 1_000_000))) > 1 and read('"; ' * 1_000_000) is None
