"""Shell completion of the values of options; each function takes the text typed so far.

    whatchanged --install-completion        # bash, zsh, fish or PowerShell, whichever runs

Without one of these functions, the shell itself completes file names. The shell waits for the answer, so
these functions import no slow module and raise nothing.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from whatchanged.errors import WhatchangedError

MOST_ENTRIES = 200
"""Limit on the entries listed of one folder."""


def models(typed: str) -> list[str]:
    """Complete the names of shipped models, and folders."""
    from whatchanged.captioner.bundle import shipped

    return [*_begin(shipped(), typed), *_paths(typed, folders_only=True)]


def answering(typed: str) -> list[str]:
    """Complete the values of ``--model``: "measured", a shipped model, or the folder of one."""
    return [*_begin(["measured"], typed), *models(typed)]


def models_and_files(typed: str) -> list[str]:
    """Complete the names of shipped models, folders and files."""
    from whatchanged.captioner.bundle import shipped

    return [*_begin(shipped(), typed), *_paths(typed)]


def policies(typed: str) -> list[str]:
    """Complete the names of policies."""
    from whatchanged.measured.policy import POLICIES

    return _begin(POLICIES, typed)


def recipes(typed: str) -> list[str]:
    """Complete the names of recipes, and files."""
    from whatchanged.recipes.reader import recipe_names

    return [*_begin(recipe_names(), typed), *_paths(typed)]


def data_sets(typed: str) -> list[str]:
    """Complete the names of all data sets that can be read."""
    from whatchanged.datasets import dataset_names

    return _begin(dataset_names(), typed)


def drawings(typed: str) -> list[str]:
    """Complete the names of what the worlds can draw."""
    from whatchanged.worlds import all_drawers

    return _begin((drawer.name for drawer in all_drawers()), typed)


def preparations(typed: str) -> list[str]:
    """Complete the names of published preparations of captions."""
    from whatchanged.datasets.preparation import PREPARATIONS

    return _begin(PREPARATIONS, typed)


def acceptable(ctx: Any, incomplete: str) -> list[str]:
    """Complete the groups and pairs of the report that the command line names."""
    from whatchanged.compare.record import read_record

    try:
        record = read_record(Path(ctx.params["report"]))
    except (WhatchangedError, KeyError, TypeError):
        return []
    numbers = [str(group.number) for group in record.groups]
    pairs = [pair.pair_id for pair in record.pairs if not (pair.why or pair.same)]
    return _begin([*numbers, *pairs], incomplete)[:MOST_ENTRIES]


def _begin(names: Iterable[str], typed: str) -> list[str]:
    return [name for name in names if name.startswith(typed)]


def _paths(typed: str, folders_only: bool = False) -> list[str]:
    """Return the entries of a folder that begin with the typed text; a folder ends in a slash."""
    folder, slash, start = typed.rpartition("/")
    try:
        entries = sorted(Path(folder + slash or ".").iterdir())
    except OSError:
        return []
    return [
        f"{folder}{slash}{entry.name}{'/' if entry.is_dir() else ''}"
        for entry in entries
        if entry.name.startswith(start)
        and (start or not entry.name.startswith("."))
        and (entry.is_dir() or not folders_only)
    ][:MOST_ENTRIES]
