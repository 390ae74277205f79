"""Commands as processes that are stopped, each in a session of its own: all that it starts can be found."""

import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

GRACE = 20.0
"""Seconds in which the processes of a command that has ended must end, too."""
_DEFAULT = (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE)


class Process:
    """A running command: what it says on stderr, and how it ends."""

    def __init__(self, pid: int, stderr: int) -> None:
        self.pid = pid
        self._said = bytearray()
        self._code: int | None = None
        self._reader = threading.Thread(target=self._read, args=(stderr,), daemon=True)
        self._reader.start()

    def _read(self, stderr: int) -> None:
        with open(stderr, "rb") as stream:
            while part := stream.read1(1 << 16):
                self._said += part

    def wait(self, seconds: float) -> bool:
        """Whether it ends within so many seconds."""
        until = time.monotonic() + seconds
        while self._code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self._code = os.waitstatus_to_exitcode(status)
            elif time.monotonic() >= until:
                return False
            else:
                time.sleep(0.001)
        return True

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal, unless it has ended."""
        if self._code is None:
            os.kill(self.pid, number)

    def ended(self, seconds: float) -> tuple[int, str]:
        """Its exit code, negative for a signal, and what it said. Raises TimeoutError, and ends it."""
        if not self.wait(seconds):
            os.kill(self.pid, signal.SIGKILL)
            self.wait(GRACE)
            raise TimeoutError(f"process {self.pid} did not end within {seconds:g} s")
        self._reader.join(1.0)  # a process that it started may hold the pipe open
        assert self._code is not None
        return self._code, bytes(self._said).decode("utf-8", "replace")


def start(
    arguments: Sequence[str], folder: Path, execute: bool, prepare: Callable[[], None] | None = None
) -> Process:
    """Start ``whatchanged`` with these arguments in a folder.

    execute: as a new interpreter; else as a copy of this process, which has everything imported. prepare: is
    called in the process before the command begins.
    """
    if not execute:
        import_all()
    reading, writing = os.pipe()
    pid = os.fork()
    if pid:
        os.close(writing)
        return Process(pid, reading)
    code = 70
    try:
        os.close(reading)
        code = _become(arguments, folder, execute, writing, prepare)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _become(
    arguments: Sequence[str], folder: Path, execute: bool, stderr: int, prepare: Callable[[], None] | None
) -> int:
    """In the new process: be the command; returns its exit code."""
    os.setsid()
    for number in _DEFAULT[:2]:
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    os.dup2(os.open(os.devnull, os.O_RDWR), 1)
    os.dup2(stderr, 2)
    os.close(stderr)
    sys.stdout = os.fdopen(1, "w", closefd=False)  # pytest may have replaced them by its own
    sys.stderr = os.fdopen(2, "w", closefd=False, errors="backslashreplace")
    os.chdir(folder)
    if prepare is not None:
        prepare()
    if execute:
        os.execv(sys.executable, [sys.executable, "-m", "whatchanged", *arguments])
    from whatchanged.cli import main

    sys.argv = ["whatchanged", *arguments]
    try:
        main()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


def import_all() -> None:
    """Import what commands import when they run, once, so that their copies need not."""
    import onnxruntime  # noqa: F401
    import scipy.ndimage  # noqa: F401
    import torch  # noqa: F401

    import whatchanged.cli
    import whatchanged.evaluation.report.from_files
    import whatchanged.synth.clevr.twin
    import whatchanged.training.export
    import whatchanged.training.features.store
    import whatchanged.training.run  # noqa: F401


def left_of(process: Process) -> list[int]:
    """Processes of the command's session that are alive though it has ended, and do not end soon."""
    until = time.monotonic() + GRACE
    while alive := _session(process.pid):
        if time.monotonic() >= until:
            for pid in alive:
                os.kill(pid, signal.SIGKILL)
            return alive
        time.sleep(0.01)
    return []


def _session(leader: int) -> list[int]:
    """Processes of a session, those that have ended aside."""
    results = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            state = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if state[0] != "Z" and int(state[3]) == leader:
            results.append(int(entry.name))
    return results
