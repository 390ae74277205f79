"""CLIP4IDC's captioner: a small post-norm transformer on the pair tokens, and the head that predicts words.

Official code: sushizixin/CLIP4IDC (modules/module_decoder.py). Axis letters as in ``clip4idc``: B pairs, N
patches of a picture, R = 2 (N + 1) rows of a pair, T text positions, D width, J joint width, h heads,
k = D / h.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from whatchanged.recipes.methods.clip4idc import CLIP4IDCConfig
from whatchanged.training.methods.clip4idc_presets import CLIP4IDCPreset
from whatchanged.training.nn.clip import draw
from whatchanged.training.nn.layers import Dropout, layers_of
from whatchanged.training.nn.postnorm import EPS, EncoderLayer, PostNormDecoderLayer
from whatchanged.training.nn.transformer import Past, by_layer


class CLIP4IDCMemory(NamedTuple):
    """The memory of a pair for decoding: keys, values (B, layers, h, R, k); cells (B, 2, N), the cell numbers
    on the full grid.
    """

    keys: Tensor
    values: Tensor
    cells: Tensor


class DecoderOutput(NamedTuple):
    """Word rows (B, T, D), with keys and values (B, layers, h, T, k), and attention (B, layers, h, T, R)."""

    rows: Tensor
    keys: Tensor
    values: Tensor
    attention: Tensor


class CaptionDecoder(nn.Module):
    """The encoder and decoder on the pair tokens, and the head: z = LN(GELU(W d + b)), logits = z Tᵀ + bias.

    The table T is CLIP's, passed in, or ``words``, if the captioner has its own (``rows`` x width).
    Source: modules/module_decoder.py. Linear layers are initialised from N(0, 0.02).
    """

    def __init__(self, config: CLIP4IDCConfig, preset: CLIP4IDCPreset, rows: int, own_words: bool) -> None:
        super().__init__()
        width = config.decoder_width
        sizes = (width, config.decoder_heads, config.decoder_ffn, config.dropout)
        self.layer_memory = preset.layer_memory
        self.widen = None if width == config.joint_width else nn.Linear(config.joint_width, width)
        self.encoder = nn.ModuleList(EncoderLayer(*sizes) for _ in range(config.decoder_layers))
        self.decoder = nn.ModuleList(PostNormDecoderLayer(*sizes) for _ in range(config.decoder_layers))
        self.words = nn.Embedding(rows, width) if own_words else None
        self.positions = nn.Parameter(torch.empty(config.context, width)) if own_words else None
        self.entry_norm = nn.LayerNorm(width, eps=EPS)
        self.dropout = Dropout(config.dropout)
        self.transform = nn.Linear(width, width)
        self.transform_norm = nn.LayerNorm(width, eps=EPS)
        self.bias = nn.Parameter(torch.zeros(rows))
        for module in self.modules():
            if isinstance(module, nn.Linear):
                draw(module, 0.02)
        if self.words is not None and self.positions is not None:
            nn.init.normal_(self.words.weight, std=0.02)
            nn.init.normal_(self.positions, std=0.01)

    def keys_values(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """Pair tokens (B, R, J) -> the keys and values (B, layers, h, R, k) to which the decoder layers
        attend.
        """
        m = tokens if self.widen is None else self.widen(tokens)  # (B, R, D)
        outputs = []
        for layer in layers_of(self.encoder, EncoderLayer):
            m = layer(m)
            outputs.append(m)
        if not self.layer_memory:
            outputs = outputs[-1:] * len(outputs)
        layers = layers_of(self.decoder, PostNormDecoderLayer)
        kept = [layer.cross_attention.keys_values(m) for layer, m in zip(layers, outputs, strict=True)]
        return by_layer([k for k, _ in kept]), by_layer([v for _, v in kept])

    def forward(
        self, words: Tensor, memory: CLIP4IDCMemory, allowed: Tensor | None = None, past: Past = None
    ) -> DecoderOutput:
        """Decode embedded words (B, T, D) that follow ``past`` (B, layers, h, P, k) and attend to a
        memory.
        """
        d = self.dropout(self.entry_norm(words))
        results = []
        for i, layer in enumerate(layers_of(self.decoder, PostNormDecoderLayer)):
            own = None if past is None else (past[0][:, i], past[1][:, i])
            pair = (memory.keys[:, i], memory.values[:, i])
            d, seen, attention = layer(d, pair, allowed, own)
            results.append((seen.keys, seen.values, attention))
        return DecoderOutput(d, *(torch.stack(parts, dim=1) for parts in zip(*results, strict=True)))

    def logits(self, rows: Tensor, table: Tensor) -> Tensor:
        """Word rows (..., D) -> logits (..., rows of the table)."""
        z: Tensor = self.transform_norm(F.gelu(self.transform(rows)))
        return z @ table.T + self.bias
