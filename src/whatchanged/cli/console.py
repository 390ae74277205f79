"""Functions of several commands: print results on stdout and remarks on stderr, and check output options."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import typer

from whatchanged.errors import OutputError, escaped, escaped_lines
from whatchanged.outputs import check_output, check_outputs, hold, holding_outputs
from whatchanged.remarks import note, progress

__all__ = [
    "check_embed",
    "check_output",
    "check_outputs",
    "hold",
    "holding_outputs",
    "note",
    "print_result",
    "progress",
    "show",
    "show_lines",
]


def show(text: str) -> None:
    """Print one line of the result. Control characters are escaped."""
    typer.echo(escaped(text))


def show_lines(text: str) -> None:
    """Print several lines of the result. Control characters in each line are escaped."""
    typer.echo(escaped_lines(text))


def check_embed(embed: bool, html: Path | None) -> None:
    """Check that ``--embed`` is only used if a page is written. Raises OutputError otherwise."""
    if embed and html is None:
        raise OutputError("--embed puts pictures into a page, but no page is asked for. Add --html.")


def print_result(text: str, outputs: Sequence[Path | None]) -> None:
    """Print the result on stdout, or on stderr if one of the outputs is written to stdout.

    The reader of stdout may close the stream early, as ``head -1`` does. The exit code is not affected.
    """
    taken = any(path is not None and _is_stdout(path) for path in outputs)
    stream = sys.stderr if taken else sys.stdout
    try:
        print(escaped_lines(text), file=stream, flush=True)
    except BrokenPipeError:
        nowhere = os.open(os.devnull, os.O_WRONLY)  # or buffered output would be written as the program ends
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def _is_stdout(path: Path) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(1))
    except OSError:
        return False
