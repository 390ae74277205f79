import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from whatchanged.evaluation.io.maps import AttentionMaps
from whatchanged.evaluation.io.predictions import Prediction
from whatchanged.evaluation.metrics.truth import Truths
from whatchanged.evaluation.report.page_data import packed, page_data
from whatchanged.evaluation.report.scored import Settings, score
from whatchanged.records import PairRecord
from whatchanged.worlds import Verdict, find_world

SETTINGS = Settings(resamples=0)
FOLDER = Path("/d/out")


def record(pair_id, captions=("a",), before=Path("/d/a b#1.png"), after=Path("/d/b.png"), **other):
    return PairRecord("plain", pair_id, pair_id, "test", "pair_caption", before, after, captions, **other)


def pairs_of(scored):
    return page_data(scored, FOLDER)["pairs"]


def test_pictures_by_relative_path():
    records = [record("1"), record("2", before=Path("/d/javascript:x.png")), record("3", after=None)]
    found = pairs_of(score(records, [Prediction(r.pair_id, "a") for r in records], SETTINGS))
    assert found[0]["pictures"] == ["../a%20b%231.png", "../b.png"]
    assert found[1]["pictures"][0] == "../javascript%3Ax.png"
    assert "pictures" not in found[2]


def judging(verdicts):
    """The truth of a world that passes these verdicts on the pairs, by id."""
    world = replace(
        find_world("clevr"),
        grades=("true",),
        kind_of=lambda truth: "add",
        judge=lambda sentence, truth: truth,
    )
    return Truths(world, verdicts)


def test_what_a_pair_shows():
    records = [
        record(
            "1", ("x", "y"), change_type="add", changed=True, boxes=(None, (1, 2, 3, 4)), viewpoint_iou=0.5
        ),
        record("2", viewpoint_iou=float("nan"), boxes=((0, 0, float("inf"), 1), None)),
        record("3"),
        record("4"),
    ]
    said = [
        Prediction("1", "z", 0.25),
        Prediction("2", error="gone"),
        Prediction("3", "c"),
        Prediction("4", "a"),
    ]
    grades = {"true": False}
    truths = judging(
        {
            "1": Verdict(True, False, False, grades, "phrase does not fit"),
            "3": Verdict(False, False, False, grades),
            "4": Verdict(True, False, True, {"true": True}),
        }
    )
    first, second, third, fourth = pairs_of(score(records, said, SETTINGS, truths))
    assert first == {
        "id": "1",
        "type": "add",
        "caption": "z",
        "error": None,
        "no_change": 0.25,
        "references": ("x", "y"),
        "overlap": 0.5,
        "grade": "false",
        "faults": ["phrase does not fit"],
        "pictures": ["../a%20b%231.png", "../b.png"],
        "boxes": [None, (1, 2, 3, 4)],
        "rouge": 0.0,
        "cider": 0.0,
    }
    assert (second["error"], second["caption"], second["grade"]) == ("gone", "", None)
    assert second["overlap"] is None and "boxes" not in second
    assert (third["grade"], third["faults"]) == ("unread", [])
    assert (fourth["grade"], fourth["faults"], fourth["rouge"]) == ("true", [], 100)


def test_maps_of_those_that_have_them():
    maps = AttentionMaps({"2": np.array([[[0, 0, 0]], [[0, 0.5, 1]]])}, (1, 3), "last", {})
    records = [record("1"), record("2")]
    data = page_data(score(records, [Prediction("1"), Prediction("2", "a")], SETTINGS, maps=maps), FOLDER)
    first, second = data["pairs"]
    assert "heat" not in first and second["heat"] == ["a3", "aip"]
    assert data["grid"] == [1, 3] and len(data["colors"]) == 16


@given(arrays(np.float32, (2, 3, 4), elements=st.floats(0, 1, width=32)))
def test_packed_maps_unpack(maps):
    top = maps.max()
    for code, wanted in zip(packed(maps), maps, strict=True):
        runs = re.findall(r"([a-p])(\d*)", code)
        levels = [ord(letter) - 97 for letter, count in runs for _ in range(int(count or 1))]
        assert len(levels) == wanted.size
        if top > 0:
            assert np.abs(np.array(levels) / 15 - wanted.ravel() / top).max() <= 1 / 30 + 1e-6


def test_scores_are_those_of_the_record():
    records = [record("1", ("the cube moved",)), record("2", ("there is no change",))]
    said = [Prediction("1", "the cube has moved"), Prediction("2", "no change")]
    scored = score(records, said, SETTINGS)
    found = pairs_of(scored)
    assert [pair["rouge"] for pair in found] == pytest.approx(100 * scored.captions.rouge, abs=0.005)
    assert [pair["cider"] for pair in found] == pytest.approx(100 * scored.captions.cider, abs=0.005)
