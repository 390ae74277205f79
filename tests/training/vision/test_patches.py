"""Pictures as rows of pixels: what a square holds, and which pictures are refused."""

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from whatchanged.errors import ShapeError
from whatchanged.recipes import PatchesConfig
from whatchanged.training.vision.patches import MEAN, STD, PatchVision

VISION = PatchVision(PatchesConfig(image_width=6, image_height=4, patch=2))


def pixels(seed=0):
    return np.random.default_rng(seed).integers(0, 256, (3, 4, 6, 3), dtype=np.uint8)


def test_a_patch_is_its_normalised_pixels_channel_by_channel():
    before = pixels()
    pair = VISION.tokens(torch.from_numpy(before), torch.from_numpy(pixels(1)))
    assert pair.before.features.shape == (3, 6, 12) and pair.before.cells.tolist() == [list(range(6))] * 3
    light = (before / 255 - MEAN) / STD
    for cell in range(6):
        row, column = divmod(cell, 3)
        square = light[:, 2 * row : 2 * row + 2, 2 * column : 2 * column + 2]
        wanted = square.transpose(0, 3, 1, 2).reshape(3, 12)
        assert_close(pair.before.features[:, cell].double().numpy(), wanted, atol=1e-6, rtol=1e-5)


def test_a_linear_layer_on_a_patch_is_a_convolution():
    torch.manual_seed(0)
    light = torch.randn(2, 3, 4, 6)
    convolution = torch.nn.Conv2d(3, 5, 2, stride=2, bias=False)
    rows = VISION.tokens(light, light).before.features @ convolution.weight.flatten(1).T
    assert_close(rows, convolution(light).flatten(2).transpose(1, 2))


def test_nothing_is_learned():
    assert not list(VISION.parameters()) and not VISION.state_dict()
    assert VISION.pixel_statistics == (MEAN, STD)


def test_pictures_of_another_size_are_refused():
    with pytest.raises(ShapeError, match=r"got .* \(3, 6, 4\), wanted \(3, 4, 6\)"):
        VISION.tokens(torch.zeros(1, 3, 6, 4), torch.zeros(1, 3, 4, 6))
