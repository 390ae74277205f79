"""Matches the tokens of every picture of a batch with the tokens of every other picture, exactly, in bounded
memory.

The plain computation holds all B² L M products of tokens at once: 2.5 GB in float32 for 128 pictures of 196
tokens, and as much again for the gradient. But an entry of the result depends only on the L x M products of
one pair of pictures. This module computes the products tile by tile, and keeps only the position of each
maximum. The gradient flows only through the maxima, so for two pictures the backward pass takes k (L + M)
multiplications on a CPU, where the products take k L M. A GPU multiplies faster than it sorts positions:
there, the backward pass multiplies whole tiles that are zero but for the maxima.

Axis letters: B pictures, L query tokens, M key tokens, h heads, k numbers a head.
"""

from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from whatchanged.errors import ShapeError

TILE_BYTES = 64 * 2**20
"""The largest memory, in bytes, of one tile of products on a CPU. Larger tiles were no faster."""
GPU_TILE_BYTES = 2**30
"""The largest memory, in bytes, of one tile of products on a GPU. Smaller tiles would leave a GPU partly
idle.
"""
ENTRY_BYTES = 128
"""The bytes that the backward pass needs for each entry of a tile's sparse matrix: two indices, sorted both
ways, and the value.
"""


def match_tokens(
    queries: Tensor, keys: Tensor, tile_bytes: int | None = None, dense: bool | None = None
) -> Tensor:
    """Return how well the tokens of picture a and of picture b match each other, for all a and b.

        TM(a, b) = Σ_heads ( mean_l max_m s_lm + mean_m max_l s_lm ) / 2,      s_lm = q_a,l · k_b,m

    queries (B, h, L, k), keys (B', h, M, k) -> (B, B'), without normalised lengths or scale. If several
    tokens reach the maximum, one of these tokens gets the gradient. At most ``tile_bytes`` of products are in
    memory at a time, but at least those of one pair of pictures in one head. Also, 2 h B B' (L + M) bytes of
    positions are stored for the gradient. dense: whether the backward pass multiplies whole tiles. If
    ``tile_bytes`` or ``dense`` is None, the device of the queries decides. Raises ShapeError where heads or
    widths differ, or a picture has more than 32,767 tokens.
    Source: Tu et al., ICCV 2023, section 3.2 (multi-head token-wise matching). With one head, this is the
    released ``models/SCORER.py``, which multiplies whole tokens.
    """
    if queries.shape[1::2] != keys.shape[1::2] or max(queries.shape[2], keys.shape[2]) > 2**15 - 1:
        raise ShapeError(
            f"token matching: got queries {tuple(queries.shape)} and keys {tuple(keys.shape)}, wanted (B,"
            " heads, tokens, width) each, with the same heads and width, and at most 32,767 tokens."
        )
    on_gpu = queries.device.type == "cuda"
    budget = tile_bytes or (GPU_TILE_BYTES if on_gpu else TILE_BYTES)
    whole = on_gpu if dense is None else dense
    scores: Tensor = _Matching.apply(queries, keys, budget, whole)  # type: ignore[no-untyped-call]
    return scores


def tile_sizes(pictures: tuple[int, int], tokens: tuple[int, int], size: int, budget: int) -> tuple[int, int]:
    """Pictures (a, b) of a tile, so that L x M products of ``size`` bytes fit the budget: all of b first,
    then a.
    """
    fit = max(1, budget // (tokens[0] * tokens[1] * size))
    across = max(1, min(pictures[1], fit))
    return max(1, min(pictures[0], fit // across)), across


class _Matching(torch.autograd.Function):
    """Forward and backward pass in tiles (a, L, b, M). Backward turns each tile's positions into a matrix

        w_lm = G_ab ( [m = best of l] / 2L + [l = best of m] / 2M )

    and computes dq = w k, dk = wᵀ q. Only L + M numbers for each pair of pictures are not zero.
    """

    @staticmethod
    def forward(ctx: Any, queries: Tensor, keys: Tensor, tile_bytes: int, dense: bool) -> Tensor:
        (rows, heads, asking, _), (columns, _, asked, _) = queries.shape, keys.shape
        sizes = tile_sizes((rows, columns), (asking, asked), queries.element_size(), tile_bytes)
        exact = torch.promote_types(queries.dtype, torch.float32)
        out = torch.zeros(rows, columns, dtype=exact, device=queries.device)
        best_key = torch.empty(heads, rows, asking, columns, dtype=torch.int16, device=queries.device)
        best_query = torch.empty(heads, rows, columns, asked, dtype=torch.int16, device=queries.device)
        for head in range(heads):
            for a, b in _tiles(rows, columns, sizes):
                s = _products(queries[a, head], keys[b, head])  # (a, L, b, M)
                found, place = s.max(3)  # (a, L, b)
                out[a, b] += found.mean(1, dtype=exact) / 2
                best_key[head, a, :, b] = place.to(torch.int16)
                found, place = s.max(1)  # (a, b, M)
                out[a, b] += found.mean(2, dtype=exact) / 2
                best_query[head, a, b] = place.to(torch.int16)
        ctx.save_for_backward(queries, keys, best_key, best_query)
        ctx.tile_bytes, ctx.dense = tile_bytes, dense
        return out

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, None, None]:
        queries, keys, best_key, best_query = ctx.saved_tensors
        (rows, heads, asking, _), (columns, _, asked, _) = queries.shape, keys.shape
        to_queries, to_keys = torch.zeros_like(queries), torch.zeros_like(keys)
        gradient = gradient.to(queries.dtype) / 2
        if ctx.dense:
            sizes = tile_sizes((rows, columns), (asking, asked), queries.element_size(), ctx.tile_bytes)
        else:
            sizes = tile_sizes((rows, columns), (1, asking + asked), ENTRY_BYTES, ctx.tile_bytes)
        for head in range(heads):
            for a, b in _tiles(rows, columns, sizes):
                upstream = gradient[a, b][:, None, :, None]  # (a, 1, b, 1)
                own = best_key[head, a, :, b], best_query[head, a, b]
                shares = (upstream / asking)[..., 0], (upstream / asked)[:, 0]
                q, k = queries[a, head].flatten(0, 1), keys[b, head].flatten(0, 1)
                if ctx.dense:
                    whole = _whole_tile(own, *shares)
                    back_q, back_k = whole @ k, whole.T @ q
                else:
                    w = _Weights.of(own, *shares)
                    back_q, back_k = w.times(k, len(q)), w.transposed().times(q, len(k))
                to_queries[a, head] += back_q.view_as(queries[a, head])
                to_keys[b, head] += back_k.view_as(keys[b, head])
        return to_queries, to_keys, None, None


def _whole_tile(best: tuple[Tensor, Tensor], query_weights: Tensor, key_weights: Tensor) -> Tensor:
    """Return w of a tile as a matrix (a L, b M). The arguments are the arguments of ``_Weights.of``."""
    best_key, best_query = (places.long() for places in best)
    (pictures, asking, others), asked = best_key.shape, best_query.shape[2]
    tile = query_weights.new_zeros(pictures, asking, others, asked)
    tile.scatter_(3, best_key[..., None], query_weights.expand(best_key.shape)[..., None])
    tile.scatter_add_(1, best_query[:, None], key_weights.expand(best_query.shape)[:, None])
    return tile.view(pictures * asking, others * asked)


class _Weights(NamedTuple):
    """A sparse matrix: the positions of its numbers, and the numbers, (E,) each. Numbers at one position
    add up.
    """

    rows: Tensor
    columns: Tensor
    numbers: Tensor

    @classmethod
    def of(cls, best: tuple[Tensor, Tensor], query_weights: Tensor, key_weights: Tensor) -> "_Weights":
        """w of a tile (a L, b M). best: of each query (a, L, b), of each key (a, b, M). query_weights:
        (a, 1, b), key_weights: (a, b, 1).
        """
        best_key, best_query = best
        (pictures, asking, others), asked = best_key.shape, best_query.shape[2]
        query = torch.arange(pictures * asking, device=query_weights.device).view(pictures, asking, 1)
        key = torch.arange(others * asked, device=query_weights.device).view(others, asked)
        rows = query.expand(best_key.shape), query[:, :1] + best_query
        columns = key[:, 0] + best_key, key.expand(best_query.shape)
        numbers = query_weights.expand(best_key.shape), key_weights.expand(best_query.shape)
        return cls(*(torch.cat([one.flatten(), two.flatten()]) for one, two in (rows, columns, numbers)))

    def transposed(self) -> "_Weights":
        """Return the transposed matrix."""
        return _Weights(self.columns, self.rows, self.numbers)

    def times(self, table: Tensor, count: int) -> Tensor:
        """Return the product (count, k) of this matrix and a table (columns, k)."""
        order = self.rows.argsort()
        first = torch.searchsorted(self.rows[order], torch.arange(count, device=order.device))
        taken, numbers = self.columns[order], self.numbers[order]
        return F.embedding_bag(taken, table, first, mode="sum", per_sample_weights=numbers)


def _products(q: Tensor, k: Tensor) -> Tensor:
    """(a, L, k) and (b, M, k) -> (a, L, b, M)."""
    return (q.flatten(0, 1) @ k.flatten(0, 1).T).view(*q.shape[:2], *k.shape[:2])


def _tiles(rows: int, columns: int, sizes: tuple[int, int]) -> list[tuple[slice, slice]]:
    return [
        (slice(a, min(a + sizes[0], rows)), slice(b, min(b + sizes[1], columns)))
        for a in range(0, rows, sizes[0])
        for b in range(0, columns, sizes[1])
    ]
