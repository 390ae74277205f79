"""Spot-the-Diff (Jhamtani, Berg-Kirkpatrick, EMNLP 2018): frames of one camera, with one sentence for each
difference.

    resized_images/256.png, 256_2.png       before, after (256_diff.jpg shows the difference; not used)
    annotations/train.json, val.json, test.json     [{"img_id": "235", "sentences": ["...", ...]}, ...]

Several records by different annotators may have the same id. Published methods use such records in three
ways. Each way is a data set with a separate name here:

    spot_the_diff           "single": the records with the same id are joined; each sentence is one reference
    spot_the_diff_records   every record of the annotations is one item
    spot_the_diff_multi     all sentences with the same id form one reference; see ``spot_the_diff_multi.py``

Blank sentences, and pairs with blank sentences only, are left out and counted. The data set
``spot_the_diff_blanks`` is "single" including blank sentences, as in published scores. Other forms are read
as well: CLIP4IDC's reformat_train.json (one record per id), JSON lines, and the conversion of
VisualRelationships (train.json, valid.json with "uid": "spotdiff_train_0"; only the file names of its
absolute paths are used).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PureWindowsPath
from typing import Any

from whatchanged.datasets.reading import (
    SPLITS,
    Reading,
    first_entry,
    first_folder,
    split_files,
    with_examples,
)
from whatchanged.errors import DatasetError
from whatchanged.records import PairRecord, Split

NAME = "spot_the_diff"
_ID = re.compile(r"\d{1,9}")


@dataclass
class Item:
    """All sentences with one id, or the sentences of one record.

    The sentences are in file order and include blank sentences.
    """

    split: Split
    number: str
    pair_id: str
    sentences: list[str] = field(default_factory=list)
    records: int = 0


def recognises(root: Path) -> bool:
    """Return whether the folder contains the annotations in the official form, CLIP4IDC's form or
    VisualRelationships' form.
    """
    entry = first_entry(*_files(root).values())
    return "img_id" in entry or str(entry.get("uid")).startswith("spotdiff_")


def read(root: Path, reading: Reading) -> list[PairRecord]:
    """Read by the "single" protocol.

    The result has one record for each id. Each sentence is a reference. Blank sentences are dropped.
    """
    items = _drop_blanks(merged_items(root, reading), reading)
    return [make_record(root, item, tuple(item.sentences), {"records": item.records}) for item in items]


def read_blanks(root: Path, reading: Reading) -> list[PairRecord]:
    """Read by the "single" protocol including blank sentences.

    A blank sentence is a reference without words, as in published scores.
    """
    items = merged_items(root, reading)
    return [make_record(root, item, tuple(item.sentences), {"records": item.records}) for item in items]


def read_records(root: Path, reading: Reading) -> list[PairRecord]:
    """Return one record for each record of the annotations.

    The id of the result is spotdiff_<split>_<number>.
    """
    items = _drop_blanks(list(_items(root, reading)), reading)
    return [make_record(root, item, tuple(item.sentences), {"img_id": item.number}) for item in items]


def _files(root: Path) -> dict[Split, Path]:
    names: dict[Split, tuple[str, ...]] = {
        split: (f"{split}.json", f"reformat_{split}.json", f"{split}.jsonl") for split in SPLITS
    }
    names["val"] += ("valid.json",)
    return split_files(root, ("annotations", ".", "data/annotations"), names)


def _items(root: Path, reading: Reading) -> Iterator[Item]:
    """Return each record of the annotations, ordered by split and then by position in the file."""
    files = _files(root)
    if not files:
        raise DatasetError(f"{root}: no annotations/train.json, val.json or test.json. Fetch them again.")
    for split, path in files.items():
        for number, (where, entry) in enumerate(reading.entries(path)):
            name = _number(entry)
            if name is None:
                reading.damage(f"{where}: no 'img_id' (a number) in {', '.join(entry) or 'an empty object'}.")
                continue
            value = entry.get("sentences", entry.get("sents"))
            value = [value] if isinstance(value, str) else value
            if not isinstance(value, list) or not all(isinstance(sentence, str) for sentence in value):
                reading.damage(f"{where}: 'sentences' should be a list of sentences.")
                continue
            yield Item(split, name, str(entry.get("uid", f"spotdiff_{split}_{number}")), value, 1)


def _number(entry: dict[str, Any]) -> str | None:
    """Return the id of a pair: "235", or the name of the first picture without folder and extension."""
    value = entry.get("img_id", None if "img0" not in entry else PureWindowsPath(str(entry["img0"])).stem)
    name = str(value).removesuffix(".png")
    return str(int(name)) if _ID.fullmatch(name) else None


def merged_items(root: Path, reading: Reading) -> list[Item]:
    """Return one item for each id, which joins all records with the id.

    The items are in the order in which the ids first appear. No id may occur in two splits.
    """
    results: dict[str, Item] = {}
    for item in _items(root, reading):
        first = results.setdefault(item.number, Item(item.split, item.number, f"{item.number}.png"))
        if first.split != item.split:
            reading.damage(f"{root}: the id {item.number} is in {first.split} and in {item.split}.")
            continue
        first.sentences += item.sentences
        first.records += item.records
    several = [item.number for item in results.values() if item.records > 1]
    if several:
        reading.note(with_examples("ids in more than one record, joined", several))
    return list(results.values())


def _drop_blanks(items: list[Item], reading: Reading) -> list[Item]:
    """Return the items without blank sentences. Items with blank sentences only are left out and counted."""
    blank = sum(not sentence.strip() for item in items for sentence in item.sentences)
    for item in items:
        item.sentences = [sentence for sentence in item.sentences if sentence.strip()]
    if blank:
        reading.note(f"blank sentences dropped: {blank:,} (kept by the name spot_the_diff_blanks)")
    note_left_out([item for item in items if not item.sentences], reading)
    return [item for item in items if item.sentences]


def note_left_out(items: list[Item], reading: Reading) -> None:
    """Count and list the items with blank sentences only."""
    if items:
        each = ", ".join(f"{split} {sum(item.split == split for item in items)}" for split in SPLITS)
        first = [item.pair_id for item in items]
        reading.note(with_examples(f"left out, blank sentences only ({each})", first))


def make_record(root: Path, item: Item, captions: tuple[str, ...], extra: dict[str, Any]) -> PairRecord:
    """Return the record of an item.

    The pictures are ``<id>.png`` and ``<id>_2.png``, or the files in CARD's ``images`` and ``sc_images`` with
    an id of six digits.
    """
    if (root / "sc_images").is_dir():
        file = f"{int(item.number):06d}.png"
        before, after = root / "images" / file, root / "sc_images" / file
    else:
        folder = first_folder(root, "resized_images", "images", "data/resized_images")
        before, after = folder / f"{item.number}.png", folder / f"{item.number}_2.png"
    return PairRecord(
        dataset=NAME,
        pair_id=item.pair_id,
        group_id=item.number,
        split=item.split,
        kind="pair_caption",
        before=before,
        after=after,
        captions=captions,
        extra=extra,
    )
