"""Paths and URLs on the command line."""

from collections.abc import Mapping
from pathlib import Path

import typer

from whatchanged.urls import is_remote


def only_here(options: Mapping[str, object], why: str) -> None:
    """Raise BadParameter for the first option that the user passed, because the options require files on this
    machine. why: the reason in the error message.
    """
    given = next((name for name, value in options.items() if value), None)
    if given is not None:
        raise typer.BadParameter(f"{given} does not go with a URL: {why}")


def any_remote(*paths: Path | None) -> bool:
    """Return whether one of the paths is remote."""
    return any(is_remote(path) for path in paths)
