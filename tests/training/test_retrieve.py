"""From a run to similarities and ranks, through the command line."""

import json
import shutil

import numpy as np
import pytest

from whatchanged.datasets import open_dataset
from whatchanged.evaluation.io.similarity import read_similarity
from whatchanged.training.methods.clip4idc import CLIP4IDC
from whatchanged.vocabulary import UNK


@pytest.fixture
def trained(whatchanged, tiny_dataset, tmp_path):
    """Trains a recipe for one step a stage; returns the run folder."""

    def train(name, *stages):
        short = ("steps=1", "evaluate_every=0", "metric=CIDEr-D")
        settings = [f"stage.{stage}.{key}" for stage in stages for key in short]
        overrides = [part for setting in settings for part in ("--set", setting)]
        places = ["--data", tiny_dataset]
        places += ["--features", tiny_dataset / "features"] if name.startswith("pcl") else []
        code, _, err = whatchanged("train", name, *places, "-o", tmp_path / name, "--quiet", *overrides)
        assert code == 0, err
        return tmp_path / name

    return train


def test_every_caption_meets_every_changed_pair(whatchanged, trained, tiny_dataset, tmp_path):
    run, file = trained("clip4idc-tiny", "retrieval", "caption"), tmp_path / "s.npy"
    records = [r for r in open_dataset(tiny_dataset, split="val").records if r.changed]
    captions = [r.pair_id for r in records for _ in r.captions]
    code, out, err = whatchanged(
        "retrieve", run, tiny_dataset, "-o", file, "--split", "val", "--device", "cpu"
    )
    assert (code, out) == (0, f"{file}: {len(captions)} captions against {len(records)} pairs\n"), err
    made = read_similarity(file)
    assert [made.pairs[number] for number in made.owner] == captions
    assert list(made.texts) == [caption for r in records for caption in r.captions]
    assert np.abs(made.matrix).max() <= 1 + 1e-5 and len(np.unique(made.matrix)) > len(captions)
    code, out, err = whatchanged("evaluate", file, tiny_dataset, "--split", "val")
    assert code == 0 and f"{len(records)} pairs, {len(captions)} texts" in out, err
    assert "exists already" in whatchanged("retrieve", run, tiny_dataset, "-o", file)[2]
    names = file.with_suffix(".json").read_bytes()
    file.unlink()  # as after a kill between the two files
    file.with_suffix(".json").write_text('{"of": "somebody else"}')
    assert "exists already" in whatchanged("retrieve", run, tiny_dataset, "-o", file)[2]
    file.with_suffix(".json").write_bytes(names)
    again = whatchanged("retrieve", run, tiny_dataset, "-o", file, "--split", "val", "--device", "cpu")
    assert again[0] == 0 and file.with_suffix(".json").read_bytes() == names, again
    nowhere = tmp_path / "no" / "s.npy"
    assert "is not there. Make it first" in whatchanged("retrieve", run, tiny_dataset, "-o", nowhere)[2]


def test_captions_are_embedded_as_they_were_trained_on(
    whatchanged, trained, tiny_dataset, tmp_path, monkeypatch
):
    run, read = trained("clip4idc-tiny", "retrieval", "caption"), []
    recipe = (run / "recipe.toml").read_text()
    (run / "recipe.toml").write_text(
        recipe.replace('preparation = "none"', 'preparation = "rcc-clevr-change"')
    )
    shutil.copytree(tiny_dataset, tmp_path / "data")
    captions = tmp_path / "data" / "change_captions.json"
    own = json.loads(captions.read_text())
    captions.write_text(json.dumps({name: [f"{text} ." for text in texts] for name, texts in own.items()}))
    embed = CLIP4IDC.embed_texts
    monkeypatch.setattr(CLIP4IDC, "embed_texts", lambda self, ids: read.append(ids) or embed(self, ids))
    file = tmp_path / "s.npy"
    code, _, err = whatchanged(
        "retrieve", run, tmp_path / "data", "-o", file, "--split", "val", "--device", "cpu"
    )
    assert code == 0, err
    assert not any((ids == UNK).any() for ids in read)
    assert all(text.endswith(" .") for text in read_similarity(file).texts)


@pytest.mark.parametrize(
    ("name", "stages"),
    [
        ("clip4idc-tiny-ft1", ["caption"]),
        ("pcl-tiny", ["pretrain", "caption"]),
    ],
)
def test_a_run_without_retrieval_is_refused(name, stages, whatchanged, trained, tiny_dataset, tmp_path):
    run, file = trained(name, *stages), tmp_path / "s.npy"
    code, _, err = whatchanged("retrieve", run, tiny_dataset, "-o", file, "--device", "cpu")
    assert code == 2 and not file.exists()
    assert f"{run}: its method does not embed captions. Name a run of one that does (clip4idc)." in err


def test_a_split_without_pairs_is_named(whatchanged, trained, tiny_dataset, tmp_path):
    run = trained("clip4idc-tiny", "retrieval", "caption")
    options = ["-o", tmp_path / "s.npy", "--split", "test", "--device", "cpu"]
    code, _, err = whatchanged("retrieve", run, tiny_dataset, *options)
    assert code == 2 and "test" in err


def test_the_adapted_weights_are_kept_and_chosen(whatchanged, tiny_dataset, tmp_path):
    """The retrieval stage's best by itself and by name; the caption stage has moved the pair encoder on."""
    run, made = tmp_path / "run", {}
    quick = ["stage.retrieval.steps=2", "stage.caption.steps=3", "stage.caption.lr=0.1"]
    quick += ["stage.caption.evaluate_every=0"]
    overrides = [part for setting in quick for part in ("--set", setting)]
    command = ["train", "clip4idc-tiny", "--data", tiny_dataset, "-o", run, "--quiet", *overrides]
    assert whatchanged(*command)[0] == 0
    for name in ("auto", "retrieval", "last"):
        file = tmp_path / f"{name}.npy"
        places = [run, tiny_dataset, "-o", file, "--split", "val", "--device", "cpu", "--checkpoint", name]
        code, _, err = whatchanged("retrieve", *places)
        assert code == 0, err
        made[name] = read_similarity(file).matrix
    assert np.array_equal(made["auto"], made["retrieval"])
    assert not np.allclose(made["auto"], made["last"], atol=1e-3)
    code, _, err = whatchanged(
        "retrieve", run, tiny_dataset, "-o", tmp_path / "x.npy", "--checkpoint", "retreival"
    )
    assert code == 2 and "Choose among: auto, best, last, retrieval, caption" in err
