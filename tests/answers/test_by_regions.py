from dataclasses import replace

import numpy as np
import pytest
from PIL import Image
from support.drawn_page import page, with_box

from whatchanged.answers.by_regions import of_statements, with_facts
from whatchanged.measured import Statement, measure
from whatchanged.regions.runtime import RegionDescription

GREY = np.full((320, 480, 3), 120, np.uint8)
BLACK = GREY.copy()
BLACK[160:320, 240:480] = 0


@pytest.mark.parametrize(
    ("told", "measured", "verdict", "doubtful"),
    [
        (False, 0.09, "changed", True),  # the measurement is sure
        (False, 0.11, "noise", True),  # it is not, and says so
        (False, 0.6, "noise", False),
        (True, 0.11, "changed", False),
        (True, 0.6, "changed", True),
    ],
)
def test_a_model_and_the_measurement_together(told, measured, verdict, doubtful):
    pictures = measure(GREY, BLACK)
    said = replace(pictures, no_change=measured, verdict="changed" if measured < 0.5 else "noise")
    answer = of_statements("tiny", RegionDescription(pictures.statements, 0.5, told), said, unfamiliar=False)
    assert (answer.verdict, answer.doubtful) == (verdict, doubtful)
    assert answer.sentence.startswith("Perhaps") is (verdict == "noise" and doubtful)
    assert bool(answer.changes) is (verdict == "changed" or doubtful)


@pytest.mark.parametrize("changed", [False, True])
def test_a_model_without_words_says_that_nothing_is_visible(changed):
    measured = measure(GREY, BLACK)
    answer = of_statements(
        "tiny", RegionDescription((), 0.2, changed), measured, unfamiliar=None, sources=(GREY, BLACK)
    )
    assert (answer.sentence, answer.changes) == ("Nothing visible changed.", ())
    assert answer.changed and answer.sources == (GREY, BLACK)


def guess(box, element="button"):
    """What a model says of a place."""
    return Statement("rewritten", box, box, "The button reads differently.", 0.9, element=element)


def test_a_fact_about_the_whole_picture_stands_against_a_guess():
    larger = np.asarray(Image.fromarray(page()).resize((400, 240), Image.Resampling.BICUBIC))
    measured = measure(page(), larger)
    (statement,) = with_facts([guess((10, 10, 90, 60))], measured)
    assert "scaled from 200 x 120 to 400 x 240 pixels" in statement.sentence


@pytest.mark.parametrize("there", [True, False])
def test_what_was_measured_exactly_is_only_named(there):
    before, after = (with_box(page(), (x, 96, x + 40, 112), (200, 40, 40)) for x in (20, 50))
    measured = measure(before, after)
    (statement,) = with_facts([guess((50, 96, 90, 112) if there else (0, 0, 50, 20))], measured)
    assert (statement.kind, statement.values["dx"]) == ("moved", 30)
    assert statement.element == ("button" if there else None)
    assert ("The button" in statement.sentence) is there
    assert "30 pixels" in statement.sentence


def test_a_colour_that_was_measured_stands():
    box = (20, 96, 60, 112)
    pages = [with_box(page(), box, color) for color in ((200, 40, 40), (20, 90, 200))]
    before, after = (with_box(one, (30, 101, 50, 107), (255, 255, 255)) for one in pages)
    (statement,) = with_facts([guess(box)], measure(before, after))
    assert statement.sentence == "The button at the lower left turned from red to blue."


def test_a_colour_of_something_else_than_the_same_thing_does_not_stand():
    box = (20, 96, 60, 112)
    before, after = (with_box(page(), box, color) for color in ((200, 40, 40), (20, 90, 200)))
    told = [guess(box)]
    assert with_facts(told, measure(before, after)) == tuple(told)


def test_of_anything_else_the_model_speaks():
    after = with_box(page(), (20, 96, 60, 112), (200, 40, 40))
    told = [guess((20, 96, 60, 112))]
    assert with_facts(told, measure(page(), after)) == tuple(told)
    assert with_facts([], measure(page(), after)) == ()
