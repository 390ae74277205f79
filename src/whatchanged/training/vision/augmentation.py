"""Augments pictures at each visit by changes that a method should ignore.

Exposure, contrast, colour, sharpness, grain and compression can be changed in a finished picture. Light and
material cannot; only a drawer can vary them.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from whatchanged.training.batches import Batch, Part, draw_rows

TO_YCC = ((0.299, 0.587, 0.114), (-0.168736, -0.331264, 0.5), (0.5, -0.418688, -0.081312))
"""The matrix that converts red, green and blue to JPEG's luma and its two chroma channels (JFIF 1.02)."""
LUMA = ((16, 11, 10, 16), (12, 12, 14, 19), (14, 13, 16, 24), (14, 17, 22, 29))
CHROMA = ((17, 18, 24, 47), (18, 21, 26, 66), (24, 26, 56, 99), (47, 66, 99, 99))
"""The upper left 4 x 4 entries of JPEG's example quantization tables (T.81, Annex K), in grey levels.

All other entries of the chroma table are 99.
"""


def augment(
    pictures: Tensor, generator: torch.Generator, reach: float = 1.0, part: Part | None = None
) -> Tensor:
    """(B, 3, H, W) in [0, 1] -> the same pictures with random exposure, colour, blur, grain and compression.

    saturation 0.5 to 1.57, gain 0.8 to 1.25, tint per channel 7 %, gamma 0.85 to 1.18, contrast about the
    picture's mean 0.74 to 1.35 (all log-uniform), a binomial 3x3 blur mixed in by 0 to 0.7, grain of 0 to 2.5
    grey levels, ``jpeg`` of coarseness 0.05 to 5 (log-uniform). ``reach`` stretches these ranges (the first
    five in their logarithms, coarseness as a factor; blur ends at 1). The random numbers are drawn on the
    generator's device; part: as in ``draw_rows``.
    """
    batch = pictures.shape[0]

    def draw(low: float, high: float, channels: int = 1) -> Tensor:
        uniform = draw_rows((batch, channels, 1, 1), generator, generator.device, part)
        return (low + (high - low) * uniform).to(pictures.device)

    varied = torch.lerp(pictures.mean(1, keepdim=True), pictures, draw(-0.7 * reach, 0.45 * reach).exp())
    gain = draw(-0.22 * reach, 0.22 * reach).exp() * draw(-0.07 * reach, 0.07 * reach, 3).exp()
    varied = (varied * gain).clamp(1e-4, 1.0) ** draw(-0.16 * reach, 0.16 * reach).exp()
    varied = torch.lerp(varied.mean((1, 2, 3), keepdim=True), varied, draw(-0.3 * reach, 0.3 * reach).exp())
    kernel = torch.tensor([1.0, 2.0, 1.0], device=pictures.device) / 4
    kernel = (kernel[:, None] * kernel[None, :]).expand(3, 1, 3, 3).to(pictures.dtype)
    blurred = F.conv2d(F.pad(varied, (1, 1, 1, 1), mode="replicate"), kernel, groups=3)
    varied = torch.lerp(varied, blurred, draw(0.0, min(1.0, 0.7 * reach)))
    grain = draw_rows(pictures.shape, generator, pictures.device, part, normal=True)
    varied = (varied + grain * draw(0.0, 2.5 * reach / 255)).clamp(0.0, 1.0)
    return jpeg(varied, reach * draw(-3.0, 1.61).exp()).clamp(0.0, 1.0)


def jpeg(pictures: Tensor, coarseness: Tensor) -> Tensor:
    """(B, 3, H, W) in [0, 1] -> the pictures after JPEG compression at twice the size, with halved chroma.

    coarseness: (B, 1, 1, 1), factor on JPEG's example tables (1: quality 50, 5: quality 10). At twice the
    size, a block is 4x4 pixels of luma here, with coefficients twice as large, and 8x8 of chroma.
    """
    height, width = pictures.shape[2:]
    padded = F.pad(pictures, (0, -width % 8, 0, -height % 8), mode="replicate")
    mix = pictures.new_tensor(TO_YCC)
    planes = torch.einsum("cd,bdhw->bchw", mix, padded)
    chroma = F.pad(pictures.new_tensor(CHROMA), (0, 4, 0, 4), value=99.0)
    luma = quantised(planes[:, :1], coarseness * pictures.new_tensor(LUMA) / 2)
    planes = torch.cat([luma, quantised(planes[:, 1:], coarseness * chroma)], 1)
    return torch.einsum("cd,bdhw->bchw", torch.linalg.inv(mix), planes)[:, :, :height, :width]


def quantised(planes: Tensor, steps: Tensor) -> Tensor:
    """(B, C, H, W) -> the same, with the cosine coefficients of its n x n blocks rounded.

    steps: (B, 1, n, n), each coefficient is rounded to a multiple of this, in 255ths.
    """
    size = steps.shape[-1]
    place = torch.arange(size, device=planes.device, dtype=planes.dtype)
    cosines = torch.cos(torch.pi / size * place[:, None] * (place + 0.5)) * (2 / size) ** 0.5
    cosines[0] /= 2**0.5
    steps = steps.clamp(min=0.01)[:, :, None, None] / 255
    batch, channels, height, width = planes.shape
    blocks = planes.reshape(batch, channels, height // size, size, width // size, size).transpose(3, 4)
    coefficients = cosines @ blocks @ cosines.T
    rounded: Tensor = cosines.T @ ((coefficients / steps).round() * steps) @ cosines
    return rounded.transpose(3, 4).reshape(planes.shape)


def augment_pixels(
    pictures: Tensor, generator: torch.Generator, reach: float = 1.0, part: Part | None = None
) -> Tensor:
    """``augment`` on pixels: uint8 (B, H, W, 3) -> uint8 (B, H, W, 3), rounded."""
    light = pictures.permute(0, 3, 1, 2).float() / 255
    return (augment(light, generator, reach, part) * 255).round().to(torch.uint8).permute(0, 2, 3, 1)


def augment_batch(batch: Batch, seed: Sequence[int]) -> Batch:
    """Return a batch whose pictures are augmented on their own device, with random numbers from ``seed``;
    tokens stay unchanged.
    """
    if batch.before.dtype != torch.uint8:
        return batch
    drawn = int(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0] >> np.uint64(1))
    generator = torch.Generator(batch.before.device).manual_seed(drawn)
    before, after = (
        augment_pixels(pictures, generator, part=batch.part) for pictures in (batch.before, batch.after)
    )
    return replace(batch, before=before, after=after)
