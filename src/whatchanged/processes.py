"""Worker processes that end with the one that started them, workers elsewhere in their place, and the
processes that ``torchrun`` starts.
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
"""Tasks that are begun before the first is done: their results wait in memory."""
Start = Callable[..., object] | None
Piece = TypeVar("Piece")
Result = TypeVar("Result")

_make_pool: ContextVar[Callable[[Start, tuple[Any, ...]], Executor] | None] = ContextVar("pool", default=None)
"""What gives workers in place of this machine's processes; None: nothing does."""

_LAUNCH = {"RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT"}
"""What ``torchrun`` tells its processes by."""


@contextmanager
def pools_from(make: Callable[[Start, tuple[Any, ...]], Executor]) -> Iterator[None]:
    """Inside, ``worker_pool`` gives the workers that ``make`` makes, such as those of a cluster.

    make: is given ``start`` and ``arguments`` as ``worker_pool`` is.
    """
    before = _make_pool.set(make)
    try:
        yield
    finally:
        _make_pool.reset(before)


def works_elsewhere() -> bool:
    """Whether ``worker_pool`` gives other workers than this machine's processes."""
    return _make_pool.get() is not None


@contextmanager
def worker_pool(count: int, start: Start = None, arguments: tuple[Any, ...] = ()) -> Iterator[Executor]:
    """Processes that work for this one; a block that is left by an error or an interrupt ends them at once.

    start: called in each of them before its first task, with ``arguments``. Inside ``pools_from`` the workers
    are those that it names, whatever their count. Raises WhatchangedError where one is ended from outside.
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
                " again with fewer --workers; what was written stays. In a script of your own: workers import"
                ' it anew, so what it does has to stand below if __name__ == "__main__".'
            ) from error
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in set(active_children()) - others:  # nobody waits for a task of a minute
                process.terminate()
            raise


def start_process(work: Callable[..., object], arguments: tuple[Any, ...]) -> BaseProcess:
    """A process of its own that works for this one, already started, and ends with it at the latest.

    work: what it calls, with ``arguments``; it should call ``end_with_parent`` first.
    """
    process = get_context("spawn").Process(target=work, args=arguments, daemon=True)
    with safe_environment():
        process.start()
    return process


def in_order(begun: Iterable[Future[Result]], ahead: int = AHEAD) -> Iterator[Result]:
    """The results of tasks in the order in which they are begun, each as soon as it can be had.

    begun: begins a task whenever it is asked for the next one. ahead: tasks that are begun, and results that
    are kept, before the first of them is handed over.
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
    """Tasks' parts and results, those first that are done first.

    begun, ahead: as for ``in_order``, with what each task is about.
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
    """How many processes ``torchrun`` started to train together; 1 without it."""
    return int(os.environ["WORLD_SIZE"]) if os.environ.keys() >= _LAUNCH else 1


def launched_number(local: bool = False) -> int:
    """The number of this process among them, from 0; local: among those of its machine."""
    return int(os.environ["LOCAL_RANK" if local else "RANK"]) if launched_processes() > 1 else 0


def end_with_parent() -> None:
    """To be called in a worker: it leaves interrupts to its parent, and ends when that does, however it ends.

    A parent that is killed cannot tell its workers, and they would wait for work forever.
    """
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_follow, daemon=True).start()


def _follow() -> None:
    parent = parent_process()
    assert parent is not None, "only a worker process follows another"
    parent.join()
    os._exit(1)
