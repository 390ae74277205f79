"""CLIP4IDC as its released code computes it, written plainly from its description, for ``methods_speed``.

It computes every row of every block, pads captions to ``max_words``, and passes changed and unchanged pairs
separately. Captioning runs the text tower on an empty caption and discards the result. Decoding reads all
words anew at each step. The optimiser updates each tensor as a whole, in single precision. The weights are
those of a model of ours with the preset ``authors``. Axis letters as in ``clip4idc``: B pairs, N patches,
R = 2 (N + 1) rows, T text positions, D width, J joint width, h heads.
"""

import math
from collections.abc import Iterable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from whatchanged.training.batches import Batch
from whatchanged.training.methods.clip4idc import CLIP4IDC
from whatchanged.training.nn.clip import CLIPBlock
from whatchanged.training.nn.postnorm import (
    AttentionSublayer,
    EncoderLayer,
    FeedForward,
    PostNormDecoderLayer,
)
from whatchanged.training.nn.transformer import Attention
from whatchanged.vocabulary import BOS, EOS, PAD

MASKED = -10000.0
"""What the released captioner adds to the score of a word that may not be read."""


class PlainCLIP4IDC:
    """The released computation with the weights of ``model``, whose vision hands over pixels."""

    def __init__(self, model: CLIP4IDC) -> None:
        assert model.words is not None and model.text_positions is not None and model.text is not None
        self.model = model
        self.table, self.text_positions, self.text = model.words.weight, model.text_positions, model.text

    def loss(self, task: str, batch: Batch) -> Tensor:
        """The sum of a task's terms: ``retrieval`` of changed pairs, or ``caption`` of both kinds."""
        if task == "retrieval":
            return self._retrieval(batch)
        assert batch.changed is not None
        kinds = [batch.changed == 1, batch.changed == 0]
        losses = [self._caption(batch.before[kind], batch.after[kind], batch.ids[kind]) for kind in kinds]
        return losses[0] + losses[1]

    def _retrieval(self, batch: Batch) -> Tensor:
        pairs = self._rows(batch.before, batch.after)
        vectors = (pairs[:, 0] + pairs[:, self.model.vision.patches + 1]) / 2
        texts = self._text(self._padded(batch.ids))
        assert self.model.log_scale is not None
        scale = self.model.log_scale.clamp(max=math.log(100.0)).exp()
        unit = [x / x.norm(dim=-1, keepdim=True) for x in (texts, vectors)]
        scores = scale * unit[0] @ unit[1].T
        return (contrast(scores) + contrast(scores.T)) / 2

    def _caption(self, before: Tensor, after: Tensor, ids: Tensor) -> Tensor:
        self._text(self._padded(torch.tensor([[BOS, EOS]]).expand(len(ids), -1)))
        memory = self._memory(self._rows(before, after))
        padded = F.pad(ids, (0, self.model.config.max_words + 1 - ids.shape[1]), value=PAD)
        logits = self._logits(self._decoded(padded[:, :-1].where(padded[:, 1:] != PAD, PAD), memory))
        return F.cross_entropy(logits.flatten(0, 1), padded[:, 1:].flatten(), ignore_index=PAD)

    @torch.no_grad()
    def decode(self, before: Tensor, after: Tensor) -> Tensor:
        """Greedy ids (B, steps), nothing cut off; the released code never stops early either."""
        memory = self._memory(self._rows(before, after))
        ids = torch.full((len(before), 1), BOS)
        for _ in range(1, self.model.max_length):
            logits = self._logits(self._decoded(ids, memory))[:, -1]
            ids = torch.cat([ids, logits.log_softmax(-1).argmax(-1, keepdim=True)], dim=1)
        return ids[:, 1:]

    def _padded(self, ids: Tensor) -> Tensor:
        return F.pad(ids, (0, self.model.config.max_words - ids.shape[1]), value=PAD)

    def _rows(self, before: Tensor, after: Tensor) -> Tensor:
        """Normalised pictures (B, 3, H, W) each -> the pair's rows H (B, R, J)."""
        encoder, patch = self.model.pair, self._patch()
        pictures = torch.stack([before, after], dim=1).flatten(0, 1)  # (2B, 3, H, W), pair by pair
        kernel = encoder.patches.weight.view(-1, 3, patch, patch)
        patches = F.conv2d(pictures, kernel, stride=patch).flatten(2).transpose(1, 2)  # (2B, N, D)
        x = torch.cat([encoder.class_token.expand(len(pictures), 1, -1), patches], dim=1)
        x = self._norm(encoder.entry_norm, x + encoder.positions)
        for block in encoder.intra:
            x = self._block(block, x)
        x = x.view(len(before), 2, *x.shape[1:])
        assert encoder.sides is not None and encoder.side_positions is not None
        assert encoder.mid_norm is not None
        y = torch.cat([x[:, 0] + encoder.sides[0], x[:, 1] + encoder.sides[1]], dim=1)  # (B, R, D)
        y = self._norm(encoder.mid_norm, y + encoder.side_positions.flatten(0, 1))
        for block in encoder.inter:
            y = self._block(block, y)
        return self._norm(encoder.exit_norm, y) @ encoder.project.weight.T

    def _patch(self) -> int:
        return round(math.sqrt(self.model.vision.width / 3))

    def _text(self, ids: Tensor) -> Tensor:
        """Captions (B, T) -> their vectors g (B, J), the row at the end."""
        x = F.embedding(ids, self.table) + self.text_positions[: ids.shape[1]]
        later = torch.full((ids.shape[1], ids.shape[1]), float("-inf")).triu(1)
        for block in self.text.blocks:
            x = self._block(block, x, later)
        assert self.text.project is not None
        rows = self._norm(self.text.exit_norm, x) @ self.text.project.weight.T
        return rows[torch.arange(len(ids)), (ids == EOS).int().argmax(1)]

    def _block(self, block: nn.Module, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """One pre-norm block of CLIP's, with its quick GELU."""
        assert isinstance(block, CLIPBlock)
        normed = self._norm(block.attention_norm, x)
        x = x + self._attention(block.attention, normed, normed, mask, 0.0)
        grown = block.grow(self._norm(block.ffn_norm, x))
        shrunk: Tensor = block.shrink(grown * torch.sigmoid(1.702 * grown))
        return x + shrunk

    def _memory(self, rows: Tensor) -> list[Tensor]:
        """What each decoder layer reads: the output of the encoder layer of the same number."""
        results = []
        for layer in self.model.captioner.encoder:
            assert isinstance(layer, EncoderLayer)
            rows = self._attend(layer.self_attention, rows, rows, None)
            rows = self._feed_forward(layer.feed_forward, rows)
            results.append(rows)
        return results

    def _decoded(self, ids: Tensor, memory: list[Tensor]) -> Tensor:
        """Words (B, T) -> their rows (B, T, D)."""
        captioner, length = self.model.captioner, ids.shape[1]
        words = F.embedding(ids, self.table) + self.text_positions[:length]
        d = self._drop(self._norm(captioner.entry_norm, words))
        allowed = torch.ones(length, length).tril() * (ids != PAD)[:, None].float()  # (B, T, T)
        mask = (1 - allowed[:, None]) * MASKED
        for layer, read in zip(captioner.decoder, memory, strict=True):
            assert isinstance(layer, PostNormDecoderLayer)
            d = self._attend(layer.self_attention, d, d, mask)
            d = self._attend(layer.cross_attention, d, read, None)
            d = self._feed_forward(layer.feed_forward, d)
        return d

    def _logits(self, rows: Tensor) -> Tensor:
        captioner = self.model.captioner
        z = self._norm(captioner.transform_norm, F.gelu(captioner.transform(rows)))
        return z @ self.table.T + captioner.bias

    def _attend(self, layer: AttentionSublayer, x: Tensor, read: Tensor, mask: Tensor | None) -> Tensor:
        rate = self.model.config.dropout
        rows = self._attention(layer.attention, x, read, mask, rate)
        return self._norm(layer.norm, x + self._drop(rows))

    def _feed_forward(self, layer: FeedForward, x: Tensor) -> Tensor:
        grow, shrink = layer.net[0], layer.net[2]
        return self._norm(layer.norm, x + self._drop(shrink(F.gelu(grow(x)))))

    def _attention(
        self, layer: Attention, x: Tensor, read: Tensor, mask: Tensor | None, rate: float
    ) -> Tensor:
        q, k, v = (
            part.view(*part.shape[:2], layer.heads, -1).transpose(1, 2)
            for part in (layer.query(x), layer.key(read), layer.value(read))
        )
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        if mask is not None:
            scores = scores + mask
        weights = F.dropout(scores.softmax(-1), rate, self.model.training)
        rows: Tensor = layer.out((weights @ v).transpose(1, 2).flatten(2))
        return rows

    def _norm(self, layer: nn.LayerNorm, x: Tensor) -> Tensor:
        return F.layer_norm(x, x.shape[-1:], layer.weight, layer.bias, layer.eps)

    def _drop(self, x: Tensor) -> Tensor:
        return F.dropout(x, self.model.config.dropout, self.model.training)


class PlainBertAdam:
    """BERT's Adam as the released optimiser moves each tensor: one operation after the other.

    g = g min(1, 1 / |g|);   m = b1 m + (1 - b1) g;   v = b2 v + (1 - b2) g²
    p = p - rate (m / (√v + eps) + decay p)
    """

    def __init__(self, groups: Iterable[dict[str, object]], rate: float, b2: float, decay: float) -> None:
        self.rate, self.b2, self.decay = rate, b2, decay
        self.groups = list(groups)
        self.moments: dict[Tensor, tuple[Tensor, Tensor]] = {}

    @torch.no_grad()
    def step(self) -> None:
        """One move of every tensor that has a gradient."""
        for group in self.groups:
            decay = group.get("weight_decay", self.decay)
            parameters = group["params"]
            assert isinstance(decay, float) and isinstance(parameters, list)
            for parameter in parameters:
                if parameter.grad is not None:
                    self._move(parameter, decay)

    def _move(self, parameter: Tensor, decay: float) -> None:
        assert parameter.grad is not None
        nn.utils.clip_grad_norm_(parameter, 1.0)
        if parameter not in self.moments:
            self.moments[parameter] = (torch.zeros_like(parameter), torch.zeros_like(parameter))
        m, v = self.moments[parameter]
        m.mul_(0.9).add_(parameter.grad, alpha=1 - 0.9)
        v.mul_(self.b2).addcmul_(parameter.grad, parameter.grad, value=1 - self.b2)
        move = m / (v.sqrt() + 1e-6)
        if decay > 0:
            move += decay * parameter
        parameter.add_(-self.rate * move)


def contrast(scores: Tensor) -> Tensor:
    """−mean log softmax of each row at its own column."""
    return -scores.log_softmax(-1).diagonal().mean()
