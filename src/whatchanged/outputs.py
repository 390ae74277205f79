"""Check output paths: whether they may be written, and that no other command writes them meanwhile."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from pathlib import Path

from whatchanged.errors import OutputError
from whatchanged.links import check_link
from whatchanged.locks import locked
from whatchanged.urls import is_remote

_held: ContextVar[dict[Path, ExitStack] | None] = ContextVar("held", default=None)
"""The outputs that the running command holds, each with the function that releases it."""


@contextmanager
def holding_outputs() -> Iterator[None]:
    """Release at the end of the block every output that ``hold`` took inside it."""
    held: dict[Path, ExitStack] = {}
    before = _held.set(held)
    try:
        yield
    finally:
        _held.reset(before)
        for stack in reversed(held.values()):
            stack.close()


def hold(path: Path) -> None:
    """Keep other commands from writing this file or folder until the running command ends.

    Raises OutputError where another command writes it now.
    """
    held = _held.get()
    if is_remote(path):
        return  # remote files cannot be locked
    target = path.absolute()
    if held is not None and target not in held:
        stack = ExitStack()
        stack.enter_context(locked(path))
        held[target] = stack


def check_output(path: Path, force: bool, instead: str = "--force to replace it") -> None:
    """Check that ``path`` may be written, and hold it until the running command ends.

    Raises OutputError where it exists (unless forced), where its folder is missing, or where another command
    writes it.
    """
    if path.is_dir():
        raise OutputError(f"{path}: this is a folder; name a file to write.")
    if not is_remote(path) and not path.absolute().parent.is_dir():
        raise OutputError(f"{path}: the folder {path.absolute().parent} is not there. Make it first.")
    hold(path)
    if path.exists() and not force:
        raise OutputError(f"{path}: the file exists already. Pass {instead}, or choose another name.")


def check_outputs(outputs: Sequence[Path | None], inputs: Sequence[Path]) -> None:
    """Check before anything is computed that every output has a folder, and is no input and no part of one.

    Raises OutputError.
    """
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
