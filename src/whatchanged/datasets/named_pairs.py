"""Your own pairs in one folder; a word in the file names marks before and after.

    login_before.png  login_after.png        also -before or .before; old and new; a and b (plot-a.png)
    home/before/top.png  home/after/top.png

A pair's id is the rest of the path: ``login.png``, ``home/top.png``. Two pictures are a pair if only the word
differs. Folders that hold ``before/`` and ``after/`` themselves are read by ``folders``.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from whatchanged.datasets.picture_files import composed, pictures_below
from whatchanged.datasets.reading import Reading, with_examples
from whatchanged.errors import DatasetError
from whatchanged.records import PairRecord

NAME = "named_pairs"
SIDES = {"before": 0, "after": 1, "old": 0, "new": 1, "a": 0, "b": 1}
"""The side of a pair that a word at the end of a name means."""
FOLDERS = {"before": 0, "after": 1}
"""The side of a pair that the name of a folder means."""
PLAIN_WORDS = ("before", "after")
"""Words that rarely end a name by chance, so that a picture without its partner is reported."""
_Sides = dict[tuple[str, tuple[str, str]], dict[int, str]]
"""(rest of the path, the two words) -> side -> name"""
_ENDING = re.compile(rf"(.*[^-_. ])[-_. ]({'|'.join(SIDES)})", re.IGNORECASE)


@dataclass(frozen=True)
class NamedPairs:
    """The pairs found among the names of a folder's pictures.

    pairs   id -> the names before and after
    single  names with a side whose other side is not there: before, after
    other   names without a side
    """

    pairs: dict[str, tuple[str, str]]
    single: tuple[list[str], list[str]]
    other: list[str]


def match_names(names: Iterable[str]) -> NamedPairs:
    """Return the pairs among relative paths with "/" between their parts."""
    sides: _Sides = {}
    found = NamedPairs({}, ([], []), [])
    for name in names:
        key = _side(name)
        if key is None:
            found.other.append(name)
        else:
            side, rest, words = key
            pair = sides.setdefault((rest, words), {})
            if side in pair:  # as a-before.png and a_before.png: the later one is taken
                found.other.append(pair[side])
            pair[side] = name
    for (rest, words), pair in _with_other_spellings(sides).items():
        if len(pair) == 2:
            pair_id = rest if rest not in found.pairs else f"{rest} ({' and '.join(words)})"
            found.pairs[pair_id] = pair[0], pair[1]
        elif words == PLAIN_WORDS:
            for side, name in pair.items():
                found.single[side].append(name)
        else:
            found.other.extend(pair.values())
    return found


def _with_other_spellings(sides: _Sides) -> _Sides:
    """Merge pairs that lack one side each and differ only in the Unicode form of their names.

    A merged pair has the name of its later picture.
    """
    alone: dict[tuple[str, tuple[str, str]], str] = {}
    for (rest, words), pair in sides.items():
        if len(pair) == 1 and 0 in pair and not rest.isascii():
            alone.setdefault((composed(rest), words), rest)
    found = dict(sides)
    for (rest, words), pair in sides.items():
        if len(pair) == 1 and 1 in pair and (composed(rest), words) in alone:
            other = alone.pop((composed(rest), words)), words
            found[rest, words] = {**found.pop(other), **pair}
    return found


def recognises(path: Path) -> bool:
    """Return whether the folder holds two pictures whose names differ only by such a word."""
    try:
        return path.is_dir() and bool(match_names(pictures_below(path).pictures).pairs)
    except DatasetError:  # too many files to look at
        return False


def read(path: Path, reading: Reading) -> list[PairRecord]:
    """Return one record for each pair, in the order of the ids."""
    walked = pictures_below(path)
    pictures = walked.pictures
    found = match_names(pictures)
    if walked.outside:
        links = [str(link) for link in walked.outside]
        reading.note(with_examples(f"links that lead out of {path}, left out", links))
    if not found.pairs:
        raise DatasetError(f"{path}: no two names that differ by before and after, old and new, or a and b.")
    alone = [*found.single[0], *found.single[1]]
    if alone:
        reading.damage(f"{path}: {with_examples('pictures whose other side is missing', alone)}.")
    if found.other:
        reading.note(with_examples("pictures that belong to no pair, left out", found.other))
    return [
        PairRecord(
            dataset=NAME,
            pair_id=pair_id,
            group_id=pair_id,
            split="test",
            kind="pair_caption",
            before=pictures[before],
            after=pictures[after],
        )
        for pair_id, (before, after) in sorted(found.pairs.items())
    ]


def _side(name: str) -> tuple[int, str, tuple[str, str]] | None:
    """Return (side, rest of the path, the two words) of a name; None where it has no side."""
    path = PurePosixPath(name)
    ending = _ENDING.fullmatch(path.stem)
    if ending is not None:
        word = ending[2].lower()
        return SIDES[word], path.with_name(ending[1] + path.suffix).as_posix(), _couple(word)
    for index, part in enumerate(path.parts[:-1]):
        if part.lower() in FOLDERS:
            rest = PurePosixPath(*path.parts[:index], *path.parts[index + 1 :]).as_posix()
            return FOLDERS[part.lower()], rest, _couple(part.lower())
    return None


def _couple(word: str) -> tuple[str, str]:
    """Return the words for before and after to which this word belongs."""
    words = list(SIDES)
    first = words.index(word) - SIDES[word]
    return words[first], words[first + 1]
