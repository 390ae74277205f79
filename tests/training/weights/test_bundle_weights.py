"""The weights of a bundle: the run's own ones, and what training starts from."""

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.torch import load, save
from support.tiny_run import SMALL_PICTURES, TINY, make_run
from torch import nn
from torch.testing import assert_close

from whatchanged.captioner.bundle import open_bundle, write_bundle
from whatchanged.errors import BundleError, RecipeError, ShapeError
from whatchanged.recipes.reader import load_recipe
from whatchanged.training.build import make_method
from whatchanged.training.export import export_run
from whatchanged.training.run import run_recipe
from whatchanged.training.run_folder import open_run
from whatchanged.training.weights import bundle_weights
from whatchanged.training.weights.bundle_weights import (
    KEY,
    check_norms,
    has_folded_norms,
    initialise_from_bundle,
    pack_weights,
    read_bundle,
    read_weights,
)
from whatchanged.vocabulary import Vocabulary

SMALL = [*TINY, *SMALL_PICTURES]
FEW = [
    "stage.caption.steps=1",
    "stage.caption.batch=4",
    "stage.caption.evaluate_every=0",
    "stage.caption.patience=0",
]
"""Settings of a stage that is over soon."""


@pytest.fixture(scope="module")
def run(tmp_path_factory, tiny_dataset):
    """A run that trained its backbone, so that its norms have statistics of their own."""
    folder = tmp_path_factory.mktemp("weights")
    vision = ["stage.caption.train_vision=true", f"data.path={json.dumps(str(tiny_dataset))}"]
    settings = [*SMALL, *FEW, "stage.caption.steps=3", *vision, "method.distractor_judging=true"]
    start = make_run(folder / "start", "own-finetune", settings)
    run_recipe(load_recipe("own-finetune", settings), folder / "run", device="cpu", quiet=True, init=start)
    return folder / "run"


@pytest.fixture(scope="module")
def bundle(run, tmp_path_factory):
    return export_run(run, tmp_path_factory.mktemp("bundle") / "model", "tiny")


@pytest.fixture
def copy(bundle, tmp_path):
    """The bundle in a folder that the test may spoil."""
    return open_bundle(shutil.copytree(bundle.folder, tmp_path / "copy"))


def fold_norms(method):
    """Make every batch norm one that only adds, as if it had been folded into its convolution."""
    with torch.no_grad():
        for norm in (m for m in method.modules() if isinstance(m, nn.BatchNorm2d)):
            norm.weight.fill_(1)
            norm.running_mean.zero_()
            norm.running_var.fill_(1 - norm.eps)
    return method


def test_every_weight_of_the_run_comes_back(run, bundle):
    """Matrices of 256 numbers and more within half of a 16-bit step, everything else as it was."""
    recipe, method, missing = read_bundle(bundle)
    trained, wanted, _ = open_run(run)
    own, state = method.state_dict(), wanted.state_dict()
    assert missing == frozenset() and own.keys() == state.keys() and recipe.method == trained.method
    halves = 0
    for name, tensor in state.items():
        if tensor.ndim > 1 and tensor.numel() >= 256:
            halves += 1
            assert_close(own[name], tensor.half().float(), rtol=0, atol=0)
        else:
            assert torch.equal(own[name], tensor)
    assert halves > 20


def test_large_matrices_take_half_the_bytes():
    tensors = {
        "matrix": torch.linspace(-2, 2, 256).reshape(16, 16),
        "vector": torch.linspace(-2, 2, 256),
        "few": torch.ones(3, 3),
        "huge": torch.full((16, 16), 1e6),
        "count": torch.tensor(7),
    }
    stored = load(pack_weights(tensors))
    halves = {name for name, tensor in stored.items() if tensor.dtype == torch.float16}
    assert halves == {"matrix"}
    assert stored["count"].dtype == torch.int64 and torch.equal(stored["huge"], tensors["huge"])


def test_known_words_keep_their_rows_and_new_ones_start_anew(bundle):
    recipe = load_recipe("own-finetune", SMALL)
    known = list(bundle.card.vocabulary.entries)
    words = Vocabulary.from_captions([f"zebra {known[8]} quagga {known[7]}"])
    torch.manual_seed(3)
    method = make_method(recipe, words)
    before = {name: tensor.clone() for name, tensor in method.state_dict().items()}
    message = initialise_from_bundle(recipe, method, bundle)
    assert f"8 of {len(words)} words were known" in message and "holds no weights" not in message
    source, now = read_bundle(bundle)[1].state_dict(), method.state_dict()
    for name in ("embed.words.weight", "output.weight", "output.bias"):
        for number, word in enumerate(words.entries):
            if word in known:
                assert torch.equal(now[name][number], source[name][known.index(word)])
            else:
                assert word in ("zebra", "quagga") and torch.equal(now[name][number], before[name][number])
    assert torch.equal(now["embed.project.weight"], source["embed.project.weight"])


def test_a_run_starts_from_a_model_and_says_so(bundle, tiny_dataset, tmp_path, capsys):
    still = ["stage.caption.lr=1e-12", "stage.caption.weight_decay=0"]
    place = f"data.path={json.dumps(str(tiny_dataset))}"
    recipe = load_recipe("own-finetune", [*SMALL, *FEW, *still, place])
    run_recipe(recipe, tmp_path / "run", device="cpu", init=bundle.folder)
    assert "tensors copied" in capsys.readouterr().err
    source, tuned = read_bundle(bundle)[1].state_dict(), open_run(tmp_path / "run", "last")[1].state_dict()
    assert_close(tuned["cross.blocks.0.ffn.0.weight"], source["cross.blocks.0.ffn.0.weight"])
    assert np.isfinite(tuned["output.weight"].numpy()).all()


def test_a_backbone_from_a_bundle_can_be_trained(bundle):
    """Its norms have their statistics, so nothing speaks against it."""
    trains = load_recipe("own-finetune", [*SMALL, "stage.caption.train_vision=true"])
    method = make_method(trains, bundle.card.vocabulary)
    assert "tensors copied" in initialise_from_bundle(trains, method, bundle)
    assert not bundle.card.folded_norms and not has_folded_norms(method)


def test_a_backbone_with_folded_norms_is_run_but_not_trained(copy, tiny_dataset, tmp_path):
    _, source, _ = read_bundle(copy)
    (copy.folder / "weights.safetensors").write_bytes(pack_weights(fold_norms(source).state_dict()))
    folded = write_bundle(copy.folder, replace(copy.card, folded_norms=True))
    words = Vocabulary.from_captions(["a"])
    trains = load_recipe("own-finetune", [*SMALL, "stage.caption.train_vision=true"])
    with pytest.raises(RecipeError, match=r"can be run but not trained\. Set train_vision = false"):
        initialise_from_bundle(trains, make_method(trains, words), folded)
    frozen = load_recipe("own-finetune", SMALL)
    initialise_from_bundle(frozen, make_method(frozen, words), folded)

    # What is trained from it has the same backbone, and so has the model that is exported then.
    place = f"data.path={json.dumps(str(tiny_dataset))}"
    recipe = load_recipe("own-finetune", [*SMALL, *FEW, place])
    run = tmp_path / "run"
    run_recipe(recipe, run, device="cpu", quiet=True, init=folded.folder)
    recipe = load_recipe("own-finetune", [*SMALL, *FEW, place, "stage.caption.train_vision=true"])
    with pytest.raises(RecipeError, match="batch norms of this model's backbone were folded"):
        run_recipe(recipe, tmp_path / "again", device="cpu", quiet=True, init=run)
    assert export_run(run, tmp_path / "model", "tuned").card.folded_norms


def test_new_and_trained_norms_are_not_taken_for_folded_ones(run):
    new = make_method(load_recipe("own-finetune", SMALL), Vocabulary.from_captions(["a"]))
    _, trained, _ = open_run(run)
    assert not has_folded_norms(new) and not has_folded_norms(trained)
    assert has_folded_norms(fold_norms(new))


def test_folded_norms_matter_only_where_they_are_trained(run):
    """A method without a backbone takes nothing of the source's vision."""
    features = load_recipe("pcl-tiny", [])
    method = make_method(features, Vocabulary.from_captions(["a"]))
    check_norms(features, method, fold_norms(open_run(run)[1]), "here")


def test_sizes_that_do_not_fit_are_refused(bundle):
    wider = load_recipe("own-finetune", [*SMALL, "method.ffn=24"])
    with pytest.raises(ShapeError, match="pre-trained"):
        initialise_from_bundle(wider, make_method(wider, Vocabulary.from_captions(["a"])), bundle)


def test_what_the_bundle_does_not_hold_is_named(copy):
    tensors = {
        name: tensor
        for name, tensor in read_weights(copy).items()
        if not name.startswith(("regressor.", "vision.change_label_head."))
    }
    (copy.folder / "weights.safetensors").write_bytes(pack_weights(tensors))
    less = write_bundle(copy.folder, copy.card)
    recipe = load_recipe("own-finetune", SMALL)
    message = initialise_from_bundle(recipe, make_method(recipe, Vocabulary.from_captions(["a"])), less)
    assert "holds no weights of regressor, vision.change_label_head, which start anew" in message


def test_a_bundle_without_weights_says_so(copy):
    (copy.folder / "weights.safetensors").unlink()
    message = r"holds no weights to start from.*Export its run again.*start from the run's folder"
    with pytest.raises(BundleError, match=message):
        read_weights(write_bundle(copy.folder, copy.card))


ONE = {"a": torch.ones(2)}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\0", "no file of weights"),
        (b"\xff" * 64, "no file of weights"),
        (save(ONE)[:-2], "no file of weights"),
        (save(ONE, {KEY: "{"}), "no file of weights"),
        (save(ONE), "the format of the weights is None"),
        (save(ONE, {KEY: "[]"}), "the format of the weights is None"),
        (save(ONE, {KEY: '{"format": 2}'}), "the format of the weights is 2, this version reads 1"),
        (pack_weights(ONE), "a does not fit the recipe"),
        (pack_weights({"output.bias": torch.ones(2)}), r"output\.bias does not fit the recipe"),
    ],
)
def test_files_of_strangers(copy, content, message):
    (copy.folder / "weights.safetensors").write_bytes(content)
    bundle = write_bundle(copy.folder, copy.card)
    with pytest.raises(BundleError, match=rf"weights\.safetensors: .*{message}"):
        read_bundle(bundle)


def test_a_recipe_that_cannot_be_read(copy):
    provenance = {**copy.card.provenance, "resolved_recipe": "nonsense"}
    with pytest.raises(BundleError, match="its recipe cannot be read"):
        read_bundle(write_bundle(copy.folder, replace(copy.card, provenance=provenance)))


@pytest.mark.parametrize(
    ("tensors", "message"),
    [
        ({"output.bias": torch.ones(2)}, r"output\.bias does not fit the recipe"),
        ({}, r"it has 0 numbers and lacks [\d,]{12,} of those of the model's recipe"),
    ],
)
def test_a_recipe_that_asks_for_more_than_there_is_is_not_built(copy, monkeypatch, tensors, message):
    large = copy.card.provenance["resolved_recipe"].replace("\nwidth = 16\n", "\nwidth = 32768\n")
    (copy.folder / "weights.safetensors").write_bytes(pack_weights(tensors))
    card = replace(copy.card, provenance={**copy.card.provenance, "resolved_recipe": large})
    monkeypatch.setattr(bundle_weights, "make_method", None)
    with pytest.raises(BundleError, match=rf"weights\.safetensors: {message}"):
        read_bundle(write_bundle(copy.folder, card))


def test_altered_weights_are_refused(copy):
    path = copy.folder / "weights.safetensors"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(BundleError, match="SHA-256 differs"):
        read_weights(copy)


def test_the_shipped_model_can_be_started_from():
    recipe = load_recipe("own-finetune", [])
    method = make_method(recipe, Vocabulary.from_captions(["the large cube moved to the shelf"]))
    message = initialise_from_bundle(recipe, method, open_bundle())
    assert "11 of 12 words were known" in message  # six specials and five words; that world has no shelf
    assert "0 keep their own start" in message and "holds no weights" not in message
    trains = load_recipe("own-finetune", ["stage.caption.train_vision=true"])
    with pytest.raises(RecipeError, match="can be run but not trained"):
        initialise_from_bundle(trains, method, open_bundle())
