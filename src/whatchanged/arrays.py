"""NumPy's files from strangers: nothing in them runs, and they cost no more than they hold."""

import tokenize
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

import numpy as np
from numpy.typing import NDArray

from whatchanged.opening import open_regular, regular

_DAMAGE = (
    OSError,
    ValueError,
    ArithmeticError,
    LookupError,
    EOFError,
    MemoryError,
    SyntaxError,
    TypeError,
    AttributeError,
    RecursionError,
    NotImplementedError,
    BadZipFile,
    tokenize.TokenError,
    zlib.error,
)
"""What NumPy raises on files that are not its own; it reads their headers with parts of Python's parser."""


def mapped_array(path: Path) -> NDArray[Any]:
    """The array of a ``.npy`` file, mapped, not read: its header may announce terabytes.

    Raises ValueError, in words, where there is none.
    """
    try:
        with np.errstate(all="ignore"):  # sizes that overflow are refused a little later
            return np.lib.format.open_memmap(regular(path), mode="r")
    except _DAMAGE as error:
        raise ValueError(_reason(error)) from error


def arrays_of(path: Path, names: Iterable[str], optional: Iterable[str] = ()) -> dict[str, NDArray[Any]]:
    """Arrays of a ``.npz`` file by name, and those of the ``optional`` ones that it has.

    Raises ValueError, in words, where one cannot be read, or the file would grow as it is unpacked.
    """
    try:
        with open_regular(path) as file, np.errstate(all="ignore"):
            with ZipFile(file) as archive:
                unpacked = sum(info.file_size for info in archive.infolist())
            if unpacked > path.stat().st_size:
                raise ValueError(f"it would grow to {unpacked:,} bytes; save it without compression")
            file.seek(0)
            with np.load(file) as opened:
                results = {name: opened[name] for name in (*names, *(set(optional) & set(opened.files)))}
            if other := [name for name, array in results.items() if not isinstance(array, np.ndarray)]:
                raise ValueError(f"{other[0]} is no array")
            return results
    except _DAMAGE as error:
        raise ValueError(_reason(error)) from error


def _reason(error: BaseException) -> str:
    return str(error).partition("\n")[0] or type(error).__name__
