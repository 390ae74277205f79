"""PCL's embeddings of patches, words and specials as rows, and the regression of rows to features.

Official code: yaolinli/IDC. Axis letters as in ``pcl``: B pairs, N patches, D width, F width of raw features,
F' width including what matching added, M masked patches.
"""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from whatchanged.recipes.methods.pcl import PCLConfig
from whatchanged.training.methods.pcl_presets import PCLPreset
from whatchanged.training.nn.layers import Dropout
from whatchanged.training.nn.transformer import norm, sinusoid
from whatchanged.training.vision.base import Tokens, Vision
from whatchanged.vocabulary import CLS


class Embeddings(nn.Module):
    """Patches, words and specials as rows of one width.

        patch p of picture k:  LN(act(W f_p + b) + type + pe[p])        act: sigmoid in ``authors``
        word at position t:    LN(c E[id_t] + type + pe[t])             c: sqrt(D) in ``authors``
        [IMG1] [IMG2] [CLS]:   LN(s + type (+ pe[0] in ``paper``))      s: own vector, or E[<CLS>]

    then dropout. ``paper`` counts positions from the special before them, so patches and words start at 1.
    """

    def __init__(self, config: PCLConfig, preset: PCLPreset, vision: Vision, entries: int) -> None:
        super().__init__()
        width = config.width
        self.preset = preset
        self.words = nn.Embedding(entries, width)
        self.specials = nn.Embedding(3, width) if preset.own_specials else None
        self.types = nn.Embedding(1 + max(preset.types), width)
        self.project = nn.Linear(vision.width, width)
        self.norm = norm(width, preset.deviation_norm, eps=1e-12)
        self.dropout = Dropout(config.dropout)
        self.first = int(preset.specials_with_positions)
        self.word_scale = math.sqrt(width) if preset.scaled_words else 1.0
        self.positions: Tensor
        rows = max(200, 1 + max(config.text_positions, vision.rows * vision.columns))
        self.register_buffer("positions", sinusoid(rows, width, preset.doubled_exponent), persistent=False)

    def image(self, tokens: Tokens, index: int) -> Tensor:
        """Picture ``index`` (0 before, 1 after), N tokens -> rows (B, 1 + N, D)."""
        patches = self.project(tokens.features)  # (B, N, D)
        if self.preset.squash:
            patches = patches.sigmoid()
        kind = self.types.weight[self.preset.types[2 * index + 1]]
        patches = self.dropout(self.norm(patches + kind + self.positions[tokens.cells + self.first]))
        return torch.cat([self.special(index, tokens.features.shape[0]), patches], dim=1)  # (B, 1 + N, D)

    def text(self, ids: Tensor, positions: Tensor) -> Tensor:
        """ids (B, T) at text positions ``positions`` (T,), BOS being 0 -> rows (B, T, D)."""
        words = self.word_scale * self.words(ids) + self.types.weight[self.preset.types[5]]
        rows: Tensor = self.dropout(self.norm(words + self.positions[positions + self.first]))
        return rows

    def special(self, index: int, pairs: int) -> Tensor:
        """[IMG1], [IMG2] or [CLS] (0, 1, 2) -> rows (B, 1, D)."""
        vector = self.words.weight[CLS] if self.specials is None else self.specials.weight[index]
        place = self.positions[0] if self.preset.specials_with_positions else 0
        vector = vector + self.types.weight[self.preset.types[2 * index]] + place
        rows: Tensor = self.dropout(self.norm(vector).expand(pairs, 1, -1))
        return rows


class Regressor(nn.Module):
    """Rows back to patch features: y = W_vᵀ h + b_r, h = LN(GELU(W z + b)), W_v the projection's weight."""

    def __init__(self, width: int, feature_width: int, deviation: bool) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(width, width), nn.GELU(), norm(width, deviation, eps=1e-12))
        self.bias = nn.Parameter(torch.zeros(feature_width))

    def forward(self, rows: Tensor, projection: Tensor) -> Tensor:
        """rows (M, D), projection (D, F') -> (M, F). The projection's columns after F belong to what
        matching added.
        """
        found: Tensor = self.net(rows) @ projection[:, : len(self.bias)] + self.bias
        return found

    def hidden(self, rows: Tensor) -> Tensor:
        """h of rows z (U, D), with a 1 appended that multiplies the bias: (U, D + 1)."""
        return F.pad(self.net(rows), (0, 1), value=1.0)

    def cosines(self, y: Tensor, hidden: Tensor, projection: Tensor) -> Tensor:
        """cos(y_i, y_u), (M, U), of regressed y (M, F) and ``hidden`` rows h (U, D + 1), without any y_u.

            y_i · y_u = (P y_i) · h_u,   |y_u|² = h_u P Pᵀ h_uᵀ,   P = [W_v; b_r], (D + 1, F)

        Lengths are at least 1e-12, as in ``cosines``.
        """
        back = torch.cat([projection[:, : len(self.bias)], self.bias[None]])
        squares = (hidden @ (back @ back.T) * hidden).sum(-1)  # (U,)
        return F.normalize(y, dim=-1, eps=1e-12) @ back.T @ hidden.T / squares.clamp(min=1e-24).sqrt()
