"""Rounds of training within a time limit, shrunk to seconds on a CPU."""

import importlib.util
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from support.tiny_pool import SHARD
from support.tiny_run import TINY

from whatchanged.errors import DatasetError
from whatchanged.recipes.reader import load_recipe
from whatchanged.training import validation
from whatchanged.training.checkpoint import State
from whatchanged.training.objects import pool, pool_source
from whatchanged.training.run import run_recipe
from whatchanged.training.run_folder import open_run
from whatchanged.training.validation import write_captions
from whatchanged.training.weights import weight_shards

SMALL = [*TINY, "method.width=24", "method.ffn=32", "method.cross_layers=1"]
BATCHES = [f"stage.{name}.batch=8" for name in ("see", "match", "pretrain", "caption")]


@pytest.fixture(scope="module")
def tool():
    path = Path(__file__).parents[2] / "tools" / "train_on_gpu.py"
    spec = importlib.util.spec_from_file_location("train_on_gpu", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def weights(folder):
    return open_run(folder, "last")[1].state_dict()


def test_steps_fill_the_time_that_a_trial_promises(tool, tiny_pool, tmp_path, monkeypatch):
    """With a trial of 7 and 2 steps a second, 100 s of which 4 go into opening, at shares of 1/4 and 3/4."""
    recipe = load_recipe("clevr-pcl", [*SMALL, f"data.path={tiny_pool}"])
    recipe = replace(recipe, stages=recipe.stages[::2])  # match, caption
    ran = []
    monkeypatch.setattr(tool, "speeds", lambda *_: ({"match": 7.0, "caption": 2.0}, 4.0))
    monkeypatch.setattr(tool, "run_recipe", lambda *a, **k: ran.append((a, k)) or State(finished=True))
    shares = {"match": 0.25, "caption": 0.75}
    tool.train_for(recipe, tmp_path / "run", None, 100.0, shares, "cpu", tmp_path / "out")
    (given, _), kept = ran[0]
    assert [stage.steps for stage in given.stages] == [int(0.93 * 24 * 7), int(0.93 * 72 * 2)]
    assert [stage.warmup for stage in given.stages] == [15, 13]  # a tenth, as both are short
    assert given.stages[1].evaluate_every == 133 and kept["max_seconds"] == pytest.approx(96, abs=0.1)


def test_speed_is_that_of_a_trials_second_half(tool, tiny_pool, tmp_path):
    """Ten steps a second where the trial got into its stride, and for the stage that it did not reach."""
    recipe = load_recipe("clevr-pcl", [*SMALL, f"data.path={tiny_pool}"])
    tried = []

    def learn(recipe, run, **_):
        tried.extend(recipe.stages)
        run.mkdir()
        clock = {"match": [(10, 4.0), (20, 4.2), (30, 5.0), (40, 6.0), (50, 7.0)], "pretrain": [(10, 9.0)]}
        rows = [{"stage": n, "step": k, "seconds": t} for n, times in clock.items() for k, t in times]
        (run / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        return State(step=10, seconds=9.0)

    rates, opening = tool.speeds(recipe, tmp_path / "trial", learn, 60.0)
    assert rates == {"match": 10.0, "pretrain": 10.0, "caption": 10.0} and opening < 0
    assert all(stage.steps == tool.TRIAL_STEPS and "fda" not in stage.tasks for stage in tried)


def test_waiting_ends_when_nothing_draws_any_more(tool, tmp_path, monkeypatch):
    """A live drawer is waited for beyond the time; dead ones are not, and with two shards need not be."""

    class Drawer:
        def __init__(self, looks):
            self.looks = looks

        def is_alive(self):
            self.looks -= 1
            return self.looks >= 0

    monkeypatch.setattr(tool.time, "sleep", lambda _: None)
    drawers = [Drawer(0), Drawer(3)]
    with pytest.raises(DatasetError, match="0 shards are there, wanted 2, and every process"):
        tool._wait(tmp_path, 0.0, drawers)
    assert drawers[1].looks == -1
    for number in range(2):
        (tmp_path / f"{number:05d}.pictures.npy").touch()
    tool._wait(tmp_path, 3600.0, drawers)


def test_a_score_writes_each_caption_once(tool, tiny_pool, tmp_path, monkeypatch):
    sets = [*SMALL, f"data.path={tiny_pool}", "stage.see.steps=1", "stage.see.batch=4"]
    run_recipe(load_recipe("clevr-see", sets), tmp_path / "run", device="cpu", quiet=True)
    written = []

    def write(method, batch):
        written.extend(write_captions(method, batch))
        return written[-len(batch.ids) :]

    monkeypatch.setattr(validation, "write_captions", write)
    scores = tool.score(tmp_path / "run", tiny_pool, "cpu")
    assert len(written) == scores["pairs"] > 0
    shards = pool.open_shards(tiny_pool)
    pairs = pool_source.ORDERED["official"]
    source = pool_source.PoolSource(shards, (), 0, sum(map(len, shards)), pairs, "captions", False)
    alone = validation.validate(open_run(tmp_path / "run", "last")[1], source, torch.device("cpu"))
    assert {name: scores[name] for name in alone} == alone


@pytest.mark.slow
def test_two_rounds_on_one_machine(tool, tmp_path, monkeypatch):
    """From nothing: draw, train both recipes, report; then on from these weights, with a larger pool."""
    monkeypatch.setattr(pool, "SHARD", SHARD)
    monkeypatch.setattr(pool_source, "NEGATIVE_PAIRS", 60)
    monkeypatch.setattr(tool, "TRIAL_STEPS", 6)
    monkeypatch.setattr(tool, "TRIAL_EVERY", 2)
    sets = [part for text in (*SMALL, *BATCHES, "data.validation=8") for part in ("--set", text)]
    work, out = tmp_path / "work", tmp_path / "out"
    common = ["round", str(work), "--out", str(out)]
    common += ["--held", "5", "--device", "cpu", "--variants", "2", *sets]
    tool.main([*common, "--seconds", "25", "--draw", "0.3", "--see", "0.2", "--speak", "0.2"])
    report = json.loads((out / "round.json").read_text())
    assert report["after"]["pairs"] == 10 and 0 <= report["after"]["true"] <= 100
    assert min(report["see"]["seconds"], report["speak"]["seconds"]) > 0 and report["drawn"]["shards"] >= 2
    assert set(report["speak"]["steps"]) == {"match", "pretrain", "caption"}
    files = sorted(file.name for file in out.iterdir())
    packed = ["environment.json", "recipe.toml", "round.json", "vocabulary.json", "weights-00.safetensors"]
    assert files == packed
    weight_shards.unpack(out, tmp_path / "home")
    assert open_run(tmp_path / "home")[0].name == "clevr-pcl"
    first = weights(work / "round-00" / "speak")
    tool.main([*common, "--seconds", "15", "--draw", "0.1", "--see", "0.2", "--speak", "0"])
    again = json.loads((out / "round.json").read_text())
    assert again["before"] == report["after"] and again["drawn"]["shards"] >= report["drawn"]["shards"]
    second = weights(work / "round-01" / "see")
    words = "output.weight"  # clevr-see leaves it alone: it came over from the first round
    assert torch.equal(first[words], second[words])
    assert not torch.equal(first["vision.heads.weight"], second["vision.heads.weight"])
    assert np.isfinite(again["after"]["CIDEr-D"])
