"""A model that learned from stored features, exported with their backbone in front of it."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from support.tiny_run import TINY, make_run

from whatchanged.captioner.card import GridAttention
from whatchanged.captioner.runtime import load
from whatchanged.datasets import open_dataset
from whatchanged.errors import RecipeError
from whatchanged.launch import Launch
from whatchanged.recipes.reader import load_recipe
from whatchanged.training.data.grid_files import GridFiles
from whatchanged.training.export import export_run
from whatchanged.training.export.backbone_in_front import put_backbone_in_front
from whatchanged.training.features.store import store_features
from whatchanged.training.run import run_recipe
from whatchanged.training.run_folder import open_run


@pytest.fixture(scope="module")
def seer(tmp_path_factory):
    folder = tmp_path_factory.mktemp("in_front") / "seer"
    return make_run(folder, "clevr-see", [*TINY, "vision.image_width=32", "vision.image_height=24"])


@pytest.fixture(scope="module")
def learner(seer, tiny_dataset, tmp_path_factory):
    """A run trained on the stored grids of the seer's backbone."""
    folder = tmp_path_factory.mktemp("in_front")
    store_features(
        open_dataset(tiny_dataset), str(seer), folder / "grids", launch=Launch("cpu", 1, quiet=True)
    )
    about = GridFiles(folder / "grids").about
    places = [
        f"data.path={json.dumps(str(tiny_dataset))}",
        f"data.features={json.dumps(str(folder / 'grids'))}",
    ]
    grid = [f"vision.rows={about['rows']}", f"vision.columns={about['columns']}"]
    steps = ["stage.pretrain.steps=1", "stage.caption.steps=5", "stage.caption.evaluate_every=0"]
    recipe = load_recipe("pcl-tiny", [*places, *grid, *steps, f"vision.feature_width={about['width']}"])
    run_recipe(recipe, folder / "run", device="cpu", quiet=True)
    return folder / "run"


def test_the_model_reads_pictures_as_it_read_their_features(learner, seer, tiny_dataset, tmp_path):
    export_run(learner, tmp_path / "model", "mine", weights=seer)
    captioner, (recipe, method, _) = load(tmp_path / "model"), open_run(learner)
    stored, root = GridFiles(tmp_path.parent / recipe.data.features), tiny_dataset
    card = captioner.card
    assert card.input.size == (32, 24) and card.attention == GridAttention(3, 4)
    assert (
        card.provenance["features"] == stored.about
        and 'kind = "features"' in card.provenance["resolved_recipe"]
    )
    for record in open_dataset(tiny_dataset, split="val").records:
        found = captioner.describe(record.before, record.after)
        grids = [
            torch.from_numpy(stored.read(p.relative_to(root).as_posix()))[None]
            for p in (record.before, record.after)
        ]
        with torch.inference_mode():
            memory = method.encode(*grids)
            wanted = method.no_change(memory)
        p = float(wanted[0])
        assert found.no_change == pytest.approx(card.no_change.calibrated(p), abs=5e-3)
        assert np.all(found.heatmaps >= 0)


def test_in_front_of_a_model_the_backbone_computes_in_32_bit(learner, seer, tiny_dataset, tmp_path):
    data = open_dataset(tiny_dataset, split="val")
    half = Launch("cpu", 1, "bf16", quiet=True)
    store_features(data, str(seer), tmp_path / "half", launch=half)
    recipe, method, _ = open_run(learner)
    whole = GridFiles(Path(recipe.data.features)).about
    recipe = replace(recipe, data=replace(recipe.data, features=str(tmp_path / "half")))
    _, backbone = put_backbone_in_front(learner, recipe, method, seer)
    assert GridFiles(tmp_path / "half").about != whole == backbone.about()


def test_wrong_or_unknown_backbones_are_refused(learner, seer, tmp_path):
    with pytest.raises(
        RecipeError, match=r"the backbone of a run \(clevr-see\)\. Name that run: --weights RUN"
    ):
        export_run(learner, tmp_path / "model", "mine")
    torch.manual_seed(9)
    other = make_run(tmp_path / "other", "clevr-see", [*TINY, "vision.channels=[4, 6, 9]"])
    with pytest.raises(RecipeError, match="Name the weights that made them"):
        export_run(learner, tmp_path / "model", "mine", weights=other)
    moved = shutil.copytree(learner, tmp_path / "run")
    text = (moved / "recipe.toml").read_text()
    grids = open_run(learner)[0].data.features
    (moved / "recipe.toml").write_text(text.replace(grids, str(tmp_path)))
    with pytest.raises(RecipeError, match="does not name the backbone that made them"):
        export_run(moved, tmp_path / "model", "mine", weights=seer)
    assert not (tmp_path / "model").exists()
