"""The comparison of methods: what rows keep of their recipes, the budget, and a whole small one."""

import json
import math
import sys
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
import torch

from whatchanged.errors import OutputError, RecipeError
from whatchanged.recipes import PoolConfig
from whatchanged.recipes.reader import dump_recipe, load_recipe
from whatchanged.records import PairRecord
from whatchanged.training.run import run_recipe

SIZES = {
    "width",
    "heads",
    "ffn",
    "dropout",
    "max_length",
    "max_words",
    "word_width",
    "text_width",
    "text_heads",
    "text_ffn",
    "joint_width",
    "intra_layers",
    "inter_layers",
    "decoder_width",
    "decoder_heads",
    "decoder_ffn",
    "decoder_layers",
}


SCRIPT = "compare"


def make_plan(bench, twin, out, **settings):
    """A small plan on the CPU."""
    return bench.Plan(
        **{
            "twin": twin,
            "out": out,
            "vision_run": None,
            "pool": None,
            "tokens": None,
            "seconds": None,
            "pairs": None,
            "seeds": 1,
            "width": 16,
            "batch": 20,
            "rate": 1e-3,
            "dropout": 0.0,
            "grid": (2, 3),
            "picture": (48, 32),
            "device": torch.device("cpu"),
            **settings,
        }
    )


@pytest.fixture
def plan(bench, tmp_path):
    """A plan whose stored grids have 5 features a cell, and whose trained run is of clevr-pcl."""
    (tmp_path / "features").mkdir()
    np.save(tmp_path / "features" / "a.png.npy", np.zeros((5, 2, 3), np.float16))
    (tmp_path / "trained").mkdir()
    (tmp_path / "trained" / "recipe.toml").write_text(dump_recipe(load_recipe("clevr-pcl")))
    return make_plan(
        bench,
        Path("twin"),
        tmp_path,
        vision_run=tmp_path / "trained",
        pool=Path("pool"),
        tokens=Path("tokens"),
        pairs=640,
        seeds=2,
        batch=32,
    )


def rows(bench):
    return [row for group in bench.GROUPS.values() for row in group]


def test_rows_keep_tasks_and_switches_of_their_recipes(bench, plan):
    for row in rows(bench):
        published = load_recipe(row.recipe)
        ours = bench.recipe_of(row, plan, 3, (8,) * len(published.stages))
        assert [stage.tasks for stage in ours.stages] == [stage.tasks for stage in published.stages]
        before, after = asdict(published.method), asdict(ours.method)
        changed = {name for name in before if before[name] != after[name]}
        assert changed - SIZES == ({"every_word"} if "ours" in row.name else set()), row.name
        assert ours.seed == 3
        if row.vision in bench.TOKENS:
            assert ours.data == PoolConfig(path="pool", tokens="tokens", wording="full", validation=1)
            assert ours.vision == load_recipe("clevr-pcl").vision
        else:
            assert (ours.data.source, ours.data.wording) == ("dataset", "captions")
            kept = (published.data.examples, published.data.exchange)
            assert (ours.data.examples, ours.data.exchange) == kept


def test_rows_share_one_optimiser_and_have_the_vision_of_their_group(bench, plan):
    kinds = {"features": "features", "pixels": "backbone", "patches": "patches"}
    rates = set()
    for group, own in bench.GROUPS.items():
        for row in own:
            recipe = bench.recipe_of(row, plan, 1, (8,) * len(load_recipe(row.recipe).stages))
            assert recipe.method.width == 16
            assert recipe.vision.kind == kinds.get(group, "objects")
            for stage in recipe.stages:
                rates.add(
                    (
                        stage.lr,
                        stage.schedule,
                        stage.optimizer,
                        stage.max_grad_norm,
                        stage.weight_decay,
                        stage.patience,
                    )
                )
                pairs = stage.batch * (2 if load_recipe(row.recipe).data.examples == "scenes" else 1)
                assert pairs == 32 and not stage.rates and not stage.evaluate_every
    assert len(rates) == 1
    assert bench.recipe_of(bench.GROUPS["features"][2], plan, 1, (8,)).vision.feature_width == 5


def test_the_whole_methods_row_of_table_4_is_trained_once_for_both_tables(bench):
    keys = [row.key for row in rows(bench)]
    assert len(keys) == 35 and len(set(keys)) == 34
    assert bench.GROUPS["matched"][0].key == bench.GROUPS["table4"][3].key


def test_pairs_are_cut_in_equal_parts(bench, plan):
    by_name = {row.recipe: bench.steps_of(row, plan) for row in rows(bench)}
    assert by_name["pcl-table4-1-none"] == (20,) and by_name["scorer-table6-2-rr"] == (20,)
    assert by_name["pcl-table4-4-mlm-mvcl-fda"] == by_name["clip4idc-tiny"] == (10, 10)


def test_seconds_become_steps_at_the_speed_of_a_trial_which_is_made_once(bench, plan, monkeypatch):
    tried = []
    monkeypatch.setattr(bench, "seconds_a_step", lambda _, r, __: tried.append(r.name) or [0.5, 0.25])
    plan, row = replace(plan, pairs=None, seconds=40.0), bench.GROUPS["table4"][3]
    assert bench.steps_of(row, plan) == bench.steps_of(row, plan) == (40, 80)
    assert tried == ["pcl-table4-4-mlm-mvcl-fda"]


def record(captions, split="train"):
    path = Path("a.png")
    return PairRecord("plain", "1", "1", split, "pair_caption", path, path, captions)


def test_the_one_sentence_is_the_trained_on_one_that_fits_the_other_split_best(bench):
    train = [record(("the cube moved away", "nothing changed here")), record(("nothing changed here",))]
    val = [record(("the cube moved away",)), record(("the cube moved there",)), record(("all else is new",))]
    assert bench.best_sentence(train, val) == "the cube moved away"


def test_other_settings_are_refused(bench, plan):
    bench.settle(plan)
    bench.settle(replace(plan, seeds=5))
    with pytest.raises(OutputError, match="other settings"):
        bench.settle(replace(plan, rate=2e-3))


def test_stored_grids_need_a_backbone(bench, plan):
    with pytest.raises(RecipeError, match="--vision-run"):
        bench.store_grids(replace(plan, vision_run=None))


def test_rows_on_features_need_stored_ones(bench, plan, tmp_path):
    (tmp_path / "features" / "a.png.npy").unlink()
    with pytest.raises(RecipeError, match=r"Run: python -m benchmarks\.compare twin .* --rows grids"):
        bench.recipe_of(bench.GROUPS["features"][2], plan, 1, (8,))


def test_rows_on_tokens_need_a_trained_run(bench, plan):
    with pytest.raises(RecipeError, match="rows on tokens need --vision-run"):
        bench.recipe_of(bench.GROUPS["plain"][0], replace(plan, vision_run=None), 1, (8, 8))


@pytest.fixture(scope="module")
def small_twin(tmp_path_factory):
    from whatchanged.synth.clevr.twin import write_twin

    twin = tmp_path_factory.mktemp("compare") / "twin"
    write_twin(twin, 100, 5, (48, 32))
    return twin


@pytest.fixture(scope="module")
def small_backbone(bench, small_twin, tmp_path_factory):
    """A run on pixels that learned next to nothing."""
    folder = tmp_path_factory.mktemp("backbone")
    plan = make_plan(bench, small_twin, folder, pairs=20)
    recipe = bench.recipe_of(bench.GROUPS["pixels"][1], plan, 1, (1,))
    run_recipe(recipe, folder / "run", device="cpu", quiet=True)
    return folder / "run"


@pytest.fixture(scope="module")
def small_tokens(tmp_path_factory):
    """A run on tokens that learned next to nothing, a pool of 40 triples, and its tokens."""
    from unittest import mock

    from whatchanged.training.features.store import store_tokens
    from whatchanged.training.objects import pool

    folder = tmp_path_factory.mktemp("seen")
    with mock.patch.object(pool, "SHARD", 40):
        pool.write_description(folder / "pool", 3, 48, 32)
        pool.draw_shard(folder / "pool", 3, (48, 32), "cpu", 0)
    small = ["vision.image_width=48", "vision.image_height=32", "vision.channels=[4, 6, 8]", "vision.keep=6"]
    short = {"steps": "1", "precision": "fp32"}
    steps = [f"stages.{s}.{key}={v}" for s in ("match", "pretrain", "caption") for key, v in short.items()]
    recipe = load_recipe("clevr-pcl", [*small, *steps, f"data.path={folder / 'pool'}", "data.validation=4"])
    run_recipe(recipe, folder / "run", device="cpu", quiet=True)
    store_tokens(folder / "run", folder / "pool", folder / "tokens", 1, "cpu", quiet=True)
    return [
        f"--{name}={folder / place}"
        for name, place in (("vision-run", "run"), ("pool", "pool"), ("tokens", "tokens"))
    ]


@pytest.mark.slow
def test_stored_grids_are_means_of_the_backbones_cells(bench, small_twin, small_backbone, tmp_path):
    """Of 4 x 6 cells, in tiles of two by two."""
    from whatchanged.images import open_image
    from whatchanged.training.run_folder import open_run

    plan = make_plan(bench, small_twin, tmp_path, vision_run=small_backbone, pairs=1)
    bench.store_grids(plan)
    assert len(list(plan.features.iterdir())) == 300
    stored = np.load(plan.features / "CLEVR_semantic_000007.png.npy")
    vision = open_run(small_backbone, "last")[1].vision
    picture = np.asarray(open_image(small_twin / "sc_images" / "CLEVR_semantic_000007.png"))
    with torch.inference_mode():
        cells = vision.backbone(vision.normalise(torch.from_numpy(picture.copy())[None]))[0].numpy()
    tiles = cells.reshape(len(cells), 2, 2, 3, 2).mean((2, 4))
    assert stored.dtype == np.float16 and np.allclose(stored, tiles, atol=2e-3)


@pytest.mark.slow
def test_a_trial_times_each_stage_and_leaves_nothing(bench, small_twin, tmp_path):
    plan = make_plan(bench, small_twin, tmp_path, seconds=1.0)
    row = bench.GROUPS["pixels"][0]
    recipe = bench.recipe_of(row, plan, 0, (bench.SKIPPED + bench.TRIED,) * 2)
    times = bench.seconds_a_step(row, recipe, plan)
    assert len(times) == 2 and min(times) > 0 and not list(tmp_path.iterdir())


@pytest.mark.slow
def test_a_whole_comparison_goes_on_where_it_stopped(
    bench, small_twin, small_tokens, tmp_path, monkeypatch, capsys
):
    def run(seeds, names):
        options = (
            f"--pairs 40 --seeds {seeds} --width 16 --batch 20 --resamples 20 --grid 2x3 --picture 48x32"
        )
        places = [str(small_twin), str(tmp_path / "out"), *small_tokens]
        words = ["compare.py", *places, *options.split(), "--device", "cpu", "--rows", ",".join(names)]
        monkeypatch.setattr(sys, "argv", words)
        bench.main()
        return capsys.readouterr(), [
            json.loads((tmp_path / "out" / f"{name}.json").read_text()) for name in names
        ]

    printed, tables = run(1, ("comparison", "table4", "plain", "grids"))
    assert printed.err.count(" pairs in ") == 34 and "table4: by type of change" in printed.out
    assert [len(table["rows"]) for table in tables] == [9, 7, 9, 14]
    assert tables[0]["settings"]["test_pairs"] == 20

    again, same = run(1, ("table4",))
    assert " pairs in " not in again.err and same == tables[1:2]

    broken = tmp_path / "out" / "runs" / f"{bench.GROUPS['table4'][1].key}-1"
    first = (broken / "predictions.jsonl").read_text()
    (broken / "result.json").unlink()
    printed, (more,) = run(2, ("table4",))
    assert printed.err.count(" pairs in ") == 7  # that one, and the second seed's
    assert (broken / "predictions.jsonl").read_text() == first
    for row in more["rows"][:-1]:
        assert row["seeds"] == 2 and row["pairs"] == 40 and row["parameters"] > 0
        score = row["scores"]["CIDEr-D"]
        assert score["sd"] >= 0 and score["sampling_low"] <= score["mean"] + 1e-9
        assert all(math.isfinite(cell["mean"]) for kind in row["types"].values() for cell in kind.values())
    floor = more["rows"][-1]
    assert floor["seeds"] == 1 and floor["runs"][0]["sentence"] in all_captions(small_twin)


def all_captions(twin):
    """All sentences of a twin."""
    files = (twin / "change_captions.json", twin / "no_change_captions.json")
    return {text for file in files for texts in json.loads(file.read_text()).values() for text in texts}
