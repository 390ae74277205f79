"""Git LFS pointers: small texts that stand for pictures stored elsewhere.

version https://git-lfs.github.com/spec/v1
oid sha256:4d7a...
size 12345
"""

import hashlib
import re
from pathlib import Path

from whatchanged.opening import open_regular
from whatchanged.other_formats import POINTER

MOST = 1024
"""The size limit in bytes. Every pointer is smaller."""
_OBJECT = re.compile(rb"^oid sha256:([0-9a-f]{64})\r?$", re.MULTILINE)


def is_pointer(path: Path) -> bool:
    """Return whether a file is a pointer instead of a picture.

    The result is False if the file cannot be read.
    """
    try:
        if path.stat().st_size >= MOST:
            return False
        with open_regular(path) as file:
            return file.read(len(POINTER)) == POINTER
    except OSError:
        return False  # the comparison reports the error


def stands_for(pointer: bytes, path: Path) -> bool:
    """Return whether these bytes are a pointer to the content of a file.

    Raises OSError if the file cannot be read.
    """
    named = _OBJECT.search(pointer) if pointer.startswith(POINTER) else None
    if named is None:
        return False
    with open_regular(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest().encode() == named[1]
