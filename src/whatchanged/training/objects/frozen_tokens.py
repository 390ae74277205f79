"""Standardises and aligns the tokens of a trained vision, so that any method can learn from them.

Standardised: each number has mean 0 and deviation 1 over training pairs. Aligned: token n of both pictures
shows the same object wherever the matching found it in both. Neither is part of a published method.
"""

from dataclasses import replace

import torch
from torch import Tensor, nn

from whatchanged.training.objects.match_features import located
from whatchanged.training.objects.matching import Matching
from whatchanged.training.vision.base import TokenPair, Tokens

LEAST_DEVIATION = 0.01
"""The least standard deviation by which a feature is divided."""
LARGEST = 5.0
"""The largest absolute value of a normalised feature, in standard deviations. Features of a changed token can
reach a hundred deviations without this limit."""


class Standardised(nn.Module):
    """x -> (x − m) / s, clipped to ±``LARGEST``; m and s (width,) are of the measured tokens.

    Not published. A changed token differs from others in only a few numbers, which are small compared with
    the rest. Without standardisation, a method takes thousands of steps to notice them.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.mean: Tensor
        self.deviation: Tensor
        self.register_buffer("mean", torch.zeros(width))
        self.register_buffer("deviation", torch.ones(width))

    def measure(self, features: Tensor) -> None:
        """Set m and s to the mean and deviation of tokens (n, width)."""
        self.mean.copy_(features.mean(0))
        self.deviation.copy_(features.std(0).clamp_min(LEAST_DEVIATION))

    def forward(self, features: Tensor) -> Tensor:
        """(B, N, width) -> (B, N, width)."""
        return ((features - self.mean) / self.deviation).clamp(-LARGEST, LARGEST)


def aligned(matching: Matching, pair: TokenPair) -> TokenPair:
    """Return the tokens of the picture after, in the order of their matches in the picture before."""
    where = located(pair)
    salience = where.salience[0][..., 0], where.salience[1][..., 0]
    features = pair.before.features.float(), pair.after.features.float()
    order = match_order(matching(features, where.positions, salience).log_joint)
    return TokenPair(replace(pair.before, aligned=True), _in_order(pair.after, order))


def match_order(log_joint: Tensor) -> Tensor:
    """Return, for each position n, the index of the token of the picture after that matches token n of the
    picture before: (B, N).

    Two tokens get the same position only if they are each other's best match, and match better than
    "nowhere". The remaining tokens fill the remaining positions in order.

    log_joint: (B, N + 1, N + 1), see ``Matches``.
    """
    tokens = log_joint.shape[1] - 1
    numbers = torch.arange(tokens, device=log_joint.device)
    after = log_joint[:, :-1].argmax(2)  # (B, N), the best match of each token before; N: nowhere
    before = log_joint[:, :, :-1].argmax(1)  # (B, N), of each token after
    mutual = before.gather(1, after.clamp_max(tokens - 1)) == numbers
    matched = mutual & (after < tokens)  # of the places
    mutual = after.gather(1, before.clamp_max(tokens - 1)) == numbers
    placed = mutual & (before < tokens)  # of the tokens after
    free = (matched * tokens + numbers).topk(tokens, dim=1, largest=False).indices
    left = (placed * tokens + numbers).topk(tokens, dim=1, largest=False).indices
    return torch.where(matched, after, torch.zeros_like(after).scatter(1, free, left))


def _in_order(side: Tokens, order: Tensor) -> Tokens:
    """Return the tokens of one picture, reordered: position n holds token ``order``[n]."""

    def rows(values: Tensor | None) -> Tensor | None:
        if values is None or values.ndim == 2:
            return None if values is None else values.gather(1, order)
        return values.gather(1, order[..., None].expand(-1, -1, values.shape[2]))

    return replace(
        side,
        aligned=True,
        features=side.features.gather(1, order[..., None].expand_as(side.features)),
        cells=side.cells.gather(1, order),
        ground_positions=rows(side.ground_positions),
        salience=rows(side.salience),
    )
