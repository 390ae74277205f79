from pathlib import Path

import pytest

from whatchanged.errors import PredictionsError
from whatchanged.evaluation.predictions import Prediction, aligned, read_predictions
from whatchanged.records import PairRecord


def record(name, captions=("a",)):
    return PairRecord("plain", name, name, "test", "pair_caption", Path("a"), Path("b"), captions)


def test_lines_as_the_captioner_writes_them(tmp_path):
    path = tmp_path / "out.jsonl"
    path.write_text(
        '{"id": "1", "caption": "é moved", "no_change": 0.25}\n\n'
        '{"id": "2", "error": "b.png: missing"}\n{"id": "3", "caption": "", "no_change": null}'
    )
    assert read_predictions(path) == (
        Prediction("1", "é moved", 0.25),
        Prediction("2", error="b.png: missing"),
        Prediction("3", ""),
    )


@pytest.mark.parametrize(
    "text, message",
    [
        ("", "the file is empty"),
        ('{"id": "1", "caption": "a"}\n{"id": "2"', "line 2: not JSON"),
        (
            '{"img1": "a", "img2": "b", "sentences": ["c"]}',
            'line 1: {"id": "...", "caption": "..."} is wanted',
        ),
        ('["a"]', "is wanted, this is"),
        ('{"id": "1"}', "pair 1 has neither a caption nor an error"),
        ('{"id": "1", "caption": ["a"]}', "pair 1 has neither"),
        ('{"id": "1", "caption": "a", "no_change": 1.5}', "should be a probability .* not 1.5"),
        ('{"id": "1", "caption": "a", "no_change": NaN}', "should be a probability"),
        ('{"id": "1", "caption": "a"}\n' * 2, r"1 id \(first: 1\): more than one line"),
    ],
)
def test_what_cannot_be_read(tmp_path, text, message):
    (tmp_path / "out.jsonl").write_text(text)
    with pytest.raises(PredictionsError, match=message):
        read_predictions(tmp_path / "out.jsonl")


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(PredictionsError, match="cannot be read"):
        read_predictions(tmp_path / "out.jsonl")


def test_order_follows_the_references():
    predictions = [Prediction("2", "b"), Prediction("9", "z"), Prediction("1", "a")]
    got = aligned(predictions, [record("1"), record("2")], others=["9"])
    assert [p.caption for p in got] == ["a", "b"]


def test_nothing_is_intersected_in_silence():
    one = [Prediction("1", "a")]
    with pytest.raises(PredictionsError, match=r"3 pairs \(first: 2, 3, 4\): no prediction"):
        aligned(one, [record(i) for i in "1234"])
    with pytest.raises(PredictionsError, match=r"1 prediction \(first: 1\): no such id"):
        aligned(one, [])
    with pytest.raises(PredictionsError, match=r"1 pair \(first: 1\): no references"):
        aligned(one, [record("1", ())])


def test_failed_pairs_are_refused_unless_told():
    failed = [Prediction("1", error="gone")]
    with pytest.raises(PredictionsError, match=r"1 pair \(first: 1\): failed .*--failed-as-empty"):
        aligned(failed, [record("1")])
    assert aligned(failed, [record("1")], failed_as_empty=True)[0].caption == ""
