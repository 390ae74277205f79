"""A method of toy size on ten captioned pairs, on which the suite for methods runs.

Axis letters: B pairs, N tokens of a picture, F width of a token, T words, V vocabulary.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from whatchanged.recipes.methods import MethodSettings
from whatchanged.records import PairRecord
from whatchanged.training.batches import Batch, Example
from whatchanged.training.build import build_method
from whatchanged.training.methods import Method
from whatchanged.training.vision.base import Vision
from whatchanged.training.vision.features import StoredFeatures
from whatchanged.vocabulary import BOS, Vocabulary

CAPTIONS = (
    "the red cube moved",
    "the ball is gone",
    "a new thing appeared left of the ball",
    "nothing changed",
    "the cube became blue",
    "no change was made",
    "the blue ball moved right",
    "the thing is gone",
    "a red ball appeared",
    "the scene is the same",
)
SAME = ("nothing changed", "no change was made", "the scene is the same")
"""The captions of pairs in which nothing changed."""
VOCABULARY = Vocabulary.from_captions(CAPTIONS)
ROWS, COLUMNS, WIDTH = 3, 3, 6
"""The grid of the plain vision, and F."""

Seen = tuple[NDArray[Any], NDArray[Any], Any]
"""A pair as a vision reads it: before, after, and what its world knows of it."""


def plain_vision() -> Vision:
    """Random features on a grid of 3 x 3 cells; the vision learns nothing."""
    return StoredFeatures(ROWS, COLUMNS, WIDTH)


def plain_pairs(vision: Vision) -> Sequence[Seen]:
    """Random features of ten pairs."""
    rng = np.random.default_rng(0)
    shape = (2, ROWS * COLUMNS, WIDTH)
    return [(*rng.standard_normal(shape, dtype=np.float32), None) for _ in CAPTIONS]


@dataclass(frozen=True)
class MethodCase:
    """A method, and the settings of the suite for it.

    settings: of toy size, for captions of at most eight words. vision: builds the vision for the method,
    ``plain_vision`` by default. pairs: ten pairs in the form that the vision reads. tasks: the tasks to test;
    (): all tasks of the settings. stages: mixes of tasks to test besides each task alone. learned_before:
    task -> the task that must be learned first. judges: whether a head of the method predicts that nothing
    changed.
    """

    settings: MethodSettings
    vision: Callable[[], Vision] = plain_vision
    pairs: Callable[[Vision], Sequence[Seen]] = plain_pairs
    tasks: tuple[str, ...] = ()
    stages: tuple[tuple[str, ...], ...] = ()
    learned_before: Mapping[str, str] = field(default_factory=dict)
    judges: bool = False

    @property
    def tried_tasks(self) -> tuple[str, ...]:
        """The tasks that are tested."""
        return self.tasks or tuple(self.settings.tasks)

    def build(self, seed: int = 0, vocabulary: Vocabulary = VOCABULARY) -> Method:
        """The method, freshly initialised, in evaluation mode."""
        torch.manual_seed(seed)
        return build_method(self.settings, self.vision(), vocabulary).eval()

    def examples(self, method: Method) -> list[Example]:
        """The ten captioned pairs, with false captions and labels as the settings' tasks need them."""
        needed = max((task.false_captions for task in self.settings.tasks.values()), default=0)
        classes = max(1, self.settings.labelled_classes)
        results = []
        for i, (before, after, truth) in enumerate(self.pairs(method.vision)):
            caption = CAPTIONS[i]
            false = tuple(CAPTIONS[(i + 3 + 2 * step) % len(CAPTIONS)] for step in range(needed))
            pictures = Path(f"{i}_before.png"), Path(f"{i}_after.png")
            record = PairRecord("toy", str(i), str(i), "train", "pair_caption", *pictures, (caption,))
            record = replace(record, changed=caption not in SAME, labels=(i % classes, i * 2 % classes))
            results.append(Example(record, caption, before, after, false, truth))
        return results

    def batch(self, method: Method) -> Batch:
        """The ten pairs as one batch."""
        return method.collate(self.examples(method))


def drawn(batch: Batch, seed: int = 0) -> Batch:
    """The batch, with the random numbers of its corruption drawn from ``seed``."""
    return replace(batch, generator=torch.Generator().manual_seed(seed))


def total(terms: Mapping[str, Tensor]) -> Tensor:
    """The sum of a task's terms."""
    return torch.stack([*terms.values()]).sum()


class GreedyOutput(NamedTuple):
    """Greedy words (B, T), the scores behind them (B, T, V), and their attention (B, T, 2, rows, columns)."""

    ids: Tensor
    scores: Tensor
    attention: Tensor


@torch.no_grad()
def decode_greedily(method: Method, before: Tensor, after: Tensor, steps: int = 8) -> GreedyOutput:
    """The first words that a method predicts for pairs, step by step. Decoding does not stop at the end of
    a sentence.
    """
    memory = method.encode(before, after)
    cache = method.first_cache(memory)
    word = torch.full((before.shape[0],), BOS)
    ids, rows, maps = [], [], []
    for position in range(1, steps + 1):
        scores, attention, cache = method.step(memory, word, position, cache)
        word = scores.argmax(1)
        ids.append(word)
        rows.append(scores)
        maps.append(attention)
    return GreedyOutput(torch.stack(ids, 1), torch.stack(rows, 1), torch.stack(maps, 1))


def in_double(method: Method) -> Method:
    """The same method in double precision."""
    for module in method.modules():
        module.double()
    return method


@torch.no_grad()
def shaken(method: Method, seed: int = 0) -> Method:
    """The same method with weights so large that its words depend on the pictures."""
    generator = torch.Generator().manual_seed(seed)
    for parameter in method.parameters():
        parameter.add_(0.3 * torch.randn(parameter.shape, generator=generator).to(parameter.dtype))
    return method
