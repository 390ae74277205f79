"""Print remarks and progress on stderr for the user. Remarks and progress are never part of a result."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from whatchanged.errors import printable

SECONDS_BETWEEN_LINES = 30.0


def note(text: str, quiet: bool = False) -> None:
    """Print a remark for the user on stderr, unless ``quiet`` is true."""
    if not quiet:
        print(printable(text), file=sys.stderr, flush=True)


@contextmanager
def progress(label: str, total: int, quiet: bool = False, done: int = 0) -> Iterator[Callable[[int], None]]:
    """Yield a function ``advance(n)`` that shows the progress.

    On a terminal, the function draws a bar. Elsewhere, the function prints a line now and then. If ``quiet``
    is true, the function prints nothing.
    """
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
