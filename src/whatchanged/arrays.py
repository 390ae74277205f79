"""Read untrusted NumPy files.

No code in a file runs. Reading a file takes no more memory than the size of the file.
"""

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
"""The exceptions that NumPy raises for invalid files.

Some come from Python's parser, with which NumPy parses headers.
"""


def mapped_array(path: Path) -> NDArray[Any]:
    """Return the array of a ``.npy`` file as a memory map.

    The values are not read into memory, because a header may declare terabytes.

    Raises ValueError with a readable message if the file does not contain a valid array.
    """
    try:
        with np.errstate(all="ignore"):  # sizes that overflow are refused further down
            return np.lib.format.open_memmap(regular(path), mode="r")
    except _DAMAGE as error:
        raise ValueError(_reason(error)) from error


def arrays_of(path: Path, names: Iterable[str], optional: Iterable[str] = ()) -> dict[str, NDArray[Any]]:
    """Return the arrays of a ``.npz`` file by name.

    Arrays with ``optional`` names are returned if the file contains such arrays.

    Raises ValueError with a readable message if an array cannot be read or is compressed.
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
