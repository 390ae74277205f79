"""Corrects the estimated sizes and positions of objects, using all objects of their picture together.

A large object far away and a small one nearby look alike as long as the camera's height and distance are
unknown. All objects of a picture together reveal the camera. Not part of any published method;
``vision.scene_context`` switches it on.
"""

import torch
from torch import Tensor, nn

from whatchanged.training.nn.transformer import Stack

WIDTH, HEADS, LAYERS = 96, 4, 2


class SceneContext(nn.Module):
    """Corrections of each token's size (logits) and ground position, by attention among a picture's tokens.

        h = Stack(W LN(features) + V [position, salience, row, column])
        (size', position') = (size, position) + U LN(h),   U nearly 0 before any training

    features: F. The logits of the size are the ``answers`` numbers of the features from ``first`` on.
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
        """features (B, N, F), positions (B, N, 2), salience (B, N, 1), cells (B, N).

        Returns the corrected features and positions.
        """
        row = 2 * (cells // self.columns) / self.rows - 1
        column = 2 * (cells % self.columns) / self.columns - 1
        geometry = torch.cat([ground_positions, salience, torch.stack([row, column], dim=-1)], dim=-1)
        read = self.stack(self.features(features) + self.geometry(geometry))
        size, ground_position = self.correction(read).split([self.size.stop - self.size.start, 2], dim=-1)
        before, behind = features[..., : self.size.start], features[..., self.size.stop :]
        corrected = (features[..., self.size] + size).log_softmax(-1)
        return torch.cat([before, corrected, behind], dim=-1), ground_positions + ground_position
