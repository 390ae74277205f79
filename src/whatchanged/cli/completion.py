"""Shell completion of the values of options. The argument of each function is the text typed so far.

    whatchanged --install-completion        # bash, zsh, fish or PowerShell, whichever runs

If an option has no function here, the shell completes file names. The shell waits for the result of a
function. The functions therefore import no slow module and raise no exceptions.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from whatchanged.errors import WhatchangedError

MOST_ENTRIES = 200
"""The largest number of entries of a folder that are listed."""


def models(typed: str) -> list[str]:
    """Complete the names of shipped models, and folders."""
    from whatchanged.captioner.bundle import shipped

    return [*_begin(shipped(), typed), *_paths(typed, folders_only=True)]


def answering(typed: str) -> list[str]:
    """Complete the values of ``--model``: "measured", a shipped model, or the folder of a model."""
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
    """Complete the names of the drawings of all worlds."""
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
    """Return the paths that begin with the typed text. The path of a folder ends with a slash."""
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
