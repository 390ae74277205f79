"""METEOR's table of paraphrases: 5.3 million pairs of phrases, 272 MB, of which few concern given sentences.

The file holds three lines an entry (probability, phrase, paraphrase) and is sorted by phrase. So the phrases
of the sentences at hand are looked up by bisection, and no index of the whole is built.
"""

import zlib
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from whatchanged.errors import MetricUnavailable

MOST_BYTES = 1 << 30
"""Of the unpacked table; the published one has 272,201,058."""
_BLOCK = 1 << 24
_GZIP = 31  # zlib's number for a gzip file, its checksum checked
_LINES = 3  # of an entry

Paraphrases = dict[tuple[str, ...], list[tuple[str, ...]]]
"""A phrase to its paraphrases, in the order of the table."""


def read_paraphrases(path: Path, sentences: Iterable[Sequence[str]]) -> Paraphrases:
    """The entries whose phrase stands in one of the sentences and whose paraphrase is made of their words.

    Raises MetricUnavailable where the file is not the table.
    """
    sentences = list(sentences)
    known = {word for sentence in sentences for word in sentence}
    table = _Table(_unpacked(path), path)
    groups: dict[tuple[str, ...], _Group] = {}
    found: Paraphrases = {}
    for sentence in sentences:
        for start in range(len(sentence)):
            for end in range(start + 1, len(sentence) + 1):
                phrase = tuple(sentence[start:end])
                group = groups.get(phrase)
                if group is None:
                    group = groups[phrase] = table.group(" ".join(phrase).encode())
                    own = [tuple(text.split(" ")) for text in table.paraphrases(group)]
                    own = [paraphrase for paraphrase in own if known.issuperset(paraphrase)]
                    if own:
                        found[phrase] = own
                if not group.continues:
                    break
    return found


class _Group(NamedTuple):
    """Where the entries of a phrase stand in the table."""

    first: int
    end: int
    continues: bool
    """Whether phrases of the table begin with this one and have further words."""


class _Table:
    """The unpacked file, and where each entry's phrase begins and ends in it."""

    def __init__(self, text: bytes, path: Path) -> None:
        breaks = _line_breaks(text)
        if not text.endswith(b"\n") or len(breaks) % _LINES:
            raise MetricUnavailable(f"METEOR: {path}: not METEOR's table of paraphrases. Install again.")
        self._text = text
        self._starts = (breaks[0::_LINES] + 1).data
        self._ends = breaks[1::_LINES].copy().data
        self._lines = breaks[2::_LINES].copy().data

    def group(self, phrase: bytes) -> _Group:
        """The entries of a phrase; it need not be in the table."""
        first = self._place(phrase)
        end = self._place(phrase + b"\x00", first)  # No line holds a byte below the blank.
        following = self._phrase(end) if end < len(self._starts) else b""
        return _Group(first, end, following.startswith(phrase + b" "))

    def paraphrases(self, group: _Group) -> list[str]:
        """The paraphrases of a group, in order."""
        return [
            self._text[self._ends[i] + 1 : self._lines[i]].decode() for i in range(group.first, group.end)
        ]

    def _place(self, phrase: bytes, low: int = 0) -> int:
        """The first entry, from ``low`` on, whose phrase is not before this one."""
        return bisect_left(range(len(self._starts)), phrase, low, key=self._phrase)

    def _phrase(self, entry: int) -> bytes:
        return self._text[self._starts[entry] : self._ends[entry]]


def _unpacked(path: Path) -> bytes:
    try:
        packed = path.read_bytes()
        unpacking = zlib.decompressobj(_GZIP)
        text = unpacking.decompress(packed, MOST_BYTES)
    except (OSError, zlib.error) as error:
        raise MetricUnavailable(f"METEOR: {path}: cannot be read ({error}). Install again.") from error
    if not unpacking.eof:
        raise MetricUnavailable(f"METEOR: {path}: cut short, or above {MOST_BYTES:,} bytes. Install again.")
    return text


def _line_breaks(text: bytes) -> NDArray[np.int32]:
    """Where the lines end, block by block: positions of all bytes at once would take gigabytes."""
    data = np.frombuffer(text, np.uint8)
    parts = [
        (np.flatnonzero(data[at : at + _BLOCK] == ord("\n")) + at).astype(np.int32)
        for at in range(0, len(data), _BLOCK)
    ]
    return np.concatenate(parts) if parts else np.zeros(0, np.int32)
