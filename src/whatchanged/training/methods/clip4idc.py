"""CLIP4IDC: CLIP for image difference captioning (Guo, Wang and Laaksonen, AACL-IJCNLP 2022), and FT1, FT2.

CLIP's picture tower reads each picture alone in its first ("intra") blocks and both at once in its last
("inter") blocks. Two stages train one network: ``retrieval`` moves the embeddings of a pair and its caption
together; ``caption`` trains a small post-norm transformer on the pair's tokens:

    x_k = intra([class ; patches_k] + positions);   y = [x_1 + e_1 ; x_2 + e_2] + joint positions
    H = LN(inter(y)) P;   v = (H_class1 + H_class2) / 2;   g = text tower at the caption's end
    words: decoder(encoder(H)), logits against the word table

FT1 and FT2 have no inter blocks and no retrieval stage. FT1's words pass through CLIP's whole text tower; FT2
uses only its word vectors. Official code: sushizixin/CLIP4IDC (none for FT1, FT2).

Axis letters: B pairs, N patches of a picture, R = 2 (N + 1) rows of a pair, T text positions, D width, J
joint width, h heads, k = D / h, V vocabulary.

Departures. ``CLIP4IDCPreset`` has one field for each point where paper and code differ. Beyond that:
- This module computes in float32. The code trains CLIP in float16 with float16 moments, so the same learning
  rate of 1e-7 has another effect there.
- Random tensors are initialised like CLIP's. The code draws most of them from N(0, 0.02), and its scale of
  similarities starts at e.
- Captions are truncated to ``max_words`` - 2 pieces in both stages (the code keeps one more when captioning).
- Retrieval ignores unchanged pairs in a batch, unless fewer than two pairs remain; ``changed_only`` keeps
  them out of batches, as the code does. Negatives come from the batch of all devices. As in the code, they
  may include other captions of the same pair, and equal captions.
- The scale of similarities is limited to 100 before it is used (the code: after a step). The forward pass is
  the same.
- Padding needs no mask, because a word attends only to words before it.
- Decoding stops at the end mark and caches keys and values (the code recomputes all words), with the same
  result. A caption continues after an exclamation mark, where the code cuts it. One seed serves all stages.
- Ids are those of this package. With CLIP's pieces, the table keeps CLIP's rows; the decoder never writes an
  id that CLIP lacks.
- Our reading of ``paper``: a layer maps width J to the stated captioner width (768), its head is tied to its
  own word table, and both baselines keep the captioner's visual encoder.
- FT1's word states pass through the tower's final normalisation, and then through the captioner's first one,
  as words do. FT2's copy of the word table learns at the captioner's rate.
- With ``vision.guided_attention``, a further term trains the decoder's attention to words.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from whatchanged.bpe import BPEVocabulary
from whatchanged.errors import RecipeError
from whatchanged.recipes.methods.clip4idc import CLIP4IDCConfig
from whatchanged.training.batches import Batch, Example, in_parts, stack_pictures
from whatchanged.training.distributed import batch_total, gather_batch, share_of_mean
from whatchanged.training.methods import Cache, copy_matching_tensors, task_of
from whatchanged.training.methods.clip4idc_captioner import CaptionDecoder, CLIP4IDCMemory, DecoderOutput
from whatchanged.training.methods.clip4idc_encoder import PairEncoder
from whatchanged.training.methods.clip4idc_presets import PRESETS
from whatchanged.training.nn.clip import LARGEST_SCALE, START_SCALE, CLIPBlock, TextTower, draw, draw_blocks
from whatchanged.training.nn.layers import layers_of
from whatchanged.training.nn.transformer import Past, captioning_mask
from whatchanged.training.vision.base import TokenPair, Vision, on_grids, to_patches
from whatchanged.vocabulary import CLS, EOS, MASK, PAD, UNK, Vocabulary, padded

CLIP_TABLES = (
    "words.",
    "text_positions",
    "pair.patches.",
    "pair.class_token",
    "pair.positions",
    "pair.entry_norm.",
)
"""The tensors that keep CLIP's values in the preset ``authors``."""
NEW = ("pair.sides", "pair.side_positions", "pair.mid_norm.")
"""The pair encoder's tensors that CLIP does not have."""


def contrast(captions: Tensor, pairs: Tensor, scale: Tensor | float) -> tuple[Tensor, Tensor]:
    """Return the contrastive loss of both directions: captions must match their pair in the batch, and pairs
    must match their caption.

        S_ij = scale · cos(g_i, v_j);   CE(S) = −(1/B) Σ_i log softmax_j(S_ij) at j = i;   CE(S), CE(Sᵀ)

    captions g, pairs v: (B, J), of any length. With scale 1, the loss is at most ln(1 + (B − 1) e²). Source:
    the paper's equations for L_t2i and L_i2t, which have no scale; the scale is the code's
    (modules/modeling.py).
    """
    similarities = scale * F.normalize(captions, dim=-1) @ F.normalize(pairs, dim=-1).T
    own = torch.arange(len(captions), device=captions.device)
    return F.cross_entropy(similarities, own), F.cross_entropy(similarities.T, own)


def word_loss(logits: Tensor, targets: Tensor) -> Tensor:
    """Return the mean cross entropy of the words that are not PAD. logits: (B, T, V); targets: (B, T)."""
    mean = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=PAD)
    return share_of_mean(mean, (targets != PAD).sum())


class CLIP4IDC(nn.Module):
    """The method and its two baselines: pair encoder, text tower, captioner."""

    architecture = "clip4idc"
    attention_description = "mean over heads and decoder layers"

    def __init__(self, config: CLIP4IDCConfig, vision: Vision, vocabulary: Vocabulary) -> None:
        super().__init__()
        self.config = config
        self.vision = vision
        self.vocabulary = vocabulary
        self.preset = PRESETS[config.preset]
        self.max_length = config.max_length
        known = vocabulary.table_rows if isinstance(vocabulary, BPEVocabulary) else range(len(vocabulary))
        rows, width = max(known) + 1, config.text_width
        self.table_rows: Tensor
        self.register_buffer("table_rows", torch.tensor(list(known)), persistent=False)
        self.unsaid: Tensor
        self.register_buffer("unsaid", torch.zeros(len(vocabulary), dtype=torch.bool), persistent=False)
        self.unsaid[[PAD, UNK, CLS, MASK] if isinstance(vocabulary, BPEVocabulary) else []] = True

        adapts = config.variant == "clip4idc"
        reads_text = config.variant != "ft2"
        self.pair = PairEncoder(config, self.preset, vision)
        self.words = nn.Embedding(rows, width) if reads_text else None
        self.text_positions = nn.Parameter(torch.empty(config.context, width)) if reads_text else None
        self.text = _text_tower(config) if reads_text else None
        scaled = adapts and self.preset.temperature
        self.log_scale = nn.Parameter(torch.tensor(START_SCALE)) if scaled else None
        own_words = not reads_text or (adapts and not self.preset.clip_words)
        self.captioner = CaptionDecoder(config, self.preset, rows, own_words)
        self._draw_text()
        for name, parameter in self.named_parameters():
            if self._frozen(name):
                parameter.requires_grad_(False)

    def _draw_text(self) -> None:
        """Initialise the tables and the text tower as CLIP does."""
        if self.words is None or self.text_positions is None or self.text is None:
            return
        nn.init.normal_(self.words.weight, std=0.02)
        nn.init.normal_(self.text_positions, std=0.01)
        draw_blocks(layers_of(self.text.blocks, CLIPBlock), len(self.text.blocks))
        if self.text.project is not None:
            draw(self.text.project, self.config.text_width**-0.5)

    @property
    def tasks(self) -> dict[str, Callable[[Batch], dict[str, Tensor]]]:
        """Return the tasks that a stage may mix. The baselines have no retrieval."""
        own = {"retrieval": self._retrieval, "caption": self._caption}
        if self.config.variant != "clip4idc":
            own.pop("retrieval")
        return {**own, **self.vision.tasks}

    def batch_size(self, task: str, batch: int) -> int:
        """Return the batch size of the stage, unchanged."""
        return batch

    def collate(self, examples: Sequence[Example]) -> Batch:
        """Make a batch of tensors from examples. Captions are padded to the longest caption. Raises
        ShapeError for pictures of different shapes.
        """
        most = self.config.max_words - 2
        ids = torch.tensor(padded([self.vocabulary.sentence(e.caption, most) for e in examples]))
        known = [e.record.changed for e in examples if e.record.changed is not None]
        changed = torch.tensor(known, dtype=torch.long) if len(known) == len(examples) else None
        truth = self.vision.collate_truth([e.truth for e in examples])
        return Batch(*stack_pictures(examples), ids, changed=changed, truth=truth)

    @property
    def padding_sensitive_tasks(self) -> frozenset[str]:
        """The empty set, because no loss depends on the padding."""
        return frozenset()

    def loss(self, task: str, batch: Batch) -> dict[str, Tensor]:
        """Return the named, unweighted loss terms of one task. Raises RecipeError for an unknown task."""
        return task_of(f"CLIP4IDC ({self.config.variant})", self.tasks, task)(batch)

    def _retrieval(self, batch: Batch) -> dict[str, Tensor]:
        """Return ``contrast`` in both directions. The directions are averaged in ``authors`` and added in
        ``paper``.
        """
        before, after, ids = batch.before, batch.after, batch.ids
        if batch.changed is not None and batch_total(batch.changed.sum()) >= 2:
            chosen = batch.changed.bool()
            before, after, ids = before[chosen], after[chosen], ids[chosen]
        scale: Tensor | float = 1.0
        if self.log_scale is not None:
            with torch.no_grad():
                self.log_scale.clamp_(max=LARGEST_SCALE)
            scale = self.log_scale.exp()
        texts = gather_batch(in_parts(self.embed_texts, batch.accumulate, ids))
        pairs = gather_batch(in_parts(self._pair_vectors, batch.accumulate, self.read(before, after)))
        weight = 0.5 if self.preset.mean_loss else 1.0
        to_pair, to_text = (share_of_mean(weight * term, len(ids)) for term in contrast(texts, pairs, scale))
        return {"text_to_pair": to_pair, "pair_to_text": to_text}

    def embed_pairs(self, before: Tensor, after: Tensor) -> Tensor:
        """Return the vectors v (B, J) of the pairs: the mean of the two class rows, not normalised."""
        return self._pair_vectors(self.read(before, after))

    def _pair_vectors(self, pair: TokenPair) -> Tensor:
        return self.pair.class_rows(pair).mean(1)

    def block_attention(self, before: Tensor, after: Tensor) -> dict[str, Tensor]:
        """Return the attention of the class tokens to the patches, mean over heads, on both grids (B, 2,
        rows, columns). In the last intra block, each picture has its class token. In the last inter block,
        each of the two class tokens attends to both pictures. Source: the released code's visualize.py.
        """
        pair = self.read(before, after)
        _, intra, inter = self.pair.encoded(pair)
        patches, results = self.vision.patches, {}
        if intra is not None:
            own = intra.mean(1)[:, 0]  # (2B, N + 1)
            both = torch.cat([own[: len(before)], own[len(before) :]], dim=1)  # (B, R)
            results["last intra block, class token of each picture"] = both
        if inter is not None:
            first, second = inter.mean(1)[:, [0, patches + 1]].unbind(1)
            results["last inter block, class token before"] = first
            results["last inter block, class token after"] = second
        return {name: on_grids(rows, pair.cells, self.vision) for name, rows in results.items()}

    def embed_texts(self, ids: Tensor) -> Tensor:
        """Return the vectors g (B, J) of the captions: the text tower's row at EOS. ids: (B, T), BOS words
        EOS PAD.

        Raises RecipeError for a baseline, which has no retrieval.
        """
        if self.text is None or self.text.project is None:
            raise RecipeError(f"method.variant = {self.config.variant!r} embeds no captions; clip4idc does.")
        table, positions = self._clip_tables()
        table = table.detach() if self._kept else table
        words = F.embedding(self.table_rows[ids], table) + positions[: ids.shape[1]]  # (B, T, D)
        ends = (ids == EOS).int().argmax(1, keepdim=True)
        return self.text.rows_of_queries(words, ends)[:, 0]

    def _caption(self, batch: Batch) -> dict[str, Tensor]:
        """Return ``word_loss`` over the batch. In ``authors``, return the sum of ``word_loss`` over changed
        pairs and over unchanged pairs.
        """
        pair, targets = self.read(batch.before, batch.after), batch.ids[:, 1:]
        logits, attention = in_parts(self._read_captions, batch.accumulate, pair, batch.ids)
        guided = self.vision.attention_terms(pair, batch.truth, attention, targets != PAD)
        changed = torch.ones(len(targets)).bool() if batch.changed is None else batch.changed.bool()
        alike = batch_total(changed.sum()) in (0, batch_total(len(changed)))
        if alike or not self.preset.apart:
            return {"caption": word_loss(logits, targets), **guided}
        return {
            "caption": word_loss(logits[changed], targets[changed]),
            "unchanged": word_loss(logits[~changed], targets[~changed]),
            **guided,
        }

    def read(self, before: Tensor, after: Tensor) -> TokenPair:
        """Encode two batches of pictures, which have the form that the vision reads."""
        return self.vision.add_match_features(self.vision.tokens(before, after))

    def _clip_tables(self) -> tuple[Tensor, Tensor]:
        """Return CLIP's word table and positions. Raises RecipeError for FT2, whose captioner has a copy of
        CLIP's word table.
        """
        if self.words is None or self.text_positions is None:
            raise RecipeError(f"method.variant = {self.config.variant!r} has no text tower; ft1 has one.")
        return self.words.weight, self.text_positions

    def _tables(self) -> tuple[Tensor, Tensor]:
        """Return the word table and positions that the captioner uses: the captioner's, or CLIP's."""
        if self.captioner.words is not None and self.captioner.positions is not None:
            return self.captioner.words.weight, self.captioner.positions
        return self._clip_tables()

    def _embed(
        self, ids: Tensor, at_positions: Tensor, past: Past = None
    ) -> tuple[Tensor, tuple[Tensor, Tensor] | None]:
        """Embed words (B, T) at ``at_positions`` (T,) for the captioner.

        For FT1, the words pass through CLIP's text tower, and the tower's keys and values of these words are
        returned, too.
        """
        table, positions = self._tables()
        words = F.embedding(self.table_rows[ids], table) + positions[at_positions]
        if self.config.variant != "ft1" or self.text is None:
            return words, None
        out = self.text(words, past)
        return out.rows, (out.keys, out.values)

    def _logits(self, rows: Tensor) -> Tensor:
        """Word rows (..., D) -> logits (..., V) of this package's ids. An id that CLIP lacks gets probability
        0.
        """
        logits = self.captioner.logits(rows, self._tables()[0])
        if not isinstance(self.vocabulary, BPEVocabulary):
            return logits
        return logits[..., self.table_rows].masked_fill(self.unsaid, float("-inf"))

    def caption_logits(self, before: Tensor, after: Tensor, ids: Tensor) -> Tensor:
        """Return logits (B, L, V) of the word at each position of ``ids``, computed from the words before
        this position. The logits at the position of BOS are zeros.
        """
        rows = self._decoded(self.read(before, after), ids).rows  # (B, L - 1, D)
        return F.pad(self._logits(rows), (0, 0, 1, 0))  # (B, L, V)

    def _read_captions(self, pair: TokenPair, ids: Tensor) -> tuple[Tensor, Tensor]:
        """Return logits (B, T, V) of the words behind BOS, and the attention (B, T, 2, N) of these words."""
        said = self._decoded(pair, ids)
        attention = to_patches(said.attention.mean((1, 2)), self.vision.patches)
        return self._logits(said.rows), attention

    def _decoded(self, pair: TokenPair, ids: Tensor) -> DecoderOutput:
        """Return the decoder's output for the words before each position from 1 on. ids: (B, L)."""
        said = ids[:, :-1]
        places = torch.arange(said.shape[1], device=ids.device)
        allowed = captioning_mask(0, len(places), ids.device)
        found: DecoderOutput = self.captioner(self._embed(said, places)[0], self._memory(pair), allowed)
        return found

    def encode(self, before: Tensor, after: Tensor) -> CLIP4IDCMemory:
        """Return the memory of each pair: the projected keys and values to which the decoder attends."""
        return self._memory(self.read(before, after))

    def _memory(self, pair: TokenPair) -> CLIP4IDCMemory:
        keys, values = self.captioner.keys_values(self.pair(pair))
        return CLIP4IDCMemory(keys, values, pair.cells)

    def no_change(self, memory: CLIP4IDCMemory) -> None:
        """Return None: CLIP4IDC has no no-change head, so the no-change sentences decide."""

    @property
    def growing_axes(self) -> Mapping[str, Sequence[int]]:
        """A mapping that declares one growing axis: every tensor of the state holds keys or values, one row
        per word.
        """
        towers = ("tower_keys", "tower_values") if self.config.variant == "ft1" else ()
        return dict.fromkeys(("keys", "values", *towers), (3,))

    def first_cache(self, memory: CLIP4IDCMemory) -> Cache:
        """Return empty keys and values, (B, layers, heads, 0, D/heads). For FT1, also return empty keys and
        values of the text tower.
        """
        empty = memory.keys[:, :, :, :0]
        cache = {"keys": empty, "values": empty}
        if self.config.variant == "ft1":
            heads, layers = self.config.text_heads, self.config.text_layers
            sizes = (len(empty), layers, heads, 0, self.config.text_width // heads)
            cache |= {"tower_keys": empty.new_zeros(sizes), "tower_values": empty.new_zeros(sizes)}
        return cache

    def step(
        self, memory: CLIP4IDCMemory, previous: Tensor, position: int | Tensor, cache: Cache
    ) -> tuple[Tensor, Tensor, Cache]:
        """Predict the word at text ``position`` (from 1), right after ``previous`` (B,).

        Returns log-probabilities (B, V), the attention to both grids (B, 2, rows, columns), mean over heads
        and layers, and the grown cache.
        """
        place = torch.as_tensor(position, device=previous.device).reshape(1) - 1
        tower = (cache["tower_keys"], cache["tower_values"]) if "tower_keys" in cache else None
        words, kept = self._embed(previous[:, None], place, tower)
        said = self.captioner(words, memory, None, (cache["keys"], cache["values"]))
        new = {"keys": said.keys, "values": said.values}
        if kept is not None:
            new |= {"tower_keys": kept[0], "tower_values": kept[1]}
        grown = {name: torch.cat([cache[name], new[name]], dim=3) for name in new}
        attention = said.attention[:, :, :, 0].mean((1, 2))  # (B, R)
        grids = on_grids(attention, memory.cells, self.vision)
        return self._logits(said.rows[:, 0]).log_softmax(-1), grids, grown

    @property
    def _kept(self) -> bool:
        return self.preset.frozen and self.config.freeze

    def _frozen(self, name: str) -> bool:
        thawed = self.config.train_words and name.startswith("words.")
        return self._kept and name.startswith(CLIP_TABLES) and not thawed

    def parameter_groups(self) -> list[dict[str, Any]]:
        """Return groups that contain every parameter once: "clip", "new" (of the pair encoder), "captioner",
        "vision", and "frozen", which is never trained. The recipes have the published rate of each group
        (``stage.rates``).

        Weight decay excludes biases and the weights of the captioner's layer normalisations. Weight decay
        includes the weights of CLIP's layer normalisations, because the released code excludes parameters by
        the names "bias" and "LayerNorm.weight". CLIP's layer normalisations have other names.
        """
        groups: dict[tuple[str, bool], list[nn.Parameter]] = {}
        for name, parameter in self.named_parameters():
            group = "clip"
            if self._frozen(name):
                group = "frozen"
            elif name.startswith(("captioner.", "vision.")):
                group = name.partition(".")[0]
            elif name.startswith(NEW):
                group = "new"
            norm = name.startswith("captioner.") and name.endswith("norm.weight")
            groups.setdefault((group, norm or name.endswith("bias")), []).append(parameter)
        decay = {False: {}, True: {"weight_decay": 0.0}}
        return [{"name": name, "params": params, **decay[bare]} for (name, bare), params in groups.items()]

    def parameters_without_gradient(self, tasks: Collection[str]) -> frozenset[str]:
        """Return the names of the method's parameters that deliberately get no gradient from any of
        ``tasks``.
        """
        adapts = self.config.variant == "clip4idc"
        unused = {f"vision.{name}" for name in self.vision.parameters_without_gradient(tasks)}
        for name, _ in self.named_parameters():
            part = name.partition(".")[0]
            tower = part in ("text", "log_scale") and adapts
            table = part in ("words", "text_positions")
            by_caption = not tower and not (table and self.captioner.words is not None)
            by_retrieval = part != "captioner" and not (part == "words" and self._kept)
            read = ("caption" in tasks and by_caption) or ("retrieval" in tasks and by_retrieval)
            if part != "vision" and (self._frozen(name) or not read):
                unused.add(name)
        return frozenset(unused)

    def word_tables(self) -> Mapping[str, Sequence[int]]:
        """Return the tables with a row for each word, of CLIP or of the captioner, with rows in the order of
        CLIP's table.
        """
        rows = [int(row) for row in self.table_rows]
        return {"words.weight": rows, "captioner.words.weight": rows, "captioner.bias": rows}

    def load_pretrained(self, state: Mapping[str, Tensor]) -> tuple[str, ...]:
        """Copy every tensor whose name this method also has.

        Returns the names that keep their initial values. Raises ShapeError where a name fits but the shape
        differs.
        """
        return copy_matching_tensors(self, state)


def _text_tower(config: CLIP4IDCConfig) -> TextTower:
    """Build CLIP's text tower. The baselines embed no captions, so their text tower has no final
    projection.
    """
    joint = config.joint_width if config.variant == "clip4idc" else None
    sizes = config.text_width, config.text_heads, config.text_ffn, config.text_layers
    return TextTower(*sizes, joint, config.activation)
