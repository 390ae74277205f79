"""The reader of the drawn folder: a list of pairs whose kinds of change stand in the truth beside it."""

from dataclasses import replace
from pathlib import Path

from toy_world.world import TRUTH, kind_of, truths
from whatchanged.datasets import plain
from whatchanged.datasets.reading import Reading
from whatchanged.records import PairRecord


def recognises(path: Path) -> bool:
    """A folder with a list of pairs and the truth about squares."""
    return (path / TRUTH).is_file() and (path / "pairs.jsonl").is_file()


def read(path: Path, reading: Reading) -> list[PairRecord]:
    """The records of the list, with the kinds of change."""
    records = plain.read(path / "pairs.jsonl", reading)
    known = truths(path, records)
    return [
        replace(
            record,
            dataset="toy_squares",
            change_type=kind_of(known[record.pair_id]) if record.pair_id in known else None,
        )
        for record in records
    ]
