"""Worker processes that end with the one that started them, and the processes that ``torchrun`` starts."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import active_children, get_context, parent_process
from typing import Any

_LAUNCH = {"RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT"}
"""What ``torchrun`` tells its processes by."""


@contextmanager
def worker_pool(
    count: int, start: Callable[..., object] | None = None, arguments: tuple[Any, ...] = ()
) -> Iterator[ProcessPoolExecutor]:
    """Processes that work for this one; a block that is left by an error or an interrupt ends them at once.

    start: called in each of them before its first task, with ``arguments``.
    """
    others = set(active_children())
    with ProcessPoolExecutor(count, get_context("spawn"), _prepare, (start, arguments)) as pool:
        try:
            yield pool
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in set(active_children()) - others:  # nobody waits for a task of a minute
                process.terminate()
            raise


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
