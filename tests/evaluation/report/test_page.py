from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from whatchanged.captioner.attention import file_name, pack
from whatchanged.evaluation.io.maps import AttentionMaps, read_maps
from whatchanged.evaluation.io.predictions import Prediction
from whatchanged.evaluation.metrics.truth import Truths
from whatchanged.evaluation.report.page import report_page
from whatchanged.evaluation.report.report import make_report
from whatchanged.evaluation.report.scored import ReportSettings, score
from whatchanged.evaluation.report.signature import Origin
from whatchanged.page import Badge
from whatchanged.records import PairRecord
from whatchanged.worlds import Verdict, find_world

SETTINGS = ReportSettings(resamples=0)
BEFORE, AFTER = Path("/d/a.png"), Path("/d/b.png")


def record(pair_id, captions=("a",), before=BEFORE, after=AFTER, **other):
    return PairRecord("plain", pair_id, pair_id, "test", "pair_caption", before, after, captions, **other)


def page_of(scored):
    return report_page(make_report(scored), "t")


def judging(verdicts):
    """The truth of a world that passes these verdicts on the pairs, by id."""
    clevr = find_world("clevr")
    world = replace(
        clevr,
        breakdown=replace(clevr.breakdown, grades=("true",)),
        truth=replace(clevr.truth, kind_of=lambda truth: "add"),
        language=replace(clevr.language, judge=lambda sentence, truth: truth),
    )
    return Truths(world, verdicts)


@pytest.fixture
def judged_page():
    records = [
        record(
            "1", ("x", "y"), change_type="add", changed=True, boxes=(None, (1, 2, 3, 4)), viewpoint_iou=0.5
        ),
        record("2", viewpoint_iou=float("nan")),
        record("3"),
        record("4", ("a", "b")),
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
    return page_of(score(records, said, SETTINGS, truths))


def test_what_a_pair_shows(judged_page):
    first, second, third, fourth = judged_page.pairs
    assert (first.id, first.before, first.after) == ("1", BEFORE, AFTER)
    assert first.line == {"caption": "z", "error": None, "no_change": 0.25}
    assert first.references == ("x", "y") and first.tags == {"type": "add", "truth": "not true"}
    assert first.boxes == (None, (1, 2, 4, 6))
    assert first.badges == [Badge("add"), Badge("not true", "bad"), Badge("phrase does not fit", "bad")]
    assert first.facts == ["ROUGE-L 0.0", "CIDEr-D 0.0", "overlap of the views 0.50"]
    assert second.line["error"] == "gone" and second.tags == {} and len(second.facts) == 2
    assert third.badges == [Badge("unreadable", "doubt")]
    assert fourth.badges == [Badge("true", "good")] and fourth.facts[0] == "ROUGE-L 100.0"


def test_the_worst_come_first(judged_page):
    orders = judged_page.orders
    assert list(orders) == ["worst CIDEr-D first", "worst ROUGE-L first", "not true first"]
    assert orders["not true first"][:2] == [0, 2] and orders["not true first"][-1] == 1
    assert orders["worst ROUGE-L first"][-1] == 3
    assert all(sorted(places) == [0, 1, 2, 3] for places in orders.values())


def test_without_a_truth_nothing_is_said_of_it():
    page = page_of(score([record("1"), record("2")], [Prediction("1", "a"), Prediction("2", "a")], SETTINGS))
    assert list(page.orders) == ["worst CIDEr-D first", "worst ROUGE-L first"]
    assert all(pair.badges == [] and pair.tags == {} for pair in page.pairs)


def test_references_without_pictures():
    page = page_of(score([record("1", after=None)], [Prediction("1", "a")], SETTINGS))
    assert (page.pairs[0].before, page.pairs[0].after) == (None, None)


def test_maps_of_those_that_have_them():
    maps = AttentionMaps({"2": np.array([[[0, 0, 0]], [[0, 0.5, 1]]])}, (1, 3), "last", {})
    scored = score([record("1"), record("2")], [Prediction("1"), Prediction("2", "a")], SETTINGS, maps=maps)
    first, second = page_of(scored).pairs
    assert first.heatmaps is None and second.heatmaps is maps.of["2"]


def test_words_with_their_maps(tmp_path):
    maps = np.array([[[0, 0, 0]], [[0, 0.5, 1]]], np.float32)
    about = {"model": {"name": "m"}, "list": "x", "grid": [1, 3], "layer": "last"}
    (tmp_path / file_name(0)).write_bytes(pack({"2": [("a", maps)]}, about))
    records, said = [record("1"), record("2")], [Prediction("1", ""), Prediction("2", "a")]
    scored = score(records, said, SETTINGS, maps=read_maps(tmp_path, records, said))
    first, second = page_of(scored).pairs
    ((word, own),) = second.words
    assert first.words == [] and word == "a" and np.array_equal(own, maps)


def test_tables_and_small_print():
    page = page_of(score([record("1")], [Prediction("1", "a")], SETTINGS))
    title, rows = page.tables[0]
    assert title.startswith("Against the references") and rows[1][:2] == ["overall", "1"]
    assert any("whatchanged" in note for note in page.notes)


def test_two_systems_stand_side_by_side():
    records = [record("1", ("the red cube moved",)), record("2", ("a ball is gone",)), record("3", ("same",))]
    one = ["the red cube moved", "a ball is gone", "same"]
    other = ["the blue cube moved away", "a ball is gone", ""]
    scored, beside = (
        score(records, [Prediction(r.pair_id, c) for r, c in zip(records, own, strict=True)], SETTINGS)
        for own in (one, other)
    )
    origin = Origin(others=[{"file": "b.jsonl", "made_by": None}])
    page = report_page(make_report(scored, beside, origin=origin), "t")
    first, second, third = page.pairs
    assert [one.name for one in first.captions] == ["A", "B (b.jsonl)"]
    assert first.captions[0].parts == [("the", False), ("red", True), ("cube moved", False)]
    assert first.captions[1].parts == [("the", False), ("blue", True), ("cube moved", False), ("away", True)]
    assert first.captions[0].facts[0] == "ROUGE-L 100.0" and third.captions[1].parts == []
    assert first.facts == [] and first.tags["systems"] == "differ"
    assert (
        second.captions[0].parts == [("a ball is gone", False)] and second.tags["systems"] == "say the same"
    )
    assert next(iter(page.orders)) == "systems differ most first"
    assert list(page.orders["systems differ most first"]) == [0, 2, 1]


def test_three_seeds_are_all_shown():
    records = [record("1", ("a b c",)), record("2", ("d e f",))]
    runs = [
        score(records, [Prediction("1", said), Prediction("2", "d e f")], SETTINGS)
        for said in ("a b c", "a x c", "a b y")
    ]
    page = report_page(make_report(runs[0], seeds=runs[1:]), "t")
    assert [one.name for one in page.pairs[0].captions] == ["A", "B", "C"]
    assert page.pairs[0].captions[0].parts == [("a", False), ("b c", True)]
    assert page.pairs[0].captions[1].parts == [("a", False), ("x c", True)]
