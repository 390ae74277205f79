"""Remote files: the user names them by URL, and the code passes them around like paths.

A URL becomes an object with the methods of a path (``scale.urls``), so most code needs no special case. Code
that works only with local files checks ``is_remote``.
"""

import re
from pathlib import Path

_URL = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)
_AS_PATH = re.compile(r"([a-z][a-z0-9+.-]+):/+", re.IGNORECASE)
"""The beginning of a URL that became a path: one of its two slashes is lost."""


def is_url(text: str) -> bool:
    """Return whether the text names a file by URL."""
    return _URL.match(text) is not None


def as_url(name: str | Path) -> str:
    """Return the URL that was given in place of a file, or ""; a slash that a path lost is restored."""
    return _AS_PATH.sub(r"\1://", str(name)) if _AS_PATH.match(str(name)) else ""


def is_remote(path: object) -> bool:
    """Return whether this path is that of a remote file."""
    return not isinstance(path, Path) and hasattr(path, "protocol") and hasattr(path, "fs")
