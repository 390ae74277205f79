"""What a shell completes the values of options to; each function takes what was typed so far.

    whatchanged --install-completion        # bash, zsh, fish or PowerShell, whichever runs

Files are completed by the shell itself where none of these functions is named. A shell waits for the answer,
so nothing heavy is imported and nothing is raised.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from whatchanged.errors import WhatchangedError

MOST_ENTRIES = 200
"""Of a folder, so that a large one does not fill the screen."""


def models(typed: str) -> list[str]:
    """The shipped models, and folders."""
    from whatchanged.captioner.bundle import shipped

    return [*_begin(shipped(), typed), *_paths(typed, folders_only=True)]


def answering(typed: str) -> list[str]:
    """Who may be told to answer: the measurement, a shipped model, or one in a folder."""
    return [*_begin(["measured"], typed), *models(typed)]


def models_and_files(typed: str) -> list[str]:
    """The shipped models, folders and files."""
    from whatchanged.captioner.bundle import shipped

    return [*_begin(shipped(), typed), *_paths(typed)]


def policies(typed: str) -> list[str]:
    """The policies by name."""
    from whatchanged.measured.policy import POLICIES

    return _begin(POLICIES, typed)


def recipes(typed: str) -> list[str]:
    """The recipes by name, and files."""
    from whatchanged.recipes.reader import recipe_names

    return [*_begin(recipe_names(), typed), *_paths(typed)]


def data_sets(typed: str) -> list[str]:
    """The names of all data sets that can be read."""
    from whatchanged.datasets import dataset_names

    return _begin(dataset_names(), typed)


def drawings(typed: str) -> list[str]:
    """What the worlds can draw."""
    from whatchanged.worlds import all_drawers

    return _begin((drawer.name for drawer in all_drawers()), typed)


def preparations(typed: str) -> list[str]:
    """The published rules by which captions become words."""
    from whatchanged.datasets.preparation import PREPARATIONS

    return _begin(PREPARATIONS, typed)


def acceptable(ctx: Any, incomplete: str) -> list[str]:
    """The groups and pairs of the report that a command names."""
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
    """The entries of a folder that begin as typed; a folder ends in a slash."""
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
