"""The loop, stage by stage: what it writes, that it goes on exactly, and what it stops at."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import pytest
import torch
from support.finished_runs import assert_same, lines, weights
from support.tiny_run import BACKBONE, SMALL_PICTURES
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from whatchanged.errors import RecipeError
from whatchanged.recipes.reader import load_recipe, parse_recipe
from whatchanged.training import loop
from whatchanged.training.build import make_method, open_sources
from whatchanged.training.checkpoint import read_checkpoint
from whatchanged.training.loop import finite_values
from whatchanged.training.run import run_recipe, seed_everything
from whatchanged.training.run_folder import checkpoint_file, open_run

SOURCE = Path(__file__).resolve().parents[2] / "src"
PICTURES = ["vision.kind=backbone", *BACKBONE, *SMALL_PICTURES, "stage.pretrain.tasks={ mlm = 1 }"]
"""pcl-tiny on pictures, without false captions."""


@pytest.fixture
def recipe(quick_recipe):
    return quick_recipe


def test_a_run_leaves_everything_that_tells_of_it(unbroken, recipe):
    names = {path.name for path in unbroken.iterdir()}
    files = {"recipe.toml", "environment.json", "vocabulary.json", "metrics.jsonl", "negatives.jsonl"}
    files |= {"negatives.shares.json"}
    assert names == {*files, "checkpoints", "events"}
    assert {p.name for p in (unbroken / "checkpoints").iterdir()} == {"last.safetensors", "best.safetensors"}
    assert parse_recipe((unbroken / "recipe.toml").read_text(), "kept") == recipe
    assert json.loads((unbroken / "environment.json").read_text())["packages"]["torch"] == version("torch")
    written = lines(unbroken)
    assert [line["step"] for line in written if line["stage"] == "pretrain"] == list(range(1, 13))
    assert [line["step"] for line in written if "CIDEr-D" in line] == [4, 8]
    assert all("caption" in line and "caption/distractor" in line for line in written[12:] if "lr" in line)
    events = EventAccumulator(str(unbroken / "events")).Reload()
    logged = {event.step: event.value for event in events.Scalars("caption/caption")}
    assert logged[13] == pytest.approx(written[12]["caption"], rel=1e-6)
    assert sorted(logged) == list(range(13, 21))


def test_a_killed_run_goes_on_bit_for_bit(unbroken, recipe, tmp_path):
    """SIGKILL between two checkpoints; what was logged after the last one is taken back."""
    run = tmp_path / "killed"
    program = (
        "import sys, time; from whatchanged.training import loop, run; step = loop.take_step\n"
        "def slow(*a): time.sleep(0.1); return step(*a)\n"
        "loop.take_step = slow\n"
        "from whatchanged.recipes.reader import load_recipe; from pathlib import Path\n"
        "run.run_recipe(load_recipe(sys.argv[1]), Path(sys.argv[2]), device='cpu', quiet=True)"
    )
    environment = os.environ | {"PYTHONPATH": str(SOURCE)}
    arguments = [sys.executable, "-c", program, str(unbroken / "recipe.toml"), str(run)]
    with subprocess.Popen(arguments, env=environment) as child:
        deadline = time.monotonic() + 60
        while not (run / "metrics.jsonl").exists() or len(lines(run)) < 7:
            assert time.monotonic() < deadline and child.poll() is None
            time.sleep(0.01)
        child.send_signal(signal.SIGKILL)
    logged = len(lines(run))
    assert child.returncode == -signal.SIGKILL and 7 <= logged < 12
    assert read_checkpoint(run / "checkpoints" / "last.safetensors").state.step in (5, 10)
    assert run_recipe(recipe, run, resume=True, quiet=True, device="cpu").finished
    assert_same(run, unbroken)


@pytest.mark.slow
def test_a_run_in_many_launches_equals_one(unbroken, recipe, tmp_path):
    """Every launch ends after one step: in each stage, between log lines, before and after validation."""
    sparse = replace(recipe, stages=tuple(replace(stage, log_every=3) for stage in recipe.stages))
    run_recipe(sparse, tmp_path / "one", quiet=True, device="cpu")
    for launch in range(30):
        state = run_recipe(
            sparse, tmp_path / "many", resume=launch > 0, max_seconds=0, quiet=True, device="cpu"
        )
        if state.finished:
            break
    assert launch == 18  # 20 steps; a stage's last step goes on into the next stage, or ends the run
    assert_same(tmp_path / "many", tmp_path / "one")


def test_a_score_that_is_not_finite_stops_the_run(recipe, tmp_path, monkeypatch):
    """Kept as the best, no later score would be better."""
    monkeypatch.setattr(loop, "validate", lambda *_: {"CIDEr-D": float("nan")})
    with pytest.raises(
        RecipeError, match=r"stage\.caption, step 4: CIDEr-D on validation data is not finite"
    ):
        run_recipe(replace(recipe, stages=recipe.stages[1:]), tmp_path / "run", quiet=True, device="cpu")
    assert not (tmp_path / "run" / "checkpoints" / "best.safetensors").exists()


def test_training_stops_early_and_keeps_the_best(recipe, tmp_path):
    caption = replace(recipe.stages[1], steps=40, lr=1e-30, evaluate_every=2, patience=3)
    run = tmp_path / "run"
    run_recipe(replace(recipe, stages=(caption,)), run, quiet=True, device="cpu")
    scores = [line for line in lines(run) if "CIDEr-D" in line]
    assert [line["step"] for line in scores] == [2, 4, 6, 8]  # the first is the best: nothing is learned
    assert read_checkpoint(run / "checkpoints" / "best.safetensors").state.step == 2
    _, method, state = open_run(run)
    assert state.step == 2 and not method.training


def test_a_stage_that_stops_early_logs_its_last_losses_too(recipe, tmp_path):
    caption = replace(recipe.stages[1], steps=40, lr=1e-30, evaluate_every=2, patience=3, log_every=3)
    then = replace(caption, name="then", steps=2, patience=0)
    two = replace(recipe, stages=(caption, then))
    run_recipe(two, tmp_path / "one", quiet=True, device="cpu")
    written = [line for line in lines(tmp_path / "one") if "lr" in line]
    assert [(line["stage"], line["step"]) for line in written] == [
        *(("caption", step) for step in (3, 6, 8)),
        ("then", 2),
    ]
    assert all("caption" in line for line in written)
    for launch in range(20):
        state = run_recipe(two, tmp_path / "many", launch > 0, max_seconds=0, quiet=True, device="cpu")
        if state.finished:
            break
    assert_same(tmp_path / "many", tmp_path / "one")


def test_the_logged_rate_is_the_schedules(recipe, tmp_path):
    """Groups with rates of their own scale it."""
    caption = replace(recipe.stages[1], steps=2, lr=1e-3, evaluate_every=0, schedule="constant", warmup=2)
    scaled = replace(caption, rates={"method": 0.5})
    run_recipe(replace(recipe, stages=(scaled,)), tmp_path / "run", quiet=True, device="cpu")
    assert [line["lr"] for line in lines(tmp_path / "run")] == [5e-4, 1e-3]


def test_a_stage_hands_on_its_best_weights_and_they_are_kept(recipe, tmp_path, monkeypatch):
    """Scores that only fall: the first evaluation is the best; the second stage then hardly moves."""
    scores = iter([3.0, 2.0, 1.0, 5.0] * 2)
    monkeypatch.setattr("whatchanged.training.loop.validate", lambda *_: {"CIDEr-D": next(scores)})
    first = replace(recipe.stages[1], name="first", steps=6, evaluate_every=2)
    second = replace(first, name="then", steps=2, lr=1e-30)
    two = replace(recipe, stages=(first, second))
    run = tmp_path / "one"
    run_recipe(two, run, quiet=True, device="cpu")
    kept = read_checkpoint(checkpoint_file(run, "first"))
    assert (kept.state.stage, kept.state.step, kept.state.best) == (0, 2, 3.0)
    now = weights(run)
    assert all(torch.allclose(kept.tensors[name], now[name], atol=1e-20, rtol=0) for name in now)
    assert open_run(run)[2].stage == 1 and checkpoint_file(run, "then") == checkpoint_file(run, "best")
    for launch in range(9):
        state = run_recipe(two, tmp_path / "many", launch > 0, max_seconds=0, quiet=True, device="cpu")
        if state.finished:
            break
    assert_same(tmp_path / "many", run)
    with pytest.raises(RecipeError, match=r"no such checkpoint\. Choose among: auto, best, last, first, "):
        open_run(run, "thn")


def test_a_stage_that_freezes_and_clips_goes_on_bit_for_bit(tiny_dataset, tmp_path):
    """What the stage before left on frozen tensors counts neither in the norm nor in the steps."""
    settings = [
        *PICTURES,
        f"data.path={tiny_dataset}",
        "stage.pretrain.steps=3",
        "stage.caption.steps=4",
        "stage.caption.evaluate_every=0",
        "stage.caption.train_vision=false",
        "stage.caption.max_grad_norm=0.02",
        "method.dropout=0.0",
    ]
    recipe = load_recipe("pcl-tiny", settings)
    run_recipe(recipe, tmp_path / "one", quiet=True, device="cpu")
    for launch in range(9):
        state = run_recipe(recipe, tmp_path / "many", launch > 0, max_seconds=0, quiet=True, device="cpu")
        if state.finished:
            break
    assert launch > 3
    assert_same(tmp_path / "many", tmp_path / "one")


def test_a_vision_whose_rate_is_0_keeps_its_running_statistics(tiny_dataset, tmp_path):
    settings = [
        *PICTURES,
        f"data.path={tiny_dataset}",
        "stage.pretrain.steps=2",
        "stage.caption.steps=2",
        "stage.pretrain.rates={ vision = 0 }",
        "stage.caption.evaluate_every=0",
    ]
    recipe = load_recipe("pcl-tiny", settings)
    fresh = make_method(recipe, open_sources(recipe, tmp_path).vocabulary).vision.state_dict()
    means = {f"model.vision.{name}" for name in fresh if name.endswith("running_mean")}
    run_recipe(recipe, tmp_path / "learns", quiet=True, device="cpu")
    still = replace(recipe, stages=tuple(replace(s, rates={"vision": 0.0}) for s in recipe.stages))
    run_recipe(still, tmp_path / "still", quiet=True, device="cpu")
    assert means and all(not weights(tmp_path / "still")[name].any() for name in means)
    assert all(weights(tmp_path / "learns")[name].any() for name in means)


def test_a_stage_that_was_not_validated_hands_on_its_last_weights(unbroken):
    assert not checkpoint_file(unbroken, "pretrain").exists()


def test_a_loss_that_is_not_finite_stops_the_run():
    terms = {"mlm": torch.tensor(1.0), "fda": torch.tensor(float("nan"))}
    with pytest.raises(RecipeError, match=r"stage\.pretrain, step 3: .* not finite \(mlm 1\.0, fda nan\)"):
        finite_values(terms, "stage.pretrain, step 3")


def test_losses_fall_on_a_few_pairs(recipe, tmp_path):
    caption = replace(recipe.stages[1], steps=90, lr=3e-3, evaluate_every=0, log_every=30)
    run_recipe(replace(recipe, stages=(caption,)), tmp_path / "run", quiet=True, device="cpu")
    first, _, last = [line["caption"] for line in lines(tmp_path / "run")]
    assert last < 0.9 * first


def test_bf16_trains_too(recipe, tmp_path):
    stages = tuple(replace(stage, precision="bf16", max_grad_norm=1.0, steps=3) for stage in recipe.stages)
    run_recipe(replace(recipe, stages=stages), tmp_path / "run", quiet=True, device="cpu")
    assert len([line for line in lines(tmp_path / "run") if "lr" in line]) == 6


def test_a_scorer_trains_in_bf16_too(tiny_dataset, tmp_path):
    places = [f"data.path={tiny_dataset}", f"data.features={tiny_dataset}/features"]
    losses = {}
    for precision in ("fp32", "bf16"):
        quick = [*places, "stage.train.steps=4", "method.dropout=0.0", f"stage.train.precision={precision}"]
        run_recipe(load_recipe("scorer-tiny", quick), tmp_path / precision, quiet=True, device="cpu")
        written = [line for line in lines(tmp_path / precision) if "lr" in line]
        losses[precision] = [line[f"caption/{term}"] for line in written for term in ("view", "reason")]
    assert len(losses["bf16"]) == 8 and losses["bf16"] == pytest.approx(losses["fp32"], rel=0.05)
    assert losses["bf16"] != losses["fp32"]


def test_a_scorer_goes_on_bit_for_bit_and_keeps_what_it_never_trains(tiny_dataset, tmp_path):
    """The released reading: scenes, exchanged views, dropout, a learned scale, and a frozen part."""
    paths = [f"data.path={tiny_dataset}", f"data.features={tiny_dataset}/features"]
    quick = [
        "stage.train.steps=5",
        "stage.train.evaluate_every=3",
        "stage.train.batch=6",
        "method.preset=authors",
        "stage.train.schedule=stairs",
        "stage.train.stair=2",
    ]
    recipe = load_recipe("scorer-tiny", [*paths, *quick])
    run_recipe(recipe, tmp_path / "one", quiet=True, device="cpu")
    for launch in range(9):
        state = run_recipe(
            recipe, tmp_path / "many", resume=launch > 0, max_seconds=0, quiet=True, device="cpu"
        )
        if state.finished:
            break
    assert launch == 4
    assert_same(tmp_path / "many", tmp_path / "one")
    rates = [line["lr"] for line in lines(tmp_path / "one") if "lr" in line]
    assert rates == pytest.approx([1e-3, 1e-3, 1e-4, 1e-4, 1e-5])
    trained = weights(tmp_path / "one")
    seed_everything(recipe.seed)
    first = make_method(recipe, open_sources(recipe, tmp_path).vocabulary).state_dict()
    assert {f"model.{name}" for name in first} == trained.keys()
    still = {name for name in first if torch.equal(first[name], trained[f"model.{name}"])}
    assert still == {name for name in first if name.startswith("reasoning.")}


def test_the_last_stages_name_gives_no_earlier_stages_weights(unbroken, recipe, tmp_path):
    assert open_run(unbroken, "caption")[2].stage == 1
    first = replace(recipe.stages[0], evaluate_every=1)
    run_recipe(
        replace(recipe, stages=(first, recipe.stages[1])), tmp_path, quiet=True, device="cpu", max_seconds=0
    )
    assert open_run(tmp_path, "best")[2].stage == 0
    with pytest.raises(RecipeError, match="no best weights of this stage yet"):
        open_run(tmp_path, "caption")


def test_processes_read_what_threads_read(unbroken, tmp_path, whatchanged):
    arguments = ["train", unbroken / "recipe.toml", "--device", "cpu", "--quiet", "--workers", 1]
    code, _, err = whatchanged(*arguments, "-o", tmp_path / "run")
    assert code == 0, err
    assert_same(tmp_path / "run", unbroken)
