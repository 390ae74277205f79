import pytest

from whatchanged.errors import PredictionsError
from whatchanged.figures import draw_overlap
from whatchanged.figures.figure import DotMark, LineMark, TextMark
from whatchanged.figures.overlap import OverlapBin, bins_of

REPORT = {
    "overlap": {
        "hardest 25 %": {"CIDEr-D": 10.0},
        "IoU 0.4-0.5": {"CIDEr-D": 120.0},
        "IoU 0.0-0.3": {"CIDEr-D": 60.0, "METEOR": None},
    },
    "intervals": {"overlap": {"IoU 0.0-0.3": {"CIDEr-D": [40.0, 80.0]}}},
    "signature": {"pairs": {"IoU 0.0-0.3": 55}},
}


def test_bins_come_in_order_with_what_is_known_of_them():
    assert bins_of("r", REPORT, "CIDEr-D") == [
        OverlapBin(0.0, 0.3, 60.0, (40.0, 80.0), 55),
        OverlapBin(0.4, 0.5, 120.0, None, None),
    ]


def test_higher_scores_lie_higher_and_larger_overlaps_further_right():
    figure = draw_overlap([("r.json", REPORT)])
    low, high = [mark.at for mark in figure.marks if isinstance(mark, DotMark)]
    assert low[0] < high[0] and low[1] > high[1]
    texts = [mark.text for mark in figure.marks if isinstance(mark, TextMark)]
    assert "n = 55" in texts and "r.json" in texts and "0" in texts
    axis = {float(text) for text in texts if text.replace(".", "").isdigit()}
    assert max(axis) >= 120


def test_two_reports_are_two_curves():
    figure = draw_overlap([("one", REPORT), ("two", REPORT)])
    curves = {mark.color for mark in figure.marks if isinstance(mark, LineMark) and mark.width == 2}
    assert len(curves) == 2


@pytest.mark.parametrize("report", [{}, {"overlap": []}, {"overlap": {"IoU 0.1-0.2": {"CIDEr-D": None}}}])
def test_a_report_without_viewpoints_is_named(report):
    with pytest.raises(PredictionsError, match=r"r\.json: it has no CIDEr-D by overlap"):
        draw_overlap([("r.json", report)])
