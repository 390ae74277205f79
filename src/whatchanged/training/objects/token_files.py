"""Stored tokens of a pool: one file per shard, and a record of their origin.

    TOKENS/
      tokens.json           sha256 of the weights, the pool's description, variants, tokens, width
      00000.tokens.npy      (n, variants, 3, N, F + 4) float16, see ``ObjectVision.to_tokens``
      00000.sha256.npy      (n, 32) uint8, the checksums of each triple's tokens (none before 0.2)

Older folders without ``tokens.json`` can be read too. For them, only shapes are compared.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whatchanged.arrays import mapped_array
from whatchanged.errors import DatasetError, OutputError
from whatchanged.files import whole
from whatchanged.json_values import read_json
from whatchanged.opening import read_regular_text
from whatchanged.training.objects.checked_rows import CheckedRows, checksums
from whatchanged.training.objects.pool import Shard, read_description

ORIGIN = "tokens.json"


def tokens_file(folder: Path, number: int) -> Path:
    """Return the path of a shard's tokens."""
    return folder / f"{number:05d}.tokens.npy"


def write_tokens(folder: Path, number: int, tokens: NDArray[np.float16]) -> None:
    """Write the checksums of a shard's tokens, then the tokens, whose file marks the shard as complete."""
    files: dict[Path, NDArray[Any]] = {_checksums_file(folder, number): checksums(tokens)}
    files[tokens_file(folder, number)] = tokens
    for path, array in files.items():
        with whole(path) as draft, draft.open("wb") as file:
            np.save(file, array)


def origin(pool: Path, sha256: str, variants: int, tokens: int, width: int) -> dict[str, Any]:
    """Return the content of ``tokens.json``. Each triple has tokens of the shape (variants, 3, tokens,
    width).

    sha256: ``backbones.fingerprint`` of the weights that made them.
    """
    return {
        "sha256": sha256,
        "pool": read_description(pool),
        "variants": variants,
        "tokens": tokens,
        "width": width,
    }


def claim(folder: Path, about: dict[str, Any]) -> None:
    """Write ``tokens.json``, or check that existing tokens have the same origin.

    Raises OutputError where the origin differs. If tokens have no recorded origin, only their shape is
    compared.
    """
    there = read_origin(folder)
    if there is not None:
        other = [name for name in about if about[name] != there.get(name)]
        if other:
            raise OutputError(
                f"{folder}: its tokens differ in {', '.join(other)}: they were made by another run, of"
                " another pool, or with other --variants. Choose another folder."
            )
        return
    shape = (about["variants"], 3, about["tokens"], about["width"])
    results = sorted(folder.glob("[0-9]*.tokens.npy"))
    for file in results:
        if (got := _read(file).shape[1:]) != shape:
            raise OutputError(f"{file}: its tokens are {got}, these would be {shape}. Choose another folder.")
    if not results:
        folder.mkdir(parents=True, exist_ok=True)
        with whole(folder / ORIGIN) as draft:
            draft.write_text(json.dumps(about, indent=1))


def read_origin(folder: Path) -> dict[str, Any] | None:
    """Return the content of ``tokens.json``, or None without such a file. Raises DatasetError where the file
    cannot be read.
    """
    file = folder / ORIGIN
    if not file.is_file():
        return None
    try:
        about = read_json(read_regular_text(file))
    except (OSError, ValueError) as error:
        raise DatasetError(f"{file}: cannot be read ({error}). Store the tokens anew elsewhere.") from error
    if not isinstance(about, dict):
        raise DatasetError(f"{file}: does not describe tokens. Store the tokens anew elsewhere.")
    return about


def open_tokens(folder: Path, pool: Path, shards: Sequence[Shard]) -> list[CheckedRows]:
    """Return the tokens of each of these shards of a pool, memory-mapped.

    Raises DatasetError where a shard has none, they belong to another pool, or their shapes do not fit.
    """
    about = read_origin(folder)
    if about is not None and about.get("pool") != read_description(pool):
        raise DatasetError(
            f"{folder}: these are the tokens of another pool ({json.dumps(about.get('pool'))}) than {pool}."
            f" Make its own: whatchanged features {pool} OTHER --run RUN"
        )
    stored: list[CheckedRows] = []
    for shard in shards:
        file = tokens_file(folder, shard.number)
        if not file.is_file():
            raise DatasetError(
                f"{file}: no tokens of this shard. Make them: whatchanged features {pool} {folder} --run RUN"
            )
        stored.append(_checked(file, _checksums_file(folder, shard.number)))
        wanted: tuple[Any, ...] = (len(shard), *stored[0].shape[1:])
        if about is not None:
            wanted = (len(shard), about.get("variants"), 3, about.get("tokens"), about.get("width"))
        if stored[-1].shape != wanted:
            raise DatasetError(
                f"{file}: its tokens are {stored[-1].shape}, wanted {wanted} as in the other shards. Store"
                " the tokens anew in another folder."
            )
    return stored


def _checksums_file(folder: Path, number: int) -> Path:
    return folder / f"{number:05d}.sha256.npy"


def _checked(file: Path, beside: Path) -> CheckedRows:
    """Return the tokens of a file, with the checksums in the file beside it. Raises DatasetError."""
    rows = _read(file)
    cure = "Delete this shard's files and store its tokens anew: whatchanged features"
    try:
        expected = mapped_array(beside) if beside.is_file() else None
        return CheckedRows(file, rows, expected, cure)
    except ValueError as error:
        raise DatasetError(f"{beside}: these checksums cannot be read ({error}). {cure}") from error


def _read(file: Path) -> NDArray[np.float16]:
    """Return the memory-mapped array of a file. Raises DatasetError where the array does not have five axes
    of numbers.
    """
    try:
        stored: NDArray[np.float16] = mapped_array(file)
        if stored.ndim != 5 or stored.dtype != np.float16:
            raise ValueError(f"{stored.dtype} {stored.shape}")
    except ValueError as error:
        raise DatasetError(
            f"{file}: these tokens cannot be read ({error}). Delete the file and store them anew."
        ) from error
    return stored
