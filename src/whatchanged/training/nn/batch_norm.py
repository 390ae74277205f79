"""Batch normalisation over the whole batch, also where several processes share it."""

import torch
from torch import Tensor, nn

from whatchanged.training.distributed import add_up, batch_total, processes


class BatchNorm(nn.BatchNorm2d):
    """Batch normalisation as in torch. In training on several processes, the statistics are over all
    processes' pictures.

    y = (x − μ) / sqrt(σ² + eps) · g + b,   μ, σ² of each channel over the whole batch

    torch has a layer for several processes only on GPUs. Running statistics are the same in all processes.
    """

    def forward(self, input: Tensor) -> Tensor:
        """(B, C, h, w) -> (B, C, h, w)."""
        if processes() == 1 or not self.training:
            return super().forward(input)
        x = input.to(torch.promote_types(input.dtype, torch.float32))
        count = batch_total(x.shape[0] * x.shape[2] * x.shape[3])
        mean = add_up(x.sum((0, 2, 3))) / count
        centred = x - mean[:, None, None]
        variance = add_up(centred.square().sum((0, 2, 3))) / count
        self._note(mean.detach(), variance.detach() * count / max(1, count - 1))
        scale = self.weight / (variance + self.eps).sqrt()
        return (centred * scale[:, None, None] + self.bias[:, None, None]).to(input.dtype)

    @torch.no_grad()
    def _note(self, mean: Tensor, variance: Tensor) -> None:
        """Move the running statistics towards the statistics of a batch, as torch does."""
        if self.running_mean is None or self.running_var is None or self.num_batches_tracked is None:
            return
        step = 0.1 if self.momentum is None else self.momentum
        self.num_batches_tracked += 1
        self.running_mean.lerp_(mean.to(self.running_mean.dtype), step)
        self.running_var.lerp_(variance.to(self.running_var.dtype), step)
