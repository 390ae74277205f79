"""What must not matter about a picture, varied anew each time a stored one is used.

Exposure, contrast, tint, sharpness and grain are cheap to change after drawing; light and material are not,
and vary when the pool is drawn (``render.Look``).
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from whatchanged.training.seeing.grids import Batch


def vary(pictures: Tensor, generator: torch.Generator, reach: float = 1.0) -> Tensor:
    """(B, 3, H, W) in [0, 1] -> the same pictures, each exposed, toned, blurred and grained anew.

    gain 0.8 to 1.25, gamma 0.85 to 1.18 (both log-uniform), tint per channel 4 %, a binomial 3x3 blur mixed
    in by 0 to 0.7, grain of 0 to 2.5 grey levels. ``reach`` stretches these ranges (gain, gamma and tint in
    their logarithms; blur ends at 1). The numbers are drawn where the generator lives.
    """
    batch = pictures.shape[0]

    def draw(low: float, high: float, channels: int = 1) -> Tensor:
        uniform = torch.rand(batch, channels, 1, 1, generator=generator, device=generator.device)
        return (low + (high - low) * uniform).to(pictures.device)

    gain = draw(-0.22 * reach, 0.22 * reach).exp() * draw(-0.04 * reach, 0.04 * reach, 3).exp()
    varied = (pictures * gain).clamp(1e-4, 1.0) ** draw(-0.16 * reach, 0.16 * reach).exp()
    kernel = torch.tensor([1.0, 2.0, 1.0], device=pictures.device) / 4
    kernel = (kernel[:, None] * kernel[None, :]).expand(3, 1, 3, 3).to(pictures.dtype)
    blurred = F.conv2d(F.pad(varied, (1, 1, 1, 1), mode="replicate"), kernel, groups=3)
    varied = torch.lerp(varied, blurred, draw(0.0, min(1.0, 0.7 * reach)))
    grain = torch.randn(pictures.shape, generator=generator, device=generator.device).to(pictures.device)
    return (varied + grain * draw(0.0, 2.5 * reach / 255)).clamp(0.0, 1.0)


def vary_pixels(pictures: Tensor, generator: torch.Generator, reach: float = 1.0) -> Tensor:
    """``vary`` on pixels: uint8 (B, H, W, 3) -> uint8 (B, H, W, 3), rounded."""
    light = pictures.permute(0, 3, 1, 2).float() / 255
    return (vary(light, generator, reach) * 255).round().to(torch.uint8).permute(0, 2, 3, 1)


def vary_batch(batch: Batch, seed: Sequence[int]) -> Batch:
    """A batch whose pictures are varied where they lie, the numbers following from ``seed``; tokens stay."""
    if batch.before.dtype != torch.uint8:
        return batch
    drawn = int(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0] >> np.uint64(1))
    generator = torch.Generator(batch.before.device).manual_seed(drawn)
    before, after = (vary_pixels(pictures, generator) for pictures in (batch.before, batch.after))
    return replace(batch, before=before, after=after)
