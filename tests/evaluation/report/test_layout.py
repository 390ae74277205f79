import pytest

from whatchanged.evaluation.report.layout import (
    aligned_table,
    blocks_in_order,
    markdown_table,
    share_with_ends,
    span,
    with_ends,
)

ROWS = [["", "pairs", "score"], ["overall", "12", "3.5"], ["move", "7", "100.0"]]


@pytest.mark.parametrize(
    ("value", "ends", "text"),
    [
        (None, None, "-"),
        (12.345, None, "12.3"),
        (50.0, (47.51, 52.5), "50.0 (47.5-52.5)"),  # narrower than 5: to a tenth
        (50.0, (47.5, 52.5), "50.0 (48-52)"),
        (50.0, (40.2, 59.8), "50.0 (40-60)"),
    ],
)
def test_a_value_with_its_interval(value, ends, text):
    assert with_ends(value, ends) == text


def test_shares_and_intervals_alone():
    assert share_with_ends({"percent": 50.0, "low": 9.5, "high": 90.5}) == "50.0 (10-90)"
    assert share_with_ends({"percent": None, "low": 0.0, "high": 100.0}) == share_with_ends(None) == "-"
    assert span(-0.04, 1.26) == "0.0 to 1.3" and span(None, 1.0) == "-"


def test_tables():
    assert aligned_table("Title", ROWS).splitlines() == [
        "Title",
        "         pairs  score",
        "overall     12    3.5",
        "move         7  100.0",
    ]
    assert markdown_table("Title", ROWS).splitlines() == [
        "### Title",
        "",
        "|  | pairs | score |",
        "| --- | ---: | ---: |",
        "| overall | 12 | 3.5 |",
        "| move | 7 | 100.0 |",
    ]


def test_blocks_come_in_reading_order():
    tree = {"overlap": {"IoU": 4}, "types": {"b": 3, "a": 2}, "overall": 1, "signature": {}}
    assert list(blocks_in_order(tree)) == [
        (("overall",), 1),
        (("types", "b"), 3),
        (("types", "a"), 2),
        (("overlap", "IoU"), 4),
    ]
