"""SCORER's encoder: attention, matching of views, and reconstruction of one picture from the other.

Official code: tuyunbin/SCORER. Axis letters as in ``scorer``: B pairs, N cells, D width, h heads, k = D / h.
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from whatchanged.recipes.methods.scorer import ScorerConfig
from whatchanged.training.distributed import gather_batch
from whatchanged.training.methods.scorer_presets import ScorerPreset
from whatchanged.training.nn.layers import Dropout
from whatchanged.training.nn.token_matching import match_tokens
from whatchanged.training.nn.transformer import BLIND, read_by_few

NORM_EPS = 1e-6
LARGEST_LOG_SCALE = math.log(100.0)
FIRST_LOG_SCALE = 1.0

QueryKey = tuple[Tensor, Tensor]
"""Queries of one picture and keys of the other picture, (B, N, D) each."""


class Rebuilt(NamedTuple):
    """One picture reconstructed from the other picture: the reconstructed cells (B, N, D), the queries and
    keys that matching compares, and the attention of the reconstructed cells to the other picture's cells,
    (B, h, N, N), before dropout.
    """

    cells: Tensor
    matched: QueryKey
    attention: Tensor


def info_nce(scores: Tensor) -> Tensor:
    """Return a contrastive loss: row i must match column i best: −(1/B) Σ_i log softmax_row(S)_ii.

    scores: (B, B), logits, true pairs on the diagonal. ln B where all are alike, 0 for a single pair.
    """
    return F.cross_entropy(scores, torch.arange(len(scores), device=scores.device))


def two_sided(forth: Tensor, back: Tensor) -> Tensor:
    """(info_nce(S1) + info_nce(S2)) / 2. Source: the paper's equations 4 and 11; halved as in the code."""
    return (info_nce(forth) + info_nce(back)) / 2


def split_heads(x: Tensor, heads: int) -> Tensor:
    """(B, T, D) -> (B, h, T, D/h)."""
    return x.reshape(x.shape[0], x.shape[1], heads, x.shape[2] // heads).transpose(1, 2)


def fuse_rebuilt(a: Tensor, b: Tensor, fusion: str) -> Tensor:
    """Both reconstructed pictures (B, N, D) as the input of D: (B, N, 2D), (B, N, D), or apart (B, 2N, D).

    Source: the paper's comparison on CLEVR-DC.
    """
    if fusion == "concatenate":
        return torch.cat([a, b], dim=-1)
    if fusion == "apart":
        return torch.cat([a, b], dim=1)
    return a + b if fusion == "sum" else a * b


def view_distance(matched: QueryKey) -> Tensor:
    """Return the mean squared distance between the cells of a pair, cell by cell, without negatives.

    Source: RR+L2 of the paper's comparison, which does not define the distance; this is our reading.
    """
    return F.mse_loss(*matched)


class TokenMatching(nn.Module):
    """S(a, b) = c TM(a, b): ``match_tokens`` over whole tokens or per head, without normalising lengths.

    c = exp(s), s learned from 1 and at most ln 100, or 1 / temperature. Heads are summed or averaged. With
    ``method.matching`` "max" or "mean", each picture's tokens are pooled first, and TM is the product:
    Σ_d pool_l(q_ld) pool_m(k_md). Source: equation 4; models/SCORER.py.
    """

    def __init__(self, config: ScorerConfig, preset: ScorerPreset) -> None:
        super().__init__()
        self.log_scale = nn.Parameter(torch.tensor(FIRST_LOG_SCALE)) if preset.learned_scale else None
        self.heads = config.heads if preset.match_heads else 1
        self.constant = 1 / config.temperature
        self.pooling = config.matching
        self.share = 1 / self.heads if config.heads_combined == "mean" else 1.0

    def forward(self, queries: Tensor, keys: Tensor) -> Tensor:
        """Queries, keys (B, N, D) -> scores (B, B), queries in rows; over all processes' pictures."""
        keys = gather_batch(keys)
        if self.pooling == "tokens":
            own = match_tokens(split_heads(queries, self.heads), split_heads(keys, self.heads))
        else:
            own = self._pool(queries) @ self._pool(keys).T
        scores = gather_batch(own * self.share if self.share != 1 else own)
        if self.log_scale is None:
            return scores * self.constant
        with torch.no_grad():  # the code does so after each update: s is never read above the limit
            self.log_scale.clamp_(max=LARGEST_LOG_SCALE)
        return scores * self.log_scale.exp()

    def _pool(self, tokens: Tensor) -> Tensor:
        """(B, N, D) -> (B, D)."""
        return tokens.amax(1) if self.pooling == "max" else tokens.mean(1)


class MultiHeadAttention(nn.Module):
    """Multi-head attention: a = concat_h(Drop(softmax(q kᵀ / sqrt(k))) v), projected where asked."""

    def __init__(self, width: int, heads: int, dropout: float, projected: bool, bias: bool = True) -> None:
        super().__init__()
        self.query = nn.Linear(width, width, bias=bias)
        self.key = nn.Linear(width, width, bias=bias)
        self.value = nn.Linear(width, width, bias=bias)
        self.out = nn.Linear(width, width, bias=bias) if projected else None
        self.dropout = Dropout(dropout)
        self.heads = heads
        self.scale = (width // heads) ** -0.5

    def project_queries(self, x: Tensor) -> Tensor:
        """Queries of rows (B, T, D): (B, h, T, k)."""
        return split_heads(self.query(x), self.heads)

    def project_keys_values(self, y: Tensor) -> tuple[Tensor, Tensor]:
        """Return the keys and values of rows (B, T, D): (B, h, T, k) each."""
        return split_heads(self.key(y), self.heads), split_heads(self.value(y), self.heads)

    def forward(
        self, queries: Tensor, keys: Tensor, values: Tensor, allowed: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Split queries, keys, values -> rows (B, T, D) and probabilities (B, h, T, S), before dropout."""
        rows, probabilities = self.of_heads(queries, keys, values, allowed)
        return self._out(rows), probabilities

    def of_heads(
        self, queries: Tensor, keys: Tensor, values: Tensor, allowed: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Return the concatenated outputs of the heads before the output projection, and the probabilities as
        in ``forward``.
        """
        scores = queries @ keys.transpose(-1, -2) * self.scale  # (B, h, T, S)
        if allowed is not None:
            scores = scores.masked_fill(~allowed, BLIND)
        probabilities = scores.softmax(-1)
        rows = (self.dropout(probabilities) @ values).transpose(1, 2).flatten(2)  # (B, T, D)
        return rows, probabilities

    def by_few(self, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        """Compute ``forward`` by ``read_by_few``, for few rows x (B, T, D) that attend to y (B, S, D)."""
        queries = self.project_queries(x) * self.scale
        rows, probabilities = read_by_few(queries, y, self.key, self.value, self.dropout)
        return self._out(rows), probabilities

    def _out(self, rows: Tensor) -> Tensor:
        return rows if self.out is None else self.out(rows)


class Reconstruction(nn.Module):
    """The reconstruction of one picture from the other picture: x' = LN(x + Attention(x, y, y)). There is no
    feed-forward part.

    Source: the paper's equations 5 and 6; ``models/SCORER.py``.
    """

    def __init__(self, config: ScorerConfig, preset: ScorerPreset) -> None:
        super().__init__()
        self.attention = MultiHeadAttention(config.width, config.heads, config.dropout, preset.project_heads)
        self.norm = nn.LayerNorm(config.width, NORM_EPS)
        self.matching = TokenMatching(config, preset)

    def forward(self, x: Tensor, y: Tensor) -> Rebuilt:
        """x gives the queries, y the keys and values, (B, N, D) each."""
        heads = self.attention.heads
        queries, keys = self.attention.query(x), self.attention.key(y)
        parts = [split_heads(part, heads) for part in (queries, keys, self.attention.value(y))]
        read, attention = self.attention(*parts)
        return Rebuilt(self.norm(x + read), (queries, keys), attention)
