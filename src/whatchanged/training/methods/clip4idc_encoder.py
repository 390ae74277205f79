"""CLIP4IDC's pair encoder: CLIP's picture tower, whose last blocks read both pictures together.

Official code: sushizixin/CLIP4IDC. Axis letters as in ``clip4idc``: B pairs, N patches of a picture,
R = 2 (N + 1) rows of a pair, D width, J joint width.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from whatchanged.recipes.methods.clip4idc import CLIP4IDCConfig
from whatchanged.training.methods.clip4idc_presets import CLIP4IDCPreset
from whatchanged.training.nn.clip import CLIPBlock, draw, draw_blocks
from whatchanged.training.nn.layers import layers_of
from whatchanged.training.vision.base import TokenPair, Vision


class EncodedPair(NamedTuple):
    """Pair tokens H (B, R, J), and the attention in the last intra block, (2B, h, N + 1, N + 1), pictures
    before first, and in the last inter block, (B, h, R, R); None where there is no such block."""

    tokens: Tensor
    intra: Tensor | None
    inter: Tensor | None


class PairEncoder(nn.Module):
    """CLIP's picture tower over two pictures (equations of the head of ``clip4idc``).

        x_k = LN([class ; W f_k] + positions), then the intra blocks, each picture alone
        y = LN?(x_k + e_k + side positions_k) of both pictures in a row, then the inter blocks over all rows
        H = LN(y) P                                              LN?: ``authors`` only

    Without inter blocks (FT1, FT2) e_k, their positions and LN? are left out. Swapping the pictures then
    swaps the halves of H.
    """

    def __init__(self, config: CLIP4IDCConfig, preset: CLIP4IDCPreset, vision: Vision) -> None:
        super().__init__()
        width, rows = config.width, 1 + vision.rows * vision.columns
        both = config.variant == "clip4idc"
        alone = config.intra_layers + (0 if both else config.inter_layers)

        def blocks(layers: int) -> nn.ModuleList:
            return nn.ModuleList(
                CLIPBlock(width, config.heads, config.ffn, config.activation) for _ in range(layers)
            )

        self.patches = nn.Linear(vision.width, width, bias=False)
        self.class_token = nn.Parameter(torch.empty(width))
        self.positions = nn.Parameter(torch.empty(rows, width))
        self.entry_norm = nn.LayerNorm(width)
        self.intra = blocks(alone)
        self.inter = blocks(config.inter_layers if both else 0)
        self.sides = nn.Parameter(torch.empty(2, width)) if both else None
        self.side_positions = nn.Parameter(torch.empty(2, rows, width)) if both else None
        self.mid_norm = nn.LayerNorm(width) if both and preset.mid_norm else None
        self.exit_norm = nn.LayerNorm(width)
        self.project = nn.Linear(width, config.joint_width, bias=False)
        self._draw(config.intra_layers + config.inter_layers)

    def _draw(self, layers: int) -> None:
        deviation = self.class_token.shape[0] ** -0.5
        for tensor in (self.class_token, self.positions, self.sides, self.side_positions):
            if tensor is not None:
                nn.init.normal_(tensor, std=deviation)
        draw(self.project, deviation)
        draw_blocks([*layers_of(self.intra, CLIPBlock), *layers_of(self.inter, CLIPBlock)], layers)

    def forward(self, pair: TokenPair) -> Tensor:
        """Raw patches of both pictures -> pair tokens H (B, R, J): [class 1] patches [class 2] patches."""
        return self.encoded(pair).tokens

    def encoded(self, pair: TokenPair) -> EncodedPair:
        """Encode both pictures as ``forward`` does, and also return the attention of the last blocks."""
        y, intra = self._both(pair)
        y, inter = _through(self.inter, y)
        return EncodedPair(self.project(self.exit_norm(y)), intra, inter)

    def class_rows(self, pair: TokenPair) -> Tensor:
        """Return the two class tokens of H, (B, 2, J). The last inter block computes only the rows of these
        tokens.
        """
        y, _ = self._both(pair)
        places = torch.arange(y.shape[1], device=y.device)
        classes = torch.stack([places[0], places[y.shape[1] // 2]])
        *first, last = layers_of(self.inter, CLIPBlock)
        for block in first:
            y, _ = block(y)
        rows: Tensor = self.project(self.exit_norm(last.rows_of_queries(y, None, classes)))
        return rows

    def _both(self, pair: TokenPair) -> tuple[Tensor, Tensor | None]:
        """Return the rows (B, R, D) that the inter blocks read, and the attention in the last intra block."""
        batch = pair.before.features.shape[0]
        cells = torch.cat([pair.before.cells, pair.after.cells]) + 1
        places = torch.cat([torch.zeros_like(cells[:, :1]), cells], dim=1)  # (2B, N + 1)
        patches = self.patches(torch.cat([pair.before.features, pair.after.features]))  # (2B, N, D)
        x = torch.cat([self.class_token.expand(2 * batch, 1, -1), patches], dim=1)  # (2B, N + 1, D)
        x, intra = _through(self.intra, self.entry_norm(x + self.positions[places]))
        halves = [x[:batch], x[batch:]]
        if self.sides is not None and self.side_positions is not None:
            own = places[:batch], places[batch:]
            halves = [halves[k] + self.sides[k] + self.side_positions[k][own[k]] for k in (0, 1)]
        y = torch.cat(halves, dim=1)  # (B, R, D)
        return y if self.mid_norm is None else self.mid_norm(y), intra


def _through(blocks: nn.ModuleList, x: Tensor) -> tuple[Tensor, Tensor | None]:
    """Return the rows after all blocks, and the attention (..., h, T, T) of the last block; None if there is
    no block.
    """
    attention = None
    for block in layers_of(blocks, CLIPBlock):
        x, seen = block(x)
        attention = seen.probabilities
    return x, attention
