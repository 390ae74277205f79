"""Your own pairs in one folder. A word in each file name indicates whether the picture is before or after.

    login_before.png  login_after.png        also -before or .before; old and new; a and b (plot-a.png)
    home/before/top.png  home/after/top.png

The id of a pair is the path without this word: ``login.png``, ``home/top.png``. Two pictures are a pair if
only this word differs in their paths. A folder that directly contains ``before/`` and ``after/`` is read by
``folders``.
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
"""A mapping from a word at the end of a file name to the side of the pair: 0 before, 1 after."""
FOLDERS = {"before": 0, "after": 1}
"""A mapping from the name of a folder to the side of the pair: 0 before, 1 after."""
PLAIN_WORDS = ("before", "after")
"""The words that rarely occur at the end of a name by chance.

A picture with such a word and without a counterpart is reported.
"""
_Sides = dict[tuple[str, tuple[str, str]], dict[int, str]]
"""A mapping from (path without the word, the two words) to a mapping from side to file name."""
_ENDING = re.compile(rf"(.*[^-_. ])[-_. ]({'|'.join(SIDES)})", re.IGNORECASE)


@dataclass(frozen=True)
class NamedPairs:
    """The result of matching the names of a folder's pictures.

    pairs   a mapping from the id of a pair to its file names before and after
    single  the names without a counterpart: the names before, and the names after
    other   the names without a word for before or after
    """

    pairs: dict[str, tuple[str, str]]
    single: tuple[list[str], list[str]]
    other: list[str]


def match_names(names: Iterable[str]) -> NamedPairs:
    """Return the pairs in a list of relative paths. The parts of each path are separated by "/"."""
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
    """Merge two pairs if each has only one side and their names differ only in Unicode form.

    The merged pair gets the name of its picture after.
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
    """Return whether the folder contains two pictures with names that differ only by a word for before or
    after.
    """
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
    """Return the side, the path without the word for the side, and the two words of a name.

    The result is None if the name has no such word.
    """
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
    """Return the couple of words for before and after that contains a word."""
    words = list(SIDES)
    first = words.index(word) - SIDES[word]
    return words[first], words[first + 1]
