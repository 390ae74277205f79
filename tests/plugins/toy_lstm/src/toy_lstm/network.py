"""The recurrent toy method: an LSTM writes the caption, and begins from the pictures' mean tokens.

    m = W [mean f1; mean f2; mean f2 - mean f1];   h_0 = tanh(m), c_0 = 0
    h_t, c_t = LSTM([E[w_(t-1)]; m], h_(t-1), c_(t-1));   logits_t = O h_t

Axis letters: B pairs, N tokens, F width of a token, L text positions, D width, V vocabulary.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from toy_lstm.settings import ToyLSTMConfig
from whatchanged.training.methods import (
    PAD,
    Batch,
    Cache,
    Example,
    Vision,
    Vocabulary,
    copy_matching_tensors,
    method_and_vision,
    padded,
    stack_pictures,
)


class Memory(NamedTuple):
    """m, (B, D)."""

    pair: Tensor


class ToyLSTM(nn.Module):
    """The method; ``Method`` tells what each public function is for."""

    attention_description = "even: it looks everywhere alike"
    architecture = "toy-lstm"
    padding_sensitive_tasks: frozenset[str] = frozenset()
    growing_axes: Mapping[str, Sequence[int]] = {"hidden": (), "cell": (), "words": ()}

    def __init__(self, config: ToyLSTMConfig, vision: Vision, vocabulary: Vocabulary) -> None:
        super().__init__()
        self.vision, self.vocabulary, self.max_length = vision, vocabulary, config.max_length
        self.mix = nn.Linear(3 * vision.width, config.width)
        self.words = nn.Embedding(len(vocabulary), config.width)
        self.lstm = nn.LSTMCell(2 * config.width, config.width)
        self.output = nn.Linear(config.width, len(vocabulary))

    @property
    def tasks(self) -> Mapping[str, Callable[[Batch], dict[str, Tensor]]]:
        return {"toy-words": self._caption, **self.vision.tasks}

    def batch_size(self, task: str, batch: int) -> int:
        return batch

    def collate(self, examples: Sequence[Example]) -> Batch:
        rows = [self.vocabulary.sentence(example.caption, self.max_length - 2) for example in examples]
        return Batch(*stack_pictures(examples), torch.tensor(padded(rows)))

    def loss(self, task: str, batch: Batch) -> dict[str, Tensor]:
        return self.tasks[task](batch)

    def _caption(self, batch: Batch) -> dict[str, Tensor]:
        logits = self.caption_logits(batch.before, batch.after, batch.ids)[:, 1:]
        return {"toy-words": F.cross_entropy(logits.transpose(1, 2), batch.ids[:, 1:], ignore_index=PAD)}

    def encode(self, before: Tensor, after: Tensor) -> Memory:
        pair = self.vision.add_match_features(self.vision.tokens(before, after))
        means = [tokens.features.mean(1) for tokens in pair]  # (B, F) each
        return Memory(self.mix(torch.cat([*means, means[1] - means[0]], dim=1)))

    def first_cache(self, memory: Memory) -> Cache:
        count = memory.pair.new_zeros(memory.pair.shape[0], dtype=torch.int64)  # (B,)
        return {"hidden": memory.pair.tanh(), "cell": torch.zeros_like(memory.pair), "words": count}

    def step(
        self, memory: Memory, previous: Tensor, position: int | Tensor, cache: Cache
    ) -> tuple[Tensor, Tensor, Cache]:
        hidden, cell = self._next(memory, previous, cache["hidden"], cache["cell"])
        cells = self.vision.rows * self.vision.columns
        even = torch.full_like(memory.pair[:, :1], 1 / (2 * cells)).expand(-1, 2 * cells)
        attention = even.reshape(-1, 2, self.vision.rows, self.vision.columns)
        # The words so far do not matter to it; they show that a state may be whole numbers.
        state = {"hidden": hidden, "cell": cell, "words": cache["words"] + 1}
        return self.output(hidden).log_softmax(-1), attention, state

    def _next(self, memory: Memory, previous: Tensor, hidden: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
        """The LSTM's two vectors, (B, D) each, behind the words ``previous`` (B,)."""
        read: tuple[Tensor, Tensor] = self.lstm(
            torch.cat([self.words(previous), memory.pair], dim=1), (hidden, cell)
        )
        return read

    def caption_logits(self, before: Tensor, after: Tensor, ids: Tensor) -> Tensor:
        memory = self.encode(before, after)
        state = self.first_cache(memory)
        hidden, cell = state["hidden"], state["cell"]
        logits = [self.output(torch.zeros_like(hidden))]  # of BOS, which nobody asks for
        for position in range(1, ids.shape[1]):
            hidden, cell = self._next(memory, ids[:, position - 1], hidden, cell)
            logits.append(self.output(hidden))
        return torch.stack(logits, dim=1)

    def no_change(self, memory: Memory) -> None:
        return

    def parameter_groups(self) -> list[dict[str, Any]]:
        return method_and_vision(self)

    def parameters_without_gradient(self, tasks: Collection[str]) -> frozenset[str]:
        own = {name for name, _ in self.named_parameters() if not name.startswith("vision.")}
        unused = set() if "toy-words" in tasks else own
        return frozenset(
            unused | {f"vision.{name}" for name in self.vision.parameters_without_gradient(tasks)}
        )

    def word_tables(self) -> Mapping[str, Sequence[int]]:
        rows = range(len(self.vocabulary))
        return {"words.weight": rows, "output.weight": rows, "output.bias": rows}

    def load_pretrained(self, state: Mapping[str, Tensor]) -> tuple[str, ...]:
        return copy_matching_tensors(self, state)
