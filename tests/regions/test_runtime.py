"""A model of regions: its probabilities by the card, its statements, and bundles that cannot be."""

import json
from dataclasses import replace

import numpy as np
import pytest
from support.tiny_regions import CARD, ELEMENTS, LOGITS, RECOLOURED, SLOPE, START, build_regions

from whatchanged.captioner.bundle import MANIFEST, open_bundle
from whatchanged.captioner.card import NoChange
from whatchanged.errors import BundleError, WhatchangedError
from whatchanged.measured import measure
from whatchanged.measured.compared import Compared
from whatchanged.regions.numbers import read_proposals
from whatchanged.regions.runtime import RegionModel, aspects_of
from whatchanged.worlds import find_world

SIZE = (160, 120)
BOX = (20, 30, 70, 60)


def pair(*boxes, color=(20, 90, 200)):
    """White pictures with a line at the top; after it these boxes have a colour."""
    before = np.full((SIZE[1], SIZE[0], 3), 255, np.uint8)
    before[4:8, 10:150] = 90
    after = before.copy()
    for left, top, right, bottom in boxes:
        after[top:bottom, left:right] = color
    return before, after


def told(model, before, after):
    return model.describe(Compared(before, after), measure(before, after))


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return RegionModel(build_regions(tmp_path_factory.mktemp("tiny") / "tiny"), threads=1)


def test_the_statement_has_place_colours_and_noun(model):
    found = told(model, *pair(BOX))
    assert found.changed
    first = found.statements[0]
    assert (first.kind, first.element) == ("recolored", "button")
    assert first.box_before == first.box_after == BOX
    assert first.values == {"aspect": "fill", "color_before": "#ffffff", "color_after": "#145ac8"}
    assert first.sentence == "The background of the button at the upper left turned from white to blue."
    assert find_world("screens").language.reads(first.sentence)


def test_probabilities_are_those_of_the_cards_equations(tmp_path):
    by = replace(CARD.statements, kind_temperature=2.0, scale=1.5, shift=-0.5, verdict_weight=0.5)
    card = replace(
        CARD, statements=replace(by, measured_weight=0.25), no_change=NoChange(0.4, 2.0, 1.0, "", ())
    )
    model = RegionModel(build_regions(tmp_path / "tiny", card), threads=1)
    before, after = pair(BOX)
    measured = measure(before, after)
    compared = Compared(before, after)
    found = model.describe(compared, measured)
    numbers = read_proposals(compared, card.input.regions).numbers
    verdict = SLOPE * float(numbers[:, RECOLOURED].max()) + START
    p = min(max(measured.no_change, 1e-4), 1 - 1e-4)
    own = 1 / (1 + np.exp(0.5 * verdict - 0.25 * np.log(p / (1 - p))))
    assert found.no_change == pytest.approx(1 / (1 + np.exp(-(2 * np.log(own / (1 - own)) + 1))), rel=1e-4)
    assert found.changed == (found.no_change < 0.4)
    kind = 1 / (1 + np.exp((LOGITS["kinds"][0] - LOGITS["kinds"][1]) / 2))
    both = kind / (1 + np.exp(-verdict))
    wanted = 1 / (1 + np.exp(-(1.5 * np.log(both / (1 - both)) - 0.5)))
    assert found.statements[0].confidence == pytest.approx(wanted, rel=1e-4)


def test_a_noun_that_is_not_sure_is_something(tmp_path):
    card = replace(CARD, statements=replace(CARD.statements, element_temperature=5.0))
    model = RegionModel(build_regions(tmp_path / "tiny", card), threads=1)
    first = told(model, *pair(BOX)).statements[0]
    assert first.element is None
    assert first.sentence == "The background of something at the upper left turned from white to blue."
    assert "element" not in first.as_json()


@pytest.mark.parametrize(
    ("kind", "end"),
    [
        ("added", "was added, which moved the rest down by 24 pixels."),
        ("recolored", "turned from light grey to red."),
    ],
)
def test_what_something_new_pushed_is_told_with_it(model, monkeypatch, kind, end):
    page = np.random.default_rng(0).integers(0, 2, (60, 100, 1)) * np.full(3, 200) + 30
    before = np.full((160, 100, 3), 255, np.uint8)
    after = before.copy()
    before[:60] = after[24:84] = page
    after[2:22] = (200, 60, 60)
    judge = model.judge

    def judged(places):
        kinds = np.array([[name == kind for name in CARD.statements.kinds]], np.float32)
        return replace(judge(places), kinds=kinds.repeat(len(places.boxes), axis=0))

    monkeypatch.setattr(model, "judge", judged)
    assert told(model, before, after).statements[0].sentence.endswith(end)


def test_a_finer_word_that_is_not_sure_is_not_used(tmp_path):
    """Logits 5 and 3: with a temperature of 1 the first has .88, of 2 it has .73; .8 is wanted."""
    card = replace(CARD, statements=replace(CARD.statements, aspect_temperature=2.0))
    model = RegionModel(build_regions(tmp_path / "tiny", card), threads=1)
    first = told(model, *pair(BOX)).statements[0]
    assert first.sentence == "The button at the upper left turned from white to blue."
    assert "aspect" not in first.values


def test_finer_words_stand_in_the_order_of_the_kinds():
    by = CARD.statements
    assert [*by.aspects] != [*by.kinds]
    assert aspects_of(by, "added") == slice(0, 1) and aspects_of(by, "recolored") == slice(1, 3)


def test_places_that_lie_elsewhere_are_told_too_and_no_place_twice(model):
    boxes = {BOX, (100, 70, 150, 110)}
    places = [one.box_after for one in told(model, *pair(*boxes)).statements]
    assert boxes <= {*places} or places == [(20, 30, 150, 110)]
    for number, one in enumerate(places):
        for other in places[:number]:
            across = max(0, min(one[2], other[2]) - max(one[0], other[0]))
            down = max(0, min(one[3], other[3]) - max(one[1], other[1]))
            areas = [(box[2] - box[0]) * (box[3] - box[1]) for box in (one, other)]
            assert across * down < 0.5 * min(areas)


def test_below_the_least_confidence_only_the_first_is_told(tmp_path):
    card = replace(CARD, statements=replace(CARD.statements, told=1.0))
    model = RegionModel(build_regions(tmp_path / "tiny", card), threads=1)
    assert len(told(model, *pair(BOX, (100, 70, 150, 110))).statements) == 1


def test_equal_pictures_have_no_statement(model):
    before, _ = pair()
    found = told(model, before, before.copy())
    assert (found.statements, found.changed, found.no_change) == ((), False, 1.0)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"input": replace(CARD.input, numbers=7)}, "reads 7 numbers"),
        ({"statements": replace(CARD.statements, kinds=("exploded", "added"))}, "kinds exploded, added"),
        ({"statements": replace(CARD.statements, kinds=("added",))}, "kinds is declared as"),
        ({"statements": replace(CARD.statements, elements=ELEMENTS[:1])}, "elements is declared as"),
        ({"statements": replace(CARD.statements, elements=())}, "of 0 elements"),
        ({"world": "clevr"}, "the world clevr has no words for statements"),
    ],
)
def test_a_card_that_fits_neither_graph_nor_version_is_refused(tmp_path, changes, words):
    with pytest.raises(BundleError, match=words):
        RegionModel(build_regions(tmp_path / "tiny", replace(CARD, **changes)))


def test_statements_without_regions_and_regions_without_a_graph_are_refused(tmp_path):
    folder = tmp_path / "tiny"
    build_regions(folder)
    fields = json.loads((folder / MANIFEST).read_text())

    def write(**changed):
        shown = {key: value for key, value in {**fields, **changed}.items() if value is not None}
        (folder / MANIFEST).write_text(json.dumps(shown))

    write(files={"README.md": fields["files"]["README.md"]})
    with pytest.raises(BundleError, match=r"lists no regions\.onnx"):
        open_bundle(folder)
    write(input={"kind": "pictures", "size": [24, 16], "mean": [0.5] * 3, "std": [0.5] * 3})
    with pytest.raises(BundleError, match="makes no statements about regions"):
        RegionModel(open_bundle(folder))
    for key in fields["statements"]:
        rest = {name: value for name, value in fields["statements"].items() if name != key}
        write(statements=rest)
        with pytest.raises(BundleError, match=rf"statements\.{key}"):
            open_bundle(folder)
    write(statements={**fields["statements"], "kind_temperature": 0})
    with pytest.raises(BundleError, match="a number above 0"):
        open_bundle(folder)


@pytest.mark.parametrize("name", ["kinds", "elements", "aspects", "changed", "rank", "verdict", "refined"])
@pytest.mark.parametrize("spoil", [lambda v: v[:0], lambda v: np.concatenate([v, v]), lambda v: v + np.inf])
def test_what_the_graph_answers_is_held_against_the_places(model, monkeypatch, name, spoil):
    run = model._graph.run
    monkeypatch.setattr(model._graph, "run", lambda feed: {**run(feed), name: spoil(run(feed)[name])})
    with pytest.raises(BundleError, match=rf"answers with {name} of the shape .*all finite"):
        told(model, *pair(BOX))


@pytest.mark.parametrize("number", [0, -3, 1.5, "x"])
def test_threads_that_are_no_count(tmp_path, number):
    bundle = build_regions(tmp_path / "tiny")
    with pytest.raises(WhatchangedError, match="threads should be a whole number from 1"):
        RegionModel(bundle, threads=number)
