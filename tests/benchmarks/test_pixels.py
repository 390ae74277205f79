"""The benchmark of pcl-pixels, from drawing to a score, with hardly any training."""

import sys

import pytest

SCRIPT = "pixels"


@pytest.mark.slow
def test_it_draws_trains_and_scores_and_keeps_what_is_there(bench, tmp_path, monkeypatch, capsys):
    out = tmp_path / "out"
    monkeypatch.setattr(bench, "SIZE", (96, 64))
    arguments = ["--scenes", "10", "--held", "5", "--seed", "3", "--steps", "2"]
    monkeypatch.setattr(sys, "argv", ["pixels", str(out), *arguments])
    bench.main()
    assert "semantic" in capsys.readouterr().out
    made = {
        path: path.stat().st_mtime_ns
        for path in out.glob("*/*")
        if path.suffix in (".toml", ".onnx", ".json")
    }
    bench.main()
    assert made == {path: path.stat().st_mtime_ns for path in made}
    assert bench.train(out, 2, 11)["steps"] == 2
    assert {path.name for path in out.iterdir()} == {"data", "held", "run", "model"}
    assert (out / "held" / "splits.json").is_file() and len(list((out / "held" / "images").iterdir())) == 5
