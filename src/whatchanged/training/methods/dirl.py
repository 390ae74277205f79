"""DIRL + CCR: distractors-immune representation learning with cross-modal contrastive regularization.

Tu, Li, Su, Yan and Huang, ECCV 2024. Cross attention finds the features that both pictures share. These are
subtracted from each picture, and the remaining features show what changed. There are two auxiliary losses.
DIRL: each channel of one picture's tokens must correlate with the same channel of the other picture's tokens,
and with no other channel, for any viewpoint and light. CCR: a contrastive loss matches each sentence with the
features that its own words attended to, and not with those of the other pairs of the batch:
    t1, t2 -> (u1, u2) = (layer(t1, t2), layer(t2, t1)), again per layer -> d1 = t1 − u1, d2 = t2 − u2
    M = ReLU(FC([d1; d2])) -> words;   L = caption + λ_d L_dirl + λ_c L_ccr

Official code: tuyunbin/DIRL (CLEVR-DC and CLEVR-Change). It has no licence, so none of it is copied. Axis
letters: B pairs, N cells, R = B N rows, D width, E word width, h heads, k = D / h, L text positions,
V vocabulary.

We could read the paper's text only up to its introduction. The preset ``paper`` is written from memory,
except for the form of the correlation, which a public review prints. ``DirlPreset`` has one field for each
point where paper, ``authors_dc`` (train.py) and ``authors_change`` (train_clevr_change.py) differ.

Departures:
- CCR averages over the words. The code also averages over the padding (``pooling`` = "all", which pads every
  caption to ``max_length``), so its loss depends on the amount of padding.
- ``epsilon`` is added to variances. The code divides by zero where a channel is constant.
- The recipe sets learning rates, steps and the exchange of unchanged views. Validation is greedy (the code
  samples) and keeps one checkpoint (the code keeps the best of each metric).
- If both pairs of a scene are in the batch, changed and unchanged pairs have separate mean losses that count
  half each, in all presets, as in the code for CLEVR-Change. Otherwise all pairs share one loss.
- Our vocabulary has two more marks. The decoder writes no mark but the end (the code bans only unknown).
- Several processes correlate the rows of the whole batch (the code would correlate each process's own rows).
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from whatchanged.recipes.methods.dirl import DirlConfig
from whatchanged.training.methods import (
    BOS,
    CLS,
    MASK,
    PAD,
    UNK,
    Batch,
    Cache,
    Example,
    TokenPair,
    Tokens,
    Vision,
    Vocabulary,
    batch_of_scenes,
    coordinates,
    copy_matching_tensors,
    corresponding,
    gather_batch,
    in_parts,
    kinds_of_pairs,
    method_and_vision,
    on_both_grids,
    padded,
    share_of_mean,
    task_of,
)
from whatchanged.training.methods.scorer_encoder import MultiHeadAttention, info_nce, two_sided
from whatchanged.training.methods.scorer_reasoning import sentence_vector
from whatchanged.training.nn.layers import Dropout, layers_of
from whatchanged.training.nn.transformer import BLIND, KeysValues, by_layer, sinusoid


@dataclass(frozen=True)
class DirlPreset:
    """One reading of the method."""

    coordinates: bool  # two channels of coordinates join the features
    xavier_decoder: bool  # the decoder's matrices are drawn Xavier-uniform; otherwise as torch draws them
    norm_words: bool  # layer normalisation behind the projection of words
    norm_memory: bool  # layer normalisation behind the projection of the memory
    plain_correlation: bool  # deviations divide by R; otherwise by R − 1, and C by R
    average_after: bool  # CCR averages both directions after the softmax; otherwise before


_DC = DirlPreset(
    coordinates=False,
    xavier_decoder=True,
    norm_words=True,
    norm_memory=True,
    plain_correlation=False,
    average_after=False,
)
PRESETS = {
    "paper": replace(_DC, norm_memory=False, plain_correlation=True, average_after=True),
    "authors_dc": _DC,
    "authors_change": replace(
        _DC, coordinates=True, xavier_decoder=False, norm_words=False, norm_memory=False
    ),
}


class DirlMemory(NamedTuple):
    """Keys and values of M in each decoder layer (B, layers, h, N, k); the tokens' cells (B, 2, N)."""

    keys: Tensor
    values: Tensor
    cells: Tensor


class WordsSeen(NamedTuple):
    """The outputs of a decoder layer for word rows (B, T, D).

    rows: the layer's output. text, visual: the rows before and after the attention to the memory, (B, T, D)
    each. own: the keys and values of the word rows, (B, h, T, k) each. attention: to the cells, (B, h, T, N).
    """

    rows: Tensor
    text: Tensor
    visual: Tensor
    own: KeysValues
    attention: Tensor


def cross_correlation(first: Tensor, second: Tensor, plain: bool, epsilon: float) -> Tensor:
    """C = Z1ᵀ Z2 / R,   Z = (Y − mean) / sqrt(var + eps), mean and variance of each channel over the rows.

    Y1, Y2: (R, D), row r of both is one cell -> C (D, D), from -1 to 1. The variance divides by R
    (``plain``: then C is the correlation, 1 for equal channels), or by R − 1 as in ``models/DIRL.py``, which
    makes C smaller by (R − 1) / R. Source of the plain form: a public review's rendering of the paper.
    """
    correction = 0 if plain else 1
    first, second = (
        (y - y.mean(0)) / (y.var(0, correction=correction) + epsilon).sqrt() for y in (first, second)
    )
    return first.T @ second / len(first)


def decorrelation(correlation: Tensor, off_diagonal: float) -> Tensor:
    """L_dirl = Σ_i (C_ii − 1)² + w Σ_{i≠j} C_ij².

    C: (D, D) -> a scalar, summed over channels. Exchanging the pictures transposes C and keeps the loss.
    Source: ``models/DIRL.py``; the paper's w was not verified.
    """
    diagonal = correlation.diagonal()
    others = correlation.square().sum() - diagonal.square().sum()
    return (diagonal - 1).square().sum() + off_diagonal * others


def alignment(texts: Tensor, visuals: Tensor, temperature: float, average_after: bool) -> Tensor:
    """Return L_ccr: the contrastive loss of sentences and the features to which their words attended.

        S = T Vᵀ / tau;   −(1/B) Σ_i log softmax_row((S + Sᵀ) / 2)_ii

    With ``average_after``, the two directions' losses are averaged instead of their scores (as we recall the
    paper). T, V: (B, D), not normalised -> a scalar; 0 for a single pair, ln B where all are alike.
    Source: ``models/CCR.py``.
    """
    scores = texts @ visuals.T / temperature
    return two_sided(scores, scores.T) if average_after else info_nce((scores + scores.T) / 2)


def draw_attention(attention: MultiHeadAttention) -> None:
    """Initialise as torch's attention: queries, keys and values Xavier-uniform as one matrix, biases 0."""
    layers = (attention.query, attention.key, attention.value)
    joint = nn.init.xavier_uniform_(torch.cat([layer.weight.detach() for layer in layers]))
    with torch.no_grad():
        for layer, weight in zip(layers, joint.chunk(3), strict=True):
            layer.weight.copy_(weight)
            layer.bias.zero_()
        if attention.out is not None:
            attention.out.bias.zero_()


def draw_xavier(*modules: nn.Module) -> None:
    """Draw every matrix and table Xavier-uniform; biases and normalisations stay unchanged."""
    for parameter in (parameter for module in modules for parameter in module.parameters()):
        if parameter.ndim > 1:
            nn.init.xavier_uniform_(parameter)


class SharedFeatures(nn.Module):
    """The features that a picture shares with the other picture: u = LN(x + Drop(MHA(x, y, y))), without a
    feed-forward part.

    Source: ``models/DIRL.py``.
    """

    def __init__(self, config: DirlConfig) -> None:
        super().__init__()
        self.attention = MultiHeadAttention(config.width, config.heads, config.dropout, projected=True)
        self.norm = nn.LayerNorm(config.width)
        self.dropout = Dropout(config.dropout)

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        """x gives the queries, y the keys and values, (B, N, D) each -> (B, N, D)."""
        queries, keys_values = self.attention.project_queries(x), self.attention.project_keys_values(y)
        read, _ = self.attention(queries, *keys_values)
        shared: Tensor = self.norm(x + self.dropout(read))
        return shared


class WordLayer(nn.Module):
    """t = LN(h + Drop(SelfAttention(h)));  v = LN(t + Drop(CrossAttention(t, M)));  LN(v + Drop(FFN(v))).

    FFN: W2 Drop(ReLU(W1 v)). The plain post-norm decoder layer. Source: ``models/CCR.py``.
    """

    def __init__(self, config: DirlConfig) -> None:
        super().__init__()
        width, sizes = config.width, (config.width, config.heads, config.dropout)
        self.own = MultiHeadAttention(*sizes, projected=True)
        self.cross = MultiHeadAttention(*sizes, projected=True)
        self.own_norm, self.cross_norm, self.ffn_norm = (nn.LayerNorm(width) for _ in range(3))
        self.ffn_in = nn.Linear(width, config.ffn)
        self.ffn_out = nn.Linear(config.ffn, width)
        self.dropout = Dropout(config.dropout)

    def forward(
        self, h: Tensor, memory: KeysValues, past: KeysValues | None, allowed: Tensor | None
    ) -> WordsSeen:
        """Rows (B, T, D) that attend to each other where ``allowed`` (B, 1, T, T), or one row after ``past``.

        memory: keys and values of M.
        """
        new = self.own.project_keys_values(h)
        known = new if past is None else tuple(torch.cat(both, dim=2) for both in zip(past, new, strict=True))
        read, _ = self.own(self.own.project_queries(h), *known, allowed)
        text = self.own_norm(h + self.dropout(read))
        read, attention = self.cross(self.cross.project_queries(text), *memory)
        visual = self.cross_norm(text + self.dropout(read))
        inner = self.dropout(self.ffn_in(visual).relu())  # (B, T, D) -> (B, T, ffn)
        rows = self.ffn_norm(visual + self.dropout(self.ffn_out(inner)))
        return WordsSeen(rows, text, visual, new, attention)


class WordDecoder(nn.Module):
    """Words to words:  h = Drop(LN(W (E[id] + pe) + b)), the layers, then logits = W_o h + b, not tied.

    Without the LN in ``authors_change``. Source: ``models/CCR.py``, ``models/CCR_no_init.py``.
    """

    def __init__(self, config: DirlConfig, preset: DirlPreset, entries: int) -> None:
        super().__init__()
        self.words = nn.Embedding(entries, config.word_width, padding_idx=PAD)
        self.widen = nn.Linear(config.word_width, config.width)
        self.norm = nn.LayerNorm(config.width) if preset.norm_words else nn.Identity()
        self.dropout = Dropout(config.dropout)
        self.layers = nn.ModuleList(WordLayer(config) for _ in range(config.decoder_layers))
        self.output = nn.Linear(config.width, entries)
        self.positions: Tensor
        waves = sinusoid(max(100, config.max_length), config.word_width, doubled_exponent=False)
        self.register_buffer("positions", waves, persistent=False)
        if preset.xavier_decoder:
            draw_xavier(self)
        for layer in layers_of(self.layers, WordLayer):
            draw_attention(layer.own)
            draw_attention(layer.cross)

    def embed(self, ids: Tensor, positions: Tensor) -> Tensor:
        """ids (B, T) at ``positions`` (T,), where BOS has position 0 -> rows (B, T, D)."""
        words = self.words(ids) + self.positions[positions]  # (B, T, E)
        rows: Tensor = self.dropout(self.norm(self.widen(words)))  # (B, T, D)
        return rows

    def forward(self, ids: Tensor, memory: Tensor) -> WordsSeen:
        """Return the last layer's output for sentences (B, L). Words attend to earlier words and themselves.

        memory: M (B, N, D). Padding attends to words as well, which affects only means over all positions.
        """
        backward = torch.ones(ids.shape[1], ids.shape[1], dtype=torch.bool, device=ids.device).tril()
        allowed = backward & (ids != PAD)[:, None, None]  # (B, 1, L, L)
        h = self.embed(ids, torch.arange(ids.shape[1], device=ids.device))
        outputs = []
        for layer in layers_of(self.layers, WordLayer):
            outputs.append(layer(h, layer.cross.project_keys_values(memory), None, allowed))
            h = outputs[-1].rows
        last: WordsSeen = outputs[-1]
        return last

    def keys_values(self, memory: Tensor) -> KeysValues:
        """Return keys and values of M (B, N, D) for all cross attentions: (B, layers, h, N, k) each."""
        read = [layer.cross.project_keys_values(memory) for layer in layers_of(self.layers, WordLayer)]
        keys, values = zip(*read, strict=True)
        return by_layer(keys), by_layer(values)

    def one_word(self, ids: Tensor, position: Tensor, memory: KeysValues, past: KeysValues) -> WordsSeen:
        """Return the output for one more word, ids (B,) at ``position`` (1,), after the words of ``past``.

        memory, past: (B, layers, h, rows, k) each. The result's ``own`` has this shape, too, and holds all
        layers.
        """
        h = self.embed(ids[:, None], position)
        outputs = []
        for number, layer in enumerate(layers_of(self.layers, WordLayer)):
            read, before = ((keys[:, number], values[:, number]) for keys, values in (memory, past))
            outputs.append(layer(h, read, before, None))
            h = outputs[-1].rows
        keys, values = (torch.stack(parts, dim=1) for parts in zip(*(o.own for o in outputs), strict=True))
        last: WordsSeen = outputs[-1]._replace(own=(keys, values))
        return last


class DIRL(nn.Module):
    """The method DIRL + CCR. ``Method`` describes its public functions."""

    architecture = "dirl"
    attention_description = "last decoder layer, mean over heads, half for each picture"
    growing_axes: Mapping[str, Sequence[int]] = {"keys": (3,), "values": (3,)}

    def __init__(self, config: DirlConfig, vision: Vision, vocabulary: Vocabulary) -> None:
        super().__init__()
        self.config = config
        self.vision = vision
        self.vocabulary = vocabulary
        self.max_length = config.max_length
        self.preset = preset = PRESETS[config.preset]
        width, inner = config.width, config.projector_width
        self.project = nn.Linear(vision.width + 2 * preset.coordinates, width)
        self.column_places = nn.Embedding(vision.columns, width // 2)
        self.row_places = nn.Embedding(vision.rows, width // 2)
        self.layers = nn.ModuleList(SharedFeatures(config) for _ in range(config.layers))
        drop = Dropout(config.dropout)
        parts = (nn.Linear(width, inner), nn.ReLU(), drop, nn.Linear(inner, width))
        self.projector = nn.Sequential(*parts) if config.decorrelation_weight else None
        self.fuse = nn.Linear(2 * width, width)
        self.fuse_norm = nn.LayerNorm(width) if preset.norm_memory else nn.Identity()
        self.dropout = Dropout(config.dropout)
        self.decoder = WordDecoder(config, preset, len(vocabulary))
        encoder = (self.project, self.column_places, self.row_places, self.layers, self.projector)
        draw_xavier(*(part for part in encoder if part is not None))
        for layer in layers_of(self.layers, SharedFeatures):
            draw_attention(layer.attention)
        if preset.xavier_decoder:
            draw_xavier(self.fuse)
        marks = torch.isin(torch.arange(len(vocabulary)), torch.tensor([PAD, BOS, UNK, CLS, MASK]))
        self.unsaid: Tensor
        self.register_buffer("unsaid", marks, persistent=False)

    @property
    def tasks(self) -> dict[str, Callable[[Batch], dict[str, Tensor]]]:
        """Return the tasks that a stage may mix."""
        return {"caption": self._caption, **self.vision.tasks}

    @property
    def padding_sensitive_tasks(self) -> frozenset[str]:
        """Captioning, if CCR also averages over the padding, as the authors' code does."""
        counted = self.config.contrast_weight > 0 and self.config.pooling == "all"
        return frozenset({"caption"} if counted else ())

    def batch_size(self, task: str, batch: int) -> int:
        """Return the stage's batch size in examples. An example that is a scene gives two pairs."""
        return batch

    def collate(self, examples: Sequence[Example]) -> Batch:
        """Make a batch of tensors from examples.

        A caption has at most ``max_length`` ids, BOS and EOS included. Captions are padded to the longest
        caption of the batch. Where a loss counts the padding, captions are padded to ``max_length``.
        """
        rows = [self.vocabulary.sentence(example.caption, self.max_length - 2) for example in examples]
        ids = torch.tensor(padded(rows, self.max_length if self.padding_sensitive_tasks else None))
        return batch_of_scenes(examples, ids, self.vision)

    def loss(self, task: str, batch: Batch) -> dict[str, Tensor]:
        """Return the named, weighted loss terms of one task. Raises RecipeError for an unknown task."""
        return task_of("DIRL", self.tasks, task)(batch)

    def _caption(self, batch: Batch) -> dict[str, Tensor]:
        """L = caption + λ_d L_dirl + λ_c L_ccr, each the mean over the kinds of pairs (``kinds_of_pairs``).

        caption: the mean cross entropy of the words and the end; L_dirl: ``decorrelation`` of the projector's
        output for all rows of both pictures; L_ccr: ``alignment`` of each sentence's means.
        """
        config, preset = self.config, self.preset
        pair = self.pair(batch.before, batch.after)
        logits, projected, texts, visuals = in_parts(self._read, batch.accumulate, pair, batch.ids)
        terms: dict[str, list[Tensor]] = {"caption": [], "dirl": [], "ccr": []}
        for kind in kinds_of_pairs(batch):
            words, targets = logits[kind].transpose(1, 2), batch.ids[kind, 1:]
            caption = F.cross_entropy(words, targets, ignore_index=PAD)
            terms["caption"].append(share_of_mean(caption, (targets != PAD).sum()))
            if projected is not None:
                first, second = (gather_batch(rows[kind]).flatten(0, 1) for rows in projected)  # (R, D)
                correlation = cross_correlation(first, second, preset.plain_correlation, config.epsilon)
                loss = config.decorrelation_weight * decorrelation(correlation, config.off_diagonal)
                terms["dirl"].append(share_of_mean(loss, len(kind)))
            if config.contrast_weight:
                means = gather_batch(texts[kind]), gather_batch(visuals[kind])
                loss = config.contrast_weight * alignment(*means, config.temperature, preset.average_after)
                terms["ccr"].append(share_of_mean(loss, len(kind)))
        return {name: torch.stack(parts).mean() for name, parts in terms.items() if parts}

    def _read(
        self, pair: TokenPair, ids: Tensor
    ) -> tuple[Tensor, tuple[Tensor, Tensor] | None, Tensor, Tensor]:
        """Return logits (B, L - 1, V), two tensors to correlate (B, N, D), and CCR's means T, V (B, D)."""
        before, after = self.tokens(pair)
        seen = self.decoder(ids, self.memory(before, after))
        counted = ids != PAD if self.config.pooling == "words" else torch.ones_like(ids, dtype=torch.bool)
        means = [sentence_vector(states, counted) for states in (seen.text, seen.visual)]
        correlated = None if self.projector is None else (self.projector(before), self.projector(after))
        return self.decoder.output(seen.rows[:, :-1]), correlated, means[0], means[1]

    def pair(self, before: Tensor, after: Tensor) -> TokenPair:
        """Return the vision's tokens of both pictures, cell by cell."""
        pair = self.vision.add_match_features(self.vision.tokens(before, after))
        return corresponding(pair, self.vision)

    def tokens(self, pair: TokenPair) -> tuple[Tensor, Tensor]:
        """t1, t2 (B, N, D):  t = W [f; x; y] + b + [column_j; row_i], x and y where the preset has them."""
        before, after = (self._with_positions(own) for own in pair)
        return before, after

    def _with_positions(self, own: Tokens) -> Tensor:
        rows, columns, features = self.vision.rows, self.vision.columns, own.features
        if self.preset.coordinates:
            lies = coordinates(own.cells, rows, columns, features.dtype)
            features = torch.cat([features, lies], dim=-1)  # (B, N, F + 2)
        places = [self.column_places(own.cells % columns), self.row_places(own.cells // columns)]
        tokens: Tensor = self.project(features) + torch.cat(places, dim=-1)
        return tokens

    def differences(self, before: Tensor, after: Tensor) -> tuple[Tensor, Tensor]:
        """t1, t2 -> d1 = t1 − u1, d2 = t2 − u2 (B, N, D).

        Both directions share all weights, so exchanging the pictures exchanges d1 and d2. t includes
        positions and u is normalised, so two equal pictures have equal differences that are not zero.
        """
        u1, u2 = before, after
        for layer in layers_of(self.layers, SharedFeatures):
            u1, u2 = layer(u1, u2), layer(u2, u1)
        return before - u1, after - u2

    def memory(self, before: Tensor, after: Tensor) -> Tensor:
        """M = ReLU(Drop(LN(W_f [d1; d2] + b))) (B, N, D); the LN only in ``authors_dc``."""
        fused = self.fuse_norm(self.fuse(torch.cat(self.differences(before, after), dim=-1)))
        remembered: Tensor = self.dropout(fused).relu()
        return remembered

    def caption_logits(self, before: Tensor, after: Tensor, ids: Tensor) -> Tensor:
        """Return logits (B, L, V) of the word at each position, uncached; zeros at position 0, of BOS."""
        memory = self.memory(*self.tokens(self.pair(before, after)))
        logits = self._speak(self.decoder(ids[:, :-1], memory).rows)
        return torch.cat([torch.zeros_like(logits[:, :1]), logits], dim=1)

    def _speak(self, states: Tensor) -> Tensor:
        """Return the logits of the vocabulary entries that may be written: the words and EOS."""
        logits: Tensor = self.decoder.output(states)
        return logits.masked_fill(self.unsaid, BLIND)

    def encode(self, before: Tensor, after: Tensor) -> DirlMemory:
        """Return the memory of each pair."""
        pair = self.pair(before, after)
        keys, values = self.decoder.keys_values(self.memory(*self.tokens(pair)))
        return DirlMemory(keys, values, pair.cells)

    def no_change(self, memory: DirlMemory) -> None:
        """Return None: DIRL has no no-change head, so the no-change sentences decide."""
        return

    def first_cache(self, memory: DirlMemory) -> Cache:
        """Return empty keys and values: (B, layers, h, 0, k)."""
        return {"keys": memory.keys[:, :, :, :0], "values": memory.values[:, :, :, :0]}

    def step(
        self, memory: DirlMemory, previous: Tensor, position: int | Tensor, cache: Cache
    ) -> tuple[Tensor, Tensor, Cache]:
        """Predict the word at ``position`` (from 1), right after ``previous`` (B,).

        Returns log-probabilities (B, V), attention (B, 2, rows, columns; see ``attention_description``) and
        the grown cache.
        """
        place = torch.as_tensor(position, device=previous.device).reshape(1) - 1
        past = cache["keys"], cache["values"]
        word = self.decoder.one_word(previous, place, (memory.keys, memory.values), past)
        grown = [torch.cat(both, dim=3) for both in zip(past, word.own, strict=True)]
        halves = word.attention[:, :, 0].mean(1)[:, None].expand(-1, 2, -1) / 2  # (B, 2, N)
        attention = on_both_grids(halves, memory.cells, self.vision)
        scores = self._speak(word.rows[:, 0]).log_softmax(-1)
        return scores, attention, {"keys": grown[0], "values": grown[1]}

    def parameter_groups(self) -> list[dict[str, Any]]:
        """Return every parameter once, in two groups: "vision" (computes the cells) and "method"."""
        return method_and_vision(self)

    def parameters_without_gradient(self, tasks: Collection[str]) -> frozenset[str]:
        """Return names of parameters without a gradient from ``tasks``. Captioning trains all parameters."""
        own = {name for name, _ in self.named_parameters() if not name.startswith("vision.")}
        vision = {f"vision.{name}" for name in self.vision.parameters_without_gradient(tasks)}
        return frozenset(vision if "caption" in tasks else vision | own)

    def word_tables(self) -> Mapping[str, Sequence[int]]:
        """Return the word vectors and the output layer, with rows in the order of the vocabulary."""
        rows = range(len(self.vocabulary))
        return {"decoder.words.weight": rows, "decoder.output.weight": rows, "decoder.output.bias": rows}

    def load_pretrained(self, state: Mapping[str, Tensor]) -> tuple[str, ...]:
        """Copy every tensor whose name this method also has. Returns the names of the tensors that are left
        out.
        """
        return copy_matching_tensors(self, state)
