import json
from dataclasses import replace

import numpy as np
import pytest
from support.pair_records import pair_record

from whatchanged.errors import MetricUnavailable
from whatchanged.evaluation.io.predictions import Prediction
from whatchanged.evaluation.metrics.additive import mean
from whatchanged.evaluation.report.report import make_report
from whatchanged.evaluation.report.scored import ReportSettings, score
from whatchanged.evaluation.report.signature import Origin


def record(name, changed, kind, *captions):
    return pair_record(name, captions, "clevr_change", name[:1], changed=changed, change_type=kind)


RECORDS = [
    record("0", True, "color", "the red cube became blue", "the cube turned blue"),
    record("0_n", False, "none", "there is no change", "nothing has changed", "nothing was modified"),
    record("1", True, "add", "the green ball has appeared"),
    record("1_n", False, "none", "there is no change"),
]
CAPTIONS = ["The red cube turned blue.", "there is no change", "the ball is gone", "there is no change"]
PREDICTIONS = [Prediction(r.pair_id, c) for r, c in zip(RECORDS, CAPTIONS, strict=True)]


def report_of(records=RECORDS, predictions=PREDICTIONS, settings=None, other=None, origin=None):
    settings = settings or ReportSettings()
    scored = score(records, predictions, settings)
    beside = None if other is None else score(records, other, settings)
    return make_report(scored, beside, origin=origin)


def test_every_subset_is_a_corpus_of_its_own():
    report = report_of()
    chosen = {"semantic": [0, 2], "distractor": [1, 3]}
    for name, positions in chosen.items():
        alone = report_of([RECORDS[i] for i in positions], [PREDICTIONS[i] for i in positions])
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
    one = report_of()
    other = report_of([RECORDS[i] for i in order], [PREDICTIONS[i] for i in order])
    for metric, value in one["overall"].items():
        assert other["overall"][metric] == (value and pytest.approx(value, rel=1e-12))


def test_the_tokeniser_matters_and_is_named():
    ptb, plain = (report_of(settings=ReportSettings(tokenizer)) for tokenizer in ("ptb", "plain"))
    # "The" and "blue." are other words without a tokeniser.
    assert ptb["types"]["color"]["BLEU-1"] > 99 and plain["types"]["color"]["BLEU-1"] < 61
    assert (ptb["signature"]["tokenizer"], plain["signature"]["tokenizer"]) == ("ptb", "plain")


def test_pairs_of_unknown_kind_have_no_subsets():
    report = report_of([record("0", None, None, "a b")], [Prediction("0", "a b")])
    assert set(report) == {"overall", "intervals", "signature", "warnings"}


def test_the_signature_says_what_was_counted():
    predictions = [Prediction("0", error="gone"), *PREDICTIONS[1:]]
    report = report_of(RECORDS, predictions, origin=Origin("test", 5))
    signature = report["signature"]
    assert signature["references_per_pair"] == {"min": 1, "mean": 1.75, "max": 3}
    assert (signature["failed_as_empty"], signature["set_aside"], signature["split"]) == (1, 5, "test")
    assert "predictions of other splits set aside: 5" in report.table()
    assert "color 1, add 1" in report["warnings"][0]


def words(candidates, references):
    """The words of each candidate, over 10, as if that were METEOR."""
    return mean("METEOR", np.array([len(c.split()) for c in candidates]) / 10)


def test_a_java_metric_stands_with_the_others():
    """One that answers and one that cannot: a number like all others, and a reason in place of a value."""

    def broken(candidates, references):
        raise MetricUnavailable("SPICE: its jars are missing.")

    settings = ReportSettings(further_metrics={"METEOR": words, "SPICE": broken}, resamples=50)
    report = report_of(settings=settings)
    assert report["overall"]["METEOR"] == pytest.approx(100 * (5 + 4 + 4 + 4) / 40)
    low, high = report["intervals"]["semantic"]["METEOR"]
    assert 40 <= low < high <= 50
    assert report["overall"]["SPICE"] is None
    assert report["signature"]["not_computed"] == {"SPICE": "SPICE: its jars are missing."}
    bleus = [f"BLEU-{n}" for n in range(1, 5)]
    assert list(report["overall"]) == [*bleus, "METEOR", "ROUGE-L", "CIDEr-D", "SPICE"]
    absent = report_of()
    assert absent["overall"]["METEOR"] is None
    assert absent["signature"]["not_computed"] == {"METEOR": "not asked for", "SPICE": "not asked for"}


def test_a_metric_that_fails_for_the_other_system_is_not_compared():
    calls = []

    def fails_once(candidates, references):
        calls.append(candidates)
        if len(calls) == 2:
            raise MetricUnavailable("METEOR: no memory left.")
        return words(candidates, references)

    settings = ReportSettings(resamples=20, further_metrics={"METEOR": fails_once})
    report = report_of(settings=settings, other=PREDICTIONS)
    assert report["overall"]["METEOR"] > 0 and "METEOR" not in report["comparison"]["overall"]
    assert report["comparison"]["overall"]["CIDEr-D"]["difference"] == 0
    assert any("METEOR is not compared" in text and "no memory left" in text for text in report["warnings"])


def test_a_report_is_a_mapping_that_prints_as_tables():
    report = report_of()
    assert json.loads(report.to_json()) == report == report.to_dict()
    assert len(report) == len(report.to_dict()) and "overall" in report and report.get("scene") is None
    copied = report.to_dict()
    copied["overall"]["BLEU-1"] = -1
    assert report["overall"]["BLEU-1"] > 0  # the copy is a copy
    assert str(report) == report.table() and report.table("markdown").startswith("### Against the references")
    assert repr(report).startswith(f"<Report of 4 pairs: BLEU-1 {report['overall']['BLEU-1']:.1f}, ")


def test_document_frequencies_of_the_corpus():
    """Then the mean over subsets is the whole's, which it is not with the subsets' own."""
    corpus = report_of(settings=ReportSettings(frequencies="corpus"))
    own = report_of()
    assert corpus["overall"] == own["overall"]
    halves = [(r["semantic"]["CIDEr-D"] + r["distractor"]["CIDEr-D"]) / 2 for r in (corpus, own)]
    assert halves[0] == pytest.approx(own["overall"]["CIDEr-D"])
    assert halves[1] != pytest.approx(own["overall"]["CIDEr-D"], abs=1)
    assert corpus["signature"]["document_frequencies"] == "corpus"
    assert "pairs of the corpus" in corpus["warnings"][0] and "color" not in corpus["warnings"][0]


def test_intervals_stand_beside_the_numbers_under_the_same_keys():
    report = report_of(settings=ReportSettings(resamples=200))
    for name in ("overall", "semantic", "distractor"):
        for metric, (low, high) in report["intervals"][name].items():
            assert low - 1e-9 <= report[name][metric] <= high + 1e-9
    assert report["intervals"]["types"]["color"]["ROUGE-L"] is None  # one scene
    off = report_of(settings=ReportSettings(resamples=0))
    assert off["intervals"] == {} and off["overall"] == report["overall"]
    assert not [warning for warning in off["warnings"] if "narrow" in warning]


def test_the_no_change_block_needs_probabilities_and_truth():
    known = [
        Prediction(p.pair_id, p.caption, x) for p, x in zip(PREDICTIONS, (0.2, 0.9, 0.6, None), strict=True)
    ]
    report = report_of(RECORDS, known, ReportSettings(threshold=0.7))
    block = report["no_change"]
    assert (block["threshold"], block["recall"], block["false_alarms"], block["AUC"]) == (0.7, 100, 0, 100)
    assert block["pairs"] == {"changed": 2, "unchanged": 1, "left_out": 1}
    assert report["intervals"]["no_change"]["recall"] == pytest.approx([34.2, 100], abs=0.1)
    assert "no_change" not in report_of()


def test_viewpoints_are_subsets():
    records = [replace(r, viewpoint_iou=0.3 if r.changed else None) for r in RECORDS]
    report = report_of(records)
    assert report["overlap"]["IoU 0.3-0.4"] == report["semantic"]
    assert report["signature"]["pairs"]["IoU 0.3-0.4"] == 2


def test_failed_pairs_of_the_other_system_are_warned_of():
    other = [Prediction("0", error="gone"), *PREDICTIONS[1:]]
    report = report_of(settings=ReportSettings(resamples=20), other=other)
    assert report["signature"]["failed_as_empty"] == 0
    assert [w for w in report["warnings"] if w.startswith("1 failed pairs of the other predictions")]


def test_references_that_all_agree_leave_cider_without_weights():
    """60 unchanged pairs with the same two sentences: no small sample, and yet a perfect caption scores 0."""
    same = ("there is no difference", "the scene is the same as before")
    unchanged = [record(f"{i}_n", False, "none", *same) for i in range(60)]
    changed = [record(str(i), True, None, f"road {i} was built") for i in range(60)]
    said = [Prediction(r.pair_id, r.captions[0]) for r in [*changed, *unchanged]]
    report = report_of([*changed, *unchanged], said)
    assert report["distractor"]["CIDEr-D"] == 0 and report["overall"]["CIDEr-D"] > 0
    (warning,) = [each for each in report["warnings"] if "CIDEr-D" in each]
    assert "0 for any caption (distractor 60 of 60): every word" in warning
    whole = report_of([*changed, *unchanged], said, ReportSettings(frequencies="corpus"))
    assert whole["distractor"]["CIDEr-D"] > 0 and not any("CIDEr-D" in each for each in whole["warnings"])


def test_a_single_pair_has_no_weights_either():
    report = report_of(RECORDS[:1], PREDICTIONS[:1])
    assert report["overall"]["CIDEr-D"] == 0
    assert any("(overall 1 of 1, semantic 1 of 1, color 1 of 1)" in each for each in report["warnings"])
