"""PCL as its released code computes it, written plainly from its description, for ``methods_speed``.

It computes every row of every layer, pads captions to the full length, and writes attention out in full.
Decoding caches the keys and values of the image rows, computes all words anew at each step, and never stops
early. The weights are those of a model of ours with the preset ``authors``. Axis letters as in ``pcl``.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from whatchanged.training.batches import Batch
from whatchanged.training.methods.pcl import PCL
from whatchanged.training.methods.pcl_objectives import (
    IGNORED,
    alignment_loss,
    corrupt_words,
    cosines,
    masked_patch_loss_authors,
)
from whatchanged.training.nn.transformer import Attention, DeviationNorm, PreNormBlock, Stack
from whatchanged.vocabulary import BOS, CLS, MASK

KeysValues = tuple[Tensor, Tensor]


class PlainPCL:
    """The released computation with the weights of ``model``, whose vision stores features."""

    def __init__(self, model: PCL) -> None:
        self.model = model
        self.patches = model.vision.patches

    def loss(self, task: str, batch: Batch, hidden: tuple[Tensor, Tensor]) -> Tensor:
        """The sum of a task's terms. hidden: which patches ``mvcl`` hides, bool (B, N) of each picture."""
        if task == "mlm":
            return self._mlm(batch)
        if task == "mvcl":
            return self._mvcl(batch, hidden)
        return self._fda(batch) if task == "fda" else self._caption(batch)

    def _mlm(self, batch: Batch) -> Tensor:
        inputs, labels = corrupt_words(batch.ids, len(self.model.vocabulary), batch.generator)
        rows = self._joint(self._images(batch.before, batch.after), inputs)
        words = self.model.output(rows[:, -inputs.shape[1] :][labels != IGNORED])
        return F.cross_entropy(words, labels[labels != IGNORED])

    def _mvcl(self, batch: Batch, hidden: tuple[Tensor, Tensor]) -> Tensor:
        shown = [
            picture.masked_fill(own[..., None], 0.0)
            for picture, own in zip((batch.before, batch.after), hidden, strict=True)
        ]
        rows, masked = self._joint(self._images(*shown), batch.ids), torch.cat(hidden, dim=1)
        ends = self.patches + 1, 2 * (self.patches + 1)
        patches = torch.cat([rows[:, 1 : ends[0]], rows[:, ends[0] + 1 : ends[1]]], dim=1)
        originals = torch.cat([batch.before, batch.after], dim=1)
        regressed, others = self._regress(patches[masked]), self._regress(patches[~masked])
        temperature = self.model.config.mvcl_temperature
        to_unmasked = cosines(regressed, others)
        return masked_patch_loss_authors(regressed, originals[masked], to_unmasked, temperature)

    def _regress(self, rows: Tensor) -> Tensor:
        regressor = self.model.regressor
        widened, deviation = regressor.net[0], regressor.net[2]
        assert isinstance(widened, nn.Linear)
        found = self._norm(deviation, F.gelu(widened(rows)))
        return found @ self.model.embed.project.weight + regressor.bias

    def _fda(self, batch: Batch) -> Tensor:
        assert batch.negatives_ids is not None
        texts = torch.cat([batch.ids[:, None], batch.negatives_ids], dim=1)  # (B, K + 1, L)
        images = self._images(batch.before, batch.after).repeat_interleave(texts.shape[1], dim=0)
        rows = self._joint(images, texts.flatten(0, 1))
        visual = (rows[:, 0] + rows[:, self.patches + 1]) / 2
        cls = rows[:, images.shape[1]]
        similarities = cosines(visual[:, None], cls[:, None]).view(texts.shape[:2])
        return alignment_loss(similarities, self.model.config.fda_temperature)

    def _caption(self, batch: Batch) -> Tensor:
        assert self.model.distractor is not None and batch.changed is not None
        inputs, labels = corrupt_words(batch.ids, len(self.model.vocabulary), batch.generator)
        images = self._images(batch.before, batch.after)
        rows = torch.cat([images, self._text(inputs)], dim=1)
        rows = self._stack(self.model.cross, rows, reading(images.shape[1], rows.shape[1]))
        words = self.model.output(rows[:, -inputs.shape[1] :][labels != IGNORED])
        specials = torch.cat([rows[:, 0], rows[:, self.patches + 1]], dim=-1)
        judged = F.cross_entropy(self.model.distractor(specials), batch.changed, reduction="sum")
        return F.cross_entropy(words, labels[labels != IGNORED], reduction="sum") + judged

    def decode(self, before: Tensor, after: Tensor) -> Tensor:
        """Greedy ids (B, L - 1), nothing cut off."""
        rows = self._images(before, after)
        front: list[KeysValues] = []
        self._stack(self.model.cross, rows, None, kept=front)
        ids = torch.full((len(rows), 1), BOS)
        for _ in range(1, self.model.max_length):
            text = self._text(F.pad(ids, (0, 1), value=MASK))
            allowed = reading(rows.shape[1], rows.shape[1] + text.shape[1])[rows.shape[1] :]
            found = self._stack(self.model.cross, text, allowed, front)
            scores = self.model.output(found[:, -1]).log_softmax(-1)
            ids = torch.cat([ids, scores.argmax(1, keepdim=True)], dim=1)
        return ids[:, 1:]

    def _images(self, before: Tensor, after: Tensor) -> Tensor:
        """Features (B, N, F) of both pictures -> the rows (B, 2 (N + 1), D) that F_cross reads."""
        single, pair = self.model.single, self.model.pair
        assert single is not None and pair is not None
        alone = [
            self._stack(single, self._picture(picture, number))
            for number, picture in enumerate((before, after))
        ]
        return self._stack(pair, torch.cat(alone, dim=1))

    def _picture(self, features: Tensor, number: int) -> Tensor:
        embed = self.model.embed
        patches = embed.project(features).sigmoid()
        patches = patches + embed.types.weight[2 * number + 2] + embed.positions[: features.shape[1]]
        return torch.cat([self._special(2 * number + 1, len(features)), self._embedded(patches)], dim=1)

    def _text(self, ids: Tensor) -> Tensor:
        embed = self.model.embed
        words = embed.words(ids) * embed.words.embedding_dim**0.5
        return self._embedded(words + embed.types.weight[6] + embed.positions[: ids.shape[1]])

    def _special(self, kind: int, pairs: int) -> Tensor:
        embed = self.model.embed
        vector: Tensor = embed.words.weight[CLS] + embed.types.weight[kind]
        return self._embedded(vector.expand(pairs, 1, -1))

    def _embedded(self, rows: Tensor) -> Tensor:
        return self._drop(self._norm(self.model.embed.norm, rows))

    def _joint(self, images: Tensor, ids: Tensor) -> Tensor:
        rows = torch.cat([images, self._special(5, len(ids)), self._text(ids)], dim=1)
        return self._stack(self.model.cross, rows)

    def _stack(
        self,
        stack: Stack,
        rows: Tensor,
        allowed: Tensor | None = None,
        front: list[KeysValues] | None = None,
        kept: list[KeysValues] | None = None,
    ) -> Tensor:
        """A stack's rows. front: keys and values of earlier rows, by layer; kept: takes these rows' own."""
        h = self._norm(stack.entry_norm, rows)
        for layer, block in enumerate(stack.blocks):
            assert isinstance(block, PreNormBlock)
            x = self._norm(block.attention_norm, h)
            own = (
                self._split(block.attention, block.attention.key(x)),
                self._split(block.attention, block.attention.value(x)),
            )
            if kept is not None:
                kept.append(own)
            keys, values = own
            if front is not None:
                keys, values = (torch.cat(both, dim=2) for both in zip(front[layer], own, strict=True))
            h = h + self._drop(self._attention(block.attention, x, keys, values, allowed))
            grow, shrink = block.ffn[0], block.ffn[3]
            h = h + self._drop(shrink(self._drop(F.relu(grow(self._norm(block.ffn_norm, h))))))
        return h

    def _attention(
        self, attention: Attention, x: Tensor, keys: Tensor, values: Tensor, allowed: Tensor | None
    ) -> Tensor:
        query = self._split(attention, attention.query(x))
        scores = query @ keys.transpose(-1, -2) / query.shape[-1] ** 0.5
        if allowed is not None:
            scores = scores.masked_fill(~allowed, -1e9)
        read = self._drop(scores.softmax(-1)) @ values
        rows: Tensor = attention.out(read.transpose(1, 2).flatten(2))
        return rows

    def _split(self, attention: Attention, rows: Tensor) -> Tensor:
        pairs, count, width = rows.shape
        return rows.reshape(pairs, count, attention.heads, width // attention.heads).transpose(1, 2)

    def _norm(self, layer: nn.Module, x: Tensor) -> Tensor:
        assert isinstance(layer, DeviationNorm)
        centred = x - x.mean(-1, keepdim=True)
        return layer.weight * centred / (x.std(-1, keepdim=True) + layer.eps) + layer.bias

    def _drop(self, x: Tensor) -> Tensor:
        return F.dropout(x, self.model.config.dropout, self.model.training)


def reading(images: int, rows: int) -> Tensor:
    """Who reads whom when captioning, bool (rows, rows): all read the images, words read backwards."""
    allowed = torch.ones(rows, rows, dtype=torch.bool).tril()
    allowed[:, :images] = True
    return allowed
