"""METEOR's 5.3 million pairs of paraphrases, unpacked once and kept in the user's cache; few are read.

The published file is text, 272 MB when unpacked, with three lines an entry (probability, phrase, paraphrase),
sorted by phrase. What METEOR needs of it is kept without compression, 107 MB, in ``meteor`` of the cache
folder (``files.cache_folder``), named by the hash of the published file. Where that folder cannot be written
to, the table is unpacked each time.
"""

import hashlib
import zipfile
import zlib
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from whatchanged.arrays import arrays_of
from whatchanged.errors import MetricUnavailable, OutputError
from whatchanged.files import cache_folder, room_for, whole

MOST_BYTES = 1 << 30
"""Limit on the bytes of the unpacked table; the published one has 272,201,058."""
_BLOCK = 1 << 24
_GZIP = 31  # zlib's number for a gzip file, its checksum checked
_LINES = 3  # of an entry
_FORMAT = 1
_ARRAYS = ("phrases", "phrase_ends", "paraphrases", "paraphrase_ends")
Paraphrases = dict[tuple[str, ...], list[tuple[str, ...]]]
"""A phrase -> its paraphrases, in the order of the table."""


class PhraseEntry(NamedTuple):
    """The entries of a phrase."""

    paraphrases: list[str]
    """In the order of the published file."""
    continues: bool
    """Whether the table has longer phrases that begin with this one."""


class ParaphraseTable:
    """The distinct phrases, in the order of their bytes, each with its paraphrases.

    phrases: (bytes,), concatenated; phrase_ends: (N,), the end of each.
    paraphrases: (bytes,), one on each line; paraphrase_ends: (N,), the end of those of each phrase.
    """

    def __init__(self, arrays: dict[str, NDArray[Any]]) -> None:
        self._phrases = arrays["phrases"].data
        self._paraphrases = arrays["paraphrases"].data
        self._phrase_ends = arrays["phrase_ends"].data
        self._paraphrase_ends = arrays["paraphrase_ends"].data

    def group(self, phrase: str) -> PhraseEntry:
        """Return the entries of a phrase; it need not be in the table."""
        wanted = phrase.encode()
        at = bisect_left(range(len(self._phrase_ends)), wanted, key=self._phrase)
        found = self._phrase(at)
        if found != wanted:
            return PhraseEntry([], found.startswith(wanted + b" "))
        begin = self._paraphrase_ends[at - 1] if at else 0
        lines = bytes(self._paraphrases[begin : self._paraphrase_ends[at]]).decode()
        # No line holds a byte below the blank, so what goes on after the phrase follows next.
        return PhraseEntry(lines.split("\n")[:-1], self._phrase(at + 1).startswith(wanted + b" "))

    def _phrase(self, at: int) -> bytes:
        """Return a phrase; empty after the last one."""
        if at == len(self._phrase_ends):
            return b""
        return bytes(self._phrases[self._phrase_ends[at - 1] if at else 0 : self._phrase_ends[at]])


@dataclass
class _Beginning:
    """A run of words that was looked up, and the runs that are one word longer."""

    continues: bool = True
    longer: dict[str, "_Beginning"] = field(default_factory=dict)


def read_paraphrases(path: Path, sentences: Iterable[Sequence[str]]) -> Paraphrases:
    """Read the entries whose phrase is in one of the sentences and whose paraphrase consists of their words.

    Raises MetricUnavailable where the file is not the table.
    """
    sentences = list(sentences)
    known = {word for sentence in sentences for word in sentence}
    table = read_table(path)
    looked_up = _Beginning()
    results: Paraphrases = {}
    for sentence in sentences:
        for start in range(len(sentence)):
            run = looked_up
            for end in range(start, len(sentence)):
                longer = run.longer.get(sentence[end])
                if longer is None:
                    phrase = tuple(sentence[start : end + 1])
                    group = table.group(" ".join(phrase))
                    longer = run.longer[sentence[end]] = _Beginning(group.continues)
                    own = [tuple(text.split(" ")) for text in group.paraphrases]
                    own = [paraphrase for paraphrase in own if known.issuperset(paraphrase)]
                    if own:
                        results[phrase] = own
                run = longer
                if not run.continues:
                    break
    return results


def read_table(path: Path) -> ParaphraseTable:
    """Read the table of this file, from the cache where it is there.

    Raises MetricUnavailable where the file is not the table.
    """
    try:
        packed = path.read_bytes()
    except OSError as error:
        raise MetricUnavailable(f"METEOR: {path}: cannot be read ({error}). Install again.") from error
    name = f"paraphrases-{_FORMAT}-{hashlib.sha256(packed).hexdigest()[:32]}.npz"
    kept = cache_folder() / "meteor" / name
    with suppress(ValueError):  # it is not there, or damaged: the archive has checksums
        return ParaphraseTable(arrays_of(kept, _ARRAYS))
    arrays = _arrays(_unpacked(packed, path), path)
    with suppress(OSError, OutputError):
        kept.parent.mkdir(parents=True, exist_ok=True)
        with whole(kept) as draft, room_for(kept, draft), zipfile.ZipFile(draft, "w") as archive:
            for part, array in arrays.items():
                with archive.open(f"{part}.npy", "w") as file:
                    np.lib.format.write_array(file, array, allow_pickle=False)
    return ParaphraseTable(arrays)


def _unpacked(packed: bytes, path: Path) -> bytes:
    unpacking = zlib.decompressobj(_GZIP)
    try:
        text = unpacking.decompress(packed, MOST_BYTES)
    except zlib.error as error:
        raise MetricUnavailable(f"METEOR: {path}: cannot be read ({error}). Install again.") from error
    if not unpacking.eof:
        raise MetricUnavailable(f"METEOR: {path}: cut short, or above {MOST_BYTES:,} bytes. Install again.")
    return text


def _arrays(text: bytes, path: Path) -> dict[str, NDArray[Any]]:
    """Return the table's arrays from the published text."""
    breaks = _line_breaks(text)
    if not text.endswith(b"\n") or len(breaks) % _LINES:
        raise MetricUnavailable(f"METEOR: {path}: not METEOR's table of paraphrases. Install again.")
    starts, ends = breaks[0::_LINES] + 1, breaks[1::_LINES]
    phrases: list[bytes] = []
    firsts: list[int] = []  # the first entry of each phrase
    last = None
    for entry, (start, end) in enumerate(zip(starts.data, ends.data, strict=True)):
        phrase = text[start:end]
        if phrase != last:
            phrases.append(phrase)
            firsts.append(entry)
            last = phrase
    lengths = breaks[2::_LINES] - ends  # of the paraphrases, with their line's end
    until = np.concatenate([[0], np.cumsum(lengths)])
    line_lengths = np.diff(breaks, prepend=-1)
    third = np.repeat(np.arange(len(breaks)) % _LINES == 2, line_lengths)
    return {
        "phrases": np.frombuffer(b"".join(phrases), np.uint8),
        "phrase_ends": np.cumsum([len(phrase) for phrase in phrases], dtype=np.int64),
        "paraphrases": np.frombuffer(text, np.uint8)[third],
        "paraphrase_ends": until[[*firsts[1:], len(starts)]].astype(np.int64),
    }


def _line_breaks(text: bytes) -> NDArray[np.int32]:
    """Return the ends of the lines, computed block by block: all bytes at once would take gigabytes."""
    data = np.frombuffer(text, np.uint8)
    parts = [
        (np.flatnonzero(data[at : at + _BLOCK] == ord("\n")) + at).astype(np.int32)
        for at in range(0, len(data), _BLOCK)
    ]
    return np.concatenate(parts) if parts else np.zeros(0, np.int32)
