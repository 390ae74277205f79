"""All things of one picture read together, for what no cell can know of its own: how big, and how far away.

A large thing far away and a small one nearby look alike where the camera's height and distance are not known.
All things together betray the camera. Not part of any published method: a switch.
"""

import torch
from torch import Tensor, nn

from whatchanged.training.nn.transformer import Stack

WIDTH, HEADS, LAYERS = 96, 4, 2


class SceneContext(nn.Module):
    """Corrections of each token's size (logits) and place, by attention among the tokens of its picture.

        h = Stack(W LN(features) + V [place, salience, row, column])
        (size', place') = (size, place) + U LN(h),   U nearly 0 before any training

    ``answers``: how many answers about size stand in the features, at ``first``.
    """

    def __init__(self, features: int, first: int, answers: int, rows: int, columns: int) -> None:
        super().__init__()
        self.features = nn.Sequential(nn.LayerNorm(features), nn.Linear(features, WIDTH))
        self.geometry = nn.Linear(5, WIDTH)
        self.stack = Stack(LAYERS, WIDTH, HEADS, 2 * WIDTH, dropout=0.0, deviation=False)
        correction = nn.Linear(WIDTH, answers + 2)
        nn.init.normal_(correction.weight, std=1e-3)
        nn.init.zeros_(correction.bias)
        self.correction = nn.Sequential(nn.LayerNorm(WIDTH), correction)
        self.size = slice(first, first + answers)
        self.rows, self.columns = rows, columns

    def forward(
        self, features: Tensor, ground_positions: Tensor, salience: Tensor, cells: Tensor
    ) -> tuple[Tensor, Tensor]:
        """features (B, N, F), places (B, N, 2), salience (B, N, 1), cells (B, N) -> features, places."""
        row = 2 * (cells // self.columns) / self.rows - 1
        column = 2 * (cells % self.columns) / self.columns - 1
        geometry = torch.cat([ground_positions, salience, torch.stack([row, column], dim=-1)], dim=-1)
        read = self.stack(self.features(features) + self.geometry(geometry))
        size, ground_position = self.correction(read).split([self.size.stop - self.size.start, 2], dim=-1)
        before, own, behind = (
            features[..., : self.size.start],
            features[..., self.size],
            features[..., self.size.stop :],
        )
        return torch.cat(
            [before, (own + size).log_softmax(-1), behind], dim=-1
        ), ground_positions + ground_position
