"""Processes that share each batch make the steps of one that has it whole."""

import json
import time
from dataclasses import replace

import pytest
import torch
from support import tiny_pool
from support.finished_runs import lines, weights
from support.launching import SECONDS, launch, launched
from support.tiny_run import BACKBONE, SMALL_PICTURES

from whatchanged.recipes.reader import load_recipe
from whatchanged.recipes.values import dump_recipe
from whatchanged.training import distributed
from whatchanged.training.checkpoint import read_checkpoint
from whatchanged.training.distributed import own_part

EXACT = 1e-9
"""What the order of sums may change in double precision."""
FEW = ("pcl-authors", "scorer-repaired", "clip4idc-authors")


@pytest.fixture(scope="session")
def small_pool(tmp_path_factory):
    return tiny_pool.draw(tmp_path_factory.mktemp("pool"))


def assert_same_steps(out, uneven):
    """Losses and weights are those of one process, and the weights moved; some parts were ``uneven``."""
    found = json.loads(out.read_text())["stages"]
    for stage, seen in found.items():
        assert seen["loss"] < EXACT and seen["weight"] < EXACT, (stage, seen)
        assert seen["went"] > 1e-3, (stage, seen)
    assert any(uneven(rows) for seen in found.values() for rows in seen["rows"])
    return found


def test_random_numbers_go_on_after_a_step_that_failed(monkeypatch):
    """Dropout's own ones would otherwise stay, unlike in each process."""
    monkeypatch.setattr(distributed, "processes", lambda: 2)
    torch.manual_seed(0)
    torch.rand(3)
    drawn = torch.rand(2)
    torch.manual_seed(0)
    with pytest.raises(KeyError), distributed.random_draws(torch.device("cpu"), (1, 2)) as common:
        torch.rand(3, generator=common)
        raise KeyError
    assert torch.equal(torch.rand(2), drawn)


def test_parts_cover_all_and_are_nearly_equal():
    for length, count in ((10, 3), (2, 4), (0, 2), (7, 1)):
        parts = [own_part(length, number, count) for number in range(count)]
        assert [index for part in parts for index in part] == list(range(length))
        assert max(map(len, parts)) - min(map(len, parts)) <= 1


def test_two_processes_make_the_steps_of_one(small_pool, tmp_path):
    launch(2, tmp_path, "support.steps_together", small_pool, tmp_path / "out.json", 2, 7, 1, *FEW)
    found = assert_same_steps(tmp_path / "out.json", lambda rows: rows == [3, 4])
    assert {stage.partition(":")[0] for stage in found} == set(FEW)


@pytest.mark.slow
def test_every_method_and_stage_on_two_processes(small_pool, tmp_path):
    launch(2, tmp_path, "support.steps_together", small_pool, tmp_path / "out.json", 10, 7, 1)
    found = assert_same_steps(tmp_path / "out.json", lambda rows: rows == [3, 4])
    assert len(found) > 55 and any("detection" in stage for stage in found)


@pytest.mark.slow
def test_a_process_may_have_no_pair_of_a_batch(small_pool, tmp_path):
    launch(4, tmp_path, "support.steps_together", small_pool, tmp_path / "out.json", 2, 3, 1)
    assert_same_steps(tmp_path / "out.json", lambda rows: 0 in rows)


@pytest.mark.slow
def test_batches_read_in_parts_make_the_same_steps(small_pool, tmp_path):
    """One process in three parts; two processes, each in two parts."""
    launch(1, tmp_path, "support.steps_together", small_pool, tmp_path / "one.json", 3, 7, 3)
    assert_same_steps(tmp_path / "one.json", lambda rows: rows == [7])
    launch(2, tmp_path, "support.steps_together", small_pool, tmp_path / "two.json", 2, 7, 2)
    assert_same_steps(tmp_path / "two.json", lambda rows: rows == [3, 4])


@pytest.fixture(scope="session")
def recipes(tiny_dataset, tmp_path_factory):
    """Recipes of two stages on the tiny data set's pictures, without dropout, as files."""
    folder = tmp_path_factory.mktemp("recipes")
    settings = {
        "pcl-tiny": [
            "vision.kind=backbone",
            *BACKBONE,
            *SMALL_PICTURES,
            "method.dropout=0.0",
            "stage.pretrain.tasks={ mlm = 1, mvcl = 1 }",
            "stage.pretrain.steps=8",
            "stage.pretrain.save_every=3",
            "stage.caption.steps=6",
            "stage.caption.evaluate_every=3",
        ],
        "clip4idc-tiny": [
            "stage.retrieval.steps=6",
            "stage.retrieval.evaluate_every=2",
            "stage.caption.steps=4",
            "stage.caption.evaluate_every=2",
        ],
    }
    files = {}
    for name, own in settings.items():
        recipe = load_recipe(name, [*own, f"data.path={tiny_dataset}"])
        recipe = replace(recipe, stages=tuple(replace(stage, log_every=1) for stage in recipe.stages))
        files[name] = folder / f"{name}.toml"
        files[name].write_text(dump_recipe(recipe))
    return files


@pytest.fixture(scope="session")
def alone(recipes, tmp_path_factory):
    """Each recipe's run in one process."""
    folder = tmp_path_factory.mktemp("alone")
    for name, file in recipes.items():
        launch(1, folder, "support.run_together", file, folder / name, 0)
    return folder


def assert_same_run(run, other):
    """The same lines and the same last weights, up to the order of sums; and both finished."""
    assert len(lines(run)) == len(lines(other)) > 8
    for line, wanted in zip(lines(run), lines(other), strict=True):
        assert (line.pop("stage"), line.keys()) == (wanted.pop("stage"), wanted.keys())
        assert line == pytest.approx(wanted, abs=EXACT, rel=EXACT)
    assert weights(run).keys() == weights(other).keys()
    for name, tensor in weights(run).items():
        torch.testing.assert_close(tensor, weights(other)[name], atol=EXACT, rtol=0)
    assert last(run).finished and last(other).finished


def last(run):
    return read_checkpoint(run / "checkpoints" / "last.safetensors").state


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pcl-tiny", "clip4idc-tiny"])
def test_a_run_of_three_processes_is_that_of_one(name, recipes, alone, tmp_path):
    """Both stages, with shared validation, and one that begins from the best weights of the one before."""
    launch(3, tmp_path, "support.run_together", recipes[name], tmp_path / "run", 0)
    assert_same_run(tmp_path / "run", alone / name)
    environment = json.loads((tmp_path / "run" / "environment.json").read_text())
    assert environment["processes"] == 3


@pytest.mark.slow
def test_a_run_whose_process_was_killed_goes_on_with_one_and_then_with_four(recipes, alone, tmp_path):
    run, recipe = tmp_path / "run", recipes["pcl-tiny"]
    with launched(2, tmp_path, "support.run_together", recipe, run, 0.2) as (first, second):
        deadline = time.monotonic() + SECONDS
        while not (run / "metrics.jsonl").exists() or len(lines(run)) < 5:
            assert time.monotonic() < deadline and first.is_alive()
            time.sleep(0.01)
        second.kill()
        first.join(SECONDS)
    said = (tmp_path / "0.txt").read_text()
    assert first.exitcode == 1 and "RecipeError: Another process of this run ended" in said
    assert last(run).step in (3, 6) and last(run).stage == 0
    launch(1, tmp_path, "support.run_together", recipe, run, 0, 0)
    assert not last(run).finished
    launch(4, tmp_path, "support.run_together", recipe, run, 0)
    assert_same_run(run, alone / "pcl-tiny")
