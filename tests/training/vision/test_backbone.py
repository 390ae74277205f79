"""The backbone, and the vision that takes all its cells as tokens."""

from dataclasses import replace

import pytest
import torch
from torch.testing import assert_close

from whatchanged.recipes import BackboneConfig
from whatchanged.training.vision.backbone import MEAN, STD, Backbone, BackboneVision, Residual
from whatchanged.training.vision.base import has_backbone

TINY = BackboneConfig(image_width=48, image_height=32, channels=(4, 6, 8), blocks=1)


@pytest.fixture
def backbone():
    torch.manual_seed(0)
    return Backbone((4, 6, 8), 1).eval()


@pytest.fixture
def vision():
    torch.manual_seed(0)
    return BackboneVision(TINY).eval()


def pictures(seed, batch=2):
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(0, 256, (batch, 32, 48, 3), generator=generator).to(torch.uint8)


def test_features_stand_at_stride_8(backbone):
    assert backbone(torch.zeros(2, 3, 32, 48)).shape == (2, 8, 4, 6)
    assert backbone.width == 8


def test_a_fourth_convolution_makes_cells_of_16_pixels():
    torch.manual_seed(0)
    coarse = replace(TINY, channels=(4, 6, 8, 10), image_width=64)
    vision = BackboneVision(coarse).eval()
    assert (coarse.cell, vision.cell, vision.rows, vision.columns, vision.channels) == (16, 16, 2, 4, 10)
    picture = torch.zeros(1, 3, 320, 320)
    picture[:, :, 144:176, 144:176] = torch.rand(1, 3, 32, 32)
    features = vision.backbone(picture)
    assert features.shape == (1, 10, 20, 20) and features.abs().max() > 1e-4
    assert_close(vision.backbone(picture.roll(16, 3)), features.roll(1, 3))
    assert not torch.allclose(vision.backbone(picture.roll(8, 3)), features, atol=1e-4)


def test_the_fine_block_works_at_stride_4(backbone):
    seen = {}
    for name, module in backbone.named_modules():
        if isinstance(module, Residual):
            module.register_forward_hook(lambda _m, _i, out, name=name: seen.update({name: tuple(out.shape)}))
    backbone(torch.zeros(1, 3, 32, 48))
    assert seen == {"stem.2": (1, 6, 8, 12), "blocks.0": (1, 8, 4, 6)}


def test_a_shift_by_one_cell_shifts_the_features(backbone):
    """No bias comes before the normalisation, so an empty frame gives zeros and hides the picture's edge."""
    picture = torch.zeros(1, 3, 160, 176)
    picture[:, :, 72:88, 72:88] = torch.rand(1, 3, 16, 16)
    features = backbone(picture)
    assert features.abs().max() > 1e-4 and features[..., :2].abs().max() == 0
    assert_close(backbone(picture.roll(8, 3)), features.roll(1, 3))
    assert not torch.allclose(backbone(picture.roll(4, 3)), features, atol=1e-4)


def test_a_block_without_its_branch_keeps_what_is_positive():
    block = Residual(3).eval()
    torch.nn.init.zeros_(block.norm2.weight)
    x = torch.randn(2, 3, 4, 5)
    assert torch.equal(block(x), x.clamp_min(0))
    torch.nn.init.ones_(block.norm2.bias)
    assert torch.equal(block(x), (x + 1).clamp_min(0))


def test_pixels_are_normalised_by_hand(vision):
    picture = torch.tensor([0, 51, 255], dtype=torch.uint8).expand(1, 8, 8, 3)
    light = vision.normalise(picture)
    assert light.shape == (1, 3, 8, 8)
    wanted = [(value - mean) / std for value, mean, std in zip((0, 0.2, 1), MEAN, STD, strict=True)]
    assert_close(light[0, :, 3, 5], torch.tensor(wanted))
    assert vision.normalise(light) is light


def test_every_cell_is_a_token_row_by_row(vision):
    before, after = pictures(1), pictures(2)
    pair = vision.tokens(before, after)
    assert (vision.rows, vision.columns, vision.patches) == (4, 6, 24)
    assert vision.raw_width == vision.width == vision.stored_width == vision.channels == 8
    for pixels, side in ((before, pair.before), (after, pair.after)):
        features = vision.backbone(vision.normalise(pixels))
        for cell in (0, 7, 23):
            assert_close(side.features[:, cell], features[:, :, cell // 6, cell % 6])
        assert side.cells.tolist() == [list(range(24))] * 2
        assert side.ground_positions is side.salience is None


def test_each_cell_is_told_of_the_same_cell_of_the_other_picture():
    torch.manual_seed(0)
    vision = BackboneVision(replace(TINY, same_cell=True)).eval()
    assert (vision.raw_width, vision.width, vision.stored_width) == (8, 24, 8)
    pair = vision.tokens(pictures(1), pictures(2))
    hidden = torch.zeros(2, 24, dtype=torch.bool)
    hidden[0, 5] = True
    own, other = pair.before.features.clone(), pair.after.features
    own[0, 5] = 0
    found = vision.add_match_features(pair, (hidden, None))
    assert_close(found.before.features, torch.cat([own, other, other - own], 2))
    assert_close(found.after.features, torch.cat([other, own, own - other], 2))
    assert pair.before.features[0, 5].abs().sum() > 0, "what is hidden was hidden in a copy"


def test_a_picture_without_a_partner_is_told_of_nothing():
    vision = BackboneVision(replace(TINY, same_cell=True)).eval()
    pair = vision.tokens(pictures(1), pictures(2))
    single = pair._replace(after=pair.after.with_features(pair.after.features[:, :0]))
    found = vision.add_match_features(single)
    own = pair.before.features
    assert_close(found.before.features, torch.cat([own, torch.zeros_like(own), -own], 2))
    assert found.single


def test_pictures_normalised_pictures_and_stored_tokens_give_the_same(vision):
    before, after = pictures(1), pictures(2)
    wanted = vision.tokens(before, after)
    light = [vision.normalise(pixels) for pixels in (before, after)]
    for given in (light, [vision.to_tokens(pixels) for pixels in light]):
        found = vision.tokens(*given)
        assert_close(found.before.features, wanted.before.features)
        assert_close(found.after.features, wanted.after.features)


def test_all_its_weights_learn_through_the_tokens(vision):
    vision.train()
    pair = vision.tokens(pictures(1), pictures(2))
    (pair.before.features.square().sum() + pair.after.features.square().sum()).backward()
    missed = {name for name, parameter in vision.named_parameters() if parameter.grad is None}
    assert missed == set() == vision.parameters_without_gradient(["caption"])
    assert vision.token_parameters() == {name for name, _ in vision.named_parameters()}


def test_its_tokens_depend_on_what_it_says_they_do(vision):
    assert has_backbone(vision)
    assert vision.token_state().keys() == vision.state_dict().keys()
