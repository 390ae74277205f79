"""DUDA: the dual dynamic attention model (Park, Darrell and Rohrbach, "Robust Change Captioning", ICCV 2019).

DUDA is the field's first baseline; its paper introduced CLEVR-Change. One small network computes an attention
map for each picture from its cells and the difference. The map gives the weights of the sum over the
picture's cells. Before every word, a first LSTM weighs the picture before, the difference and the picture
after, and a second LSTM writes the word:
    X1, X2 (B, N, F) -> a1, a2 (B, N) -> l_bef, l_diff, l_aft (B, F)
    h_d -> α (B, 3) -> l_dyn = α · [l_bef; l_diff; l_aft] -> h_c -> word
    L = caption + λ_map S − λ_ent H

Official code: Seth-Park/RobustChangeCaptioning, for CLEVR-Change only. It has no licence, so none of it is
copied. Axis letters: B pairs, N cells, F width of a cell with its coordinates, D width of the LSTMs, E word
width, L text positions, V vocabulary.

We could read the paper's text only up to its introduction. The preset ``paper``, the weights of the losses
and the sizes are written from memory; we read and ran the code. ``DudaPreset`` has one field for each point
where the two differ.

Departures:
- A sentence ends with EOS, where the code writes the padding's id. The loss counts the same positions.
- Our vocabulary has two more marks. Unless ``allow_marks``, the decoder writes no mark except the end. The
  code bans no mark, and the end only at the first word, as here.
- ``entropy_weight`` is 0.0001, the paper's value from memory; the code's default is 0. Each recipe says
  which.
- As in the code, the two regularisers ignore distractor pairs; ``regularise`` = "all" includes them.
- If unchanged pairs are not partners in scenes but examples like others, all pairs share one caption loss and
  both regularisers. This is our reading, since the code has no other data set.
- The recipe sets learning rates, steps and the exchange of unchanged views. Validation is greedy (the code
  samples) and keeps one checkpoint (the code keeps the best of each metric).
- Two parts of the code are left out: the head on l_diff for the type of change, which is never trained, and
  feeding back the model's own words, which is switched off.
- The attention map of a word is our definition: both maps, each normalised to sum 1, weighed by α. Half of
  the difference's weight goes to each map.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from whatchanged.recipes.methods.duda import DudaConfig
from whatchanged.training.methods import (
    BOS,
    CLS,
    EOS,
    MASK,
    PAD,
    UNK,
    Batch,
    Cache,
    Example,
    TokenPair,
    Vision,
    Vocabulary,
    batch_of_scenes,
    coordinates,
    copy_matching_tensors,
    corresponding,
    in_parts,
    kinds_of_pairs,
    method_and_vision,
    on_both_grids,
    padded,
    share_of_mean,
    task_of,
)
from whatchanged.training.nn.layers import Dropout
from whatchanged.training.nn.transformer import BLIND


@dataclass(frozen=True)
class DudaPreset:
    """One reading of the method."""

    coordinates: bool  # two channels of coordinates join the features
    norm_attention: bool  # group normalisation and dropout inside the network that attends
    rectify_words: bool  # word vectors pass ReLU and dropout


PRESETS = {
    "paper": DudaPreset(coordinates=False, norm_attention=False, rectify_words=False),
    "authors": DudaPreset(coordinates=True, norm_attention=True, rectify_words=True),
}


class DudaMemory(NamedTuple):
    """The speaker's inputs for a pair.

    vectors: l_bef, l_diff, l_aft (B, 3, F). view: v (B, E'), before dropout. maps: (B, 2, N), the attention
    maps of the vectors, each normalised to sum 1. cells: (B, 2, N), each picture's tokens on the grid.
    """

    vectors: Tensor
    view: Tensor
    maps: Tensor
    cells: Tensor


class SpeakerOutput(NamedTuple):
    """The speaker's output: logits (B, V) of a word, log α (B, 3), and the next state."""

    logits: Tensor
    log_weights: Tensor
    state: Cache


def attention_price(maps: Tensor) -> Tensor:
    """S = (Σ a1 + Σ a2) / 2, the mean over pairs: the area that the maps cover, in cells.

    maps: (B, 2, N), each number in (0, 1) -> a scalar from 0 to N. Source: ``train.py`` of the code.
    We remember this loss, with the weight 0.0025, from the paper.
    """
    return maps.sum(2).mean()


def attention_entropy(log_weights: Tensor, real: Tensor) -> Tensor:
    """H = −(1/B) Σ_pairs Σ_t real_t Σ_i α_ti log α_ti, in nats: summed over words, the mean over pairs.

    log_weights: log α (B, L, 3). real: bool (B, L), the words and the end. At most L ln 3.
    Source: ``train.py`` of the code.
    """
    entropies = -(log_weights.exp() * log_weights).sum(2)  # (B, L)
    return (entropies * real).sum(1).mean()


class DualAttention(nn.Module):
    """Attention over both pictures, computed by one network.

        D = X2 − X1;   z(X) = ReLU(Drop(GN(W1 [X; D] + b)));   a(X) = sigmoid(w2 z(X) + b)
        l(X) = Σ_n a_n(X) X_n;   l_bef = l(X1), l_aft = l(X2), l_diff = l_aft − l_bef

    W1, w2 are 1 x 1 convolutions. GN normalises each picture over the channels of a group and all cells (eps
    1e-5). A map is not a distribution: each cell has its own sigmoid, and l is a sum. D has the same sign for
    both pictures, so exchanging the pictures gives other maps. ``paper``: without GN and dropout.
    Source: ``models/modules.py``; the paper's form is from memory.
    """

    def __init__(self, width: int, config: DudaConfig, preset: DudaPreset) -> None:
        super().__init__()
        inner = config.attention_width
        self.mix = nn.Linear(2 * width, inner)
        self.norm = nn.GroupNorm(config.norm_groups, inner) if preset.norm_attention else None
        self.dropout = Dropout(config.dropout if preset.norm_attention else 0.0)
        self.score = nn.Linear(inner, 1)

    def forward(self, before: Tensor, after: Tensor) -> tuple[Tensor, Tensor]:
        """X1, X2 (B, N, F) -> l_bef, l_diff, l_aft (B, 3, F), and both maps (B, 2, N)."""
        difference = after - before
        maps = torch.stack([self._map(own, difference) for own in (before, after)], dim=1)  # (B, 2, N)
        first, second = ((maps[:, side, None] @ own)[:, 0] for side, own in enumerate((before, after)))
        return torch.stack([first, second - first, second], dim=1), maps

    def _map(self, own: Tensor, difference: Tensor) -> Tensor:
        """a(X) (B, N)."""
        z = self.mix(torch.cat([own, difference], dim=-1))  # (B, N, 2F) -> (B, N, D)
        if self.norm is not None:
            z = self.norm(z.transpose(1, 2)).transpose(1, 2)
        attended: Tensor = self.score(self.dropout(z).relu())[..., 0].sigmoid()
        return attended


class DynamicSpeaker(nn.Module):
    """The speaker weighs the picture before, the difference and the picture after before each word, and then
    writes this word.

        v       = Drop(ReLU(W_v [l_bef; l_diff; l_aft] + b))
        h_d,c_d = LSTM_d([v; h_c], (h_d, c_d))
        α       = softmax(W_a h_d + b);   l_dyn = α_1 l_bef + α_2 l_diff + α_3 l_aft
        h_c,c_c = LSTM_c([x; l_dyn], (h_c, c_c)),   x = Drop(ReLU(E[w])) (``paper``: E[w])
        logits  = W_o Drop(h_c) + b

    w is the previous word. All four vectors of the state begin with zeros. The carried h_c has no dropout;
    the dropout of v is drawn anew for each word. Source: ``models/dynamic_speaker.py``.
    """

    def __init__(self, width: int, config: DudaConfig, preset: DudaPreset, entries: int) -> None:
        super().__init__()
        hidden = config.hidden_width
        self.view = nn.Linear(3 * width, config.view_width)
        self.attention = nn.LSTMCell(config.view_width + hidden, hidden)
        self.weigh = nn.Linear(hidden, 3)
        self.words = nn.Embedding(entries, config.word_width)
        self.language = nn.LSTMCell(config.word_width + width, hidden)
        self.output = nn.Linear(hidden, entries)
        self.dropout = Dropout(config.dropout)
        self.rectify_words = preset.rectify_words
        self.hidden_width = hidden

    def first_state(self, view: Tensor) -> Cache:
        """Return zeros, (B, D) each. view: (B, E')."""
        names = ("attention_hidden", "attention_cell", "language_hidden", "language_cell")
        return {name: view.new_zeros(view.shape[0], self.hidden_width) for name in names}

    def see(self, vectors: Tensor) -> Tensor:
        """Return v (B, E'), computed from a pair's vectors (B, 3, F), before dropout."""
        viewed: Tensor = self.view(vectors.flatten(1)).relu()
        return viewed

    def forward(self, ids: Tensor, vectors: Tensor, view: Tensor, state: Cache) -> SpeakerOutput:
        """Predict the word after ``ids`` (B,). vectors: (B, 3, F). view: v (B, E'), before dropout."""
        read = torch.cat([self.dropout(view), state["language_hidden"]], dim=1)
        h_d, c_d = self.attention(read, (state["attention_hidden"], state["attention_cell"]))
        log_weights = self.weigh(h_d).log_softmax(-1)  # (B, 3)
        dynamic = (log_weights.exp()[:, None] @ vectors)[:, 0]  # (B, F)
        words = self.words(ids)  # (B, E)
        if self.rectify_words:
            words = self.dropout(words.relu())
        h_c, c_c = self.language(
            torch.cat([words, dynamic], dim=1), (state["language_hidden"], state["language_cell"])
        )
        after = dict(zip(state, (h_d, c_d, h_c, c_c), strict=True))
        return SpeakerOutput(self.output(self.dropout(h_c)), log_weights, after)


class DUDA(nn.Module):
    """The method DUDA. ``Method`` describes its public functions."""

    architecture = "duda"
    attention_description = "both attention maps, weighed by the dynamic attention of the word"
    padding_sensitive_tasks: frozenset[str] = frozenset()
    growing_axes: Mapping[str, Sequence[int]] = {
        "attention_hidden": (),
        "attention_cell": (),
        "language_hidden": (),
        "language_cell": (),
    }

    def __init__(self, config: DudaConfig, vision: Vision, vocabulary: Vocabulary) -> None:
        super().__init__()
        self.config = config
        self.vision = vision
        self.vocabulary = vocabulary
        self.max_length = config.max_length
        self.preset = preset = PRESETS[config.preset]
        width = vision.width + 2 * preset.coordinates
        self.attend = DualAttention(width, config, preset)
        self.speaker = DynamicSpeaker(width, config, preset, len(vocabulary))
        numbers = torch.arange(len(vocabulary))
        marks = (PAD, CLS, MASK) if config.allow_marks else (PAD, BOS, UNK, CLS, MASK)
        self.unsaid: Tensor
        self.register_buffer("unsaid", torch.isin(numbers, torch.tensor(marks)), persistent=False)
        self.end: Tensor
        self.register_buffer("end", numbers == EOS, persistent=False)

    @property
    def tasks(self) -> dict[str, Callable[[Batch], dict[str, Tensor]]]:
        """Return the tasks that a stage may mix."""
        return {"caption": self._caption, **self.vision.tasks}

    def batch_size(self, task: str, batch: int) -> int:
        """Return the number of examples for the batch size of the stage. An example that is a scene gives two
        pairs.
        """
        return batch

    def collate(self, examples: Sequence[Example]) -> Batch:
        """Make a batch of tensors from examples. A caption has at most ``max_length`` ids, BOS and EOS
        included.
        """
        rows = [self.vocabulary.sentence(example.caption, self.max_length - 2) for example in examples]
        return batch_of_scenes(examples, torch.tensor(padded(rows)), self.vision)

    def loss(self, task: str, batch: Batch) -> dict[str, Tensor]:
        """Return the named, weighted loss terms of one task. Raises RecipeError for an unknown task."""
        return task_of("DUDA", self.tasks, task)(batch)

    def _caption(self, batch: Batch) -> dict[str, Tensor]:
        """L = caption + λ_map S − λ_ent H.

        caption: the mean cross entropy of the words and the end; for whole scenes, the losses of
        changed and of unchanged pairs count half each. S: ``attention_price``; H: ``attention_entropy``.
        """
        pair = self.pair(batch.before, batch.after)
        logits, log_weights, maps = in_parts(self._read, batch.accumulate, pair, batch.ids)
        targets = batch.ids[:, 1:]
        real = targets != PAD
        captions = []
        for kind in kinds_of_pairs(batch):
            words = logits[kind].transpose(1, 2)
            mean = F.cross_entropy(words, targets[kind], ignore_index=PAD)
            captions.append(share_of_mean(mean, real[kind].sum()))
        terms = {"caption": torch.stack(captions).mean()}
        rows = self._regularised(batch)
        if self.config.map_weight:
            price = self.config.map_weight * attention_price(maps[rows])
            terms["attention_price"] = share_of_mean(price, len(rows))
        if self.config.entropy_weight:
            bonus = -self.config.entropy_weight * attention_entropy(log_weights[rows], real[rows])
            terms["attention_entropy"] = share_of_mean(bonus, len(rows))
        return terms

    def _read(self, pair: TokenPair, ids: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return logits (B, L - 1, V) and log α (B, L - 1, 3) of words, computed from the words before, and
        maps (B, 2, N).
        """
        vectors, maps = self.attend(*self.cells(pair))
        view = self.speaker.see(vectors)
        state, outputs = self.speaker.first_state(view), []
        for position in range(ids.shape[1] - 1):
            outputs.append(self.speaker(ids[:, position], vectors, view, state))
            state = outputs[-1].state
        logits, log_weights = (
            torch.stack(parts, dim=1) for parts in zip(*(o[:2] for o in outputs), strict=True)
        )
        return logits, log_weights, maps

    def _regularised(self, batch: Batch) -> Tensor:
        """Return the row numbers of the pairs that the two regularisers read."""
        if batch.changed is None or self.config.regularise == "all":
            return torch.arange(len(batch.ids), device=batch.ids.device)
        return batch.changed.nonzero()[:, 0]

    def pair(self, before: Tensor, after: Tensor) -> TokenPair:
        """Return the vision's tokens of both pictures, cell by cell."""
        pair = self.vision.add_match_features(self.vision.tokens(before, after))
        return corresponding(pair, self.vision)

    def cells(self, pair: TokenPair) -> tuple[Tensor, Tensor]:
        """X1, X2 (B, N, F): the features, and the cells' coordinates where the preset has them."""
        if not self.preset.coordinates:
            return pair.before.features, pair.after.features
        rows, columns = self.vision.rows, self.vision.columns
        before, after = (
            torch.cat([own.features, coordinates(own.cells, rows, columns, own.features.dtype)], dim=-1)
            for own in pair
        )
        return before, after

    def caption_logits(self, before: Tensor, after: Tensor, ids: Tensor) -> Tensor:
        """Return logits (B, L, V) of the word at each position, without a cache. The logits are zeros at
        position 0, the position of BOS.
        """
        logits, _, _ = self._read(self.pair(before, after), ids)
        first = torch.arange(1, ids.shape[1], device=ids.device)[:, None] == 1
        logits = self._speak(logits, first)
        return torch.cat([torch.zeros_like(logits[:, :1]), logits], dim=1)

    def _speak(self, logits: Tensor, first: Tensor) -> Tensor:
        """Return the logits of the vocabulary entries that may be written: the words and, except where
        ``first`` is true, EOS.
        """
        return logits.masked_fill(self.unsaid | (self.end & first), BLIND)

    def encode(self, before: Tensor, after: Tensor) -> DudaMemory:
        """Return the memory of each pair."""
        pair = self.pair(before, after)
        vectors, maps = self.attend(*self.cells(pair))
        shares = maps / maps.sum(2, keepdim=True)
        return DudaMemory(vectors, self.speaker.see(vectors), shares, pair.cells)

    def no_change(self, memory: DudaMemory) -> None:
        """Return None: DUDA has no no-change head, so the no-change sentences decide."""
        return

    def first_cache(self, memory: DudaMemory) -> Cache:
        """Return zeros for the vectors of both LSTMs, (B, D) each."""
        return self.speaker.first_state(memory.view)

    def step(
        self, memory: DudaMemory, previous: Tensor, position: int | Tensor, cache: Cache
    ) -> tuple[Tensor, Tensor, Cache]:
        """Predict the word at ``position`` (from 1), right after ``previous`` (B,).

        Returns log-probabilities (B, V), attention (B, 2, rows, columns; see ``attention_description``) and
        the next state.
        """
        word = self.speaker(previous, memory.vectors, memory.view, cache)
        first = torch.as_tensor(position, device=previous.device) == 1
        before, difference, after = word.log_weights.exp().unbind(1)
        halves = torch.stack([before + difference / 2, after + difference / 2], dim=1)  # (B, 2)
        attention = on_both_grids(memory.maps * halves[..., None], memory.cells, self.vision)
        return self._speak(word.logits, first).log_softmax(-1), attention, word.state

    def parameter_groups(self) -> list[dict[str, Any]]:
        """Return groups that contain every parameter once: "vision" (computes the cells) and "method"."""
        return method_and_vision(self)

    def parameters_without_gradient(self, tasks: Collection[str]) -> frozenset[str]:
        """Return the names of parameters without a gradient from any of ``tasks``. Captioning gives every
        parameter a gradient.
        """
        own = {name for name, _ in self.named_parameters() if not name.startswith("vision.")}
        vision = {f"vision.{name}" for name in self.vision.parameters_without_gradient(tasks)}
        return frozenset(vision if "caption" in tasks else vision | own)

    def word_tables(self) -> Mapping[str, Sequence[int]]:
        """Return the word vectors and the output layer, with rows in the order of the vocabulary."""
        rows = range(len(self.vocabulary))
        return {"speaker.words.weight": rows, "speaker.output.weight": rows, "speaker.output.bias": rows}

    def load_pretrained(self, state: Mapping[str, Tensor]) -> tuple[str, ...]:
        """Copy every tensor whose name this method also has. Returns the names of the tensors that are left
        out.
        """
        return copy_matching_tensors(self, state)
