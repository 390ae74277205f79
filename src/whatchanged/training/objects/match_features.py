"""Adds to each token what its match in the other picture gives: differences, motion, similar objects.

Axis letters: B pairs, N tokens of a picture, F width of a token's own features.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from whatchanged.errors import ShapeError
from whatchanged.training.objects.matching import Matches, Matching
from whatchanged.training.objects.occlusion import Occlusion
from whatchanged.training.objects.supervision import ATTRIBUTES
from whatchanged.training.vision.base import Hidden, TokenPair, hide

MATCH_NUMBERS = 13
"""The number of scalar features beside the three feature vectors of ``describe_matches``."""


class Located(NamedTuple):
    """The positions of both pictures' tokens, (B, N, 2) each, and their salience, (B, N, 1) each."""

    positions: tuple[Tensor, Tensor]
    salience: tuple[Tensor, Tensor]


def located(pair: TokenPair) -> Located:
    """Return the positions and salience of both pictures. Raises ShapeError for tokens that have none."""
    before, after = pair
    positions = before.ground_positions, after.ground_positions
    weights = before.salience, after.salience
    if positions[0] is None or positions[1] is None or weights[0] is None or weights[1] is None:
        raise ShapeError("matching needs each token's ground position and salience; these tokens have none.")
    return Located((positions[0], positions[1]), (weights[0][..., None], weights[1][..., None]))


class Described(NamedTuple):
    """The matches, the new features of both pictures' tokens, their positions (hidden ones zero), and
    ``duplicates``.
    """

    matches: Matches
    numbers: tuple[Tensor, Tensor]
    where: Located
    duplicates: tuple[Tensor, Tensor]


def describe_matches(
    matching: Matching,
    occlusion: Occlusion | None,
    pair: TokenPair,
    features: tuple[Tensor, Tensor],
    hidden: Hidden,
) -> Described:
    """Return the matches, and each token of both pictures as 3F + 13 numbers, (B, N, 3F + 13).

    [own features, matched features, their difference, motion (2), its length, ground position (2), salience,
    matched salience, share matched nowhere, turn of the camera (2), ``duplicates`` (3)]. Motion is the part
    of a token's displacement that the motion of the camera does not explain. With ``occlusion`` its numbers
    follow. features: of both pictures, hidden tokens zero.
    """
    where = located(pair)
    positions = hide(where.positions[0], hidden[0]), hide(where.positions[1], hidden[1])
    salience = hide(where.salience[0], hidden[0]), hide(where.salience[1], hidden[1])
    matches = matching(features, positions, (salience[0][..., 0], salience[1][..., 0]))
    joint = matches.log_joint.exp()
    alike = (
        duplicates(features[0], positions[0], salience[0]),
        duplicates(features[1], positions[1], salience[1]),
    )
    before = _described(
        features,
        joint[:, :-1],
        here=positions[0],
        start=matches.expected,
        there=positions[1],
        salience=salience,
        turn=matches.turn,
        alike=alike[0],
    )
    back = matches.turn * matches.turn.new_tensor([1.0, -1.0])
    after = _described(
        (features[1], features[0]),
        joint[:, :, :-1].transpose(1, 2),
        here=positions[1],
        start=positions[1],
        there=matches.expected,  # both motions are measured on the after view's ground
        salience=(salience[1], salience[0]),
        turn=back,
        alike=alike[1],
    )
    if occlusion is not None:
        hiding = occlusion.describe(matches, features, positions, salience)
        before, after = torch.cat([before, hiding[0]], dim=2), torch.cat([after, hiding[1]], dim=2)
    return Described(matches, (before, after), Located(positions, salience), alike)


def _described(
    features: tuple[Tensor, Tensor],
    share: Tensor,
    here: Tensor,
    start: Tensor,
    there: Tensor,
    salience: tuple[Tensor, Tensor],
    turn: Tensor,
    alike: Tensor,
) -> Tensor:
    """One picture's tokens; features and salience: its own, then the other picture's. share: (B, N, N +
    1).
    """
    own, other = features
    share = share / share.sum(-1, keepdim=True)
    to_others = share[..., :-1]  # (B, N, N), the last column being "nowhere"
    found = to_others / to_others.sum(-1, keepdim=True).clamp_min(1e-6)
    matched = found @ other
    motion = found @ there - start
    length = (motion.square().sum(-1, keepdim=True) + 1e-9).sqrt()
    parts = [
        own,
        matched,
        matched - own,
        motion,
        length,
        here,
        salience[0],
        found @ salience[1],
        share[..., -1:],
        turn[:, None].expand(-1, own.shape[1], -1),
        alike,
    ]
    return torch.cat(parts, dim=2)


def duplicates(features: Tensor, ground_positions: Tensor, salience: Tensor) -> Tensor:
    """Return the probability that a picture has another object of the same shape, size, color and material,
    and the position of this object relative to that one: (B, N, 3).

        t_i = max_j a_ij,   a_ij = s_i s_j prod_a sum_v p_ia(v) p_ja(v),   a_ii = 0
        d_i = t_i (p_i - sum_j a_ij p_j / sum_j a_ij)

    Attributes do not identify such an object, so a caption must say on which side of something it is.
    features: (B, N, F), the last of them the heads' log probabilities; ground_positions: (B, N, 2); salience:
    (B, N, 1).
    """
    sizes = list(ATTRIBUTES.values())
    _, *answers = torch.split(features, [features.shape[-1] - sum(sizes), *sizes], dim=-1)
    alike = (salience @ salience.transpose(1, 2)) * (1 - torch.eye(features.shape[1], device=features.device))
    for log_probability in answers:
        probability = log_probability.exp()
        alike = alike * (probability @ probability.transpose(1, 2))
    share = alike / alike.sum(2, keepdim=True).clamp_min(1e-6)
    surest = alike.amax(2, keepdim=True)
    return torch.cat([surest, surest * (ground_positions - share @ ground_positions)], dim=2)
