"""Your own pairs, as two folders with the same file names.

Captions and splits are in files beside the two folders.

    before/0001.jpg   after/0001.jpg      one pair per name; its id is the name
    captions/0001.txt                     optional: one sentence per line
    train.txt, val.txt, test.txt          optional: names, one per line; without these, all are test pairs

Each file name in ``before/`` stands for one pair, and is the id of the pair.
"""

from collections.abc import Iterator
from pathlib import Path

from whatchanged.datasets.picture_files import composed, leads_out
from whatchanged.datasets.plain import mark_changes
from whatchanged.datasets.reading import SPLITS, Reading, text, with_examples
from whatchanged.errors import DatasetError
from whatchanged.records import PairRecord, Split
from whatchanged.urls import is_remote

NAME = "folders"
SIDES = ("before", "after")


def recognises(path: Path) -> bool:
    """Return whether a folder contains a folder ``before`` and a folder ``after``."""
    return all((path / side).is_dir() for side in SIDES)


def read(path: Path, reading: Reading) -> list[PairRecord]:
    """Return one record for each picture in ``before/``.

    Records are in the order of the split files, or in the order of the file names if there are no split
    files.
    """
    if not recognises(path):
        raise DatasetError(f"{path}: pairs in folders lie in a folder before and a folder after.")
    before, after = (_names(path, side, reading) for side in SIDES)
    later = {composed(name): name for name in sorted(after - before)}
    spelled = {name: later[composed(name)] for name in sorted(before - after) if composed(name) in later}
    names, others = sorted(before), sorted(after.difference(spelled.values()).union(spelled))
    alone = sorted(set(names) ^ set(others))
    if alone:
        reading.damage(f"{path}: {with_examples('names that are in one of before/ and after/ only', alone)}.")
    there = set(names) & set(others)
    records = [
        PairRecord(
            dataset=NAME,
            pair_id=name,
            group_id=name,
            split=split,
            kind="pair_caption",
            before=path / "before" / name,
            after=path / "after" / spelled.get(name, name),
            captions=_sentences(path / "captions" / f"{Path(name).stem}.txt", path, reading),
        )
        for split, name in _splits(path, sorted(there), reading)
        if name in there
    ]
    return mark_changes(records)


def _names(path: Path, side: str, reading: Reading) -> set[str]:
    """Return the names of the pictures in one of the two folders.

    Links that lead out of the data set are left out.
    """
    entries = [entry for entry in (path / side).iterdir() if entry.name[0] != "."]
    if is_remote(path):
        return {entry.name for entry in entries}
    inside = [path.resolve()]
    away = leads_out(path / side, inside)
    outside = sorted(str(entry) for entry in entries if away or leads_out(entry, inside))
    if outside:
        reading.note(with_examples(f"links that lead out of {path}, left out", outside))
    return {entry.name for entry in entries if str(entry) not in set(outside)}


def _text(file: Path, root: Path) -> str:
    """Return the text of a file of captions or of a split.

    Raises DatasetError if the file is a link that leads out of the data set.
    """
    if not is_remote(file) and leads_out(file, [root.resolve()]):
        raise DatasetError(f"{file}: this link leads out of {root}. Put the file itself there.")
    return text(file)


def _splits(path: Path, names: list[str], reading: Reading) -> Iterator[tuple[Split, str]]:
    """Return the split and the name of each pair.

    A listed name without a pair, or a name that is listed twice, counts as damage. Pairs that are not listed
    in any split are left out with a remark.
    """
    files: dict[Split, Path] = {s: path / f"{s}.txt" for s in SPLITS if (path / f"{s}.txt").is_file()}
    if not files:
        yield from (("test", name) for name in names)
        return
    there = set(names)
    seen: set[str] = set()
    for split, file in files.items():
        listed = [line.strip() for line in _text(file, path).splitlines() if line.strip()]
        absent = sorted(set(listed) - there)
        if absent:
            reading.damage(f"{file}: {with_examples('names without a pair of pictures', absent)}.")
        for name in listed:
            if name in seen:
                reading.damage(f"{file}: {name} is listed twice, here or in another split.")
            elif name in there:
                yield split, name
            seen.add(name)
    left = sorted(there - seen)
    if left:
        reading.note(with_examples("pairs that no split lists, left out", left))


def _sentences(file: Path, root: Path, reading: Reading) -> tuple[str, ...]:
    """Return the captions of one pair, which are the lines of its caption file.

    The result is empty if the file is missing.
    """
    if not file.is_file():
        return ()
    lines = [line.strip() for line in _text(file, root).splitlines()]
    results = reading.sentences(str(file), [line for line in lines if line])
    if not results:
        reading.damage(f"{file}: no sentence in it.")
    return results or ()
