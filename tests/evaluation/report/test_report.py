from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from whatchanged.errors import MetricUnavailable
from whatchanged.evaluation.io.predictions import Prediction
from whatchanged.evaluation.metrics.additive import mean
from whatchanged.evaluation.report.breakdown import subsets
from whatchanged.evaluation.report.report import Settings, evaluate_records
from whatchanged.evaluation.report.tables import as_text
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
            assert report[name][metric] == (value and pytest.approx(value, rel=1e-12))
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
        assert other["overall"][metric] == (value and pytest.approx(value, rel=1e-12))


def test_the_tokeniser_matters_and_is_named():
    ptb, plain = (
        evaluate_records(RECORDS, PREDICTIONS, {}, Settings(tokenizer)) for tokenizer in ("ptb", "plain")
    )
    # "The" and "blue." are other words without a tokeniser.
    assert ptb["types"]["color"]["BLEU-1"] > 99 and plain["types"]["color"]["BLEU-1"] < 61
    assert (ptb["signature"]["tokenizer"], plain["signature"]["tokenizer"]) == ("ptb", "plain")


def test_pairs_of_unknown_kind_have_no_subsets():
    report = evaluate_records([record("0", None, None, "a b")], [Prediction("0", "a b")], {})
    assert set(report) == {"overall", "intervals", "signature", "warnings"}


def test_the_signature_says_what_was_counted():
    predictions = [Prediction("0", error="gone"), *PREDICTIONS[1:]]
    report = evaluate_records(RECORDS, predictions, {}, split="test", set_aside=5)
    signature = report["signature"]
    assert signature["references_per_pair"] == {"min": 1, "mean": 1.75, "max": 3}
    assert (signature["failed_as_empty"], signature["set_aside"], signature["split"]) == (1, 5, "test")
    assert "predictions of other splits set aside: 5" in as_text(report)
    assert "color 1, add 1" in report["warnings"][0]


def test_metrics_of_programs():
    """One that answers and one that cannot: sums like all others, and a reason in place of a value."""

    def words(candidates, references):
        assert candidates[0] == "the red cube turned blue" and len(references[0]) == 2
        return mean("METEOR", np.array([len(c.split()) for c in candidates]) / 10)

    def broken(candidates, references):
        raise MetricUnavailable("SPICE: its jars are missing.")

    settings = Settings(programs={"METEOR": words, "SPICE": broken}, resamples=50)
    report = evaluate_records(RECORDS, PREDICTIONS, {}, settings)
    assert report["overall"]["METEOR"] == pytest.approx(100 * (5 + 4 + 4 + 4) / 40)
    low, high = report["intervals"]["semantic"]["METEOR"]
    assert 40 <= low < high <= 50
    assert report["overall"]["SPICE"] is None
    assert report["signature"]["not_computed"] == {"SPICE": "SPICE: its jars are missing."}
    assert list(report["overall"]) == [
        *(f"BLEU-{n}" for n in range(1, 5)),
        "METEOR",
        "ROUGE-L",
        "CIDEr-D",
        "SPICE",
    ]
    absent = evaluate_records(RECORDS, PREDICTIONS, {})
    assert absent["overall"]["METEOR"] is None
    assert absent["signature"]["not_computed"] == {"METEOR": "not asked for", "SPICE": "not asked for"}


def test_document_frequencies_of_the_corpus():
    """Then the mean over subsets is the whole's, which it is not with the subsets' own."""
    corpus = evaluate_records(RECORDS, PREDICTIONS, {}, Settings(frequencies="corpus"))
    own = evaluate_records(RECORDS, PREDICTIONS, {})
    assert corpus["overall"] == own["overall"]
    halves = [(r["semantic"]["CIDEr-D"] + r["distractor"]["CIDEr-D"]) / 2 for r in (corpus, own)]
    assert halves[0] == pytest.approx(own["overall"]["CIDEr-D"])
    assert halves[1] != pytest.approx(own["overall"]["CIDEr-D"], abs=1)
    assert corpus["signature"]["document_frequencies"] == "corpus"
    assert "pairs of the corpus" in corpus["warnings"][0] and "color" not in corpus["warnings"][0]


def test_intervals_stand_beside_the_numbers_under_the_same_keys():
    report = evaluate_records(RECORDS, PREDICTIONS, {}, Settings(resamples=200))
    for name in ("overall", "semantic", "distractor"):
        for metric, (low, high) in report["intervals"][name].items():
            assert low - 1e-9 <= report[name][metric] <= high + 1e-9
    assert report["intervals"]["types"]["color"]["ROUGE-L"] is None  # one scene
    off = evaluate_records(RECORDS, PREDICTIONS, {}, Settings(resamples=0))
    assert off["intervals"] == {} and off["overall"] == report["overall"]
    assert not [warning for warning in off["warnings"] if "narrow" in warning]


def test_the_no_change_block_needs_probabilities_and_truth():
    told = [
        Prediction(p.pair_id, p.caption, x) for p, x in zip(PREDICTIONS, (0.2, 0.9, 0.6, None), strict=True)
    ]
    report = evaluate_records(RECORDS, told, {}, Settings(threshold=0.7))
    block = report["no_change"]
    assert (block["threshold"], block["recall"], block["false_alarms"], block["AUC"]) == (0.7, 100, 0, 100)
    assert block["pairs"] == {"changed": 2, "unchanged": 1, "left_out": 1}
    assert report["intervals"]["no_change"]["recall"] == pytest.approx([34.2, 100], abs=0.1)
    assert "no_change" not in evaluate_records(RECORDS, PREDICTIONS, {})


def test_viewpoints():
    """Bins of the overlap hold their lower edge; the hardest quarter is of changed pairs only."""
    overlaps = [0.45, 0.3, 0.1, 0.55, 0.3, 1.0, 0.95, None, 0.05]
    records = [
        replace(record(str(i), True, "move", "the cube moved"), viewpoint_iou=x)
        for i, x in enumerate(overlaps)
    ]
    records[8] = replace(records[8], changed=False, change_type="none")
    chosen = {name: pairs.tolist() for name, pairs in subsets(records).items()}
    assert {name: pairs for name, pairs in chosen.items() if "IoU" in name or "%" in name} == {
        "hardest 25 %": [2],
        "IoU 0.0-0.3": [2],
        "IoU 0.3-0.4": [1, 4],
        "IoU 0.4-0.5": [0],
        "IoU 0.5-0.6": [3],
        "IoU 0.7-1.0": [5, 6],
    }
    report = evaluate_records(records, [Prediction(str(i), "the cube moved") for i in range(9)], {})
    assert report["overlap"]["IoU 0.3-0.4"]["ROUGE-L"] == pytest.approx(100)
    assert report["signature"]["pairs"]["IoU 0.7-1.0"] == 2


def test_of_equal_overlaps_the_earlier_counts_as_harder():
    records = [replace(record(str(i), True, "move", "a"), viewpoint_iou=0.5) for i in range(11)]
    assert subsets(records)["hardest 25 %"].tolist() == [0, 1]


def test_failed_pairs_of_the_other_system_are_told():
    other = [Prediction("0", error="gone"), *PREDICTIONS[1:]]
    report = evaluate_records(RECORDS, PREDICTIONS, {}, Settings(resamples=20), other=other)
    assert report["signature"]["failed_as_empty"] == 0
    assert [w for w in report["warnings"] if w.startswith("1 failed pairs of the other predictions")]
