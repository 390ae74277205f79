"""Large batches in little memory: what lies between a batch and its losses is kept of one part at a time.

The rows of a batch are read in parts. Of each, only what the losses need is kept; the rest is computed anew,
part by part, when the gradient comes back. The losses see the whole batch, so those that compare pairs with
each other stay what they are. It costs one more forward pass: a third more operations.

A backbone that learns is not read in parts: its batch normalisation needs whole batches.

Source: Gao et al., "Scaling Deep Contrastive Learning Batch Size under Memory Limited Setup", 2021.
Departure: torch's checkpointing does the second pass, so no gradients are stored at the seam.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from whatchanged.training.batches import rows_of
from whatchanged.training.distributed import own_part

Read = TypeVar("Read")


def in_parts(read: Callable[..., Read], parts: int, *values: Any) -> Read:
    """``read(*values)``, of so many parts of the rows one after the other; with 1 it is just that.

    values: tensors (B, ...), or tuples or dataclasses of them; the first holds the rows' number. read: makes
    of rows the same numbers whatever other rows are with them; a tensor (B, ...), or a tuple of such and of
    what is alike for all rows.
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
    """How many rows a tensor has, or the first tensor within."""
    while not isinstance(value, Tensor):
        value = value[0] if isinstance(value, tuple) else next(iter(vars(value).values()))
    return len(value)


def _joined(parts: Sequence[Any]) -> Any:
    """The parts' tensors behind each other, within tuples as well; anything else is alike in all parts."""
    first = parts[0]
    if isinstance(first, Tensor):
        return torch.cat([*parts])
    if not isinstance(first, tuple):
        return first
    members = [_joined(own) for own in zip(*parts, strict=True)]
    return type(first)(*members) if hasattr(first, "_fields") else tuple(members)
