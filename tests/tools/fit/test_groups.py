"""The weights of the groups, fitted on couples whose cause is known."""

import sys

import numpy as np
from fit import groups

from whatchanged.measured.fitted import WEIGHTS
from whatchanged.measured.signature import LENGTH


def test_a_part_that_tells_causes_apart_gets_the_weight():
    rng = np.random.default_rng(0)
    same = np.repeat([True, False], 200)
    parts = np.stack([np.where(same, 0.1, 0.8) + rng.normal(0, 0.1, 400), rng.random(400)], axis=1)
    telling, idle, constant = groups.fit(parts, same)
    assert telling > 5 * idle >= 0
    assert np.mean((parts @ [telling, idle] < constant) == same) > 0.95


def test_the_tool_writes_a_weight_for_each_part_and_the_distance(monkeypatch, capsys):
    """Four batches of ten pairs, each of two causes with signatures of their own; one batch is held out."""
    rng = np.random.default_rng(0)
    batches = {}
    for number in range(4):
        causes = rng.random((2, LENGTH))
        pairs = [tuple(causes[k % 2] + rng.normal(0, 0.01, LENGTH)) for k in range(10)]
        batches[f"commit {number}"] = (number == 3, pairs, [f"cause {k % 2}" for k in range(10)])
    monkeypatch.setattr(groups, "read", lambda folder: batches)
    written = []
    monkeypatch.setattr(groups, "write_constants", written.append)
    monkeypatch.setattr(sys, "argv", ["fit groups", "drawn", "--write"])
    groups.main()
    assert written[0]["WEIGHTS"].keys() == WEIGHTS.keys() and written[0]["FAR"] > 0
    assert min(written[0]["WEIGHTS"].values()) >= 0 < max(written[0]["WEIGHTS"].values())
    assert "adjusted Rand index: fitted 1.000, held out 1.000" in capsys.readouterr().out
