"""Weights out of a bundle's graphs: the run's own ones, and what training begins with."""

import json

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from whatchanged.captioner.bundle import open_bundle
from whatchanged.errors import BundleError, RecipeError, ShapeError
from whatchanged.recipes.reader import load_recipe
from whatchanged.training.export import export_run
from whatchanged.training.export.read_back import PROBES, agreement, initialise_from_bundle, read_bundle
from whatchanged.training.run import run_recipe
from whatchanged.training.run_folder import make_method, open_run
from whatchanged.vocabulary import Vocabulary

SMALL = ["vision.image_width=48", "vision.image_height=32", "vision.channels=[4, 6, 8]", "vision.blocks=1",
         "vision.keep=6", "method.width=16", "method.heads=2", "method.ffn=16"]  # fmt: skip


PLAIN = ["vision.matching=false", "vision.scene_context=false"]


@pytest.fixture(
    scope="module",
    params=["plain", pytest.param("matched, fp16", marks=pytest.mark.slow)],
    ids=["plain", "all"],
)
def kind(request):
    """What the model has: nothing beyond the published method, or all of it and weights in fp16."""
    return request.param


@pytest.fixture(scope="module")
def small(kind):
    return [*SMALL, *(PLAIN if kind == "plain" else [])]


@pytest.fixture(scope="module")
def run(tmp_path_factory, tiny_dataset, small):
    """A run with trained norms, so that folding them changes every convolution."""
    folder = tmp_path_factory.mktemp("read_back") / "run"
    steps = ["stage.caption.steps=3", "stage.caption.batch=4", "stage.caption.evaluate_every=0"]
    vision = ["stage.caption.train_vision=true", f"data.path={json.dumps(str(tiny_dataset))}"]
    judged = ["method.distractor_judging=true"]
    recipe = load_recipe("own-finetune", [*small, *steps, *vision, *judged])
    run_recipe(recipe, folder, device="cpu", quiet=True)
    return folder


@pytest.fixture(scope="module")
def bundle(run, tmp_path_factory, kind):
    return export_run(run, tmp_path_factory.mktemp("bundle") / "model", "tiny", fp16=kind != "plain")


def test_every_weight_that_captions_comes_back(run, bundle, kind):
    """But for folded norms all tensors are the run's; with them, the pictures' features are."""
    method, wanted = read_bundle(bundle)[1], open_run(run)[1]
    own, state = method.state_dict(), wanted.state_dict()
    lost = ("vision.fate_head", "regressor", "vision.backbone.")
    tolerance = {"rtol": 1e-6, "atol": 1e-6} if kind == "plain" else {"rtol": 1e-3, "atol": 1e-3}
    compared = [name for name in state if not name.startswith(lost)]
    assert len(compared) > 50 and own.keys() == state.keys()
    for name in compared:
        assert_close(own[name], state[name], **tolerance, msg=lambda text, name=name: f"{name}: {text}")
    pictures = torch.randint(0, 256, (2, 32, 48, 3), dtype=torch.uint8)
    with torch.inference_mode():
        for vision in (method.vision, wanted.vision):
            vision.eval()
        ours, theirs = (m.vision.see(m.vision.normalise(pictures)).features for m in (method, wanted))
    assert_close(ours, theirs, rtol=1e-2, atol=1e-4 if kind == "plain" else 1e-2)
    assert agreement(method, bundle) == PROBES


def test_known_words_keep_their_rows_and_new_ones_start_anew(bundle, small):
    recipe = load_recipe("own-finetune", small)
    known = list(bundle.card.vocabulary.entries)
    words = Vocabulary.from_captions([f"zebra {known[8]} quagga {known[7]}"])
    torch.manual_seed(3)
    method = make_method(recipe, words)
    before = {n: t.clone() for n, t in method.state_dict().items()}
    said = initialise_from_bundle(recipe, method, bundle)
    assert f"8 of {len(words)} words were known" in said and f"write {PROBES} of {PROBES} sentences" in said
    source, now = read_bundle(bundle)[1].state_dict(), method.state_dict()
    for name in ("embed.words.weight", "output.weight", "output.bias"):
        for number, word in enumerate(words.entries):
            if word in known:
                assert torch.equal(now[name][number], source[name][known.index(word)])
            else:
                assert word in ("zebra", "quagga") and torch.equal(now[name][number], before[name][number])
    assert torch.equal(now["embed.project.weight"], source["embed.project.weight"])


def test_what_cannot_begin_so_is_refused(bundle, small):
    words = Vocabulary.from_captions(["a"])
    trains = load_recipe("own-finetune", [*small, "stage.caption.train_vision=true"])
    with pytest.raises(RecipeError, match="can be run, but not trained any more"):
        initialise_from_bundle(trains, make_method(trains, words), bundle)
    wider = load_recipe("own-finetune", [*small, "method.ffn=24"])
    with pytest.raises(ShapeError, match="pre-trained"):
        initialise_from_bundle(wider, make_method(wider, words), bundle)


def test_a_bundle_of_another_method_is_refused(bundle, tmp_path):
    card = json.loads((bundle.folder / "bundle.json").read_text())
    spoilt = card["provenance"]["resolved_recipe"].replace('preset = "paper"', 'preset = "authors"')
    for recipe, message in ((spoilt, "of PCL, preset paper"), ("nonsense", "its recipe cannot be read")):
        card["provenance"]["resolved_recipe"] = recipe
        for name in ("encoder.onnx", "decoder.onnx", "README.md"):
            (tmp_path / name).write_bytes((bundle.folder / name).read_bytes())
        (tmp_path / "bundle.json").write_text(json.dumps(card))
        with pytest.raises(BundleError, match=message):
            read_bundle(open_bundle(tmp_path))


@pytest.mark.slow
def test_the_shipped_model_can_be_begun_from():
    recipe = load_recipe("own-finetune", [])
    method = make_method(recipe, Vocabulary.from_captions(["the large cube moved to the shelf"]))
    said = initialise_from_bundle(recipe, method, open_bundle())
    assert "11 of 12 words were known" in said  # six marks and six words; no shelf in that world


def test_a_run_starts_from_a_model_and_says_so(bundle, small, tiny_dataset, tmp_path, capsys):
    few = ["stage.caption.steps=1", "stage.caption.batch=2", "stage.caption.evaluate_every=0"]
    still = ["stage.caption.lr=1e-12", "stage.caption.weight_decay=0"]
    place = f"data.path={json.dumps(str(tiny_dataset))}"
    recipe = load_recipe("own-finetune", [*small, *few, *still, place])
    run_recipe(recipe, tmp_path / "run", device="cpu", init=bundle.folder)
    assert "tensors taken over" in capsys.readouterr().err
    source, tuned = read_bundle(bundle)[1].state_dict(), open_run(tmp_path / "run", "last")[1].state_dict()
    assert_close(tuned["cross.blocks.0.ffn.0.weight"], source["cross.blocks.0.ffn.0.weight"])
    assert np.isfinite(tuned["output.weight"].numpy()).all()
