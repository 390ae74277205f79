"""Shares of quotes, by hand."""

import json

SCRIPT = "screens.quotes"


def test_nothing_quoted_has_no_share(bench):
    unquoted = bench.row("boxes", iter([("a", None, 0.5), ("b", None, 1.5)]))
    assert (unquoted["count"], unquoted["quoted"], unquoted["median seconds"]) == (2, 0, 1.0)
    unread = bench.row("boxes", iter([]))
    assert unread["count"] == 0 and unread["median seconds"] is None
    for row in (unquoted, unread):
        assert row["precision"] is row["low"] is row["high"] is None
        json.dumps(row, allow_nan=False)


def test_the_share_of_right_quotes(bench):
    row = bench.row("boxes", iter([("a", True, 1.0), ("a", True, 1.0), ("b", False, 1.0), ("b", None, 1.0)]))
    assert (row["quoted"], row["right"], row["precision"]) == (3, 2, 2 / 3)
    assert (row["low"], row["high"]) == (0.0, 1.0)  # draws of b alone, and of a alone
