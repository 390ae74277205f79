"""PCL: pre-training and contrastive learning for image difference captioning (Yao, Wang and Jin, AAAI 2022).

Two pictures become rows [IMG1] patches [IMG2] patches. A single-image encoder reads each picture alone, a
pair-image encoder reads both, and a cross-modal transformer reads them together with the words behind [CLS]:

    V~1, V~2 = F_pair(F_sing(V1), F_sing(V2));      V^1, V^2, T^ = F_cross(V~1, V~2, T)

Pre-training mixes three tasks: predicting masked words (``mlm``), distinguishing masked patches from others
(``mvcl``), and distinguishing the true caption from false ones (``fda``). Captioning then predicts a [MASK]
at the end of the words so far, while a small head distinguishes changes from distractors. Official code:
yaolinli/IDC.

Axis letters: B pairs, N patches, R = 2 (N + 1) image rows, L text positions, K negatives, D width, F width of
raw features, V vocabulary, M masked and U unmasked patches of a batch.

Departures. ``PCLPreset`` has one field for each point where paper and code differ; ``method.preset`` chooses.
Where the paper is silent, both presets follow the code. Beyond that:
- Both presets truncate, pad and mask words as the code does; in an empty caption, the end is masked.
  ``paper`` pads to the longest caption of the batch, because it never reads pads; the code pads to L.
- If no patch of an image was drawn for masking, the patch with the smallest random number is masked. This
  choice is uniform, as in the code.
- The code freezes all but the last block of a deeper single or pair encoder; here every block learns.
- One module has the heads of all stages; ``parameters_without_gradient`` names the parameters that a stage
  does not train.
- Decoding caches keys and values of real words, with the same result (the code recomputes all words). Each
  step computes two rows.
- In the authors' torch 1.9, a head that a step does not use has a zero gradient after its first gradient, so
  Adam's moments continue to move it. ``authors`` does the same; ``paper`` leaves such a head unchanged.
- Without the difference encoder (row 5 of table 4), the embedded patches go straight to F_cross: our reading.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from whatchanged.errors import DatasetError
from whatchanged.recipes.methods.pcl import PCLConfig
from whatchanged.training.batches import Batch, Example, in_parts, stack_pictures
from whatchanged.training.distributed import batch_total, first_row, gather_batch, share_of_mean
from whatchanged.training.methods import Cache, copy_matching_tensors, task_of
from whatchanged.training.methods.pcl_embeddings import Embeddings, Regressor
from whatchanged.training.methods.pcl_objectives import (
    IGNORED,
    MASKED,
    alignment_loss,
    corrupt_patches,
    corrupt_words,
    cosines,
    masked_patch_loss,
    masked_patch_loss_authors,
)
from whatchanged.training.methods.pcl_presets import PRESETS
from whatchanged.training.nn.transformer import (
    Cached,
    Stack,
    captioning_mask,
    chosen_first,
    key_mask,
    query_words_mask,
    select_rows,
)
from whatchanged.training.vision.base import Hidden, TokenPair, Vision, on_grids, to_patches
from whatchanged.vocabulary import MASK, PAD, Vocabulary, padded

HEADS = {"mlm": {"output"}, "mvcl": {"regressor"}, "fda": set(), "caption": {"output", "distractor"}}
"""The parts that only some tasks train. Every task trains all other parts. The authors' pooler is unused."""


class PCLMemory(NamedTuple):
    """The memory of a pair for decoding, batch first.

    keys, values: (B, layers, heads, R or R + 1, D/heads), of the image rows (and [CLS] in ``paper``);
    pair: (B, 2D), the cross-modal rows [IMG1], [IMG2]; cells: (B, 2, N), the patches on the full grid;
    """

    keys: Tensor
    values: Tensor
    pair: Tensor
    cells: Tensor


class ImageRows(NamedTuple):
    """Rows (B, R, D) of one picture or of both. second: the index of [IMG2], N + 1."""

    rows: Tensor
    second: int


class PCL(nn.Module):
    """The method PCL: embeddings, three stacks of transformer blocks, and a head per task."""

    attention_description = "mean over heads and layers"
    growing_axes: Mapping[str, Sequence[int]] = {"keys": (3,), "values": (3,)}
    architecture = "pcl"

    def __init__(self, config: PCLConfig, vision: Vision, vocabulary: Vocabulary) -> None:
        super().__init__()
        self.config = config
        self.vision = vision
        self.vocabulary = vocabulary
        self.preset = PRESETS[config.preset]
        self.max_length = config.max_length
        width, deviation = config.width, self.preset.deviation_norm

        def stack(layers: int) -> Stack:
            return Stack(layers, width, config.heads, config.ffn, config.dropout, deviation)

        self.embed = Embeddings(config, self.preset, vision, len(vocabulary))
        self.single = stack(config.single_layers) if config.difference_encoder else None
        self.pair = stack(config.pair_layers) if config.difference_encoder else None
        self.cross = stack(config.cross_layers)
        self.output = nn.Linear(width, len(vocabulary))
        self.regressor = Regressor(width, vision.raw_width, deviation)
        self.distractor = nn.Linear(2 * width, 2) if config.distractor_judging else None
        self.pooler = nn.Linear(3 * width, 2) if self.preset.pooler else None
        self.offsets: Tensor
        self.register_buffer("offsets", torch.tensor([-1, 0]), persistent=False)
        self.asker: Tensor  # which of a step's two rows is [MASK]
        self.register_buffer("asker", torch.tensor([1]), persistent=False)

    @property
    def tasks(self) -> dict[str, Callable[[Batch], dict[str, Tensor]]]:
        """Return the tasks that a stage may mix."""
        own = {"mlm": self._mlm, "mvcl": self._mvcl, "fda": self._fda, "caption": self._caption}
        return {**own, **self.vision.tasks}

    def batch_size(self, task: str, batch: int) -> int:
        """Return the stage's batch size, for FDA divided by K + 1: FDA reads an example K + 1 times."""
        return batch // (self.config.negatives + 1) if task == "fda" else batch

    def collate(self, examples: Sequence[Example]) -> Batch:
        """Make tensors from examples. Raises ShapeError or DatasetError where examples do not fit."""
        ids = torch.tensor([self._ids(e, e.caption) for e in examples])
        false = self._false_captions(examples)
        if not self.preset.read_pads:
            length = max(int((texts != PAD).sum(-1).max()) for texts in (ids, false) if texts is not None)
            ids = ids[:, :length]
            false = None if false is None else false[..., :length]
        known = [e.record.changed for e in examples if e.record.changed is not None]
        changed = torch.tensor(known, dtype=torch.long) if len(known) == len(examples) else None
        truth = self.vision.collate_truth([e.truth for e in examples])
        return Batch(*stack_pictures(examples), ids, false, changed, truth=truth)

    def _false_captions(self, examples: Sequence[Example]) -> Tensor | None:
        """Return ids (B, K, L) of false captions or None. Raises DatasetError for another number than K."""
        counts = {len(e.negatives) for e in examples}
        if counts == {self.config.negatives}:
            return torch.tensor([[self._ids(e, caption) for caption in e.negatives] for e in examples])
        if not counts <= {0, self.config.negatives}:
            raise DatasetError(
                f"{examples[0].record.dataset}: false captions per example: got {sorted(counts)}, wanted "
                f"{self.config.negatives} (method.negatives) or none at all. Build the negatives again."
            )
        return None

    def _ids(self, example: Example, caption: str) -> list[int]:
        """L ids: BOS words EOS PAD. Words are truncated so that one PAD remains, as in the authors' code."""
        length = self.text_length(example)
        (row,) = padded([self.vocabulary.sentence(caption, length - 3)], length)
        return row

    def text_length(self, example: Example) -> int:
        """Return L, the number of ids of an example's captions."""
        return self.max_length

    @property
    def padding_sensitive_tasks(self) -> frozenset[str]:
        """The tasks whose loss deliberately depends on the padding: the authors' code attends to it."""
        return frozenset({"mlm", "mvcl", "fda"} if self.preset.read_pads else ())

    def loss(self, task: str, batch: Batch) -> dict[str, Tensor]:
        """Return the named, unweighted loss terms of one task. Raises RecipeError for an unknown task."""
        return task_of("PCL", self.tasks, task)(batch)

    def _mlm(self, batch: Batch) -> dict[str, Tensor]:
        """L = −(1/|S|) Σ_{m ∈ S} log P(w_m | other words, V~1, V~2), S the labelled words of the batch."""
        inputs, labels = corrupt_words(batch.ids, len(self.vocabulary), batch.generator, batch.part)
        asked, some = chosen_first(labels != IGNORED)  # (B, Q)
        pair, real = self.tokens(batch), batch.ids != PAD
        words = in_parts(self._read_words, batch.accumulate, pair, inputs, real, asked)
        wanted = labels.gather(1, asked)[some]
        loss = F.cross_entropy(self.output(words[some]), wanted)
        return {"mlm": share_of_mean(loss, len(wanted))}

    def _read_words(self, pair: TokenPair, ids: Tensor, real: Tensor, query_rows: Tensor) -> Tensor:
        """Return the words' rows (B, Q, D) at ``query_rows`` (B, Q), after all rows attended to all rows."""
        images = self.image_rows(pair)
        return self.joint_rows(images, ids, real, images.rows.shape[1] + 1 + query_rows)

    def _mvcl(self, batch: Batch) -> dict[str, Tensor]:
        """Regress masked patches from all rows and true words. Each result must match its original patch."""
        pair = self.tokens(batch)
        hidden = corrupt_patches(pair, batch.generator, batch.part)
        masked = torch.cat(hidden, dim=1)
        asked, some = None, masked
        if not self.preset.regressed_negatives:
            asked, some = chosen_first(masked)  # (B, Q)
        patches = in_parts(self._read_patches, batch.accumulate, pair, hidden, batch.ids, asked)
        originals = torch.cat([pair.before.features, pair.after.features], dim=1).detach()  # (B, 2N, F)
        weight, temperature = self.embed.project.weight, self.config.mvcl_temperature
        regressed = self.regressor(patches[some], weight)  # (M, F)
        own = select_rows(originals, asked)[some]
        if self.preset.regressed_negatives:
            others = gather_batch(self.regressor.hidden(patches[~masked]))  # (U, D + 1)
            to_unmasked = self.regressor.cosines(regressed, others, weight)
            known, first = gather_batch(own), first_row(len(own))
            loss = masked_patch_loss_authors(regressed, known, to_unmasked, temperature, first)
        else:
            loss = masked_patch_loss(regressed, own, gather_batch(originals[~masked]), temperature)
        return {"mvcl": share_of_mean(loss, len(own))}

    def _read_patches(
        self, pair: TokenPair, hidden: Hidden, ids: Tensor, query_rows: Tensor | None
    ) -> Tensor:
        """Return the patches' rows (some masked) after all rows attended to all rows: (B, 2N, D) or (B, Q,
        D).

        query_rows: (B, Q), numbers of patches, first of picture 1, then of picture 2; None: all patches.
        """
        images = self.image_rows(pair, hidden)
        places = torch.arange(images.rows.shape[1], device=ids.device)
        patches = torch.cat([places[1 : images.second], places[images.second + 1 :]])  # (2N,)
        return self.joint_rows(
            images, ids, ids != PAD, patches if query_rows is None else patches[query_rows]
        )

    def _fda(self, batch: Batch) -> dict[str, Tensor]:
        similarities = self.similarities(batch)
        loss = alignment_loss(similarities, self.config.fda_temperature)
        return {"fda": share_of_mean(loss, len(similarities))}

    def similarities(self, batch: Batch) -> Tensor:
        """FDA's s = cos((out[IMG1] + out[IMG2]) / 2, out[CLS]), (B, K+1), the true caption in column 0.

        Each candidate passes through F_cross separately. The pair is encoded once, and projected once in
        F_cross's first block.
        """
        if batch.negatives_ids is None:
            raise DatasetError("task fda needs false captions for every pair. Build them, or drop fda.")
        texts = torch.cat([batch.ids[:, None], batch.negatives_ids], dim=1)  # (B, K+1, L)
        return in_parts(self._similarities, batch.accumulate, self.tokens(batch), texts)

    def _similarities(self, pair: TokenPair, texts: Tensor) -> Tensor:
        """Return the similarities of pairs and texts (B, K+1, L)."""
        images = self.image_rows(pair)
        ids = texts.flatten(0, 1)  # (B (K+1), L), pair b, text k -> b (K+1) + k
        specials = self._specials(images)
        asked = torch.cat([specials, specials[:1] + images.rows.shape[1]])  # and [CLS]
        rows = self.cross.for_each(images.rows, *self._behind_images(images, ids, ids != PAD), asked)
        first, second, cls = rows.unbind(1)
        visual = (first + second) / 2
        return cosines(visual[:, None], cls[:, None]).view(texts.shape[:2])

    def _caption(self, batch: Batch) -> dict[str, Tensor]:
        """Return cross entropy summed over words and pairs; with ``every_word``: 0.15 x mean over pairs."""
        pair = self.tokens(batch)
        if self.config.every_word:
            return self._every_word(pair, batch)
        # before the words: dropout's draws in another order are other numbers
        images = in_parts(self.image_rows, batch.accumulate, pair)
        inputs, labels = corrupt_words(batch.ids, len(self.vocabulary), batch.generator, batch.part)
        asked, some = chosen_first(labels != IGNORED)  # (B, Q)
        used = (batch.ids != PAD).any(0)
        unread = int((used.flip(0).cumsum(0) == 0).sum())  # no word reads the padding behind all of them
        inputs = inputs[:, : inputs.shape[1] - unread]
        rows, specials = in_parts(self._read_captions, batch.accumulate, images, inputs, asked)
        words = self.output(rows[some])
        terms = {"caption": F.cross_entropy(words, labels.gather(1, asked)[some], reduction="sum")}
        return {**terms, **self._judging(specials, batch)}

    def _read_captions(self, images: ImageRows, ids: Tensor, query_rows: Tensor) -> tuple[Tensor, Tensor]:
        """Return captioning's word rows at ``query_rows`` (B, Q), and [IMG1] [IMG2] concatenated (B, 2D)."""
        specials = self._specials(images).expand(len(ids), -1)
        words = images.rows.shape[1] + self.preset.cls_captions + query_rows
        out = self.captioning_rows(images, ids, torch.cat([specials, words], dim=1))
        return out[:, 2:], out[:, :2].flatten(1)

    def _specials(self, images: ImageRows) -> Tensor:
        """Return the row numbers of [IMG1] and [IMG2], (2,)."""
        places = torch.arange(images.rows.shape[1], device=images.rows.device)
        return torch.cat([places[:1], places[images.second : images.second + 1]])

    def _every_word(self, pair: TokenPair, batch: Batch) -> dict[str, Tensor]:
        """Return the losses of captions (every word predicted), distractors and the vision's attention."""
        rows, specials, attention = in_parts(self._read_every_word, batch.accumulate, pair, batch.ids)
        targets = batch.ids[:, 1:]
        asked = targets != PAD
        pairs = batch_total(len(targets))
        words = self.output(rows[asked])
        caption = MASKED * F.cross_entropy(words, targets[asked], reduction="sum")
        guided = self.vision.attention_terms(pair, batch.truth, attention, asked)
        sums = {"caption": caption, **{name: pairs * term for name, term in guided.items()}}
        sums |= self._judging(specials, batch)
        return {name: term / pairs for name, term in sums.items()}

    def _read_every_word(self, pair: TokenPair, ids: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return rows that predict words (B, T, D), the specials (B, 2D), and the attention (B, T, 2, N)."""
        images = self.image_rows(pair)
        found = self.every_word_rows(images, ids)
        attention = found.attention[:, :, :, 2:].mean((1, 2))  # over layers and heads: (B, T, S)
        attention = to_patches(attention, images.second - 1)  # (B, T, 2, N)
        return found.rows[:, 2:], found.rows[:, :2].flatten(1), attention

    def _judging(self, specials: Tensor, batch: Batch) -> dict[str, Tensor]:
        """Return the cross entropy of "changed or not", summed over pairs; without a head, no term."""
        if self.distractor is None:
            return {}
        if batch.changed is None:
            raise DatasetError("The data does not say what changed. Set method.distractor_judging=false.")
        judged = self.distractor(specials)
        return {"distractor": F.cross_entropy(judged, batch.changed, reduction="sum")}

    def tokens(self, batch: Batch) -> TokenPair:
        """Return the tokens of a batch's pictures. A picture without tokens is empty."""
        return self.vision.tokens(batch.before, batch.after)

    def embedded(self, pair: TokenPair, hidden: Hidden = (None, None)) -> tuple[ImageRows, ImageRows]:
        """Raw tokens -> each picture's rows [IMG] tokens. An empty picture has only [IMG2]."""
        before, after = self.vision.add_match_features(pair, hidden)
        first = self.embed.image(before, 0)  # (B, N + 1, D)
        second = self.embed.special(1, first.shape[0]) if pair.single else self.embed.image(after, 1)
        index = self.vision.patches + 1
        return ImageRows(first, index), ImageRows(second, index)

    def alone(self, picture: ImageRows) -> ImageRows:
        """Return one picture's rows after F_sing. Without the difference encoder, rows stay unchanged."""
        if self.single is None:
            return picture
        return picture._replace(rows=self.single(picture.rows))

    def together(self, first: ImageRows, second: ImageRows) -> ImageRows:
        """Return both pictures' rows after F_pair; without the difference encoder, only concatenated."""
        rows = torch.cat([first.rows, second.rows], dim=1)  # (B, R, D)
        if self.pair is not None:
            rows = self.pair(rows)
        return ImageRows(rows, first.second)

    def image_rows(self, pair: TokenPair, hidden: Hidden = (None, None)) -> ImageRows:
        """Raw tokens -> the rows of both pictures that F_cross reads."""
        first, second = self.embedded(pair, hidden)
        if not pair.single:  # of an empty picture [IMG2] as it is
            second = self.alone(
                second
            )  # before the first: dropout's draws in another order are other numbers
        return self.together(self.alone(first), second)

    def joint_rows(
        self, images: ImageRows, ids: Tensor, real: Tensor, query_rows: Tensor | None = None
    ) -> Tensor:
        """Return pre-training rows: images, [CLS], words (and pads in ``authors``) attend to one another.

        query_rows: which rows are returned, as in ``Attention``.
        """
        out: Tensor = self.cross(*self._joint(images, ids, real), query_rows)
        return out

    def _joint(self, images: ImageRows, ids: Tensor, real: Tensor) -> tuple[Tensor, Tensor | None]:
        """Return rows of images, [CLS] and words (B, R + 1 + L, D), and a mask of rows that may be read."""
        behind, allowed = self._behind_images(images, ids, real)
        return torch.cat([images.rows, behind], dim=1), allowed

    def _behind_images(self, images: ImageRows, ids: Tensor, real: Tensor) -> tuple[Tensor, Tensor | None]:
        """Return rows of [CLS] and words (B, 1 + L, D), and a mask of rows, images' too, that may be read."""
        rows = torch.cat([self.embed.special(2, ids.shape[0]), self._words(ids)], dim=1)
        if self.preset.read_pads:
            return rows, None
        return rows, key_mask(F.pad(real, (images.rows.shape[1] + 1, 0), value=True))

    def given_caption_attention(self, before: Tensor, after: Tensor, ids: Tensor) -> Tensor:
        """Return each word's attention, (B, L, 2, rows, columns), mean over heads of F_cross's last layer.

        As in pre-training, all rows attend to one another. ids: (B, L). Source: the paper's pictures of
        alignment.
        """
        pair, length = self.vision.tokens(before, after), ids.shape[1]
        if self.preset.read_pads:  # then they are part of what it learned to read
            ids = F.pad(ids, (0, self.max_length - length), value=PAD)
        found = self.cross.with_cache(*self._joint(self.image_rows(pair), ids, ids != PAD))
        words = found.attention[:, -1, :, -ids.shape[1] :].mean(1)[:, :length]  # (B, L, S)
        grids = [on_grids(word, pair.cells, self.vision) for word in words.unbind(1)]
        return torch.stack(grids, dim=1)

    def every_word_rows(self, images: ImageRows, ids: Tensor) -> Cached:
        """``method.every_word``, not published: after images and true words, a [MASK] row for each position
        from 1 on (``query_words_mask``). Each row equals what ``step`` would compute there. Returns [IMG1],
        [IMG2] and the [MASK] rows.
        """
        front = self._front(images.rows)
        places = torch.arange(1, ids.shape[1], device=ids.device)
        masks = self.embed.text(torch.full_like(ids[:, 1:], MASK), places)
        rows = torch.cat([front, self._words(ids[:, :-1]), masks], dim=1)
        allowed = query_words_mask(images.rows.shape[1], front.shape[1], len(places), ids.device)
        masked = torch.arange(rows.shape[1] - len(places), rows.shape[1], device=ids.device)
        asked = torch.cat([self._specials(images), masked])
        return self.cross.with_cache(rows, allowed, query_rows=asked)

    def captioning_rows(self, images: ImageRows, ids: Tensor, query_rows: Tensor | None = None) -> Tensor:
        """Return captioning rows: images do not attend to text, words attend to no later word and come last.

        query_rows: which rows are returned, as in ``Attention``.
        """
        rows = torch.cat([self._front(images.rows), self._words(ids)], dim=1)
        allowed = captioning_mask(images.rows.shape[1], rows.shape[1], ids.device)
        out: Tensor = self.cross(rows, allowed, query_rows)
        return out

    def _front(self, rows: Tensor) -> Tensor:
        """Return the rows before captioning's words: image rows, and [CLS] if the preset has this row."""
        if not self.preset.cls_captions:
            return rows
        return torch.cat([rows, self.embed.special(2, rows.shape[0])], dim=1)

    def _words(self, ids: Tensor) -> Tensor:
        return self.embed.text(ids, torch.arange(ids.shape[1], device=ids.device))

    def caption_logits(self, before: Tensor, after: Tensor, ids: Tensor) -> Tensor:
        """Return logits (B, L, V) of the words at the positions of ``ids`` (MASK: predicted), uncached."""
        images = self.image_rows(self.vision.tokens(before, after))
        logits: Tensor = self.output(self.captioning_rows(images, ids)[:, -ids.shape[1] :])
        return logits

    def encode(self, before: Tensor, after: Tensor) -> PCLMemory:
        """Return the memory of each pair. Image rows never attend to words, and are computed once."""
        pair = self.vision.tokens(before, after)
        images = self.image_rows(pair)
        front = self._front(images.rows)
        allowed = captioning_mask(images.rows.shape[1], front.shape[1], front.device)
        kept = self.cross.with_cache(front, allowed, query_rows=self._specials(images))
        return PCLMemory(kept.keys, kept.values, kept.rows.flatten(1), pair.cells)

    def no_change(self, memory: PCLMemory) -> Tensor | None:
        """Return the probability (B,) that nothing changed, from the distractor head; None without one."""
        return None if self.distractor is None else self.distractor(memory.pair).softmax(-1)[:, 0]

    def first_cache(self, memory: PCLMemory) -> Cache:
        """Return empty keys and values: (B, layers, heads, 0, D/heads)."""
        return {"keys": memory.keys[:, :, :, :0], "values": memory.values[:, :, :, :0]}

    def step(
        self, memory: PCLMemory, previous: Tensor, position: int | Tensor, cache: Cache
    ) -> tuple[Tensor, Tensor, Cache]:
        """Predict the word at text ``position`` (from 1), right after ``previous`` (B,).

        Two rows are computed: the row of the previous word, which joins the cache, and the row of [MASK]. The
        [MASK] row is discarded, because the word that replaces it will have other states in every layer.
        Returns log-probabilities (B, V), the MASK row's attention to both grids (B, 2, rows, columns), mean
        over heads and layers, and the grown cache.
        """
        ids = torch.stack([previous, torch.full_like(previous, MASK)], dim=1)  # (B, 2)
        rows = self.embed.text(ids, torch.as_tensor(position, device=ids.device) + self.offsets)
        far = memory.keys.shape[3] + cache["keys"].shape[3]
        known = torch.ones(2, far, dtype=torch.bool, device=ids.device)
        allowed = torch.cat([known, captioning_mask(0, 2, ids.device)], dim=1)  # (2, S)
        before = (memory.keys, memory.values), (cache["keys"], cache["values"])
        out = self.cross.with_cache(rows, allowed, before, self.asker)
        scores = self.output(out.rows[:, 0]).log_softmax(-1)
        new = {"keys": out.keys[:, :, :, :1], "values": out.values[:, :, :, :1]}
        grown = {name: torch.cat([cache[name], new[name]], dim=3) for name in new}
        attention = out.attention[:, :, :, 0].mean((1, 2))  # (B, S)
        return scores, on_grids(attention, memory.cells, self.vision), grown

    def parameter_groups(self) -> list[dict[str, Any]]:
        """Return every parameter once, in two groups: "vision" (a vision that learns) and "method"."""
        groups: dict[str, list[nn.Parameter]] = {"method": [], "vision": []}
        vision = {f"vision.{name}" for name in self.vision.token_parameters()}
        for name, parameter in self.named_parameters():
            groups["vision" if name in vision else "method"].append(parameter)
        moves = self.preset.unused_heads_move
        return [
            {"name": name, "params": params, "moves_when_idle": moves}
            for name, params in groups.items()
            if params
        ]

    def parameters_without_gradient(self, tasks: Collection[str]) -> frozenset[str]:
        """Return names of parameters that deliberately get no gradient from any of ``tasks``."""
        trained = [HEADS[task] for task in tasks if task in HEADS]
        unused = {"output", "regressor", "distractor", "pooler"}.difference(*trained)
        if not trained:
            unused |= {"embed", "single", "pair", "cross"}
        own = frozenset(name for name, _ in self.named_parameters() if name.partition(".")[0] in unused)
        return own | {f"vision.{name}" for name in self.vision.parameters_without_gradient(tasks)}

    def word_tables(self) -> Mapping[str, Sequence[int]]:
        """Return the word vectors and the output layer, with rows in the vocabulary's order."""
        rows = range(len(self.vocabulary))
        return {"embed.words.weight": rows, "output.weight": rows, "output.bias": rows}

    def load_pretrained(self, state: Mapping[str, Tensor]) -> tuple[str, ...]:
        """Copy every tensor whose name this method also has, except the two-way heads.

        Returns the names that keep their initial values. Raises ShapeError where a name fits but the shape
        differs.
        """
        return copy_matching_tensors(self, state, anew=("pooler.", "distractor."))
