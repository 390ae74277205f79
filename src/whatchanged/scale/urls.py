"""Paths of remote files: ``s3://bucket/pairs.csv``, and every other protocol of fsspec."""

from pathlib import Path
from typing import Any, cast

from whatchanged.errors import MissingExtra, WhatchangedError
from whatchanged.urls import is_url


def path_of(text: str) -> Path:
    """Return the path of this name; for a URL, an object with a path's methods. A ``file://`` URL becomes a
    plain path.

    Raises MissingExtra where the package for this protocol is not installed, WhatchangedError where no
    package supports it.
    """
    if not is_url(text):
        return Path(text)
    try:
        from upath import UPath

        found: Any = UPath(text)
        found.fs.root_marker  # noqa: B018 - what speaks the protocol is imported now
    except ImportError as error:
        raise MissingExtra(f"{text}: reading by URL", error.name or "its package", "scale") from error
    except Exception as error:  # each protocol raises errors of its own
        raise WhatchangedError(f"{text}: this URL cannot be used ({error}).") from error
    if found.protocol in ("", "file", "local"):
        return Path(found.path)
    return cast(Path, found)
