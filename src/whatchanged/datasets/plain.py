"""Lists of pairs in CSV or JSON lines: columns before, after, and optionally id and captions.

Paths are relative to the list. Several captions are separated by ``|`` in CSV and are a list in JSON lines. A
pair without an id is called by its line number. Other columns are kept in ``extra``.
"""

import csv
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from whatchanged.errors import DatasetError
from whatchanged.records import PairRecord

NAME = "plain"
COLUMNS = ("before", "after", "id", "captions")


def recognises(path: Path) -> bool:
    """A file that ends in .csv or .jsonl."""
    return path.is_file() and path.suffix.lower() in (".csv", ".jsonl")


def read(path: Path) -> tuple[list[PairRecord], tuple[str, ...]]:
    """One record a row, in the order of the list."""
    if not path.is_file():
        raise DatasetError(f"{path}: a list of pairs is a file, in CSV or JSON lines.")
    rows = _csv_rows(path) if path.suffix.lower() == ".csv" else _json_rows(path)
    records = [_record(path, line, row) for line, row in rows]
    if not records:
        raise DatasetError(
            f"{path}: the list is empty. It needs one row for each pair: before, after[, id, captions]."
        )
    return records, ()


def _csv_rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """(line number, row) of each row below the header; captions become a list."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, strict=True)
            columns = list(reader.fieldnames or ())
            if not columns:
                raise DatasetError(
                    f"{path}: the file is empty. Its first line names the columns: before,after."
                )
            missing = [c for c in COLUMNS[:2] if c not in columns]
            if missing:
                raise DatasetError(
                    f"{path}: no column {' and no column '.join(map(repr, missing))}. Its first line names: "
                    f"{', '.join(columns)}. Wanted, with commas between: before,after[,id][,captions]."
                )
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


def _json_rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """(line number, object) of each line that is not blank."""
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        raise DatasetError(f"{path}: not a text file in UTF-8 ({error}).") from error
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (json.JSONDecodeError, RecursionError) as error:
            raise DatasetError(
                f"{path}, line {number}: not JSON ({error}). Each line holds one object."
            ) from error
        if not isinstance(row, dict):
            raise DatasetError(
                f"{path}, line {number}: a JSON object is wanted, this is a {type(row).__name__}."
            )
        yield number, row


def _record(path: Path, line: int, row: Mapping[str, Any]) -> PairRecord:
    for column in COLUMNS[:2]:
        if not isinstance(row.get(column), str) or not row[column].strip():
            found = ", ".join(map(str, row)) or "nothing"
            raise DatasetError(
                f"{path}, line {line}: {column!r} should name a picture. The line holds: {found}."
            )
    captions = row.get("captions")
    captions = [] if captions is None else captions
    if not isinstance(captions, list) or not all(isinstance(caption, str) for caption in captions):
        raise DatasetError(f"{path}, line {line}: 'captions' should be a list of sentences.")
    pair_id = row.get("id")
    name = str(line) if pair_id is None or pair_id == "" else str(pair_id)
    return PairRecord(
        dataset=NAME,
        pair_id=name,
        group_id=name,
        split="test",
        kind="pair_caption",
        before=path.parent / row["before"],
        after=path.parent / row["after"],
        captions=tuple(captions),
        extra={key: value for key, value in row.items() if key not in COLUMNS},
    )
