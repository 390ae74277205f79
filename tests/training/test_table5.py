"""The four PCL rows of Table 5, from their recipes, through the command line, on drawn birds at toy size."""

import json

import numpy as np
import pytest

from whatchanged.recipes.reader import load_recipe, recipe_names
from whatchanged.training.build import open_sources
from whatchanged.training.checkpoint import read_checkpoint

pytest.importorskip("textblob")

ROWS = [name for name in recipe_names() if name.startswith("pcl-table5-")]
SMALL = [
    *("method.width=16", "method.heads=2", "method.ffn=16", "method.cross_layers=1"),
    *("vision.kind=patches", "vision.image_width=32", "vision.image_height=32", "vision.patch=16"),
]
STAGES = {
    "single": {"steps": 12, "batch": 14, "warmup": 4, "log_every": 1},
    "pretrain": {"steps": 14, "batch": 14, "warmup": 4, "log_every": 1},
    "caption": {"steps": 4, "batch": 7, "evaluate_every": 2, "evaluate_from": 3, "log_every": 1},
}


def small(name, twin):
    """The row's overrides at toy size, tasks and schedule untouched."""
    recipe = load_recipe(name)
    settings = list(SMALL)
    if "single" in [stage.name for stage in recipe.stages]:
        settings.append(f"data.single={twin}/cub")
    if any("fgvc" in stage.tasks for stage in recipe.stages):
        settings += [f"data.labelled={twin}/nabirds", "method.classes=6"]
    for stage in recipe.stages:
        settings += [f"stage.{stage.name}.{key}={value}" for key, value in STAGES[stage.name].items()]
    return settings


@pytest.mark.parametrize("preset", ["paper", "authors"])
@pytest.mark.parametrize("name", ROWS)
def test_row_runs_from_its_recipe_to_scored_captions(name, preset, tiny_birds, tmp_path, whatchanged):
    run, single, labelled = tmp_path / "run", "-cub" in name, "nabirds" in name
    settings = [*small(name, tiny_birds), f"method.preset={preset}"]
    chosen = [part for setting in settings for part in ("--set", setting)]
    data = ("--data", tiny_birds / "birds_to_words", "--device", "cpu")
    code, out, err = whatchanged("train", name, *data, *chosen, "--output", run)
    assert code == 0, err
    assert json.loads(out)["finished"] is True
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    assert list(dict.fromkeys(line["stage"] for line in lines)) == ["single"] * single + [
        "pretrain",
        "caption",
    ]
    tasks = {
        stage: {key.split("/")[0] for line in lines if line["stage"] == stage for key in line}
        & {"mlm", "mvcl", "fda", "fgvc", "caption"}
        for stage in ("pretrain", "caption")
    }
    assert tasks["pretrain"] >= {"mlm"} and ("fgvc" in tasks["pretrain"]) == labelled
    assert tasks["caption"] == {"caption"}
    scored = [line["step"] for line in lines if "ROUGE-L" in line]
    assert scored == [2, 4]
    best = read_checkpoint(run / "checkpoints" / "best.safetensors")
    assert best.state.step == 4  # the first evaluation comes too early to count
    assert any(tensor.startswith("model.fine.") for tensor in best.tensors) == labelled
    assert (run / "negatives_single.jsonl").exists() == single


def test_there_are_four_rows_with_the_published_sizes_and_ratios():
    assert len(ROWS) == 4
    for name in ROWS:
        recipe = load_recipe(name)
        stages = {stage.name: stage for stage in recipe.stages}
        assert ("single" in stages) == ("-cub" in name)
        if "single" in stages:
            assert dict(stages["single"].tasks) == {"mlm": 9, "mvcl": 1, "fda": 2}
            assert (stages["single"].batch, stages["single"].data) == (350, "single")
        weights = dict(stages["pretrain"].tasks)
        assert weights.pop("fgvc", None) == (3 if "nabirds" in name else None)
        assert weights == {"mlm": 9, "mvcl": 1, "fda": 2} and stages["pretrain"].batch == 150
        assert (stages["caption"].metric, stages["caption"].weight_decay) == ("ROUGE-L", 1e-4)
        assert (recipe.method.max_length, recipe.method.cross_layers) == (80, 2)


def test_each_stage_reads_its_own_set_and_the_words_are_of_both(tiny_birds, tmp_path):
    name, rng = ROWS[3], np.random.default_rng(0)
    recipe = load_recipe(name, [*small(name, tiny_birds), f"data.path={tiny_birds}/birds_to_words"])
    sources = open_sources(recipe, tmp_path)
    first, second, third = (sources.of(stage, recipe.tasks) for stage in recipe.stages)
    kinds = {
        (number, task): source[task].example(0, rng).record.kind
        for number, source in enumerate((first, second, third))
        for task in recipe.stages[number].tasks
    }
    assert {kinds[0, task] for task in ("mlm", "mvcl", "fda")} == {"single_caption"}
    assert {kinds[1, task] for task in ("mlm", "mvcl", "fda")} == {"pair_caption"}
    assert kinds[1, "fgvc"] == "pair_label" and kinds[2, "caption"] == "pair_caption"
    words = set(sources.vocabulary.entries)
    assert {"animal1", "animal2", "this", "bird"} <= words
    example = first["fda"].example(0, rng)
    assert len(example.negatives) == 6 and np.array_equal(example.before, example.after)
