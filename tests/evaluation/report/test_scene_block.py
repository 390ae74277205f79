from dataclasses import replace

import pytest

from whatchanged.evaluation.io.predictions import Prediction
from whatchanged.evaluation.metrics.truth import Truths
from whatchanged.evaluation.report.report import make_report
from whatchanged.evaluation.report.scene_block import grade_titles, scene_block, scene_table, unread_sentences
from whatchanged.evaluation.report.scored import ReportSettings, score
from whatchanged.evaluation.report.tables import tables
from whatchanged.worlds import WORLDS, find_world


@pytest.fixture(scope="module")
def scored(sampled_scenes):
    """Ten scenes whose truth is known of five, all captions right but one that cannot be read."""
    records, truths, right = sampled_scenes(5, 10)
    known = Truths(truths.world, {i: truth for i, truth in truths.by_id.items() if i < "000005"})
    said = [Prediction(r.pair_id, text) for r, text in zip(records, ["a cat sat", *right[1:]], strict=True)]
    return score(records, said, ReportSettings(resamples=0), known)


def test_shares_have_counts_and_wilsons_intervals(scored):
    block = scene_block(scored)
    assert block["distractor"]["called_none"] == {
        "percent": 100,
        "low": pytest.approx(56.6, abs=0.1),
        "high": 100,
        "count": 5,
        "of": 5,
    }
    assert (block["semantic"]["true"]["count"], block["semantic"]["true"]["of"]) == (4, 5)
    assert list(block["types"]) == ["color", "material", "add", "drop", "move"]
    assert block["types"]["move"]["value_right"]["percent"] is None
    assert (block["without_truth"], block["unparsable"]["count"], block["unparsable"]["of"]) == (10, 1, 10)
    assert block["unparsable"]["sentences"] == [{"id": "000000.png", "caption": "a cat sat"}]


def test_the_table_has_a_column_for_each_grade(scored):
    title, rows = scene_table(scene_block(scored), grade_titles(make_report(scored)))
    assert title == "Against the scene (%, 95 % interval)"
    assert rows[0] == [
        "",
        "pairs",
        "type right",
        "new value right",
        "phrase fits",
        "phrase fits alone",
        "wholly true",
        "called no change",
    ]
    table = {row[0]: row[1:] for row in rows[1:]}
    assert table["distractor"] == ["5", "-", "-", "-", "-", "-", "100.0 (57-100)"]
    assert table["semantic"][:2] == ["5", "80.0 (38-96)"]


def test_sentences_that_cannot_be_read_stand_below_the_tables(scored):
    lines = unread_sentences(scene_block(scored))
    assert lines == ["Sentences that could not be read: 1 of 10.", "  000000.png: 'a cat sat'"]
    assert "\n".join(lines) in make_report(scored).table()


def test_unread_sentences_stand_apart_in_the_second_table(scored):
    """One of five changed pairs is unread: 4 of 5 true among all, 4 of 4 among those that were read."""
    block = scene_block(scored)
    assert (block["of_read"]["semantic"]["true"]["count"], block["of_read"]["semantic"]["true"]["of"]) == (
        4,
        4,
    )
    found = dict(tables(make_report(scored)))
    rows = {row[0]: row[1:] for row in found["Against the scene, of the sentences that could be read"]}
    assert rows["semantic"][0] == "4" and rows["semantic"][-2].startswith("100.0")


def test_without_truth_there_is_no_block(scored):
    assert scene_block(replace(scored, judged=None)) is None


@pytest.mark.parametrize("name", WORLDS)
def test_every_world_has_titles_for_its_own_grades_only(name):
    world = find_world(name)
    assert set(world.breakdown.grade_titles) <= set(world.breakdown.grades)


def test_a_stored_report_of_an_unknown_world_shows_the_names_of_its_grades(scored):
    stored = make_report(scored).to_dict()
    stored["signature"]["dataset"] = "elsewhere"
    rows = dict(tables(stored))["Against the scene (%, 95 % interval)"]
    assert rows[0][2:] == ["type right", "value right", "fits", "fits alone", "true", "called none"]
