"""Finds the other objects that distinguish the changed object from its duplicate.

Where two objects have the same four attributes, a sentence says on which side of a third one the changed
object stands: "the small red cube that is left of the large sphere". This must be true of the changed object
and false of its duplicate. This module adds to each token for which of its sides this holds. Not part of any
published method; ``vision.landmarks`` switches it on.

Axis letters: B pairs, N tokens of a picture. Ground coordinates as a camera sees them, to the right and to
the front, in units of ``POSITION_SCALE``.
"""

import torch
from torch import Tensor

from whatchanged.training.objects.supervision import POSITION_SCALE
from whatchanged.worlds.clevr.phrases import RELATION_MARGIN

SIDES = ((-1.0, 0.0), (1.0, 0.0), (0.0, -1.0), (0.0, 1.0))
"""Unit vectors on the ground that point left, right, behind and front."""
LANDMARK_NUMBERS = len(SIDES)
SHARPNESS = 20.0
"""The steepness, in 1 / unit, of the sigmoid at ``RELATION_MARGIN``. Positions are known to a tenth of a
Blender unit."""


def landmarks(changed: Tensor, ground_positions: Tensor, salience: Tensor, duplicates: Tensor) -> Tensor:
    """Return the probability that the changed object is on each side of a token and its duplicate is not: (B,
    N, 4).

        l_js = s_j (1 - t_j) sum_i w_i f((p_i - p_j) . n_s) (1 - f((e_i - p_j) . n_s)),   i != j
        w_i = t_i c_i / max(1, sum_i c_i),   f(x) = sigmoid(SHARPNESS (x - margin))

    with n_s the directions of ``SIDES``, p the places, s the salience, e_i the place of the duplicate of i,
    and t_i how surely i has one. changed: c, (B, N, 1), the probability that something happened to a token's
    object. duplicates: (B, N, 3), t and t (p - e), see ``match_features.duplicates``.
    """
    alike = duplicates[..., :1]
    away = duplicates[..., 1:] / alike.clamp_min(1e-3)
    weight = alike * changed / changed.sum(1, keepdim=True).clamp_min(1)  # (B, N, 1)
    sides = ground_positions.new_tensor(SIDES).T  # (2, 4)
    margin = RELATION_MARGIN / POSITION_SCALE
    along = ground_positions @ sides  # (B, N, 4)
    along_duplicate = (ground_positions - away) @ sides
    there = along[:, None] - along[:, :, None] - margin  # (B, N, N, 4): of i (last but one), seen from j
    there_duplicate = along_duplicate[:, None] - along[:, :, None] - margin
    singles_out = torch.sigmoid(SHARPNESS * there) * torch.sigmoid(-SHARPNESS * there_duplicate)
    others = 1 - torch.eye(ground_positions.shape[1], device=ground_positions.device)
    surely = (singles_out * (weight.transpose(1, 2) * others)[..., None]).sum(2)
    return salience * (1 - alike) * surely
