"""From numbered examples to the batch of each step: which task, which examples, as tensors.

Every draw is a function of (seed, stage, task, position), so a position (one whole number a task) is all
that a checkpoint needs to go on with exactly the same examples.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from whatchanged.errors import ShapeError
from whatchanged.recipes.methods import Task
from whatchanged.recipes.schema import StageConfig
from whatchanged.records import PairRecord

PREFETCHED = 2
"""Batches that are read ahead, each in a thread of its own."""

PictureReader = Callable[[Path], NDArray[Any]]
"""How one picture is read: its features, or its pixels."""


@dataclass(frozen=True)
class Example:
    """One caption of one pair, with its pictures as the recipe's vision wants them.

    before, after: (N, F) features or (N, F') stored tokens, float32, or (H, W, 3) pixels, uint8.
    truth: what the world knows of the pair, None for pairs from outside.
    partner: the other pair of the scene, where both are to stand in one batch.
    """

    record: PairRecord
    caption: str
    before: NDArray[Any]
    after: NDArray[Any]
    negatives: tuple[str, ...] = ()
    truth: Any = None
    partner: "Example | None" = None


@dataclass(frozen=True)
class Batch:
    """B examples as tensors. L text positions, K false captions.

    before, after: what ``Vision.tokens`` reads. ids: (B, L) clean captions, BOS words EOS PAD.
    negatives_ids: (B, K, L) false captions. changed: (B,) 1 where the content changed, 0 for a distractor.
    generator: source of the corruption's random numbers; None is torch's global one.
    truth: what the vision's own losses need, a dataclass of tensors with a ``to``; or None.
    single: there is no picture after; ``after`` is not to be read.
    labels: (B, 2) classes of both pictures.
    """

    before: Tensor
    after: Tensor
    ids: Tensor
    negatives_ids: Tensor | None = None
    changed: Tensor | None = None
    generator: torch.Generator | None = None
    truth: Any = None
    single: bool = False
    labels: Tensor | None = None

    def to(self, device: torch.device | str) -> "Batch":
        """The same batch on another device (the generator stays where it is)."""
        moved: dict[str, Any] = {
            name: value.to(device, non_blocking=True)
            for name, value in vars(self).items()
            if isinstance(value, Tensor)
        }
        if self.truth is not None:
            moved["truth"] = self.truth.to(device)
        return replace(self, **moved)


Collate = Callable[[Sequence[Example]], Batch]
"""Examples to tensors: the method's own."""


def stack_pictures(examples: Sequence[Example]) -> tuple[Tensor, Tensor]:
    """The examples' pictures (or tokens) before and after, (B, ...) each; ShapeError where shapes differ."""

    def stack(side: str) -> Tensor:
        arrays = [getattr(example, side) for example in examples]
        shapes = sorted({array.shape for array in arrays})
        if len(shapes) > 1:
            raise ShapeError(
                f"pictures of one batch ({side}): got shapes {shapes}, wanted one. Resize them first."
            )
        return torch.from_numpy(np.stack(arrays))

    return stack("before"), stack("after")


class Source(Protocol):
    """Numbered examples. ``example`` draws all that varies (a caption, the light) from ``rng`` and is called
    from several threads at once."""

    def __len__(self) -> int: ...

    def count(self, task: Task) -> int:
        """How many examples, from the first on, a task can use."""
        ...

    def example(self, index: int, rng: np.random.Generator) -> Example:
        """Example ``index`` of ``len(self)``."""
        ...


def read_examples(source: Source, numbers: Iterable[int]) -> Iterator[Example]:
    """These examples. Whatever varies is drawn from an example's number, so it is the same each time."""
    return (source.example(i, np.random.default_rng((0, i))) for i in numbers)


@dataclass(frozen=True)
class StageInput:
    """All that decides which batches a stage sees.

    sources: what each task of the stage reads. tasks: each task's needs. seed: (the run's, the stage's
    number). batch_size: the method's own, (task, the stage's batch) -> examples in one batch of that task.
    """

    stage: StageConfig
    sources: Mapping[str, Source]
    tasks: Mapping[str, Task]
    seed: tuple[int, ...]
    batch_size: Callable[[str, int], int]
    collate: Collate


@dataclass(frozen=True)
class Plan:
    """Which examples a step reads: task, their numbers, the stream's position before them, all after."""

    task: str
    indices: NDArray[np.int64]
    first: int
    positions: dict[str, int]


@dataclass(frozen=True)
class Draw:
    """One step's task and batch; ``positions`` is where the streams stand after it."""

    task: str
    batch: Batch
    positions: dict[str, int]


def endless(
    position: int, length: int, batch: int, seed: tuple[int, ...], drop_last: bool = False
) -> NDArray[np.int64]:
    """The next indices of an endless shuffled stream, from the ``position``-th on.

    Each pass is a permutation of its own; a batch ends with its pass, so the last one may be smaller, or is
    left out (``drop_last``), unless it is the only one.
    """
    used = length - length % batch if drop_last and length > batch else length
    passes, offset = divmod(position, used)
    return _order(seed, passes, length)[offset : min(offset + batch, used)]


@lru_cache(maxsize=16)
def _order(seed: tuple[int, ...], passes: int, length: int) -> NDArray[np.int64]:
    order: NDArray[np.int64] = np.random.default_rng((*seed, passes)).permutation(length)
    order.setflags(write=False)
    return order


def draw_task(stage: StageConfig, seed: tuple[int, ...], step: int) -> str:
    """A step's task, drawn with probability weight / sum of weights, independently of other steps."""
    tasks = list(stage.tasks)
    weights = np.array([stage.tasks[task] for task in tasks])
    choice = np.random.default_rng((*seed, 0, step)).choice(len(tasks), p=weights / weights.sum())
    return tasks[choice]


def plans(given: StageInput, step: int, positions: Mapping[str, int]) -> Iterator[Plan]:
    """The stage's plans from ``step`` on; ``positions`` as the last draw before it left them."""
    now = dict(positions)
    for number in range(step, given.stage.steps):
        task = draw_task(given.stage, given.seed, number)
        needs = given.tasks[task]
        first = now.get(task, 0)
        size = given.batch_size(task, given.stage.batch)
        length = given.sources[task].count(needs)
        indices = endless(first, length, size, (*given.seed, needs.number), given.stage.drop_last)
        now[task] = first + len(indices)
        yield Plan(task, indices, first, dict(now))


def read(given: StageInput, plan: Plan) -> Draw:
    """A plan's examples, each from a generator of its own, then their partners, collated."""
    seed = (*given.seed, given.tasks[plan.task].number, 0)
    source = given.sources[plan.task]
    examples = [
        source.example(int(index), np.random.default_rng((*seed, plan.first + place)))
        for place, index in enumerate(plan.indices)
    ]
    partners = [example.partner for example in examples if example.partner is not None]
    return Draw(plan.task, given.collate(examples + partners), plan.positions)


def draws(given: StageInput, step: int, positions: Mapping[str, int]) -> Iterator[Draw]:
    """The stage's draws (see ``plans``), read ahead in threads."""
    with ThreadPoolExecutor(PREFETCHED) as pool:
        ahead: deque[Future[Draw]] = deque()
        try:
            for plan in plans(given, step, positions):
                ahead.append(pool.submit(read, given, plan))
                if len(ahead) > PREFETCHED:
                    yield ahead.popleft().result()
            while ahead:
                yield ahead.popleft().result()
        finally:
            for waiting in ahead:
                waiting.cancel()
