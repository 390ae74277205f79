"""Checks that the reader of a data set does what the contract in ``whatchanged.datasets`` requires."""

import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from whatchanged.datasets import Dataset, find_reader, open_dataset
from whatchanged.errors import DatasetError
from whatchanged.plugins import fault
from whatchanged.records import PairRecord
from whatchanged.testing.require import require


def check_dataset(path: Path, name: str) -> None:
    """Check the reader of the data set ``name`` on a small, complete example of the data set at ``path``.

    The reader must recognise the example, and nothing else. Its records must follow the contract and be the
    same each time. A missing picture must cause an error, or, on request, be left out and listed.
    """
    dataset = open_dataset(path)
    require(dataset.name == name, f"{path}: recognised as {dataset.name}, wanted {name}")
    require(open_dataset(path, name).records == dataset.records, "read a second time, the records differ")
    for record in dataset.records:
        _check_record(record)
    _check_recognition(name)
    _check_missing_picture(path, dataset)


def _check_record(record: PairRecord) -> None:
    who = f"the pair {record.pair_id!r}"
    require(isinstance(record.pair_id, str) and bool(record.pair_id), f"{who}: pair_id should be a text")
    single = record.kind in ("single_caption", "single_label")
    require((record.after is None) == single, f"{who}: after is {record.after}, kind is {record.kind}")
    require(isinstance(record.captions, tuple), f"{who}: captions should be a tuple")
    require(all(isinstance(caption, str) for caption in record.captions), f"{who}: a caption is no text")
    if record.change_type is not None:
        unchanged = record.change_type == "none"
        agrees = record.changed == (not unchanged)
        require(agrees, f"{who}: change_type is {record.change_type}, but changed is {record.changed}")
    if record.kind.endswith("label"):
        require(bool(record.labels), f"{who}: no labels")


def _check_recognition(name: str) -> None:
    """Checks that a folder without a data set is not recognised, and causes no error."""
    recognises = find_reader(name).recognises
    with tempfile.TemporaryDirectory() as folder:
        empty = Path(folder) / "empty"
        empty.mkdir()
        notes = Path(folder) / "notes.txt"
        notes.write_text("hello", encoding="utf-8")
        for path in (empty, notes):
            try:
                found = recognises(path)
            except Exception as error:
                raise AssertionError(f"recognises failed on {path.name}: {fault(error)}") from error
            require(not found, f"recognises takes {path.name} for its data set")


def _check_missing_picture(path: Path, dataset: Dataset) -> None:
    """Checks a missing picture: an error names it, or its pair is left out and listed."""
    base = path if path.is_dir() else path.parent
    counts = Counter(picture for record in dataset.records for picture in _pictures(record))
    gone = next((picture for picture in counts if counts[picture] < len(dataset.records)), None)
    if gone is None:
        raise AssertionError("give an example in which no picture is in every pair")
    require(gone.is_relative_to(base), f"give an example with its pictures inside, not at {gone}")
    affected = {record.pair_id for record in dataset.records if gone in _pictures(record)}
    with _copy_of(base) as copy:
        (copy / gone.relative_to(base)).unlink()
        spoiled = copy / path.relative_to(base)
        try:
            open_dataset(spoiled, dataset.name)
        except DatasetError as error:
            require(gone.name in str(error), f"the error does not name the missing {gone.name}: {error}")
        else:
            raise AssertionError(f"{gone.name} is missing, and nothing is said of it")
        kept = open_dataset(spoiled, dataset.name, skip_missing=True)
        require({r.pair_id for r in kept.records}.isdisjoint(affected), "a pair without its picture was kept")
        require(set(kept.report.skipped) == affected, f"listed as left out: {kept.report.skipped}")


def _pictures(record: PairRecord) -> tuple[Path, ...]:
    return (record.before,) if record.after is None else (record.before, record.after)


@contextmanager
def _copy_of(folder: Path) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as scratch:
        yield shutil.copytree(folder, Path(scratch) / "copy")
