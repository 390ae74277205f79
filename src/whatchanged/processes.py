"""Worker processes that end with their parent, workers of a cluster, and the processes that ``torchrun``
starts.
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
"""How many tasks are begun before the first is done: their results wait in memory."""
Start = Callable[..., object] | None
Piece = TypeVar("Piece")
Result = TypeVar("Result")

_make_pool: ContextVar[Callable[[Start, tuple[Any, ...]], Executor] | None] = ContextVar("pool", default=None)
"""The function that makes workers in place of this machine's processes; None: this machine's are used."""

_LAUNCH = {"RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT"}
"""The environment variables that ``torchrun`` sets for its processes."""


@contextmanager
def pools_from(make: Callable[[Start, tuple[Any, ...]], Executor]) -> Iterator[None]:
    """Inside the block, ``worker_pool`` uses the workers that ``make`` returns, such as those of a cluster.

    make: a function of ``start`` and ``arguments``, as those of ``worker_pool``.
    """
    before = _make_pool.set(make)
    try:
        yield
    finally:
        _make_pool.reset(before)


def works_elsewhere() -> bool:
    """Return whether ``worker_pool`` gives other workers than this machine's processes."""
    return _make_pool.get() is not None


@contextmanager
def worker_pool(count: int, start: Start = None, arguments: tuple[Any, ...] = ()) -> Iterator[Executor]:
    """Yield a pool of worker processes; an error or an interrupt in the block ends them at once.

    start: a function that each worker calls before its first task, with ``arguments``. Inside ``pools_from``
    the pool is the one made there, whatever ``count`` is. Raises WhatchangedError where a worker is killed
    from outside.
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
    """Start a process that works for this one and ends with it at the latest; yield it.

    work: the function that it calls, with ``arguments``; it should call ``end_with_parent`` first.
    """
    process = get_context("spawn").Process(target=work, args=arguments, daemon=True)
    with safe_environment():
        process.start()
    return process


def in_order(begun: Iterable[Future[Result]], ahead: int = AHEAD) -> Iterator[Result]:
    """Yield the results of tasks in the order in which they were begun, each as soon as it is there.

    begun: an iterator that begins one task at each step. ahead: how many tasks are begun, with their results
    kept, before the first result is yielded.
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
    """Yield the tasks' subjects with their results, in the order in which the tasks finish.

    begun, ahead: as for ``in_order``; each task comes with its subject.
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
    """Return how many processes ``torchrun`` started to train together; 1 without it."""
    return int(os.environ["WORLD_SIZE"]) if os.environ.keys() >= _LAUNCH else 1


def launched_number(local: bool = False) -> int:
    """Return the rank of this process among them, from 0; local: among those of its machine."""
    return int(os.environ["LOCAL_RANK" if local else "RANK"]) if launched_processes() > 1 else 0


def end_with_parent() -> None:
    """Make a worker process ignore interrupts, and end when its parent ends, however that happens.

    Call it in the worker. A parent that is killed cannot tell its workers, and they would wait for work
    forever.
    """
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_follow, daemon=True).start()


def _follow() -> None:
    parent = parent_process()
    assert parent is not None, "only a worker process follows another"
    parent.join()
    os._exit(1)
