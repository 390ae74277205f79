"""Pairs as records, whose pictures are only names."""

from pathlib import Path

from whatchanged.records import PairRecord


def pair_record(pair_id, captions=("a",), dataset="plain", group=None, **other):
    """A pair of the test split; ``other`` are further fields of the record."""
    return PairRecord(
        dataset=dataset,
        pair_id=pair_id,
        group_id=pair_id if group is None else group,
        split="test",
        kind="pair_caption",
        before=other.pop("before", Path("a")),
        after=other.pop("after", Path("b")),
        captions=tuple(captions),
        **other,
    )
