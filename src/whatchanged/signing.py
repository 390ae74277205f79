"""Sign files with a key of this machine: a valid signature proves that the same user wrote them here.

The key is one small file in the user's cache folder. Where no file can be kept, a key in memory replaces it:
what it signs is trusted until the process ends.
"""

import hashlib
import hmac
import os
import stat
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

from whatchanged.files import cache_folder

KEY_FILE = "signing.key"
_LENGTH = 32
"""Bytes of a key."""
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def machine_key() -> bytes:
    """Return the key of this user on this machine; it is made on first use.

    A key file that others may read or write, or that is a link, is not trusted: it is replaced if it is this
    user's, and left alone if it is another user's. Where no key can be kept, the process uses one in memory.
    """
    try:
        path = cache_folder() / KEY_FILE
    except RuntimeError:  # there is no home
        return _key_of_process()
    key = _read(path)
    if key is None:
        with suppress(OSError):
            _make(path)
        key = _read(path)
    return _key_of_process() if key is None else key


def sign(key: bytes, *parts: str) -> str:
    """Return the signature of texts in hexadecimal digits: HMAC-SHA256 of each one's length and bytes
    ("1:a").
    """
    known = hmac.new(key, digestmod=hashlib.sha256)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        known.update(b"%d:" % len(data))
        known.update(data)
    return known.hexdigest()


def is_signed(key: bytes, signature: object, *parts: str) -> bool:
    """Return whether this is the signature of these texts by this key."""
    known = sign(key, *parts).encode("ascii")
    return isinstance(signature, str) and hmac.compare_digest(signature.encode("utf-8", "replace"), known)


def _read(path: Path) -> bytes | None:
    """Read the key from its file; None where there is none, or none that only this user can know."""
    try:
        # Links and pipes are neither followed nor waited for.
        found = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return None
    try:
        about = os.fstat(found)
        if not stat.S_ISREG(about.st_mode) or (hasattr(os, "getuid") and not _is_private(about)):
            return None
        key = os.read(found, _LENGTH + 1)
    finally:
        os.close(found)
    return key if len(key) == _LENGTH else None


def _is_private(about: os.stat_result) -> bool:
    """Return whether a file belongs to this user, and nobody else may read or write it."""
    return about.st_uid == os.getuid() and not stat.S_IMODE(about.st_mode) & _OTHERS


def _make(path: Path) -> None:
    """Write a new key, which only this user can read. Raises OSError.

    If two processes make one at the same moment, the later one's stays.
    """
    if hasattr(os, "getuid") and os.path.lexists(path) and os.lstat(path).st_uid != os.getuid():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    number, name = tempfile.mkstemp(prefix=f".{KEY_FILE}.", dir=path.parent)  # of mode 600
    try:
        with os.fdopen(number, "wb") as file:
            file.write(os.urandom(_LENGTH))
        Path(name).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise


@cache
def _key_of_process() -> bytes:
    return os.urandom(_LENGTH)
