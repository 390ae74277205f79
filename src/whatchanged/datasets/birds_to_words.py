"""Birds-to-Words (Forbes et al., EMNLP 2019): pairs of bird photographs with paragraphs that compare two
birds.

    birds-to-words-v1.0.tsv     one row per description, eleven columns with a header line
    images/647514.jpg           the photographs, fetched by the user from the addresses of the table

The format of PCL's authors can be read as well: train.json, val.json, test.json (or .jsonl), JSON lines
``{"img1": "647514", "img2": "5595152", "description": [...]}``. A description is a list of tokens or a
sentence. The value of "description" is one description (train) or a list of descriptions. The id of a pair
has the form ``647514_5595152``. All descriptions of a pair are its references, in file order. If the file
contains only tokens, a caption is the tokens joined by blanks, and ``PairRecord.tokens`` contains the tokens.
"""

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from whatchanged.datasets.reading import (
    SPLITS,
    Reading,
    first_entry,
    first_folder,
    negatives,
    split_files,
    text,
)
from whatchanged.errors import DatasetError
from whatchanged.records import PairRecord, Split

NAME = "birds_to_words"
COLUMNS = (
    *("img1ObservationURL", "img1ImgURL", "img1Species", "img1Selection"),
    *("img2ObservationURL", "img2ImgURL", "img2Species", "img2Selection"),
    *("split", "annN", "description"),
)
_ID = re.compile(r"\d{1,15}")


@dataclass
class _Pair:
    split: Split
    captions: list[str] = field(default_factory=list)
    tokens: list[tuple[str, ...]] = field(default_factory=list)
    extra: dict[str, Any] = field(default_factory=dict)


def recognises(root: Path) -> bool:
    """Return whether the folder contains the published table, or JSON lines in which pictures are numbers."""
    if _tables(root):
        return True
    entry = first_entry(*_files(root).values())
    return "description" in entry and "img2" in entry


def read(root: Path, reading: Reading) -> list[PairRecord]:
    """Return one record for each pair, in the order of first appearance."""
    tables = _tables(root)
    pairs: dict[tuple[str, str], _Pair] = {}
    if tables:
        _read_table(tables[0], pairs, reading)
        mined: dict[tuple[str, ...], tuple[str, ...]] = {}
    else:
        _read_lines(root, pairs, reading)
        mined = negatives(reading, root, SPLITS, ("img1", "img2"))
    images = first_folder(root, "images", "imgs", "img")
    pairs = {key: pair for key, pair in pairs.items() if pair.captions}
    _note_shared(pairs, reading)
    return [
        PairRecord(
            dataset=NAME,
            pair_id="_".join(key),
            group_id="_".join(key),
            split=pair.split,
            kind="pair_caption",
            before=images / f"{key[0]}.jpg",
            after=images / f"{key[1]}.jpg",
            captions=tuple(pair.captions),
            tokens=tuple(pair.tokens) or None,
            same_class=_same_species(pair.extra.get("species")),
            negatives=mined.get(key, ()),
            extra=pair.extra,
        )
        for key, pair in pairs.items()
    ]


def _tables(root: Path) -> list[Path]:
    return sorted(root.glob("birds-to-words*.tsv")) if root.is_dir() else []


def _files(root: Path) -> dict[Split, Path]:
    names: dict[Split, tuple[str, ...]] = {s: (f"{s}.json", f"{s}.jsonl") for s in SPLITS}
    return split_files(root, (".", "annotations", "tokenised"), names)


def _read_table(path: Path, pairs: dict[tuple[str, str], _Pair], reading: Reading) -> None:
    """Read the published table. A field may be quoted, and a quoted field may contain a tab or a line end."""
    rows = csv.reader(io.StringIO(text(path), newline=""), delimiter="\t", quotechar='"', strict=True)
    try:
        head = next(rows, [])
        if tuple(head) != COLUMNS:
            raise DatasetError(
                f"{path}: its first line should name the columns {', '.join(COLUMNS)}; it has "
                f"{', '.join(head[:12]) or 'nothing'}."
            )
        for row in rows:
            where = f"{path}, line {rows.line_num}"
            if len(row) != len(COLUMNS):
                reading.damage(f"{where}: {len(row)} columns, wanted {len(COLUMNS)}.")
                continue
            entry = dict(zip(COLUMNS, row, strict=True))
            sides = (entry["img1ObservationURL"], entry["img2ObservationURL"])
            key = _key(where, (sides[0].rsplit("/", 1)[-1], sides[1].rsplit("/", 1)[-1]), reading)
            sentences = reading.sentences(f"{where}: 'description'", [entry["description"]])
            pair = _pair(where, key, entry["split"], pairs, reading)
            if pair is not None and sentences:
                pair.captions += sentences
                pair.extra.setdefault("species", (entry["img1Species"], entry["img2Species"]))
                pair.extra.setdefault("selection", (entry["img1Selection"], entry["img2Selection"]))
                pair.extra.setdefault("annN", []).append(entry["annN"])
    except csv.Error as error:
        raise DatasetError(f"{path}, line {rows.line_num}: not a table with tabs ({error}).") from error


def _read_lines(root: Path, pairs: dict[tuple[str, str], _Pair], reading: Reading) -> None:
    files = _files(root)
    if not files:
        raise DatasetError(f"{root}: neither birds-to-words-v1.0.tsv nor train.json is here.")
    for split, path in files.items():
        for where, entry in reading.entries(path):
            key = _key(where, (entry.get("img1"), entry.get("img2")), reading)
            pair = _pair(where, key, split, pairs, reading)
            if pair is None:
                continue
            for tokens in descriptions(where, entry.get("description"), reading):
                pair.captions.append(tokens if isinstance(tokens, str) else " ".join(tokens))
                if not isinstance(tokens, str):
                    pair.tokens.append(tokens)
    if any(pair.tokens for pair in pairs.values()):
        reading.note("this form has tokens only: captions are the tokens joined by blanks")


def descriptions(where: str, value: Any, reading: Reading) -> Iterator[str | tuple[str, ...]]:
    """Yield the captions in a value of PCL's format.

    The value is a list of tokens, a list of such lists, a sentence, or a list of sentences. A list of strings
    is a list of tokens if no string contains a blank, and otherwise a list of sentences.
    """
    if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        value = [value] if not any(" " in item.strip() for item in value) else value
    for number, item in enumerate([value] if isinstance(value, str) else value or (), start=1):
        strings = [item] if isinstance(item, str) else item
        if not isinstance(strings, list) or not all(isinstance(token, str) for token in strings):
            reading.damage(f"{where}: 'description' should be tokens, or lists of tokens.")
        elif not any(token.strip() for token in strings):
            reading.damage(f"{where}: 'description', caption {number} is empty.")
        else:
            yield item if isinstance(item, str) else tuple(strings)
    if not value:
        reading.damage(f"{where}: no 'description'.")


def _key(where: str, ids: tuple[Any, Any], reading: Reading) -> tuple[str, str] | None:
    """Return the numbers of both photographs.

    A name that is not a number counts as damage, because a path could lead out of the folder.
    """
    names = tuple(str(name).removesuffix(".jpg") for name in ids)
    if all(_ID.fullmatch(name) for name in names):
        return (names[0], names[1])
    reading.damage(f"{where}: photographs are called by numbers, not {ids[0]!r} and {ids[1]!r}.")
    return None


def _pair(
    where: str,
    key: tuple[str, str] | None,
    split: str,
    pairs: dict[tuple[str, str], _Pair],
    reading: Reading,
) -> _Pair | None:
    """Return the pair of a row.

    The pair is created at its first row. An unknown or contradictory split counts as damage.
    """
    known: dict[str, Split] = {s: s for s in SPLITS}
    if split not in known:
        reading.damage(f"{where}: unknown split {split!r}. Known: {', '.join(SPLITS)}.")
        return None
    if key is None:
        return None
    pair = pairs.setdefault(key, _Pair(known[split]))
    if pair.split != split:
        reading.damage(f"{where}: the pair {'_'.join(key)} is in {pair.split} and in {split}.")
        return None
    return pair


def _same_species(species: tuple[str, str] | None) -> bool | None:
    return None if species is None else species[0] == species[1]


def _note_shared(pairs: dict[tuple[str, str], _Pair], reading: Reading) -> None:
    """Report photographs of val and test that also occur in an earlier split.

    The splits share photographs, but no pairs.
    """
    seen: set[str] = set()
    shared = {}
    for split in SPLITS:
        here = {name for key, pair in pairs.items() if pair.split == split for name in key}
        shared[split] = len(here & seen)
        seen |= here
    if any(shared.values()):
        each = ", ".join(f"{shared[split]} of {split}" for split in SPLITS[1:])
        reading.note(f"photographs that an earlier split has too: {each} (no pair is in two splits)")
