"""Find and start other programs safely, by safe paths and in a safe environment.

The working directory may be untrusted, such as a repository that was just cloned. No module, program or
library in the working directory runs. Without these measures, a new Python interpreter would search for
modules in the working directory first.
"""

import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SAFE_PATH = "PYTHONSAFEPATH"
"""The variable that prevents new Python interpreters from searching for modules in the working directory."""
FOLDERS = ("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "CLASSPATH")
"""The environment variables that list folders of programs and libraries.

An empty entry stands for the working directory.
"""


def find_program(name: str, path: str | None = None) -> str | None:
    """Return the absolute path of a program; None if the program is not installed.

    path: the folders to search, in the format of ``$PATH``; by default ``$PATH`` itself. Relative folders and
    the working directory are skipped.
    """
    for folder in _elsewhere(os.environ.get("PATH", os.defpath) if path is None else path):
        found = shutil.which(name, path=folder)
        if found is not None and Path(found).is_absolute():
            return found
    return None


def program_environment(**further: str) -> dict[str, str]:
    """Return the environment for a new program.

    The result is a safe version of the environment of this process, plus the ``further`` variables.
    """
    return {**os.environ, **_safe_variables(), **further}


@contextmanager
def safe_environment() -> Iterator[None]:
    """Make the environment of this process safe during the block, for programs that libraries start.

    Such programs are the workers of a pool and their resource tracker, compilers, and the processes of a
    cluster. Several threads may enter such a block at the same time. The last thread that leaves the block
    restores the variables.
    """
    _variables.make_safe()
    try:
        yield
    finally:
        _variables.put_back()


def _elsewhere(folders: str) -> list[str]:
    """Return the absolute folders in a list of folders, without the working directory."""
    here = os.path.realpath(os.curdir)
    parts = folders.split(os.pathsep)
    return [part for part in parts if Path(part).is_absolute() and os.path.realpath(part) != here]


def _safe_variables() -> dict[str, str]:
    """Return the variables that prevent a new process from searching the working directory."""
    safe = {SAFE_PATH: "1"}
    for name in FOLDERS:
        if name in os.environ:
            safe[name] = os.pathsep.join(_elsewhere(os.environ[name]))
    if not safe.get("PATH", os.defpath):
        safe["PATH"] = os.defpath  # an empty one would be the working directory
    return safe


class _Variables:
    """A counter of the blocks that need a safe environment of this process, with the former values of the
    variables.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._before: dict[str, str | None] = {}

    def make_safe(self) -> None:
        """Count one more block. The first block makes the variables safe."""
        with self._lock:
            if self._users == 0:
                safe = _safe_variables()
                self._before = {name: os.environ.get(name) for name in safe}
                os.environ.update(safe)
            self._users += 1

    def put_back(self) -> None:
        """Count one block less. The last block restores the variables."""
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
