"""Lists of pairs in CSV or JSON lines, with the columns before, after, and optionally id, captions, split and
changed.

Paths are relative to the list. If the user named the list itself, as on the command line, paths may be
absolute or contain ``..``. In a list inside a data set folder, paths must stay below the folder. Several
captions are separated by ``|`` in CSV, and are a list in JSON lines. A pair without an id gets its line
number as its id. A pair without a split is a test pair. ``changed`` is true or false. Without ``changed``,
the captions determine whether the pair changed (``mark_changes``). Pairs with the same ``document`` stay
together when pairs are sampled. Other columns are stored in ``extra``. A folder with a file ``pairs.jsonl``,
such as a drawn set, is read as this list.
"""

import csv
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from whatchanged.datasets.reading import Reading, bare, parse, text
from whatchanged.errors import DatasetError
from whatchanged.opening import open_regular_text
from whatchanged.records import PairRecord, Split

NAME = "plain"
SPLIT_NAMES: Mapping[str, Split] = {"train": "train", "val": "val", "valid": "val", "test": "test"}
COLUMNS = ("before", "after", "id", "captions", "split", "changed", "document")
LIST = "pairs.jsonl"
"""The file name of the list in a folder."""
ANSWERS: Mapping[str, bool] = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
NO_CHANGE = frozenset(
    {
        "no change",
        "no changes",
        "no difference",
        "no differences",
        "nothing",
        "nothing changed",
        "identical",
        "nothing has changed",
        "nothing was modified",
        "there is no change",
        "there are no changes",
        "there is no difference",
        "there are no differences",
        "no change was made",
        "no change has occurred",
        "no visible change",
        "no visible changes",
        "the images are identical",
        "the pictures are identical",
        "the two scenes seem identical",
        "the scene is the same as before",
        "the scene remains the same",
    }
)
"""The captions that say that nothing changed, in lower case and without a full stop."""
ALMOST_NO_CHANGE = frozenset({"almost nothing has changed", "no change is occurred"})
"""Further captions of unchanged pairs in LEVIR-CC.

A pair with only such captions does not count as unchanged.
"""
SEPARATORS = {";": "semicolons", "\t": "tabs"}


def recognises(path: Path) -> bool:
    """Return whether the path ends in .csv or .jsonl, or is a folder with such a list."""
    return (path / LIST).is_file() or (path.is_file() and path.suffix.lower() in (".csv", ".jsonl"))


def read(path: Path, reading: Reading) -> list[PairRecord]:
    """Return one record for each row, in the order of the list."""
    if path.is_dir():
        path = path / LIST
    if not path.is_file():
        raise DatasetError(f"{path}: a list of pairs is a file, in CSV or JSON lines.")
    rows = _csv_rows(path) if path.suffix.lower() == ".csv" else _json_rows(path, reading)
    results = [_record(path, line, row, reading) for line, row in rows]
    if not results:
        raise DatasetError(
            f"{path}: the list is empty. It needs a row for each pair: before, after[, "
            "id, captions, split, changed]."
        )
    return mark_changes([record for record in results if record is not None])


def _csv_rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the line number and the values of each row below the header.

    The captions of a row become a list.
    """
    try:
        with open_regular_text(path, "utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, strict=True)
            header = next((row for row in reader.reader if any(map(str.strip, row))), [])
            _check_columns(path, header)
            reader.fieldnames = header
            for row in reader:
                if None in row:
                    raise DatasetError(
                        f"{path}, line {reader.line_num}: more values than columns. "
                        "Put quotes around a value that holds a comma."
                    )
                captions = row.get("captions") or ""
                yield reader.line_num, {**row, "captions": captions.split("|") if captions else []}
    except (csv.Error, UnicodeDecodeError) as error:
        raise DatasetError(f"{path}: not a CSV file in UTF-8 ({error}).") from error


def _check_columns(path: Path, columns: list[str]) -> None:
    """Raise DatasetError unless the header contains every required column and no column twice."""
    if not columns:
        raise DatasetError(f"{path}: the file is empty. Its first line names the columns: before,after.")
    missing = [c for c in COLUMNS[:2] if c not in columns]
    if missing:
        other = next(
            (name for sign, name in SEPARATORS.items() if len(columns) == 1 and sign in columns[0]), ""
        )
        raise DatasetError(
            f"{path}: no column {' and no column '.join(map(repr, missing))}. Its first line names: "
            f"{', '.join(columns)}. Wanted, commas between: before,after[,id][,captions][,split][,changed]."
            + (f" This file has {other} between its columns: save it with commas." if other else "")
        )
    twice = [c for c, count in Counter(columns).items() if count > 1 and c.strip()]
    if twice:
        raise DatasetError(
            f"{path}: its first line names the column {twice[0]!r} more than once. Rename or remove one."
        )


def _json_rows(path: Path, reading: Reading) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the line number and the object of each line that is not blank."""
    for number, line in enumerate(text(path).split("\n"), start=1):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        try:
            row = parse(line, where, partial(_once, where))
        except DatasetError as error:
            reading.damage(str(error))
            continue
        if isinstance(row, dict):
            yield number, row
        else:
            reading.damage(f"{where}: a JSON object is wanted, this is a {type(row).__name__}.")


def _once(where: str, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object. Raises DatasetError if a key occurs twice."""
    twice = [key for key, count in Counter(key for key, _ in pairs).items() if count > 1]
    if twice:
        raise DatasetError(f"{where}: the key {twice[0]!r} occurs more than once.")
    return dict(pairs)


def _record(path: Path, line: int, row: Mapping[str, Any], reading: Reading) -> PairRecord | None:
    where = f"{path}, line {line}"
    pictures = []
    for column in COLUMNS[:2]:
        if not isinstance(row.get(column), str) or not row[column].strip():
            found = ", ".join(map(str, row)) or "nothing"
            reading.damage(f"{where}: {column!r} should name a picture. The line holds: {found}.")
            return None
        anywhere = reading.root == path  # the user who names a list may read the files in it
        pictures.append(reading.picture(path.parent, row[column], f"{where}: {column!r}", anywhere))
    captions = reading.sentences(f"{where}: 'captions'", row.get("captions") or [])
    before, after = pictures
    split = SPLIT_NAMES.get(str(row.get("split") or "test").strip().lower())
    if split is None:
        reading.damage(f"{where}: 'split' should be one of train, val, test; it is {row['split']!r}.")
    name = _id(where, line, row.get("id"), reading)
    if before is None or after is None or captions is None or split is None or name is None:
        return None
    changed = None
    if row.get("changed") not in (None, ""):
        changed = ANSWERS.get(str(row["changed"]).strip().lower())
        if changed is None:
            reading.damage(f"{where}: 'changed' should be true or false; it is {row['changed']!r}.")
            return None
    return PairRecord(
        dataset=NAME,
        pair_id=name,
        group_id=str(row.get("document") or name),
        split=split,
        kind="pair_caption",
        before=before,
        after=after,
        captions=captions,
        changed=changed,
        change_type="none" if changed is False else None,
        extra={key: value for key, value in row.items() if key not in COLUMNS},
    )


def mark_changes(records: Sequence[PairRecord]) -> list[PairRecord]:
    """Return the records with pairs marked as changed or unchanged according to their captions.

    Records that are marked already, and pairs without captions, are not modified. A pair is unchanged if all
    its captions are in ``NO_CHANGE``. A pair is also unchanged if some captions are in ``NO_CHANGE`` and all
    others are in ``ALMOST_NO_CHANGE``. If no pair is unchanged, nothing is marked, because the captions may
    use other words for "no change".
    """
    same = [_says_no_change({bare(caption) for caption in r.captions}) for r in records]
    if not any(same):
        return list(records)
    return [
        replace(record, changed=not unchanged, change_type="none" if unchanged else None)
        if record.captions and record.changed is None
        else record
        for record, unchanged in zip(records, same, strict=True)
    ]


def _says_no_change(sentences: set[str]) -> bool:
    """Return whether all captions of a pair say that nothing changed."""
    return sentences <= NO_CHANGE | ALMOST_NO_CHANGE and bool(sentences & NO_CHANGE)


def _id(where: str, line: int, value: Any, reading: Reading) -> str | None:
    """Return the id of a pair, which is a text or a whole number.

    Without an id, the result is the line number. If the id is invalid, the row counts as damage, and the
    result is None.
    """
    if value is None or value == "":
        return str(line)
    if type(value) is int or (isinstance(value, str) and value.strip()):
        return str(value)
    reading.damage(f"{where}: 'id' should be a text or a whole number, not {value!r}.")
    return None
