import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from whatchanged.errors import OutputError, RecipeError
from whatchanged.recipes.reader import load_recipe, parse_recipe
from whatchanged.training import loop
from whatchanged.training.checkpoint import read_checkpoint
from whatchanged.training.data.sources import open_sources
from whatchanged.training.loop import finite_values
from whatchanged.training.run import run_recipe, seed_everything
from whatchanged.training.run_folder import checkpoint_file, make_method, open_run

SOURCE = Path(__file__).resolve().parents[2] / "src"
QUICK = ["stage.pretrain.steps=12", "stage.caption.steps=8", "stage.caption.evaluate_every=4",
         "stage.pretrain.save_every=5", "stage.caption.save_every=3"]  # fmt: skip


@pytest.fixture(scope="module")
def recipe(tiny_dataset):
    paths = [f"data.path={tiny_dataset}", f"data.features={tiny_dataset}/features"]
    return load_recipe("pcl-tiny", [*QUICK, *paths])


def lines(run):
    """The run's metrics without the clock."""
    parsed = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    return [{key: value for key, value in line.items() if key != "seconds"} for line in parsed]


@pytest.fixture(scope="module")
def unbroken(recipe, tmp_path_factory):
    """A run from beginning to end, to be read only."""
    run = tmp_path_factory.mktemp("loop") / "unbroken"
    run_recipe(recipe, run, quiet=True, device="cpu")
    return run


def weights(run):
    tensors = read_checkpoint(run / "checkpoints" / "last.safetensors").tensors
    return {name: tensor for name, tensor in tensors.items() if name.startswith("model.")}


def assert_same(run, other):
    assert lines(run) == lines(other)
    assert weights(run).keys() == weights(other).keys()
    assert all(torch.equal(tensor, weights(other)[name]) for name, tensor in weights(run).items())


def test_a_run_leaves_everything_that_tells_of_it(unbroken, recipe):
    names = {path.name for path in unbroken.iterdir()}
    assert names == {"recipe.toml", "environment.json", "vocabulary.json", "metrics.jsonl", "negatives.jsonl",
                     "checkpoints", "events"}  # fmt: skip
    assert {p.name for p in (unbroken / "checkpoints").iterdir()} == {"last.safetensors", "best.safetensors"}
    assert parse_recipe((unbroken / "recipe.toml").read_text(), "kept") == recipe
    assert json.loads((unbroken / "environment.json").read_text())["packages"]["torch"] == torch.__version__
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


def test_a_run_in_many_sittings_equals_one(unbroken, recipe, tmp_path):
    """Every sitting ends after one step: in each stage, between log lines, before and after validation."""
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


def test_a_run_killed_before_its_first_checkpoint_starts_over(unbroken, recipe, tmp_path):
    run = tmp_path / "early"
    run.mkdir()
    (run / "recipe.toml").write_bytes((unbroken / "recipe.toml").read_bytes())
    (run / "metrics.jsonl").write_text('{"stage": "pretrain", "step": 1}\n')
    run_recipe(None, run, resume=True, quiet=True, device="cpu")
    assert_same(run, unbroken)


@pytest.fixture
def begun(unbroken, recipe, tmp_path):
    """A run that begins from a copy of another, to be thrown away; and the same, unbroken."""
    begun = replace(recipe, seed=8)
    run_recipe(begun, tmp_path / "whole", quiet=True, device="cpu", init=unbroken)
    return begun, shutil.copytree(unbroken, tmp_path / "source"), tmp_path / "whole"


def test_a_run_with_init_killed_before_its_first_checkpoint_keeps_it(begun, tmp_path, monkeypatch):
    recipe, source, whole = begun
    steps = iter(range(3))

    def counted(*_):
        if next(steps, None) is None:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(loop, "count_terms", counted)
        run_recipe(recipe, tmp_path / "early", quiet=True, device="cpu", init=source)
    shutil.rmtree(source)
    assert read_checkpoint(tmp_path / "early" / "checkpoints" / "last.safetensors").state.step == 0
    assert run_recipe(None, tmp_path / "early", resume=True, quiet=True, device="cpu").finished
    assert_same(tmp_path / "early", whole)


def test_a_run_killed_while_it_opens_its_data_is_gone_on_with(begun, tmp_path, monkeypatch):
    recipe, source, whole = begun

    def killed(recipe, run):
        (run / "negatives.jsonl").write_bytes((whole / "negatives.jsonl").read_bytes())
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("whatchanged.training.run.open_sources", killed)
        patch.setattr(
            "whatchanged.training.run.shutil.rmtree", lambda *_, **__: None
        )  # SIGKILL cleans nothing
        run_recipe(recipe, tmp_path / "early", quiet=True, device="cpu", init=source)
    assert run_recipe(None, tmp_path / "early", resume=True, quiet=True, device="cpu").finished
    assert_same(tmp_path / "early", whole)
    assert json.loads((tmp_path / "early" / "environment.json").read_text())["init"] == str(source)


def test_a_run_begins_from_anothers_words_and_says_so(unbroken, recipe, tiny_dataset, tmp_path, capsys):
    still = replace(recipe.stages[1], steps=1, lr=1e-30, evaluate_every=0)
    run_recipe(replace(recipe, stages=(still,)), tmp_path / "run", device="cpu", init=unbroken)
    said = capsys.readouterr().err
    assert (
        f"{unbroken}: " in said
        and "keep their own start (distractor); " in said
        and "words were known" in said
    )
    taken, known = weights(tmp_path / "run"), weights(unbroken)
    assert torch.allclose(
        taken["model.embed.words.weight"], known["model.embed.words.weight"], atol=1e-20, rtol=0
    )
    paths = [f"data.path={tiny_dataset}", f"data.features={tiny_dataset}/features"]
    with pytest.raises(RecipeError, match=r"weights of PCL; SCORER can begin with nothing of them"):
        run_recipe(load_recipe("scorer-tiny", paths), tmp_path / "scorer", device="cpu", init=unbroken)
    assert not (tmp_path / "scorer").exists()


def test_a_folder_without_a_run_is_not_resumed(recipe, tmp_path):
    (tmp_path / "negatives.jsonl").write_text("")
    with pytest.raises(OutputError, match=r"holds no recipe\.toml to go on with: choose another folder"):
        run_recipe(recipe, tmp_path, resume=True, device="cpu")


def test_data_may_move_before_a_run_goes_on(unbroken, recipe, tiny_dataset, tmp_path, whatchanged):
    old, new, run = tmp_path / "old", tmp_path / "new", tmp_path / "run"
    shutil.copytree(tiny_dataset, old)
    at = replace(recipe, data=replace(recipe.data, path=str(old), features=str(old / "features")))
    run_recipe(at, run, quiet=True, device="cpu", max_seconds=0)
    old.rename(new)
    resume = ["train", "--resume", "--output", run, "--device", "cpu", "--quiet"]
    code, _, err = whatchanged(*resume, "--data", tmp_path / "nowhere")
    assert code == 2 and "nowhere" in err and str(old) in (run / "recipe.toml").read_text()
    code, _, err = whatchanged(*resume, "--data", new, "--features", new / "features")
    assert code == 0, err
    assert_same(run, unbroken)


def test_a_run_does_not_go_on_with_other_words(recipe, tiny_dataset, tmp_path):
    shutil.copytree(tiny_dataset, tmp_path / "data")
    at = replace(recipe, data=replace(recipe.data, path=str(tmp_path / "data")))
    run_recipe(at, tmp_path / "run", quiet=True, device="cpu", max_seconds=0)
    kept = {p: p.read_bytes() for p in (tmp_path / "run").rglob("*.*") if p.is_file()}
    captions = tmp_path / "data" / "change_captions.json"
    captions.write_text(captions.read_text().replace("cylinder", "aardvark"))
    with pytest.raises(RecipeError, match="the data has other words now"):
        run_recipe(None, tmp_path / "run", resume=True, quiet=True, device="cpu")
    assert {p: p.read_bytes() for p in kept} == kept


def test_processes_read_what_threads_read(unbroken, tmp_path, whatchanged):
    arguments = ["train", unbroken / "recipe.toml", "--device", "cpu", "--quiet", "--readers", 1]
    code, _, err = whatchanged(*arguments, "-o", tmp_path / "run")
    assert code == 0, err
    assert_same(tmp_path / "run", unbroken)


def test_the_first_sittings_environment_stays(recipe, tmp_path, monkeypatch):
    kept = tmp_path / "environment.json"
    run_recipe(recipe, tmp_path, quiet=True, device="cpu", max_seconds=0)
    first = json.loads(kept.read_text())
    monkeypatch.setattr("sys.argv", ["elsewhere"])
    for _ in range(2):
        run_recipe(None, tmp_path, resume=True, quiet=True, device="cpu", max_seconds=0)
    told = json.loads(kept.read_text())
    launches = told.pop("sittings")
    assert told == first and [launch["command"] for launch in launches] == [["elsewhere"]] * 2


def test_the_last_stages_name_gives_no_earlier_stages_weights(unbroken, recipe, tmp_path):
    assert open_run(unbroken, "caption")[2].stage == 1
    first = replace(recipe.stages[0], evaluate_every=1)
    run_recipe(
        replace(recipe, stages=(first, recipe.stages[1])), tmp_path, quiet=True, device="cpu", max_seconds=0
    )
    assert open_run(tmp_path, "best")[2].stage == 0
    with pytest.raises(RecipeError, match="no best weights of this stage yet"):
        open_run(tmp_path, "caption")


def test_a_finished_run_is_left_alone(unbroken):
    before = (unbroken / "metrics.jsonl").read_bytes()
    assert run_recipe(None, unbroken, resume=True, device="cpu").finished
    assert (unbroken / "metrics.jsonl").read_bytes() == before


def test_a_run_is_not_overwritten_nor_resumed_with_another_recipe(unbroken, recipe, tmp_path):
    with pytest.raises(OutputError, match=r"exists already\. Go on with it"):
        run_recipe(recipe, unbroken, device="cpu")
    with pytest.raises(RecipeError, match="another recipe or other settings"):
        run_recipe(replace(recipe, seed=8), unbroken, resume=True, device="cpu")
    with pytest.raises(RecipeError, match="no run to resume"):
        run_recipe(None, tmp_path / "nothing", resume=True, device="cpu")


def test_a_run_that_cannot_start_leaves_nothing(recipe, tmp_path):
    wrong = replace(recipe, vision=replace(recipe.vision, feature_width=25))
    wrong = replace(wrong, data=replace(wrong.data, features=str(tmp_path), path=str(tmp_path / "none")))
    with pytest.raises(Exception, match="none"):
        run_recipe(wrong, tmp_path / "run", device="cpu")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("rates", "message"),
    [
        ({"vison": 1.0}, "no parameter group 'vison'"),
        ({"method": 0.0}, r"stage\.caption: nothing is left to train"),
    ],
)
def test_a_later_stage_that_cannot_train_is_found_first(rates, message, recipe, tmp_path):
    stages = (recipe.stages[0], replace(recipe.stages[1], rates=rates))
    with pytest.raises(RecipeError, match=message):
        run_recipe(replace(recipe, stages=stages), tmp_path / "run", quiet=True, device="cpu")
    assert not (tmp_path / "run").exists()


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
    recipe = load_recipe("pcl-tiny", [
        f"data.path={tiny_dataset}", "vision.kind=backbone", "vision.image_width=48",
        "vision.image_height=32", "vision.channels=[4,6,8]", "vision.blocks=1", "vision.keep=0",
        "stage.pretrain.tasks={mlm=1}",
        "stage.pretrain.steps=3", "stage.caption.steps=4", "stage.caption.evaluate_every=0",
        "stage.caption.train_vision=false", "stage.caption.clip=0.02", "method.dropout=0.0",
    ])  # fmt: skip
    run_recipe(recipe, tmp_path / "one", quiet=True, device="cpu")
    for launch in range(9):
        state = run_recipe(recipe, tmp_path / "many", launch > 0, max_seconds=0, quiet=True, device="cpu")
        if state.finished:
            break
    assert launch > 3
    assert_same(tmp_path / "many", tmp_path / "one")


def test_a_vision_whose_rate_is_0_keeps_its_running_statistics(tiny_dataset, tmp_path):
    recipe = load_recipe("pcl-tiny", [
        f"data.path={tiny_dataset}", "vision.kind=backbone", "vision.image_width=48",
        "vision.image_height=32", "vision.channels=[4,6,8]", "vision.blocks=1", "vision.keep=0",
        "stage.pretrain.tasks={mlm=1}", "stage.pretrain.steps=2", "stage.caption.steps=2",
        "stage.pretrain.rates={vision=0}", "stage.caption.evaluate_every=0",
    ])  # fmt: skip
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
    stages = tuple(replace(stage, precision="bf16", clip=1.0, steps=3) for stage in recipe.stages)
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
    quick = ["stage.train.steps=5", "stage.train.evaluate_every=3", "stage.train.batch=6",
             "method.preset=authors", "stage.train.schedule=stairs", "stage.train.stair=2"]  # fmt: skip
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
