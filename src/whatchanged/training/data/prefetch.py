"""Worker processes that read batches ahead, for a GPU that is faster than one process can read.

The examples, their order and their random numbers are those of ``batches.draws``. The workers are forked, so
that the workers share the source's memory. The workers compute only on the CPU. Batches come back through
shared memory.
"""

import signal
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any, cast

import torch
from torch.utils.data import DataLoader, Dataset

from whatchanged.errors import WhatchangedError
from whatchanged.processes import end_with_parent
from whatchanged.training.batches import Draw, StageInput, StepPlan, plans, read

AHEAD = 2
"""The number of batches that each worker prepares in advance."""


@dataclass(frozen=True)
class _Read(Dataset[Draw | WhatchangedError]):
    """A data set whose items are the draws of a stage. Each item is read from the plan of one step.

    A WhatchangedError is returned as a value, because an error raised in a worker would be wrapped in a
    traceback.
    """

    given: StageInput

    def __getitem__(self, plan: StepPlan) -> Draw | WhatchangedError:
        try:
            return read(self.given, plan)
        except WhatchangedError as error:
            return error


def draws_by_processes(
    given: StageInput, step: int, positions: Mapping[str, int], processes: int
) -> Generator[Draw]:
    """Yield the examples of each step of a stage, from ``step`` on. Worker processes read them.

    Raises the first WhatchangedError of a worker. The workers end with the generator.
    """
    loader = DataLoader(
        _Read(given),
        batch_size=None,
        sampler=plans(given, step, positions),
        num_workers=processes,
        prefetch_factor=AHEAD,
        pin_memory=given.pinned,
        multiprocessing_context="fork",
        collate_fn=cast(Any, _unchanged),
        worker_init_fn=_start,
        generator=torch.Generator(),  # the loader draws from it; the global one belongs to the run's state
    )
    reading = iter(loader)
    try:
        for draw in reading:
            if isinstance(draw, WhatchangedError):
                raise draw
            yield draw
    finally:
        # Now, not when the last traceback that holds it goes: workers are deaf to the signal that ends them.
        cast(Any, reading)._shutdown_workers()


def _start(number: int) -> None:
    """Let a worker end with its parent process only. A signal to the whole process group does not end the
    worker, because the run must be saved first.
    """
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    end_with_parent()


def _unchanged(draw: Draw | WhatchangedError) -> Draw | WhatchangedError:
    return draw
