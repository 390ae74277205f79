"""A model of published features: it captions as its run does, reads no pictures, and says so."""

import json

import numpy as np
import pytest

from whatchanged.captioner.bundle import open_bundle
from whatchanged.captioner.card import FeatureInput, GridAttention
from whatchanged.captioner.runtime import load
from whatchanged.errors import BundleError, RecipeError
from whatchanged.training.export import export_run
from whatchanged.training.weights.bundle_weights import read_bundle


@pytest.fixture(scope="module")
def model(stored_run, tmp_path_factory):
    folder = tmp_path_factory.mktemp("of_features") / "model"
    export_run(stored_run / "run", folder, "published")
    return folder


def asked(stored_run, out, *more):
    """The options of a caption command for the validation pairs."""
    where = ["--features", stored_run / "features", "--split", "val", "--quiet"]
    return ["caption", stored_run / "data", "-o", out, *where, *more]


def test_the_card_says_which_features(model):
    card = open_bundle(model).card
    assert card.input == FeatureInput(3, 3, 24, "") and card.attention == GridAttention(3, 3)
    readme = (model / "README.md").read_text(encoding="utf-8")
    assert "features of 3 x 3 cells with 24 numbers each, by a backbone that the features do not" in readme
    assert "--features FEATURES" in readme and "describe before.png" not in readme


@pytest.mark.parametrize("beams", ["1", "3"])
def test_it_captions_as_the_run_does(beams, model, stored_run, tmp_path, whatchanged):
    by_run = ["--run", stored_run / "run", "--device", "cpu", "--beams", beams]
    by_model = ["--model", model, "--beams", beams]
    assert whatchanged(*asked(stored_run, tmp_path / "run.jsonl", *by_run))[0] == 0
    code, _, err = whatchanged(
        *asked(stored_run, tmp_path / "model.jsonl", *by_model, "--attention", tmp_path / "maps")
    )
    assert code == 0, err
    ran, modelled = (
        [json.loads(line) for line in (tmp_path / f"{name}.jsonl").read_text().splitlines()]
        for name in ("run", "model")
    )
    assert [(line["id"], line["caption"]) for line in ran] == [
        (line["id"], line["caption"]) for line in modelled
    ]
    assert {line["answer"] for line in modelled} == {"published"}
    assert len({line["caption"] for line in ran}) > 1
    evaluate = ["evaluate", tmp_path / "model.jsonl", stored_run / "data", "--split", "val", "--no-meteor"]
    code, out, _ = whatchanged(*evaluate, "--attention", tmp_path / "maps", "--picture-size", "48x32")
    assert code == 0 and "Pointing game (%; grid 3 x 3" in out


def test_it_writes_the_files_of_the_field(model, stored_run, tmp_path, whatchanged):
    code, _, _ = whatchanged(*asked(stored_run, tmp_path / "out", "--model", model, "--format", "two-files"))
    assert code == 0
    assert len(json.loads((tmp_path / "out" / "sc_results.json").read_text())) == 4


def test_pictures_are_refused_with_what_to_do(model, stored_run, tiny_dataset, tmp_path, whatchanged):
    pictures = [tiny_dataset / "images" / f"CLEVR_default_{n:06d}.png" for n in (0, 1)]
    wanted = "reads features that were computed from pictures beforehand, not pictures"
    with pytest.raises(BundleError, match=wanted):
        load(model)
    for command in (
        ["describe", *pictures, "--model", model],
        ["caption", stored_run / "data", "-o", tmp_path / "out.jsonl", "--model", model],
    ):
        code, _, err = whatchanged(*command)
        assert code == 2 and wanted in err and "--features FOLDER" in err
    code, _, err = whatchanged(*asked(stored_run, tmp_path / "out.jsonl", "--model", "clevr-pcl"))
    assert code == 2 and "does not read stored features" in err
    code, _, err = whatchanged(*asked(stored_run, tmp_path / "out.jsonl", "--model", model, "--resume"))
    assert code == 2 and "go without --resume" in err
    assert list(tmp_path.iterdir()) == []


def test_features_of_another_kind_are_refused(model, stored_run, tmp_path, whatchanged):
    np.save(tmp_path / "CLEVR_default_000016.png.npy", np.zeros((24, 16), np.float32))
    arguments = asked(stored_run, tmp_path / "out.jsonl", "--model", model, "--features", tmp_path)
    code, _, err = whatchanged(*arguments)
    assert code == 2 and "got the shape (24, 16)" in err
    with pytest.raises(RecipeError, match="leave --familiar out"):
        export_run(stored_run / "run", tmp_path / "other", "other", in_distribution=tmp_path)
    assert not (tmp_path / "other").exists()


def test_the_name_of_the_backbone_is_kept_where_the_folder_has_it(stored_run, tmp_path, whatchanged):
    about = {"backbone": "resnet101-layer4", "sha256": "0123456789abcdef"}
    note = stored_run / "features" / "features.json"
    note.write_text(json.dumps(about))
    try:
        export_run(stored_run / "run", tmp_path / "model", "named")
        assert open_bundle(tmp_path / "model").card.input.made_by == "resnet101-layer4 0123456789ab"
        note.write_text(json.dumps({**about, "backbone": "dinov2"}))
        code, _, err = whatchanged(*asked(stored_run, tmp_path / "o.jsonl", "--model", tmp_path / "model"))
        assert code == 2 and "made by dinov2 0123456789ab; the model learned from those of resnet101" in err
    finally:
        note.unlink()


def test_training_can_start_from_it(model):
    recipe, _, missing = read_bundle(open_bundle(model))
    assert recipe.vision.feature_width == 24 and not missing


def test_a_runs_folder_taken_for_a_model_is_told(stored_run, tmp_path, whatchanged):
    code, _, err = whatchanged(
        "caption", stored_run / "data", "-o", tmp_path / "o.jsonl", "--model", stored_run / "run"
    )
    assert code == 2 and f"--run {stored_run / 'run'} instead of --model" in err
