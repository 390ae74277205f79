import pytest

from whatchanged.recipes.reader import load_recipe
from whatchanged.recipes.values import dump_recipe
from whatchanged.training.checkpoint import State


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["pcl-tin"], "no such recipe"),
        (["pcl-tiny", "--set", "method.wdth=3"], "unknown key method.wdth. Did you mean width?"),
        (["pcl-tiny"], "Say where the data set lies: --data FOLDER"),
        (["pcl-tiny", "--device", "tpu"], "wanted auto, cpu or cuda"),
        (["--resume"], "no run to resume here"),
        ([], "no run to resume here. Name a recipe"),
    ],
)
def test_a_mistake_is_one_message_exit_code_2_and_no_folder(arguments, message, tmp_path, whatchanged):
    code, out, err = whatchanged("train", *arguments, "--output", tmp_path / "run")
    assert (code, out) == (2, "")
    assert message in err and "Traceback" not in err
    assert not (tmp_path / "run").exists()


def test_a_path_beyond_the_usual_letters_is_kept(tmp_path, whatchanged):
    place = tmp_path / "\U0001f600 \u00e9"
    code, _, err = whatchanged("train", "pcl-tiny", "--data", place, "--output", tmp_path / "run")
    assert code == 2 and f"{place}: " in err


def test_an_existing_folder_is_not_trained_into(tmp_path, whatchanged):
    (tmp_path / "thesis.tex").write_text("x")
    code, _, err = whatchanged("train", "pcl-tiny", "--output", tmp_path)
    assert code == 2 and "exists already. Go on with it (--resume)" in err
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--init", "clevr-pcl"], "--init clevr-pcl: the run in"),
        (["pcl-tiny", "--init", "clevr-pcl"], "goes on with its own weights. Leave it out."),
        (["--set", "seed=3"], "--set seed=3: the run in"),
        (["pcl-tiny", "--set", "seed=3"], "started with another recipe or other settings"),
        (["--data", "no-such-folder"], "no-such-folder"),
    ],
)
def test_what_a_run_that_goes_on_is_told_is_heeded_or_refused(arguments, message, tmp_path, whatchanged):
    kept = dump_recipe(load_recipe("pcl-tiny"))
    (tmp_path / "recipe.toml").write_text(kept)
    code, out, err = whatchanged("train", *arguments, "--resume", "--output", tmp_path)
    assert (code, out) == (2, "") and message in err
    assert [path.name for path in tmp_path.iterdir()] == ["recipe.toml"]
    assert (tmp_path / "recipe.toml").read_text() == kept


def test_the_stored_tokens_of_a_pool_may_have_moved_when_its_run_goes_on(tmp_path, whatchanged, monkeypatch):
    """``--features`` names tokens where the run's own recipe, which nobody names again, reads a pool."""
    seen = []
    monkeypatch.setattr(
        "whatchanged.training.run.run_recipe", lambda recipe, *rest, **more: seen.append(recipe) or State()
    )
    recipe = load_recipe("clevr-pcl", ["data.path=/old/pool", "data.tokens=/old/tokens"])
    (tmp_path / "recipe.toml").write_text(dump_recipe(recipe))
    places = ("--data", "/new/pool", "--features", "/new/tokens")
    code, _, err = whatchanged("train", "--resume", "--output", tmp_path, *places)
    assert code == 0, err
    assert (seen[0].data.path, seen[0].data.tokens) == ("/new/pool", "/new/tokens")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "stages"), [("pcl-tiny", ["pretrain", "caption"]), ("scorer-tiny", ["train"])]
)
def test_a_toy_recipe_learns_from_drawn_pictures_with_one_command(name, stages, whatchanged, tmp_path):
    """Without features, which nobody has at first; the message about them names this very setting."""
    drawn, run = tmp_path / "twin", tmp_path / "run"
    assert whatchanged("synth", "clevr-change", drawn, "--scenes", 40, "--size", "96x64", "--quiet")[0] == 0
    command = ["train", name, "--data", drawn, "-o", run, "--device", "cpu", "--quiet"]
    code, _, err = whatchanged(*command)
    assert code == 2 and "--set vision.kind=patches" in err
    few = [part for stage in stages for part in ("--set", f"stage.{stage}.steps=15")]
    code, out, err = whatchanged(*command, "--set", "vision.kind=patches", *few)
    assert code == 0 and '"finished": true' in out, err
