"""Draws that processes read and collate ahead, for a GPU that learns faster than one interpreter reads.

Same examples, same order, same numbers as ``batches.draws``: only who reads them differs. The processes are
forked, so that the source is shared; they compute on the CPU alone. Batches come back through shared memory.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import torch
from torch.utils.data import DataLoader, Dataset

from whatchanged.errors import WhatchangedError
from whatchanged.recipes.schema import StageConfig
from whatchanged.training.batches import Draw, Example, Plan, Sourced, plans, read
from whatchanged.training.vision.base import Batch

AHEAD = 2
"""Batches that each process has read ahead."""


@dataclass(frozen=True)
class _Collated(Dataset[Draw | WhatchangedError]):
    """Plan -> its draw, collated, without the examples.

    What a person can mend comes back as it is: the loader would wrap a raised error in its worker's trace.
    """

    source: Sourced
    seed: tuple[int, ...]
    collate: Callable[[Sequence[Example]], Batch]

    def __getitem__(self, plan: Plan) -> Draw | WhatchangedError:
        try:
            draw = read(self.source, plan, self.seed)
            return replace(draw, examples=[], batch=self.collate(draw.examples))
        except WhatchangedError as error:
            return error


def collated_draws(
    source: Sourced,
    stage: StageConfig,
    seed: tuple[int, ...],
    batch_size: Callable[[str, int], int],
    step: int,
    positions: Mapping[str, int],
    collate: Callable[[Sequence[Example]], Batch],
    processes: int,
) -> Iterator[Draw]:
    """The stage's draws (see ``batches.plans``), each with its ``batch`` and without its examples."""
    loader = DataLoader(
        _Collated(source, seed, collate),
        batch_size=None,
        sampler=plans(source, stage, seed, batch_size, step, positions),
        num_workers=processes,
        prefetch_factor=AHEAD,
        multiprocessing_context="fork",
        collate_fn=cast(Any, _as_it_is),
        generator=torch.Generator(),  # its own, as it draws from it: the global one is part of a run's state
    )
    for draw in loader:
        if isinstance(draw, WhatchangedError):
            raise draw
        yield draw


def _as_it_is(draw: Draw | WhatchangedError) -> Draw | WhatchangedError:
    return draw
