"""The tool that brings another network of a model to the front."""

import importlib.util
from pathlib import Path

import pytest
import torch
from support.tiny_regions import build_regions
from torch.testing import assert_close

from whatchanged.captioner.bundle import WEIGHTS, open_bundle, write_bundle
from whatchanged.errors import RecipeError
from whatchanged.training.weights.bundle_weights import pack_weights, read_weights

TOOL = Path(__file__).parents[2] / "tools" / "fit" / "first_network.py"


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("first_network", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_chosen_network_comes_first_and_the_others_stay(tool, tmp_path):
    weights = {f"networks.{number}.net.bias": torch.full((2,), float(number)) for number in range(11)}
    bundle = build_regions(tmp_path / "tiny")
    (bundle.folder / WEIGHTS).write_bytes(pack_weights(weights))
    write_bundle(bundle.folder, bundle.card)
    tool.main([str(bundle.folder), "1", str(tmp_path / "out")])
    found = open_bundle(tmp_path / "out")
    assert found.card == bundle.card
    order = [1, 0, *range(2, 11)]
    expected = {
        f"networks.{number}.net.bias": torch.full((2,), float(own)) for number, own in enumerate(order)
    }
    assert_close(read_weights(found), expected)


def test_a_number_that_no_network_has_is_refused(tool):
    with pytest.raises(RecipeError, match=r"^NUMBER: got 1; the model has no such network"):
        tool.reordered({"networks.0.a": torch.zeros(1)}, 1)
