"""The benchmark of pcl-pixels, from drawing to a score, with hardly any training."""

import sys

import pytest

from whatchanged.errors import OutputError

SCRIPT = "clevr.pixels"


def test_a_folder_made_with_other_options_is_refused(bench, tmp_path, monkeypatch):
    settings = {"views": "fixed", "seed": 71, "steps": None}
    for _ in range(2):
        bench.settle(tmp_path / "out", settings)
    with pytest.raises(OutputError, match=r"made with other options: .*'seed': 71.* Choose a new folder"):
        bench.settle(tmp_path / "out", {**settings, "seed": 72})
    (tmp_path / "old" / "data").mkdir(parents=True)
    with pytest.raises(OutputError, match=r"no settings\.json"):
        bench.settle(tmp_path / "old", settings)
    monkeypatch.setattr(sys, "argv", ["pixels", str(tmp_path / "out"), "--seed", "3"])
    with pytest.raises(OutputError, match="made with other options"):
        bench.main()


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
    assert {path.name for path in out.iterdir()} == {"data", "held", "run", "model", "settings.json"}
    assert (out / "held" / "splits.json").is_file() and len(list((out / "held" / "images").iterdir())) == 5
