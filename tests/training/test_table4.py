"""The six rows of Table 4, from their recipes, through the command line, at toy size."""

import json

import pytest

from whatchanged.recipes.reader import load_recipe, recipe_names
from whatchanged.training.checkpoint import read_checkpoint

ROWS = [name for name in recipe_names() if name.startswith("pcl-table4-")]
SMALL = [
    "method.width=32",
    "method.heads=4",
    "method.ffn=64",
    "method.cross_layers=1",
    "method.max_length=28",
    "vision.rows=3",
    "vision.columns=3",
    "vision.feature_width=24",
]
STAGES = {
    "pretrain": {"steps": 17, "batch": 14, "warmup": 4, "lr": 1e-3, "log_every": 1},
    "caption": {"steps": 4, "batch": 14, "lr": 1e-3, "evaluate_every": 2, "log_every": 1},
}


def small(name, dataset):
    """The row's command line at toy size, preset and tasks untouched."""
    settings = list(SMALL)
    for stage in load_recipe(name).stages:
        settings += [f"stage.{stage.name}.{key}={value}" for key, value in STAGES[stage.name].items()]
    overrides = [part for setting in settings for part in ("--set", setting)]
    return [name, "--data", dataset, "--features", dataset / "features", "--device", "cpu", *overrides]


@pytest.mark.parametrize("preset", ["paper", "authors"])
@pytest.mark.parametrize("name", [*ROWS, "pcl-clevr-paper", "pcl-clevr-authors"])
def test_row_runs_from_its_recipe_to_scored_captions(name, preset, tiny_dataset, tmp_path, whatchanged):
    run = tmp_path / "run"
    chosen = ("--set", f"method.preset={preset}")
    code, out, err = whatchanged("train", *small(name, tiny_dataset), *chosen, "--output", run)
    assert code == 0, err
    assert json.loads(out)["finished"] is True
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    tasks = {key.split("/")[0] for line in lines for key in line} & {"mlm", "mvcl", "fda", "caption"}
    wanted = {task for stage in load_recipe(name).stages for task in stage.tasks}
    assert tasks == wanted
    assert [line["step"] for line in lines if "CIDEr-D" in line] == [2, 4]
    assert any("caption/distractor" in line for line in lines) == (name != ROWS[5])
    weights = read_checkpoint(run / "checkpoints" / "best.safetensors").tensors
    assert any(".pair." in tensor for tensor in weights) == (name != ROWS[4])
