"""Scoring from Python: the same numbers as from files, and what is refused."""

import doctest
import importlib
import json
import subprocess
import sys
from dataclasses import replace

import pytest

from whatchanged.datasets import Dataset, DatasetReport, open_dataset
from whatchanged.errors import PredictionsError
from whatchanged.evaluation import Report, evaluate
from whatchanged.evaluation.report.from_files import References, Systems, report_from_files
from whatchanged.evaluation.report.scored import ReportSettings
from whatchanged.synth.clevr.sampling import sample_triple
from whatchanged.synth.clevr.truth import triple_entries

CAPTIONS = ["the red cube has moved", "nothing has changed", "a ball is gone"]
REFERENCES = [
    ["the red cube moved", "someone moved the cube"],
    ["there is no change"],
    ["the ball has disappeared", "the ball is gone"],
]


@pytest.mark.parametrize(
    "name",
    ["evaluation", "evaluation.report.from_captions", "evaluation.report.report"],
)
def test_the_examples_in_the_documentation(name):
    failed, attempted = doctest.testmod(importlib.import_module(f"whatchanged.{name}"))
    assert attempted > 0 and failed == 0


def without_origin(report):
    """All but the signature's notes on where references come from."""
    found = report.to_dict()
    for key in ("dataset", "split", "protocol"):
        found["signature"].pop(key)
    return found


def test_the_report_is_the_one_of_the_same_captions_on_disk(tmp_path):
    predictions, references = tmp_path / "out.jsonl", tmp_path / "references.jsonl"
    lines = [{"id": str(i), "caption": text, "no_change": 0.5} for i, text in enumerate(CAPTIONS)]
    predictions.write_text("\n".join(map(json.dumps, lines)))
    lines = [{"id": str(i), "captions": own} for i, own in enumerate(REFERENCES)]
    references.write_text("\n".join(map(json.dumps, lines)))
    wanted = report_from_files(Systems(predictions), References(references), ReportSettings(resamples=50))
    got = evaluate(CAPTIONS, REFERENCES, no_change=[0.5] * 3, resamples=50)
    assert isinstance(got, Report) and without_origin(got) == without_origin(wanted)


def test_every_form_of_references_gives_the_same_numbers(tmp_path):
    folder = tmp_path / "pairs.jsonl"
    rows = [
        {"id": f"p{i}", "before": "a.png", "after": "b.png", "captions": own}
        for i, own in enumerate(REFERENCES)
    ]
    folder.write_text("\n".join(map(json.dumps, rows)))
    dataset = open_dataset(folder, pictures=False)
    wanted = evaluate(CAPTIONS, REFERENCES)
    by_id = {f"p{i}": text for i, text in enumerate(CAPTIONS)}
    sentences = {f"p{i}": own for i, own in reversed(list(enumerate(REFERENCES)))}
    for predictions, references in (
        (CAPTIONS, dataset),
        (CAPTIONS, dataset.records),
        (by_id, dataset),
        (by_id, sentences),
    ):
        report = evaluate(predictions, references)
        for metric, value in wanted["overall"].items():
            assert report["overall"][metric] == (value and pytest.approx(value, rel=1e-12))


def test_a_drawn_data_set_has_its_sentences_judged(sampled_scenes, tmp_path):
    records, _, right = sampled_scenes(1, 2)
    entries = [triple_entries(sample_triple(1, i)) for i in range(2)]
    (tmp_path / "scenes.json").write_text(json.dumps({"scenes": [e for own, _ in entries for e in own]}))
    (tmp_path / "pairs.json").write_text(json.dumps([pair for _, pair in entries]))
    records = [replace(record, split="val") for record in records]
    report = evaluate(right, Dataset("clevr_change", tmp_path, tuple(records), DatasetReport()), resamples=0)
    assert report["scene"]["semantic"]["true"]["percent"] == 100
    assert report["scene"]["distractor"]["called_none"]["count"] == 2
    assert list(report["types"]) == ["color", "material"]
    assert report["signature"]["dataset"] == "clevr_change" and report["signature"]["split"] == "val"
    assert "wholly true" in report.table()


def test_choices_are_passed_on():
    plain = evaluate(["The cube"], [["the cube"]], tokenizer="plain", resamples=0)
    assert plain["overall"]["BLEU-1"] == pytest.approx(50) and plain["intervals"] == {}
    corpus = evaluate(CAPTIONS, REFERENCES, document_frequencies="corpus", resamples=0)
    assert corpus["signature"]["document_frequencies"] == "corpus"
    pairs = {"1.png": ["the cube moved"], "1.png_n": ["there is no change"]}
    said = {name: own[0] for name, own in pairs.items()}
    for threshold, recall in ((0.5, 100), (0.1, 0)):
        report = evaluate(said, pairs, no_change={"1.png": 0.2, "1.png_n": 0.9}, threshold=threshold)
        assert report["no_change"]["recall"] == recall


@pytest.mark.parametrize(
    "predictions, references, options, message",
    [
        (CAPTIONS[:2], REFERENCES, {}, "2 predictions but 3 pairs in the references: give one for each pair"),
        ([], [], {}, "no pairs to score"),
        ({}, {}, {}, "No pairs to score"),
        ("the cube", REFERENCES, {}, "this is one text"),
        (["a", None, "b"], REFERENCES, {}, "prediction of pair 1 should be a sentence, not None"),
        (CAPTIONS, ["a b", "c", "d"], {}, "references of pair 0 should be a list of sentences, not 'a b'"),
        (CAPTIONS, [["a"], [3], ["b"]], {}, r"references of pair 1 should be a list of sentences, not \[3\]"),
        (CAPTIONS, [["a"], [], ["b"]], {}, r"1 pair \(first: 1\): no references"),
        ({"a": "x"}, [["x"]], {}, "Give both by id, or both in order"),
        ({"a": "x"}, {"b": ["x"]}, {}, r"1 prediction \(first: a\): no such id"),
        ({"a": "x"}, {"a": ["x"], "b": ["y"]}, {}, r"1 pair \(first: b\): no prediction"),
        (CAPTIONS, REFERENCES, {"tokenizer": "moses"}, "There is no tokenizer 'moses'. Known: ptb, plain"),
        (CAPTIONS, REFERENCES, {"document_frequencies": "all"}, "no document_frequencies 'all'"),
        (CAPTIONS, REFERENCES, {"threshold": 2}, "threshold should be a probability"),
        (CAPTIONS, REFERENCES, {"resamples": -1}, "resamples should be 0 or more, not -1"),
        (CAPTIONS, REFERENCES, {"no_change": [0.5]}, "1 no_change but 3 pairs"),
        (CAPTIONS, REFERENCES, {"no_change": [0.5, 2, 0]}, r"should be a probability \(0 to 1\), not 2"),
        (
            CAPTIONS,
            REFERENCES,
            {"no_change": [0.5, None, 0]},
            r"should be a probability \(0 to 1\), not None",
        ),
        (CAPTIONS, REFERENCES, {"no_change": {"7": 0.5}}, "pair 7, which has no prediction"),
    ],
)
def test_what_does_not_fit_is_refused(predictions, references, options, message):
    with pytest.raises(PredictionsError, match=message):
        evaluate(predictions, references, **options)


def test_records_of_one_pair_twice_are_refused(sampled_scenes):
    records, _, right = sampled_scenes(0, 1)
    with pytest.raises(PredictionsError, match="records of different pairs"):
        evaluate([*right, right[0]], [*records, records[0]])


def test_importing_costs_nothing_and_names_are_listed():
    command = (
        "import sys, whatchanged.evaluation as e; "
        "assert dir(e) == ['Report', 'evaluate'], dir(e); "
        "assert not {'numpy', 'torch', 'onnxruntime'} & set(sys.modules); "
        "e.evaluate; assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", command], check=True, timeout=60)
