"""What must not matter about a picture, varied anew each time a stored one is used.

Exposure, contrast, tint, sharpness and grain are cheap to change after drawing; light and material are not,
and vary when the pool is drawn (``render.Look``).
"""

import torch
from torch import Tensor
from torch.nn import functional as F


def vary(pictures: Tensor, generator: torch.Generator) -> Tensor:
    """(B, 3, H, W) in [0, 1] -> the same pictures, each exposed, toned, blurred and grained anew.

    gain 0.8 to 1.25, gamma 0.85 to 1.18 (both log-uniform), tint per channel 4 %, a binomial 3x3 blur mixed
    in by 0 to 0.7, grain of 0 to 2.5 grey levels.
    """
    batch = pictures.shape[0]

    def draw(low: float, high: float, channels: int = 1) -> Tensor:
        uniform = torch.rand(batch, channels, 1, 1, generator=generator)
        return (low + (high - low) * uniform).to(pictures.device)

    gain = draw(-0.22, 0.22).exp() * draw(-0.04, 0.04, 3).exp()
    varied = (pictures * gain).clamp(1e-4, 1.0) ** draw(-0.16, 0.16).exp()
    kernel = torch.tensor([1.0, 2.0, 1.0], device=pictures.device) / 4
    kernel = (kernel[:, None] * kernel[None, :]).expand(3, 1, 3, 3).to(pictures.dtype)
    blurred = F.conv2d(F.pad(varied, (1, 1, 1, 1), mode="replicate"), kernel, groups=3)
    varied = torch.lerp(varied, blurred, draw(0.0, 0.7))
    grain = torch.randn(pictures.shape, generator=generator).to(pictures.device) * draw(0.0, 2.5 / 255)
    return (varied + grain).clamp(0.0, 1.0)
