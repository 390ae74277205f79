"""LEVIR-CC (Liu et al., TGRS 2022): pairs of satellite image patches with five captions for each pair.

    images/train/A/train_000001.png, images/train/B/train_000001.png     before, after
    images/train/label/train_000001.png       LEVIR-MCI only: the mask (0 none, 128 road, 255 building)
    LevirCCcaptions.json   {"images": [{"filename", "split", "changeflag", "sentences": [{"tokens", "raw"}]}]}

LEVIR-MCI's code has a token file per pair instead, tokens/train_000001.txt, with start and end tokens, and
train.txt, val.txt, test.txt with the file names (a name may end with the number of one sentence,
``train_000001.png-3``). In LEVIR-MCI's format, a caption is its tokens joined by blanks, without the start
and end tokens. Each path is made from the split and the file name, not derived from another path.
``changeflag`` is 0 if the pair is unchanged. Without ``changeflag``, a pair is unchanged if all its captions
are in ``NO_CHANGE``.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from whatchanged.datasets.reading import (
    SPLITS,
    Reading,
    bare,
    first_file,
    first_folder,
    leaves,
    parse,
    text,
    with_examples,
)
from whatchanged.errors import DatasetError
from whatchanged.records import PairRecord, Split

NAME = "levir_cc"
CAPTIONS = "LevirCCcaptions.json"
NO_CHANGE = frozenset(
    {
        "there is no difference",
        "the two scenes seem identical",
        "the scene is the same as before",
        "no change has occurred",
        "no change is occurred",
        "almost nothing has changed",
    }
)
MARKS = ("<START>", "<END>")
_CHOSEN = re.compile(r"-\d+$")


def recognises(root: Path) -> bool:
    """Return whether the folder contains the caption file, or token files and lists of file names."""
    return first_file(root, CAPTIONS, f"captions/{CAPTIONS}") is not None or (
        (root / "tokens").is_dir() and (root / "test.txt").is_file()
    )


def read(root: Path, reading: Reading) -> list[PairRecord]:
    """Return one record for each pair.

    Records are in the order of the caption file, or in the order of the lists of file names, split by split.
    """
    path = first_file(root, CAPTIONS, f"captions/{CAPTIONS}")
    if path is None:
        return _read_tokens(root, reading)
    value = reading.json_object(path)
    entries = value.get("images")
    if not isinstance(entries, list):
        raise DatasetError(f"{path}: no list 'images'. It holds: {', '.join(map(str, value)) or 'nothing'}.")
    records = []
    for number, entry in enumerate(entries, start=1):
        where = f"{path}, image {number}"
        if not isinstance(entry, dict):
            reading.damage(f"{where}: a JSON object is wanted, this is a {type(entry).__name__}.")
            continue
        captions, tokens = _sentences(where, entry.get("sentences"), reading)
        record = _record(root, where, entry, captions, tokens, reading)
        if record is not None:
            records.append(record)
    _note_odd(records, reading)
    return records


def is_no_change(captions: Sequence[str]) -> bool:
    """Return whether all captions are in ``NO_CHANGE``."""
    return bool(captions) and all(bare(caption) in NO_CHANGE for caption in captions)


def _sentences(
    where: str, value: Any, reading: Reading
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...] | None]:
    """Return the captions and their tokens. The tokens are None unless every caption has tokens."""
    if not isinstance(value, list) or not all(isinstance(s, dict) for s in value):
        reading.damage(f"{where}: 'sentences' should be a list of objects with 'raw' and 'tokens'.")
        return (), None
    if not value:
        reading.damage(f"{where}: 'sentences' holds no sentence.")
    captions, tokens = [], []
    for number, sentence in enumerate(value, start=1):
        words = sentence.get("tokens")
        given = isinstance(words, list) and all(isinstance(word, str) for word in words)
        raw = sentence.get("raw", " ".join(words) if given else None)
        if not isinstance(raw, str) or not raw.strip():
            problem = "is empty" if isinstance(raw, str) else "has neither 'raw' nor 'tokens'"
            reading.damage(f"{where}: caption {number} {problem}.")
            continue
        captions.append(raw)
        if given:
            tokens.append(tuple(words))
    return tuple(captions), tuple(tokens) if tokens and len(tokens) == len(captions) else None


def _record(
    root: Path,
    where: str,
    entry: dict[str, Any],
    captions: tuple[str, ...],
    tokens: tuple[tuple[str, ...], ...] | None,
    reading: Reading,
) -> PairRecord | None:
    """Return the record of a pair.

    If its name, split or captions are invalid, the entry counts as damage, and the result is None.
    """
    known: dict[str, Split] = {s: s for s in SPLITS}
    name, split = entry.get("filename"), entry.get("split")
    if not isinstance(split, str) or split not in known:
        reading.damage(f"{where}: unknown split {split!r}. Known: {', '.join(SPLITS)}.")
        return None
    if not isinstance(name, str) or not name or leaves(name):
        what = "should name a picture" if not isinstance(name, str) or not name else "leaves its folder"
        reading.damage(f"{where}: 'filename' {name!r} {what}.")
        return None
    if not captions:
        return None
    folder = first_folder(root, "images") / str(split)
    flag = entry.get("changeflag")
    changed = bool(flag) if isinstance(flag, int) else not is_no_change(captions)
    mask = folder / "label" / name if (folder / "label").is_dir() else None
    return PairRecord(
        dataset=NAME,
        pair_id=name,
        group_id=name,
        split=known[str(split)],
        kind="pair_caption",
        before=folder / "A" / name,
        after=folder / "B" / name,
        captions=captions,
        tokens=tokens,
        changed=changed,
        change_type=None if changed else "none",
        mask=mask,
        extra={key: entry[key] for key in ("imgid", "sentids") if key in entry},
    )


def _read_tokens(root: Path, reading: Reading) -> list[PairRecord]:
    """Read LEVIR-MCI's token files.

    The lists contain the file names of the pairs. If a list contains a pair once for each caption, the result
    has one record for the pair.
    """
    records = []
    for split in SPLITS:
        path = root / f"{split}.txt"
        if not path.is_file():
            reading.note(f"{path.name} is absent")
            continue
        names = dict.fromkeys(
            _CHOSEN.sub("", line.strip()) for line in text(path).splitlines() if line.strip()
        )
        for name in names:
            file = root / "tokens" / f"{name.rpartition('.')[0]}.txt"
            if leaves(name) or not file.is_file():
                what = "leaves its folder" if leaves(name) else f"has no token file {file}"
                reading.damage(f"{path}: {name!r} {what}.")
                continue
            record = _tokens_record(root, file, name, split, reading)
            if record is not None:
                records.append(record)
    if not records:
        raise DatasetError(f"{root}: no pairs in train.txt, val.txt and test.txt. Copy the folder again.")
    reading.note("this form has tokens only: captions are the tokens joined by blanks")
    _note_odd(records, reading)
    return records


def _tokens_record(root: Path, file: Path, name: str, split: Split, reading: Reading) -> PairRecord | None:
    try:
        lists = parse(text(file), str(file))
    except DatasetError as error:
        reading.damage(str(error))
        return None
    if not isinstance(lists, list) or not all(isinstance(words, list) for words in lists):
        reading.damage(f"{file}: a list of token lists is wanted.")
        return None
    bare = [{"tokens": [word for word in words if word not in MARKS]} for words in lists]
    captions, tokens = _sentences(str(file), bare, reading)
    return _record(root, str(file), {"filename": name, "split": split}, captions, tokens, reading)


def _note_odd(records: list[PairRecord], reading: Reading) -> None:
    """Report pairs with a ``changeflag`` that contradicts the captions, and pairs without exactly five
    captions.
    """
    denied = [record.pair_id for record in records if record.changed == is_no_change(record.captions)]
    if denied:
        reading.note(
            with_examples("pairs whose captions say other than their changeflag, which counts", denied)
        )
    odd = [record.pair_id for record in records if len(record.captions) != 5]
    if odd:
        reading.note(with_examples("pairs with other than five captions", odd))
