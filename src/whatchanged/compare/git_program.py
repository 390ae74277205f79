"""The git program, run so that nothing which a repository holds makes it start another one.

A repository that came as an archive brings its own ``.git/config``, and a plain clone may hold another
repository among its files. Both can name programs: filters, hooks, monitors of the file system, commands of
a remote, by which git fetches what is missing. So the commands that are given here read objects and lists
alone; whatever of a configuration would start a program is overruled; no transport is allowed, so that
nothing is fetched; and the program itself is never one that lies in the working directory.
"""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from whatchanged.errors import DatasetError
from whatchanged.programs import find_program, program_environment

SECONDS = 600
"""A repository can hold pipes where git reads files; this ends the wait. Git's own answers take seconds."""
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
"""Settings of every call, which win over those of files. A repository without a work tree, which may be a
folder that somebody committed, is not used."""
KEPT = ("GIT_EXEC_PATH", "GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM", "GIT_CONFIG")
"""Variables of git that stay, those of the person's own configuration (GIT_CONFIG_...) with them. Others,
such as GIT_DIR and GIT_INDEX_FILE, which git sets for hooks, could lead away from the folder's repository."""
SET = {
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
"""No transport by any name, which git older than 2.45 heeds as well; nothing written, not even the index; a
folder's name is no pattern; messages in English."""
_NOT_HERE = ("promisor remote", "lazy fetching", "transport '")
"""What git says of an object that it would fetch."""


def run_git(folder: Path, *arguments: str, given: bytes = b"") -> bytes:
    """What the git program prints in a folder. ``given``: what it reads.

    Raises DatasetError with its words, or where it is not installed, the folder is missing, or it never ends.
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
    """What git's error message says, in one sentence."""
    if any(word in described for word in _NOT_HERE):
        return (
            "some of its objects are not here (the clone is partial), and nothing is fetched. Fetch them: "
            "git fetch --refetch --filter=blob:limit=1g, or clone again without --filter."
        )
    lines = described.strip().removeprefix("fatal: ").splitlines()
    return f"{lines[0] if lines else 'it ended with an error'}."


def _kept(variables: Mapping[str, str]) -> dict[str, str]:
    """The person's variables without those that redirect git."""
    return {
        name: value
        for name, value in variables.items()
        if not name.upper().startswith("GIT_") or name.upper().startswith(KEPT)
    }


def _search_path(folder: Path) -> str:
    """The folders in which programs are looked for, without those that may be a repository's."""
    entries = [entry for entry in os.get_exec_path() if Path(entry).is_absolute()]
    return os.pathsep.join(entry for entry in entries if not _strange(Path(entry), folder))


def _strange(path: Path, folder: Path) -> bool:
    """Whether a folder of programs lies in the working directory, or in that which is compared.

    A folder above Python's own, such as the root of a file system, is no stranger's.
    """
    own = Path(sys.executable).resolve()
    return any(
        path.resolve().is_relative_to(here) and not own.is_relative_to(here)
        for here in (Path.cwd().resolve(), folder.resolve())
    )
