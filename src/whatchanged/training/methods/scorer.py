"""SCORER + CBR: self-supervised cross-view representation reconstruction (Tu et al., ICCV 2023).

Cross attention reconstructs each picture from the other. The reconstruction keeps what both show, and loses
what changed. There are two auxiliary losses. SCORER: two views of one scene match better, token by token,
than views of different scenes. CBR: the picture before, combined with the caption, matches the picture after.
One stage trains everything:
    X1, X2 -> (a, b) = (layer(a, b), layer(b, a)), again per layer -> D = ReLU(FC([a; b])) -> words
    L = caption + λ_v view + λ_m reason

Official code: tuyunbin/SCORER, for CLEVR-Change only. Axis letters: B pairs, N cells, D width, E word width,
h heads, k = D / h, L text positions, V vocabulary.

Departures. ``ScorerPreset`` has one field for each point where paper and code differ; ``method.preset``
chooses. Where the paper is silent, both follow the code: dropout, positions, CBR's images, the initialisation
of CBR's attention (Xavier over queries, keys and values as one matrix), and the directions (the view loss
scores both; CBR scores one and transposes it). Our reading of ``paper``: matching is summed over heads, and
its scores come from the first layer, whose inputs are the pictures before any reconstruction. ``repaired``
repairs mistakes of the code: CBR never learns (the optimiser does not hold its parameters), and its sentence
vector divides by all positions. Beyond that:
- "All positions" are those of the data's longest caption, of any split, as in the code. If that length is not
  known beforehand (drawn captions, subwords), they are ``max_length``.
- The recipe sets learning rates, steps, layers and the exchange of unchanged views. Validation is greedy (the
  code samples) and keeps one checkpoint (the code keeps the best of each metric); a checkpoint includes CBR.
- Pads follow the words, and a word attends only to earlier positions, so padding needs no mask.
- Matching is computed only where a loss needs it. Its learned scale is limited when it is read.
- If both pairs of a scene are in the batch, ``authors`` averages the losses of changed and of unchanged pairs
  separately, and takes the mean of both. Otherwise (CLEVR-DC, a pool) all pairs share one loss.
- Our vocabulary has two more marks. The decoder writes no mark but the end (the code bans only unknown).
- Subtraction (first row of the ablations) is D = ReLU(FC(X2 − X1)), so positions cancel: our reading.
- Aligned tokens may be only some of a grid's cells. Then token n of one picture corresponds to token n of the
  other, and each token has the position of its own cell.
- With ``vision.guided_attention``, a further term trains the last decoder layer's attention to words.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from whatchanged.errors import RecipeError, ShapeError
from whatchanged.recipes.methods.scorer import ScorerConfig
from whatchanged.training.batches import Batch, Example, in_parts, kinds_of_pairs
from whatchanged.training.distributed import share_of_mean
from whatchanged.training.methods import Cache, batch_of_scenes, copy_matching_tensors, task_of
from whatchanged.training.methods.scorer_decoder import Decoder
from whatchanged.training.methods.scorer_encoder import (
    QueryKey,
    Rebuilt,
    Reconstruction,
    fuse_rebuilt,
    two_sided,
    view_distance,
)
from whatchanged.training.methods.scorer_presets import PRESETS
from whatchanged.training.methods.scorer_reasoning import Reasoning, sentence_vector
from whatchanged.training.nn.layers import Dropout, layers_of
from whatchanged.training.nn.transformer import BLIND
from whatchanged.training.vision.base import TokenPair, Vision, in_rows, on_both_grids
from whatchanged.vocabulary import BOS, CLS, MASK, PAD, UNK, Vocabulary, padded


class ScorerMemory(NamedTuple):
    """Keys and values of the difference in each decoder layer's cross attention: (B, layers, h, N, k).

    cells: (B, 2, N), each picture's tokens on the grid; None where token n is cell n.
    """

    keys: Tensor
    values: Tensor
    cells: Tensor | None = None


class Directions(NamedTuple):
    """The inputs of matching: queries of the picture before with keys of the picture after, and the
    reverse.
    """

    forth: QueryKey
    back: QueryKey


class CellPositions(NamedTuple):
    """Positions of cells: embeddings (..., N, D), and coordinates (..., N, 2) from -1 to below 1."""

    embedded: Tensor
    coordinates: Tensor


class SCORER(nn.Module):
    """The method SCORER + CBR. ``Method`` describes its public functions."""

    architecture = "scorer"
    attention_description = "last decoder layer, mean over heads, half for each picture"
    growing_axes: Mapping[str, Sequence[int]] = {"keys": (3,), "values": (3,)}

    def __init__(self, config: ScorerConfig, vision: Vision, vocabulary: Vocabulary) -> None:
        super().__init__()
        self.config = config
        self.vision = vision
        self.vocabulary = vocabulary
        self.max_length = config.max_length
        self.caption_positions = config.max_length
        self.preset = preset = replace(PRESETS[config.preset], **dict.fromkeys(config.repaired, True))
        width = config.width
        subtract = config.difference == "subtract"
        self.project = nn.Linear(vision.width + 2 * preset.coordinates, width)
        self.column_places = nn.Embedding(vision.columns, width // 2)
        self.row_places = nn.Embedding(vision.rows, width // 2)
        layers = 0 if subtract else config.layers
        self.layers = nn.ModuleList(Reconstruction(config, preset) for _ in range(layers))
        self.apart = config.fusion == "apart"
        if self.apart:
            self.attention_description = "last decoder layer, mean over heads, each picture apart, halved"
        joined = not subtract and config.fusion == "concatenate"
        self.fuse = nn.Linear(2 * width if joined else width, width)
        self.dropout = Dropout(config.dropout if preset.drop_fused else 0.0)
        self.decoder = Decoder(config, preset, len(vocabulary))
        self.reasoning = Reasoning(config, preset) if config.reason_weight else None
        if self.reasoning is not None:
            self.reasoning.requires_grad_(preset.train_reasoning)
        marks = torch.isin(torch.arange(len(vocabulary)), torch.tensor([PAD, BOS, UNK, CLS, MASK]))
        self.unsaid: Tensor
        self.register_buffer("unsaid", marks, persistent=False)

    @property
    def tasks(self) -> dict[str, Callable[[Batch], dict[str, Tensor]]]:
        """Return the tasks that a stage may mix."""
        return {"caption": self._caption, **self.vision.tasks}

    def batch_size(self, task: str, batch: int) -> int:
        """Return the number of examples for the batch size of the stage. An example that is a scene gives two
        pairs.
        """
        return batch

    def pad_captions(self, length: int) -> None:
        """From now on, use as many positions as the longest caption of the data has ids, at most
        ``max_length``.
        """
        self.caption_positions = min(length, self.max_length)

    def collate(self, examples: Sequence[Example]) -> Batch:
        """Make a batch of tensors from examples.

        A caption has at most ``max_length`` ids, BOS and EOS included. Captions are padded to the longest
        caption of the batch. Where the loss counts the padding, captions are padded to ``caption_positions``.
        """
        sentences = [self.vocabulary.sentence(e.caption, self.max_length - 2) for e in examples]
        length = max(map(len, sentences))
        if self.padding_sensitive_tasks:
            length = max(length, self.caption_positions)
        return batch_of_scenes(examples, torch.tensor(padded(sentences, length)), self.vision)

    @property
    def padding_sensitive_tasks(self) -> frozenset[str]:
        """Captioning, if its sentence vector divides by all positions, as in the authors' code."""
        counted = self.reasoning is not None and not self.preset.mean_sentence
        return frozenset({"caption"} if counted else ())

    def loss(self, task: str, batch: Batch) -> dict[str, Tensor]:
        """Return the named, weighted loss terms of one task. Raises RecipeError for an unknown task."""
        return task_of("SCORER", self.tasks, task)(batch)

    def _caption(self, batch: Batch) -> dict[str, Tensor]:
        """L = caption + λ_v view + λ_m reason, each the mean over the kinds of pairs that are kept apart.

        caption: mean cross entropy of the words and the end; view: ``two_sided`` of both directions' scores;
        reason: ``two_sided`` of CBR's scores and their transpose.
        """
        pair, ids = self.pair(batch.before, batch.after), without_padding(batch.ids)
        read = partial(self._read, positions=None if self.preset.mean_sentence else batch.ids.shape[1])
        logits, attention, matched, hallucinated = in_parts(read, batch.accumulate, pair, ids)
        terms: dict[str, list[Tensor]] = {"caption": [], "view": [], "reason": []}
        for kind in self._kinds(batch):
            words, targets = logits[kind].transpose(1, 2), ids[kind, 1:]
            caption = F.cross_entropy(words, targets, ignore_index=PAD)
            terms["caption"].append(share_of_mean(caption, (targets != PAD).sum()))
            if matched is not None and self.config.view_weight:
                view = self._view_loss(_of(matched, kind))
                terms["view"].append(share_of_mean(self.config.view_weight * view, len(kind)))
            if self.reasoning is not None and hallucinated is not None:
                queries, keys = hallucinated
                scores = self.reasoning.matching(queries[kind], keys[kind])
                reason = self.config.reason_weight * two_sided(scores, scores.T)
                terms["reason"].append(share_of_mean(reason, len(kind)))
        shared = self._shared(attention[:, :, :-1].mean(1), pair)  # (B, L - 1, 1 or 2, N)
        guided = self.vision.attention_terms(pair, batch.truth, shared, ids[:, 1:] != PAD)
        return {name: torch.stack(parts).mean() for name, parts in terms.items() if parts} | guided

    def _read(
        self, pair: TokenPair, ids: Tensor, positions: int | None
    ) -> tuple[Tensor, Tensor, Directions | None, QueryKey | None]:
        """Return logits (B, L - 1, V) and attention (B, h, L, N) of words, and the inputs that SCORER and CBR
        match.

        positions: as in ``sentence_vector``.
        """
        before, after = self.tokens(pair)
        difference, matched = self.difference(before, after)
        states, attention = self.decoder(ids, difference)  # (B, L, D), (B, h, L, N)
        logits = self.decoder.output(states[:, :-1])
        if self.reasoning is None:
            return logits, attention, matched, None
        mentioned = sentence_vector(states, ids != PAD, positions)
        return logits, attention, matched, self.reasoning(before, after, mentioned)

    def _shared(self, attention: Tensor, pair: TokenPair) -> Tensor:
        """Return each picture's part of the attention (B, T, N) to the difference: (B, T, 1 or 2, N).

        With fusion "apart", the attention is (B, T, 2N), with N numbers for each picture.
        """
        if not self.apart:
            return attention[:, :, None] * _halves(pair)
        own: Tensor = attention.unflatten(-1, (2, -1))  # type: ignore[no-untyped-call]
        return own

    def _view_loss(self, matched: Directions) -> Tensor:
        """Contrastive loss: each picture must match the other picture of its pair best in the batch, in both
        directions; or (``method.view_loss``) the distance within each pair.
        """
        if self.config.view_loss == "distance":
            return (view_distance(matched.forth) + view_distance(matched.back)) / 2
        matching = self._matching_layer().matching
        return two_sided(matching(*matched.forth), matching(*matched.back))

    def _kinds(self, batch: Batch) -> Iterator[Tensor]:
        """Return the groups of pairs that share one loss, as row numbers. All pairs form one group. In a
        batch of scenes, the changed pairs and the unchanged pairs form two groups.
        """
        yield from kinds_of_pairs(batch if self.preset.split_kinds else replace(batch, changed=None))

    def _matching_layer(self) -> Reconstruction:
        """Return the layer whose queries and keys are matched."""
        layers = list(layers_of(self.layers, Reconstruction))
        return layers[-1 if self.preset.match_last else 0]

    def pair(self, before: Tensor, after: Tensor) -> TokenPair:
        """Return the vision's tokens of both pictures."""
        return self.vision.add_match_features(self.vision.tokens(before, after))

    def tokens(self, pair: TokenPair) -> tuple[Tensor, Tensor]:
        """X1, X2 (B, N, D):  X = W [f; x; y] + b + [column_j; row_i].

        x = 2j/columns − 1 and y = 2i/rows − 1 if the preset has coordinates, so the last is slightly below 1.
        Cells are in row order. Aligned tokens keep their order.
        """
        if not pair.aligned:
            self._check_grid()
            cells = torch.arange(self.vision.rows * self.vision.columns, device=pair.before.features.device)
            places = self._positions(cells)
            return self._with_positions(in_rows(pair.before), places), self._with_positions(
                in_rows(pair.after), places
            )
        before, after = (self._with_positions(own.features, self._positions(own.cells)) for own in pair)
        return before, after

    def _check_grid(self) -> None:
        """Raise ShapeError where tokens are not all cells of the grid."""
        cells = self.vision.rows * self.vision.columns
        if self.vision.patches != cells:
            raise ShapeError(
                f"SCORER compares both pictures cell by cell: got {self.vision.patches} cells, wanted all "
                f"{cells} of the grid. Set vision.keep = 0."
            )

    def _positions(self, cells: Tensor) -> CellPositions:
        """Return the positions of numbered cells, (N,) or (B, N)."""
        row, column = cells // self.vision.columns, cells % self.vision.columns
        embedded = torch.cat([self.column_places(column), self.row_places(row)], dim=-1)
        x, y = 2 * column / self.vision.columns - 1, 2 * row / self.vision.rows - 1
        return CellPositions(embedded, torch.stack([x, y], dim=-1))

    def _with_positions(self, features: Tensor, positions: CellPositions) -> Tensor:
        """Features (B, N, F) of cells at ``positions`` -> tokens (B, N, D)."""
        if self.preset.coordinates:
            lies = positions.coordinates.to(features.dtype).expand(features.shape[0], -1, -1)
            features = torch.cat([features, lies], dim=-1)  # (B, N, F + 2)
        tokens: Tensor = self.project(features) + positions.embedded
        return tokens

    def difference(self, before: Tensor, after: Tensor) -> tuple[Tensor, Directions | None]:
        """X1, X2 -> D (B, N, D), with fusion "apart" (B, 2N, D); and queries and keys to match, both ways.

        Both directions share all weights, and each layer reads the previous layer's output for both pictures.
        Therefore exchanging the pictures exchanges a and b. Source: the paper's equations 5 to 7.
        """
        rebuilt = self.rebuilt(before, after)
        matched: Directions | None = None
        if rebuilt:
            matched = Directions(*(one.matched for one in rebuilt[-1 if self.preset.match_last else 0]))
            a, b = rebuilt[-1]
            both = fuse_rebuilt(a.cells, b.cells, self.config.fusion)
        else:
            both = after - before
        return self.dropout(self.fuse(both)).relu(), matched

    def rebuilt(self, before: Tensor, after: Tensor) -> list[tuple[Rebuilt, Rebuilt]]:
        """X1, X2 (B, N, D) -> for each layer, each picture reconstructed from the other picture.

        Each reconstruction reads the previous layer's output for both pictures.
        """
        a, b = before, after
        results = []
        for layer in layers_of(self.layers, Reconstruction):
            results.append((layer(a, b), layer(b, a)))
            a, b = (one.cells for one in results[-1])
        return results

    def alignment(self, before: Tensor, after: Tensor) -> tuple[Tensor, Tensor]:
        """Return the weights of the other picture's cells in each reconstructed cell, in the last layer, mean
        over heads.

        Returns (B, 2, N, N), whose rows are the query cells, of the picture before and of the picture after;
        and the numbers of the cells on their grids, (B, 2, N). Raises RecipeError where no picture is
        reconstructed.
        """
        if not len(self.layers):
            raise RecipeError(
                'method.difference = "subtract" rebuilds no picture from the other. Use a run with'
                ' "reconstruct".'
            )
        pair = self.pair(before, after)
        forth, back = self.rebuilt(*self.tokens(pair))[-1]
        weights = torch.stack([forth.attention.mean(1), back.attention.mean(1)], dim=1)
        if pair.aligned:
            return weights, pair.cells
        in_order = torch.arange(weights.shape[-1], device=weights.device)
        return weights, in_order.expand(len(weights), 2, -1)

    def caption_logits(self, before: Tensor, after: Tensor, ids: Tensor) -> Tensor:
        """Return logits (B, L, V) of the word at each position, without a cache. The logits are zeros at
        position 0, the position of BOS.
        """
        pair = self.pair(before, after)
        difference, _ = self.difference(*self.tokens(pair))
        logits = self._speak(self.decoder(ids[:, :-1], difference)[0])
        return torch.cat([torch.zeros_like(logits[:, :1]), logits], dim=1)

    def _speak(self, states: Tensor) -> Tensor:
        """Return the logits of the vocabulary entries that may be written: the words and EOS."""
        logits: Tensor = self.decoder.output(states)
        return logits.masked_fill(self.unsaid, BLIND)

    def encode(self, before: Tensor, after: Tensor) -> ScorerMemory:
        """Return the memory of each pair."""
        pair = self.pair(before, after)
        difference, _ = self.difference(*self.tokens(pair))
        keys, values = self.decoder.memory(difference)
        return ScorerMemory(keys, values, pair.cells if pair.aligned else None)

    def no_change(self, memory: ScorerMemory) -> None:
        """Return None: SCORER has no no-change head, so the no-change sentences decide."""
        return

    def first_cache(self, memory: ScorerMemory) -> Cache:
        """Return empty keys and values: (B, layers, h, 0, k)."""
        return {"keys": memory.keys[:, :, :, :0], "values": memory.values[:, :, :, :0]}

    def step(
        self, memory: ScorerMemory, previous: Tensor, position: int | Tensor, cache: Cache
    ) -> tuple[Tensor, Tensor, Cache]:
        """Predict the word at ``position`` (from 1), right after ``previous`` (B,).

        Returns log-probabilities (B, V), attention (B, 2, rows, columns; see ``attention_description``) and
        the grown cache.
        """
        place = torch.as_tensor(position, device=previous.device).reshape(1) - 1
        past = cache["keys"], cache["values"]
        word = self.decoder.one_word(previous, place, (memory.keys, memory.values), past)
        keys, values = word.own
        new_cache = {
            "keys": torch.cat([cache["keys"], keys], dim=3),
            "values": torch.cat([cache["values"], values], dim=3),
        }
        scores = self._speak(word.rows[:, 0]).log_softmax(-1)
        attention = word.attention[:, :, 0].mean(1)  # over heads: (B, N)
        return scores, self._on_grids(attention, memory), new_cache

    def _on_grids(self, attention: Tensor, memory: ScorerMemory) -> Tensor:
        """Attention on both grids (B, 2, rows, columns), from attention (B, N) to the difference, half for
        each picture, or from attention (B, 2N) to each picture.
        """
        rows, columns = self.vision.rows, self.vision.columns
        if self.apart:
            halves: Tensor = attention.unflatten(-1, (2, -1))  # type: ignore[no-untyped-call]
        else:
            halves = attention[:, None].expand(-1, 2, -1) / 2  # (B, 2, N)
        if memory.cells is None:
            return halves.reshape(-1, 2, rows, columns)
        return on_both_grids(halves, memory.cells, self.vision)

    def parameter_groups(self) -> list[dict[str, Any]]:
        """Return groups that contain every parameter once: "vision" (computes the cells), "frozen" (never
        learns) and "method".
        """
        groups: dict[str, list[nn.Parameter]] = {"method": [], "vision": [], "frozen": []}
        vision = {f"vision.{name}" for name in self.vision.token_parameters()}
        for name, parameter in self.named_parameters():
            own = "frozen" if name in self._frozen() else "method"
            groups["vision" if name in vision else own].append(parameter)
        return [{"name": name, "params": params} for name, params in groups.items() if params]

    def _frozen(self) -> frozenset[str]:
        """Return the names of CBR's parameters, in the preset whose optimiser does not update these
        parameters.
        """
        names = (name for name, _ in self.named_parameters() if name.startswith("reasoning."))
        return frozenset(() if self.preset.train_reasoning else names)

    def parameters_without_gradient(self, tasks: Collection[str]) -> frozenset[str]:
        """Return the names of the parameters that deliberately get no gradient from any of ``tasks``.

        Captioning does not train frozen parameters, nor the scale of a layer whose scores no loss reads. With
        subtraction, captioning does not train parameters that add equal numbers to the cells of both
        pictures, because subtraction cancels these numbers.
        """
        own = {name for name, _ in self.named_parameters() if not name.startswith("vision.")}
        if "caption" in tasks:
            contrasts = self.config.view_weight and self.config.view_loss == "contrast"
            used = self._matching_layer() if contrasts else None
            unread = (i for i, layer in enumerate(self.layers) if layer is not used)
            unused = self._frozen() | {f"layers.{i}.matching.log_scale" for i in unread}
            if not self.layers and self.reasoning is None:
                unused |= {"project.bias", "column_places.weight", "row_places.weight"}
            own &= unused
        return frozenset(own) | {f"vision.{name}" for name in self.vision.parameters_without_gradient(tasks)}

    def word_tables(self) -> Mapping[str, Sequence[int]]:
        """Return the word vectors and the output layer, with rows in the order of the vocabulary."""
        rows = range(len(self.vocabulary))
        return {"decoder.words.weight": rows, "decoder.output.weight": rows, "decoder.output.bias": rows}

    def load_pretrained(self, state: Mapping[str, Tensor]) -> tuple[str, ...]:
        """Copy every tensor whose name this method also has. Returns the names of the tensors that are left
        out.
        """
        return copy_matching_tensors(self, state)


def without_padding(ids: Tensor) -> Tensor:
    """Return captions (B, L) without the columns of padding after the longest caption. No word attends to
    these columns.
    """
    unread = int((ids == PAD).all(0).sum())
    return ids[:, : ids.shape[1] - unread]


def _halves(pair: TokenPair) -> Tensor | float:
    """Return each picture's part of the attention to the difference, which is one half. The halves of aligned
    tokens are in 32 bit.
    """
    return torch.full((2, 1), 0.5, device=pair.before.cells.device) if pair.aligned else 0.5


def _of(matched: Directions, rows: Tensor) -> Directions:
    """Return the queries and keys of some pairs."""
    (q1, k1), (q2, k2) = matched
    return Directions((q1[rows], k1[rows]), (q2[rows], k2[rows]))
