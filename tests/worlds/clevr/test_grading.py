import json
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whatchanged.worlds.clevr.change import NOTHING, SceneChange
from whatchanged.worlds.clevr.grading import (
    ParsedStatement,
    SentenceJudgement,
    contradicts_itself,
    is_true,
    judge,
    other_object,
    parse,
)
from whatchanged.worlds.clevr.language import NO_CHANGE, phrase_text
from whatchanged.worlds.clevr.phrases import RELATIONS, Phrase, Plain
from whatchanged.worlds.clevr.scene import Color, Material, ObjectSize, Scene, SceneObject, Shape, View
from whatchanged.worlds.clevr.truth import read_triples

SOUTH = View((0.0, -8.0, 6.0))
CUBE = SceneObject("cube", "large", "red", "rubber", 0, 0)
BALL = SceneObject("sphere", "small", "red", "metal", 2, 0)
TUBE = SceneObject("cylinder", "small", "blue", "metal", 0.1, 2)
BEFORE = Scene((CUBE, BALL, TUBE), SOUTH)
GREEN = Scene((SceneObject("cube", "large", "green", "rubber", 0, 0), BALL, TUBE), SOUTH)
MATTE = Scene((CUBE, SceneObject("sphere", "small", "red", "rubber", 2, 0), TUBE), SOUTH)
WITHOUT = Scene((CUBE, TUBE), SOUTH)


@pytest.mark.parametrize(
    ("sentence", "statement"),
    [
        (
            "the tiny yellow rubber cylinder that is behind the rubber block became brown",
            ParsedStatement(
                "color",
                Phrase(
                    Plain("small", "yellow", "rubber", "cylinder"),
                    "behind",
                    Plain(None, None, "rubber", "cube"),
                ),
                "brown",
            ),
        ),
        (
            "the tiny gray rubber ball that is right of the large matte ball has appeared",
            ParsedStatement(
                "add",
                Phrase(
                    Plain("small", "gray", "rubber", "sphere"),
                    "right",
                    Plain("large", None, "rubber", "sphere"),
                ),
            ),
        ),
        (
            "the large brown matte block that is on the right side of the large brown cylinder is gone",
            ParsedStatement(
                "drop",
                Phrase(
                    Plain("large", "brown", "rubber", "cube"),
                    "right",
                    Plain("large", "brown", None, "cylinder"),
                ),
            ),
        ),
        (
            "the small red metallic block in front of the tiny brown metal sphere is in a different location",
            ParsedStatement(
                "move",
                Phrase(
                    Plain("small", "red", "metal", "cube"),
                    "front",
                    Plain("small", "brown", "metal", "sphere"),
                ),
            ),
        ),
        (
            "the small gray metallic ball to the left of the rubber block became matte",
            ParsedStatement(
                "material",
                Phrase(
                    Plain("small", "gray", "metal", "sphere"), "left", Plain(None, None, "rubber", "cube")
                ),
                "rubber",
            ),
        ),
        ("the tiny gray thing has been newly placed", ParsedStatement("add", Phrase(Plain("small", "gray")))),
        ("the block changed its location", ParsedStatement("move", Phrase(Plain(shape="cube")))),
        ("the object is no longer there", ParsedStatement("drop", Phrase(Plain()))),
        ("the ball was moved", ParsedStatement("move", Phrase(Plain(shape="sphere")))),
        ("  The Cube  turned SHINY. ", ParsedStatement("material", Phrase(Plain(shape="cube")), "metal")),
        ("the scene remains the same", ParsedStatement("none")),
    ],
)
def test_parse(sentence, statement):
    assert parse(sentence) == statement


@pytest.mark.parametrize(
    ("sentence", "wrong"),
    [
        ("the small brown rubber cube changed to brown", True),
        ("the tiny matte block became rubber", True),
        ("the cube left of the brown ball turned brown", False),
        ("the brown cube turned metallic", False),
        ("the brown cube turned", False),
        ("the brown cube was moved", False),
        ("there is no change", False),
    ],
)
def test_a_thing_does_not_become_what_it_is(sentence, wrong):
    assert contradicts_itself(sentence) is wrong


@pytest.mark.parametrize(
    "sentence",
    [
        "",
        "the",
        "moved",
        "the moved",
        "red cube moved",
        "the red blue cube moved",
        "the cube red moved",
        "the cube became large",
        "the cube became",
        "the cube became sphere",
        "the cube left of moved",
        "left of the cube moved",
        "the cube that is moved",
        "the cube that is left of the ball that is behind the cube moved",
        "the cube has been added has been added",
        "the <UNK> cube moved",
        "there is no change was made",
        "the pyramid moved",
    ],
)
def test_what_is_not_the_language_is_not_read(sentence):
    assert parse(sentence) is None
    assert judge(sentence, BEFORE, GREEN, SceneChange("color", 0, 0)) == SentenceJudgement()


plain = st.builds(
    Plain,
    *(st.none() | st.sampled_from(get_args(kind)) for kind in (ObjectSize, Color, Material, Shape)),
)
phrases = st.builds(Phrase, plain) | st.builds(Phrase, plain, st.sampled_from(RELATIONS), plain)


@given(phrases, st.integers(0, 2**32), st.sampled_from(["moved", "is gone", "became brown", "turned matte"]))
def test_every_phrase_reads_back_as_it_was_meant(phrase, seed, ending):
    for said in (phrase_text(phrase), phrase_text(phrase, np.random.default_rng(seed))):
        assert parse(f"{said} {ending}").phrase == phrase


@given(st.text(max_size=80))
def test_any_text_is_read_or_refused_in_peace(text):
    judge(text, BEFORE, GREEN, SceneChange("color", 0, 0))


RIGHT = SentenceJudgement(True, True, True, True, True)


@pytest.mark.parametrize(
    ("sentence", "verdict"),
    [
        ("the large cube turned green", RIGHT),
        ("the cube left of the metal ball became green", RIGHT),
        ("the cube in front of the small metal thing became green", RIGHT),
        # Fits two objects, one of them the changed one: true, but not a good name.
        ("the red thing became green", SentenceJudgement(True, True, True, True, False)),
        ("the cube became blue", SentenceJudgement(True, True, False, True, True)),
        ("the ball became green", SentenceJudgement(True, True, True, False, False)),
        ("the cube right of the ball became green", SentenceJudgement(True, True, True, False, False)),
        # The object is named as it was before the change.
        ("the green cube became green", SentenceJudgement(True, True, True, False, False)),
        ("the cube became matte", SentenceJudgement(True, False, False, True, True)),
        ("the cube moved", SentenceJudgement(True, False, False, True, True)),
        ("there is no change", SentenceJudgement(True, False, False, False, False)),
    ],
)
def test_verdicts_on_a_change_of_color(sentence, verdict):
    change = SceneChange("color", 0, 0)
    assert judge(sentence, BEFORE, GREEN, change) == verdict
    assert is_true(sentence, BEFORE, GREEN, change) == (
        verdict.type_right and verdict.value_right and verdict.fits
    )


def test_material_words_mean_the_material():
    change = SceneChange("material", 1, 1)
    for word in ("matte", "rubber"):
        assert is_true(f"the ball became {word}", BEFORE, MATTE, change)
    for word in ("shiny", "metal", "metallic", "red"):
        assert not is_true(f"the ball became {word}", BEFORE, MATTE, change)


def test_a_dropped_object_is_looked_for_before_and_an_added_one_after():
    assert judge("the ball is missing", BEFORE, WITHOUT, SceneChange("drop", 1, None)) == RIGHT
    assert judge("the ball has appeared", WITHOUT, BEFORE, SceneChange("add", None, 1)) == RIGHT
    assert not is_true("the ball has appeared", BEFORE, WITHOUT, SceneChange("drop", 1, None))
    assert not is_true("the cube has appeared", WITHOUT, BEFORE, SceneChange("add", None, 1))


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("the cube that is in front of the small blue cylinder became green", (range(2, 8), range(8, 11))),
        ("the large block in front of the cylinder turned green", (range(3, 7), range(7, 8))),
        ("the cube that is on the left side of the blue thing became green", (range(2, 10), range(10, 12))),
        ("the cube became green", None),
        ("the cube that is left of the small thing became green", None),  # there are two small things
        ("the cube that is left of the yellow thing became green", None),
        ("there is no change", None),
        ("a cat sat on the cube that is left of the cylinder", None),
    ],
)
def test_the_other_object_and_its_words(sentence, words):
    results = other_object(sentence, BEFORE, GREEN, SceneChange("color", 0, 0))
    assert results == (None if words is None else (BEFORE.objects.index(TUBE), *words))


def test_the_other_object_is_looked_for_where_the_changed_one_is():
    sentence = "the ball that is right of the cube {}"
    swapped = Scene((BALL, TUBE, CUBE), SOUTH)
    assert (
        other_object(sentence.format("has appeared"), WITHOUT, swapped, SceneChange("add", None, 0))[0] == 2
    )
    assert other_object(sentence.format("is missing"), swapped, WITHOUT, SceneChange("drop", 0, None))[0] == 2
    assert other_object(sentence.format("moved"), BEFORE, swapped, SceneChange("move", 1, 0))[0] == 0


def test_of_a_pair_without_change_only_the_type_is_judged():
    for sentence in NO_CHANGE:
        assert judge(sentence, BEFORE, BEFORE, NOTHING) == RIGHT
    assert judge("the cube moved", BEFORE, BEFORE, NOTHING) == SentenceJudgement(parsed=True)


def test_every_sentence_of_the_development_set_is_read_and_true(dev_folder):
    changed, same = (
        json.loads((dev_folder / f"{name}.json").read_text())
        for name in ("change_captions", "no_change_captions")
    )
    read = 0
    for triple in read_triples(dev_folder):
        key = f"CLEVR_default_{triple.index:06d}.png"
        for pair, true, false in zip(triple.pairs(), (changed, same), (same, changed), strict=True):
            for sentence in true[key]:
                verdict = judge(sentence, *pair)
                assert verdict.true and verdict.fits_alone, (key, sentence, verdict)
                read += 1
            assert not any(is_true(sentence, *pair) for sentence in false[key])
    assert read == sum(map(len, changed.values())) + sum(map(len, same.values())) > 1200
