"""Where outputs go: what may be written there, and that nobody else writes it meanwhile."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from pathlib import Path

from whatchanged.errors import OutputError
from whatchanged.links import check_link
from whatchanged.locks import locked
from whatchanged.urls import is_remote

_held: ContextVar[dict[Path, ExitStack] | None] = ContextVar("held", default=None)
"""The outputs that the running command holds, each with what lets go of it."""


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
