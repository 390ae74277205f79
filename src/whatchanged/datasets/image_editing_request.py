"""Image Editing Request (Tan et al., ACL 2019): a photograph, its edited version, and the editing request.

    images/<name>           one flat folder; jpg, png, JPG, jpeg, gif (the first frame counts); mixed sizes
    train.json, valid.json (or val.json), test.json
        [{"img0": "...", "img1": "...", "sents": ["change the back ground"], "uid": "Zhopped_2"}, ...]

Each entry becomes one record, whose id is the ``uid``. The same pair occurs under several uids, with captions
by different annotators. The later form in JSON lines, ``{"img1", "img2", "sentences"}``, has no uids. The ids
of these records are ``<split>_<number of the line>``. Captions are not changed: case, punctuation and
trailing blanks stay.
"""

from itertools import combinations
from pathlib import Path
from typing import Any

from whatchanged.datasets.reading import SPLITS, Reading, first_entry, first_folder, split_files
from whatchanged.errors import DatasetError
from whatchanged.records import PairRecord, Split

NAME = "image_editing_request"
SITES = ("Reddit", "Zhopped")


def recognises(root: Path) -> bool:
    """Return whether the folder contains the official files, or files of the later form in JSON lines."""
    entry = first_entry(*_files(root).values())
    if "img0" in entry and "sents" in entry:
        return not str(entry.get("uid")).startswith("spotdiff_")
    return "img2" in entry and "sentences" in entry and str(entry.get("img1")).startswith(SITES)


def read(root: Path, reading: Reading) -> list[PairRecord]:
    """Return one record for each entry, ordered by split and then by position in the file."""
    files = _files(root)
    if not files:
        raise DatasetError(f"{root}: no train.json, valid.json or test.json. Fetch them again.")
    images = first_folder(root, "images", "dataset/adobe/images")
    records = []
    for split, path in files.items():
        for number, (where, entry) in enumerate(reading.entries(path), start=1):
            record = _record(images, split, number, where, entry, reading)
            if record is not None:
                records.append(record)
    _note_repeats(records, reading)
    return records


def _files(root: Path) -> dict[Split, Path]:
    names: dict[Split, tuple[str, ...]] = {s: (f"{s}.json", f"{s}.jsonl") for s in SPLITS}
    names["val"] = ("valid.json", *names["val"])
    return split_files(root, (".", "annotations", "dataset/adobe"), names)


def _record(
    images: Path, split: Split, number: int, where: str, entry: dict[str, Any], reading: Reading
) -> PairRecord | None:
    names = ("img0", "img1", "sents") if "img0" in entry else ("img1", "img2", "sentences")
    uid = entry.get("uid", None if "img0" in entry else f"{split}_{number}")
    if not isinstance(uid, str) or not uid:
        reading.damage(f"{where}: no 'uid' in {', '.join(entry) or 'an empty object'}.")
        return None
    before = reading.picture(images, entry.get(names[0]), f"{where}: {names[0]!r}")
    after = reading.picture(images, entry.get(names[1]), f"{where}: {names[1]!r}")
    value = entry.get(names[2])
    sentences = reading.sentences(f"{where}: {names[2]!r}", [value] if isinstance(value, str) else value)
    if value == []:
        reading.damage(f"{where}: {names[2]!r} holds no sentence.")
    if before is None or after is None or not sentences:
        return None
    site = entry[names[0]].partition(".com")[0]
    return PairRecord(
        dataset=NAME,
        pair_id=uid,
        group_id=entry[names[0]],
        split=split,
        kind="pair_caption",
        before=before,
        after=after,
        captions=sentences,
        extra={"site": site},
    )


def _note_repeats(records: list[PairRecord], reading: Reading) -> None:
    """Report the number of distinct pairs, and the number of pairs that are in two splits."""
    splits: dict[tuple[Path, Path | None], list[Split]] = {}
    for record in records:
        splits.setdefault((record.before, record.after), []).append(record.split)
    pairs = {split: sum(split in results for results in splits.values()) for split in SPLITS}
    if len(splits) < len(records):
        each = ", ".join(f"{split} {count:,}" for split, count in pairs.items())
        reading.note(f"distinct pairs: {each}; the others stand under another id with other sentences")
    for first, second in combinations(SPLITS, 2):
        both = sum(first in results and second in results for results in splits.values())
        if both:
            reading.note(f"pairs that {first} and {second} share: {both}")
