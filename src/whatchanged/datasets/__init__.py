"""From a folder or a list on disk to records: one reader a data set, found by what lies there.

A reader is one module with two functions: ``recognises(path)`` and the function that ``READERS`` names, which
turns the path into ``(records, notes)``. What every data set needs (splits, missing pictures, unique ids) is
done here, once.
"""

import importlib
import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from whatchanged.errors import DatasetError
from whatchanged.records import PairRecord

__all__ = ["READERS", "Dataset", "Report", "open_dataset"]

READERS: dict[str, str] = {
    "clevr_change": "whatchanged.datasets.clevr_change:read",
    "plain": "whatchanged.datasets.plain:read",
}
"""Name to ``module:function``; the module is imported when it is asked."""

Reader = Callable[[Path], tuple[list[PairRecord], tuple[str, ...]]]
SPLITS = ("train", "val", "test")
EXAMPLES = 3


@dataclass(frozen=True)
class Report:
    """What was found that a person should know of; nothing is left out in silence."""

    missing: tuple[Path, ...] = ()
    """Pictures that records name and that are not there."""
    skipped: tuple[str, ...] = ()
    """Ids of the pairs left out because a picture of theirs is missing."""
    blank_captions: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Dataset:
    """Records of one data set (or of one split of it), in the order of their ids in the source."""

    name: str
    root: Path
    records: tuple[PairRecord, ...]
    report: Report


def open_dataset(
    path: str | Path,
    name: str | None = None,
    split: str = "all",
    skip_missing: bool = False,
    pictures: bool = True,
) -> Dataset:
    """The records of a data set folder or list.

    ``name`` is one of ``READERS``; None: recognised. ``split`` is train, val, test or all. ``skip_missing``
    leaves out pairs whose pictures are missing instead of raising. ``pictures=False`` does not look for them:
    scoring needs the references only. Raises DatasetError.
    """
    root = Path(path)
    if not root.exists():
        raise DatasetError(f"{root}: there is no such file or folder.")
    name = name or _recognise(root)
    records, notes = _function(name, "read")(root)
    _unique_ids(root, records)
    chosen = [record for record in records if split in ("all", record.split)]
    if not chosen:
        counts = Counter[str](record.split for record in records)
        found = ", ".join(f"{s} {counts[s]}" for s in SPLITS)
        raise DatasetError(
            f"{root}: no pairs in split {split!r}. Pairs found: {found}. Choose another --split."
        )
    missing = _missing_pictures(chosen) if pictures else ()
    if missing and not skip_missing:
        first = ", ".join(str(p) for p in missing[:EXAMPLES])
        raise DatasetError(
            f"{root}: {len(missing):,} of the pictures are missing (first: {first}). "
            "Put them there, or pass --skip-missing to leave their pairs out."
        )
    gone = set(missing)
    kept = tuple(r for r in chosen if r.before not in gone and r.after not in gone)
    if not kept:
        raise DatasetError(f"{root}: every pair lacks a picture (first: {missing[0]}). Check the folder.")
    return Dataset(
        name,
        root,
        kept,
        Report(
            missing,
            tuple(r.pair_id for r in chosen if r.before in gone or r.after in gone),
            sum(not caption.strip() for r in kept for caption in r.captions),
            notes,
        ),
    )


def _function(name: str, function: str) -> Callable[..., tuple[list[PairRecord], tuple[str, ...]]]:
    """A reader's function, its module imported now."""
    if name not in READERS:
        raise DatasetError(f"Unknown data set {name!r}. Known: {', '.join(READERS)}.")
    module, read = READERS[name].split(":")
    found: Reader = getattr(importlib.import_module(module), read if function == "read" else function)
    return found


def _recognise(root: Path) -> str:
    for name in READERS:
        if _function(name, "recognises")(root):
            return name
    if root.is_dir():
        names = sorted(os.listdir(root))  # noqa: PTH208 - names, not paths
        lies = ", ".join(names[:6]) + (", ..." if names[6:] else "") if names else "nothing"
        raise DatasetError(
            f"{root}: not a folder of a known data set (it holds {lies}). Known: {', '.join(READERS)}."
        )
    raise DatasetError(
        f"{root}: a list of pairs ends in .csv or .jsonl; this is {root.suffix or 'no ending'!r}."
    )


def _unique_ids(root: Path, records: Sequence[PairRecord]) -> None:
    if not records:
        raise DatasetError(f"{root}: it names no pairs.")
    counts = Counter(record.pair_id for record in records)
    if len(counts) < len(records):
        twice = [pair_id for pair_id, count in counts.items() if count > 1]
        raise DatasetError(
            f"{root}: {len(twice):,} ids occur more than once (first: {', '.join(twice[:EXAMPLES])}). "
            "Every pair needs an id of its own."
        )


def _missing_pictures(records: Sequence[PairRecord]) -> tuple[Path, ...]:
    """Pictures that are not there, each once, in the order of the records."""
    paths = dict.fromkeys(path for r in records for path in (r.before, r.after) if path is not None)
    return tuple(path for path in paths if not os.path.isfile(path))  # noqa: PTH113 - 120,000 of them: pathlib is slow
