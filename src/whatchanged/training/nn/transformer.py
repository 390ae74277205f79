"""The transformer that PCL stacks three times: normalisation, attention, block, stack.

Axis letters: B pairs, T rows that ask, S rows that are asked, D width, h heads, k = D / h.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn

BLIND = -1e9
"""The score of a row that may not be read: its probability underflows to exactly 0."""


class DeviationNorm(nn.Module):
    """Layer normalisation over the deviation itself, as the authors of PCL wrote it.

        y = g · (x − mean(x)) / (std(x) + eps) + b,     std with n − 1 below the fraction bar

    x, y: (..., D); no unit. Differs from ``nn.LayerNorm`` twice: the deviation is the unbiased one, and eps
    is added to it outside the root. Source: the authors' code (yaolinli/IDC); the paper is silent.
    """

    def __init__(self, width: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.bias = nn.Parameter(torch.zeros(width))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        """Normalise the last axis."""
        centred = x - x.mean(-1, keepdim=True)
        return self.weight * centred / (x.std(-1, keepdim=True) + self.eps) + self.bias


def sinusoid(rows: int, width: int, doubled_exponent: bool) -> Tensor:
    """Positions as waves (rows, width): sines in even columns c, cosines in odd ones.

    pe[p, c] = sin or cos(p / 10000^(e/D)),   e = 2⌊c/2⌋ (Vaswani et al., 2017), or 2c (the authors' code)
    """
    column = torch.arange(width)
    exponent = 2.0 * column if doubled_exponent else 2.0 * (column // 2)
    angle = torch.arange(rows, dtype=torch.float64)[:, None] / 10000.0 ** (exponent.double() / width)
    return torch.where(column % 2 == 0, angle.sin(), angle.cos()).float()


def captioning_mask(images: int, rows: int, device: torch.device | None = None) -> Tensor:
    """Who reads whom when captioning, bool (rows, rows): all read the ``images`` first rows, text reads back.

    Image rows must not read text: through them, words to come would leak into words before.
    """
    index = torch.arange(rows, device=device)
    return (index < images) | (index <= index[:, None])


def asking_mask(images: int, front: int, words: int, device: torch.device | None = None) -> Tensor:
    """The same with ``words`` rows behind that ask for one word each, bool, square.

    Rows: ``front`` (the ``images`` first are blind to text), ``words`` true words, ``words`` askers. Asker t
    reads the front, the words up to t, and itself; nobody else reads an asker.
    """
    known, asker = front + words, torch.arange(words, device=device)
    allowed = captioning_mask(images, known + words, device)
    allowed[:known, known:] = False
    allowed[known:, front:known] = asker <= asker[:, None]
    allowed[known:, known:] = torch.eye(words, dtype=torch.bool, device=device)
    return allowed


def key_mask(real: Tensor | None) -> Tensor | None:
    """Real rows, bool (B, S), as who may be read by every row and head, (B, 1, 1, S); None: all."""
    return None if real is None else real[:, None, None]


def without_padding(allowed: Tensor, real: Tensor | None) -> Tensor:
    """Who reads whom, bool (T, S), less padding: (B, 1, T, S); unchanged where there is none.

    real: (B, P) of the first P of the rows that are read; the rows behind them are all real.
    """
    if real is None:
        return allowed
    known = torch.ones_like(allowed[0, real.shape[1] :]).expand(real.shape[0], -1)  # (B, S - P)
    return allowed & torch.cat([real, known], dim=1)[:, None, None]


def norm(width: int, deviation: bool, eps: float) -> nn.Module:
    """``DeviationNorm`` with ``eps``, or the standard layer normalisation (eps 1e-5, under the root)."""
    return DeviationNorm(width, eps) if deviation else nn.LayerNorm(width)


Past = tuple[Tensor, Tensor] | None
"""Keys and values of rows that stand before those at hand."""


class AttentionState(NamedTuple):
    """What one layer computed on the way: keys and values (B, h, T, k), probabilities (B, h, T, S)."""

    keys: Tensor
    values: Tensor
    probabilities: Tensor


class Cached(NamedTuple):
    """Output rows (B, T, D) of a stack, and what was seen in every layer.

    keys, values: (B, layers, h, T, k); attention: (B, layers, h, T, S).
    """

    rows: Tensor
    keys: Tensor
    values: Tensor
    attention: Tensor


class Attention(nn.Module):
    """Attention with h heads; dropout acts on the probabilities.

        a = Drop(softmax(q kᵀ / sqrt(k))) v      per head, then concatenated and projected

    Source: Vaswani et al., 2017, section 3.2. Departures: forbidden scores become −1e9, not −inf.
    """

    def __init__(self, width: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.out = nn.Linear(width, width)
        self.dropout = nn.Dropout(dropout)
        self.heads = heads
        self.scale = (width // heads) ** -0.5

    def forward(self, x: Tensor, allowed: Tensor | None, past: Past) -> tuple[Tensor, AttentionState]:
        """Rows x (B, T, D) read ``past`` (keys, values: (B, h, P, k) each) and then one another.

        ``allowed``: bool, True where a row may read a column, broadcast to (B, h, T, P + T); None allows all.
        """
        query, keys, values = (
            layer(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for layer in (self.query, self.key, self.value)
        )
        all_keys, all_values = keys, values
        if past is not None:
            all_keys, all_values = (torch.cat(pair, dim=2) for pair in zip(past, (keys, values), strict=True))
        scores = query @ all_keys.transpose(-1, -2) * self.scale
        if allowed is not None:
            scores = scores.masked_fill(~allowed, BLIND)
        probabilities = scores.softmax(-1)
        heads = self.dropout(probabilities) @ all_values
        return self.out(heads.transpose(1, 2).flatten(2)), AttentionState(keys, values, probabilities)


class Block(nn.Module):
    """One pre-norm layer.

    h = h + Drop(Attention(LN(h)))
    h = h + Drop(W2 Drop(ReLU(W1 LN(h))))
    """

    def __init__(self, width: int, heads: int, ffn: int, dropout: float, deviation: bool) -> None:
        super().__init__()
        self.attention_norm = norm(width, deviation, eps=1e-6)
        self.attention = Attention(width, heads, dropout)
        self.ffn_norm = norm(width, deviation, eps=1e-6)
        self.ffn = nn.Sequential(nn.Linear(width, ffn), nn.ReLU(), nn.Dropout(dropout), nn.Linear(ffn, width))
        self.dropout = nn.Dropout(dropout)

    def forward(self, h: Tensor, allowed: Tensor | None, past: Past) -> tuple[Tensor, AttentionState]:
        """Rows in, rows out; and what was seen on the way."""
        read, seen = self.attention(self.attention_norm(h), allowed, past)
        h = h + self.dropout(read)
        return h + self.dropout(self.ffn(self.ffn_norm(h))), seen


class Stack(nn.Module):
    """Normalise once at the entry, run the blocks, and leave without a last normalisation.

    The normalised rows replace the residual stream. Source: the authors' released code; the paper is silent.
    """

    def __init__(
        self, layers: int, width: int, heads: int, ffn: int, dropout: float, deviation: bool
    ) -> None:
        super().__init__()
        self.entry_norm = norm(width, deviation, eps=1e-6)
        self.blocks = nn.ModuleList(Block(width, heads, ffn, dropout, deviation) for _ in range(layers))

    def forward(self, x: Tensor, allowed: Tensor | None = None) -> Tensor:
        """Rows (B, T, D) to rows (B, T, D); ``allowed`` as in ``Attention``."""
        return self._walk(x, allowed, None)[0]

    def with_cache(self, x: Tensor, allowed: Tensor | None = None, past: Past = None) -> Cached:
        """As ``forward``, behind P rows whose keys and values (B, layers, h, P, k) are known; keeps all."""
        rows, seen = self._walk(x, allowed, past)
        return Cached(rows, *(torch.stack(parts, dim=1) for parts in zip(*seen, strict=True)))

    def _walk(self, x: Tensor, allowed: Tensor | None, past: Past) -> tuple[Tensor, list[AttentionState]]:
        h, seen = self.entry_norm(x), []
        for layer, block in enumerate(self.blocks):
            h, found = block(h, allowed, None if past is None else (past[0][:, layer], past[1][:, layer]))
            seen.append(found)
        return h, seen
