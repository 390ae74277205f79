"""A trained CLIP4IDC becomes a bundle that describes without torch."""

import json

import numpy as np
import pytest
import torch

from whatchanged.captioner.runtime import load
from whatchanged.recipes.reader import load_recipe
from whatchanged.training.export import export_run
from whatchanged.training.run import run_recipe
from whatchanged.training.run_folder import open_run
from whatchanged.training.validation import write_captions
from whatchanged.training.vision.base import Batch
from whatchanged.training.weights.weight_shards import pack, unpack


@pytest.mark.parametrize(
    "name",
    [
        "clip4idc-tiny",
        pytest.param("clip4idc-tiny-ft1", marks=pytest.mark.slow),
        pytest.param("clip4idc-tiny-ft2", marks=pytest.mark.slow),
    ],
)
def test_a_bundle_says_what_its_run_says(name, tiny_dataset, tmp_path):
    retrieval = ["stage.retrieval.steps=2"] if name == "clip4idc-tiny" else []
    recipe = load_recipe(
        name, [f"data.path={tiny_dataset}", *retrieval, "stage.caption.steps=8", "stage.caption.lr=1e-2"]
    )
    run_recipe(recipe, tmp_path / "run", device="cpu", quiet=True)
    export_run(tmp_path / "run", tmp_path / "bundle", "tiny")
    captioner = load(tmp_path / "bundle")
    _, method, _ = open_run(tmp_path / "run")
    pictures = np.random.default_rng(1).integers(0, 256, (2, 64, 64, 3), dtype=np.uint8)
    found = captioner.describe(*pictures)
    shown = [torch.from_numpy(picture)[None] for picture in pictures]
    said = write_captions(method, Batch(*shown, torch.zeros(1, 4, dtype=torch.long)))
    assert [found.sentence] == said
    assert 0 < found.no_change < 1 and found.heatmaps.shape == (2, 2, 2) and found.heatmaps.max() > 0
    assert captioner.input.mean == pytest.approx((0.48145466, 0.4578275, 0.40821073))


def test_a_run_in_clips_pieces_becomes_a_bundle_too(tiny_dataset, tmp_path, whatchanged):
    """Trained in pieces, exported without the merges file, described without torch, captioned to a file."""
    merges = tmp_path / "merges.txt"
    merges.write_text("#version: 0.2\nt h\nth e</w>\ni s</w>\nc h\na n\nan g\n")
    recipe = load_recipe(
        "clip4idc-tiny",
        [
            f"data.path={tiny_dataset}",
            f"data.merges={merges}",
            "stage.retrieval.steps=2",
            "stage.caption.steps=12",
            "stage.caption.lr=1e-2",
        ],
    )
    run_recipe(recipe, tmp_path / "run", device="cpu", quiet=True)
    merges.unlink()
    export_run(tmp_path / "run", tmp_path / "bundle", "tiny")
    captioner, (_, method, _) = load(tmp_path / "bundle"), open_run(tmp_path / "run")
    assert captioner.card.vocabulary == method.vocabulary
    pack(tmp_path / "run", tmp_path / "packed")
    unpack(tmp_path / "packed", tmp_path / "back")
    assert open_run(tmp_path / "back")[1].vocabulary == method.vocabulary
    assert str(merges) not in (tmp_path / "bundle" / "bundle.json").read_text()
    pictures = np.random.default_rng(1).integers(0, 256, (2, 64, 64, 3), dtype=np.uint8)
    shown = [torch.from_numpy(picture)[None] for picture in pictures]
    for beams in (1, 2):
        found = captioner.describe(*pictures, beams=beams)
        assert found.sentence and "</w>" not in found.sentence
        assert "".join(word for word, _ in found.words) == found.sentence.replace(" ", "")
    said = write_captions(method, Batch(*shown, torch.zeros(1, 4, dtype=torch.long)))
    assert [captioner.describe(*pictures).sentence] == said
    out = tmp_path / "out.jsonl"
    code, _, err = whatchanged(
        "caption", tiny_dataset, "-o", out, "--split", "val", "--model", tmp_path / "bundle"
    )
    assert code == 0, err
    assert all(json.loads(line)["caption"] for line in out.read_text().splitlines())
