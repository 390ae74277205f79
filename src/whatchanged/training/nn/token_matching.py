"""Token-wise matching of every picture of a batch with every other, exactly, in bounded memory.

The plain form holds all B² L M products of tokens at once: 2.5 GB in float32 for 128 pictures of 196 tokens,
and as much again for its gradient. An entry of the result needs its own L x M products only, so they are made
tile by tile; what is kept for the gradient is where each maximum lay.

Axis letters: B pictures, L tokens that ask, M tokens that are asked, h heads, k numbers a head.
"""

from typing import Any, cast

import torch
from torch import Tensor

from whatchanged.errors import ShapeError

TILE_BYTES = 64 * 2**20
"""What one tile of products may take; its gradient takes as much. Larger tiles were no faster on a CPU."""


def match_tokens(queries: Tensor, keys: Tensor, tile_bytes: int = TILE_BYTES) -> Tensor:
    """How well the tokens of picture a and of picture b find each other, for all a and b.

        TM(a, b) = Σ_heads ( mean_l max_m s_lm + mean_m max_l s_lm ) / 2,      s_lm = q_a,l · k_b,m

    queries (B, h, L, k), keys (B', h, M, k) -> (B, B'); no unit length, no scale. A maximum that several
    tokens share gives its gradient to one of them. Products live ``tile_bytes`` at a time, at least those of
    one pair of pictures in one head; beside them 2 h B B' (L + M) bytes of positions are kept for the
    gradient. Raises ShapeError where heads or widths differ, or a picture has more than 32,767 tokens.
    Source: Tu et al., ICCV 2023, section 3.2 (multi-head token-wise matching); one head is the released
    ``models/SCORER.py``, which multiplies whole tokens.
    """
    if queries.shape[1::2] != keys.shape[1::2] or max(queries.shape[2], keys.shape[2]) > 2**15 - 1:
        raise ShapeError(
            f"token matching: got queries {tuple(queries.shape)} and keys {tuple(keys.shape)}, wanted (B,"
            " heads, tokens, width) each, with the same heads and width, and at most 32,767 tokens."
        )
    return cast(Tensor, _Matching.apply(queries, keys, tile_bytes))  # type: ignore[no-untyped-call]


def tile_sizes(pictures: tuple[int, int], tokens: tuple[int, int], size: int, budget: int) -> tuple[int, int]:
    """Pictures (a, b) whose L x M products of ``size`` bytes fit the budget: all of b first, then a."""
    fit = max(1, budget // (tokens[0] * tokens[1] * size))
    across = min(pictures[1], fit)
    return min(pictures[0], max(1, fit // across)), across


class _Matching(torch.autograd.Function):
    """Both passes in tiles (a, L, b, M). Backward turns each tile's positions into a sparse weight

        w_lm = G_ab ( [m = best of l] / 2L + [l = best of m] / 2M )

    and has dq = w k, dk = wᵀ q: two products of matrices in place of scattered sums.
    """

    @staticmethod
    def forward(ctx: Any, queries: Tensor, keys: Tensor, tile_bytes: int) -> Tensor:
        (rows, heads, asking, _), (columns, _, asked, _) = queries.shape, keys.shape
        sizes = tile_sizes((rows, columns), (asking, asked), queries.element_size(), tile_bytes)
        exact = torch.promote_types(queries.dtype, torch.float32)
        out = torch.zeros(rows, columns, dtype=exact, device=queries.device)
        best_key = torch.empty(heads, rows, asking, columns, dtype=torch.int16, device=queries.device)
        best_query = torch.empty(heads, rows, columns, asked, dtype=torch.int16, device=queries.device)
        for head in range(heads):
            for a, b in _tiles(rows, columns, sizes):
                s = _products(queries[a, head], keys[b, head])
                found, place = s.max(3)
                out[a, b] += found.mean(1, dtype=exact) / 2
                best_key[head, a, :, b] = place.to(torch.int16)
                found, place = s.max(1)
                out[a, b] += found.mean(2, dtype=exact) / 2
                best_query[head, a, b] = place.to(torch.int16)
        ctx.save_for_backward(queries, keys, best_key, best_query)
        ctx.sizes = sizes
        return out

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, None]:
        queries, keys, best_key, best_query = ctx.saved_tensors
        (rows, heads, asking, _), (columns, _, asked, _) = queries.shape, keys.shape
        to_queries, to_keys = torch.zeros_like(queries), torch.zeros_like(keys)
        gradient = gradient.to(queries.dtype) / 2
        for head in range(heads):
            for a, b in _tiles(rows, columns, ctx.sizes):
                upstream = gradient[a, b][:, None, :, None]
                shape = (a.stop - a.start, asking, b.stop - b.start, asked)
                w = upstream.new_zeros(shape)
                chosen = best_key[head, a, :, b].long()[..., None]
                w.scatter_(3, chosen, (upstream / asking).expand(chosen.shape))
                chosen = best_query[head, a, b].long()[:, None]
                w.scatter_add_(1, chosen, (upstream / asked).expand(chosen.shape))
                q, k = queries[a, head].flatten(0, 1), keys[b, head].flatten(0, 1)
                flat = w.view(len(q), len(k))
                to_queries[a, head] += (flat @ k).view(shape[0], asking, -1)
                to_keys[b, head] += (flat.T @ q).view(shape[2], asked, -1)
        return to_queries, to_keys, None


def _products(q: Tensor, k: Tensor) -> Tensor:
    """(a, L, k) and (b, M, k) -> (a, L, b, M)."""
    return (q.flatten(0, 1) @ k.flatten(0, 1).T).view(*q.shape[:2], *k.shape[:2])


def _tiles(rows: int, columns: int, sizes: tuple[int, int]) -> list[tuple[slice, slice]]:
    return [
        (slice(a, min(a + sizes[0], rows)), slice(b, min(b + sizes[1], columns)))
        for a in range(0, rows, sizes[0])
        for b in range(0, columns, sizes[1])
    ]
