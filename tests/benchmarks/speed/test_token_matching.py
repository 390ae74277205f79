"""The times of the two forms side by side."""

SCRIPT = "speed.token_matching"


def test_a_form_that_failed_has_no_time(bench):
    rows = [
        {"form": "tiled", "core_s": 2.0},
        {"form": "plain", "failed": -9},
        {"form": "other", "core_s": 3.0},
    ]
    bench.compare_times(rows)
    assert [row["times as long"] for row in rows] == [1.0, None, 1.5]
    failed = [{"form": "plain", "failed": -9}]
    bench.compare_times(failed)
    assert failed[0]["times as long"] is None
