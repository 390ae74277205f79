"""Sign files with a key of this machine.

A valid signature proves that the same user wrote the file on this machine. The key is one small file in the
user's cache folder. If no key file can be stored, a key in memory is used instead. Signatures with a key in
memory are valid until the process ends.
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
"""The length of a key in bytes."""
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def machine_key() -> bytes:
    """Return the key of this user on this machine.

    The key is created on first use. A key file is not trusted if other users may read or write the file, or
    if the file is a link. An untrusted key file of this user is replaced. A key file of another user is not
    changed. If no key file can be stored, the process uses a key in memory.
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
    """Return the signature of texts in hexadecimal digits.

    The signature is the HMAC-SHA256 of the length and the bytes of each text ("1:a").
    """
    known = hmac.new(key, digestmod=hashlib.sha256)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        known.update(b"%d:" % len(data))
        known.update(data)
    return known.hexdigest()


def is_signed(key: bytes, signature: object, *parts: str) -> bool:
    """Return whether a signature is valid for the texts and the key."""
    known = sign(key, *parts).encode("ascii")
    return isinstance(signature, str) and hmac.compare_digest(signature.encode("utf-8", "replace"), known)


def _read(path: Path) -> bytes | None:
    """Return the key in the key file.

    The result is None if there is no key file, or if other users may know the key.
    """
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
    """Return whether a file belongs to this user, and no other user may read or write the file."""
    return about.st_uid == os.getuid() and not stat.S_IMODE(about.st_mode) & _OTHERS


def _make(path: Path) -> None:
    """Write a new key file that only this user can read.

    If two processes write a key file at the same moment, the later key stays. Raises OSError.
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
