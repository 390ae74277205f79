"""Learning curves: runs that were broken off go on as if they were not, all from one vision."""

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from support.learning_plan import make_plan, tiny_settings

from whatchanged.errors import OutputError
from whatchanged.recipes.reader import recipe_names
from whatchanged.training.checkpoint import read_checkpoint
from whatchanged.training.run_folder import open_run

SCRIPT = "learning.run"
ROWS = ("clip4idc", "scorer")


@pytest.fixture(scope="module")
def plan(bench, learning_places, tmp_path_factory):
    return make_plan(bench, learning_places, tmp_path_factory.mktemp("learning"))


@pytest.fixture(autouse=True)
def small_rows(bench, monkeypatch):
    small = {row: (recipe, (*own, *tiny_settings(row))) for row, (recipe, own) in bench.ROWS.items()}
    monkeypatch.setattr(bench, "ROWS", small)


def finished(bench, plan, row="scorer"):
    """A run that was trained and tested, or still is."""
    run = bench.Run(row, 1e-3, 3, plan)
    run.train()
    run.test()
    return run


def weights(run):
    return read_checkpoint(run.folder / "checkpoints" / "last.safetensors").tensors


@pytest.mark.parametrize("row", ["scorer", pytest.param("clip4idc", marks=pytest.mark.slow)])
def test_a_run_that_was_broken_off_goes_on_as_if_it_was_not(bench, plan, row, tmp_path, monkeypatch):
    whole = finished(bench, plan, row)
    broken = bench.Run(row, 1e-3, 3, replace(plan, out=tmp_path))
    point, points = bench.Run._point, []

    def failing(self, *given):
        points.append(given)
        if len(points) in (2, 4):
            raise KeyboardInterrupt
        point(self, *given)

    monkeypatch.setattr(bench.Run, "_point", failing)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            broken.train()
    broken.train()
    assert all(torch.equal(tensor, weights(broken)[name]) for name, tensor in weights(whole).items())
    assert [{**line, "seconds": 0} for line in broken.curve()] == [
        {**line, "seconds": 0} for line in whole.curve()
    ]


def test_the_points_of_a_curve(bench, plan):
    """96 pairs in batches of 8, a point each 32 pairs and at the end of each stage: CLIP4IDC's first is a
    fifth of its steps."""
    scorer, clip4idc = finished(bench, plan).curve(), finished(bench, plan, "clip4idc").curve()
    assert [point["pairs"] for point in scorer] == [32, 64, 96]
    assert [(point["stage"], point["pairs"]) for point in clip4idc] == [
        ("retrieval", 16),
        ("caption", 48),
        ("caption", 80),
        ("caption", 96),
    ]
    assert {"caption", "caption/view", "caption/reason", "caption/pointing"} == set(scorer[0]["losses"])
    assert all(0 <= point["wholly true"] <= 100 for point in scorer)


def test_the_vision_is_the_shared_one_and_stays_as_it_is(bench, plan):
    given = plan.trained.vision.state_dict()
    for row in ROWS:
        learned = open_run(finished(bench, plan, row).folder, "last")[1].vision
        assert all(torch.equal(learned.state_dict()[name], tensor) for name, tensor in given.items())
        assert not torch.equal(learned.standardised.deviation, torch.ones(learned.width))


def test_the_test_is_of_the_last_weights_and_taken_once(bench, plan):
    run = finished(bench, plan)
    file = run.folder / "test-near.json"
    scores = json.loads(file.read_text())
    last = run.curve()[-1]
    assert scores["scores"]["wholly true"]["mean"] == last["wholly true"]  # the same pairs here
    stamp = file.stat().st_mtime_ns
    run.test()
    assert file.stat().st_mtime_ns == stamp


def test_retrieval_is_tested_after_its_stage_and_at_the_end(bench, plan):
    """SCORER embeds no captions, so it has none."""
    found = finished(bench, plan, "clip4idc").result()["tests"]["near"]["retrieval"]
    assert list(found) == ["after retrieval", "at the end"]
    for block in (way for when in found.values() for way in when.values()):
        assert 0 <= block["R@1"] <= block["R@5"] <= block["R@10"] <= 100
    assert "retrieval" not in finished(bench, plan).result()["tests"]["near"]


def test_retrieval_of_pairs_that_are_told_by_their_captions(bench, monkeypatch):
    """Three changed pairs, one caption each; the first two captions are seen in each other's pairs."""
    from whatchanged.evaluation.io.similarity import Similarity

    matrix = np.array([[0.0, 1.0, 0.2], [1.0, 0.0, 0.3], [0.1, 0.2, 1.0]], np.float32)
    found = Similarity(matrix, ("a", "b", "c"), ("one", "two", "three"), np.arange(3))
    monkeypatch.setattr(bench, "similarity", lambda *given: found)
    scores = bench.retrieved(None, SimpleNamespace(examples=()))
    assert scores["text_to_pair"] == {"R@1": pytest.approx(100 / 3), "R@5": 100, "R@10": 100}


def test_finished_runs_are_found_again_with_what_made_them(bench, plan):
    run = finished(bench, plan)
    results = {known.row: known for known in bench.runs_in(plan)}
    assert results["scorer"] == run
    result = results["scorer"].result()
    assert (result["recipe"], result["rate"], result["seed"], result["pairs"]) == (
        "clevr-scorer",
        1e-3,
        3,
        96,
    )
    assert result["curve"] == run.curve() and [launch["commit"] for launch in result["code"]]


def test_a_run_tells_every_commit_that_it_ran_on(bench, plan, tmp_path, monkeypatch):
    """It is broken off at its second point, goes on with other code, and is not touched when it has ended."""
    run = bench.Run("scorer", 1e-3, 3, replace(plan, out=tmp_path))
    point, points = bench.Run._point, []

    def failing(self, *given):
        points.append(given)
        if len(points) == 2:
            raise KeyboardInterrupt
        point(self, *given)

    def launched(commit):
        code = SimpleNamespace(commit=commit, changed=[])
        monkeypatch.setattr(bench, "code_that_runs", lambda: code)
        run.train()

    monkeypatch.setattr(bench.Run, "_point", failing)
    with pytest.raises(KeyboardInterrupt):
        launched("a")
    assert run.curve() and run.result() is None
    launched("b")
    launched("c")
    assert [code["commit"] for code in run.result()["code"]] == ["a", "b"]


def test_a_folder_of_other_data_or_settings_is_refused(bench, plan):
    finished(bench, plan)
    for other in ({"data": {"drawn": "else"}}, {"settings": ("method.dropout=0.3",)}):
        with pytest.raises(OutputError, match=f"a run of other {next(iter(other))}"):
            bench.Run("scorer", 1e-3, 3, replace(plan, **other)).train()
        assert not list(bench.runs_in(replace(plan, **other)))


VARIANTS = ("pcl", "pcl-unguided", "pcl-masked", "scorer-unguided", "clip4idc-unguided")
OF_TABLES = ("clevr-pcl-table4-", "clevr-scorer-table6-", "clevr-clip4idc-ft")
ABLATIONS = [name.removeprefix("clevr-") for name in recipe_names() if name.startswith(OF_TABLES)]


@pytest.mark.slow
@pytest.mark.parametrize("row", [*ABLATIONS, *VARIANTS])
def test_every_row_learns_and_is_tested(bench, plan, row):
    """64 pairs of a pool of ten scenes."""
    run = finished(bench, replace(plan, pairs=64, every=64), row)
    result = run.result()
    assert (
        result["curve"][-1]["pairs"] == 64 and np.isfinite(list(result["curve"][-1]["losses"].values())).all()
    )
    assert 0 <= result["tests"]["near"]["scores"]["wholly true"]["mean"] <= 100
