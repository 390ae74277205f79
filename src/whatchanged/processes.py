"""Worker processes of this machine, workers of a cluster, and the processes that ``torchrun`` starts.

A worker process ends when its parent process ends.
"""

import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, as_completed, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from contextvars import ContextVar
from multiprocessing import active_children, get_context, parent_process
from multiprocessing.process import BaseProcess
from typing import Any, TypeVar

from whatchanged.errors import WhatchangedError
from whatchanged.programs import safe_environment

AHEAD = 512
"""The largest number of tasks that are started before the first task is finished.

The results of these tasks are kept in memory.
"""
Start = Callable[..., object] | None
Piece = TypeVar("Piece")
Result = TypeVar("Result")

_make_pool: ContextVar[Callable[[Start, tuple[Any, ...]], Executor] | None] = ContextVar("pool", default=None)
"""The function that creates a pool of workers elsewhere, such as on a cluster.

If the value is None, processes of this machine are used.
"""

_LAUNCH = {"RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT"}
"""The environment variables that ``torchrun`` sets for its processes."""


@contextmanager
def pools_from(make: Callable[[Start, tuple[Any, ...]], Executor]) -> Iterator[None]:
    """Inside the block, ``worker_pool`` uses the pool of workers that ``make`` returns, for example the
    workers of a cluster. make: a function that returns the pool. Its arguments are the ``start`` and the
    ``arguments`` of ``worker_pool``.
    """
    before = _make_pool.set(make)
    try:
        yield
    finally:
        _make_pool.reset(before)


def works_elsewhere() -> bool:
    """Return whether the workers of ``worker_pool`` run elsewhere, such as on a cluster."""
    return _make_pool.get() is not None


@contextmanager
def worker_pool(count: int, start: Start = None, arguments: tuple[Any, ...] = ()) -> Iterator[Executor]:
    """Yield a pool of worker processes.

    An error or an interrupt in the block ends the workers immediately. start: a function that each worker
    calls with ``arguments`` before its first task. Inside a ``pools_from`` block, the pool comes from
    ``pools_from``, and ``count`` has no effect. Raises WhatchangedError if a worker is killed by the system
    or by another program.
    """
    make = _make_pool.get()
    if make is not None:
        with make(start, arguments) as elsewhere:
            try:
                yield elsewhere
            except BaseException:
                elsewhere.shutdown(wait=False, cancel_futures=True)
                raise
        return
    others = set(active_children())
    # A pool starts its processes when there is work for them, so all of its life is inside.
    with (
        safe_environment(),
        ProcessPoolExecutor(count, get_context("spawn"), _prepare, (start, arguments)) as pool,
    ):
        try:
            yield pool
        except BrokenProcessPool as error:
            raise WhatchangedError(
                "A worker process was ended from outside, perhaps for lack of memory. Run the same command"
                " again with fewer --workers; what was written stays. In a script of your own, put the calls"
                ' below if __name__ == "__main__", since workers import the script.'
            ) from error
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in set(active_children()) - others:  # nobody waits for a task of a minute
                process.terminate()
            raise


def start_process(work: Callable[..., object], arguments: tuple[Any, ...]) -> BaseProcess:
    """Start and return a child process.

    The child process ends at the latest when this process ends. work: the function that the child process
    calls with ``arguments``. This function should first call ``end_with_parent``.
    """
    process = get_context("spawn").Process(target=work, args=arguments, daemon=True)
    with safe_environment():
        process.start()
    return process


def in_order(begun: Iterable[Future[Result]], ahead: int = AHEAD) -> Iterator[Result]:
    """Yield the results of tasks in the order in which the tasks were started.

    A result is yielded as soon as the task and all earlier tasks are finished. begun: an iterator that starts
    one task at each step. ahead: the largest number of tasks that are started before the first result is
    yielded.
    """
    waiting: deque[Future[Result]] = deque()
    for future in begun:
        waiting.append(future)
        while waiting and (waiting[0].done() or len(waiting) >= ahead):
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


def as_they_come(
    begun: Iterable[tuple[Piece, Future[Result]]], ahead: int = AHEAD
) -> Iterator[tuple[Piece, Result]]:
    """Yield the subject and the result of each task, in the order in which the tasks finish.

    begun: an iterator that starts one task at each step, and returns the subject of the task with the task.
    ahead: the largest number of tasks that are started before the first result is yielded.
    """
    waiting: dict[Future[Result], Piece] = {}
    for part, future in begun:
        waiting[future] = part
        done = wait(waiting, None if len(waiting) >= ahead else 0, FIRST_COMPLETED).done
        yield from ((waiting.pop(future), future.result()) for future in done)
    for future in as_completed(list(waiting)):
        yield waiting[future], future.result()


def _prepare(start: Callable[..., object] | None, arguments: tuple[Any, ...]) -> None:
    end_with_parent()
    if start is not None:
        start(*arguments)


def launched_processes() -> int:
    """Return the number of processes that ``torchrun`` started to train together.

    Without ``torchrun``, the result is 1.
    """
    return int(os.environ["WORLD_SIZE"]) if os.environ.keys() >= _LAUNCH else 1


def launched_number(local: bool = False) -> int:
    """Return the rank of this process among the processes that ``torchrun`` started, from 0.

    local: whether to return the rank among the processes on this machine only.
    """
    return int(os.environ["LOCAL_RANK" if local else "RANK"]) if launched_processes() > 1 else 0


def end_with_parent() -> None:
    """Make this worker process ignore interrupts, and end when its parent process ends for any reason.

    Call this function in the worker process. Without this call, the workers of a killed parent process would
    wait for tasks forever.
    """
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_follow, daemon=True).start()


def _follow() -> None:
    parent = parent_process()
    assert parent is not None, "only a worker process follows another"
    parent.join()
    os._exit(1)
