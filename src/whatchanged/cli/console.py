"""What the commands share: notes on stderr, progress, and a look at where an output is to go."""

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from pathlib import Path

import typer

from whatchanged.errors import OutputError, escaped, escaped_lines, printable
from whatchanged.links import check_link
from whatchanged.locks import locked
from whatchanged.urls import is_remote

SECONDS_BETWEEN_LINES = 30.0

_held: ContextVar[dict[Path, ExitStack] | None] = ContextVar("held", default=None)
"""The outputs that the running command holds, each with what lets go of it."""


def note(text: str, quiet: bool = False) -> None:
    """A remark for the person, never part of the result."""
    if not quiet:
        print(printable(text), file=sys.stderr, flush=True)


def show(text: str) -> None:
    """A line of the result, for a person to read; strangers' words in it cannot act on the terminal."""
    typer.echo(escaped(text))


def show_lines(text: str) -> None:
    """Lines of the result that the program put together, each as ``show`` prints it."""
    typer.echo(escaped_lines(text))


@contextmanager
def holding_outputs() -> Iterator[None]:
    """What ``hold`` takes inside is let go at the end."""
    held: dict[Path, ExitStack] = {}
    before = _held.set(held)
    try:
        yield
    finally:
        _held.reset(before)
        for stack in reversed(held.values()):
            stack.close()


def hold(path: Path) -> None:
    """Until the running command ends, no other may write this file or folder.

    Raises OutputError where another does so now.
    """
    held = _held.get()
    if is_remote(path):
        return  # nobody can hold what lies elsewhere
    target = path.absolute()
    if held is not None and target not in held:
        stack = ExitStack()
        stack.enter_context(locked(path))
        held[target] = stack


def check_output(path: Path, force: bool, instead: str = "--force to replace it") -> None:
    """That ``path`` may be written, and by nobody else until the running command ends.

    Raises OutputError where it exists (unless forced), has no folder, or another command writes it.
    """
    if path.is_dir():
        raise OutputError(f"{path}: this is a folder; name a file to write.")
    if not is_remote(path) and not path.absolute().parent.is_dir():
        raise OutputError(f"{path}: the folder {path.absolute().parent} is not there. Make it first.")
    hold(path)
    if path.exists() and not force:
        raise OutputError(f"{path}: the file exists already. Pass {instead}, or choose another name.")


def check_outputs(outputs: Sequence[Path | None], inputs: Sequence[Path]) -> None:
    """Before anything is computed: every output has a folder, and is no input, nor part of one."""
    taken = {path.resolve() for path in inputs}
    for output in outputs:
        if output is None:
            continue
        check_link(output)
        place = output.resolve()
        if place in taken:
            raise OutputError(f"{output}: this is one of the inputs or outputs. Name another file.")
        if place.is_file() and any(path.is_dir() and path in place.parents for path in taken):
            raise OutputError(f"{output}: this file belongs to one of the inputs. Name another file.")
        check_output(output, force=True)
        taken.add(place)


def check_embed(embed: bool, html: Path | None) -> None:
    """That ``--embed`` has a page to put pictures into. Raises OutputError."""
    if embed and html is None:
        raise OutputError("--embed puts pictures into a page, but no page is asked for. Add --html.")


def print_result(text: str, outputs: Sequence[Path | None]) -> None:
    """Print what a person reads: on stdout, or on stderr where one of the outputs goes to stdout."""
    taken = any(path is not None and _is_stdout(path) for path in outputs)
    print(escaped_lines(text), file=sys.stderr if taken else sys.stdout)


def _is_stdout(path: Path) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(1))
    except OSError:
        return False


@contextmanager
def progress(label: str, total: int, quiet: bool = False, done: int = 0) -> Iterator[Callable[[int], None]]:
    """Yields ``advance(n)``: a bar on a terminal, a plain line now and then elsewhere, nothing if quiet."""
    if quiet:
        yield lambda n: None
    elif sys.stderr.isatty():
        with _bar(label, total, done) as advance:
            yield advance
    else:
        yield _lines(label, total, done)


@contextmanager
def _bar(label: str, total: int, done: int) -> Iterator[Callable[[int], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=total, completed=done)
        yield lambda n: bar.advance(task, n)


def _lines(label: str, total: int, done: int) -> Callable[[int], None]:
    last = time.monotonic()

    def advance(n: int) -> None:
        nonlocal done, last
        done += n
        if time.monotonic() - last >= SECONDS_BETWEEN_LINES:
            last = time.monotonic()
            note(f"{label}: {done:,} of {total:,}")

    return advance
