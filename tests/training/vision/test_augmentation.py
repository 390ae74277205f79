import io
import math

import numpy as np
import pytest
import torch
from PIL import Image, ImageDraw

from whatchanged.training.batches import Batch
from whatchanged.training.vision.augmentation import augment, augment_batch, augment_pixels, jpeg

COMPRESSION = 5 / 255
"""How far the mean of a flat picture moves at most: at coarseness 5 it is rounded to 10 grey levels."""


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def test_pictures_stay_pictures():
    pictures = torch.rand(5, 3, 16, 24, generator=seeded())
    kept = pictures.clone()
    varied = augment(pictures, seeded(1))
    assert varied.shape == pictures.shape and varied.dtype == torch.float32
    assert varied.min() >= 0 and varied.max() <= 1
    assert torch.equal(pictures, kept)


def test_black_and_white_stay_in_range():
    for value in (0.0, 1.0):
        varied = augment(torch.full((8, 3, 8, 8), value), seeded())
        assert varied.isfinite().all() and varied.min() >= 0 and varied.max() <= 1


def test_the_generator_decides_everything():
    pictures = torch.rand(3, 3, 8, 8, generator=seeded())
    torch.manual_seed(0)
    first = augment(pictures, seeded(1))
    torch.manual_seed(99)
    assert torch.equal(augment(pictures, seeded(1)), first)
    assert not torch.equal(augment(pictures, seeded(2)), first)


def test_each_picture_varies_by_itself_within_the_stated_bounds():
    """Flat grey: blur, saturation and contrast do nothing, so brightness follows gain, tint and gamma."""
    grey = 0.5
    means = augment(torch.full((300, 3, 16, 16), grey), seeded()).mean((2, 3))
    gains, gammas = (math.exp(0.22 + 0.07), math.exp(0.16))
    low, high = (grey / gains) ** gammas, (grey * gains) ** (1 / gammas)
    assert means.min() > low - 0.003 - COMPRESSION and means.max() < high + 0.003 + COMPRESSION
    assert means.min() < 0.42 and means.max() > 0.58
    tint = (means.max(1).values / means.min(1).values).sort().values
    assert 1.05 < tint[150] < math.exp(2 * 0.07 * gammas)


def test_colors_fade_or_deepen_within_the_stated_bounds():
    """Two colors of the same mean: their distance follows saturation, and little else."""
    halves = torch.full((400, 3, 16, 16), 0.4)
    halves[:, 0, :, :8], halves[:, 1, :, :8] = 0.45, 0.35
    halves[:, 0, :, 8:], halves[:, 1, :, 8:] = 0.35, 0.45
    varied = augment(halves, seeded())
    kept = ((varied[:, 0, :, 1:7] - varied[:, 0, :, 9:15]).mean((1, 2)) / 0.1).sort().values
    assert 0.3 < kept[20] < 0.6 and 1.4 < kept[-20] < 2.2


def test_reach_stretches_what_varies():
    pictures = torch.rand(4, 3, 8, 8, generator=seeded())
    assert torch.allclose(augment(pictures, seeded(1), reach=0.0), pictures, atol=1e-3)
    grey = torch.full((300, 3, 16, 16), 0.5)
    once, twice = (augment(grey, seeded(), reach).mean((1, 2, 3)) for reach in (1.0, 2.0))
    gains, gammas = (math.exp(2 * (0.22 + 0.07)), math.exp(2 * 0.16))
    assert (0.5 / gains) ** gammas - 0.003 - 2 * COMPRESSION < twice.min() < once.min() - 0.1
    assert once.max() + 0.1 < twice.max() < (0.5 * gains) ** (1 / gammas) + 0.003 + 2 * COMPRESSION


def test_edges_are_blurred_more_or_less_and_grain_is_small():
    step = torch.zeros(200, 3, 8, 16)
    step[..., 8:] = 0.6
    varied = augment(step, seeded())
    beside = (varied[..., 8].mean((1, 2)) / varied[..., 12:].mean((1, 2, 3))).sort().values
    assert 1 - 0.7 / 4 - 0.05 < beside[10] < 0.9 and beside[-10] > 0.97  # 0.7 of a quarter comes from across
    flat = augment(torch.full((200, 3, 16, 16), 0.5), seeded()).std((2, 3)).mean(1).sort().values * 255
    assert flat[0] < 0.5 and 0.5 < flat[100] < 2 and 2 < flat[-1] < 5  # coarse steps can make grain coarser


def drawn_things():
    """A picture with edges, colors and a gradient, 48x32."""
    picture = Image.linear_gradient("L").resize((48, 32)).convert("RGB")
    pen = ImageDraw.Draw(picture)
    pen.ellipse((5, 6, 20, 21), fill=(170, 40, 40))
    pen.rectangle((25, 10, 40, 26), fill=(40, 170, 160))
    return picture


@pytest.mark.parametrize("quality", [50, 30, 10])
def test_compression_leaves_what_pillow_leaves_at_twice_the_size(quality):
    """Not the same numbers (Pillow averages chroma), but the same kind and amount of errors."""
    small = drawn_things()
    large = small.resize((96, 64), Image.Resampling.BICUBIC)
    file = io.BytesIO()
    large.save(file, "JPEG", quality=quality)
    back, plain = (
        np.asarray(picture.convert("RGB").resize((48, 32), Image.Resampling.BOX), np.float64)
        for picture in (Image.open(file), large)
    )
    light = torch.from_numpy(np.asarray(small) / 255).permute(2, 0, 1)[None]
    ours = jpeg(light, torch.full((1, 1, 1, 1), 50 / quality)).clamp(0, 1)[0].permute(1, 2, 0).numpy() * 255
    errors, expected = ours - np.asarray(small), back - plain
    assert 0.7 < errors.std() / expected.std() < 1.4
    assert np.corrcoef(errors.ravel(), expected.ravel())[0, 1] > 0.4


def test_compression_of_any_size_and_of_none():
    pictures = torch.rand(2, 3, 13, 21, generator=seeded())
    coarse = torch.tensor([0.0, 5.0]).reshape(2, 1, 1, 1)
    left = jpeg(pictures, coarse)
    assert left.shape == pictures.shape
    assert (left[0] - pictures[0]).abs().max() < 1e-3 < 0.05 < (left[1] - pictures[1]).abs().max()


def test_pixels_are_varied_as_light_is():
    pixels = torch.randint(0, 256, (3, 8, 16, 3), generator=seeded()).to(torch.uint8)
    light = augment(pixels.permute(0, 3, 1, 2) / 255, seeded(4)).permute(0, 2, 3, 1)
    varied = augment_pixels(pixels, seeded(4))
    assert varied.dtype == torch.uint8 and (varied / 255 - light).abs().max() <= 0.5 / 255 + 1e-6


def test_a_batch_varies_by_its_seed_each_picture_by_itself_and_tokens_do_not():
    grey = torch.full((4, 8, 16, 3), 120, dtype=torch.uint8)
    ids = torch.zeros(4, 2, dtype=torch.long)
    batch = Batch(grey, grey, ids)
    one, same, other = (augment_batch(batch, seed) for seed in ((1, 0, 7), (1, 0, 7), (1, 0, 8)))
    assert torch.equal(one.before, same.before) and torch.equal(one.after, same.after)
    assert not torch.equal(one.before, other.before)
    shades = {float(p.float().mean()) for p in (*one.before, *one.after)}
    assert len(shades) == 8 and one.ids is ids and (batch.before == 120).all()
    tokens = Batch(torch.rand(2, 6, 9), torch.rand(2, 6, 9), ids[:2])
    assert augment_batch(tokens, (1, 0, 7)) is tokens
