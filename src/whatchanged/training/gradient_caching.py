"""Trains large batches in little memory: activations before the losses are stored for one part of a batch at
a time.

The rows of a batch are read in parts. Of each part, only the tensors that the losses need are stored. The
backward pass computes the other activations of a part once more. The losses read the whole batch, so a
contrastive loss keeps all its negatives. The cost is a second forward pass, which adds a third to the
operations.

A trained backbone is not run in parts, because its batch normalisation needs whole batches.

Source: Gao et al., "Scaling Deep Contrastive Learning Batch Size under Memory Limited Setup", 2021.
Departure: torch's checkpointing runs the second forward pass, so no gradients are stored between the two.
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
    """Return ``read(*values)``, computed over ``parts`` parts of the rows, one after the other. With 1 part,
    ``read`` is simply called.

    values: tensors (B, ...), or tuples or dataclasses of tensors; the first tensor determines B. read: must
    compute each row independently of the other rows. ``read`` returns a tensor (B, ...), or a tuple of
    tensors (B, ...) and of values that all rows share.
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
