import json
from pathlib import Path

import numpy as np
import pytest

from whatchanged.errors import OutputError
from whatchanged.evaluation.predictions import Prediction
from whatchanged.evaluation.report import as_json, as_markdown, as_text, evaluate_records, write
from whatchanged.records import PairRecord


def record(name, changed, kind, *captions):
    return PairRecord(
        "clevr_change",
        name,
        name[:1],
        "test",
        "pair_caption",
        Path("a"),
        Path("b"),
        captions,
        None,
        changed,
        kind,
    )


RECORDS = [
    record("0", True, "color", "the red cube became blue", "the cube turned blue"),
    record("0_n", False, "none", "there is no change", "nothing has changed", "nothing was modified"),
    record("1", True, "add", "the green ball has appeared"),
    record("1_n", False, "none", "there is no change"),
]
CAPTIONS = ["The red cube turned blue.", "there is no change", "the ball is gone", "there is no change"]
PREDICTIONS = [Prediction(r.pair_id, c) for r, c in zip(RECORDS, CAPTIONS, strict=True)]


def test_every_subset_is_a_corpus_of_its_own():
    report = evaluate_records(RECORDS, PREDICTIONS, {})
    chosen = {"semantic": [0, 2], "distractor": [1, 3]}
    for name, positions in chosen.items():
        alone = evaluate_records([RECORDS[i] for i in positions], [PREDICTIONS[i] for i in positions], {})
        for metric, value in alone["overall"].items():
            assert report[name][metric] == pytest.approx(value, rel=1e-12)
    assert list(report["types"]) == ["color", "add"]
    assert report["types"]["color"]["CIDEr-D"] == 0
    assert report["signature"]["pairs"] == {
        "overall": 4,
        "semantic": 2,
        "distractor": 2,
        "color": 1,
        "add": 1,
    }
    assert "scene" not in report


def test_order_does_not_matter():
    order = np.random.default_rng(0).permutation(4)
    one = evaluate_records(RECORDS, PREDICTIONS, {})
    other = evaluate_records([RECORDS[i] for i in order], [PREDICTIONS[i] for i in order], {})
    for metric, value in one["overall"].items():
        assert other["overall"][metric] == pytest.approx(value, rel=1e-12)


def test_the_tokeniser_matters_and_is_named():
    ptb, plain = (evaluate_records(RECORDS, PREDICTIONS, {}, tokenizer) for tokenizer in ("ptb", "plain"))
    # "The" and "blue." are other words without a tokeniser.
    assert ptb["types"]["color"]["BLEU-1"] > 99 and plain["types"]["color"]["BLEU-1"] < 61
    assert (ptb["signature"]["tokenizer"], plain["signature"]["tokenizer"]) == ("ptb", "plain")


def test_pairs_of_unknown_kind_have_no_subsets():
    report = evaluate_records([record("0", None, None, "a b")], [Prediction("0", "a b")], {})
    assert set(report) == {"overall", "signature", "warnings"}


def test_the_signature_says_what_was_counted():
    predictions = [Prediction("0", error="gone"), *PREDICTIONS[1:]]
    report = evaluate_records(RECORDS, predictions, {}, split="test", set_aside=5)
    signature = report["signature"]
    assert signature["references_per_pair"] == {"min": 1, "mean": 1.75, "max": 3}
    assert (signature["failed_as_empty"], signature["set_aside"], signature["split"]) == (1, 5, "test")
    assert "5 predictions of other splits set aside" in as_text(report)
    assert "color 1, add 1" in report["warnings"][0]


def test_forms():
    report = evaluate_records(RECORDS, PREDICTIONS, {})
    assert json.loads(as_json(report)) == report
    shown = f"{report['overall']['CIDEr-D']:.1f}"
    assert [
        line for line in as_text(report).splitlines() if line.startswith("overall") and line.endswith(shown)
    ]
    assert [line for line in as_markdown(report).splitlines() if line.endswith(f"| {shown} |")]


def test_a_report_is_written_whole_or_not_at_all(tmp_path):
    write(tmp_path / "r.json", "new")
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("r.json", "new")]
    with pytest.raises(OutputError, match="cannot be written"):
        write(tmp_path / "absent" / "r.json", "new")
