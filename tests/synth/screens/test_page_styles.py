"""Changes of style on pages: what they say of themselves, and what is told of them."""

import numpy as np
import pytest

from whatchanged.synth.screens.pages.changes import WAYS, styles
from whatchanged.synth.screens.pages.changes.edit import Setting
from whatchanged.synth.screens.pages.making import Made, truth_of
from whatchanged.synth.screens.pages.shown import PageElement, PageLayout
from whatchanged.synth.screens.words import RandomTexts
from whatchanged.worlds import find_world
from whatchanged.worlds.screens.kinds import ASPECTS
from whatchanged.worlds.screens.truth import ScreenTruth

WORLD = find_world("screens")
SIZE = (120, 80)
ICON = {"element": "icon", "tag": "svg", "text": ""}


def element(**given) -> PageElement:
    """A card with a fill and the text "Some words", but for what is given."""
    usual = {
        "i": 0,
        "element": "card",
        "tag": "div",
        "parent": -1,
        "box": (10.0, 10.0, 110.0, 60.0),
        "ink": (12.0, 12.0, 90.0, 28.0),
        "seen": True,
        "leaf": True,
        "text": "Some words",
        "name": "Some words",
        "ground": (255, 255, 255),
        "color": (0.0, 0.0, 0.0, 1.0),
        "fill": (200.0, 200.0, 200.0, 1.0),
        "svg_fill": (0.0, 0.0, 0.0, 0.0),
        "stroke": (0.0, 0.0, 0.0, 1.0),
        "stroke_width": 2.0,
        "picture": False,
        "border": 1.0,
        "borders": 4,
        "border_color": (0.0, 0.0, 0.0, 1.0),
        "radius": 0.0,
        "shadow": False,
        "size": 14.0,
        "weight": 400.0,
        "italic": False,
        "underlined": False,
        "align": "left",
        "opacity": 1.0,
        "padding": (2.0, 2.0, 2.0, 2.0),
        "margin": (0.0, 0.0, 0.0, 0.0),
        "display": "block",
        "checked": False,
        "disabled": False,
        "look": "DIV.card",
    }
    return PageElement(**{**usual, **given})


def edit_of(way, rng, **given):
    one = element(**given)
    return way(rng, Setting(one, layout_of(one), RandomTexts(rng, "en")))


def layout_of(one):
    return PageLayout((one,), np.zeros((0, 6)), 80.0, 120.0)


def truth_about(edit, was, now):
    """The truth of an edit that alters some pixels of the only element."""
    before = np.full((SIZE[1], SIZE[0], 3), 255, np.uint8)
    after = before.copy()
    after[20:30, 20:30] = 0
    made = Made(edit, (0,), layout_of(was), layout_of(now), before, after, 1.0)
    change = truth_of(made, layout_of(was), layout_of(now), (SIZE, SIZE))
    assert change is not None
    return ScreenTruth((change,), (), SIZE, SIZE)


@pytest.mark.parametrize(
    ("way", "given", "on", "said", "not_said"),
    [
        (styles.shadow, {}, True, "gained a shadow", "lost its shadow"),
        (styles.shadow, {"shadow": True}, False, "lost a shadow", "gained a shadow"),
        (styles.slant, {}, True, "is now in italics", "is no longer in italics"),
        (styles.slant, {"italic": True}, False, "is no longer in italics", "is now in italics"),
        (styles.decoration, {}, True, "gained a line under or through its text", "is now in italics"),
        (styles.decoration, {"underlined": True}, False, "lost a line under or", "is no longer in italics"),
        (styles.letter_case, {}, True, "is now in capitals", "is no longer in capitals"),
        (styles.texture, {}, True, "is now striped", "is no longer striped"),
        (styles.sharpness, {"element": "picture"}, True, "is now blurred", "is no longer blurred"),
        (styles.clipping, {}, True, "is now cut off", "is no longer too narrow for its text"),
    ],
)
def test_it_is_told_whether_it_became_so(way, given, on, said, not_said):
    edit = edit_of(way, np.random.default_rng(0), **given)
    truth = truth_about(edit, element(**given), element(**given))
    values = truth.changes[0].values
    assert (values["on_before"], values["on_after"]) == (not on, on)
    sentence = WORLD.write(truth, "plain")
    assert said in sentence
    assert WORLD.language.judge(sentence, truth).true
    assert not WORLD.language.judge(sentence, truth.reversed()).true
    assert WORLD.language.judge(f"Something {not_said}.", truth).parsed
    assert not WORLD.language.judge(f"Something {not_said}.", truth).true


def test_of_a_border_it_is_told_that_it_became_dashed_and_nothing_of_dots():
    edits = [edit_of(styles.border_style, np.random.default_rng(seed)) for seed in range(20)]
    assert {("dashed" in edit.script, edit.on) for edit in edits} == {(True, True), (False, None)}


def test_a_line_of_another_width_is_restyled_where_its_pixels_differ():
    edit = edit_of(styles.line_width, np.random.default_rng(1), **ICON)
    change = truth_about(edit, element(**ICON), element(**ICON, stroke_width=4.4)).changes[0]
    assert (change.kind, change.aspect) == ("restyled", "line width")
    assert (change.values["amount_before"], change.values["amount_after"]) == (2.0, 4.4)
    assert change.box_before == change.box_after == (20, 20, 30, 30)


SORTS = ("card", "button", "icon", "picture", "series", "text field", "progress bar", "checkbox", "chart bar")


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_what_is_changed_has_a_finer_word_of_its_kind(way):
    rng = np.random.default_rng(0)
    tags = ("div", "svg", "polyline", "rect", "input", "circle", "span")
    made = [edit_of(way, rng, element=one, tag=tag) for one in SORTS for tag in tags]
    for edit in filter(None, made):
        assert edit.aspect in ASPECTS[edit.kind]
        assert not edit.state or edit.on is not None
