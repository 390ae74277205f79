"""Files of the field in which the id of the pair is the key, and tables; written for these tests."""

import json

import pytest

from whatchanged.errors import PredictionsError
from whatchanged.evaluation import evaluate
from whatchanged.evaluation.io.predictions import Prediction, read_predictions
from whatchanged.evaluation.io.references import open_references

SAID = {"test_1.png": "a road was built", "test_2.png": "same"}
FORMS = {
    "sentence": lambda own: own[0],
    "list": lambda own: list(own),
    "captions": lambda own: [{"image_id": 7, "id": i, "caption": text} for i, text in enumerate(own)],
}


@pytest.mark.parametrize("form", FORMS)
def test_both_sides_are_read_by_id(tmp_path, form):
    path = tmp_path / "best_eval_pred.json"
    path.write_text(json.dumps({name: FORMS[form]([text]) for name, text in SAID.items()}, indent=1))
    assert read_predictions(path) == tuple(Prediction(*one) for one in SAID.items())
    assert {r.pair_id: r.captions for r in open_references(path).records} == {
        name: (text,) for name, text in SAID.items()
    }


def test_several_references_and_the_marks_of_distractors(tmp_path):
    gts = {"000028.png": ["the cube moved", "the block moved"], "000028.png_n": ["no change"]}
    path = tmp_path / "test_gts.json"
    path.write_text(json.dumps(gts))
    found = open_references(path)
    assert [(r.pair_id, r.captions, r.changed) for r in found.records] == [
        ("000028.png", ("the cube moved", "the block moved"), True),
        ("000028.png_n", ("no change",), False),
    ]
    with pytest.raises(PredictionsError, match=r"1 of 2 pairs have several sentences .*like references"):
        read_predictions(path)


@pytest.mark.parametrize("form", FORMS)
def test_python_takes_what_pycocoevalcap_takes(form):
    gts = {1: ["a road was built", "one more road"], 2: ["same as before"]}
    res = {1: "a road was built", 2: "same"}
    wanted = evaluate({str(i): c for i, c in res.items()}, {str(i): c for i, c in gts.items()}, resamples=0)
    listed = FORMS["list" if form == "sentence" else form]
    got = evaluate(
        {i: FORMS[form]([text]) for i, text in res.items()},
        {i: listed(own) for i, own in gts.items()},
        resamples=0,
    )
    assert got["overall"] == wanted["overall"]
    with pytest.raises(PredictionsError, match="prediction of pair 1 should be a sentence"):
        evaluate(gts, gts)


def test_one_reference_may_be_a_bare_sentence():
    assert evaluate({"a": "it moved"}, {"a": "it moved"}, resamples=0)["overall"]["ROUGE-L"] == 100


def test_tables(tmp_path):
    path = tmp_path / "out.csv"
    path.write_text('id,caption\n1,"gone, too"\n2,same\n')
    assert read_predictions(path) == (Prediction("1", "gone, too"), Prediction("2", "same"))
    path.write_text("caption,image_id\na b,1\nc d,1\ne f,2\n")
    assert [(r.pair_id, r.captions) for r in open_references(path).records] == [
        ("1", ("a b", "c d")),
        ("2", ("e f",)),
    ]


def test_a_sentence_a_line_follows_the_references(tmp_path):
    path = tmp_path / "out.txt"
    path.write_text("it moved\n\nsame\n")
    assert read_predictions(path, ["b", "a", "c"]) == (
        Prediction("b", "it moved"),
        Prediction("a", ""),
        Prediction("c", "same"),
    )
    with pytest.raises(PredictionsError, match="3 lines, but 2 pairs in the references"):
        read_predictions(path, ["b", "a"])
    with pytest.raises(PredictionsError, match="names no pairs"):
        read_predictions(path)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.json", '{"1": ["a b"], "1": ["c d"]}', "the id 1 occurs more than once"),
        ("a.json", '{"1": "\\ud800 b"}', "half a surrogate pair"),
        ("a.json", '{"1": ["a b"], "2": []}', "pair 2 has no sentence"),
        ("a.json", '{"1": "a b", "2": 7}', "neither 'id'"),
        ("a.json", '{"name": "x", "version": "3"}', "neither 'id'"),
        ("a.csv", "image,caption\n1,a b\n", "has the columns id and caption; its first line names image"),
        ("a.csv", "id,caption\n1,gone, too\n", "line 2: an id and a caption are wanted"),
        ("a.csv", "id,caption\n1,same\n1,same\n", r"1 id \(first: 1\): more than one line"),
        ("a.csv", 'id,caption\n1,"same\n', "not a table in CSV"),
    ],
)
def test_what_cannot_be_read(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(PredictionsError, match=message):
        read_predictions(tmp_path / name)


def test_the_raw_files_of_clevr_change_are_no_mapping(tmp_path):
    path = tmp_path / "change_captions.json"
    path.write_text('{"CLEVR_default_000000.png": ["the cube moved", "a cube moved"]}')
    with pytest.raises(PredictionsError, match="no known format"):
        open_references(path)
