import pytest
import torch
from torch.testing import assert_close

from whatchanged.training.vision.backbone import Backbone, Residual


@pytest.fixture
def backbone():
    torch.manual_seed(0)
    return Backbone((4, 6, 8), 1).eval()


def test_features_stand_at_stride_8(backbone):
    assert backbone(torch.zeros(2, 3, 32, 48)).shape == (2, 8, 4, 6)
    assert backbone.width == 8


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
