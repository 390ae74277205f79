"""CLIP's transformer: its block, its text tower, and the initialisation of both.

Axis letters: B texts or pairs, T rows, D width, h heads. Source: Radford et al., 2021, and OpenAI's CLIP.
"""

import math
from collections.abc import Iterable
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from whatchanged.training.nn.layers import layers_of
from whatchanged.training.nn.transformer import Attention, AttentionState, Past, select_rows

START_SCALE = math.log(1 / 0.07)
"""The logarithm of the initial scale of similarities in CLIP (the inverse temperature)."""
LARGEST_SCALE = math.log(100.0)


def activate(x: Tensor, kind: str) -> Tensor:
    """Apply an activation function. "quick_gelu": x · sigmoid(1.702 x), which OpenAI's weights need. "gelu":
    the exact GELU.
    """
    return F.silu(1.702 * x) / 1.702 if kind == "quick_gelu" else F.gelu(x)


class CLIPBlock(nn.Module):
    """One pre-norm layer without dropout.

    x = x + Attention(LN(x));   x = x + W2 act(W1 LN(x) + b1) + b2
    """

    def __init__(self, width: int, heads: int, ffn: int, activation: str) -> None:
        super().__init__()
        self.attention_norm = nn.LayerNorm(width)
        self.attention = Attention(width, heads, 0.0)
        self.ffn_norm = nn.LayerNorm(width)
        self.grow = nn.Linear(width, ffn)
        self.shrink = nn.Linear(ffn, width)
        self.activation = activation

    def forward(
        self, x: Tensor, allowed: Tensor | None = None, past: Past = None
    ) -> tuple[Tensor, AttentionState]:
        """Rows (B, T, D) in, rows out. The rows also attend to ``past`` (keys, values: (B, h, P, k) each);
        ``allowed``: as in ``Attention``.
        """
        read, seen = self.attention(self.attention_norm(x), allowed, () if past is None else (past,))
        return self._behind(x + read), seen

    def rows_of_queries(self, x: Tensor, allowed: Tensor | None, query_rows: Tensor) -> Tensor:
        """Return the query rows alone, (B, Q, D); ``query_rows`` as in ``select_rows``."""
        read = self.attention.rows_of_queries(self.attention_norm(x), allowed, query_rows)
        return self._behind(select_rows(x, query_rows) + read)

    def _behind(self, x: Tensor) -> Tensor:
        """Return the rows after the feed-forward part."""
        out: Tensor = x + self.shrink(activate(self.grow(self.ffn_norm(x)), self.activation))
        return out


class TextRows(NamedTuple):
    """A text tower's output (B, T, joint), and each layer's keys and values (B, layers, h, T, D/h)."""

    rows: Tensor
    keys: Tensor
    values: Tensor


class TextTower(nn.Module):
    """CLIP's language encoder after the word vectors. The encoder is causal, so padding needs no mask.

    h = LN(blocks(words + positions)),   joint rows: h P, P (D, joint) without bias
    """

    def __init__(
        self, width: int, heads: int, ffn: int, layers: int, joint: int | None, activation: str
    ) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(CLIPBlock(width, heads, ffn, activation) for _ in range(layers))
        self.exit_norm = nn.LayerNorm(width)
        self.project = None if joint is None else nn.Linear(width, joint, bias=False)

    def forward(self, words: Tensor, past: Past = None) -> TextRows:
        """Encode embedded words (B, T, D) that follow the words of ``past`` (B, layers, h, P, D/h each)."""
        before = 0 if past is None else past[0].shape[3]
        columns = torch.arange(before + words.shape[1], device=words.device)
        allowed = columns <= columns[before:, None]
        x = words
        keys, values = [], []
        for layer, block in enumerate(layers_of(self.blocks, CLIPBlock)):
            x, seen = block(x, allowed, None if past is None else (past[0][:, layer], past[1][:, layer]))
            keys.append(seen.keys)
            values.append(seen.values)
        return TextRows(self._joint(x), torch.stack(keys, dim=1), torch.stack(values, dim=1))

    def rows_of_queries(self, words: Tensor, query_rows: Tensor) -> Tensor:
        """Return the output (B, Q, joint) at some of the words (B, T, D); ``query_rows`` as in
        ``select_rows``.
        """
        columns = torch.arange(words.shape[1], device=words.device)
        allowed, (*first, last) = columns <= columns[:, None], layers_of(self.blocks, CLIPBlock)
        for block in first:
            words, _ = block(words, allowed)
        return self._joint(last.rows_of_queries(words, allowed, query_rows))

    def _joint(self, x: Tensor) -> Tensor:
        x = self.exit_norm(x)
        return x if self.project is None else self.project(x)


def draw_blocks(blocks: Iterable[CLIPBlock], layers: int) -> None:
    """CLIP's initialisation: N(0, D^-1/2) into attention, N(0, (2D)^-1/2) into the MLP, both outputs
    N(0, D^-1/2 (2 layers)^-1/2); biases 0. ``layers``: of the whole tower.
    """
    for block in blocks:
        width = block.attention.out.in_features
        entry, exit = width**-0.5, width**-0.5 * (2 * layers) ** -0.5
        for linear in (block.attention.query, block.attention.key, block.attention.value):
            draw(linear, entry)
        draw(block.attention.out, exit)
        draw(block.grow, (2 * width) ** -0.5)
        draw(block.shrink, exit)


def draw(linear: nn.Linear, deviation: float) -> None:
    """Draw the weight from N(0, deviation), and set the bias to 0."""
    nn.init.normal_(linear.weight, std=deviation)
    if linear.bias is not None:
        nn.init.zeros_(linear.bias)
