"""How runs begin: from nothing, from other weights, and where they were broken off."""

import json
import shutil
from dataclasses import replace

import pytest
import torch
from support.finished_runs import assert_same, weights
from support.tiny_run import BACKBONE, SMALL_PICTURES, make_run

from whatchanged.errors import OutputError, RecipeError
from whatchanged.recipes.reader import load_recipe
from whatchanged.training import loop
from whatchanged.training.checkpoint import read_checkpoint
from whatchanged.training.run import check_start, run_recipe


@pytest.fixture
def recipe(quick_recipe):
    return quick_recipe


def test_a_run_killed_before_its_first_checkpoint_starts_over(unbroken, recipe, tmp_path):
    run = tmp_path / "early"
    run.mkdir()
    (run / "recipe.toml").write_bytes((unbroken / "recipe.toml").read_bytes())
    (run / "metrics.jsonl").write_text('{"stage": "pretrain", "step": 1}\n')
    run_recipe(None, run, resume=True, quiet=True, device="cpu")
    assert_same(run, unbroken)


@pytest.fixture(scope="module")
def begun_whole(unbroken, quick_recipe, tmp_path_factory):
    """An unbroken run with seed 8 that begins from another, to be read only."""
    whole = tmp_path_factory.mktemp("begun") / "whole"
    run_recipe(replace(quick_recipe, seed=8), whole, quiet=True, device="cpu", init=unbroken)
    return whole


@pytest.fixture
def begun(unbroken, begun_whole, recipe, tmp_path):
    """A run that begins from a copy of another, to be thrown away; and the same, unbroken."""
    return replace(recipe, seed=8), shutil.copytree(unbroken, tmp_path / "source"), begun_whole


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
    copied, known = weights(tmp_path / "run"), weights(unbroken)
    assert torch.allclose(
        copied["model.embed.words.weight"], known["model.embed.words.weight"], atol=1e-20, rtol=0
    )
    paths = [f"data.path={tiny_dataset}", f"data.features={tiny_dataset}/features"]
    with pytest.raises(RecipeError, match="these are weights of pcl, and none of them fits scorer"):
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


def test_the_first_launchs_environment_stays(recipe, tmp_path, monkeypatch):
    kept = tmp_path / "environment.json"
    run_recipe(recipe, tmp_path, quiet=True, device="cpu", max_seconds=0)
    first = json.loads(kept.read_text())
    monkeypatch.setattr("sys.argv", ["elsewhere"])
    for _ in range(2):
        run_recipe(None, tmp_path, resume=True, quiet=True, device="cpu", max_seconds=0)
    found = json.loads(kept.read_text())
    launches = found.pop("launches")
    assert found == first and [launch["command"] for launch in launches] == [["elsewhere"]] * 2


def test_whoever_watches_is_called_before_each_line_of_the_log_and_changes_nothing(
    unbroken, recipe, tmp_path
):
    seen = []

    def watch(method, state):
        own = {name: total / times for name, (total, times) in state.window.items()}
        seen.append((recipe.stages[state.stage].name, state.step, own))

    run_recipe(recipe, tmp_path / "run", quiet=True, device="cpu", watch=watch)
    kept = (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()
    logged = [line for line in map(json.loads, kept) if "lr" in line]
    assert [(line["stage"], line["step"]) for line in logged] == [one[:2] for one in seen]
    for line, (*_, means) in zip(logged, seen, strict=True):
        assert means and means.items() <= line.items()
    assert_same(unbroken, tmp_path / "run")


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


OBJECTS = ["vision.kind=objects", *BACKBONE, *SMALL_PICTURES, "vision.keep=6"]
"""pcl-tiny on the six cells of a tiny picture that are most like the middle of an object."""


def test_cells_are_not_chosen_by_heads_that_nothing_trains(tiny_dataset, tmp_path, capsys):
    """Without --init, and without the task that trains the heads; all cells may always be kept."""
    place = f"data.path={tiny_dataset}"
    message = (
        r"pcl-tiny: vision\.keep chooses cells by heads that start random, and only the task detection"
        r" .*Start from trained weights \(--init RUN\)"
    )
    with pytest.raises(RecipeError, match=message):
        run_recipe(load_recipe("pcl-tiny", [*OBJECTS, place]), tmp_path / "run", device="cpu", quiet=True)
    assert not (tmp_path / "run").exists()
    check_start(load_recipe("pcl-tiny", [*OBJECTS, "vision.keep=0"]), quiet=True)
    check_start(load_recipe("pcl-tiny", [*OBJECTS, "vision.keep=24"]), quiet=True)  # as many as there are
    check_start(load_recipe("clevr-see"), quiet=False)  # learns detection
    check_start(load_recipe("pcl-pixels"), quiet=False)
    assert capsys.readouterr().err == ""
    check_start(load_recipe("clevr-pcl"), quiet=False)  # learns to match what random heads chose
    assert "its first stage chooses cells by heads that it does not train" in capsys.readouterr().err


def test_cells_may_be_chosen_by_heads_that_were_trained_before(tiny_dataset, tmp_path):
    short = ["stage.pretrain.steps=1", "stage.caption.steps=1", "stage.caption.evaluate_every=0"]
    recipe = load_recipe("pcl-tiny", [*OBJECTS, *short, f"data.path={tiny_dataset}"])
    trained = make_run(tmp_path / "trained", "pcl-tiny", OBJECTS)
    assert run_recipe(recipe, tmp_path / "run", device="cpu", quiet=True, init=trained).finished
