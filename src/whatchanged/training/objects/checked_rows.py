"""Reads rows of an array from a file, and compares each with its SHA-256 when it is first read.

A file of gigabytes is memory-mapped and read row by row. Each row is checked once.
"""

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whatchanged.errors import DatasetError

DIGEST = hashlib.sha256().digest_size
"""The length of a checksum in bytes."""


def checksums(rows: NDArray[Any]) -> NDArray[np.uint8]:
    """Return the SHA-256 of each row's bytes: (n, 32)."""
    results = [_checksum(row) for row in rows]
    return np.frombuffer(b"".join(results), np.uint8).reshape(len(rows), DIGEST)


class CheckedRows:
    """The rows of an array. Files of earlier versions have no checksums; their rows are read unchecked."""

    def __init__(self, file: Path, rows: NDArray[Any], expected: NDArray[Any] | None, cure: str) -> None:
        """file: the path of the rows. expected: their ``checksums``. cure: advice for a damaged file.

        Raises ValueError where there is not one checksum a row.
        """
        if expected is not None and not (
            expected.shape == (len(rows), DIGEST) and expected.dtype == np.uint8
        ):
            raise ValueError(f"checksums {expected.dtype} {expected.shape} for {len(rows)} rows")
        self.rows = rows
        self._file = file
        self._expected = expected
        self._cure = cure
        self._seen: set[int] = set()

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of all rows together."""
        return self.rows.shape

    def read(self, i: int) -> NDArray[Any]:
        """Return row ``i``. Raises DatasetError where its checksum differs."""
        row: NDArray[Any] = self.rows[i]
        if self._expected is not None and i not in self._seen:
            if _checksum(row) != self._expected[i].tobytes():
                raise DatasetError(
                    f"{self._file}: row {i} was changed since it was written: its SHA-256 differs."
                    f" {self._cure}"
                )
            self._seen.add(i)
        return row


def _checksum(row: NDArray[Any]) -> bytes:
    return hashlib.sha256(np.ascontiguousarray(row).data).digest()
