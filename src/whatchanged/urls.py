"""Remote files, which the user specifies by URL.

A URL becomes an object with the methods of a path (``scale.urls``), so most code needs no special case for
remote files. Code that works only with local files checks ``is_remote``.
"""

import re
from pathlib import Path

_URL = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)
_AS_PATH = re.compile(r"([a-z][a-z0-9+.-]+):/+", re.IGNORECASE)
"""The beginning of a URL after its conversion to a path, which removes one of the two slashes."""


def is_url(text: str) -> bool:
    """Return whether a text is the URL of a file."""
    return _URL.match(text) is not None


def as_url(name: str | Path) -> str:
    """Return the URL if a name is a URL, otherwise "".

    If the conversion to a path removed a slash of the URL, the slash is restored.
    """
    return _AS_PATH.sub(r"\1://", str(name)) if _AS_PATH.match(str(name)) else ""


def is_remote(path: object) -> bool:
    """Return whether a path is the path of a remote file."""
    return not isinstance(path, Path) and hasattr(path, "protocol") and hasattr(path, "fs")
