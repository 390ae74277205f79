"""SCORER + CBR: self-supervised cross-view representation reconstruction (Tu et al., ICCV 2023).

Each picture is rebuilt from the other by cross attention: what both show survives, what changed does not. Two
losses teach it: views of one scene match better than views of others, token by token (SCORER); the caption,
laid over the picture before, yields the picture after (CBR). One stage trains it all:
    X1, X2 -> (a, b) = (layer(a, b), layer(b, a)), again per layer -> D = ReLU(FC([a; b])) -> words
    L = caption + λ_v view + λ_m reason

Official code: tuyunbin/SCORER, for CLEVR-Change only. Axis letters: B pairs, N cells, D width, E word width,
h heads, k = D / h, L text positions, V vocabulary.

Departures. ``Preset`` has a field per point where paper and code part ways; ``method.preset`` chooses. Where
the paper is silent, both follow the code: dropout, places, CBR's images, two sides of the view loss but one
side and its transpose in CBR. ``paper`` sums matching over heads and takes its scores from the first layer,
whose inputs are the pictures before any reconstruction: our reading. ``repaired`` mends mistakes of the code:
CBR never learns (the optimiser does not know it), its sentence vector divides by all positions. Beyond that:
- rates, steps, layers and the exchange of unchanged views are the recipe's; validation is greedy (the code
  samples) and keeps one snapshot (the code takes the best of each metric); a checkpoint holds CBR too;
- pads stand behind the words and a word reads backwards only, so no mask hides them: same numbers;
- matching is computed only where a loss asks for it, its learned scale held down as it is read;
- ``authors`` keeps the changed and unchanged pairs of whole scenes apart, each with losses of its own, and
  takes the mean; where unchanged pairs are examples like others (CLEVR-DC, a pool), all share one loss;
- our vocabulary has two marks more, and no mark but the end is ever said (the code bans unknown words only);
- subtraction (first row of the ablations) is D = ReLU(FC(X2 − X1)), so places cancel: our reading.
"""

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from whatchanged.errors import RecipeError, ShapeError
from whatchanged.recipes.methods.scorer import ScorerConfig
from whatchanged.training.batches import Batch, Example, stack_pictures
from whatchanged.training.methods import Cache, copy_matching_tensors
from whatchanged.training.nn.token_matching import match_tokens
from whatchanged.training.nn.transformer import BLIND, sinusoid
from whatchanged.training.vision.base import Vision
from whatchanged.vocabulary import BOS, CLS, MASK, PAD, UNK, Vocabulary, padded

NORM_EPS = 1e-6
LARGEST_LOG_SCALE = math.log(100.0)
FIRST_LOG_SCALE = 1.0

QueryKey = tuple[Tensor, Tensor]
"""What a layer asks with and is asked by, of one direction: queries and keys (B, N, D)."""


@dataclass(frozen=True)
class Preset:
    """One reading of the method."""

    match_heads: bool  # each head matches by itself and the heads are summed; otherwise whole tokens match
    learned_scale: bool  # scores are multiplied by exp of a learned number; otherwise divided by a constant
    match_last: bool  # scores come from the last layer's queries and keys; otherwise from the first's
    coordinates: bool  # two channels of coordinates join the features
    project_heads: bool  # attention ends in an output projection (CBR's always does)
    standard_ffn: bool  # a decoder layer adds its feed-forward part to h; otherwise to gelu(W1 h)
    mean_sentence: bool  # CBR's sentence vector is the mean of real words; otherwise their sum / L
    train_reasoning: bool  # CBR's own parameters learn
    split_kinds: bool  # a scene's changed and unchanged pair have losses and score matrices of their own
    drop_fused: bool  # dropout between D's projection and its ReLU


PRESETS = {
    "paper": Preset(
        match_heads=True, learned_scale=False, match_last=False, coordinates=False, project_heads=True,
        standard_ffn=True, mean_sentence=True, train_reasoning=True, split_kinds=False, drop_fused=False,
    ),
    "authors": Preset(
        match_heads=False, learned_scale=True, match_last=True, coordinates=True, project_heads=False,
        standard_ffn=False, mean_sentence=False, train_reasoning=False, split_kinds=True, drop_fused=True,
    ),
}  # fmt: skip


def info_nce(scores: Tensor) -> Tensor:
    """Each row finds its own column among all:  −(1/B) Σ_i log softmax_row(S)_ii.

    scores: (B, B), logits, true pairs on the diagonal. ln B where all are alike, 0 for a single pair.
    """
    return F.cross_entropy(scores, torch.arange(len(scores), device=scores.device))


def two_sided(forth: Tensor, back: Tensor) -> Tensor:
    """(info_nce(S1) + info_nce(S2)) / 2. Source: the paper's equations 4 and 11; halved as in the code."""
    return (info_nce(forth) + info_nce(back)) / 2


def sentence_vector(states: Tensor, real: Tensor, mean: bool) -> Tensor:
    """t = (1/n) Σ_p real_p H_p: states (B, L, D), real (B, L) bool -> (B, D).

    n is the number of real positions (``mean``), or L, padding included (the released CBR.py).
    """
    count = real.sum(1, keepdim=True) if mean else real.shape[1]
    return (states * real[..., None]).sum(1) / count


def split_heads(x: Tensor, heads: int) -> Tensor:
    """(B, T, D) -> (B, h, T, D/h)."""
    return x.reshape(x.shape[0], x.shape[1], heads, -1).transpose(1, 2)


class Matching(nn.Module):
    """S(a, b) = c TM(a, b): ``match_tokens`` over whole tokens or summed over heads, without unit length.

    c = exp(s), s learned from 1 and at most ln 100, or 1 / temperature. Source: equation 4; models/SCORER.py.
    """

    def __init__(self, config: ScorerConfig, preset: Preset) -> None:
        super().__init__()
        self.log_scale = nn.Parameter(torch.tensor(FIRST_LOG_SCALE)) if preset.learned_scale else None
        self.heads, self.constant = config.heads if preset.match_heads else 1, 1 / config.temperature

    def forward(self, queries: Tensor, keys: Tensor) -> Tensor:
        """Queries, keys (B, N, D) -> scores (B, B), rows asking."""
        scores = match_tokens(split_heads(queries, self.heads), split_heads(keys, self.heads))
        if self.log_scale is None:
            return scores * self.constant
        with torch.no_grad():  # the code does so after each update: s is never read above the limit
            self.log_scale.clamp_(max=LARGEST_LOG_SCALE)
        return scores * self.log_scale.exp()


class MultiHeadAttention(nn.Module):
    """Multi-head attention: a = concat_h(Drop(softmax(q kᵀ / sqrt(k))) v), projected where asked."""

    def __init__(self, width: int, heads: int, dropout: float, projected: bool, bias: bool = True) -> None:
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(width, width, bias=bias) for _ in range(3))
        self.out = nn.Linear(width, width, bias=bias) if projected else None
        self.dropout = nn.Dropout(dropout)
        self.heads = heads
        self.scale = (width // heads) ** -0.5

    def ask(self, x: Tensor) -> Tensor:
        """Queries of rows (B, T, D): (B, h, T, k)."""
        return split_heads(self.query(x), self.heads)

    def read(self, y: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values of rows (B, T, D): (B, h, T, k) each."""
        return split_heads(self.key(y), self.heads), split_heads(self.value(y), self.heads)

    def forward(
        self, queries: Tensor, keys: Tensor, values: Tensor, allowed: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Split queries, keys, values -> rows (B, T, D) and probabilities (B, h, T, S), before dropout."""
        scores = queries @ keys.transpose(-1, -2) * self.scale
        if allowed is not None:
            scores = scores.masked_fill(~allowed, BLIND)
        probabilities = scores.softmax(-1)
        rows = (self.dropout(probabilities) @ values).transpose(1, 2).flatten(2)
        return rows if self.out is None else self.out(rows), probabilities


class Reconstruction(nn.Module):
    """One picture rebuilt from the other:  x' = LN(x + Attention(x, y, y)). No feed-forward part.

    Source: the paper's equations 5 and 6; ``models/SCORER.py``.
    """

    def __init__(self, config: ScorerConfig, preset: Preset) -> None:
        super().__init__()
        self.attention = MultiHeadAttention(config.width, config.heads, config.dropout, preset.project_heads)
        self.norm = nn.LayerNorm(config.width, NORM_EPS)
        self.matching = Matching(config, preset)

    def forward(self, x: Tensor, y: Tensor) -> tuple[Tensor, QueryKey]:
        """x asks, y is asked, (B, N, D) each -> x' (B, N, D), and what matching needs."""
        found = self.attention.query(x), self.attention.key(y)
        parts = (split_heads(part, self.attention.heads) for part in (*found, self.attention.value(y)))
        read, _ = self.attention(*parts)
        return self.norm(x + read), found


class DecoderLayer(nn.Module):
    """h = LN(h + SelfAttention(h)); h = LN(h + CrossAttention(h, D)); g = GELU(W1 h); h = LN(r + Drop(W2 g)).

    r is h (``standard_ffn``), or g (``models/transformer_decoder.py``: the h that came in is not carried on).
    """

    def __init__(self, config: ScorerConfig, preset: Preset) -> None:
        super().__init__()
        width = config.width
        sizes = (width, config.heads, config.dropout, preset.project_heads)
        self.own, self.cross = MultiHeadAttention(*sizes), MultiHeadAttention(*sizes)
        self.own_norm, self.cross_norm, self.ffn_norm = (nn.LayerNorm(width, NORM_EPS) for _ in range(3))
        self.ffn_in, self.ffn_out = nn.Linear(width, width), nn.Linear(width, width)
        self.dropout = nn.Dropout(config.dropout)
        self.standard_ffn = preset.standard_ffn

    def forward(
        self, h: Tensor, memory: tuple[Tensor, Tensor], past: tuple[Tensor, Tensor] | None
    ) -> tuple[Tensor, tuple[Tensor, Tensor], Tensor]:
        """Rows (B, T, D), each reading those up to its own; or one row behind ``past`` ones (keys, values).

        memory: keys and values of D. Returns rows, own keys and values, attention to the cells (B, h, T, N).
        """
        new = self.own.read(h)
        keys, values = new if past is None else (torch.cat(p, dim=2) for p in zip(past, new, strict=True))
        length = h.shape[1] if past is None else 0
        allowed = torch.ones(length, length, dtype=torch.bool, device=h.device).tril() if length else None
        read, _ = self.own(self.own.ask(h), keys, values, allowed)
        h = self.own_norm(h + read)
        read, looked = self.cross(self.cross.ask(h), *memory)
        h = self.cross_norm(h + read)
        g = F.gelu(self.ffn_in(h))
        return self.ffn_norm((h if self.standard_ffn else g) + self.dropout(self.ffn_out(g))), new, looked


class Decoder(nn.Module):
    """Words to words:  h = LN(Drop(W (E[id] + pe))), the layers, then logits = W_o h + b, not tied."""

    def __init__(self, config: ScorerConfig, preset: Preset, entries: int) -> None:
        super().__init__()
        self.words = nn.Embedding(entries, config.word_width)
        self.widen = nn.Linear(config.word_width, config.width)
        self.norm = nn.LayerNorm(config.width, NORM_EPS)
        self.dropout = nn.Dropout(config.dropout)
        self.layers = nn.ModuleList(DecoderLayer(config, preset) for _ in range(config.decoder_layers))
        self.output = nn.Linear(config.width, entries)
        self.positions: Tensor
        waves = sinusoid(max(100, config.max_length), config.word_width, doubled_exponent=False)
        self.register_buffer("positions", waves, persistent=False)
        for module in self.modules():
            if isinstance(module, nn.Linear | nn.Embedding):
                nn.init.normal_(module.weight, std=0.02)
            if isinstance(module, nn.Linear):
                nn.init.zeros_(module.bias)

    def embed(self, ids: Tensor, places: Tensor) -> Tensor:
        """ids (B, T) at positions ``places`` (T,), BOS being 0 -> rows (B, T, D)."""
        return cast(Tensor, self.norm(self.dropout(self.widen(self.words(ids) + self.positions[places]))))

    def forward(self, ids: Tensor, memory: Tensor) -> Tensor:
        """States (B, L, D) of a whole sentence, each of the words up to its own."""
        h = self.embed(ids, torch.arange(ids.shape[1], device=ids.device))
        for layer in self.layers:
            assert isinstance(layer, DecoderLayer)
            h, _, _ = layer(h, layer.cross.read(memory), None)
        return h


class Reasoning(nn.Module):
    """CBR: the picture before and the sentence make up a picture that must be found to be the one after.

        z = MHSA(conv_a([X1; t]));   X^ = conv_b(z);   S = TM(W_q X^, W_k X2) · scale

    1 x 1 convolutions over cells; t (B, D) stands at every cell. No residual, norm or dropout; the attention
    has no biases. Source: the paper's equations 9 to 11; ``models/CBR.py``.
    """

    def __init__(self, config: ScorerConfig, preset: Preset) -> None:
        super().__init__()
        width = config.width
        self.mix = nn.Linear(2 * width, width)
        self.attention = MultiHeadAttention(width, config.heads, 0.0, projected=True, bias=False)
        self.shape = nn.Linear(width, width)
        self.query, self.key = nn.Linear(width, width), nn.Linear(width, width)
        self.matching = Matching(config, preset)

    def forward(self, before: Tensor, after: Tensor, sentence: Tensor) -> QueryKey:
        """Cells X1, X2 (B, N, D) and t (B, D) -> queries of the promised picture, keys of the one after."""
        mentioned = sentence[:, None].expand(-1, before.shape[1], -1)
        z = self.mix(torch.cat([before, mentioned], dim=-1))
        read, _ = self.attention(self.attention.ask(z), *self.attention.read(z))
        return self.query(self.shape(read)), self.key(after)


class Memory(NamedTuple):
    """Keys and values of the difference in each decoder layer's cross attention: (B, layers, h, N, k)."""

    keys: Tensor
    values: Tensor


class SCORER(nn.Module):
    """The method; ``Method`` tells what each public function is for."""

    architecture = "scorer"
    attention_description = "last decoder layer, mean over heads, half for each picture"

    def __init__(self, config: ScorerConfig, vision: Vision, vocabulary: Vocabulary) -> None:
        super().__init__()
        self.config, self.vocabulary, self.max_length = config, vocabulary, config.max_length
        self.preset = preset = replace(PRESETS[config.preset], **dict.fromkeys(config.repaired, True))
        self.vision = vision
        rows, columns, width = self.vision.rows, self.vision.columns, config.width
        if self.vision.patches != rows * columns:
            raise ShapeError(
                f"SCORER lays both pictures cell upon cell: got {self.vision.patches} cells, wanted all "
                f"{rows * columns} of the grid. Set vision.keep = 0."
            )
        subtract = config.difference == "subtract"
        self.project = nn.Linear(self.vision.width + 2 * preset.coordinates, width)
        self.column_places = nn.Embedding(columns, width // 2)
        self.row_places = nn.Embedding(rows, width // 2)
        layers = 0 if subtract else config.layers
        self.layers = nn.ModuleList(Reconstruction(config, preset) for _ in range(layers))
        self.fuse = nn.Linear(width if subtract else 2 * width, width)
        self.dropout = nn.Dropout(config.dropout if preset.drop_fused else 0.0)
        self.decoder = Decoder(config, preset, len(vocabulary))
        self.reasoning = Reasoning(config, preset) if config.reason_weight else None
        if self.reasoning is not None:
            self.reasoning.requires_grad_(preset.train_reasoning)
        marks = torch.isin(torch.arange(len(vocabulary)), torch.tensor([PAD, BOS, UNK, CLS, MASK]))
        self.unsaid: Tensor
        self.register_buffer("unsaid", marks, persistent=False)

    @property
    def tasks(self) -> dict[str, Callable[[Batch], dict[str, Tensor]]]:
        """What a stage may mix."""
        return {"caption": self._caption, **self.vision.tasks}

    def batch_size(self, task: str, batch: int) -> int:
        """What the stage asks for; where an example is a scene, both its pairs come on top."""
        return batch

    def collate(self, examples: Sequence[Example]) -> Batch:
        """Examples to tensors; a caption has at most ``max_length`` ids, BOS and EOS included."""
        sentences = [self.vocabulary.sentence(e.caption, self.max_length - 2) for e in examples]
        ids = torch.tensor(padded(sentences, self.max_length))
        if not self.padding_sensitive_tasks:
            ids = ids[:, : int((ids != PAD).sum(1).max())]
        # without whole scenes no pair says its kind, and all share one loss
        scenes = any(e.partner is not None for e in examples)
        changed = torch.tensor([int(e.record.changed is True) for e in examples]) if scenes else None
        truth = self.vision.collate_truth([e.truth for e in examples])
        return Batch(*stack_pictures(examples), ids, None, changed, truth=truth)

    @property
    def padding_sensitive_tasks(self) -> frozenset[str]:
        """Captioning with a sentence vector that divides by all positions, as the authors' code does."""
        counted = self.reasoning is not None and not self.preset.mean_sentence
        return frozenset({"caption"} if counted else ())

    def loss(self, task: str, batch: Batch) -> dict[str, Tensor]:
        """The named terms of one task, as they enter the sum. Raises RecipeError for an unknown one."""
        if task not in self.tasks:
            raise RecipeError(f"SCORER has no task {task!r}. Choose among: {', '.join(self.tasks)}.")
        return self.tasks[task](batch)

    def _caption(self, batch: Batch) -> dict[str, Tensor]:
        """L = caption + λ_v view + λ_m reason, each the mean over the kinds of pairs that are kept apart.

        caption: mean cross entropy of the words and the end; view: ``two_sided`` of both directions' scores;
        reason: ``two_sided`` of CBR's scores and their transpose.
        """
        before, after = self.tokens(batch.before, batch.after)
        memory, found = self.difference(before, after)
        states = self.decoder(batch.ids, memory)
        logits = self.decoder.output(states[:, :-1])
        promised: QueryKey | None = None
        if self.reasoning is not None:
            mentioned = sentence_vector(states, batch.ids != PAD, self.preset.mean_sentence)
            promised = self.reasoning(before, after, mentioned)
        terms: dict[str, list[Tensor]] = {"caption": [], "view": [], "reason": []}
        for kind in self._kinds(batch):
            words = logits[kind].transpose(1, 2)
            terms["caption"].append(F.cross_entropy(words, batch.ids[kind, 1:], ignore_index=PAD))
            if found is not None and self.config.view_weight:
                layer = self._matching_layer()
                forth, back = (layer.matching(*(part[kind] for part in side)) for side in found)
                terms["view"].append(self.config.view_weight * two_sided(forth, back))
            if self.reasoning is not None and promised is not None:
                scores = self.reasoning.matching(*(part[kind] for part in promised))
                terms["reason"].append(self.config.reason_weight * two_sided(scores, scores.T))
        return {name: torch.stack(parts).mean() for name, parts in terms.items() if parts}

    def _kinds(self, batch: Batch) -> Iterator[Tensor]:
        """The numbers of the pairs that share one loss: all, or of scenes the changed, then the others."""
        if self.preset.split_kinds and batch.changed is not None:
            for changed in (1, 0):
                rows = (batch.changed == changed).nonzero()[:, 0]
                if len(rows):
                    yield rows
        else:
            yield torch.arange(len(batch.ids), device=batch.ids.device)

    def _matching_layer(self) -> Reconstruction:
        return cast(Reconstruction, self.layers[-1 if self.preset.match_last else 0])

    def tokens(self, before: Tensor, after: Tensor) -> tuple[Tensor, Tensor]:
        """X1, X2 (B, N, D), cell by cell in rows:  X = W [f; x; y] + b + [column_j; row_i].

        x = 2j/columns − 1 and y = 2i/rows − 1 where the preset has coordinates, so the last is not quite 1.
        """
        pair = self.vision.add_match_features(self.vision.tokens(before, after))
        number = torch.arange(self.vision.rows * self.vision.columns, device=before.device)
        row, column = number // self.vision.columns, number % self.vision.columns
        places = torch.cat([self.column_places(column), self.row_places(row)], dim=-1)
        lies = torch.stack([2 * column / self.vision.columns - 1, 2 * row / self.vision.rows - 1], dim=-1)
        found = []
        for features, cells in ((tokens.features, tokens.cells) for tokens in pair):
            # an object vision hands its cells over by salience: back to where they lie
            cell = torch.zeros_like(features).scatter(1, cells[..., None].expand_as(features), features)
            if self.preset.coordinates:
                cell = torch.cat([cell, lies.to(cell.dtype).expand(cell.shape[0], -1, -1)], dim=-1)
            found.append(self.project(cell) + places)
        return found[0], found[1]

    def difference(self, before: Tensor, after: Tensor) -> tuple[Tensor, tuple[QueryKey, QueryKey] | None]:
        """X1, X2 -> D (B, N, D), and what the matching layer asks with in both directions.

        Both directions share all weights, and each layer reads what the layer before made of both pictures;
        so exchanging the pictures exchanges a and b. Source: the paper's equations 5 to 7.
        """
        a, b, found = before, after, None
        for layer in self.layers:
            (a, forth), (b, back) = layer(a, b), layer(b, a)
            if layer is self._matching_layer():
                found = (forth, back)
        both = torch.cat([a, b], dim=-1) if len(self.layers) else after - before
        return self.dropout(self.fuse(both)).relu(), found

    def caption_logits(self, before: Tensor, after: Tensor, ids: Tensor) -> Tensor:
        """Logits (B, L, V) of the word at each position, uncached; zeros at position 0, where BOS stands."""
        memory, _ = self.difference(*self.tokens(before, after))
        logits = self._speak(self.decoder(ids[:, :-1], memory))
        return torch.cat([torch.zeros_like(logits[:, :1]), logits], dim=1)

    def _speak(self, states: Tensor) -> Tensor:
        """Logits of what may be said: the words and EOS."""
        logits: Tensor = self.decoder.output(states)
        return logits.masked_fill(self.unsaid, BLIND)

    def encode(self, before: Tensor, after: Tensor) -> Memory:
        """The memory of each pair."""
        memory, _ = self.difference(*self.tokens(before, after))
        pairs = [cast(DecoderLayer, layer).cross.read(memory) for layer in self.decoder.layers]
        keys, values = zip(*pairs, strict=True)
        return Memory(torch.stack(keys, dim=1), torch.stack(values, dim=1))

    def no_change(self, memory: Memory) -> None:
        """SCORER has no head for it: its sentences are judged."""
        return

    def first_cache(self, memory: Memory) -> Cache:
        """Keys and values of no words yet: (B, layers, h, 0, k)."""
        return {"keys": memory.keys[:, :, :, :0], "values": memory.values[:, :, :, :0]}

    def step(
        self, memory: Memory, previous: Tensor, position: int | Tensor, cache: Cache
    ) -> tuple[Tensor, Tensor, Cache]:
        """The word at ``position`` (1 first), ``previous`` (B,) standing just before it.

        Returns log-probabilities (B, V), attention (B, 2, rows, columns; see ``attention_description``) and
        the grown cache.
        """
        place = torch.as_tensor(position, device=previous.device).reshape(1) - 1
        h, grown, looked = self.decoder.embed(previous[:, None], place), [], None
        for number, layer in enumerate(self.decoder.layers):
            past = cache["keys"][:, number], cache["values"][:, number]
            h, new, looked = layer(h, (memory.keys[:, number], memory.values[:, number]), past)
            grown.append(new)
        keys, values = (torch.stack(parts, dim=1) for parts in zip(*grown, strict=True))
        new_cache = {
            "keys": torch.cat([cache["keys"], keys], dim=3),
            "values": torch.cat([cache["values"], values], dim=3),
        }
        attention = cast(Tensor, looked)[:, :, 0].mean(1).view(-1, 1, self.vision.rows, self.vision.columns)
        return self._speak(h[:, 0]).log_softmax(-1), attention.expand(-1, 2, -1, -1) / 2, new_cache

    def parameter_groups(self) -> list[dict[str, Any]]:
        """Every parameter once: "vision" (what makes the cells), "frozen" (never learns) or "method"."""
        groups: dict[str, list[nn.Parameter]] = {"method": [], "vision": [], "frozen": []}
        vision = {f"vision.{name}" for name in self.vision.token_parameters()}
        for name, parameter in self.named_parameters():
            own = "frozen" if name in self._frozen() else "method"
            groups["vision" if name in vision else own].append(parameter)
        return [{"name": name, "params": params} for name, params in groups.items() if params]

    def _frozen(self) -> frozenset[str]:
        """Names of CBR's parameters, in the preset whose optimiser does not know them."""
        names = (name for name, _ in self.named_parameters() if name.startswith("reasoning."))
        return frozenset(() if self.preset.train_reasoning else names)

    def parameters_without_gradient(self, tasks: Collection[str]) -> frozenset[str]:
        """Names of the parameters that none of ``tasks`` gives a gradient, on purpose.

        Captioning leaves alone what is frozen, the scale of every layer whose scores no loss reads, and what
        subtraction takes away: all that both pictures' cells have in common.
        """
        own = {name for name, _ in self.named_parameters() if not name.startswith("vision.")}
        if "caption" in tasks:
            used = self._matching_layer() if self.config.view_weight else None
            unread = (i for i, layer in enumerate(self.layers) if layer is not used)
            idle = self._frozen() | {f"layers.{i}.matching.log_scale" for i in unread}
            if not self.layers and self.reasoning is None:
                idle |= {"project.bias", "column_places.weight", "row_places.weight"}
            own &= idle
        return frozenset(own) | {f"vision.{name}" for name in self.vision.parameters_without_gradient(tasks)}

    def word_tables(self) -> Mapping[str, Sequence[int]]:
        """The word vectors and the layer that says words, row by row as in the vocabulary."""
        rows = range(len(self.vocabulary))
        return {"decoder.words.weight": rows, "decoder.output.weight": rows, "decoder.output.bias": rows}

    def load_pretrained(self, state: Mapping[str, Tensor]) -> tuple[str, ...]:
        """Take over every tensor that bears the name of one of ours; names what keeps its own start."""
        return copy_matching_tensors(self, state)
