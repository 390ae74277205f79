"""A tiny data set in the official layout, with random features and pictures, made once."""

import json
import shutil

import numpy as np
import pytest
from PIL import Image

from whatchanged.recipes.reader import load_recipe
from whatchanged.synth.birds.twin import write_birds
from whatchanged.synth.clevr.sampling import sample_triple
from whatchanged.worlds.clevr.language import write_captions

SCENES, WIDTH, CELLS = 20, 24, 9
VIEWS = {"default": "images", "semantic": "sc_images", "nonsemantic": "nsc_images"}


@pytest.fixture(scope="session")
def triples():
    return [sample_triple(3, i) for i in range(SCENES)]


@pytest.fixture(scope="session")
def tiny_dataset(tmp_path_factory, triples):
    """DATASET/, its features in DATASET/features, the last four scenes for validation."""
    root = tmp_path_factory.mktemp("tiny")
    (root / "features").mkdir()
    rng = np.random.default_rng(0)
    captions, types = {"change": {}, "no_change": {}}, {}
    for triple in triples:
        name = f"{triple.index:06d}.png"
        for kind, pair in zip(captions, triple.pairs(), strict=True):
            captions[kind][f"CLEVR_default_{name}"] = write_captions(*pair, rng)
        types.setdefault(triple.change.type, []).append(name)
        for view, folder in VIEWS.items():
            (root / folder).mkdir(exist_ok=True)
            pixels = rng.integers(0, 256, (32, 48, 3), dtype=np.uint8)
            Image.fromarray(pixels).save(root / folder / f"CLEVR_{view}_{name}")
            features = rng.random((WIDTH, CELLS), dtype=np.float32)
            np.save(root / "features" / f"CLEVR_{view}_{name}.npy", features)
    for kind, sentences in captions.items():
        (root / f"{kind}_captions.json").write_text(json.dumps(sentences))
    numbers = list(range(SCENES))
    splits = {"train": numbers[:-4], "val": numbers[-4:], "test": []}
    (root / "splits.json").write_text(json.dumps(splits))
    (root / "type_mapping.json").write_text(json.dumps(types))
    return root


@pytest.fixture(scope="session")
def tiny_birds(tmp_path_factory):
    """The three sets of drawn birds, ten pairs and six species; to be read only."""
    out = tmp_path_factory.mktemp("birds") / "tiny"
    write_birds(out, 10, seed=3, size=32)
    return out


@pytest.fixture(scope="session")
def quick_recipe(tiny_dataset):
    """pcl-tiny on the tiny data set, 12 steps of pre-training and 8 of captioning."""
    settings = [
        f"data.path={tiny_dataset}",
        f"data.features={tiny_dataset}/features",
        "stage.pretrain.steps=12",
        "stage.caption.steps=8",
        "stage.caption.evaluate_every=4",
        "stage.pretrain.save_every=5",
        "stage.caption.save_every=3",
    ]
    return load_recipe("pcl-tiny", settings)


@pytest.fixture(scope="session")
def unbroken(quick_recipe, tmp_path_factory):
    """A run of the quick recipe from beginning to end, to be read only."""
    from whatchanged.training.run import run_recipe

    run = tmp_path_factory.mktemp("quick") / "unbroken"
    run_recipe(quick_recipe, run, quiet=True, device="cpu")
    return run


@pytest.fixture(scope="session")
def stored_run(tiny_dataset, tmp_path_factory):
    """ROOT/run, trained on published features, ROOT/features, of the data set ROOT/data, which has boxes and
    no pictures; its weights are so large that its words follow the features."""
    from whatchanged.testing.method_case import shaken
    from whatchanged.training.checkpoint import save_checkpoint
    from whatchanged.training.run import run_recipe
    from whatchanged.training.run_folder import open_run

    root = tmp_path_factory.mktemp("stored")
    shutil.copytree(tiny_dataset, root / "data", ignore=shutil.ignore_patterns("*.png", "features"))
    shutil.copytree(tiny_dataset / "features", root / "features")
    boxes = {
        str(int(name[14:20])): {"bbox_before": [8, 8, 16, 12], "bbox_after": [4, 2, 12, 10]}
        for name in json.loads((root / "data" / "change_captions.json").read_text())
    }
    (root / "data" / "change_captions_with_bbox.json").write_text(json.dumps(boxes))
    settings = [
        f"data.path={root / 'data'}",
        f"data.features={root / 'features'}",
        "stage.train.steps=2",
        "stage.train.evaluate_every=0",
    ]
    run_recipe(load_recipe("scorer-tiny", settings), root / "run", quiet=True, device="cpu")
    _, method, state = open_run(root / "run")
    save_checkpoint(root / "run" / "checkpoints" / "last.safetensors", state, shaken(method), None)
    return root
