import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.pair_records import pair_record

from whatchanged.errors import PredictionsError
from whatchanged.evaluation.io.predictions import Prediction, aligned, lacking_file, made_by, read_predictions


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
        (" \n", "the file is empty"),
        ("[]", "the list is empty"),
        ('{"id": "1", "caption": "a"}\n{"id": "2"', "line 2, column 11: not JSON"),
        ('{"id": "1"\n{"id": "2", "caption": "a"}', "line 1, column 11: not JSON"),
        ('[{"image_id": "1",\n "caption": "a"},\n {"image_id" 2}]', "line 3, column 14: not JSON"),
        ('[{"image_id": "1", "caption": "a"}]\n\n[]', "line 3: not JSON: something follows"),
        ("before,after\na.png,b.png", "line 1: not JSON. JSON or JSON Lines"),
        ("[" * 100_000, "not JSON"),
        ('{"id": "1", "caption": "a", "no_change": ' + "9" * 5000 + "}", "not JSON"),
        ('["a"]', "entry 1: an object is wanted, this is"),
        ('{"model": "x"}', "neither 'id', 'image_id' nor 'ImgId': .* Known: .*COCO results.*PCL"),
        ('{"id": "1"}', "pair 1 has neither a caption nor an error"),
        ('{"id": "1", "caption": ["a"]}', "pair 1 has neither"),
        ('{"id": null, "caption": "a"}', "'id' should be the id of a pair, not null"),
        ('{"id": "1", "caption": "a", "no_change": 1.5}', "should be a probability .* not 1.5"),
        ('{"id": "1", "caption": "a", "no_change": NaN}', "should be a probability"),
        ('{"id": "1", "caption": "\\ud800"}', "half a surrogate pair"),
        ('{"id": "\\ud800", "caption": "a"}', "should be the id"),
        ('{"id": "1", "caption": "a"}\n' * 2, r"1 id \(first: 1\): more than one line"),
        ('{"ImgId": "a_b", "candidates": ["a cube", "a ball"]}', "2 candidates where one is scored"),
        ('{"ImgId": "a_b", "candidates": []}', "'candidates' should be one sentence"),
        # references where predictions are wanted
        ('{"img1": "a", "img2": "b", "sentences": ["c"]}', "line 1: .*look like references.* come first"),
        ('{"id": "1", "before": "a", "after": "b", "captions": ["c"]}', "look like references"),
        ('{"annotations": [{"image_id": "1", "caption": "a"}]}', "look like references"),
        ('{"CLEVR_default_000000.png": ["the cube moved"]}', "look like references"),
        ('[{"img_id": "256", "sentences": ["the car is gone"]}]', "entry 1: .*look like references"),
    ],
)
def test_what_cannot_be_read(tmp_path, text, message):
    (tmp_path / "out.jsonl").write_text(text)
    with pytest.raises(PredictionsError, match=message):
        read_predictions(tmp_path / "out.jsonl")


def test_coco_results(tmp_path):
    path = tmp_path / "results.json"
    entries = [{"image_id": "000001.png_n", "caption": "é"}, {"caption": "the cube moved", "image_id": 7}]
    for indent in (None, 2):
        path.write_text("\ufeff" + json.dumps(entries, indent=indent), encoding="utf-8")
        assert read_predictions(path) == (
            Prediction("000001.png_n", "é"),
            Prediction("7", "the cube moved"),
        )


def test_both_files_of_a_run(tmp_path):
    (tmp_path / "sc_results.json").write_text('[{"image_id": "000123.png", "caption": "the cube moved"}]')
    assert [p.pair_id for p in read_predictions(tmp_path)] == ["000123.png"]
    assert lacking_file(tmp_path) == "nsc_results.json"
    (tmp_path / "nsc_results.json").write_text('[{"image_id": "000123.png_n", "caption": "no change"}]')
    assert [p.pair_id for p in read_predictions(tmp_path)] == ["000123.png", "000123.png_n"]
    assert lacking_file(tmp_path) is None and lacking_file(tmp_path / "sc_results.json") is None
    (tmp_path / "nsc_results.json").write_text('[{"image_id": "000123.png", "caption": "no change"}]')
    with pytest.raises(PredictionsError, match=r"1 id \(first: 000123.png\)"):
        read_predictions(tmp_path)


def test_a_folder_that_is_no_run(tmp_path):
    with pytest.raises(PredictionsError, match=r"a folder of predictions contains .*; this one does not"):
        read_predictions(tmp_path)
    (tmp_path / "splits.json").write_text("{}")
    with pytest.raises(PredictionsError, match="looks like a data set: the predictions come first"):
        read_predictions(tmp_path)


def test_pcl_results(tmp_path):
    path = tmp_path / "result.json"
    lines = [
        {
            "ImgId": "CLEVR_default_000123.png_CLEVR_semantic_000123.png",
            "candidates": ["the cube moved to the left"],
        },
        {
            "ImgId": "CLEVR_default_000123.png_CLEVR_nonsemantic_000123.png",
            "candidates": ["there", "is", "no", "change"],
        },
        {"ImgId": "647514_5595152", "candidates": [["animal1", "is", "red"]]},
        {"ImgId": "a_b", "candidates": [""]},
        {"ImgId": "CLEVR_default_000001.png_CLEVR_semantic_000002.png", "candidates": ["gone"]},
    ]
    path.write_text("\n".join(map(json.dumps, lines)))
    assert read_predictions(path) == (
        Prediction("000123.png", "the cube moved to the left"),
        Prediction("000123.png_n", "there is no change"),
        Prediction("647514_5595152", "animal1 is red"),
        Prediction("a_b", ""),
        Prediction("CLEVR_default_000001.png_CLEVR_semantic_000002.png", "gone"),
    )


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(
                    st.sampled_from(
                        ["id", "image_id", "ImgId", "caption", "candidates", "error", "no_change"]
                    ),
                    inner,
                )
            ),
            max_leaves=8,
        ),
        max_size=3,
    ),
    st.booleans(),
    st.integers(0, 5),
)
def test_any_json_is_read_or_refused(tmp_path, values, lines, cut):
    text = "\n".join(map(json.dumps, values)) if lines else json.dumps(values)
    (tmp_path / "any").write_text(text[: len(text) - cut])
    try:
        read = read_predictions(tmp_path / "any")
    except PredictionsError as error:
        assert str(tmp_path) in str(error)
    else:
        assert len(read) == len(values)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(PredictionsError, match="cannot be read"):
        read_predictions(tmp_path / "out.jsonl")


def test_order_follows_the_references():
    predictions = [Prediction("2", "b"), Prediction("9", "z"), Prediction("1", "a")]
    got = aligned(predictions, [pair_record("1"), pair_record("2")], others=[pair_record("9")])
    assert [p.caption for p in got] == ["a", "b"]


def test_nothing_is_intersected_in_silence():
    one = [Prediction("1", "a")]
    with pytest.raises(PredictionsError, match=r"3 pairs \(first: 2, 3, 4\): no prediction"):
        aligned(one, [pair_record(i) for i in "1234"])
    with pytest.raises(PredictionsError, match=r"1 prediction \(first: 1\): no such id"):
        aligned(one, [])
    with pytest.raises(PredictionsError, match=r"1 pair \(first: 1\): no references"):
        aligned(one, [pair_record("1", ())])


def test_failed_pairs_are_refused_unless_asked_for():
    failed = [Prediction("1", error="gone")]
    with pytest.raises(
        PredictionsError, match=r"1 pair \(first: 1\): failed .*--force, or pass --failed-as-empty"
    ):
        aligned(failed, [pair_record("1")])
    assert aligned(failed, [pair_record("1")], failed_as_empty=True)[0].caption == ""
    both = aligned(failed, [pair_record("1"), pair_record("2")], failed_as_empty=True)
    assert [(p.pair_id, p.error) for p in both] == [("1", "gone"), ("2", "no prediction")]


# Who made them, where several models may answer

MODELS = {
    "models": [{"name": "scenes", "version": "3"}, {"name": "screens", "version": "4"}],
    "thresholds": {"scenes": 0.4, "screens": 0.6, "measured": 0.54},
    "beams": 1,
    "whatchanged": "9",
}


@pytest.mark.parametrize(
    ("answers", "name", "version", "threshold"),
    [
        (["scenes", "scenes"], "scenes", "3", 0.4),
        (["measured"], "measured", "9", 0.54),
        (["screens", "measured", "screens"], "measured and screens", "9", None),
        (["unheard of"], None, None, None),
    ],
)
def test_the_model_that_answered_is_found_in_the_note(tmp_path, answers, name, version, threshold):
    path = tmp_path / "out.jsonl"
    lines = [{"id": str(i), "caption": "x", "answer": answer} for i, answer in enumerate(answers)]
    path.write_text("\n".join(map(json.dumps, lines)))
    path.with_name("out.jsonl.meta.json").write_text(json.dumps(MODELS))
    results = made_by(path, read_predictions(path))
    if name is None:
        assert results is None
    else:
        assert results == {"model": {"name": name, "version": version}, "beams": 1, "threshold": threshold}
