import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.tiny_bundle import CARD, WARY

from whatchanged.captioner.card import (
    FeatureInput,
    GridAttention,
    InDistribution,
    NoChange,
    PictureInput,
)
from whatchanged.captioner.card_json import card_from_json, card_to_json
from whatchanged.errors import BundleError, escaped

PATH = Path("model/bundle.json")
STATISTICS = {"mean": [0.1, 0.2, 0.3], "std": [0.4, 0.5, 0.6]}

counts = st.integers(1, 10_000)
pairs = st.tuples(counts, counts)
numbers = st.floats(-10, 10)
three = st.tuples(numbers, numbers, numbers)
positive = st.tuples(*[st.floats(0.001, 10)] * 3)
sizes = st.tuples(st.integers(1, 5000), st.integers(1, 10_000))
inputs = st.builds(PictureInput, sizes, three, positive)
inputs |= st.builds(FeatureInput, counts, counts, counts, st.text().map(escaped))
attentions = st.builds(GridAttention, counts, counts)
texts = st.text().map(escaped)  # a card holds no control characters
judges = st.builds(
    NoChange,
    st.floats(0, 1),
    numbers,
    numbers,
    texts,
    st.lists(texts, unique=True).map(tuple),
    st.sampled_from(["head", "sentences"]),
)
cards = st.builds(
    replace,
    st.sampled_from([CARD, WARY]),
    name=texts,
    input=inputs,
    attention=attentions,
    no_change=judges,
    max_length=st.integers(1, 1000),
    folded_norms=st.booleans(),
)
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


def written(card=CARD):
    """The card as a reader of the file finds it."""
    return json.loads(json.dumps(card_to_json(card)))


def format_1(card=CARD):
    """The card as the versions before wrote it."""
    fields = written(card)
    declared, grid = fields.pop("input"), fields.pop("attention")
    del fields["folded_norms"]
    return {
        **fields,
        "format": 1,
        "image_size": declared["size"],
        "mean": declared["mean"],
        "std": declared["std"],
        "grid": [grid["rows"], grid["columns"]],
    }


def failure(fields):
    with pytest.raises(BundleError) as error:
        card_from_json(fields, PATH)
    assert str(error.value).startswith(f"{PATH}: ")
    return str(error.value)


@given(cards)
def test_what_is_written_is_read(card):
    assert card_from_json(written(card), PATH) == card


@given(st.data())
def test_whatever_stands_there_is_read_or_refused_by_name(data):
    """No value of any key, at any depth, causes another error than BundleError."""
    fields = written(data.draw(st.sampled_from([CARD, WARY])))
    place = fields
    while isinstance(place, dict) and place:
        key = data.draw(st.sampled_from(sorted(place)))
        if not isinstance(place[key], dict) or data.draw(st.booleans()):
            place[key] = data.draw(anything)
            break
        place = place[key]
    try:
        card_from_json(fields, PATH)
    except BundleError as error:
        assert str(error).startswith(f"{PATH}: ")


def test_the_declarations_on_disk():
    fields = written()
    assert fields["format"] == 2
    assert fields["input"] == {"kind": "pictures", "size": [24, 16], "mean": [0.5] * 3, "std": [0.5] * 3}
    assert fields["attention"] == {"kind": "grid", "rows": 2, "columns": 3}
    assert fields["folded_norms"] is False and "familiar" not in fields
    assert not {"image_size", "grid", "mean", "std"} & fields.keys()
    fields = written(replace(WARY, folded_norms=True))
    assert fields["folded_norms"] is True and fields["familiar"] == {"threshold": 0.25, "how": "by hand"}


def test_format_1_is_read():
    assert card_from_json(format_1(), PATH) == CARD
    assert card_from_json(format_1(WARY), PATH) == WARY


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("image_size", [240]),
        ("image_size", [240, 0]),
        ("image_size", [240.5, 160]),
        ("mean", [0.1, 0.2]),
        ("std", [0.1, 0.0, 0.2]),
        ("grid", "2x3"),
    ],
)
def test_ill_typed_cards_of_format_1(key, value):
    assert f"{key} should be" in failure({**format_1(), key: value})


@pytest.mark.parametrize("found", [0, 3, "2", True, None, 2.0])
def test_unknown_formats(found):
    message = failure({**written(), "format": found})
    assert f"format is {found!r}" in message and "reads the formats 1 and 2" in message


@pytest.mark.parametrize("kind", ["video", None, 3, []])
def test_unknown_kinds(kind):
    for key in ("input", "attention"):
        message = failure({**written(), key: {"kind": kind}})
        assert f"{key}.kind is {kind!r}" in message and "Update whatchanged" in message


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("name", 5, "name should be a text, without control characters, it is 5"),
        ("input", None, "input should be an object"),
        ("input", {"kind": "pictures", "size": [240], **STATISTICS}, "input.size should be two whole"),
        ("input", {"kind": "pictures", "size": [9, 10_001], **STATISTICS}, "input.size should be a whole"),
        (
            "input",
            {"kind": "pictures", "size": [10_000, 10_000], **STATISTICS},
            "input.size should be a size of at most 50,000,000 pixels, it is [10000, 10000]",
        ),
        ("input", {"kind": "pictures", "size": [9, 9], "mean": ["a"] * 3}, "input.mean should be a number"),
        ("input", {"kind": "pictures", "size": [9, 9], **STATISTICS, "std": [1, 0, 1]}, "numbers above 0"),
        ("attention", {"kind": "grid", "rows": 0, "columns": 3}, "attention.rows should be"),
        ("vocabulary", ["a", 1], "vocabulary should be a list of texts"),
        ("vocabulary", ["a", "b"], "vocabulary: a vocabulary begins with"),
        ("vocabulary", {"merges": ["t h", "no merge at all"]}, "vocabulary: "),
        ("vocabulary", {"merges": ["\u4e2d a"]}, "vocabulary: "),
        ("vocabulary", {"merges": 3}, "vocabulary.merges should be a list of texts"),
        ("special_ids", {"pad": 1}, "special_ids should be"),
        ("max_length", 0, "max_length should be a whole number from 1 to 1000"),
        ("max_length", True, "max_length should be a whole number"),
        ("no_change", None, "no_change should be an object"),
        ("folded_norms", 1, "folded_norms should be true or false"),
        ("provenance", [], "provenance should be an object"),
        ("familiar", 3, "familiar should be an object"),
        ("familiar", {"how": "x"}, "familiar.threshold should be a number"),
        ("familiar", {"threshold": 0.0, "how": "x"}, "familiar.threshold should be a number above 0"),
        ("familiar", {"threshold": 1.0}, "familiar.how should be a text"),
    ],
)
def test_ill_typed_cards(key, value, message):
    assert message in failure({**written(), key: value})


@pytest.mark.parametrize("key", ["threshold", "calibration", "how", "sentences"])
def test_no_change_is_whole(key):
    fields = written()
    del fields["no_change"][key]
    assert f"no_change.{key} should be" in failure(fields)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("threshold", 7.5, "threshold should be a number from 0 to 1, it is 7.5"),
        ("threshold", -0.1, "threshold should be a number from 0 to 1"),
        ("sentences", ["nothing changed"] * 2, "sentences should be at most 1,000 texts, all different"),
        ("sentences", [str(n) for n in range(1001)], "sentences should be at most 1,000 texts"),
        ("sentences", ["a" * 1001], "sentences should be texts of at most 1,000 characters each"),
    ],
)
def test_the_cost_of_no_change_is_bounded(key, value, message):
    fields = written()
    fields["no_change"][key] = value
    assert f"no_change.{message}" in failure(fields)


def test_where_the_probability_comes_from():
    fields = written()
    fields["no_change"]["by"] = "ear"
    assert 'no_change.by should be "head" or "sentences", it is \'ear\'' in failure(fields)
    del fields["no_change"]["by"]  # the first cards did not say
    assert card_from_json(fields, PATH).no_change.by == "head"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), True, "0.5"])
def test_what_is_no_number(value):
    fields = written()
    fields["no_change"]["calibration"]["scale"] = value
    assert f"no_change.calibration.scale should be a number, it is {value!r}" in failure(fields)


@pytest.mark.parametrize("key", ["max_length", "format"])
@pytest.mark.parametrize("sign", [1, -1])
def test_numbers_of_hundreds_of_digits(key, sign):
    """More than a float can hold, and so many that Python reads them, but does not print them."""
    for digits in (309, 4000):
        assert len(failure({**written(), key: sign * 10**digits})) < 5000
    fields = written()
    fields["no_change"]["threshold"] = sign * 10**400
    assert "no_change.threshold should be a number" in failure(fields)


def test_a_long_value_is_shortened_in_messages():
    message = failure({**written(), "name": ["x" * 10] * 1000})
    assert len(message) < 200 and "..." in message


def test_ranges_of_colours():
    known = InDistribution(0.25, "by hand", {"brightness": (40.0, 200.0), "red_green": (-0.2, 0.25)})
    card = replace(CARD, in_distribution=known)
    fields = written(card)
    assert fields["familiar"]["colours"] == {"brightness": [40, 200], "red_green": [-0.2, 0.25]}
    assert card_from_json(fields, PATH) == card
    assert "colours" not in written(WARY)["familiar"]


@pytest.mark.parametrize(
    ("colours", "said"),
    [
        ({"hue": [0, 1]}, "familiar.colours should be ranges of red_green"),
        ({"brightness": [1]}, "familiar.colours.brightness should be 2 numbers"),
        ({"brightness": [2, 1]}, "the smaller one first"),
        ([], "familiar.colours should be an object"),
    ],
)
def test_ranges_that_are_none(colours, said):
    fields = written(WARY)
    fields["familiar"]["colours"] = colours
    assert said in failure(fields)
