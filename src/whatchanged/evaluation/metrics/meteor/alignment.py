"""Align a caption with a reference: choose among matches that exclude each other.

The search is a beam search over the words of the reference, as in the released program. Of two partial
alignments the better one covers more words; then the one with fewer chunks is better, then the one whose
matched words have the smaller distance. The program has peculiarities, which are reproduced because they
decide between alignments:

- a match of one word that is not exact covers nothing (its weight 0.5 is rounded down), for the search only;
- the distance of a match is not added to the partial alignment that takes it, but to those made after it from
  the same one: with the next match, and without any;
- alignments that are equally good stay in the order in which they were found.
"""

from collections.abc import Sequence
from functools import lru_cache
from operator import itemgetter
from typing import NamedTuple

BEAM = 40
"""The beam width: partial alignments that are kept from word to word."""
_CHUNK = 1 << 32
_COVERED = 1 << 43
"""The rank of a partial alignment is one integer, the smaller the better: -words covered, chunks, distance.
As sentences have at most ``MOST_WORDS`` words, none of the three overflows into the next.
"""
_NOWHERE = -1


class Match(NamedTuple):
    """A run of words of the caption that matches a run of words of the reference."""

    kind: int
    """0 exact, 1 stem, 2 synonym, 3 paraphrase."""
    start: int
    """First word in the caption."""
    length: int
    """Words in the caption."""
    at: int
    """First word in the reference."""
    width: int
    """Words in the reference."""
    end: int
    """After the last word in the caption."""
    words: int
    """A bit for each word: bit 2 i for the reference's word i, bit 2 i + 1 for the caption's."""
    gain: int
    """The change of the rank by this match; negative."""
    distance: int
    """The distance between the two first words."""


_Taken = tuple["_Taken", Match] | None  # the chosen matches, the last one first
_Path = tuple[int, int, int, _Taken]
"""Rank; the end of the last match in the caption, or _NOWHERE; the bits of the words in use; matches."""
_rank = itemgetter(0)


@lru_cache(maxsize=1 << 16)
def match_of(kind: int, start: int, length: int, at: int, width: int) -> Match:
    """Return the match with all fields that follow from its position."""
    covered = length + width if kind == 0 else length // 2 + width // 2
    words = sum(1 << 2 * word for word in range(at, at + width))
    words += sum(2 << 2 * word for word in range(start, start + length))
    gain = -covered * _COVERED
    return Match(kind, start, length, at, width, start + length, words, gain, abs(at - start))


def align(matches: Sequence[Sequence[Match]]) -> list[Match]:
    """Return the matches of the best alignment, in the order of the reference.

    matches: all matches by the word of the reference at which they begin.
    """
    fixed = _without_rival(matches)
    aligned = [match for match in fixed if match is not None]
    if len(aligned) < sum(map(len, matches)):
        aligned += _search(matches, fixed)
        aligned.sort(key=lambda match: match.at)
    return aligned


def chunks(matches: Sequence[Match]) -> int:
    """Return the number of chunks: runs of the matches that are contiguous in both sentences."""
    count = 0
    expected = None
    for match in matches:
        if (match.at, match.start) != expected:
            count += 1
        expected = (match.at + match.width, match.end)
    return count


def _without_rival(matches: Sequence[Sequence[Match]]) -> list[Match | None]:
    """Return, for each word of the reference, the match that begins there if no other match uses any of its
    words.
    """
    wanted = contested = 0
    for own in matches:
        for match in own:
            contested |= wanted & match.words
            wanted |= match.words
    return [own[0] if len(own) == 1 and not own[0].words & contested else None for own in matches]


def _search(matches: Sequence[Sequence[Match]], fixed: Sequence[Match | None]) -> list[Match]:
    """Return the matches that the best alignment adds to the fixed ones."""
    in_use = sum(match.words for match in fixed if match is not None)
    paths: list[_Path] = [(0, _NOWHERE, in_use, None)]
    for word, (own, settled) in enumerate(zip(matches, fixed, strict=True)):
        paths.sort(key=_rank)
        del paths[BEAM:]
        if settled is None:
            paths = _grown(paths, 1 << 2 * word, own)
        else:
            gain = settled.gain + settled.distance
            paths = [
                (
                    rank + gain + (0 if end in (_NOWHERE, settled.start) else _CHUNK),
                    settled.end,
                    words,
                    chosen,
                )
                for rank, end, words, chosen in paths
            ]
    paths.sort(key=_rank)
    del paths[BEAM:]
    chosen = min(paths, key=lambda path: path[0] if path[1] == _NOWHERE else path[0] + _CHUNK)[3]
    taken = []
    while chosen is not None:
        chosen, match = chosen
        taken.append(match)
    return taken


def _grown(paths: Sequence[_Path], word: int, own: Sequence[Match]) -> list[_Path]:
    """Return the partial alignments after one more word of the reference (its bit), where these matches
    begin.

    Most of the time of an alignment is spent here, so the loops use local names for everything.
    """
    nowhere, chunk = _NOWHERE, _CHUNK
    options = [(match.start, match.end, match.words, match.gain, match.distance, match) for match in own]
    grown: list[_Path] = []
    add = grown.append
    for path in paths:
        rank, end, words, chosen = path
        if words & word:  # within a chosen match
            add(path)
            continue
        for start, after, wanted, gain, distance, match in options:
            if words & wanted:
                continue
            taken = rank + gain if end in (start, nowhere) else rank + gain + chunk
            add((taken, after, words | wanted, (chosen, match)))
            rank += distance
        add((rank if end == nowhere else rank + chunk, nowhere, words, chosen))
    return grown
