"""Files that lie elsewhere: named by URL, and handed about as paths are.

A URL becomes an object with the methods of a path (``scale.places``). Most code need not know; what can only
be done with a file of this machine asks ``is_remote``.
"""

import re
from pathlib import Path

_URL = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)


def is_url(text: str) -> bool:
    """Whether the text names a file by URL."""
    return _URL.match(text) is not None


def is_remote(path: object) -> bool:
    """Whether this is the path of a file that lies elsewhere, not on this machine."""
    return not isinstance(path, Path) and hasattr(path, "protocol") and hasattr(path, "fs")
