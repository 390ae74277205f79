"""Tokens of a pool, stored."""

import numpy as np
import pytest
import torch
from tiny_pool import HEIGHT, SHARD, WIDTH
from torch.testing import assert_close

from whatchanged.errors import RecipeError
from whatchanged.recipes.reader import dump_recipe, load_recipe
from whatchanged.training.checkpoint import State, save_checkpoint
from whatchanged.training.features import store_tokens
from whatchanged.training.pool import open_shards
from whatchanged.training.run import make_method, open_run
from whatchanged.vocabulary import Vocabulary

TINY = [f"vision.image_width={WIDTH}", f"vision.image_height={HEIGHT}", "vision.channels=[4, 6, 8]",
        "vision.blocks=1", "vision.keep=6", "method.width=16", "method.heads=2", "method.ffn=16"]  # fmt: skip


def make_run(folder, name, overrides):
    """A run folder whose weights are as they start."""
    recipe, vocabulary = load_recipe(name, overrides), Vocabulary.from_captions(["the cube"])
    torch.manual_seed(0)
    save_checkpoint(
        folder / "checkpoints" / "last.safetensors",
        State(finished=True),
        make_method(recipe, vocabulary),
        None,
    )
    (folder / "recipe.toml").write_text(dump_recipe(recipe))
    (folder / "vocabulary.json").write_text('["' + '", "'.join(vocabulary.entries) + '"]')
    return folder


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return make_run(tmp_path_factory.mktemp("features") / "run", "clevr-see", TINY)


def test_each_shard_gets_its_tokens_plain_first(run, tiny_pool, tmp_path):
    out = tmp_path / "tokens"
    assert store_tokens(run, tiny_pool, out, 3, "cpu", quiet=True) == 2
    assert sorted(file.name for file in out.iterdir()) == ["00000.tokens.npy", "00001.tokens.npy"]
    vision = open_run(run, "last")[1].vision
    for shard in open_shards(tiny_pool):
        stored = np.load(out / f"{shard.number:05d}.tokens.npy")
        assert stored.shape == (SHARD, 3, 3, 6, 8 + 15 + 4) and stored.dtype == np.float16
        pictures = torch.from_numpy(np.array(shard.pictures)).flatten(0, 1)
        with torch.no_grad():
            seen = vision.pack(vision.normalise(pictures)).view(SHARD, 3, 6, -1)
        assert_close(torch.from_numpy(stored[:, 0]).float(), seen, atol=2e-3, rtol=2e-3)
        for variant in (1, 2):
            gap = np.abs(stored[:, variant].astype(float) - stored[:, 0])
            assert gap.mean((1, 2, 3)).min() > 0
        assert not np.array_equal(stored[:, 1], stored[:, 2])


def test_what_is_there_is_kept_and_what_is_missing_made(run, tiny_pool, tmp_path):
    out = tmp_path / "tokens"
    store_tokens(run, tiny_pool, out, 2, "cpu", quiet=True)
    first = {file.name: file.read_bytes() for file in out.iterdir()}
    assert store_tokens(run, tiny_pool, out, 2, "cpu", quiet=True) == 0
    (out / "00000.tokens.npy").unlink()
    (out / "00001.tokens.npy").write_bytes(b"kept")
    assert store_tokens(run, tiny_pool, out, 2, "cpu", quiet=True) == 1
    assert (out / "00001.tokens.npy").read_bytes() == b"kept"
    assert (out / "00000.tokens.npy").read_bytes() == first["00000.tokens.npy"]


def test_a_run_without_a_backbone_is_refused(tiny_pool, tmp_path):
    run = make_run(tmp_path / "run", "pcl-tiny", [])
    with pytest.raises(RecipeError, match="pcl-tiny reads stored features itself; it has no backbone to run"):
        store_tokens(run, tiny_pool, tmp_path / "tokens", 1, "cpu", quiet=True)
    assert not (tmp_path / "tokens").exists()
