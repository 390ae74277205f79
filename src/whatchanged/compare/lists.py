"""Pairs that a list names, as ``caption`` reads it."""

from pathlib import Path

from whatchanged.compare.pairs import Matched, PairToCompare, checked
from whatchanged.datasets import open_dataset
from whatchanged.datasets.plain import recognises


def is_list(path: Path) -> bool:
    """Whether this is a CSV or JSON lines file."""
    return recognises(path)


def match_list(path: Path) -> Matched:
    """The pairs of a list, in its order. Raises DatasetError."""
    records = open_dataset(path).records
    pairs = [PairToCompare(record.pair_id, record.before, record.after) for record in records]
    return Matched(checked(pairs), str(path))
