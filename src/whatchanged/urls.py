"""Files that lie elsewhere: named by URL, and handed about as paths are.

A URL becomes an object with the methods of a path (``scale.urls``). Most code need not know; what can only
be done with a file of this machine asks ``is_remote``.
"""

import re
from pathlib import Path

_URL = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)
_AS_PATH = re.compile(r"([a-z][a-z0-9+.-]+):/+", re.IGNORECASE)
"""How a URL begins of which a path was made: it keeps one slash of two."""


def is_url(text: str) -> bool:
    """Whether the text names a file by URL."""
    return _URL.match(text) is not None


def as_url(name: str | Path) -> str:
    """The URL that somebody gave in place of a file, or ""; a path that was made of it has lost a slash."""
    return _AS_PATH.sub(r"\1://", str(name)) if _AS_PATH.match(str(name)) else ""


def is_remote(path: object) -> bool:
    """Whether this is the path of a file that lies elsewhere, not on this machine."""
    return not isinstance(path, Path) and hasattr(path, "protocol") and hasattr(path, "fs")
