"""From a source of examples to a mix of tasks: which examples each step trains on.

Every draw is a function of (seed, stage, task, position), so a position (one whole number a task) is all
that a checkpoint needs to go on with exactly the same examples.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from whatchanged.recipes.schema import StageConfig, Task
from whatchanged.records import PairRecord

TASK_NUMBERS: Mapping[Task, int] = {
    "seeing": 1, "mlm": 2, "mvcl": 3, "fda": 4, "caption": 5, "matching": 6, "retrieval": 7,
    "fgvc": 8,
}  # fmt: skip
"""Part of every stream's seed: fixed for ever, so that a recipe draws the same examples in later versions."""

PREFETCHED = 2
"""Batches that are read ahead, each in a thread of its own."""


Reader = Callable[[Path], NDArray[Any]]
"""How one picture is read: its features, or its pixels."""


@dataclass(frozen=True)
class Example:
    """One caption of one pair, with its pictures as the recipe's vision wants them.

    before, after: (N, F) features or (N, F') packed tokens, float32, or (H, W, 3) pixels, uint8.
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


class Source(Protocol):
    """Numbered examples. ``example`` draws all that varies (a caption, the light) from ``rng`` and is called
    from several threads at once."""

    def __len__(self) -> int: ...

    def count(self, task: str) -> int:
        """How many examples, from the first on, a task can use."""
        ...

    def example(self, index: int, rng: np.random.Generator) -> Example:
        """Example ``index`` of ``len(self)``."""
        ...


def read_examples(source: Source, numbers: Iterable[int]) -> Iterator[Example]:
    """These examples, whatever they draw drawn from their numbers: the same each time."""
    return (source.example(i, np.random.default_rng((0, i))) for i in numbers)


Sourced = Source | Mapping[Task, Source]
"""One source for all tasks of a stage, or one for each."""


def source_of(source: Sourced, task: Task) -> Source:
    """What a task reads."""
    return source[task] if isinstance(source, Mapping) else source


@dataclass(frozen=True)
class Plan:
    """Which examples a step reads: task, their numbers, the stream's position before them, all after."""

    task: Task
    indices: NDArray[np.int64]
    first: int
    positions: dict[str, int]


@dataclass(frozen=True)
class Draw:
    """One step's task and examples; ``positions`` is where the streams stand after it.

    batch: the examples as the method collates them, where that is done already.
    """

    task: Task
    examples: list[Example]
    positions: dict[str, int]
    batch: Any = None


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


def draw_task(stage: StageConfig, seed: tuple[int, ...], step: int) -> Task:
    """A step's task, drawn with probability weight / sum of weights, independently of other steps."""
    tasks = list(stage.tasks)
    weights = np.array([stage.tasks[task] for task in tasks])
    choice = np.random.default_rng((*seed, 0, step)).choice(len(tasks), p=weights / weights.sum())
    return next(task for task in TASK_NUMBERS if task == tasks[choice])


def plans(
    source: Sourced,
    stage: StageConfig,
    seed: tuple[int, ...],
    batch_size: Callable[[str, int], int],
    step: int,
    positions: Mapping[str, int],
) -> Iterator[Plan]:
    """The stage's plans from ``step`` on; ``positions`` as the last draw before it left them.

    batch_size: the method's own, (task, the stage's batch) -> examples in one batch of that task.
    """
    now = dict(positions)
    for number in range(step, stage.steps):
        task = draw_task(stage, seed, number)
        first = now.get(task, 0)
        size = batch_size(task, stage.batch)
        length = source_of(source, task).count(task)
        indices = endless(first, length, size, (*seed, TASK_NUMBERS[task]), stage.drop_last)
        now[task] = first + len(indices)
        yield Plan(task, indices, first, dict(now))


def read(source: Sourced, plan: Plan, seed: tuple[int, ...]) -> Draw:
    """A plan's examples, each from a generator of its own, then their partners."""
    numbers = range(plan.first, plan.first + len(plan.indices))
    rngs = (np.random.default_rng((*seed, TASK_NUMBERS[plan.task], 0, number)) for number in numbers)
    own = source_of(source, plan.task)
    examples = [own.example(int(index), rng) for index, rng in zip(plan.indices, rngs, strict=True)]
    partners = [example.partner for example in examples if example.partner is not None]
    return Draw(plan.task, examples + partners, plan.positions)


def draws(
    source: Sourced,
    stage: StageConfig,
    seed: tuple[int, ...],
    batch_size: Callable[[str, int], int],
    step: int,
    positions: Mapping[str, int],
) -> Iterator[Draw]:
    """The stage's draws (see ``plans``), read ahead in threads."""
    with ThreadPoolExecutor(PREFETCHED) as pool:
        ahead: deque[Future[Draw]] = deque()
        try:
            for plan in plans(source, stage, seed, batch_size, step, positions):
                ahead.append(pool.submit(read, source, plan, seed))
                if len(ahead) > PREFETCHED:
                    yield ahead.popleft().result()
            while ahead:
                yield ahead.popleft().result()
        finally:
            for waiting in ahead:
                waiting.cancel()
