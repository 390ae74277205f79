"""Run the git program so that no content of a repository can start another program.

A repository from an archive brings its own ``.git/config``, and a normal clone may contain another repository
among its files. Both can name programs: filters, hooks, file system monitors, and commands of a remote from
which git fetches missing objects. Four measures prevent these programs from running. The commands used here
only read objects and lists. Settings that could start a program are overridden. No transport is allowed, so
nothing is fetched. The git program itself is never one in the working directory.
"""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from whatchanged.errors import DatasetError
from whatchanged.programs import find_program, program_environment

SECONDS = 600
"""The time limit for a call in seconds.

Git normally answers within seconds, but git would wait forever if a repository contains a pipe instead of a
file.
"""
OVERRULED = {
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.sshCommand": "",
    "core.gitProxy": "",
    "core.askPass": "",
    "core.alternateRefsCommand": "",
    "core.pager": "cat",
    "credential.helper": "",
    "diff.external": "",
    "diff.ignoreSubmodules": "all",
    "protocol.allow": "never",
    "safe.bareRepository": "explicit",
    "submodule.recurse": "false",
}
"""The settings of every call.

These settings take precedence over settings in files. Bare repositories are not used, because somebody may
have committed one as a folder.
"""
KEPT = ("GIT_EXEC_PATH", "GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM", "GIT_CONFIG")
"""The prefixes of git variables that are not removed.

Variables for the user's own configuration (GIT_CONFIG_...) are among these. Other git variables, such as
GIT_DIR and GIT_INDEX_FILE, which git sets for hooks, could select another repository.
"""
SET = {
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
"""The variables of every call.

These variables disable all transports (also for git before 2.45), prevent any writing, including the index,
take the names of folders literally instead of as patterns, and select messages in English.
"""
_NOT_HERE = ("promisor remote", "lazy fetching", "transport '")
"""The texts with which git reports that an object would have to be fetched."""


def run_git(folder: Path, *arguments: str, given: bytes = b"") -> bytes:
    """Run the git program in a folder and return its output.

    given: the standard input.

    Raises DatasetError with git's message, or if git is not installed, the folder is missing, or the time
    limit is exceeded.
    """
    if not folder.is_dir():
        raise DatasetError(f"{folder}: there is no such folder.")
    path = _search_path(folder)
    program = find_program("git", path)
    if program is None:
        raise DatasetError("--git needs the git program, which is not installed.")
    settings = [part for key, value in OVERRULED.items() for part in ("-c", f"{key}={value}")]
    command = [program, "--no-pager", "-C", str(folder.absolute()), *settings, *arguments]
    try:
        done = subprocess.run(
            command,
            input=given,
            capture_output=True,
            env={**_kept(program_environment(PATH=path)), **SET},
            timeout=SECONDS,
        )
    except subprocess.TimeoutExpired as error:
        raise DatasetError(f"git in {folder}: no answer within {SECONDS} seconds.") from error
    if done.returncode:
        raise DatasetError(f"git in {folder}: {_reason(done.stderr.decode('utf-8', 'replace'))}")
    return done.stdout


def _reason(described: str) -> str:
    """Return git's error message as one sentence."""
    if any(word in described for word in _NOT_HERE):
        return (
            "some of its objects are not here (the clone is partial), and nothing is fetched. Fetch them: "
            "git fetch --refetch --filter=blob:limit=1g, or clone again without --filter."
        )
    lines = described.strip().removeprefix("fatal: ").splitlines()
    return f"{lines[0] if lines else 'it ended with an error'}."


def _kept(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the environment variables without the variables that redirect git to another repository."""
    return {
        name: value
        for name, value in variables.items()
        if not name.upper().startswith("GIT_") or name.upper().startswith(KEPT)
    }


def _search_path(folder: Path) -> str:
    """Return the search path for programs without the folders that a repository may contain."""
    entries = [entry for entry in os.get_exec_path() if Path(entry).is_absolute()]
    return os.pathsep.join(entry for entry in entries if not _strange(Path(entry), folder))


def _strange(path: Path, folder: Path) -> bool:
    """Return whether a folder of programs is inside the working directory or inside the compared folder.

    A folder that also contains Python itself, such as the root of a file system, is trusted.
    """
    own = Path(sys.executable).resolve()
    return any(
        path.resolve().is_relative_to(here) and not own.is_relative_to(here)
        for here in (Path.cwd().resolve(), folder.resolve())
    )
