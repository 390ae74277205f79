"""Files that are there whole or not at all: written beside their place, then moved into it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from whatchanged.errors import OutputError


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """Yields a name beside ``path`` to write to; what was written there takes its place at the end.

    If the end is not reached, what was there before stays, and nothing else lies beside it.
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        yield draft
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def write_output(path: Path, content: bytes | str) -> None:
    """Write the file that a person named, whole or not at all: a link stays a link, a pipe is written to.

    Text is UTF-8; half a surrogate pair, as in a file's name in another encoding, becomes its escape,
    which JSON reads as the same. Raises OutputError where it cannot be written.
    """
    data = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
    try:
        # Before it is resolved: /dev/stdout leads to a name that no folder holds.
        if path.exists() and not path.is_file():
            path.write_bytes(data)
            return
        path = path.resolve()
        with whole(path) as draft:
            draft.write_bytes(data)
    except OSError as error:
        raise OutputError(f"{path}: cannot be written ({error.strerror or error}).") from error
