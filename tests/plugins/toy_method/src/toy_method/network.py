"""The toy method: the mean token before, the mean token after and the words so far say the next word.

    m = W [mean f1; mean f2; mean f2 - mean f1];   logits_t = O tanh(m + E[w_(t-1)] + mean_(i<t) E[w_i])

Axis letters: B pairs, N tokens, F width of a token, L text positions, D width, V vocabulary.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from toy_method.settings import ToyConfig
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


class ToyMean(nn.Module):
    """The method; ``Method`` tells what each public function is for."""

    attention_description = "even: it looks everywhere alike"
    architecture = "toy-mean"
    growing_axes: Mapping[str, Sequence[int]] = {"words": (3,)}
    padding_sensitive_tasks: frozenset[str] = frozenset()

    def __init__(self, config: ToyConfig, vision: Vision, vocabulary: Vocabulary) -> None:
        super().__init__()
        self.vision, self.vocabulary, self.max_length = vision, vocabulary, config.max_length
        self.mix = nn.Linear(3 * vision.width, config.width)
        self.words = nn.Embedding(len(vocabulary), config.width)
        self.output = nn.Linear(config.width, len(vocabulary))

    @property
    def tasks(self) -> Mapping[str, Callable[[Batch], dict[str, Tensor]]]:
        return {"toy-caption": self._caption, **self.vision.tasks}

    def batch_size(self, task: str, batch: int) -> int:
        return batch

    def collate(self, examples: Sequence[Example]) -> Batch:
        rows = [self.vocabulary.sentence(example.caption, self.max_length - 2) for example in examples]
        return Batch(*stack_pictures(examples), torch.tensor(padded(rows)))

    def loss(self, task: str, batch: Batch) -> dict[str, Tensor]:
        return self.tasks[task](batch)

    def _caption(self, batch: Batch) -> dict[str, Tensor]:
        logits = self.caption_logits(batch.before, batch.after, batch.ids)[:, 1:]
        return {"toy-caption": F.cross_entropy(logits.transpose(1, 2), batch.ids[:, 1:], ignore_index=PAD)}

    def encode(self, before: Tensor, after: Tensor) -> Memory:
        pair = self.vision.add_match_features(self.vision.tokens(before, after))
        means = [tokens.features.mean(1) for tokens in pair]  # (B, F) each
        return Memory(self.mix(torch.cat([*means, means[1] - means[0]], dim=1)))

    def first_cache(self, memory: Memory) -> Cache:
        return {"words": memory.pair[:, None, None, None, :][:, :, :, :0]}  # (B, 1, 1, 0, D)

    def step(
        self, memory: Memory, previous: Tensor, position: int | Tensor, cache: Cache
    ) -> tuple[Tensor, Tensor, Cache]:
        word = self.words(previous)  # (B, D)
        said = torch.cat([cache["words"], word[:, None, None, None]], dim=3)
        logits = self.output(torch.tanh(memory.pair + word + said.mean(3)[:, 0, 0]))
        cells = self.vision.rows * self.vision.columns
        even = torch.full_like(memory.pair[:, :1], 1 / (2 * cells)).expand(-1, 2 * cells)
        attention = even.reshape(-1, 2, self.vision.rows, self.vision.columns)
        return logits.log_softmax(-1), attention, {"words": said}

    def caption_logits(self, before: Tensor, after: Tensor, ids: Tensor) -> Tensor:
        words = self.words(ids[:, :-1])  # (B, L - 1, D)
        count = torch.arange(1, words.shape[1] + 1, device=ids.device)[None, :, None]
        states = self.encode(before, after).pair[:, None] + words + words.cumsum(1) / count
        return F.pad(self.output(torch.tanh(states)), (0, 0, 1, 0))

    def no_change(self, memory: Memory) -> None:
        return

    def parameter_groups(self) -> list[dict[str, Any]]:
        return method_and_vision(self)

    def parameters_without_gradient(self, tasks: Collection[str]) -> frozenset[str]:
        own = {name for name, _ in self.named_parameters() if not name.startswith("vision.")}
        unused = set() if "toy-caption" in tasks else own
        return frozenset(
            unused | {f"vision.{name}" for name in self.vision.parameters_without_gradient(tasks)}
        )

    def word_tables(self) -> Mapping[str, Sequence[int]]:
        rows = range(len(self.vocabulary))
        return {"words.weight": rows, "output.weight": rows, "output.bias": rows}

    def load_pretrained(self, state: Mapping[str, Tensor]) -> tuple[str, ...]:
        return copy_matching_tensors(self, state)
