"""Batches that processes read ahead, for a GPU that learns faster than one interpreter reads.

Same examples, same order, same numbers as ``batches.draws``: only who reads them differs. The processes are
forked, so that the source is shared; they compute on the CPU alone. Batches come back through shared memory.
"""

import signal
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

import torch
from torch.utils.data import DataLoader, Dataset

from whatchanged.errors import WhatchangedError
from whatchanged.processes import end_with_parent
from whatchanged.training.batches import Draw, Plan, StageInput, plans, read

AHEAD = 2
"""Batches that each process has read ahead."""


@dataclass(frozen=True)
class _Read(Dataset[Draw | WhatchangedError]):
    """Plan -> its draw.

    A mistake that a person can mend comes back as a value: the loader would wrap a raised error in its
    worker's trace.
    """

    given: StageInput

    def __getitem__(self, plan: Plan) -> Draw | WhatchangedError:
        try:
            return read(self.given, plan)
        except WhatchangedError as error:
            return error


def draws_by_processes(
    given: StageInput, step: int, positions: Mapping[str, int], processes: int
) -> Iterator[Draw]:
    """The stage's draws (see ``batches.plans``), read by this many processes."""
    loader = DataLoader(
        _Read(given),
        batch_size=None,
        sampler=plans(given, step, positions),
        num_workers=processes,
        prefetch_factor=AHEAD,
        multiprocessing_context="fork",
        collate_fn=cast(Any, _unchanged),
        worker_init_fn=_start,
        generator=torch.Generator(),  # its own, as it draws from it: the global one is part of a run's state
    )
    for draw in loader:
        if isinstance(draw, WhatchangedError):
            raise draw
        yield draw


def _start(number: int) -> None:
    """A worker ends with its parent, not when the whole group is told to: the run saves first."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    end_with_parent()


def _unchanged(draw: Draw | WhatchangedError) -> Draw | WhatchangedError:
    return draw
