"""Find and start other programs safely: their paths, and the environment that they and their children get.

The working directory may be a stranger's, such as a repository that was just cloned. Nothing in it runs: no
module (a new Python interpreter would search it first), no program, no library.
"""

import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SAFE_PATH = "PYTHONSAFEPATH"
"""While this variable is set, new interpreters do not look for modules in the working directory."""
FOLDERS = ("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "CLASSPATH")
"""Variables that list folders of programs and libraries; an empty entry means the working directory."""


def find_program(name: str, path: str | None = None) -> str | None:
    """Return the absolute path of a program; None where it is not installed.

    path: the folders to search, separated as in ``$PATH``, which is the default. Relative folders and the
    working directory itself are skipped.
    """
    for folder in _elsewhere(os.environ.get("PATH", os.defpath) if path is None else path):
        found = shutil.which(name, path=folder)
        if found is not None and Path(found).is_absolute():
            return found
    return None


def program_environment(**further: str) -> dict[str, str]:
    """Return the environment for a program that is started now: this process's own, made safe, with
    ``further`` variables.
    """
    return {**os.environ, **_safe_variables(), **further}


@contextmanager
def safe_environment() -> Iterator[None]:
    """Make this process's own environment safe during the block, for programs that libraries start.

    Such are the workers of a pool and their resource tracker, compilers, and a cluster's processes. Several
    threads may be inside; the last one to leave restores the variables.
    """
    _variables.make_safe()
    try:
        yield
    finally:
        _variables.put_back()


def _elsewhere(folders: str) -> list[str]:
    """Return the absolute folders among these, without the working directory."""
    here = os.path.realpath(os.curdir)
    parts = folders.split(os.pathsep)
    return [part for part in parts if Path(part).is_absolute() and os.path.realpath(part) != here]


def _safe_variables() -> dict[str, str]:
    """Return the variables that keep a new process from using the working directory."""
    safe = {SAFE_PATH: "1"}
    for name in FOLDERS:
        if name in os.environ:
            safe[name] = os.pathsep.join(_elsewhere(os.environ[name]))
    if not safe.get("PATH", os.defpath):
        safe["PATH"] = os.defpath  # an empty one would be the working directory
    return safe


class _Variables:
    """Count who needs the environment of this process to be safe, and remember its former values."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._before: dict[str, str | None] = {}

    def make_safe(self) -> None:
        """Register one more user; the first one makes the variables safe."""
        with self._lock:
            if self._users == 0:
                safe = _safe_variables()
                self._before = {name: os.environ.get(name) for name in safe}
                os.environ.update(safe)
            self._users += 1

    def put_back(self) -> None:
        """Remove one user; the last one restores the variables."""
        with self._lock:
            self._users -= 1
            if self._users:
                return
            for name, value in self._before.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value


_variables = _Variables()
