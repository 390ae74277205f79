"""Divides one batch among several processes, exchanges data between the processes, and adds up their losses.

``torchrun`` starts the processes, and each process reads a part of every batch. Each process computes its
share of a loss. The shares of all processes add up to the loss of the whole batch, and the gradients of the
shares add up to the gradient of that loss. For this purpose, a loss must use

- ``share_of_mean`` for a mean over pairs or words, because processes may hold different numbers of them;
- ``batch_total`` for a count by which the loss divides;
- ``gather_batch`` for the rows of all processes, with gradients, where the loss compares pairs with each
  other.

With a single process, each of these functions returns its input, bit for bit. With several processes, all
processes must call these functions in the same order, whatever rows they hold. A process may hold no rows.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor, distributed, nn
from torch.nn import functional as F

from whatchanged.errors import RecipeError
from whatchanged.json_values import read_json
from whatchanged.processes import launched_processes

TIMEOUT = timedelta(hours=6)
"""How long a process waits for a busy process, which makes false captions, for example. A process that ended
is noticed at once."""
BUCKET = 2**24
"""How many gradient values are sent at once: 64 MB in float32."""

Count = TypeVar("Count", int, Tensor)


@contextmanager
def joined() -> Iterator[None]:
    """Return a context in which the processes that ``torchrun`` started work together. Without ``torchrun``
    there is one process.
    """
    if launched_processes() == 1 or distributed.is_initialized():
        yield
        return
    backend = "cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo"
    distributed.init_process_group(backend, timeout=TIMEOUT)
    try:
        yield
    finally:
        distributed.destroy_process_group()


def processes() -> int:
    """Return how many processes share each batch."""
    return distributed.get_world_size() if distributed.is_initialized() else 1


def rank() -> int:
    """Return the number of this process, counted from 0. Process 0 writes the files."""
    return distributed.get_rank() if distributed.is_initialized() else 0


def own_part(length: int, number: int, count: int) -> range:
    """Return the slice of ``length`` items that process ``number`` of ``count`` processes reads. All slices
    are nearly equally long.
    """
    return range(length * number // count, length * (number + 1) // count)


def batch_total(count: Count) -> Count:
    """Return the sum of a count over all processes. The sum has no gradient."""
    if processes() == 1:
        return count
    if isinstance(count, int):
        return int(_added(torch.tensor(count)))
    return _added(count.detach())


def share_of_mean(mean: Tensor, count: int | Tensor) -> Tensor:
    """Return the share of this process in a mean over all processes. ``mean`` is the process's mean over its
    ``count`` items.

        share = mean · count / Σ_processes count

    A process with no items returns 0, with gradients of 0.
    """
    if processes() == 1:
        return mean
    own = torch.as_tensor(count, dtype=mean.dtype, device=mean.device)
    # The mean of nothing is not a number. It stays in the graph, so that all processes run the backward pass.
    finite = torch.where(own > 0, mean, mean.nan_to_num(0.0))
    return finite * (own / batch_total(own).clamp(min=1))


def gather_batch(rows: Tensor) -> Tensor:
    """Return the rows (b, ...) of all processes in order, (B, ...). Gradients flow back to the process of
    each row.

    If each process computes a loss over all gathered rows, all processes get equal losses. The share of one
    process is then ``share_of_mean(loss, b)``.
    """
    if processes() == 1:
        return rows
    first, total = _first_and_count(len(rows))
    # A sum with zeros is exact. It needs no rows of one number, and its gradient is a sum again.
    exact = rows.to(_sent_as(rows.dtype))
    edges = (0, 0) * (rows.ndim - 1) + (first, total - first - len(rows))
    whole: Tensor = add_up(F.pad(exact, edges))
    return whole.to(rows.dtype)


def first_row(count: int) -> int:
    """Return the index of this process's first row among the rows that ``gather_batch`` returns. count: the
    number of rows that this process holds.
    """
    return 0 if processes() == 1 else _first_and_count(count)[0]


def add_up(tensor: Tensor) -> Tensor:
    """Return the sum of a tensor over all processes, with gradients."""
    if processes() == 1:
        return tensor
    total: Tensor = _Sum.apply(tensor)  # type: ignore[no-untyped-call]
    return total


def add_up_gradients(parameters: Iterable[nn.Parameter]) -> None:
    """Give every parameter the sum of its gradients over all processes. If no process has a gradient for a
    parameter, its gradient is None.
    """
    if processes() == 1:
        return
    learning = [parameter for parameter in parameters if parameter.requires_grad]
    some = _added(torch.tensor([int(parameter.grad is not None) for parameter in learning]))
    moved = [parameter for parameter, count in zip(learning, some.tolist(), strict=True) if count]
    for bucket in _buckets(moved):
        flat = torch.cat([_gradient(parameter).flatten() for parameter in bucket])
        _all_reduce(flat)
        pieces = torch.split(flat, [parameter.numel() for parameter in bucket])
        for parameter, piece in zip(bucket, pieces, strict=True):
            parameter.grad = piece.view_as(parameter).clone()


def greatest(values: Sequence[int]) -> list[int]:
    """Return the elementwise maximum of the values over all processes."""
    if processes() == 1:
        return list(values)
    found = torch.tensor(values)
    _all_reduce(found, distributed.ReduceOp.MAX)
    return [int(value) for value in found]


def gather_texts(texts: Sequence[str]) -> list[str]:
    """Return the texts of all processes, in the order of the processes."""
    if processes() == 1:
        return list(texts)
    own = json.dumps(list(texts)).encode()
    joint = gather_batch(torch.frombuffer(bytearray(own), dtype=torch.uint8))
    lengths = gather_batch(torch.tensor([len(own)])).tolist()
    parts = bytes(joint.tolist())
    starts = [sum(lengths[:number]) for number in range(len(lengths))]
    lists = [read_json(parts[start : start + length]) for start, length in zip(starts, lengths, strict=True)]
    return [text for found in lists for text in found]


def wait_for_all() -> None:
    """Wait until all processes have called this function."""
    greatest([0])


@contextmanager
def first_process_first() -> Iterator[None]:
    """Return a context that the first process passes before the other processes enter. The other processes
    can then read files that the first process wrote.

    All processes wait for each other before this context. If the first process fails, the other processes
    raise RecipeError.
    """
    wait_for_all()
    if rank() and greatest([0])[0]:
        raise RecipeError("The first process stopped; its own message says why.")
    try:
        yield
    except BaseException:
        if not rank():
            greatest([1])
        raise
    if not rank():
        greatest([0])


@contextmanager
def random_draws(device: torch.device, seed: Sequence[int]) -> Iterator[torch.Generator | None]:
    """Yields the generator for random numbers of the whole batch. This generator draws equal numbers in all
    processes.

    The yielded generator continues from the state of torch's global generator. At the end, the global
    generator continues from the state of the yielded generator.
    Within the context, the global generator draws the numbers for dropout: it is seeded from ``seed`` and
    draws different numbers in each process. A single process uses torch's global generator for both purposes,
    and the context yields None.
    """
    if processes() == 1:
        yield None
        return
    kept = torch.get_rng_state()
    common = torch.Generator(device)
    common.set_state(torch.cuda.get_rng_state(device) if device.type == "cuda" else kept)
    torch.manual_seed(int(np.random.SeedSequence((*seed, rank())).generate_state(1)[0]))
    try:
        yield common
    finally:
        if device.type == "cuda":
            torch.set_rng_state(kept)
            torch.cuda.set_rng_state(common.get_state(), device)
        else:
            torch.set_rng_state(common.get_state())


def begin_alike(tensors: Iterable[Tensor], device: torch.device) -> None:
    """Give all processes the weights and random numbers of the first process."""
    if processes() == 1:
        return
    for tensor in tensors:
        distributed.broadcast(tensor.detach(), 0)
    state = torch.cuda.get_rng_state(device) if device.type == "cuda" else torch.get_rng_state()
    distributed.broadcast(state, 0)
    if device.type == "cuda":
        torch.cuda.set_rng_state(state, device)
    else:
        torch.set_rng_state(state)


class _Sum(torch.autograd.Function):
    """The sum of a tensor over all processes. The gradient of this sum is the sum of all processes'
    gradients, because each process has a share of the loss.
    """

    @staticmethod
    def forward(ctx: Any, tensor: Tensor) -> Tensor:
        return _added(tensor)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        return _added(gradient)


def _added(numbers: Tensor) -> Tensor:
    total = numbers.clone(memory_format=torch.contiguous_format)
    _all_reduce(total)
    return total


def _all_reduce(numbers: Tensor, by: distributed.ReduceOp.RedOpType = distributed.ReduceOp.SUM) -> None:
    """Replace numbers by their sum (or maximum) over all processes. Raises RecipeError if another process
    has ended.
    """
    try:
        distributed.all_reduce(numbers, by)
    except RuntimeError as error:
        raise RecipeError(
            f"Another process of this run ended; its own message says why ({error}). What was learned up to"
            " the last checkpoint stays: go on with --resume."
        ) from error


def _first_and_count(count: int) -> tuple[int, int]:
    """Return how many rows the processes before this process hold, and how many rows all processes hold."""
    counts = torch.zeros(processes(), dtype=torch.long)
    counts[rank()] = count
    found = _added(counts).tolist()
    return sum(found[: rank()]), sum(found)


def _sent_as(dtype: torch.dtype) -> torch.dtype:
    """Return the type in which numbers of ``dtype`` can be sent without loss."""
    if dtype.is_floating_point:
        return torch.promote_types(dtype, torch.float32)
    return torch.long


def _gradient(parameter: nn.Parameter) -> Tensor:
    return torch.zeros_like(parameter) if parameter.grad is None else parameter.grad


def _buckets(parameters: Sequence[nn.Parameter]) -> Iterator[list[nn.Parameter]]:
    """Group the parameters, in order and by type, into groups of at most ``BUCKET`` numbers. A larger
    parameter forms a group alone.
    """
    bucket: list[nn.Parameter] = []
    size = 0
    for parameter in parameters:
        if bucket and (size + parameter.numel() > BUCKET or parameter.dtype != bucket[0].dtype):
            yield bucket
            bucket, size = [], 0
        bucket.append(parameter)
        size += parameter.numel()
    if bucket:
        yield bucket
