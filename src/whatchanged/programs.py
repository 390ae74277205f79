"""Programs that are started: where they are found, and in which environment they and all that they start run.

What lies in the working directory may be a stranger's, such as a repository that was just cloned. Nothing of
it is run: no module (a new Python interpreter would look there first), no program, no library.
"""

import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SAFE_PATH = "PYTHONSAFEPATH"
"""While it is set, new interpreters do not look for modules in the working directory."""
FOLDERS = ("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "CLASSPATH")
"""Variables that hold folders of programs and libraries; an empty one is the working directory."""


def find_program(name: str, path: str | None = None) -> str | None:
    """The absolute path of a program by its name; None where it is not installed.

    path: folders to look in, divided as in ``$PATH``, which is taken where it is None. Folders that are not
    absolute, and the working directory itself, are passed over.
    """
    for folder in _elsewhere(os.environ.get("PATH", os.defpath) if path is None else path):
        found = shutil.which(name, path=folder)
        if found is not None and Path(found).is_absolute():
            return found
    return None


def program_environment(**further: str) -> dict[str, str]:
    """The variables for a program that is started now: ours, made safe, and ``further`` ones."""
    return {**os.environ, **_safe_variables(), **further}


@contextmanager
def safe_environment() -> Iterator[None]:
    """Meanwhile this process's own variables are safe, for what libraries start: the workers of a pool and
    what keeps their books, compilers, a cluster's processes.

    Several threads may be inside; the last one to leave puts the variables back.
    """
    _variables.make_safe()
    try:
        yield
    finally:
        _variables.put_back()


def _elsewhere(folders: str) -> list[str]:
    """The absolute folders among these that are not the working directory."""
    here = os.path.realpath(os.curdir)
    parts = folders.split(os.pathsep)
    return [part for part in parts if Path(part).is_absolute() and os.path.realpath(part) != here]


def _safe_variables() -> dict[str, str]:
    """The variables that keep a new process away from the working directory."""
    safe = {SAFE_PATH: "1"}
    for name in FOLDERS:
        if name in os.environ:
            safe[name] = os.pathsep.join(_elsewhere(os.environ[name]))
    if not safe.get("PATH", os.defpath):
        safe["PATH"] = os.defpath  # an empty one would be the working directory
    return safe


class _Variables:
    """Counts who needs the variables of this process to be safe, and remembers what they were."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._before: dict[str, str | None] = {}

    def make_safe(self) -> None:
        """One more needs them."""
        with self._lock:
            if self._users == 0:
                safe = _safe_variables()
                self._before = {name: os.environ.get(name) for name in safe}
                os.environ.update(safe)
            self._users += 1

    def put_back(self) -> None:
        """One fewer needs them."""
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
