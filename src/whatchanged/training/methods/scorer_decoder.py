"""SCORER's decoder: words attend to earlier words and to the difference of the pictures.

Official code: tuyunbin/SCORER (models/transformer_decoder.py). Axis letters as in ``scorer``: B pairs, N
cells, D width, E word width, h heads, k = D / h, L text positions.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from whatchanged.recipes.methods.scorer import ScorerConfig
from whatchanged.training.methods.scorer_encoder import NORM_EPS, MultiHeadAttention
from whatchanged.training.methods.scorer_presets import ScorerPreset
from whatchanged.training.nn.layers import Dropout, layers_of
from whatchanged.training.nn.transformer import by_layer, few_queries, sinusoid

KeysValues = tuple[Tensor, Tensor]
"""Keys and values of some rows, (B, h, rows, k) each."""


class LayerOutput(NamedTuple):
    """Word rows (B, T, D), the keys and values of these rows, and the attention of these rows to the cells
    (B, h, T, N).
    """

    rows: Tensor
    own: KeysValues
    attention: Tensor


class DecoderLayer(nn.Module):
    """h = LN(h + SelfAttention(h)); h = LN(h + CrossAttention(h, D)); g = GELU(W1 h); h = LN(r + Drop(W2 g)).

    r is h (``standard_ffn``), or g (``models/transformer_decoder.py``, which has no residual from h here).
    With ``method.fusion`` "apart" CrossAttention(h, D) is W [A(h, D1); A(h, D2)] over both pictures' cells.
    """

    def __init__(self, config: ScorerConfig, preset: ScorerPreset) -> None:
        super().__init__()
        width = config.width
        sizes = (width, config.heads, config.dropout, preset.project_heads)
        self.own = MultiHeadAttention(*sizes)
        self.cross = MultiHeadAttention(*sizes)
        self.own_norm = nn.LayerNorm(width, NORM_EPS)
        self.cross_norm = nn.LayerNorm(width, NORM_EPS)
        self.ffn_norm = nn.LayerNorm(width, NORM_EPS)
        self.ffn_in = nn.Linear(width, width)
        self.ffn_out = nn.Linear(width, width)
        self.dropout = Dropout(config.dropout)
        self.standard_ffn = preset.standard_ffn
        self.join = nn.Linear(2 * width, width) if config.fusion == "apart" else None

    def forward(self, h: Tensor, memory: KeysValues | Tensor, past: KeysValues | None) -> LayerOutput:
        """Rows (B, T, D), each attending to the rows up to itself; or one row after ``past`` rows.

        memory: keys and values of D; or D itself (B, N, D), if this is cheaper because few rows attend to it.
        """
        new = self.own.project_keys_values(h)
        keys, values = new
        if past is None:
            allowed = torch.ones(h.shape[1], h.shape[1], dtype=torch.bool, device=h.device).tril()
        else:
            allowed = None
            keys, values = (torch.cat(both, dim=2) for both in zip(past, new, strict=True))
        read, _ = self.own(self.own.project_queries(h), keys, values, allowed)
        h = self.own_norm(h + read)
        read, attention = self._read(h, memory)
        h = self.cross_norm(h + read)
        g = F.gelu(self.ffn_in(h))
        kept = h if self.standard_ffn else g
        return LayerOutput(self.ffn_norm(kept + self.dropout(self.ffn_out(g))), new, attention)

    def memory(self, difference: Tensor, words: int) -> KeysValues | Tensor:
        """Return the cheapest form of ``memory`` for ``forward``, if this number of words attends to D
        once.
        """
        if self.join is None and few_queries(words, difference, self.cross.heads):
            return difference
        return self.cross.project_keys_values(difference)

    def _read(self, h: Tensor, memory: KeysValues | Tensor) -> tuple[Tensor, Tensor]:
        """Return the cross attention's output for words (B, T, D), and their attention to D: (B, h, T, N), or
        (B, h, T, 2N) to both pictures apart, half for each.
        """
        if isinstance(memory, Tensor):
            return self.cross.by_few(h, memory)
        queries = self.cross.project_queries(h)
        if self.join is None:
            read: tuple[Tensor, Tensor] = self.cross(queries, *memory)
            return read
        (k1, k2), (v1, v2) = (part.chunk(2, dim=2) for part in memory)
        (one, first), (other, second) = self.cross(queries, k1, v1), self.cross(queries, k2, v2)
        return self.join(torch.cat([one, other], dim=-1)), torch.cat([first, second], dim=-1) / 2


class Decoder(nn.Module):
    """Words to words:  h = LN(Drop(W (E[id] + pe))), the layers, then logits = W_o h + b, not tied."""

    def __init__(self, config: ScorerConfig, preset: ScorerPreset, entries: int) -> None:
        super().__init__()
        self.words = nn.Embedding(entries, config.word_width)
        self.widen = nn.Linear(config.word_width, config.width)
        self.norm = nn.LayerNorm(config.width, NORM_EPS)
        self.dropout = Dropout(config.dropout)
        self.layers = nn.ModuleList(DecoderLayer(config, preset) for _ in range(config.decoder_layers))
        self.output = nn.Linear(config.width, entries)
        self.positions: Tensor
        waves = sinusoid(max(100, config.max_length), config.word_width, doubled_exponent=False)
        self.register_buffer("positions", waves, persistent=False)
        for module in self.modules():
            if isinstance(module, nn.Linear | nn.Embedding):
                nn.init.normal_(module.weight, std=0.02)
            if isinstance(module, nn.Linear):
                nn.init.zeros_(module.bias)

    def embed(self, ids: Tensor, positions: Tensor) -> Tensor:
        """ids (B, T) at ``positions`` (T,), where BOS has position 0 -> rows (B, T, D)."""
        words = self.words(ids) + self.positions[positions]  # (B, T, E)
        rows: Tensor = self.norm(self.dropout(self.widen(words)))  # (B, T, D)
        return rows

    def forward(self, ids: Tensor, difference: Tensor) -> tuple[Tensor, Tensor]:
        """Return the states (B, L, D) of a sentence.

        Each state depends on the words up to its position. Also returns the last layer's attention to the
        cells, (B, h, L, N). difference: D (B, N, D).
        """
        h = self.embed(ids, torch.arange(ids.shape[1], device=ids.device))
        attention = h.new_zeros(0)
        for layer in layers_of(self.layers, DecoderLayer):
            h, _, attention = layer(h, layer.memory(difference, h.shape[1]), None)
        return h, attention

    def memory(self, difference: Tensor) -> KeysValues:
        """Return the layers' cross-attention keys and values of D (B, N, D): (B, layers, h, N, k) each."""
        read = [layer.cross.project_keys_values(difference) for layer in layers_of(self.layers, DecoderLayer)]
        keys, values = zip(*read, strict=True)
        return by_layer(keys), by_layer(values)

    def one_word(self, ids: Tensor, position: Tensor, memory: KeysValues, past: KeysValues) -> LayerOutput:
        """Decode one more word, ids (B,) at ``position`` (1,), after the words of ``past``.

        memory, past: (B, layers, h, rows, k) each. Returns the state (B, 1, D) of the word, the word's keys
        and values in every layer (B, layers, h, 1, k), and the last layer's attention (B, h, 1, N).
        """
        h = self.embed(ids[:, None], position)
        outputs = []
        for number, layer in enumerate(layers_of(self.layers, DecoderLayer)):
            before = past[0][:, number], past[1][:, number]
            read = memory[0][:, number], memory[1][:, number]
            outputs.append(layer(h, read, before))
            h = outputs[-1].rows
        keys, values = (torch.stack(parts, dim=1) for parts in zip(*(o.own for o in outputs), strict=True))
        return LayerOutput(h, (keys, values), outputs[-1].attention)
