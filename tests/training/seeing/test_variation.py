import math

import torch

from whatchanged.training.seeing.grids import Batch
from whatchanged.training.seeing.variation import vary, vary_batch, vary_pixels


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def test_pictures_stay_pictures():
    pictures = torch.rand(5, 3, 16, 24, generator=seeded())
    kept = pictures.clone()
    varied = vary(pictures, seeded(1))
    assert varied.shape == pictures.shape and varied.dtype == torch.float32
    assert varied.min() >= 0 and varied.max() <= 1
    assert torch.equal(pictures, kept)


def test_black_and_white_stay_in_range():
    for value in (0.0, 1.0):
        varied = vary(torch.full((8, 3, 8, 8), value), seeded())
        assert varied.isfinite().all() and varied.min() >= 0 and varied.max() <= 1


def test_the_generator_decides_everything():
    pictures = torch.rand(3, 3, 8, 8, generator=seeded())
    torch.manual_seed(0)
    first = vary(pictures, seeded(1))
    torch.manual_seed(99)
    assert torch.equal(vary(pictures, seeded(1)), first)
    assert not torch.equal(vary(pictures, seeded(2)), first)


def test_each_picture_varies_by_itself_within_the_stated_bounds():
    """Flat grey: blur does nothing, so brightness follows gain, tint and gamma alone; grain averages out."""
    grey = 0.5
    means = vary(torch.full((300, 3, 16, 16), grey), seeded()).mean((2, 3))
    gains, gammas = (math.exp(0.22 + 0.04), math.exp(0.16))
    low, high = (grey / gains) ** gammas, (grey * gains) ** (1 / gammas)
    assert means.min() > low - 0.003 and means.max() < high + 0.003
    assert means.min() < 0.42 and means.max() > 0.58
    tint = means.max(1).values / means.min(1).values
    assert 1.02 < tint.max() < math.exp(2 * 0.04 * gammas) + 0.005


def test_reach_stretches_what_varies():
    pictures = torch.rand(4, 3, 8, 8, generator=seeded())
    assert torch.allclose(vary(pictures, seeded(1), reach=0.0), pictures, atol=1e-3)
    grey = torch.full((300, 3, 16, 16), 0.5)
    once, twice = (vary(grey, seeded(), reach).mean((1, 2, 3)) for reach in (1.0, 2.0))
    gains, gammas = (math.exp(2 * (0.22 + 0.04)), math.exp(2 * 0.16))
    assert (0.5 / gains) ** gammas - 0.003 < twice.min() < once.min() - 0.1
    assert once.max() + 0.1 < twice.max() < (0.5 * gains) ** (1 / gammas) + 0.003


def test_edges_are_blurred_more_or_less_and_grain_is_small():
    step = torch.zeros(200, 3, 8, 16)
    step[..., 8:] = 0.6
    varied = vary(step, seeded())
    beside = (varied[..., 8].mean((1, 2)) / varied[..., 12:].mean((1, 2, 3))).clamp(max=1)
    assert beside.min() > 1 - 0.7 / 4 - 0.02  # a quarter comes from across, 0.7 of it is mixed in
    assert beside.min() < 0.9 and beside.max() > 0.98
    flat = vary(torch.full((200, 3, 16, 16), 0.5), seeded()).std((2, 3))
    assert 2 / 255 < flat.max() < 3 / 255 and flat.min() < 0.5 / 255


def test_pixels_are_varied_as_light_is():
    pixels = torch.randint(0, 256, (3, 8, 16, 3), generator=seeded()).to(torch.uint8)
    light = vary(pixels.permute(0, 3, 1, 2) / 255, seeded(4)).permute(0, 2, 3, 1)
    varied = vary_pixels(pixels, seeded(4))
    assert varied.dtype == torch.uint8 and (varied / 255 - light).abs().max() <= 0.5 / 255 + 1e-6


def test_a_batch_varies_by_its_seed_each_picture_by_itself_and_tokens_do_not():
    grey = torch.full((4, 8, 16, 3), 120, dtype=torch.uint8)
    ids = torch.zeros(4, 2, dtype=torch.long)
    batch = Batch(grey, grey, ids)
    one, same, other = (vary_batch(batch, seed) for seed in ((1, 0, 7), (1, 0, 7), (1, 0, 8)))
    assert torch.equal(one.before, same.before) and torch.equal(one.after, same.after)
    assert not torch.equal(one.before, other.before)
    shades = {float(p.float().mean()) for p in (*one.before, *one.after)}
    assert len(shades) == 8 and one.ids is ids and (batch.before == 120).all()
    tokens = Batch(torch.rand(2, 6, 9), torch.rand(2, 6, 9), ids[:2])
    assert vary_batch(tokens, (1, 0, 7)) is tokens
