"""The lines of the benchmark of exchanged characters."""

import numpy as np

SCRIPT = "screens.glyphs"


def test_one_character_of_a_line_is_another_one(bench):
    rng = np.random.default_rng(0)
    for _ in range(100):
        line = bench.random_line(rng)
        other = bench.with_another_character(rng, line)
        assert len(other) == len(line)
        (place,) = [k for k in range(len(line)) if line[k] != other[k]]
        assert line[place].isdigit() == other[place].isdigit()
        assert line[place].isupper() == other[place].isupper()


def test_shares_of_a_size(bench):
    results = [(True, (0.5, 1.5)), (True, (1.0, 1.0)), (False, (0.9, 1.1)), (False, (0.2, 0.2))]
    row = bench.row("12", results)
    assert row["lines, one character changed"] == row["lines, drawn anew"] == 2
    assert (row["seen, %, by sizes alone"], row["seen, %, now"]) == (50, 100)
    assert (row["called changed, %, by sizes alone"], row["called changed, %, now"]) == (0, 50)
