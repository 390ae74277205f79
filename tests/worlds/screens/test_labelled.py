"""What people wrote of real pairs, in the names of the world."""

import json
from collections import Counter
from pathlib import Path

import pytest

from whatchanged.datasets.ui_train import KINDS as LABELLED_KINDS
from whatchanged.records import PairRecord
from whatchanged.worlds import world_of
from whatchanged.worlds.screens.elements import ELEMENTS
from whatchanged.worlds.screens.kinds import ASPECTS, KINDS, STATES
from whatchanged.worlds.screens.labelled import (
    ASPECT_WORDS,
    ELEMENT_WORDS,
    STATE_WORDS,
    USUAL,
    aspect_of,
    element_of,
    truth_of,
)

LABELS = Path(__file__).parents[3] / "data" / "ui_train" / "labels.jsonl"
BOX = [2, 3, 12, 9]


def change(**fields):
    usual = {"kind": "moved", "element": "button", "aspect": "position", "box_before": BOX, "box_after": BOX}
    return {**usual, **fields}


def labels(*changes, visible="yes"):
    sizes = {"size_before": [40, 30], "size_after": [40, 31]}
    return {"changes": list(changes), "visible_change": visible, "group": "chart", **sizes}


def test_every_word_of_the_tables_is_a_name_of_the_world():
    assert set(ELEMENT_WORDS.values()) <= set(ELEMENTS) and not set(ELEMENT_WORDS) & set(ELEMENTS)
    assert {state for state, _ in STATE_WORDS.values()} <= set(STATES)
    assert set(ASPECT_WORDS) == set(KINDS) == LABELLED_KINDS
    for kind, words in ASPECT_WORDS.items():
        assert {*words.values(), *filter(None, [USUAL.get(kind)])} <= set(ASPECTS[kind])


def test_a_change_keeps_its_order_its_boxes_and_the_words_that_the_world_knows():
    first = change(element="selection handle", box_after=[2, 7, 12, 13])
    second = change(kind="rewritten", aspect="case", text_before="Save", text_after="SAVE", state="focused")
    truth = truth_of(labels(first, second))
    assert [(one.kind, one.element, one.aspect) for one in truth.changes] == [
        ("moved", "mark", "position"),
        ("rewritten", "button", "text"),
    ]
    assert truth.changes[0].box_after == (2, 7, 12, 13)
    assert (truth.changes[0].values["dx"], truth.changes[0].values["dy"]) == (0, 4)
    assert truth.changes[1].name == "SAVE" and truth.changes[1].values["text_before"] == "Save"
    assert truth.changes[1].values["state"] == "focused" and truth.changes[1].values["on_after"] is True
    assert (truth.size_before, truth.size_after, truth.family) == ((40, 30), (40, 31), "chart")
    assert not truth.doubtful


def test_what_nobody_sees_is_noise_and_what_is_uncertain_is_doubtful():
    unseen = truth_of(labels(change(), visible="no"))
    assert unseen.changes == () and unseen.noise == ("faint: moved position",) and not unseen.doubtful
    doubtful = truth_of(labels(change(), visible="uncertain"))
    assert len(doubtful.changes) == 1 and doubtful.doubtful


@pytest.mark.parametrize(
    ("kind", "word", "element", "wanted"),
    [
        ("resized", "height", "page", "canvas"),
        ("resized", "height", "button", "height"),
        ("added", "number", "button", "element"),
        ("added", "wording", "button", "text"),
        ("restyled", "font", "text", "face"),
        ("restyled", "never heard of", "text", ""),
    ],
)
def test_a_free_word_becomes_the_finer_word_of_its_kind(kind, word, element, wanted):
    assert aspect_of(kind, word, element) == wanted


def test_sizes_that_are_not_told_are_those_that_the_boxes_reach():
    bare = {"changes": [change(box_after=None, kind="removed")], "visible_change": "yes"}
    truth = truth_of(bare)
    assert (truth.size_before, truth.size_after) == ((12, 9), (1, 1))


def test_the_world_of_screens_knows_the_truth_of_labelled_records(tmp_path):
    paths = tmp_path / "a.png", tmp_path / "b.png"
    record = PairRecord("ui_train", "ab", "ab", "train", "pair_caption", *paths, extra=labels(change()))
    world = world_of("ui_train", tmp_path)
    assert world is not None and world.name == "screens"
    truth = world.truth.read(tmp_path, [record])["ab"]
    assert truth == truth_of(labels(change())) and world.truth.kind_of(truth) == "moved"


def test_nearly_all_published_labels_have_a_name_in_the_world():
    counts = Counter()
    for line in LABELS.read_text(encoding="utf-8").splitlines():
        for one in json.loads(line)["changes"]:
            counts["all"] += 1
            counts["element"] += element_of(one["element"]) in ELEMENTS
            counts["aspect"] += bool(aspect_of(one["kind"], one["aspect"], one["element"]))
    assert counts["element"] >= 0.99 * counts["all"]
    assert counts["aspect"] >= 0.93 * counts["all"]
