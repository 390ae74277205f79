"""Weights that travel."""

import pytest
import torch
from safetensors import safe_open
from support.tiny_run import TINY

from whatchanged.errors import OutputError, RecipeError
from whatchanged.recipes.reader import load_recipe
from whatchanged.training.run import run_recipe
from whatchanged.training.run_folder import open_run
from whatchanged.training.weights import weight_shards

SMALL = [*TINY, "method.width=24", "method.ffn=32", "method.cross_layers=1"]


@pytest.fixture(scope="module")
def run(tiny_pool, tmp_path_factory):
    """A run of two steps."""
    folder = tmp_path_factory.mktemp("gpu") / "run"
    sets = [*SMALL, f"data.path={tiny_pool}", "stage.see.steps=2", "stage.see.batch=4"]
    run_recipe(load_recipe("clevr-see", sets), folder, device="cpu", quiet=True)
    return folder


def weights(folder):
    return open_run(folder, "last")[1].state_dict()


@pytest.mark.slow
def test_weights_travel_in_sixteen_bits_and_come_back_as_a_run(run, tmp_path, monkeypatch):
    monkeypatch.setattr(weight_shards, "PACKED_FROM", 100)
    monkeypatch.setattr(weight_shards, "PART", 20_000)
    weight_shards.pack(run, tmp_path / "packed")
    parts = sorted((tmp_path / "packed").glob("*.safetensors"))
    assert len(parts) > 1
    kinds = set()
    for part in parts:
        with safe_open(part, "pt") as file:
            tensors = [file.get_tensor(name) for name in file.keys()]  # noqa: SIM118
        assert sum(t.nbytes for t in tensors) <= 20_000 or len(tensors) == 1
        kinds |= {(t.dtype, t.numel() >= 100) for t in tensors if t.is_floating_point()}
    assert kinds == {(torch.float16, True), (torch.float32, False)}
    weight_shards.unpack(tmp_path / "packed", tmp_path / "back")
    recipe, _, state = open_run(tmp_path / "back")
    assert recipe == open_run(run)[0] and state.finished and state.seconds == open_run(run)[2].seconds
    for name, tensor in weights(run).items():
        torch.testing.assert_close(weights(tmp_path / "back")[name], tensor, atol=1e-6, rtol=2**-11)


def test_a_smaller_model_takes_the_place_of_a_larger_one(run, tmp_path, monkeypatch):
    monkeypatch.setattr(weight_shards, "PART", 20_000)
    weight_shards.pack(run, tmp_path / "packed")
    (tmp_path / "packed" / "round.json").write_text("{}")
    monkeypatch.setattr(weight_shards, "PART", 15 * 2**20)
    weight_shards.pack(run, tmp_path / "packed")
    names = {path.name for path in (tmp_path / "packed").iterdir()}
    assert {name for name in names if name.startswith("weights")} == {"weights-00.safetensors"}
    assert "round.json" in names
    weight_shards.unpack(tmp_path / "packed", tmp_path / "back")
    assert weights(tmp_path / "back").keys() == weights(run).keys()


def test_a_run_is_not_unpacked_over_another(run, tmp_path):
    """Its best weights would stay, and be exported."""
    weight_shards.pack(run, tmp_path / "packed")
    before = weights(run)
    with pytest.raises(OutputError, match="exists already"):
        weight_shards.unpack(tmp_path / "packed", run)
    assert all(torch.equal(tensor, before[name]) for name, tensor in weights(run).items())


def test_parts_that_are_missing_or_of_two_checkpoints_are_refused(run, tmp_path, monkeypatch):
    monkeypatch.setattr(weight_shards, "PART", 20_000)
    for name in ("one", "two"):
        weight_shards.pack(run, tmp_path / name)
    last = sorted((tmp_path / "one").glob("*.safetensors"))[-1]
    last.write_bytes((tmp_path / "two" / last.name).read_bytes())
    with pytest.raises(RecipeError, match="parts that do not make one whole"):
        weight_shards.unpack(tmp_path / "one", tmp_path / "back")
    last.unlink()
    with pytest.raises(RecipeError, match="Pack the run again"):
        weight_shards.unpack(tmp_path / "one", tmp_path / "back")
    assert not (tmp_path / "back").exists()


def test_a_flipped_bit_is_noticed(run, tmp_path):
    weight_shards.pack(run, tmp_path / "packed")
    part = tmp_path / "packed" / "weights-00.safetensors"
    content = bytearray(part.read_bytes())
    content[-1] ^= 1
    part.write_bytes(content)
    with pytest.raises(RecipeError, match="its SHA-256 differs"):
        weight_shards.unpack(tmp_path / "packed", tmp_path / "back")
    assert not (tmp_path / "back").exists()


def test_a_recipe_that_asks_for_more_than_was_packed_is_not_built(run, tmp_path, monkeypatch):
    weight_shards.pack(run, tmp_path / "packed")
    recipe = tmp_path / "packed" / "recipe.toml"
    recipe.write_text(recipe.read_text().replace("width = 24", "width = 32768"))
    monkeypatch.setattr(weight_shards, "make_method", None)
    with pytest.raises(
        RecipeError, match=r"packed: it holds [\d,]+ weights, and the method of its recipe has [\d,]{12,}"
    ):
        weight_shards.unpack(tmp_path / "packed", tmp_path / "back")
    assert not (tmp_path / "back").exists()
