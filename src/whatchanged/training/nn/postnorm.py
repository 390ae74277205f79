"""Post-norm layers as in BERT: attention, feed-forward, and an encoder and a decoder layer made of these.

Axis letters: B pairs, T query rows, S key rows, D width, h heads. GELU is the exact one.
"""

from torch import Tensor, nn

from whatchanged.training.nn.layers import Dropout
from whatchanged.training.nn.transformer import Attention, AttentionState, Past

EPS = 1e-12
"""The epsilon under the root of each normalisation, as in BERT."""


class AttentionSublayer(nn.Module):
    """A(q, s) = LN(q + Drop(Attention(q, s))): post-norm, as in BERT; s may be q itself."""

    def __init__(self, width: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.attention = Attention(width, heads, dropout)
        self.norm = nn.LayerNorm(width, eps=EPS)
        self.dropout = Dropout(dropout)

    def forward(
        self, x: Tensor, allowed: Tensor | None = None, past: Past = None
    ) -> tuple[Tensor, AttentionState]:
        """x (B, T, D) attends to ``past`` (keys, values: (B, h, P, k) each) and itself; ``allowed``: as in
        ``Attention``.
        """
        read, seen = self.attention(x, allowed, () if past is None else (past,))
        return self.norm(x + self.dropout(read)), seen

    def keys_values(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Return the keys and values (B, h, S, k) of rows (B, S, D), for ``cross``."""
        attention = self.attention
        keys, values = (
            layer(rows).unflatten(-1, (attention.heads, -1)).transpose(1, 2)
            for layer in (attention.key, attention.value)
        )
        return keys, values

    def cross(self, x: Tensor, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """x (B, T, D) attends to other rows, whose ``keys_values`` are given. Also returns the probabilities
        (B, h, T, S).
        """
        attention = self.attention
        query = attention.query(x).unflatten(-1, (attention.heads, -1)).transpose(1, 2)  # (B, h, T, k)
        scores = query @ keys.transpose(-1, -2) * attention.scale  # (B, h, T, S)
        probabilities = scores.softmax(-1)
        read = (attention.dropout(probabilities) @ values).transpose(1, 2).flatten(2)  # (B, T, D)
        return self.norm(x + self.dropout(attention.out(read))), probabilities


class FeedForward(nn.Module):
    """F(x) = LN(x + Drop(W2 GELU(W1 x + b1) + b2)), the exact GELU."""

    def __init__(self, width: int, ffn: int, dropout: float) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(width, ffn), nn.GELU(), nn.Linear(ffn, width), Dropout(dropout))
        self.norm = nn.LayerNorm(width, eps=EPS)

    def forward(self, x: Tensor) -> Tensor:
        """Rows in, rows out."""
        out: Tensor = self.norm(x + self.net(x))
        return out


class EncoderLayer(nn.Module):
    """m_l = F(A(m_{l−1}, m_{l−1}))."""

    def __init__(self, width: int, heads: int, ffn: int, dropout: float) -> None:
        super().__init__()
        self.self_attention = AttentionSublayer(width, heads, dropout)
        self.feed_forward = FeedForward(width, ffn, dropout)

    def forward(self, m: Tensor, allowed: Tensor | None = None) -> Tensor:
        """Pair rows in, pair rows out; ``allowed`` as in ``Attention``."""
        m, _ = self.self_attention(m, allowed)
        out: Tensor = self.feed_forward(m)
        return out


class PostNormDecoderLayer(nn.Module):
    """d = A(d, d) over earlier words; d = A(d, m); d = F(d)."""

    def __init__(self, width: int, heads: int, ffn: int, dropout: float) -> None:
        super().__init__()
        self.self_attention = AttentionSublayer(width, heads, dropout)
        self.cross_attention = AttentionSublayer(width, heads, dropout)
        self.feed_forward = FeedForward(width, ffn, dropout)

    def forward(
        self,
        d: Tensor,
        pair: tuple[Tensor, Tensor],
        allowed: Tensor | None,
        past: Past,
    ) -> tuple[Tensor, AttentionState, Tensor]:
        """Word rows (B, T, D) attend to ``past``, themselves (``allowed``), and the pair's keys and values.

        Also returns the results of self-attention, and the attention to the pair.
        """
        d, seen = self.self_attention(d, allowed, past)
        d, probabilities = self.cross_attention.cross(d, *pair)
        return self.feed_forward(d), seen, probabilities
