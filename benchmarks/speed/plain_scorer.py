"""SCORER + CBR as its released code computes it, written plainly from its description, for ``methods_speed``.

It passes changed and unchanged pairs separately. Every layer matches all pictures at once, whether or not a
loss reads the result. Captions are padded to the full length. CBR's gradients are computed although its
weights never move. Decoding reads the complete padded sentence anew at each step. The weights are those of a
model of ours with the preset ``authors``. Axis letters as in ``scorer``: B pairs, N cells, D width, h heads,
L text positions.
"""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from whatchanged.training.batches import Batch
from whatchanged.training.methods.scorer import SCORER
from whatchanged.training.methods.scorer_decoder import DecoderLayer
from whatchanged.training.methods.scorer_encoder import MultiHeadAttention, Reconstruction
from whatchanged.vocabulary import BOS, PAD

NORM_EPS = 1e-6
MASKED = -10000.0
"""What the released code adds to the score of a word that may not be read."""


class PlainSCORER:
    """The released computation with the weights of ``model``, whose vision stores features."""

    def __init__(self, model: SCORER) -> None:
        assert model.reasoning is not None
        self.model = model
        # The released optimiser does not know these, but their gradients are computed all the same.
        self.reasoning = {
            name: tensor.detach().clone().requires_grad_()
            for name, tensor in model.reasoning.named_parameters()
        }

    def loss(self, task: str, batch: Batch) -> Tensor:
        """(L of the changed pairs + L of the unchanged pairs) / 2;  L = caption + λ_v view + λ_m reason."""
        assert task == "caption" and batch.changed is not None
        kinds = [batch.changed == 1, batch.changed == 0]
        losses = [self._loss(batch.before[kind], batch.after[kind], batch.ids[kind]) for kind in kinds]
        return (losses[0] + losses[1]) / 2

    def _loss(self, before: Tensor, after: Tensor, ids: Tensor) -> Tensor:
        x1, x2 = self._tokens(before), self._tokens(after)
        difference, scores = self._difference(x1, x2)
        states = self._decoded(ids, difference)  # (B, L, D)
        logits = self.model.decoder.output(states)
        targets = F.pad(ids[:, 1:], (0, 1), value=PAD)
        caption = F.cross_entropy(logits.transpose(1, 2), targets, ignore_index=PAD)
        view = (contrast(scores[0]) + contrast(scores[1])) / 2
        hallucinated = self._reason(x1, x2, states, ids != PAD)
        reason = (contrast(hallucinated) + contrast(hallucinated.T)) / 2
        config = self.model.config
        return caption + config.view_weight * view + config.reason_weight * reason

    @torch.no_grad()
    def decode(self, before: Tensor, after: Tensor) -> Tensor:
        """Greedy ids (B, L - 1), nothing cut off and no early stop."""
        difference, _ = self._difference(self._tokens(before), self._tokens(after))
        ids = torch.full((len(before), self.model.max_length), PAD)
        ids[:, 0] = BOS
        for position in range(1, self.model.max_length):
            states = self._decoded(ids, difference)[:, position - 1]
            logits = self.model.decoder.output(states).masked_fill(self.model.unsaid, float("-inf"))
            ids[:, position] = logits.log_softmax(-1).argmax(-1)
        return ids[:, 1:]

    def _tokens(self, features: Tensor) -> Tensor:
        """Features (B, N, F) -> tokens (B, N, D): two channels of coordinates, a projection, two tables."""
        rows, columns = self.model.vision.rows, self.model.vision.columns
        x = (2 * torch.arange(columns) / columns - 1).expand(rows, columns)
        y = (2 * torch.arange(rows) / rows - 1)[:, None].expand(rows, columns)
        coordinates = torch.stack([x, y], dim=-1).flatten(0, 1).expand(len(features), -1, -1)
        projected = self.model.project(torch.cat([features, coordinates], dim=-1))
        across = self.model.column_places.weight.expand(rows, -1, -1)
        down = self.model.row_places.weight[:, None].expand(-1, columns, -1)
        tokens: Tensor = projected + torch.cat([across, down], dim=-1).flatten(0, 1)
        return tokens

    def _difference(self, before: Tensor, after: Tensor) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """D (B, N, D), and the last layer's scores (B, B) of both directions."""
        a, b = before, after
        scores = (torch.empty(0), torch.empty(0))
        for layer in self.model.layers:
            assert isinstance(layer, Reconstruction)
            (rebuilt_a, forth), (rebuilt_b, back) = self._rebuild(layer, a, b), self._rebuild(layer, b, a)
            a, b, scores = rebuilt_a, rebuilt_b, (forth, back)
        fused = self.model.fuse(torch.cat([a, b], dim=-1))
        return F.relu(F.dropout(fused, self.model.dropout.p, self.model.training)), scores

    def _rebuild(self, layer: Reconstruction, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        attention = layer.attention
        query, key, value = attention.query(x), attention.key(y), attention.value(y)
        assert layer.matching.log_scale is not None
        scores = token_matching(query, key) * layer.matching.log_scale.clamp(max=math.log(100.0)).exp()
        read = self._attention(query, key, value, attention.heads, self._rate())
        return self._norm(layer.norm, x + read), scores

    def _decoded(self, ids: Tensor, difference: Tensor) -> Tensor:
        """The states (B, L, D) of all positions, padding included."""
        decoder, length = self.model.decoder, ids.shape[1]
        words = decoder.words(ids) + waves(length, decoder.words.embedding_dim)
        h = self._norm(decoder.norm, self._drop(decoder.widen(words)))
        allowed = torch.ones(length, length).tril() * (ids != PAD)[:, None].float()  # (B, L, L)
        mask = (1 - allowed[:, None]) * MASKED
        for layer in decoder.layers:
            assert isinstance(layer, DecoderLayer)
            h = self._norm(layer.own_norm, h + self._read(layer.own, h, h, mask))
            h = self._norm(layer.cross_norm, h + self._read(layer.cross, h, difference, None))
            g = F.gelu(layer.ffn_in(h))
            h = self._norm(layer.ffn_norm, g + self._drop(layer.ffn_out(g)))
        return h

    def _read(self, attention: MultiHeadAttention, h: Tensor, read: Tensor, mask: Tensor | None) -> Tensor:
        query, key, value = attention.query(h), attention.key(read), attention.value(read)
        return self._attention(query, key, value, attention.heads, self._rate(), mask)

    def _reason(self, before: Tensor, after: Tensor, states: Tensor, real: Tensor) -> Tensor:
        """CBR's scores (B, B) of hallucinated pictures with the pictures after."""
        assert self.model.reasoning is not None
        weights, heads = self.reasoning, self.model.reasoning.attention.heads
        sentence = (states * real[..., None]).sum(1) / real.shape[1]
        both = torch.cat([before, sentence[:, None].expand(-1, before.shape[1], -1)], dim=-1)
        z = F.linear(both, weights["mix.weight"], weights["mix.bias"])
        q, k, v = (F.linear(z, weights[f"attention.{name}.weight"]) for name in ("query", "key", "value"))
        z = F.linear(self._attention(q, k, v, heads, 0.0), weights["attention.out.weight"])
        hallucinated = F.linear(z, weights["shape.weight"], weights["shape.bias"])
        query = F.linear(hallucinated, weights["query.weight"], weights["query.bias"])
        key = F.linear(after, weights["key.weight"], weights["key.bias"])
        scale = weights["matching.log_scale"].clamp(max=math.log(100.0)).exp()
        return token_matching(query, key) * scale

    def _attention(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        heads: int,
        rate: float,
        mask: Tensor | None = None,
    ) -> Tensor:
        """Rows (B, T, D) that ask, rows (B, S, D) that are asked -> what is read (B, T, D)."""
        q, k, v = (part.view(*part.shape[:2], heads, -1).transpose(1, 2) for part in (query, key, value))
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        if mask is not None:
            scores = scores + mask
        probabilities = F.dropout(scores.softmax(-1), rate, self.model.training)
        return (probabilities @ v).transpose(1, 2).flatten(2)

    def _norm(self, layer: nn.LayerNorm, x: Tensor) -> Tensor:
        return F.layer_norm(x, x.shape[-1:], layer.weight, layer.bias, NORM_EPS)

    def _drop(self, x: Tensor) -> Tensor:
        return F.dropout(x, self._rate(), self.model.training)

    def _rate(self) -> float:
        return self.model.config.dropout


def token_matching(queries: Tensor, keys: Tensor) -> Tensor:
    """TM(a, b) = (mean_l max_m q_al · k_bm + mean_m max_l q_al · k_bm) / 2; (B, N, D) each -> (B, B)."""
    products = torch.einsum("ald,bmd->abml", queries, keys)
    asks = products.max(dim=2)[0].mean(-1)
    asked = products.max(dim=3)[0].mean(-1)
    return (asks + asked) / 2


def contrast(scores: Tensor) -> Tensor:
    """−mean log softmax of each row at its own column."""
    return -scores.log_softmax(-1).diagonal().mean()


def waves(rows: int, width: int) -> Tensor:
    """Sines in even columns, cosines in odd ones, of p / 10000^(2i / width)."""
    rates = torch.exp(torch.arange(0, width, 2) * (-math.log(10000.0) / width))
    angles = torch.arange(rows)[:, None] * rates
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)
