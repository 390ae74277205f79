"""Check that output paths may be written, and prevent other commands from writing to the same paths."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from pathlib import Path

from whatchanged.errors import OutputError
from whatchanged.links import check_link
from whatchanged.locks import locked
from whatchanged.urls import is_remote

_held: ContextVar[dict[Path, ExitStack] | None] = ContextVar("held", default=None)
"""The locked outputs of the running command. Each path is mapped to the stack that releases the lock."""


@contextmanager
def holding_outputs() -> Iterator[None]:
    """At the end of the block, release every output that ``hold`` locked inside the block."""
    held: dict[Path, ExitStack] = {}
    before = _held.set(held)
    try:
        yield
    finally:
        _held.reset(before)
        for stack in reversed(held.values()):
            stack.close()


def hold(path: Path) -> None:
    """Prevent other commands from writing a file or folder until the running command ends.

    Raises OutputError if another command is writing the file or folder.
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
    """Check that ``path`` may be written, and lock ``path`` until the running command ends.

    Raises OutputError if ``path`` exists (unless ``force`` is true), if the folder of ``path`` is missing,
    or if another command is writing ``path``.
    """
    if path.is_dir():
        raise OutputError(f"{path}: this is a folder; name a file to write.")
    if not is_remote(path) and not path.absolute().parent.is_dir():
        raise OutputError(f"{path}: the folder {path.absolute().parent} is not there. Make it first.")
    hold(path)
    if path.exists() and not force:
        raise OutputError(f"{path}: the file exists already. Pass {instead}, or choose another name.")


def check_outputs(outputs: Sequence[Path | None], inputs: Sequence[Path]) -> None:
    """Check, before anything is computed, that the folder of every output exists.

    Check also that no output is an input or inside an input folder. Raises OutputError.
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
