"""Claims in words: true of the change that they are made of, and never more exact than is sure."""

import numpy as np
import pytest

from whatchanged.worlds import Claim
from whatchanged.worlds.screens.describing import describe, surest
from whatchanged.worlds.screens.elements import ELEMENTS
from whatchanged.worlds.screens.judging import judge
from whatchanged.worlds.screens.kinds import KINDS
from whatchanged.worlds.screens.truth import Motion, ScreenChange, ScreenTruth

SIZE = (400, 300)
BOX = (10, 20, 60, 40)
VALUES = {
    "moved": {"dx": 0, "dy": 12},
    "resized": {"dwidth": -5},
    "recolored": {"color_before": "#1a73e8", "color_after": "#0b8043"},
}


def claim(kind="moved", elements=None, values=None, rest=None, named=0.8):
    before, after = (None if kind == "added" else BOX), (None if kind == "removed" else BOX)
    known = VALUES.get(kind, {}) if values is None else values
    return Claim(kind, elements or {"button": 1.0}, named, before, after, known, rest, SIZE)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("element", ["button", "text", "chart bar", "checkbox", "axis"])
def test_a_claim_that_is_true_is_judged_so(kind, element):
    rng = np.random.default_rng(0)
    for values in ({}, VALUES.get(kind, {})):
        left, top = (int(rng.integers(0, side - 60)) for side in SIZE)
        box = (left, top, left + 50, top + 30)
        before, after = (None if kind == "added" else box), (None if kind == "removed" else box)
        moved = (Motion((0, 100, 9, 110), (0, 148, 9, 158)),)
        change = ScreenChange(kind, element, "", before, after, {**VALUES.get(kind, {})}, (), moved)
        truth = ScreenTruth((change,), (), SIZE, SIZE)
        for elements in ({element: 1.0}, {element: 0.5, "dialog": 0.5}):
            for rest in (None, (0, 48)):
                made = Claim(kind, elements, 0.8, before, after, values, rest, SIZE)
                _, text = describe(made)
                assert judge(text, truth).true, text
    assert judge(f"{text}, which moved the rest down by 4 pixels", truth).true is False


def test_what_is_known_is_told():
    assert describe(claim())[1] == "the button at the upper left moved down by 12 pixels"
    assert describe(claim("resized"))[1] == "the button at the upper left became 5 pixels narrower"
    assert describe(claim("recolored"))[1] == "the button at the upper left turned from blue to dark green"
    assert describe(claim("rewritten", {"text": 1.0}))[1] == "the words of the text at the upper left changed"
    assert describe(claim(values={}))[1] == "the button at the upper left moved"
    assert describe(claim("added", rest=(0, 48)))[1] == (
        "a button at the upper left was added, which moved the rest down by 48 pixels"
    )


def test_the_noun_is_as_exact_as_is_sure():
    assert surest({"heading": 0.9, "button": 0.1}, 0.8) == "heading"
    assert surest({"heading": 0.5, "paragraph": 0.4, "button": 0.1}, 0.8) == "text"
    assert surest({"heading": 0.5, "button": 0.5}, 0.8) is None
    assert surest({"icon button": 0.6, "button": 0.3}, 0.8) == "button"
    assert surest({"an unknown thing": 1.0}, 0.8) is None
    element, text = describe(claim(elements={"heading": 0.5, "button": 0.5}))
    assert element is None and text.startswith("something at the upper left moved")


def test_what_may_be_a_line_is_not_called_a_text():
    ink = {**VALUES["recolored"], "aspect": "ink"}
    assert describe(claim("recolored", {"button": 1.0}, ink))[1].startswith("the text of the button")
    assert describe(claim("recolored", {"text": 1.0}, ink))[1].startswith("the text at the upper left turned")
    unsure = claim("recolored", {"text": 0.5, "series": 0.5}, ink)
    assert describe(unsure)[1] == "something at the upper left turned from blue to dark green"


def test_every_element_has_words():
    for name in ELEMENTS:
        element, _ = describe(claim(elements={name: 1.0}))
        assert element == name
