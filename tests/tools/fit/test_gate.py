"""The limits of the gate, fitted on pairs whose strength is known."""

import json
import sys

import numpy as np
import pytest
from fit import gate
from PIL import Image


def test_limits_lie_where_changes_and_noise_part():
    noise = np.full((100, 4), 0.3)
    noise[:, 0] = np.linspace(0.05, 0.9, 100)
    changes = np.full((100, 4), 0.3)
    changes[:, 0] = np.linspace(1.2, 3.0, 100)
    rows, changed = np.concatenate([noise, changes]), np.repeat([False, True], 100)
    factors = gate.best_limits(rows, changed, np.zeros(200, int))
    scores = (rows / factors).max(axis=1)
    assert np.mean(scores[~changed] < 1) >= gate.NO_CHANGE
    assert np.all(scores[changed] >= 1)


def test_the_odds_of_a_change_grow_with_a_power_of_the_score():
    rng = np.random.default_rng(0)
    scores = np.exp(rng.normal(0, 1, 20_000))
    changed = rng.random(20_000) < 1 / (1 + 1 / (0.8 * scores**2))
    power, level = gate.odds(scores, changed)
    assert power == pytest.approx(2, abs=0.1)
    assert level == pytest.approx(0.8, abs=0.05)


def test_the_tool_writes_what_it_prints(tmp_path, monkeypatch, capsys):
    """Twelve pairs: every second one has a square that is plain to see, the others a level of noise."""
    rng = np.random.default_rng(0)
    lines = []
    for number in range(12):
        before = np.full((48, 64, 3), 200, np.uint8)
        after = before + rng.integers(0, 2, before.shape, dtype=np.uint8)
        changed = bool(number % 2)
        if changed:
            after[10:30, 20:40] = 60 + 5 * number
        names = [f"{number}-{side}.png" for side in (0, 1)]
        for name, pixels in zip(names, (before, after), strict=True):
            Image.fromarray(pixels).save(tmp_path / name)
        sizes = {"size_before": [64, 48], "size_after": [64, 48]}
        split = "train" if number < 8 else "test"
        lines.append({"before": names[0], "after": names[1], "changed": changed, "split": split, **sizes})
    (tmp_path / "pairs.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    written = []
    monkeypatch.setattr(gate, "write_constants", written.append)
    monkeypatch.setattr(sys, "argv", ["fit gate", str(tmp_path), "--write"])
    gate.main()
    assert list(written[0]) == [*gate.NAMES, "STEEPNESS", "ODDS"]
    assert str(written[0]) in capsys.readouterr().out
    flat, slope = written[0]["FINE"]
    assert flat / slope == pytest.approx(gate.LIMITS[0].flat / gate.LIMITS[0].slope, rel=0.02)
