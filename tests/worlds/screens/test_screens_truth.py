"""The truth of drawn pairs: written, read, seen from the other side."""

import json

import pytest
from hypothesis import given, settings
from support.strategies import truths

from whatchanged.errors import DatasetError
from whatchanged.worlds.screens.truth import (
    Motion,
    ScreenChange,
    ScreenTruth,
    from_json,
    has_truth,
    read_truths,
    to_json,
)

BUTTON = ScreenChange(
    kind="recolored",
    element="button",
    name="Save",
    box_before=(10, 20, 60, 40),
    box_after=(10, 25, 60, 45),
    values={"aspect": "fill", "color_before": "#1a73e8", "color_after": "#0b8043", "dx": 0, "dy": 5},
    consequences=(Motion((0, 50, 90, 80), (0, 55, 90, 85)),),
)
TRUTH = ScreenTruth((BUTTON,), ("jpeg 94",), (100, 90), (100, 95), "pages", {"library": "bulma"})


@settings(max_examples=30)
@given(truths())
def test_what_is_written_is_read(truth):
    assert from_json(json.loads(json.dumps(to_json(truth))), "here") == truth


@settings(max_examples=30)
@given(truths())
def test_seen_twice_from_the_other_side_it_is_the_same(truth):
    assert truth.reversed().reversed() == truth


def test_the_other_side():
    turned = TRUTH.reversed()
    (change,) = turned.changes
    assert (turned.size_before, turned.size_after) == ((100, 95), (100, 90))
    assert (change.kind, change.box_before, change.box_after) == (
        "recolored",
        (10, 25, 60, 45),
        (10, 20, 60, 40),
    )
    assert dict(change.values) == {
        "aspect": "fill",
        "color_before": "#0b8043",
        "color_after": "#1a73e8",
        "dx": 0,
        "dy": -5,
    }
    assert change.consequences[0].step == (0, -5)


@pytest.mark.parametrize(("kind", "other"), [("added", "removed"), ("removed", "added"), ("moved", "moved")])
def test_what_came_has_gone_on_the_other_side(kind, other):
    assert ScreenChange(kind, "icon", "", (0, 0, 1, 1), None).reversed().kind == other


def lines(tmp_path, *changed):
    """A drawn set of one pair, its line changed."""
    (tmp_path / "drawing.json").write_text("{}", encoding="utf-8")
    line = {"id": "a", "before": "a.png", "after": "b.png", **to_json(TRUTH)}
    for path, value in changed:
        at = line
        for step in path[:-1]:
            at = at[step]
        if value is None:
            del at[path[-1]]
        else:
            at[path[-1]] = value
    (tmp_path / "pairs.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
    return tmp_path


def test_a_set_is_known_by_its_folder_and_its_list(tmp_path):
    folder = lines(tmp_path)
    assert has_truth(folder) and has_truth(folder / "pairs.jsonl")
    assert dict(read_truths(folder)) == {"a": TRUTH}
    (folder / "drawing.json").unlink()
    assert not has_truth(folder)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("changes", 0, "kind"), "painted", "'painted' is no kind of change; they are added"),
        (("changes", 0, "box_after"), [5, 5, 5, 9], r"\[5, 5, 5, 9\] is no box"),
        (("changes", 0, "box_after"), [0.5, 1, 5, 9], "0.5 is not a whole number"),
        (("changes", 0, "values"), {"dx": [1]}, "neither text nor a number"),
        (("changes", 0, "element"), None, "needs 'element'"),
        (("changes",), 3, "not the truth of a drawn pair"),
        (("noise",), None, "needs 'noise'"),
    ],
)
def test_damage_is_told_by_its_line(tmp_path, path, value, message):
    folder = lines(tmp_path, (path, value))
    with pytest.raises(DatasetError, match=f"pairs.jsonl, line 1: .*{message}"):
        dict(read_truths(folder))


def test_a_line_that_is_no_json_is_told(tmp_path):
    folder = lines(tmp_path)
    (folder / "pairs.jsonl").write_text("{\n", encoding="utf-8")
    with pytest.raises(DatasetError, match="line 1: not JSON"):
        dict(read_truths(folder))


@pytest.mark.parametrize(
    ("where", "value"),
    [
        (("size_before",), [0, 90]),
        (("size_after",), [10**300, 90]),
        (("changes", 0, "values", "color_before"), "#xyzxyz"),
        (("changes", 0, "values", "color_after"), "red"),
        (("changes", 0, "values", "dx"), float("nan")),
        (("changes", 0, "values", "dy"), 10**300),
        (("changes", 0, "box_after"), [0, 0, 10**300, 10]),
        (("design", "scale"), float("inf")),
    ],
)
def test_numbers_and_colours_that_nobody_can_judge_by_are_refused(where, value):
    line = json.loads(json.dumps(to_json(TRUTH)))
    place = line
    for key in where[:-1]:
        place = place[key]
    place[where[-1]] = value
    with pytest.raises(DatasetError, match="here: not the truth of a drawn pair"):
        from_json(line, "here")
