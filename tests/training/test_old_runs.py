"""Runs and bundles of old formats, made by the code of that time (``fixtures/make_old.py``).

An old run can be started from and exported. Resuming one is not asked for.
"""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

from whatchanged.captioner import bundle
from whatchanged.captioner.bundle import open_bundle
from whatchanged.captioner.runtime import load
from whatchanged.errors import BundleError
from whatchanged.synth.birds.twin import write_birds
from whatchanged.training.batches import Batch
from whatchanged.training.build import make_method
from whatchanged.training.export import export_run
from whatchanged.training.run import start_from
from whatchanged.training.run_folder import open_run
from whatchanged.training.validation import decode
from whatchanged.training.weights.bundle_weights import read_bundle
from whatchanged.vocabulary import padded

FILE = Path(__file__).parents[1] / "fixtures" / "old" / "expected.json"
EXPECTED = json.loads(FILE.read_text(encoding="utf-8"))
RUNS = sorted(EXPECTED["runs"])
DEMO = bundle.SHIPPED / "demo"


def random_input(method, name):
    """What ``make_old.py`` showed the runs: pixels, or features for pcl-tiny."""
    rng = np.random.default_rng(0)
    if name == "pcl-tiny":
        shape = (2, 3, method.vision.rows * method.vision.columns, method.vision.raw_width)
        return map(torch.from_numpy, rng.random(shape, dtype=np.float32))
    width, height = (32, 32) if name == "clip4idc-tiny" else (48, 32)
    return map(torch.from_numpy, rng.integers(0, 256, (2, 3, height, width, 3), dtype=np.uint8))


def check_captions(method, name):
    """That the method writes what the old one wrote, as surely."""
    wanted = EXPECTED["runs"][name]
    rows = decode(method, *random_input(method, name))
    assert [list(row.ids) for row in rows] == wanted["ids"]
    assert [row.log_probability for row in rows] == pytest.approx(wanted["log_probability"], rel=1e-4)


def captioning_loss(method, name):
    """The terms of the captioning loss, as ``make_old.py`` computed them."""
    before, after = random_input(method, name)
    sentence = method.vocabulary.sentence(" ".join(method.vocabulary.entries[6:9]))
    ids = torch.tensor(padded([sentence] * 3, method.max_length))
    generator = torch.Generator().manual_seed(0)
    batch = Batch(before, after, ids, changed=torch.tensor([1, 0, 1]), generator=generator)
    with torch.no_grad():
        return {term: float(value) for term, value in method.loss("caption", batch).items()}


def test_there_is_a_run_of_every_kind(old_formats):
    assert set(RUNS) == {path.name for path in (old_formats / "runs").iterdir()}
    assert len(RUNS) == 7


@pytest.mark.parametrize("name", RUNS)
def test_an_old_run_says_what_it_said(name, old_formats):
    _, method, state = open_run(old_formats / "runs" / name)
    assert state.finished
    check_captions(method, name)
    wanted = EXPECTED["runs"][name].get("caption_loss")
    if wanted is not None:
        assert captioning_loss(method, name) == pytest.approx(wanted, rel=1e-4)


@pytest.mark.parametrize("name", RUNS)
def test_a_run_starts_from_an_old_run(name, old_formats):
    """A method of the same recipe and words then writes the same captions. (PCL's head that judges
    distractors starts anew, so the loss differs.)"""
    recipe, source, _ = open_run(old_formats / "runs" / name)
    torch.manual_seed(5)
    method = make_method(recipe, source.vocabulary)
    start_from(recipe, method, old_formats / "runs" / name, quiet=True)
    method.eval()
    check_captions(method, name)


@pytest.fixture(scope="module")
def birds(tmp_path_factory):
    """Drawn birds, two pairs of them for validation."""
    folder = tmp_path_factory.mktemp("birds")
    write_birds(folder / "twin", 20, seed=3, size=32)
    return folder / "twin" / "birds_to_words"


@pytest.mark.parametrize("name", sorted(EXPECTED["bundles"]))
def test_an_old_run_is_exported(name, old_formats, tiny_dataset, birds, tmp_path):
    """The new bundle describes the shipped pairs as the old one does; it was calibrated on other pairs."""
    run = shutil.copytree(old_formats / "runs" / name, tmp_path / "run")
    recipe = run / "recipe.toml"
    recipe.write_text(recipe.read_text().replace('"grids"', json.dumps(str(old_formats / "grids"))))
    data = birds if name == "pcl-birds" else tiny_dataset
    backbone = old_formats / "runs" / "clevr-see" if name == "pcl-tiny" else None
    made = export_run(run, tmp_path / "bundle", name, data, weights=backbone)
    assert made.has_weights
    now, then = load(made.folder), load(old_formats / "bundles" / name)
    for wanted in EXPECTED["bundles"][name]:
        pair = [DEMO / f"{wanted['pair']:02d}-{side}.png" for side in ("before", "after")]
        found, before = now.describe(*pair), then.describe(*pair)
        assert found.sentence == wanted["sentence"]
        assert np.allclose(found.heatmaps, before.heatmaps, atol=1e-3)


@pytest.mark.parametrize("name", sorted(EXPECTED["bundles"]))
def test_an_old_bundle_has_nothing_to_start_from_and_says_so(name, old_formats):
    with pytest.raises(BundleError, match=f"{name}: this model holds no weights to start from"):
        read_bundle(open_bundle(old_formats / "bundles" / name))
