"""A run that begins from a file of PCL's authors: with which words, which stage, and what becomes of it."""

import json

import numpy as np
import pytest
import torch
from support.authors_networks import PCL_WORDS, pcl_sentences, pcl_state

from whatchanged.errors import RecipeError
from whatchanged.launch import Launch
from whatchanged.recipes.reader import load_recipe
from whatchanged.training.caption import open_run_captioner
from whatchanged.training.run import run_recipe
from whatchanged.training.run_folder import open_run

SIZES = {"width": 16, "heads": 4, "ffn": 24, "cross_layers": 2, "max_length": 12}


@pytest.fixture
def recipe(tiny_dataset):
    settings = [f"method.{key}={value}" for key, value in SIZES.items()]
    places = [f"data.path={tiny_dataset}", f"data.features={tiny_dataset / 'features'}"]
    short = ["stage.pretrain.steps=2", "stage.caption.steps=2", "stage.caption.evaluate_every=0"]
    return load_recipe("pcl-tiny", ["method.preset=authors", *settings, *places, *short])


@pytest.fixture
def file(tmp_path):
    """Fine-tuned weights, their vocabulary beside them."""
    (tmp_path / "dict.json").write_text(json.dumps(PCL_WORDS))
    torch.save(pcl_state(), tmp_path / "checkpoint_best.pt")
    return tmp_path / "checkpoint_best.pt"


def started(recipe, run, file, stage, **more):
    return run_recipe(recipe, run, quiet=True, device="cpu", init=file, first_stage=stage, **more)


def test_as_they_are_they_say_what_the_authors_network_says(recipe, file, tiny_dataset, tmp_path):
    run = tmp_path / "run"
    assert started(recipe, run, file, "end").finished
    _, method, state = open_run(run)
    assert set(method.vocabulary.entries) == set(PCL_WORDS) and (state.stage, state.step) == (1, 0)
    pictures = sorted((tiny_dataset / "images").iterdir())[:4]
    pairs = [(path, pictures[0]) for path in pictures]
    captioner = open_run_captioner(run, tiny_dataset, tiny_dataset / "features", "auto", Launch("cpu"))
    said = [found.sentence for found in captioner.describe(pairs, 4)]
    stored = [np.load(tiny_dataset / "features" / f"{path.name}.npy").T for path in pictures]
    features = torch.from_numpy(np.stack(stored).astype(np.float32))
    assert said == pcl_sentences(pcl_state(), features, features[:1].expand(4, -1, -1), 4, 12)


def test_the_first_stage_may_lie_behind_them(recipe, file, tmp_path):
    run = tmp_path / "run"
    assert started(recipe, run, file, "caption").finished
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    assert {line["stage"] for line in lines} == {"caption"}
    weights = open_run(run)[1].state_dict()
    assert not torch.equal(
        weights["output.weight"].sort().values, pcl_state()["output_layer.weight"].sort().values
    )


def test_a_run_goes_on_with_the_words_of_a_file_that_has_gone(recipe, file, tmp_path):
    run = tmp_path / "run"
    assert not started(recipe, run, file, "", max_seconds=0).finished
    file.unlink()
    (tmp_path / "dict.json").unlink()
    assert run_recipe(None, run, resume=True, quiet=True, device="cpu").finished
    assert set(open_run(run)[1].vocabulary.entries) == set(PCL_WORDS)


def test_what_cannot_be_begun_is_named(recipe, file, tmp_path):
    run = tmp_path / "run"
    with pytest.raises(RecipeError, match=r"no such stage. Choose among: pretrain, caption, end"):
        started(recipe, run, file, "finetune")
    with pytest.raises(RecipeError, match="for a new run with weights to start from"):
        started(recipe, run, None, "caption")
    torch.save({"model_state_dict": pcl_state(pretraining=True)}, file)
    with pytest.raises(RecipeError, match="have not learned to caption"):
        started(recipe, run, file, "end")
    assert not run.exists()
    assert started(recipe, run, file, "caption").finished


@pytest.mark.slow
def test_it_becomes_a_model(whatchanged, recipe, file, tiny_dataset, tmp_path):
    settings = [f"method.{key}={value}" for key, value in (*SIZES.items(), ("preset", "authors"))]
    asked = [part for setting in settings for part in ("--set", setting)]
    data = ("--data", tiny_dataset, "--features", tiny_dataset / "features")
    run, model = tmp_path / "run", tmp_path / "model"
    code, out, err = whatchanged(
        "train", "pcl-tiny", *data, "--init", file, "--from", "end", *asked, "-o", run
    )
    assert code == 0 and json.loads(out)["finished"] and "tensors used" in err, err
    code, _, err = whatchanged("export", run, model)
    assert code == 0, err
    lines = {}
    for name, source in (("run", ("--run", run, "--device", "cpu")), ("model", ("--model", model))):
        call = (
            "caption",
            tiny_dataset,
            *source,
            "--features",
            tiny_dataset / "features",
            "-o",
            tmp_path / f"of-{name}",
        )
        code, _, err = whatchanged(*call)
        assert code == 0, err
        lines[name] = [
            json.loads(line)["caption"] for line in (tmp_path / f"of-{name}").read_text().splitlines()
        ]
    names = "images/CLEVR_default_000000.png", "sc_images/CLEVR_semantic_000000.png"
    pair = [tiny_dataset / name for name in names]
    call = ("figure", "words", *pair, "--model", model, "--features", tiny_dataset / "features")
    code, _, err = whatchanged(*call, "-o", tmp_path / "words.svg")
    assert code == 0 and (tmp_path / "words.svg").read_text().count("<image") > 2, err
    assert lines["run"] == lines["model"] and len(set(lines["run"])) > 1
