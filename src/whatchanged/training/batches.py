"""Draws the task and the examples of each training step, and makes a batch of tensors from these examples.

Each random draw depends only on (seed, stage, task, position). A checkpoint therefore stores one whole number
per task, the task's position. A resumed run reads exactly the examples that an uninterrupted run would have
read.
"""

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, is_dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from whatchanged.errors import ShapeError
from whatchanged.recipes.methods import Task
from whatchanged.recipes.schema import StageConfig
from whatchanged.records import PairRecord
from whatchanged.training.distributed import batch_total, gather_batch, own_part, processes, rank
from whatchanged.vocabulary import PAD

PREFETCHED = 2
"""The number of batches that are read ahead. One thread reads each of these batches."""

Read = TypeVar("Read")

PictureReader = Callable[[Path], NDArray[Any]]
"""A function that reads one picture: the picture's features, or its pixels."""


@dataclass(frozen=True)
class Example:
    """One caption of one pair, with both pictures in the form that the recipe's vision reads.

    before, after: (N, F) features or (N, F') stored tokens, float32, or (H, W, 3) pixels, uint8.
    truth: the pair's ground truth; None for pairs that no program drew.
    partner: the other pair of the same scene, where a batch must hold both.
    """

    record: PairRecord
    caption: str
    before: NDArray[Any]
    after: NDArray[Any]
    negatives: tuple[str, ...] = ()
    truth: Any = None
    partner: "Example | None" = None


@dataclass(frozen=True)
class Part:
    """The rows of a batch that one process holds: the row numbers (b,), out of ``whole`` rows."""

    rows: Tensor
    whole: int


@dataclass(frozen=True)
class Batch:
    """B examples as tensors. L text positions, K false captions.

    before, after: the inputs of ``Vision.tokens``.
    ids: (B, L) uncorrupted captions, BOS words EOS PAD; L is 0 where the task reads no captions.
    negatives_ids: (B, K, L) false captions. changed: (B,) 1 where the content changed, 0 for a distractor.
    generator: draws the random numbers of the corruption; None is torch's global generator.
    truth: the ground truth that the vision's losses need, a dataclass of tensors with a method ``to``; or
    None.
    single: the example has no picture after, and ``after`` must not be read.
    labels: (B, 2), the classes of both pictures.
    part: the rows that this process holds, where several processes share the batch. None: the process holds
    all rows. accumulate: the number of parts in which a loss reads the rows (``in_parts``).
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
    part: Part | None = None
    accumulate: int = 1

    def to(self, device: torch.device | str) -> "Batch":
        """Return the batch with its tensors on another device. The generator stays on its present device."""
        moved: dict[str, Any] = {
            name: value.to(device, non_blocking=True)
            for name, value in vars(self).items()
            if isinstance(value, Tensor)
        }
        if self.truth is not None:
            moved["truth"] = self.truth.to(device)
        return replace(self, **moved)

    def pin_memory(self) -> "Batch":
        """Return the batch in page-locked memory. A GPU copies from page-locked memory while the processor
        goes on. This needs a GPU.
        """
        pinned: dict[str, Any] = {
            name: value.pin_memory() for name, value in vars(self).items() if isinstance(value, Tensor)
        }
        return replace(self, **pinned)


def rows_of(value: Any, rows: slice) -> Any:
    """Return some rows of a tensor, or of each tensor in a dataclass or tuple. Other values are returned
    unchanged.
    """
    if isinstance(value, Tensor):
        return value[rows]
    if isinstance(value, tuple):
        own = [rows_of(member, rows) for member in value]
        return type(value)(*own) if hasattr(value, "_fields") else tuple(own)
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{name: rows_of(own, rows) for name, own in vars(value).items()})
    return value


def in_parts(read: Callable[..., Read], parts: int, *values: Any) -> Read:
    """Return ``read(*values)``, computed over ``parts`` parts of the rows, one after the other. With 1 part,
    ``read`` is simply called.

    Of each part, only the tensors that the losses need are stored. The backward pass computes the other
    activations of a part once more, which adds a third to the operations. The losses read the whole batch, so
    a contrastive loss keeps all its negatives. A trained backbone is not run in parts, because its batch
    normalisation needs whole batches.

    values: tensors (B, ...), or tuples or dataclasses of tensors; the first tensor determines B. read: must
    compute each row independently of the other rows. ``read`` returns a tensor (B, ...), or a tuple of
    tensors (B, ...) and of values that all rows share.

    Source: Gao et al., "Scaling Deep Contrastive Learning Batch Size under Memory Limited Setup", 2021.
    Departure: torch's checkpointing runs the second forward pass, so no gradients are stored between the two.
    """
    length = _length(values[0])
    if parts == 1 or length < 2:
        return read(*values)
    results = []
    for number in range(min(parts, length)):
        own = own_part(length, number, min(parts, length))
        rows = slice(own.start, own.stop)
        results.append(checkpoint(read, *(rows_of(value, rows) for value in values), use_reentrant=False))
    joined: Read = _joined(results)
    return joined


def _length(value: Any) -> int:
    """Return the number of rows of a tensor, or of the first tensor in a tuple or dataclass."""
    while not isinstance(value, Tensor):
        value = value[0] if isinstance(value, tuple) else next(iter(vars(value).values()))
    return len(value)


def _joined(parts: Sequence[Any]) -> Any:
    """Concatenate the tensors of all parts, also within tuples. Other values are taken from the first
    part.
    """
    first = parts[0]
    if isinstance(first, Tensor):
        return torch.cat([*parts])
    if not isinstance(first, tuple):
        return first
    members = [_joined(own) for own in zip(*parts, strict=True)]
    return type(first)(*members) if hasattr(first, "_fields") else tuple(members)


def draw_rows(
    shape: Sequence[int],
    generator: torch.Generator | None,
    device: torch.device,
    part: Part | None = None,
    axis: int = 0,
    normal: bool = False,
) -> Tensor:
    """Draw random numbers of ``shape``, uniform in [0, 1) or normal, for the rows of a batch along ``axis``.

    The numbers are drawn on the device of the generator (None: torch's global generator, on ``device``). If
    the process holds a part of the batch, it draws the numbers of the whole batch and returns the numbers of
    the rows that it holds.
    """
    sizes = list(shape)
    if part is not None:
        sizes[axis] = part.whole
    source = device if generator is None else generator.device
    draw = torch.randn if normal else torch.rand
    drawn = draw(sizes, generator=generator, device=source).to(device)
    return drawn if part is None else drawn.index_select(axis, part.rows.to(device))


def kinds_of_pairs(batch: Batch) -> Iterator[Tensor]:
    """Return the groups of pairs that share a loss, each group as the row numbers (b,) of its pairs.

    Usually all pairs form one group. In a batch of whole scenes there are two groups: the changed pairs, then
    the unchanged pairs. A batch holds whole scenes if ``changed`` is set. A method's ``collate`` sets
    ``changed`` for scenes alone. A group without a pair in any process is left out.
    """
    if batch.changed is None:
        yield torch.arange(len(batch.ids), device=batch.ids.device)
        return
    for changed in (1, 0):
        rows = (batch.changed == changed).nonzero()[:, 0]
        if batch_total(len(rows)):
            yield rows


Collate = Callable[[Sequence[Example]], Batch]
"""The method's function that makes tensors from examples."""


def stack_pictures(examples: Sequence[Example]) -> tuple[Tensor, Tensor]:
    """Return the examples' pictures (or tokens) before and after, (B, ...) each. Raises ShapeError where
    shapes differ.
    """

    def stack(side: str) -> Tensor:
        arrays = [getattr(example, side) for example in examples]
        shapes = sorted({array.shape for array in arrays})
        if len(shapes) > 1:
            raise ShapeError(
                f"pictures of one batch ({side}): got shapes {shapes}; all must be the same. Resize them."
            )
        return torch.from_numpy(np.stack(arrays))

    return stack("before"), stack("after")


class Source(Protocol):
    """A source of numbered examples. ``example`` draws everything that varies (a caption, the light) from
    ``rng``. Several threads call ``example`` at once.
    """

    def __len__(self) -> int: ...

    def count(self, task: Task) -> int:
        """Return how many examples a task can use, counted from the first example."""
        ...

    def example(self, index: int, rng: np.random.Generator) -> Example:
        """Return example number ``index``, which is below ``len(self)``."""
        ...


def read_examples(source: Source, numbers: Iterable[int]) -> Iterator[Example]:
    """Return the examples with these numbers. The number of an example seeds its random variation, so each
    call returns equal examples.
    """
    return (source.example(i, np.random.default_rng((0, i))) for i in numbers)


@dataclass(frozen=True)
class StageInput:
    """Everything that decides which batches a stage reads.

    sources: the source of each task of the stage. tasks: the requirements of each task. seed: (the run's
    seed, the stage's number). batch_size: the method's function, (task, the stage's batch) -> examples in one
    batch of that task. process: the number of this process, and how many processes share each batch. pinned:
    whether batches lie in page-locked memory, from which a GPU copies without the processor.
    """

    stage: StageConfig
    sources: Mapping[str, Source]
    tasks: Mapping[str, Task]
    seed: tuple[int, ...]
    batch_size: Callable[[str, int], int]
    collate: Collate
    process: tuple[int, int] = (0, 1)
    pinned: bool = False


@dataclass(frozen=True)
class StepPlan:
    """The plan of one step: its task, the numbers of its examples, and each stream's position before and
    after the step.
    """

    task: str
    indices: NDArray[np.int64]
    first: int
    positions: dict[str, int]


@dataclass(frozen=True)
class Draw:
    """One step's task and batch. ``positions`` are the positions of the streams after the step.

    examples: the number of examples without their partners. In the batch, the partners follow all other
    examples.
    """

    task: str
    batch: Batch
    positions: dict[str, int]
    examples: int

    def pin_memory(self) -> "Draw":
        """Pin the batch as ``Batch.pin_memory`` does. torch's data loader calls this method."""
        return replace(self, batch=self.batch.pin_memory())


def endless(
    position: int, length: int, batch: int, seed: tuple[int, ...], drop_last: bool = False
) -> NDArray[np.int64]:
    """Yields the indices of an endless shuffled stream of examples, starting at position ``position``.

    Each pass over the examples is a new permutation. A batch never spans two passes, so the last batch of a
    pass may be smaller. ``drop_last`` leaves out a smaller last batch, unless the pass has no other batch.
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
    """Draw a step's task with probability weight / sum of weights, independently of all other steps."""
    tasks = list(stage.tasks)
    weights = np.array([stage.tasks[task] for task in tasks])
    choice = np.random.default_rng((*seed, 0, step)).choice(len(tasks), p=weights / weights.sum())
    return tasks[choice]


def plans(given: StageInput, step: int, positions: Mapping[str, int]) -> Iterator[StepPlan]:
    """Yields the plans of the stage from ``step`` on. The streams start at the ``positions`` that the last
    draw returned.
    """
    now = dict(positions)
    for number in range(step, given.stage.steps):
        task = draw_task(given.stage, given.seed, number)
        needs = given.tasks[task]
        first = now.get(task, 0)
        size = given.batch_size(task, given.stage.batch)
        length = given.sources[task].count(needs)
        indices = endless(first, length, size, (*given.seed, needs.number), given.stage.drop_last)
        now[task] = first + len(indices)
        yield StepPlan(task, indices, first, dict(now))


def read(given: StageInput, plan: StepPlan) -> Draw:
    """Reads a plan's examples, then their partners, and makes a batch of both. Each example has a separate
    random generator.

    Where several processes share the batch, each process reads only its part. A process without examples gets
    a batch of 0 rows in the shape of the stage's first example.
    """
    seed = (*given.seed, given.tasks[plan.task].number, 0)
    source = given.sources[plan.task]
    own = own_part(len(plan.indices), *given.process)
    examples = [
        source.example(int(plan.indices[place]), np.random.default_rng((*seed, plan.first + place)))
        for place in own or range(1)
    ]
    partners = [example.partner for example in examples if example.partner is not None]
    batch = given.collate(examples + partners)
    return Draw(plan.task, batch if own else rows_of(batch, slice(0)), plan.positions, len(own))


def fitted(draw: Draw) -> Batch:
    """Return a draw's batch, adjusted to the batches of the other processes.

    Captions are padded to the longest caption of any process. ``part`` gives the rows of the whole batch that
    this process holds. In the whole batch, all partners follow behind all examples. If one process does not
    know which of its pairs changed, ``changed`` is None in every process.
    """
    batch = draw.batch
    if processes() == 1:
        return batch
    false = batch.negatives_ids
    lengths = batch.ids.shape[1], 0 if false is None else false.shape[2]
    about = (draw.examples, len(batch.ids) - draw.examples, *lengths, batch.changed is None)
    of_each = gather_batch(torch.tensor([about]))  # (processes, 5)
    before, whole, longest = of_each[: rank()].sum(0), of_each.sum(0), of_each.amax(0)
    examples = before[0] + torch.arange(about[0])
    partners = whole[0] + before[1] + torch.arange(about[1])
    return replace(
        batch,
        ids=F.pad(batch.ids, (0, int(longest[2]) - lengths[0]), value=PAD),
        negatives_ids=None if false is None else F.pad(false, (0, int(longest[3]) - lengths[1]), value=PAD),
        changed=None if longest[4] else batch.changed,
        part=Part(torch.cat([examples, partners]), int(whole[0] + whole[1])),
    )


def draws(given: StageInput, step: int, positions: Mapping[str, int]) -> Generator[Draw]:
    """Yields the draws of the stage (see ``plans``). Threads read the draws ahead."""
    with ThreadPoolExecutor(PREFETCHED) as pool:
        ahead: deque[Future[Draw]] = deque()
        try:
            for plan in plans(given, step, positions):
                ahead.append(pool.submit(_read_ahead, given, plan))
                if len(ahead) > PREFETCHED:
                    yield ahead.popleft().result()
            while ahead:
                yield ahead.popleft().result()
        finally:
            for waiting in ahead:
                waiting.cancel()


def _read_ahead(given: StageInput, plan: StepPlan) -> Draw:
    """Runs in a thread. Reads the draw of a plan, and pins its memory if the stage requires pinned memory."""
    draw = read(given, plan)
    return draw.pin_memory() if given.pinned else draw
