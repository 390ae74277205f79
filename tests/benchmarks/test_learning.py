"""Learning curves: runs that were broken off go on as if they were not, all from one vision."""

import json
from dataclasses import replace

import pytest
import torch
from tiny_run import TINY, make_run

from whatchanged.errors import RecipeError
from whatchanged.recipes.reader import load_recipe
from whatchanged.training.checkpoint import read_checkpoint
from whatchanged.training.features.store import store_tokens
from whatchanged.training.run_folder import open_run

SCRIPT = "learning"
WITHOUT_FFN = [setting for setting in TINY if not setting.startswith("method.ffn")]
ROWS = {
    "clip4idc": (
        "clevr-clip4idc",
        (
            *TINY,
            "method.dropout=0.2",
            "stage.caption.batch=8",
            "stage.caption.precision=fp32",
            "stage.retrieval.precision=fp32",
            "method.text_width=16",
            "method.text_heads=2",
            "method.joint_width=16",
            "method.decoder_width=16",
            "method.decoder_heads=2",
            "stage.retrieval.batch=8",
        ),
    ),
    "scorer": (
        "clevr-scorer",
        (
            *WITHOUT_FFN,
            "method.dropout=0.2",
            "method.word_width=16",
            "stage.train.batch=8",
            "stage.train.precision=fp32",
        ),
    ),
}


@pytest.fixture(scope="module")
def plan(bench, tiny_pool, tmp_path_factory):
    """A small plan: a random vision, whose tokens are stored, and twelve drawn scenes."""
    from whatchanged.training.objects.render.synth import write_twin

    folder = tmp_path_factory.mktemp("learning")
    see = make_run(folder / "see", "clevr-see", TINY)
    store_tokens(see, tiny_pool, folder / "tokens", 2, "cpu", quiet=True)
    write_twin(folder / "val", 12, 5, (96, 64))
    places = {"pool": tiny_pool, "tokens": folder / "tokens", "val": folder / "val", "test": folder / "val"}
    settings = {"vision": str(see), "pairs": 96, "every": 32, "resamples": 20}
    return bench.Plan(out=folder / "out", **places, **settings)


@pytest.fixture(autouse=True)
def small_rows(bench, monkeypatch):
    monkeypatch.setattr(bench, "ROWS", ROWS)


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

    def failing(self, recipe, method, validation, state):
        points.append(state.step)
        if len(points) in (2, 4):
            raise KeyboardInterrupt
        point(self, recipe, method, validation, state)

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
    scores = json.loads((run.folder / "test.json").read_text())
    last = run.curve()[-1]
    assert scores["scores"]["wholly true"]["mean"] == last["wholly true"]  # the same pairs here
    stamp = (run.folder / "test.json").stat().st_mtime_ns
    run.test()
    assert (run.folder / "test.json").stat().st_mtime_ns == stamp


def test_finished_runs_are_found_again_with_what_made_them(bench, plan):
    run = finished(bench, plan)
    found = {known.row: known for known in bench.known_runs(plan)}
    assert found["scorer"] == run
    result = found["scorer"].result()
    assert (result["recipe"], result["rate"], result["seed"], result["pairs"]) == (
        "clevr-scorer",
        1e-3,
        3,
        96,
    )
    assert result["curve"] == run.curve() and result["commit"]


def test_rows_and_their_rates(bench):
    assert list(bench.chosen("scorer=3e-3,clip4idc,scorer=1e-3")) == [
        ("scorer", 3e-3),
        ("clip4idc", bench.RATE),
        ("scorer", 1e-3),
    ]
    for wrong, message in (("pcr", "choose among"), ("scorer=fast", "'fast' is no rate")):
        with pytest.raises(RecipeError, match=message):
            list(bench.chosen(wrong))


def test_every_row_is_a_recipe_of_the_package(bench, monkeypatch):
    monkeypatch.undo()
    for name, settings in bench.ROWS.values():
        recipe = load_recipe(name, settings)
        assert recipe.vision.frozen and recipe.vision.matching and recipe.data.ordered_pairs == "balanced"
