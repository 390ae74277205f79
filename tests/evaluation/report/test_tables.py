import numpy as np
import pytest
from support.pair_records import pair_record

from whatchanged.evaluation.io.predictions import Prediction
from whatchanged.evaluation.metrics.additive import mean
from whatchanged.evaluation.report.report import make_report
from whatchanged.evaluation.report.scored import ReportSettings, score

NAMES = [f"{scene}{end}" for scene in "012345" for end in ("", "_n")]
RECORDS = [
    pair_record(
        name,
        ("there is no change", "nothing has changed") if "_n" in name else (f"the cube {name} has moved",),
        "clevr_change",
        name[:1],
        changed="_n" not in name,
        change_type="none" if "_n" in name else "move",
        viewpoint_iou=None if "_n" in name else 0.45,
    )
    for name in NAMES
]
GOOD, POOR = (
    [
        Prediction(r.pair_id, r.captions[0] if i % rate else "the cube", 0.9 * (not r.changed))
        for i, r in enumerate(RECORDS)
    ]
    for rate in (5, 3)
)


@pytest.fixture(scope="module")
def report():
    java = {"METEOR": lambda candidates, references: mean("METEOR", np.full(len(candidates), 0.25))}
    good, poor = (
        score(RECORDS, own, ReportSettings(resamples=100, further_metrics=java)) for own in (GOOD, POOR)
    )
    return make_report(good, other=poor, seeds=[poor])


def line(text, *starts):
    """The one line that starts so, without its blanks."""
    (found,) = [own.split() for own in text.splitlines() if own.split()[: len(starts)] == list(starts)]
    return found


def test_numbers_stand_with_their_intervals(report):
    low, high = report["intervals"]["overall"]["CIDEr-D"]
    cells = line(report.table(), "overall", "12", f"{report['overall']['BLEU-1']:.1f}")
    assert cells[-2:] == [f"{report['overall']['CIDEr-D']:.1f}", f"({low:.0f}-{high:.0f})"]
    assert "25.0 (25.0-25.0)" in report.table()
    assert "| overall | 12 |" in report.table("markdown")
    plain = make_report(score(RECORDS, GOOD, ReportSettings(resamples=0)))
    assert (
        line(plain.table(), "overall", "12", f"{plain['overall']['BLEU-1']:.1f}")[-1]
        == f"{plain['overall']['CIDEr-D']:.1f}"
    )
    assert "METEOR: not computed (not asked for)." in plain.table()


def test_the_hardest_and_the_bins_are_rows(report):
    assert line(report.table(), "hardest", "25", "%", "1")
    assert line(report.table(), "IoU", "0.4-0.5", "6")


def test_a_comparison_says_by_how_much(report):
    cell = report["comparison"]["overall"]["CIDEr-D"]
    assert line(report.table(), "overall", "CIDEr-D", f"{cell['a']:.1f}", f"{cell['b']:.1f}")[4:] == [
        f"{cell['difference']:+.1f}",
        f"{cell['low']:.1f}",
        "to",
        f"{cell['high']:.1f}",
        f"{cell['p']:.3f}",
        f"{cell['p_holm']:.3f}",
    ]
    assert "exchange test, not corrected; Holm: corrected for the metrics" in report.table()
    assert "| A - B | 95 % interval | p | p, Holm |" in report.table("markdown")


def test_seeds_show_both_kinds_of_chance(report):
    cell = report["seeds"]["overall"]["ROUGE-L"]
    rows = line(report.table(), "overall", "ROUGE-L", f"{cell['mean']:.1f}", f"{cell['sd']:.2f}")
    assert f"{cell['sampling_sd']:.2f}" in rows
    assert "2 seeds say little" in report.table()


def test_the_threshold_is_named(report):
    assert "unchanged from a probability of 0.5 on" in report.table()
    assert line(report.table(), "overall", "12", "100.0")[:6] == [
        "overall",
        "12",
        "100.0",
        "(61-100)",
        "0.0",
        "(0-39)",
    ]
