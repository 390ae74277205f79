"""Read a data set from a folder or a list.

There is one reader for each data set. A data set is recognised by its files. A reader is a module with two
functions. ``recognises(path)`` returns whether the path is a data set of this kind. The function in
``READERS`` takes ``(path, Reading)`` and returns the records. This module does the steps that are common to
all data sets: splits, missing pictures, unique ids and published counts. Other packages add readers by the
entry-point group "whatchanged.datasets" (see `plugins.py`).
"""

import os
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import get_args

from whatchanged import plugins
from whatchanged.datasets.picture_files import listed
from whatchanged.datasets.reading import SPLITS, Reading, is_unicode
from whatchanged.errors import DatasetError, PluginError
from whatchanged.records import PairRecord, RecordKind
from whatchanged.urls import as_url, is_remote

__all__ = ["READERS", "SPLITS", "Dataset", "DatasetReport", "Reader", "dataset_names", "open_dataset"]

READERS: dict[str, str] = {
    "clevr_change": "whatchanged.datasets.clevr_change:read",
    "clevr_dc": "whatchanged.datasets.clevr_dc:read",
    "spot_the_diff": "whatchanged.datasets.spot_the_diff:read",
    "spot_the_diff_multi": "whatchanged.datasets.spot_the_diff_multi:read",
    "spot_the_diff_records": "whatchanged.datasets.spot_the_diff:read_records",
    "spot_the_diff_blanks": "whatchanged.datasets.spot_the_diff:read_blanks",
    "spot_the_diff_multi_blanks": "whatchanged.datasets.spot_the_diff_multi:read_blanks",
    "image_editing_request": "whatchanged.datasets.image_editing_request:read",
    "birds_to_words": "whatchanged.datasets.birds_to_words:read",
    "levir_cc": "whatchanged.datasets.levir_cc:read",
    "cub": "whatchanged.datasets.cub:read",
    "nabirds": "whatchanged.datasets.nabirds:read",
    "ui_train": "whatchanged.datasets.ui_train:read",
    "plain": "whatchanged.datasets.plain:read",
    "folders": "whatchanged.datasets.folders:read",
    "named_pairs": "whatchanged.datasets.named_pairs:read",
}
"""A mapping from the name of a data set to "module:function".

The module is imported on first use. Readers try to recognise a data set in this order, but the readers in
``GENERAL`` come last.
"""
GENERAL = ("plain", "folders", "named_pairs")
"""The names of readers that accept any pictures.

These readers are tried last, after the readers of plug-ins.
"""


@dataclass(frozen=True)
class Counts:
    """The numbers of pairs (or single pictures) and of captions of train, val and test.

    A number is None if it is not published or uncertain.
    """

    pairs: tuple[int, int, int]
    captions: tuple[int, int, int] | None = None
    total: int | None = None
    """The number of captions of all splits together, if only this sum is published."""
    source: str = ""


PUBLISHED: Mapping[str, Counts] = {
    "clevr_change": Counts((67_660, 3_976, 7_970), total=493_735, source="split file; captions: the paper"),
    "clevr_dc": Counts((40_800, 2_400, 4_800), source="split file"),
    "spot_the_diff": Counts((8_566, 1_493, 1_270), (17_676, 3_310, 2_107), source="annotations v0.1"),
    "spot_the_diff_blanks": Counts((8_566, 1_493, 1_270), (17_676, 3_310, 2_107), source="annotations v0.1"),
    "spot_the_diff_records": Counts((9_524, 1_634, 1_404), (17_676, 3_310, 2_107), source="annotations v0.1"),
    "spot_the_diff_multi": Counts((8_566, 1_493, 1_270), (8_566, 1_493, 1_270), source="CARD's files"),
    "spot_the_diff_multi_blanks": Counts((8_566, 1_493, 1_270), (8_566, 1_493, 1_270), source="CARD's files"),
    "image_editing_request": Counts((3_061, 383, 495), (3_061, 1_149, 1_485), source="the project's files"),
    "birds_to_words": Counts((2_685, 325, 337), (12_890, 1_556, 1_604), source="files of PCL's authors"),
    "levir_cc": Counts((6_815, 1_333, 1_929), (34_075, 6_665, 9_645), source="the paper and its files"),
    "cub": Counts((5_994, 0, 5_794), total=117_880, source="official split; ten captions a picture"),
    "ui_train": Counts((835, 185, 0), (1_670, 370, 0), source="labels of this project"),
    "nabirds": Counts((23_929, 0, 24_633), source="the paper"),
}
"""The published counts. A folder may have other counts without being invalid."""

EXAMPLES = 3


@dataclass(frozen=True)
class Reader:
    """The two functions of a reader: one recognises the data set at a path, the other returns its records."""

    recognises: Callable[[Path], bool]
    read: Callable[[Path, Reading], list[PairRecord]]


@dataclass(frozen=True)
class DatasetReport:
    """Remarks on a data set. The report lists everything that was left out."""

    missing: tuple[Path, ...] = ()
    """The paths in records of pictures that do not exist."""
    skipped: tuple[str, ...] = ()
    """The ids of pairs that were left out because a picture is missing."""
    damaged: tuple[str, ...] = ()
    """Texts about damaged entries that were left out, with the reasons."""
    blank_captions: int = 0
    """The number of blank captions among the references. Some protocols do not drop blank captions."""
    notes: tuple[str, ...] = ()
    """Remarks of the reader."""
    differences: tuple[str, ...] = ()
    """Sentences about counts of the whole folder that differ from the published counts."""


@dataclass(frozen=True)
class Dataset:
    """The records of one data set or of one split, in the order of the source."""

    name: str
    root: Path
    records: tuple[PairRecord, ...]
    report: DatasetReport
    class_names: tuple[str, ...] = ()
    """The names of the classes, indexed by ``PairRecord.labels``; empty if the data set has no classes."""


def open_dataset(
    path: str | Path,
    name: str | None = None,
    split: str = "all",
    skip_missing: bool = False,
    pictures: bool = True,
) -> Dataset:
    """Open a data set folder or list, and return its records.

    name: one of ``dataset_names()``, or None to recognise the data set. split: train, val, test or all.
    skip_missing: whether to leave out pairs with missing pictures and damaged entries. The report then lists
    what was left out, and no error is raised. pictures: whether to check that pictures exist. Scoring needs
    only the references. Raises DatasetError if something is missing or damaged. Raises PluginError if the
    reader of a plug-in cannot be loaded.
    """
    root = Path(path) if isinstance(path, str) else path
    if not _exists(root):
        raise _not_there(root)
    name = name or _recognise(root)
    reading = Reading(skipping=skip_missing, root=root)
    records = find_reader(name).read(root, reading)
    _check_words(name, records)
    records = _writable(root, records, reading)
    records = _unique(root, records, reading)
    if not records:
        why = (
            f" Left out: {len(reading.left_out):,} (first: {reading.left_out[0]})" if reading.left_out else ""
        )
        raise DatasetError(f"{root}: it names no pairs.{why}")
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
            f"{root}: pictures are missing: {len(missing):,} (first: {first}). "
            "Put them there, or leave their pairs out with --skip-missing where a command has it."
        )
    gone = set(missing)
    kept = tuple(r for r in chosen if r.before not in gone and r.after not in gone) if gone else tuple(chosen)
    if not kept:
        raise DatasetError(f"{root}: every pair lacks a picture (first: {missing[0]}). Check the folder.")
    report = DatasetReport(
        missing=missing,
        skipped=tuple(r.pair_id for r in chosen if r.before in gone or r.after in gone),
        damaged=tuple(reading.left_out),
        blank_captions=sum(not caption.strip() for r in kept for caption in r.captions),
        notes=tuple(reading.notes),
        differences=differences(name, records),
    )
    return Dataset(name, root, kept, report, reading.class_names)


def _exists(root: Path) -> bool:
    """Return whether a file or folder exists. Raises DatasetError if a remote store does not answer."""
    if not is_remote(root):
        return root.exists()
    try:
        return root.exists()
    except Exception as error:  # each kind of store raises errors of its own
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise DatasetError(
            f"{root}: this place cannot be reached ({reason}). Check it and try again."
        ) from error


def _not_there(root: Path) -> DatasetError:
    if not is_remote(root) and (url := as_url(root)):
        return DatasetError(f"{url}: this is a URL; only files are read. Download it and name the file.")
    return DatasetError(f"{root}: there is no such file or folder.")


def unit(records: Sequence[PairRecord]) -> str:
    """Return the noun for records: "pictures" if every record has a single picture, and otherwise "pairs"."""
    return "pairs" if any(record.after is not None for record in records) else "pictures"


def differences(name: str, records: Sequence[PairRecord]) -> tuple[str, ...]:
    """Return a line for each count that differs from the published count.

    records: the records of all splits.
    """
    counts = PUBLISHED.get(name)
    if counts is None or any(r.kind == "pair_label" for r in records):
        return ()
    results = []
    total, what = 0, unit(records)
    for i, split in enumerate(SPLITS):
        here = [record for record in records if record.split == split]
        captions = sum(len(record.captions) for record in here)
        total += captions
        if len(here) != counts.pairs[i]:
            results.append(f"{split}: {len(here):,} {what}, published {counts.pairs[i]:,} ({counts.source})")
        if counts.captions is not None and captions != counts.captions[i]:
            results.append(
                f"{split}: {captions:,} captions, published {counts.captions[i]:,} ({counts.source})"
            )
    if counts.total is not None and total != counts.total:
        results.append(f"{total:,} captions in all, published {counts.total:,} ({counts.source})")
    return tuple(results)


def dataset_names() -> tuple[str, ...]:
    """Return the names of all data sets that can be read.

    Names from plug-ins come last. No reader is imported.
    """
    return plugins.names(plugins.DATASETS, READERS)


def find_reader(name: str) -> Reader:
    """Import and return the reader of a data set.

    Raises DatasetError for an unknown name, and PluginError if a plug-in cannot be loaded.
    """
    if name not in READERS and name not in dataset_names():  # listing plug-ins reads many files
        raise DatasetError(f"Unknown data set {name!r}. Known: {', '.join(dataset_names())}.")
    return plugins.find(plugins.DATASETS, name, READERS, _reader)


def _reader(name: str, value: object) -> Reader:
    """Return the reader of a module, or the reader of the module that contains a function.

    Raises TypeError if the module has no reader.
    """
    if isinstance(value, ModuleType):
        module, read = value, getattr(value, "read", None)
    else:
        module, read = sys.modules[value.__module__], value
    recognises = getattr(module, "recognises", None)
    if not callable(recognises) or not callable(read):
        raise TypeError(f"{value!r}: wanted a module with recognises(path) and read(path, reading)")
    return Reader(recognises, read)


def _recognise(root: Path) -> str:
    """Return the name of the data set at a path. Raises DatasetError if no reader recognises the data set."""
    for name in READERS:
        if name not in GENERAL and find_reader(name).recognises(root):
            return name
    for plugin in plugins.installed(plugins.DATASETS, READERS):
        if _plugin_recognises(plugin, root):
            return plugin.name
    for name in GENERAL:
        if find_reader(name).recognises(root):
            return name
    if root.is_dir():
        names = sorted(entry.name for entry in root.iterdir() if not _is_ours(entry.name))
        lies = ", ".join(names[:6]) + (", ..." if names[6:] else "") if names else "nothing"
        raise DatasetError(
            f"{root}: not a folder of a known data set (it holds {lies}). "
            f"Known: {', '.join(dataset_names())}. "
            "A folder of your own holds before/ and after/ with the same names in both, or names such as "
            "a_before.png and a_after.png; or name a CSV with the columns before,after."
        )
    raise DatasetError(
        f"{root}: a list of pairs ends in .csv or .jsonl; this is {root.suffix or 'no ending'!r}."
    )


def _is_ours(name: str) -> bool:
    """Return whether a file name is the name of a lock or draft of a running command."""
    return name.startswith(".") and name.endswith((".lock", ".draft"))


def _plugin_recognises(plugin: plugins.Plugin, root: Path) -> bool:
    """Return whether a plug-in recognises the path.

    If the plug-in fails, the result is False, and a line is printed on stderr.
    """
    try:
        return bool(find_reader(plugin.name).recognises(root))
    except PluginError as error:
        plugins.warn_once(str(error))
    except Exception as error:  # another package's function may raise anything
        what = f"The data set {plugin.name!r} of {plugin.package} cannot be recognised"
        plugins.warn_once(f"{what}: {plugins.fault(error)}")
    return False


def _check_words(name: str, records: Sequence[PairRecord]) -> None:
    """Raise DatasetError if a reader returned a record with an unknown kind or split."""
    for key, known in (("kind", get_args(RecordKind)), ("split", SPLITS)):
        for record in records:
            if getattr(record, key) not in known:
                raise DatasetError(
                    f"The reader of {name} gives the pair {record.pair_id!r} the {key}"
                    f" {getattr(record, key)!r}. A record's {key} is one of {', '.join(known)}: mend the"
                    " package that the reader comes from."
                )


def _writable(root: Path, records: list[PairRecord], reading: Reading) -> list[PairRecord]:
    """Return the records whose ids and captions can be written as UTF-8. Other records count as damage."""
    results = []
    for record in records:
        if is_unicode("".join((record.pair_id, *record.captions))):
            results.append(record)
        else:
            reading.damage(
                f"{root}: the pair {record.pair_id!a}: its id or a caption holds a character that "
                "cannot be written as UTF-8."
            )
    return results


def _unique(root: Path, records: list[PairRecord], reading: Reading) -> list[PairRecord]:
    """Return the records with unique ids. A record with the id of an earlier record counts as damage."""
    counts = Counter(record.pair_id for record in records)
    if len(counts) == len(records):
        return records
    twice = [pair_id for pair_id, count in counts.items() if count > 1]
    reading.damage(
        f"{root}: {len(twice):,} ids occur more than once (first: {', '.join(twice[:EXAMPLES])}). "
        "Every pair needs an id of its own."
    )
    return list({record.pair_id: record for record in reversed(records)}.values())[::-1]


def _missing_pictures(records: Sequence[PairRecord]) -> tuple[Path, ...]:
    """Return the paths of pictures that do not exist, without duplicates, in the order of the records.

    Raises DatasetError if a folder cannot be read.
    """
    paths = dict.fromkeys(path for r in records for path in (r.before, r.after) if path is not None)
    if any(map(is_remote, paths)):
        there = listed(paths)
        return tuple(path for path in paths if path not in there)
    missing = tuple(path for path in paths if not os.path.isfile(path))  # noqa: PTH113 - 120,000 of them: pathlib is slow
    for path in missing:
        _check_readable(path)
    return missing


def _check_readable(path: Path) -> None:
    """Raise DatasetError if the file system does not report whether a file exists."""
    try:
        path.stat()
    except PermissionError as error:
        raise DatasetError(
            f"{path}: its folder cannot be read ({error.strerror}). Give yourself the right to read it."
        ) from error
    except (OSError, ValueError):
        return  # it is missing, or its name is not valid
