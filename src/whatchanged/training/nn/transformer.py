"""The transformer that PCL uses three times: normalisation, attention, block, stack.

Axis letters: B pairs, T query rows, S key rows, D width, h heads, k = D / h.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from whatchanged.training.nn.layers import Dropout, layers_of

BLIND = -1e9
"""The score of a forbidden row. Its probability underflows to exactly 0."""


class DeviationNorm(nn.Module):
    """Layer normalisation that divides by the standard deviation plus epsilon, as in the released code of
    PCL.

        y = g · (x − mean(x)) / (std(x) + eps) + b,     std divides by n − 1

    x, y: (..., D); no unit. There are two differences from ``nn.LayerNorm``: the deviation is the unbiased
    estimate, and eps is added outside the root. Source: the authors' code (yaolinli/IDC); the paper is
    silent.
    """

    def __init__(self, width: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.bias = nn.Parameter(torch.zeros(width))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        """Normalise the last axis."""
        centred = x - x.mean(-1, keepdim=True)
        length = torch.linalg.vector_norm(centred, dim=-1, keepdim=True)  # faster than torch's std
        std = length * (x.shape[-1] - 1) ** -0.5
        return torch.addcmul(self.bias, centred / (std + self.eps), self.weight)


def sinusoid(rows: int, width: int, doubled_exponent: bool) -> Tensor:
    """Sinusoidal positions (rows, width): sines in even columns c, cosines in odd ones.

    pe[p, c] = sin or cos(p / 10000^(e/D)),   e = 2⌊c/2⌋ (Vaswani et al., 2017), or 2c (the authors' code)
    """
    column = torch.arange(width)
    exponent = 2.0 * column if doubled_exponent else 2.0 * (column // 2)
    angle = torch.arange(rows, dtype=torch.float64)[:, None] / 10000.0 ** (exponent.double() / width)
    return torch.where(column % 2 == 0, angle.sin(), angle.cos()).float()


def captioning_mask(images: int, rows: int, device: torch.device | None = None) -> Tensor:
    """Return a mask, bool (rows, rows), of which row may attend to which row in captioning.

    All rows attend to the first ``images`` rows; text also attends to itself and to earlier text. Image rows
    must not attend to text, because later words would leak through them into earlier ones.
    """
    index = torch.arange(rows, device=device)
    return (index < images) | (index <= index[:, None])


def query_words_mask(images: int, front: int, words: int, device: torch.device | None = None) -> Tensor:
    """Return the mask of ``captioning_mask``, extended by ``words`` query rows that predict one word each,
    bool, square.

    Rows: ``front`` (the first ``images`` do not attend to text), ``words`` true words, ``words`` query rows.
    Query t attends to the front, to the words up to t, and to query t. No other row attends to a query.
    """
    known, asker = front + words, torch.arange(words, device=device)
    allowed = captioning_mask(images, known + words, device)
    allowed[:known, known:] = False
    allowed[known:, front:known] = asker <= asker[:, None]
    allowed[known:, known:] = torch.eye(words, dtype=torch.bool, device=device)
    return allowed


def key_mask(real: Tensor) -> Tensor:
    """Return the mask of real rows, bool (B, S), as a mask of the keys for every row and head, (B, 1, 1,
    S).
    """
    return real[:, None, None]


def norm(width: int, deviation: bool, eps: float) -> nn.Module:
    """Return ``DeviationNorm`` with ``eps``, or the standard layer normalisation (eps 1e-5, under the
    root).
    """
    return DeviationNorm(width, eps) if deviation else nn.LayerNorm(width)


def select_rows(x: Tensor, query_rows: Tensor | None) -> Tensor:
    """Return the query rows of x (B, T, D): (B, Q, D). query_rows: (Q,), the same for all pairs, or (B, Q);
    None: all.
    """
    if query_rows is None:
        return x
    return (
        x.index_select(1, query_rows) if query_rows.ndim == 1 else x.take_along_dim(query_rows[..., None], 1)
    )


def select_mask_rows(allowed: Tensor | None, query_rows: Tensor | None, rows: int) -> Tensor | None:
    """Return the mask's rows for the queries; ``allowed`` as in ``Attention``, ``query_rows`` as in
    ``select_rows``.
    """
    if allowed is None or query_rows is None:
        return allowed
    allowed = allowed.expand(*allowed.shape[:-2], rows, -1)
    if query_rows.ndim == 1:
        return allowed.index_select(-2, query_rows)
    if allowed.ndim == 2:
        return allowed[query_rows][:, None]  # (B, 1, Q, S)
    return allowed.take_along_dim(query_rows[:, None, :, None], 2)


def chosen_first(chosen: Tensor) -> tuple[Tensor, Tensor]:
    """Return the indices of the chosen columns of each row, padded with zeros, (B, Q), and a mask of the
    indices that are no padding.

    chosen: bool (B, T). Q: the largest number of chosen columns in a row. Chosen columns stay in order.
    """
    order = chosen.int().argsort(dim=1, descending=True, stable=True)
    places = torch.arange(chosen.shape[1], device=chosen.device)
    needed = (chosen.sum(1, keepdim=True) > places).any(0)  # (T,)
    columns = order[:, needed]
    some = chosen.gather(1, columns)
    return columns.masked_fill(~some, 0), some


KeysValues = tuple[Tensor, Tensor]
"""Keys and values of some rows."""
Past = KeysValues | None
"""Keys and values of the rows before the present rows; None if there are no such rows."""


class AttentionState(NamedTuple):
    """Intermediate results of one layer: keys and values (B, h, T, k), probabilities (B, h, Q, S)."""

    keys: Tensor
    values: Tensor
    probabilities: Tensor


class Cached(NamedTuple):
    """Output rows (B, Q, D) of a stack, and the intermediate results of every layer.

    keys, values: (B, layers, h, T, k), each layer's contiguous in memory; attention: (B, layers, h, Q, S).
    """

    rows: Tensor
    keys: Tensor
    values: Tensor
    attention: Tensor


def by_layer(parts: Sequence[Tensor]) -> Tensor:
    """Return the layers' keys or values (B, h, T, k) in one tensor (B, layers, h, T, k).

    Each layer's part is contiguous in memory, so matrix products need no copy of this part.
    """
    return torch.stack([*parts]).transpose(0, 1)


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
        self.dropout = Dropout(dropout)
        self.heads = heads
        self.scale = (width // heads) ** -0.5

    def forward(
        self,
        x: Tensor,
        allowed: Tensor | None,
        known: Sequence[KeysValues] = (),
        query_rows: Tensor | None = None,
    ) -> tuple[Tensor, AttentionState]:
        """Rows x (B, T, D) attend to ``known`` rows (keys, values: (B, h, P, k) each) and to one another.

        ``allowed``: bool, True where a row may attend to a column, broadcast to (B, h, T, all columns); None
        allows all. ``query_rows``: the rows that attend, (Q,) or (B, Q); None: all.
        """
        query, keys, values = self.query(select_rows(x, query_rows)), self.key(x), self.value(x)
        return self.read((query, keys, values), select_mask_rows(allowed, query_rows, x.shape[1]), known)

    def read(
        self,
        projected: tuple[Tensor, Tensor, Tensor],
        allowed: Tensor | None,
        known: Sequence[KeysValues] = (),
    ) -> tuple[Tensor, AttentionState]:
        """Compute the attention of queries (B, Q, D) to keys and values (B, T, D). ``allowed`` has the rows
        of the queries.
        """
        query, keys, values = (self._split(rows) for rows in projected)
        query = query * self.scale  # (B, h, Q, k)
        scores = _joined([query @ some.transpose(-1, -2) for some in (*(far for far, _ in known), keys)])
        probabilities = _masked(scores, allowed).softmax(-1)
        weights = self.dropout(probabilities)
        far_rows, start = [], 0
        for _, far in known:
            end = start + far.shape[2]
            far_rows.append(weights[..., start:end] @ far)
            start = end
        rows = weights[..., start:] @ values
        for read in far_rows:
            rows = rows + read
        return self.out(rows.transpose(1, 2).flatten(2)), AttentionState(keys, values, probabilities)

    def rows_of_queries(self, x: Tensor, allowed: Tensor | None, query_rows: Tensor) -> Tensor:
        """Return the rows (B, Q, D) that ``forward`` returns, without the intermediate results."""
        if not few_queries(query_rows.shape[-1], x, self.heads):
            rows: Tensor = self(x, allowed, (), query_rows)[0]
            return rows
        query = self._split(self.query(select_rows(x, query_rows))) * self.scale
        allowed = select_mask_rows(allowed, query_rows, x.shape[1])
        few: Tensor = self.out(read_by_few(query, x, self.key, self.value, self.dropout, allowed)[0])
        return few

    def _split(self, rows: Tensor) -> Tensor:
        """(B, T, D) -> (B, h, T, k)."""
        split: Tensor = rows.unflatten(-1, (self.heads, -1))  # type: ignore[no-untyped-call]
        return split.transpose(1, 2)


def few_queries(queries: int, x: Tensor, heads: int) -> bool:
    """Return whether ``read_by_few`` needs at most half of the multiplications for keys and values of x."""
    _, rows, width = x.shape
    return 2 * queries * (heads * rows + width) <= rows * width


def read_by_few(
    query: Tensor,
    x: Tensor,
    key: nn.Linear,
    value: nn.Linear,
    dropout: nn.Module,
    allowed: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Attention of few query rows to x (B, T, D), without projecting x to keys and values:

        q · (W_k x_s + b_k) = (W_kᵀ q) · x_s + q · b_k
        Σ_s p_s (W_v x_s + b_v) = W_v Σ_s p_s x_s + b_v Σ_s p_s

    per head: the weights are applied to the Q queries, not to the T rows of x. query: (B, h, Q, k), scaled.
    Returns the output, heads concatenated (B, Q, D), and the probabilities (B, h, Q, T) before dropout.
    """
    pairs, heads, queries, size = query.shape
    by_width = torch.einsum("bhqk,hkd->bhqd", query, key.weight.view(heads, size, -1))
    scores = (by_width.flatten(1, 2) @ x.transpose(1, 2)).view(pairs, heads, queries, x.shape[1])
    if key.bias is not None:
        scores = scores + query @ key.bias.view(heads, size, 1)
    probabilities = _masked(scores, allowed).softmax(-1)
    weights = dropout(probabilities)
    summed = (weights.flatten(1, 2) @ x).view(pairs, heads, queries, x.shape[2])  # (B, h, Q, D)
    rows = torch.einsum("bhqd,hkd->bqhk", summed, value.weight.view(heads, size, -1))
    if value.bias is not None:
        rows = rows + weights.sum(-1).transpose(1, 2)[..., None] * value.bias.view(heads, size)
    return rows.flatten(2), probabilities


class PreNormBlock(nn.Module):
    """One pre-norm layer.

    h = h + Drop(Attention(LN(h)))
    h = h + Drop(W2 Drop(ReLU(W1 LN(h))))
    """

    def __init__(self, width: int, heads: int, ffn: int, dropout: float, deviation: bool) -> None:
        super().__init__()
        self.attention_norm = norm(width, deviation, eps=1e-6)
        self.attention = Attention(width, heads, dropout)
        self.ffn_norm = norm(width, deviation, eps=1e-6)
        relu = nn.ReLU(inplace=True)
        self.ffn = nn.Sequential(nn.Linear(width, ffn), relu, Dropout(dropout), nn.Linear(ffn, width))
        self.dropout = Dropout(dropout)

    def forward(
        self,
        h: Tensor,
        allowed: Tensor | None,
        known: Sequence[KeysValues] = (),
        query_rows: Tensor | None = None,
    ) -> tuple[Tensor, AttentionState]:
        """Rows in, the query rows and the intermediate results out; all else as in ``Attention``."""
        read, seen = self.attention(self.attention_norm(h), allowed, known, query_rows)
        return self._behind(select_rows(h, query_rows), read), seen

    def rows_of_queries(self, h: Tensor, allowed: Tensor | None, query_rows: Tensor) -> Tensor:
        """Return the query rows alone, (B, Q, D), without intermediate results."""
        read = self.attention.rows_of_queries(self.attention_norm(h), allowed, query_rows)
        return self._behind(select_rows(h, query_rows), read)

    def shared(self, common: Tensor, own: Tensor, allowed: Tensor | None) -> Tensor:
        """The block for C sequences that begin with the same rows: all rows, (B C, R + T, D).

        common: (B, R, D), projected once; own: (B C, T, D), sequence c of b at b C + c. A sequence does not
        attend to other sequences.
        """
        times = len(own) // max(1, len(common))  # a process may have no pair of a batch
        h = torch.cat([common.repeat_interleave(times, dim=0), own], dim=1)
        first, rest, attention = self.attention_norm(common), self.attention_norm(own), self.attention
        query, keys, values = (
            torch.cat([layer(first).repeat_interleave(times, dim=0), layer(rest)], dim=1)
            for layer in (attention.query, attention.key, attention.value)
        )
        return self._behind(h, attention.read((query, keys, values), allowed)[0])

    def _behind(self, h: Tensor, read: Tensor) -> Tensor:
        """Return the block's output rows, computed from its input rows and the output of attention."""
        h = h + self.dropout(read)
        rows: Tensor = h + self.dropout(self.ffn(self.ffn_norm(h)))
        return rows


class Stack(nn.Module):
    """A stack of blocks. The input is normalised once, and there is no final normalisation.

    The normalised rows replace the residual stream. Source: the authors' released code; the paper is silent.
    """

    def __init__(
        self, layers: int, width: int, heads: int, ffn: int, dropout: float, deviation: bool
    ) -> None:
        super().__init__()
        self.entry_norm = norm(width, deviation, eps=1e-6)
        self.blocks = nn.ModuleList(
            PreNormBlock(width, heads, ffn, dropout, deviation) for _ in range(layers)
        )

    def forward(self, x: Tensor, allowed: Tensor | None = None, query_rows: Tensor | None = None) -> Tensor:
        """Rows (B, T, D) to the query rows (B, Q, D); ``allowed`` and ``query_rows`` as in ``Attention``.

        The last block computes only the query rows, because no later block reads the other rows.
        """
        return self._from(self.entry_norm(x), 0, allowed, query_rows)

    def for_each(
        self, common: Tensor, own: Tensor, allowed: Tensor | None = None, query_rows: Tensor | None = None
    ) -> Tensor:
        """``forward`` of sequences, C of which at a time begin with the same rows.

        As in ``PreNormBlock.shared``, the first block projects the common rows once. Later blocks run per
        sequence.
        """
        common, own = self.entry_norm(common), self.entry_norm(own)
        if len(self.blocks) > 1:
            block = next(layers_of(self.blocks, PreNormBlock))
            return self._from(block.shared(common, own, allowed), 1, allowed, query_rows)
        h = torch.cat([common.repeat_interleave(len(own) // max(1, len(common)), dim=0), own], dim=1)
        return self._from(h, 0, allowed, query_rows)

    def _from(self, h: Tensor, number: int, allowed: Tensor | None, query_rows: Tensor | None) -> Tensor:
        """Return the rows after block ``number`` and all later blocks."""
        blocks = list(layers_of(self.blocks, PreNormBlock))
        for block in blocks[number:]:
            if block is blocks[-1] and query_rows is not None:
                return block.rows_of_queries(h, allowed, query_rows)
            h, _ = block(h, allowed)
        return h

    def with_cache(
        self,
        x: Tensor,
        allowed: Tensor | None = None,
        known: Sequence[KeysValues] = (),
        query_rows: Tensor | None = None,
    ) -> Cached:
        """Compute ``forward`` for rows that follow the rows of ``known``. Returns all intermediate results.
        query_rows: (Q,).

        known: keys and values (B, layers, h, P, k) of the rows before, as ``Cached`` holds them.
        """
        rows, seen = self._walk(x, allowed, known, query_rows)
        maps = [found.probabilities for found in seen]
        if query_rows is not None:
            maps = [*(found.index_select(2, query_rows) for found in maps[:-1]), maps[-1]]
        keys, values = by_layer([own.keys for own in seen]), by_layer([own.values for own in seen])
        return Cached(rows, keys, values, torch.stack(maps, dim=1))

    def _walk(
        self, x: Tensor, allowed: Tensor | None, known: Sequence[KeysValues], query_rows: Tensor | None
    ) -> tuple[Tensor, list[AttentionState]]:
        h, seen = self.entry_norm(x), []
        for layer, block in enumerate(self.blocks):
            last = layer + 1 == len(self.blocks)
            own = [(keys[:, layer], values[:, layer]) for keys, values in known]
            h, found = block(h, allowed, own, query_rows if last else None)
            seen.append(found)
        return h, seen


def _masked(scores: Tensor, allowed: Tensor | None) -> Tensor:
    """Change scores (B, h, Q, S) in place: the scores of forbidden rows become far lower than all other
    scores.
    """
    if allowed is not None:
        scores += scores.new_zeros(()).masked_fill(~allowed, BLIND)
    return scores


def _joined(scores: Sequence[Tensor]) -> Tensor:
    """Return the concatenated columns (..., S) of all keys. A single part is returned unchanged."""
    return scores[0] if len(scores) == 1 else torch.cat([*scores], dim=-1)
