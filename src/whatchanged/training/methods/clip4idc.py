"""CLIP4IDC: CLIP for image difference captioning (Guo, Wang and Laaksonen, AACL-IJCNLP 2022), and FT1, FT2.

CLIP's picture tower reads each picture alone in its first ("intra") blocks and both at once in its last
("inter") blocks. Two stages train one network: ``retrieval`` draws a pair and its caption together,
``caption`` puts a small post-norm transformer on the pair's tokens:

    x_k = intra([class ; patches_k] + positions);   y = [x_1 + e_1 ; x_2 + e_2] + joint positions
    H = LN(inter(y)) P;   v = (H_class1 + H_class2) / 2;   g = text tower at the caption's end
    words: decoder(encoder(H)), logits against the word table

FT1 and FT2 have no inter blocks and no retrieval stage; FT1's words pass CLIP's whole text tower, FT2 takes
its word vectors only. Official code: sushizixin/CLIP4IDC (none for FT1, FT2).

Axis letters: B pairs, N patches of a picture, R = 2 (N + 1) rows of a pair, T text positions, D width, J
joint width, h heads, k = D / h, V vocabulary.

Departures. ``Preset`` has one field per point where paper and code part ways. Beyond that:
- float32 throughout; the code trains CLIP in float16 with float16 moments, so its 1e-7 is another rate;
- random tensors start as CLIP's once did; the code draws most of them anew, at N(0, 0.02), scale e;
- captions are cut to ``max_words`` - 2 pieces in both stages (the code: one more when captioning);
- retrieval leaves out unchanged pairs that a batch still holds (``changed_only`` keeps them out of it, as
  the code does), unless fewer than two remain; its negatives are of one device's batch, the pair's other
  captions and equal words among them, as in the code;
- the temperature is cut to 100 before it is used, not after a step; the two never differ in a forward pass;
- padding needs no mask, as a word reads only what stands before it;
- decoding stops at the end and caches keys and values (the code recomputes all words): same numbers; a
  caption goes on behind an exclamation mark, where the code cuts it; one seed serves all stages;
- ids are the house's; with CLIP's pieces the table keeps CLIP's rows; ids that CLIP lacks cannot be said;
- ``paper`` with a captioner as wide as stated (768) needs a layer from J to it: our reading; likewise that
  its head is tied to its own word table, and that both baselines keep the captioner's visual encoder;
- FT1's word states pass the captioner's first normalisation, as words do, behind the tower's own; FT2's copy
  of the word table learns at the captioner's rate.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from whatchanged.bpe import BPEVocabulary
from whatchanged.errors import RecipeError
from whatchanged.recipes.methods.clip4idc import CLIP4IDCConfig
from whatchanged.training.batches import Batch, Example, stack_pictures
from whatchanged.training.methods import Cache, copy_matching_tensors
from whatchanged.training.nn.clip import LARGEST_SCALE, START_SCALE, Block, TextTower, draw, draw_blocks
from whatchanged.training.nn.postnorm import EPS, DecoderLayer, EncoderLayer
from whatchanged.training.nn.transformer import Past, captioning_mask
from whatchanged.training.vision.base import TokenPair, Vision, on_grids
from whatchanged.vocabulary import CLS, EOS, MASK, PAD, UNK, Vocabulary, padded

CLIP_TABLES = (
    "words.",
    "text_positions",
    "pair.patches.",
    "pair.class_token",
    "pair.positions",
    "pair.entry_norm.",
)
"""What ``authors`` keeps as it came from CLIP."""
NEW = ("pair.sides", "pair.side_positions", "pair.mid_norm.")
"""The pair encoder's tensors that CLIP does not have."""


@dataclass(frozen=True)
class Preset:
    """One reading of the method."""

    mid_norm: bool  # a layer normalisation stands before the inter blocks
    mean_loss: bool  # the two directions' contrastive losses are averaged, not added
    temperature: bool  # similarities are multiplied by a learned scale, at most 100
    frozen: bool  # CLIP's tables and first layers stay as they are (with ``method.freeze``)
    layer_memory: bool  # decoder layer l reads encoder layer l, not the last one
    clip_words: bool  # the captioner's word table is CLIP's own
    apart: bool  # changed and unchanged pairs are averaged apart


PRESETS = {
    "paper": Preset(
        mid_norm=False, mean_loss=False, temperature=False, frozen=False,
        layer_memory=False, clip_words=False, apart=False,
    ),
    "authors": Preset(
        mid_norm=True, mean_loss=True, temperature=True, frozen=True,
        layer_memory=True, clip_words=True, apart=True,
    ),
}  # fmt: skip


def contrast(captions: Tensor, pairs: Tensor, scale: Tensor | float) -> tuple[Tensor, Tensor]:
    """Each caption finds its pair among the batch's, and each pair its caption.

        S_ij = scale · cos(g_i, v_j);   CE(S) = −(1/B) Σ_i log softmax_j(S_ij) at j = i;   CE(S), CE(Sᵀ)

    captions g, pairs v: (B, J), of any length. With scale 1 at most ln(1 + (B − 1) e²). Source: the paper's
    equations for L_t2i and L_i2t, which have no scale; the scale is the code's (modules/modeling.py).
    """
    similarities = scale * F.normalize(captions, dim=-1) @ F.normalize(pairs, dim=-1).T
    own = torch.arange(len(captions), device=captions.device)
    return F.cross_entropy(similarities, own), F.cross_entropy(similarities.T, own)


def word_loss(logits: Tensor, targets: Tensor) -> Tensor:
    """Mean cross entropy of the words that are not PAD. logits: (B, T, V); targets: (B, T)."""
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=PAD)


class PairEncoder(nn.Module):
    """CLIP's picture tower over two pictures (equations of the head of this file).

        x_k = LN([class ; W f_k] + positions), then the intra blocks, each picture alone
        y = LN?(x_k + e_k + side positions_k) of both pictures in a row, then the inter blocks over all rows
        H = LN(y) P                                              LN?: ``authors`` only

    Without inter blocks (FT1, FT2) e_k, their positions and LN? are left out: swapped pictures swap halves.
    """

    def __init__(self, config: CLIP4IDCConfig, preset: Preset, vision: Vision) -> None:
        super().__init__()
        width, rows = config.width, 1 + vision.rows * vision.columns
        both = config.variant == "clip4idc"
        alone = config.intra_layers + (0 if both else config.inter_layers)

        def blocks(layers: int) -> nn.ModuleList:
            return nn.ModuleList(
                Block(width, config.heads, config.ffn, config.activation) for _ in range(layers)
            )

        self.patches = nn.Linear(vision.width, width, bias=False)
        self.class_token = nn.Parameter(torch.empty(width))
        self.positions = nn.Parameter(torch.empty(rows, width))
        self.entry_norm = nn.LayerNorm(width)
        self.intra, self.inter = blocks(alone), blocks(config.inter_layers if both else 0)
        self.sides = nn.Parameter(torch.empty(2, width)) if both else None
        self.side_positions = nn.Parameter(torch.empty(2, rows, width)) if both else None
        self.mid_norm = nn.LayerNorm(width) if both and preset.mid_norm else None
        self.exit_norm = nn.LayerNorm(width)
        self.project = nn.Linear(width, config.joint_width, bias=False)
        self._draw(config.intra_layers + config.inter_layers)

    def _draw(self, layers: int) -> None:
        deviation = self.class_token.shape[0] ** -0.5
        for tensor in (self.class_token, self.positions, self.sides, self.side_positions):
            if tensor is not None:
                nn.init.normal_(tensor, std=deviation)
        draw(self.project, deviation)
        draw_blocks([*self.intra, *self.inter], layers)

    def forward(self, pair: TokenPair) -> Tensor:
        """Raw patches of both pictures -> pair tokens H (B, R, J): [class 1] patches [class 2] patches."""
        batch = pair.before.features.shape[0]
        cells = torch.cat([pair.before.cells, pair.after.cells]) + 1
        places = torch.cat([torch.zeros_like(cells[:, :1]), cells], dim=1)  # (2B, N + 1)
        patches = self.patches(torch.cat([pair.before.features, pair.after.features]))
        x = torch.cat([self.class_token.expand(2 * batch, 1, -1), patches], dim=1)
        x = self.entry_norm(x + self.positions[places])
        for block in self.intra:
            x, _ = block(x)
        halves = [x[:batch], x[batch:]]
        if self.sides is not None and self.side_positions is not None:
            own = places[:batch], places[batch:]
            halves = [halves[k] + self.sides[k] + self.side_positions[k][own[k]] for k in (0, 1)]
        y = torch.cat(halves, dim=1)  # (B, R, D)
        y = y if self.mid_norm is None else self.mid_norm(y)
        for block in self.inter:
            y, _ = block(y)
        return cast(Tensor, self.project(self.exit_norm(y)))


class DecoderOutput(NamedTuple):
    """Word rows (B, T, D), own keys, values (B, layers, h, T, k), looks at the pair (B, layers, h, T, R)."""

    rows: Tensor
    keys: Tensor
    values: Tensor
    looked: Tensor


class Captioner(nn.Module):
    """The encoder and decoder on the pair tokens, and the head: z = LN(GELU(W d + b)), logits = z Tᵀ + bias.

    The table T is CLIP's, passed in, or ``words``, where the captioner has its own (``rows`` x width).
    Source: modules/module_decoder.py. Linear layers start at N(0, 0.02).
    """

    def __init__(self, config: CLIP4IDCConfig, preset: Preset, rows: int, own_words: bool) -> None:
        super().__init__()
        width = config.decoder_width
        sizes = (width, config.decoder_heads, config.decoder_ffn, config.dropout)
        self.layer_memory = preset.layer_memory
        self.widen = None if width == config.joint_width else nn.Linear(config.joint_width, width)
        self.encoder = nn.ModuleList(EncoderLayer(*sizes) for _ in range(config.decoder_layers))
        self.decoder = nn.ModuleList(DecoderLayer(*sizes) for _ in range(config.decoder_layers))
        self.words = nn.Embedding(rows, width) if own_words else None
        self.positions = nn.Parameter(torch.empty(config.context, width)) if own_words else None
        self.entry_norm = nn.LayerNorm(width, eps=EPS)
        self.dropout = nn.Dropout(config.dropout)
        self.transform = nn.Linear(width, width)
        self.transform_norm = nn.LayerNorm(width, eps=EPS)
        self.bias = nn.Parameter(torch.zeros(rows))
        for module in self.modules():
            if isinstance(module, nn.Linear):
                draw(module, 0.02)
        if self.words is not None and self.positions is not None:
            nn.init.normal_(self.words.weight, std=0.02)
            nn.init.normal_(self.positions, std=0.01)

    def memory(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """Pair tokens (B, R, J) -> what each decoder layer looks at: keys, values (B, layers, h, R, k)."""
        m, memories = tokens if self.widen is None else self.widen(tokens), []
        for layer in self.encoder:
            m = layer(m)
            memories.append(m)
        read = memories if self.layer_memory else memories[-1:] * len(memories)
        layers = (cast(DecoderLayer, layer).cross_attention for layer in self.decoder)
        kept = [layer.keys_values(m) for layer, m in zip(layers, read, strict=True)]
        return torch.stack([k for k, _ in kept], dim=1), torch.stack([v for _, v in kept], dim=1)

    def forward(
        self, words: Tensor, keys: Tensor, values: Tensor, allowed: Tensor | None = None, past: Past = None
    ) -> DecoderOutput:
        """Embedded words (B, T, D) behind ``past`` (B, layers, h, P, k), looking at a memory."""
        d, found = self.dropout(self.entry_norm(words)), []
        for i, layer in enumerate(self.decoder):
            own = None if past is None else (past[0][:, i], past[1][:, i])
            d, seen, looked = layer(d, keys[:, i], values[:, i], allowed, own)
            found.append((seen.keys, seen.values, looked))
        return DecoderOutput(d, *(torch.stack(parts, dim=1) for parts in zip(*found, strict=True)))

    def logits(self, rows: Tensor, table: Tensor) -> Tensor:
        """Word rows (..., D) -> logits (..., rows of the table)."""
        z: Tensor = self.transform_norm(F.gelu(self.transform(rows)))
        return z @ table.T + self.bias


class Memory(NamedTuple):
    """What decoding needs of a pair: keys, values (B, layers, h, R, k); cells (B, 2, N) on the full grid."""

    keys: Tensor
    values: Tensor
    cells: Tensor


class CLIP4IDC(nn.Module):
    """The method and its two baselines: pair encoder, text tower, captioner."""

    architecture = "clip4idc"
    attention_description = "mean over heads and decoder layers"

    def __init__(self, config: CLIP4IDCConfig, vision: Vision, vocabulary: Vocabulary) -> None:
        super().__init__()
        self.config, self.vision, self.vocabulary = config, vision, vocabulary
        self.preset, self.max_length = PRESETS[config.preset], config.max_length
        known = vocabulary.table_rows if isinstance(vocabulary, BPEVocabulary) else range(len(vocabulary))
        rows, width = max(known) + 1, config.text_width
        self.table_rows: Tensor
        self.register_buffer("table_rows", torch.tensor(list(known)), persistent=False)
        unsaid = [PAD, UNK, CLS, MASK] if isinstance(vocabulary, BPEVocabulary) else []
        self.unsaid: Tensor
        self.register_buffer("unsaid", torch.zeros(len(vocabulary), dtype=torch.bool), persistent=False)
        self.unsaid[unsaid] = True

        variant, adapts = config.variant, config.variant == "clip4idc"
        self.pair = PairEncoder(config, self.preset, vision)
        self.words = nn.Embedding(rows, width) if variant != "ft2" else None
        self.text_positions = nn.Parameter(torch.empty(config.context, width)) if variant != "ft2" else None
        joint = config.joint_width if adapts else None
        self.text = TextTower(
            width, config.text_heads, config.text_ffn, config.text_layers, joint, config.activation
        ) if variant != "ft2" else None  # fmt: skip
        scaled = adapts and self.preset.temperature
        self.log_scale = nn.Parameter(torch.tensor(START_SCALE)) if scaled else None
        own = variant == "ft2" or (adapts and not self.preset.clip_words)
        self.captioner = Captioner(config, self.preset, rows, own)
        self._draw_text()
        for name, parameter in self.named_parameters():
            parameter.requires_grad_(not self._frozen(name))

    def _draw_text(self) -> None:
        """CLIP's own start for the tables and the text tower."""
        if self.words is None or self.text_positions is None or self.text is None:
            return
        nn.init.normal_(self.words.weight, std=0.02)
        nn.init.normal_(self.text_positions, std=0.01)
        draw_blocks(self.text.blocks, len(self.text.blocks))
        if self.text.project is not None:
            draw(self.text.project, self.config.text_width**-0.5)

    @property
    def tasks(self) -> dict[str, Callable[[Batch], dict[str, Tensor]]]:
        """What a stage may mix; the baselines have no retrieval."""
        own = {"retrieval": self._retrieval, "caption": self._caption}
        if self.config.variant != "clip4idc":
            own.pop("retrieval")
        return {**own, **self.vision.tasks}

    def batch_size(self, task: str, batch: int) -> int:
        """As many as the stage says."""
        return batch

    def collate(self, examples: Sequence[Example]) -> Batch:
        """Examples to tensors, captions padded to the longest. Raises ShapeError for unlike pictures."""
        most = self.config.max_words - 2
        ids = torch.tensor(padded([self.vocabulary.sentence(e.caption, most) for e in examples]))
        known = [e.record.changed for e in examples if e.record.changed is not None]
        changed = torch.tensor(known, dtype=torch.long) if len(known) == len(examples) else None
        truth = self.vision.collate_truth([e.truth for e in examples])
        return Batch(*stack_pictures(examples), ids, changed=changed, truth=truth)

    @property
    def padding_sensitive_tasks(self) -> frozenset[str]:
        """None: no loss depends on the padding."""
        return frozenset()

    def loss(self, task: str, batch: Batch) -> dict[str, Tensor]:
        """The named, unweighted terms of one task. Raises RecipeError for an unknown one."""
        if task not in self.tasks:
            what = f"CLIP4IDC ({self.config.variant})"
            raise RecipeError(f"{what} has no task {task!r}. Choose among: {', '.join(self.tasks)}.")
        return self.tasks[task](batch)

    def _retrieval(self, batch: Batch) -> dict[str, Tensor]:
        """``contrast`` in both directions: averaged in ``authors``, added in ``paper``."""
        before, after, ids = batch.before, batch.after, batch.ids
        if batch.changed is not None and batch.changed.sum() >= 2:
            chosen = batch.changed.bool()
            before, after, ids = before[chosen], after[chosen], ids[chosen]
        scale: Tensor | float = 1.0
        if self.log_scale is not None:
            with torch.no_grad():
                self.log_scale.clamp_(max=LARGEST_SCALE)
            scale = self.log_scale.exp()
        to_pair, to_text = contrast(self.embed_texts(ids), self.embed_pairs(before, after), scale)
        share = 0.5 if self.preset.mean_loss else 1.0
        return {"text_to_pair": share * to_pair, "pair_to_text": share * to_text}

    def embed_pairs(self, before: Tensor, after: Tensor) -> Tensor:
        """The pairs' vectors v (B, J): the mean of the two class rows, not normalised."""
        rows = self.pair_tokens(before, after)
        return (rows[:, 0] + rows[:, self.vision.patches + 1]) / 2

    def embed_texts(self, ids: Tensor) -> Tensor:
        """The captions' vectors g (B, J): the text tower's row at EOS. ids: (B, T), BOS words EOS PAD.

        Raises RecipeError for a baseline, which has no retrieval.
        """
        if self.words is None or self.text is None or self.text.project is None:
            raise RecipeError(f"method.variant = {self.config.variant!r} embeds no captions; clip4idc does.")
        table = self.words.weight.detach() if self._kept else self.words.weight
        words = F.embedding(self.table_rows[ids], table) + self._places(ids.shape[1])
        rows = self.text(words).rows
        return cast(Tensor, rows[torch.arange(len(ids), device=ids.device), (ids == EOS).int().argmax(1)])

    def _caption(self, batch: Batch) -> dict[str, Tensor]:
        """``word_loss`` over the batch; ``authors``: over its changed and its unchanged pairs, added."""
        logits, targets = self.caption_logits(batch.before, batch.after, batch.ids)[:, 1:], batch.ids[:, 1:]
        changed = torch.ones(len(targets)).bool() if batch.changed is None else batch.changed.bool()
        if not self.preset.apart or changed.all() or not changed.any():
            return {"caption": word_loss(logits, targets)}
        return {
            "caption": word_loss(logits[changed], targets[changed]),
            "unchanged": word_loss(logits[~changed], targets[~changed]),
        }

    def pair_tokens(self, before: Tensor, after: Tensor) -> Tensor:
        """Two batches of pictures, as the vision reads them -> H (B, R, J)."""
        return cast(Tensor, self.pair(self.vision.add_match_features(self.vision.tokens(before, after))))

    def _places(self, words: int) -> Tensor:
        assert self.text_positions is not None
        return self.text_positions[:words]

    def _tables(self) -> tuple[Tensor, Tensor]:
        """The captioner's word table and positions: its own, or CLIP's."""
        source = (self.captioner.words, self.captioner.positions)
        words, positions = (self.words, self.text_positions) if source[0] is None else source
        assert words is not None and positions is not None
        return words.weight, positions

    def _embed(
        self, ids: Tensor, places: Tensor, past: Past = None
    ) -> tuple[Tensor, tuple[Tensor, Tensor] | None]:
        """Words (B, T) at ``places`` (T,) as the captioner reads them; FT1: through CLIP's text tower.

        Also the tower's keys and values of these words, for FT1.
        """
        table, positions = self._tables()
        words = F.embedding(self.table_rows[ids], table) + positions[places]
        if self.config.variant != "ft1" or self.text is None:
            return words, None
        out = self.text(words, past)
        return out.rows, (out.keys, out.values)

    def _logits(self, rows: Tensor) -> Tensor:
        """Word rows (..., D) -> logits (..., V) of the house's ids; what CLIP lacks is impossible."""
        logits = self.captioner.logits(rows, self._tables()[0])
        if not isinstance(self.vocabulary, BPEVocabulary):
            return logits
        return logits[..., self.table_rows].masked_fill(self.unsaid, float("-inf"))

    def caption_logits(self, before: Tensor, after: Tensor, ids: Tensor) -> Tensor:
        """Logits (B, L, V) of the word at each position of ``ids`` from those before it; zeros for BOS."""
        keys, values = self.captioner.memory(self.pair_tokens(before, after))
        said, places = ids[:, :-1], torch.arange(ids.shape[1] - 1, device=ids.device)
        allowed = captioning_mask(0, len(places), ids.device)
        rows = self.captioner(self._embed(said, places)[0], keys, values, allowed).rows
        return F.pad(self._logits(rows), (0, 0, 1, 0))

    def encode(self, before: Tensor, after: Tensor) -> Memory:
        """The memory of each pair: what the decoder looks at, projected once."""
        pair = self.vision.add_match_features(self.vision.tokens(before, after))
        keys, values = self.captioner.memory(self.pair(pair))
        return Memory(keys, values, pair.cells)

    def no_change(self, memory: Memory) -> None:
        """None: the method has no head for it, so its no-change sentences must judge."""

    def first_cache(self, memory: Memory) -> Cache:
        """Keys and values of no words yet, (B, layers, heads, 0, D/heads); FT1 keeps its text tower's too."""
        empty = memory.keys[:, :, :, :0]
        cache = {"keys": empty, "values": empty}
        if self.config.variant == "ft1":
            heads, layers = self.config.text_heads, self.config.text_layers
            sizes = (len(empty), layers, heads, 0, self.config.text_width // heads)
            cache |= {"tower_keys": empty.new_zeros(sizes), "tower_values": empty.new_zeros(sizes)}
        return cache

    def step(
        self, memory: Memory, previous: Tensor, position: int | Tensor, cache: Cache
    ) -> tuple[Tensor, Tensor, Cache]:
        """The word at text ``position`` (1 first), ``previous`` (B,) standing just before it.

        Returns log-probabilities (B, V), the look at both grids (B, 2, rows, columns), mean over heads and
        layers, and the grown cache.
        """
        place = torch.as_tensor(position, device=previous.device).reshape(1) - 1
        tower = (cache["tower_keys"], cache["tower_values"]) if "tower_keys" in cache else None
        words, kept = self._embed(previous[:, None], place, tower)
        said = self.captioner(words, memory.keys, memory.values, None, (cache["keys"], cache["values"]))
        new = {"keys": said.keys, "values": said.values}
        if kept is not None:
            new |= {"tower_keys": kept[0], "tower_values": kept[1]}
        grown = {name: torch.cat([cache[name], new[name]], dim=3) for name in new}
        looked = on_grids(said.looked[:, :, :, 0].mean((1, 2)), memory.cells, self.vision)
        return self._logits(said.rows[:, 0]).log_softmax(-1), looked, grown

    @property
    def _kept(self) -> bool:
        return self.preset.frozen and self.config.freeze

    def _frozen(self, name: str) -> bool:
        thawed = self.config.train_words and name.startswith("words.")
        return self._kept and name.startswith(CLIP_TABLES) and not thawed

    def parameter_groups(self) -> list[dict[str, Any]]:
        """Every parameter once: "clip", "new" (of the pair encoder), "captioner", "vision"; "frozen" is never
        trained. The published rates per group are in the recipes (``stage.rates``).

        Not decayed: biases, and the weights of the captioner's layer normalisations; CLIP's are, since the
        code goes by the names "bias" and "LayerNorm.weight", and CLIP's are called otherwise.
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
        """Names of the method's parameters that none of ``tasks`` gives a gradient, on purpose."""
        adapts = self.config.variant == "clip4idc"
        idle = {f"vision.{name}" for name in self.vision.parameters_without_gradient(tasks)}
        for name, _ in self.named_parameters():
            part = name.partition(".")[0]
            tower = part in ("text", "log_scale") and adapts
            table = part in ("words", "text_positions")
            by_caption = not tower and not (table and self.captioner.words is not None)
            by_retrieval = part != "captioner" and not (part == "words" and self._kept)
            read = ("caption" in tasks and by_caption) or ("retrieval" in tasks and by_retrieval)
            if part != "vision" and (self._frozen(name) or not read):
                idle.add(name)
        return frozenset(idle)

    def word_tables(self) -> Mapping[str, Sequence[int]]:
        """The tables with a row for each word: CLIP's own, or the captioner's; rows as in CLIP's table."""
        rows = [int(row) for row in self.table_rows]
        return {"words.weight": rows, "captioner.words.weight": rows, "captioner.bias": rows}

    def load_pretrained(self, state: Mapping[str, Tensor]) -> tuple[str, ...]:
        """Take over every tensor that bears the name of one of ours.

        Returns the names that keep their own start. Raises ShapeError where a name fits but not its shape.
        """
        return copy_matching_tensors(self, state)
