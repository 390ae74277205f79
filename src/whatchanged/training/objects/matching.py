"""Soft matches between the tokens of two pictures, which must agree on one motion of the camera.

Every camera looks at the same point, so the positions of unmoved objects differ between two views by one
rotation of the ground plane. But each ground position is estimated from a single picture. If a camera is
nearer or higher than estimated, all objects are misplaced in the same way, to first order by one affine map.
Therefore appearance proposes matches, the matches vote for a rotation and then for an affine map near it, and
the map refines the matches. If the map does not explain the displacement of a matched token, the rest is the
token's own motion. Not part of any published method; ``vision.matching`` switches it on.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

ROUNDS = 3
SINKHORN = 4
RIDGE = 0.5
"""The weight that pulls the affine map towards the rotation. It equals half a match at a distance of one
unit."""


@dataclass(frozen=True)
class Matches:
    """Soft matches between N tokens of each picture. The last row and column of ``log_joint`` mean "nowhere".

    log_joint: (B, N + 1, N + 1), rows before, columns after, in logarithms. Each token's column sums to one.
    Its row would sum to one after many more rounds of Sinkhorn, so code that reads rows divides them by their
    sums.
    turn: (B, 2), cosine and sine of the rotation from the before view's ground coordinates to the after's.
    expected: (B, N, 2), the positions of the before view's tokens in the after view if nothing had moved.
    """

    log_joint: Tensor
    turn: Tensor
    expected: Tensor


def rotate(ground_positions: Tensor, turn: Tensor) -> Tensor:
    """Ground coordinates (B, N, 2), rotated by (cos, sin) of (B, 2): x' = cx - sy, y' = sx + cy."""
    c, s = turn[:, None, 0], turn[:, None, 1]
    x, y = ground_positions[..., 0], ground_positions[..., 1]
    return torch.stack([c * x - s * y, s * x + c * y], dim=-1)


def fit_turn(weights: Tensor, before: Tensor, after: Tensor) -> Tensor:
    """Return the rotation R that minimises sum_ij w_ij |R p_i - q_j|^2, in closed form.

    cos = C / r, sin = S / r with C = sum w p.q, S = sum w (p x q), r = sqrt(C^2 + S^2).
    weights: (B, N, M) >= 0; before: (B, N, 2), after: (B, M, 2) ground coordinates -> (B, 2).
    """
    dot = torch.einsum("bij,bik,bjk->b", weights, before, after)
    cross = torch.einsum("bij,bi,bj->b", weights, before[..., 0], after[..., 1]) - torch.einsum(
        "bij,bi,bj->b", weights, before[..., 1], after[..., 0]
    )
    vector = torch.stack([dot + 1e-3, cross], dim=-1)  # no evidence at all: no turn
    return vector / vector.square().sum(-1, keepdim=True).clamp_min(1e-12).sqrt()


def fit_map(weights: Tensor, before: Tensor, after: Tensor, turn: Tensor) -> Tensor:
    """Return the affine map (A | t) near the rotation (R | 0), in closed form: (B, 2, 3).

        minimise  sum_ij w_ij |A p_i + t - q_j|^2 + r (|A - R|^2 + |t|^2)
        (A | t) = (sum w q p'^T + r (R | 0)) (sum w p' p'^T + r I)^-1,   p' = (p, 1)

    weights: (B, N, M) >= 0; before: (B, N, 2), after: (B, M, 2); turn: (B, 2).
    """
    ones = torch.ones_like(before[..., :1])
    lifted = torch.cat([before, ones], dim=-1)
    c, s = turn[:, 0], turn[:, 1]
    rotation = torch.stack([c, -s, torch.zeros_like(c), s, c, torch.zeros_like(c)], dim=-1).view(-1, 2, 3)
    square = torch.einsum("bi,bik,bil->bkl", weights.sum(2), lifted, lifted)
    square = square + RIDGE * torch.eye(3, device=before.device)
    cross = torch.einsum("bij,bjk,bil->bkl", weights, after, lifted) + RIDGE * rotation
    x, y, z = square.unbind(1)  # symmetric, so its inverse is made of its rows' cross products
    cofactors = torch.stack([_cross(y, z), _cross(z, x), _cross(x, y)], dim=1)
    return cross @ cofactors / (x * cofactors[:, 0]).sum(-1)[:, None, None]


def _cross(a: Tensor, b: Tensor) -> Tensor:
    """Return the cross product of (B, 3) and (B, 3); ``torch.linalg.cross`` cannot be exported."""
    (a0, a1, a2), (b0, b1, b2) = a.unbind(-1), b.unbind(-1)
    return torch.stack([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0], dim=-1)


def carry(ground_positions: Tensor, affine: Tensor) -> Tensor:
    """Ground positions (B, N, 2) mapped by (A | t) of (B, 2, 3)."""
    return ground_positions @ affine[:, :, :2].transpose(1, 2) + affine[:, None, :, 2]


class Matching(nn.Module):
    """Matching by learned keys, with a learned tolerance of position and a learned score of "nowhere"."""

    def __init__(self, width: int, key_width: int = 48) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.key = nn.Linear(width, key_width)
        self.log_scale = nn.Parameter(torch.tensor(2.0))
        self.log_tightness = nn.Parameter(torch.tensor(3.0))
        self.log_moved = nn.Parameter(torch.tensor(-3.0))
        self.nowhere = nn.Parameter(torch.tensor(0.0))

    def forward(
        self,
        features: tuple[Tensor, Tensor],
        ground_positions: tuple[Tensor, Tensor],
        salience: tuple[Tensor, Tensor],
    ) -> Matches:
        """features (B, N, F), ground positions (B, N, 2), salience (B, N) in [0, 1]: before and after."""
        keys = [F.normalize(self.key(self.norm(x)), dim=-1) for x in features]
        likeness = self.log_scale.exp() * torch.einsum("bik,bjk->bij", keys[0], keys[1])
        importance = salience[0][:, :, None] * salience[1][:, None, :]
        turn = fit_turn(self._normalise(likeness)[:, :-1, :-1].exp() * importance, *ground_positions)
        expected = rotate(ground_positions[0], turn)
        for _ in range(ROUNDS):
            gap = expected[:, :, None] - ground_positions[1][:, None, :]
            strain = 0.5 * self.log_tightness.exp() * gap.square().sum(-1)
            near = torch.exp(-strain)
            # An object that moved is far from its expected position, but matches better than "nowhere".
            log_joint = self._normalise(likeness + torch.log(near + self.log_moved.exp()))
            # Its match hardly counts for the map. The weight exp(-strain) would go too far: it would also
            # drop objects that only the rotation misplaces.
            weights = log_joint[:, :-1, :-1].exp() * importance / (1 + strain)
            turn = fit_turn(weights, *ground_positions)
            expected = carry(ground_positions[0], fit_map(weights, *ground_positions, turn))
        return Matches(log_joint, turn, expected)

    def _normalise(self, scores: Tensor) -> Tensor:
        """Scores (B, N, M) -> log matches with a "nowhere" row and column: Sinkhorn, ``SINKHORN`` rounds."""
        batch, n, m = scores.shape
        padded = torch.cat([scores, self.nowhere.expand(batch, n, 1)], dim=2)
        padded = torch.cat([padded, self.nowhere.expand(batch, 1, m + 1)], dim=1)
        rows, columns = torch.zeros_like(padded[:, :, :1]), torch.zeros_like(padded[:, :1, :])
        row_is_token = (torch.arange(n + 1, device=scores.device) < n)[None, :, None].to(scores.dtype)
        column_is_token = (torch.arange(m + 1, device=scores.device) < m)[None, None, :].to(scores.dtype)
        for _ in range(SINKHORN):  # only tokens are normalised: "nowhere" takes as many as it gets
            rows = -torch.logsumexp(padded + columns, dim=2, keepdim=True) * row_is_token
            columns = -torch.logsumexp(padded + rows, dim=1, keepdim=True) * column_is_token
        return padded + rows + columns
