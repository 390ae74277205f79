"""Which objects hide which in each of the two pictures, computed from their positions on the ground.

If another object hides an object in one picture, the object looks as if it had gone, or as if half of it had
another colour. This module adds to each token how much of it is hidden in its own picture, and how much would
be hidden in the other picture if nothing had moved. Not part of any published method; ``vision.occlusion``
switches it on.

Axis letters: B pairs, N, M tokens of a picture. Ground coordinates as a camera sees them, to the right and to
the front, in units of ``POSITION_SCALE``.
"""

import math

import torch
from torch import Tensor, nn

from whatchanged.training.objects.matching import Matches, rotate
from whatchanged.training.objects.supervision import ATTRIBUTES, POSITION_SCALE
from whatchanged.worlds.clevr.scene import CAMERA, RADIUS, SIZES

OCCLUSION_NUMBERS = 4
"""The number of occlusion features of a token: hidden here, hidden there, and its position in the other
picture (2)."""
EYE = math.hypot(*CAMERA[:2]) / POSITION_SCALE
"""The distance of the camera from the middle of the ground, averaged over CLEVR's cameras."""
SOFTNESS = 0.05
"""The width of the sigmoid between "as far away" and "nearer to the camera"."""
SHADOW = 4.0
"""The distance, in radii behind an object, up to which it hides other objects before any training."""


class Occlusion(nn.Module):
    """How much of each token other tokens hide, as the camera of a picture sees it.

        g_ij = |p_i - e| - (q_j - e) . u_i,   x_ij = (q_j - e) x u_i,   u_i = (p_i - e) / |p_i - e|
        h_ij = s_j sigmoid((g_ij - r_j) / SOFTNESS) exp(-(g_ij / (a r_j))^2 / 2 - (x_ij / (b r_j))^2 / 2)
        hidden_i = 1 - prod_j (1 - h_ij)

    p: the points to test; q: the objects, with radii r and salience s; e: the ground point below the camera.
    The length a and the width b of a shadow are learned.
    """

    def __init__(self) -> None:
        super().__init__()
        self.log_length = nn.Parameter(torch.tensor(math.log(SHADOW)))
        self.log_width = nn.Parameter(torch.tensor(0.0))

    def describe(
        self,
        matches: Matches,
        features: tuple[Tensor, Tensor],
        ground_positions: tuple[Tensor, Tensor],
        salience: tuple[Tensor, Tensor],
    ) -> tuple[Tensor, Tensor]:
        """Return the ``OCCLUSION_NUMBERS`` of each token of both pictures, (B, N, 4).

        features: (B, N, F), the last of them the answers' log probabilities; salience: (B, N, 1).
        """
        eye = torch.stack([torch.zeros_like(matches.turn[:, 0]), torch.full_like(matches.turn[:, 0], EYE)], 1)
        eye_before = rotate(eye[:, None], matches.turn)[:, 0]  # on the after view's ground
        back = matches.turn * matches.turn.new_tensor([1.0, -1.0])
        radii = radius(features[0]), radius(features[1])
        here = (
            self.hidden(ground_positions[0], ground_positions[0], radii[0], salience[0], eye, own=True),
            self.hidden(ground_positions[1], ground_positions[1], radii[1], salience[1], eye, own=True),
        )
        there = (
            self.hidden(matches.expected, ground_positions[1], radii[1], salience[1], eye),
            self.hidden(ground_positions[1], matches.expected, radii[0], salience[0], eye_before),
        )
        return (
            torch.cat([here[0], there[0], matches.expected], dim=2),
            torch.cat([here[1], there[1], rotate(ground_positions[1], back)], dim=2),
        )

    def hidden(
        self, points: Tensor, objects: Tensor, radii: Tensor, salience: Tensor, eye: Tensor, own: bool = False
    ) -> Tensor:
        """Return the share hidden of each point, (B, N, 1). points (B, N, 2), objects (B, M, 2), radii and
        salience (B, M, 1), eye (B, 2). own: point i is object i, which does not hide itself.
        """
        sight = points - eye[:, None]
        distance = (sight.square().sum(-1, keepdim=True) + 1e-9).sqrt()
        sight = sight / distance  # (B, N, 2)
        seen = objects - eye[:, None]  # (B, M, 2)
        gap = distance - sight @ seen.transpose(1, 2)  # (B, N, M)
        beside = sight[..., :1] * seen[:, None, :, 1] - sight[..., 1:] * seen[:, None, :, 0]
        size = radii.transpose(1, 2)  # (B, 1, M)
        shadow = (gap / (self.log_length.exp() * size)).square()
        shadow = shadow + (beside / (self.log_width.exp() * size)).square()
        nearer = torch.sigmoid((gap - size) / SOFTNESS)
        share = salience.transpose(1, 2) * nearer * torch.exp(-0.5 * shadow)
        if own:
            share = share * (1 - torch.eye(points.shape[1], device=points.device))
        seen_share = (1 - share).clamp_min(1e-4).log().sum(2, keepdim=True)
        return 1 - seen_share.exp()


def radius(features: Tensor) -> Tensor:
    """Return the likely radius of each token's object, from the heads' predictions, (B, N, 1).

    features: (B, N, F), the last of them the heads' log probabilities.
    """
    first = features.shape[-1] - sum(ATTRIBUTES.values()) + ATTRIBUTES["shape"]
    sizes = features[..., first : first + ATTRIBUTES["size"]].exp()
    return sizes @ features.new_tensor([RADIUS[size] / POSITION_SCALE for size in SIZES])[:, None]
