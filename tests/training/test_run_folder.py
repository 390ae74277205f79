"""What stands in a run's folder, and what is said where it cannot be read."""

import json
import resource
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import pytest
import torch
from support.tiny_run import TINY, make_run

from whatchanged.errors import RecipeError
from whatchanged.recipes.reader import load_recipe
from whatchanged.training.checkpoint import State
from whatchanged.training.run_folder import (
    check_captions,
    check_vocabulary,
    first_init,
    keep,
    keep_vocabulary,
    launches,
    open_run,
    read_recipe,
)
from whatchanged.vocabulary import Vocabulary

CPU = torch.device("cpu")


@pytest.fixture
def recipe():
    return load_recipe("pcl-tiny")


def environment(run):
    return json.loads((run / "environment.json").read_text())


def test_the_resolved_recipe_is_kept_and_read_back(recipe, tmp_path):
    keep(recipe, tmp_path / "run", CPU, None)
    assert read_recipe(tmp_path / "run") == recipe
    found = environment(tmp_path / "run")
    assert found["init"] is None and found["device"] == "cpu"
    assert found["packages"]["torch"] == version("torch") and "launches" not in found


def test_each_later_launch_stands_beside_the_first(recipe, tmp_path):
    keep(recipe, tmp_path, CPU, None)
    first = environment(tmp_path)
    for count in (1, 2):
        keep(recipe, tmp_path, CPU, None, resumed=True)
        found = environment(tmp_path)
        assert len(found.pop("launches")) == count and found == first


def test_launches_by_their_old_name_stay(recipe, tmp_path):
    """What earlier versions called sittings."""
    keep(recipe, tmp_path, CPU, None)
    old = {**environment(tmp_path), "sittings": [{"device": "a"}, {"device": "b"}]}
    (tmp_path / "environment.json").write_text(json.dumps(old))
    keep(recipe, tmp_path, CPU, None, resumed=True)
    found = environment(tmp_path)
    assert "sittings" not in found
    assert [launch["device"] for launch in found["launches"]] == ["a", "b", "cpu"]


def test_what_a_run_began_from_is_that_of_its_first_launch(recipe, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert (
        first_init(tmp_path / "run", tmp_path.joinpath("other").relative_to(tmp_path)) == tmp_path / "other"
    )
    keep(recipe, tmp_path / "run", CPU, tmp_path / "first")
    for asked in (None, tmp_path / "other"):
        assert first_init(tmp_path / "run", asked) == tmp_path / "first"
    (tmp_path / "run" / "environment.json").write_text("[]")
    assert first_init(tmp_path / "run", None) is None


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff",
        b"{",
        b"[]",
        b"3",
        b"[" * 100_000,
        b'{"init": -1}',
        b'{"launches": 3}',
        b'{"sittings": "x"}',
    ],
)
def test_an_environment_of_another_kind_does_not_stop_a_run(recipe, tmp_path, content):
    keep(recipe, tmp_path, CPU, None)
    (tmp_path / "environment.json").write_bytes(content)
    assert first_init(tmp_path, None) is None
    keep(recipe, tmp_path, CPU, None, resumed=True)
    found = environment(tmp_path)
    assert found["device" if "launches" not in found else "launches"]


def test_launches_come_in_order_and_what_is_none_is_left_out(tmp_path):
    assert launches(tmp_path) == []
    for content, wanted in (
        ({"device": "a", "launches": [{"device": "b"}, 3]}, [{"device": "a"}, {"device": "b"}]),
        ({"device": "a", "sittings": [{"device": "b"}]}, [{"device": "a"}, {"device": "b"}]),
        ({"device": "a", "launches": 3}, [{"device": "a"}]),
        ([1], []),
    ):
        (tmp_path / "environment.json").write_text(json.dumps(content))
        assert launches(tmp_path) == wanted


def test_words_that_cannot_be_read_are_other_words(tmp_path):
    (tmp_path / "vocabulary.json").write_bytes(b"\xff")
    with pytest.raises(RecipeError, match="the data has other words now"):
        check_vocabulary(Vocabulary.from_captions(["the cube"]), tmp_path)


def test_a_run_goes_on_with_its_own_words_only(tmp_path):
    words, others = (Vocabulary.from_captions([text]) for text in ("the cube", "the ball"))
    check_vocabulary(words, tmp_path)  # nothing is kept yet
    keep_vocabulary(words, tmp_path)
    check_vocabulary(words, tmp_path)
    with pytest.raises(RecipeError, match="the data has other words now"):
        check_vocabulary(others, tmp_path)


def test_a_run_is_opened_in_evaluation_mode(tmp_path):
    run = make_run(tmp_path / "run", "clevr-see", TINY)
    recipe, method, state = open_run(run)
    assert recipe == load_recipe("clevr-see", TINY) and state.finished and not method.training
    assert method.vocabulary.entries[6:] == ("cube", "the")


def test_a_recipe_that_asks_for_more_than_there_is_costs_no_memory(tmp_path):
    run = make_run(tmp_path / "run", "pcl-tiny", [])
    recipe = (run / "recipe.toml").read_text()
    (run / "recipe.toml").write_text(recipe.replace("width = 32", "width = 32768"))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(
        RecipeError, match=r"it holds [\d,]+ weights, and the method of its recipe has [\d,]{12,}"
    ):
        open_run(run)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # kilobytes


def test_folders_without_a_run_are_named(recipe, tmp_path):
    with pytest.raises(RecipeError, match=r"no run lies here \(it has no recipe\.toml\)"):
        open_run(tmp_path)
    keep(recipe, tmp_path, CPU, None)
    with pytest.raises(RecipeError, match=r"its vocabulary\.json cannot be read"):
        open_run(tmp_path)
    (tmp_path / "vocabulary.json").write_text('["a"]')
    with pytest.raises(RecipeError, match=r"its vocabulary\.json cannot be read"):
        open_run(tmp_path)
    keep_vocabulary(Vocabulary.from_captions(["a"]), tmp_path)
    with pytest.raises(RecipeError, match="no checkpoint can be read here"):
        open_run(tmp_path)


def test_a_checkpoint_from_before_the_decoder_learned_is_refused():
    recipe = load_recipe("clip4idc-tiny")
    assert [stage.name for stage in recipe.stages] == ["retrieval", "caption"]
    wanted = r"of the stage retrieval, before the decoder learned to caption \(stage caption\)"
    with pytest.raises(RecipeError, match=wanted):
        check_captions(Path("run"), recipe, State(stage=0))
    check_captions(Path("run"), recipe, State(stage=1))
    adapted = replace(recipe, stages=recipe.stages[:1])
    with pytest.raises(RecipeError, match="no stage of it learned to caption"):
        check_captions(Path("run"), adapted, State(stage=0))
