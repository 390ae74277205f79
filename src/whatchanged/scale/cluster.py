"""The workers of a Ray cluster, in place of this machine's worker processes.

Inside ``joined``, every ``worker_pool`` consists of the cluster's workers. The tasks and their order are the
same as on one machine, so the results are, too. If a worker or its machine is lost, its task runs on another
worker; each result is returned once.
"""

import os
import socket
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whatchanged.errors import MissingExtra, WhatchangedError
from whatchanged.processes import AHEAD, in_order, pools_from
from whatchanged.programs import safe_environment
from whatchanged.telemetry import import_silent

LOCAL = "local"
"""The address of a cluster on this machine only, which ends with the command."""
ON_LOOPBACK = ("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
"""The variable that makes Ray's processes accept connections of this machine only on Linux, too."""
TRIES = 10
"""How often a task is repeated after its worker or machine was lost; a picture may be the cause of the
loss.
"""
LEAST_ROOM = 80 * 2**20
"""The least shared memory, in bytes, that Ray accepts; the results that pass through it are small."""


@contextmanager
def joined(address: str, seen: Sequence[Path] = ()) -> Iterator[int]:
    """Inside the block, ``worker_pool`` uses the cluster at this address; yield its present number of
    workers.

    address: ``local`` for this machine alone, ``auto`` for the cluster to which this machine belongs, or
    HOST:PORT of a cluster. seen: paths that every worker must find at the same place. If the program has
    already started a Ray session, that session is used and left running.

    Raises MissingExtra where Ray is not installed, WhatchangedError where no cluster answers.
    """
    if address == LOCAL:  # Ray looks once, when it is imported
        os.environ.setdefault(*ON_LOOPBACK)
    try:
        ray = import_silent("ray")
    except ModuleNotFoundError as error:
        raise MissingExtra("--ray", error.name or "ray", "scale") from error
    with safe_environment():
        ours = not ray.is_initialized()
        if ours:
            _connect(ray, address)
        try:
            folder = Path.cwd()
            with pools_from(lambda start, given: RayPool(_Setting(folder, tuple(seen), start, given))):
                yield max(2, int(ray.cluster_resources().get("CPU", 0)))  # one would be this process itself
        finally:
            if ours:
                ray.shutdown()


def _connect(ray: Any, address: str) -> None:
    """Start a cluster on this machine, or connect to a running cluster."""
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    quiet = {"logging_level": "ERROR", "log_to_driver": False}
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    here = {
        "num_cpus": cores,
        "include_dashboard": False,
        "object_store_memory": LEAST_ROOM,
        "_node_ip_address": "127.0.0.1",  # nobody else can reach it
    }
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # As a client's job, its workers do not look for modules in the working directory.
            job = ray.job_config.JobConfig(_client_job=True)
            ray.init(address=address, job_config=job, **quiet, **(here if address == LOCAL else {}))
    except Exception as error:  # Ray raises many kinds, not all its own
        reason = str(error).strip().partition("\n")[0] or type(error).__name__
        raise WhatchangedError(
            f"--ray {address}: no Ray cluster can be used there ({reason}). Start one with `ray start "
            f"--head`, or use --ray {LOCAL}."
        ) from error


@dataclass(frozen=True)
class _Setting:
    """The preparation of a worker of the cluster before the first task of a pool.

    folder: the command's working directory, to which paths are relative. seen: see ``joined``. start,
    arguments: see ``worker_pool``.
    """

    folder: Path
    seen: tuple[Path, ...]
    start: Callable[..., object] | None
    arguments: tuple[Any, ...]

    def prepare(self) -> None:
        """Prepare the worker in which this is called. Raises WhatchangedError where the worker does not see
        the files.
        """
        here = socket.gethostname()
        relative = [path for path in self.seen if not path.is_absolute()]
        try:
            os.chdir(self.folder)
        except OSError as error:
            if relative:
                raise WhatchangedError(_unseen(self.folder, here)) from error
        for path in self.seen:
            if not path.exists():
                raise WhatchangedError(_unseen(path, here))
        if self.start is not None:
            self.start(*self.arguments)


def _unseen(path: Path, host: str) -> str:
    return (
        f"{path}: a worker of the cluster, on {host}, does not see it. Put the files where every machine "
        "sees them at the same place, or name them by URL."
    )


class RayPool(Executor):
    """The workers of the cluster as an executor."""

    def __init__(self, setting: _Setting) -> None:
        self._ray = import_silent("ray")
        self._setting = setting
        self._key = os.urandom(8).hex()
        self._task = self._ray.remote(num_cpus=1, max_retries=TRIES)(_work)
        self._begun: dict[Future[Any], Any] = {}

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        """Return a future for the result of the function with these arguments."""
        reference = self._task.remote(self._key, self._setting, function, arguments, named)
        future: Future[Any] = Future()
        future.set_running_or_notify_cancel()
        self._begun[future] = reference
        reference.future().add_done_callback(lambda done: self._hand_over(done, future))
        return future

    def map(
        self,
        fn: Callable[..., Any],
        *iterables: Iterable[Any],
        timeout: float | None = None,
        chunksize: int = 1,
        buffersize: int | None = None,
    ) -> Iterator[Any]:
        """Yield the results in order, as an executor does. Only a part of a long iterable is submitted at a
        time.
        """
        begun = (self.submit(fn, *arguments) for arguments in zip(*iterables, strict=False))
        return in_order(begun, buffersize or AHEAD)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Wait for the tasks, or end them."""
        begun = list(self._begun.values())
        if cancel_futures:
            for reference in begun:
                self._ray.cancel(reference, force=True)
        elif wait and begun:
            self._ray.wait(begun, num_returns=len(begun))

    def _hand_over(self, done: "Future[Any]", future: "Future[Any]") -> None:
        """Copy Ray's result, or its error, to our future."""
        self._begun.pop(future, None)
        error = done.exception()
        if error is not None:
            reason = str(error).strip().partition("\n")[0]
            future.set_exception(
                WhatchangedError(
                    f"A part of the work was lost with {TRIES + 1} workers of the cluster, one after the "
                    f"other ({reason}). Run the same command again; what is written stays."
                )
            )
            return
        good, value = done.result()
        if good:
            future.set_result(value)
        else:
            future.set_exception(value)


_prepared: set[str] = set()
"""The pools for which this worker is prepared."""


def _work(
    key: str, setting: _Setting, function: Callable[..., Any], arguments: Sequence[Any], named: dict[str, Any]
) -> tuple[bool, Any]:
    """Run one task in a worker; return whether it succeeded, and its result or its error."""
    try:
        if key not in _prepared:
            setting.prepare()
            _prepared.add(key)
        return True, function(*arguments, **named)
    except WhatchangedError as error:
        return False, WhatchangedError(str(error))
    except Exception as error:
        error.add_note(f"On {socket.gethostname()}: {traceback.format_exc()}")
        return False, error
