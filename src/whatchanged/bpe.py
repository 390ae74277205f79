"""CLIP's byte-pair encoding (BPE): text to token ids and back, with CLIP's own merges file.

HTML entities are unescaped, white space is collapsed, and the text is lower-cased and split into words,
digits and runs of other characters. The last UTF-8 byte of each part is marked ``</w>``. The bytes of a part
are merged pair by pair, in the order of the merges in the file. Source: OpenAI's CLIP (simple_tokenizer.py),
whose merges file (MIT) comes with every copy of CLIP.

There are two differences from CLIP. Broken encodings are not repaired, whereas CLIP calls ftfy. If a caption
contains the name of a special token, the name is ordinary text.
"""

import gzip
import html
import unicodedata
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from whatchanged.errors import DatasetError
from whatchanged.opening import open_regular
from whatchanged.vocabulary import EOS, SPECIALS, Vocabulary

MERGES = 48_894
"""The number of merges that CLIP uses. OpenAI's file contains more merges."""
END = "</w>"
CONTRACTIONS = ("'s", "'t", "'re", "'ve", "'m", "'ll", "'d")
_MOST_BYTES = 20_000_000


def _byte_signs() -> tuple[str, ...]:
    """Return a printable character for each byte.

    A byte that is printable in Latin-1 keeps its Latin-1 character. Each other byte gets the next free
    character from code point 256 on.
    """
    seen = {*range(33, 127), *range(161, 173), *range(174, 256)}
    hidden = [byte for byte in range(256) if byte not in seen]
    return tuple(chr(byte) if byte in seen else chr(256 + hidden.index(byte)) for byte in range(256))


SIGNS = _byte_signs()
ALPHABET = sorted(SIGNS)
"""The 256 byte characters in the order of CLIP's token ids: printable bytes first."""


@dataclass(frozen=True)
class BPEVocabulary(Vocabulary):
    """The vocabulary of six special tokens, followed by CLIP's BPE tokens.

    The id of a BPE token is CLIP's id + 6.

    CLIP's embedding table also ends with its start and end tokens. CLIP's start and end tokens are the
    special tokens BOS and EOS here. ``table_rows`` gives the row of CLIP's table for each id. CLIP pads with
    0, which is also the id of a token. In this vocabulary, only padding has the id of PAD.
    """

    merges: tuple[str, ...] = ()
    _ranks: dict[tuple[str, str], int] = field(init=False, repr=False, compare=False)
    _known: dict[str, tuple[int, ...]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        pairs = [(first, second) for first, _, second in (merge.partition(" ") for merge in self.merges)]
        object.__setattr__(self, "_ranks", {pair: rank for rank, pair in enumerate(pairs)})
        object.__setattr__(self, "_known", {})

    @property
    def table_rows(self) -> list[int]:
        """The row of CLIP's embedding table for each id.

        UNK, CLS and MASK, which do not exist in CLIP, share row 0 with PAD.
        """
        bpe = len(self) - len(SPECIALS)
        return [0, bpe, bpe + 1, 0, 0, 0, *range(bpe)]

    def word_ids(self, text: str) -> list[int]:
        """Return the token ids of the text, without BOS and EOS."""
        return [i for part in parts(text) for i in self._part(part)]

    def words(self, ids: Sequence[int]) -> list[tuple[str, tuple[int, ...]]]:
        """Return the words of the token ids, each word with the positions of its tokens.

        Special tokens are skipped.
        """
        groups: list[list[int]] = [[]]
        for i, j in enumerate(ids):
            if j >= len(SPECIALS):
                groups[-1].append(i)
                if self.entries[j].endswith(END):
                    groups.append([])
        return [(self.text([ids[i] for i in group]), tuple(group)) for group in groups if group]

    def text(self, ids: Sequence[int]) -> str:
        """Return the text of the tokens up to the first EOS. Special tokens are skipped."""
        data = bytearray()
        for i in ids:
            if i == EOS:
                break
            if i >= len(SPECIALS):
                piece = self.entries[i]
                data += bytes(SIGNS.index(sign) for sign in piece.removesuffix(END))
                if piece.endswith(END):
                    data += b" "
        return data.decode("utf-8", errors="replace").strip()

    def _part(self, part: str) -> tuple[int, ...]:
        if part not in self._known:
            signs = [SIGNS[byte] for byte in part.encode("utf-8")]
            self._known[part] = tuple(self._ids[piece] for piece in self._merged(signs))
        return self._known[part]

    def _merged(self, signs: list[str]) -> list[str]:
        """Return the tokens of one part of a text.

        The characters of the part are merged until no merge applies.
        """
        word = [*signs[:-1], signs[-1] + END]
        while len(word) > 1:
            pairs = {pair: self._ranks.get(pair, MERGES) for pair in pairwise(word)}
            best = min(pairs, key=pairs.__getitem__)
            if pairs[best] == MERGES:
                break
            joined: list[str] = []
            for piece in word:
                if joined and (joined[-1], piece) == best:
                    joined[-1] += piece
                else:
                    joined.append(piece)
            word = joined
        return word


def from_merges(merges: Sequence[str]) -> BPEVocabulary:
    """Return the vocabulary of a list of merges.

    Each merge consists of two tokens separated by a blank. Raises ValueError if a merge has another form.
    """
    merges = tuple(merges)
    if any(len(merge.split(" ")) != 2 for merge in merges):
        raise ValueError("each merge is two pieces with a blank between them")
    if len(merges) > MERGES:
        raise ValueError(f"{len(merges):,} merges; CLIP's are {MERGES:,}")
    known = {*SIGNS, " "}
    odd = [merge for merge in merges if not set(merge) <= known]
    if odd:  # it could not become text again
        raise ValueError(f"the merge {odd[0]!r} holds a sign that stands for no byte")
    joined = [merge.replace(" ", "") for merge in merges]
    return BPEVocabulary((*SPECIALS, *ALPHABET, *(sign + END for sign in ALPHABET), *joined), merges)


def read_merges(path: Path) -> BPEVocabulary:
    """Read the vocabulary from a merges file, gzipped or not.

    The file has a header line and then one merge per line. The first 48,894 merges are read.

    Raises DatasetError if the file is missing or is not a merges file.
    """
    try:
        with open_regular(path) as raw:
            zipped = raw.read(2) == b"\x1f\x8b"
            raw.seek(0)
            with gzip.open(raw) if zipped else raw as file:
                content = file.read(_MOST_BYTES)
        return from_merges(content.decode("utf-8").split("\n")[1 : MERGES + 1][: _filled(content)])
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise DatasetError(
            f"{path}: no merges can be read here ({error})."
            " Give CLIP's bpe_simple_vocab_16e6.txt.gz or merges.txt."
        ) from error


def _filled(content: bytes) -> int:
    """Return the number of merges in a file. The header line and an empty last line are not counted."""
    return content.count(b"\n") - content.endswith(b"\n")


def to_json(vocabulary: Vocabulary) -> Any:
    """Return the JSON value from which ``from_json`` restores a vocabulary.

    The value is a list of words, or an object with the merges.
    """
    if isinstance(vocabulary, BPEVocabulary):
        return {"merges": vocabulary.merges}
    return vocabulary.entries


def from_json(value: Any) -> Vocabulary:
    """Make the vocabulary from the value that ``to_json`` returned.

    Raises ValueError or TypeError for any other value.
    """
    return from_merges(value["merges"]) if isinstance(value, dict) else Vocabulary(tuple(value))


def parts(text: str) -> Iterator[str]:
    """Split a text into the parts that are merged separately: contractions, words, single digits, runs of
    other characters.
    """
    text = _collapse(html.unescape(html.unescape(text))).lower()
    start = 0
    while start < len(text):
        kind = _kind(text[start])
        end = start + 1
        contraction = next((c for c in CONTRACTIONS if text.startswith(c, start)), "")
        if contraction:
            end = start + len(contraction)
        elif kind in "L.":
            while end < len(text) and _kind(text[end]) == kind:
                end += 1
        if kind != " ":
            yield text[start:end]
        start = end


def _kind(sign: str) -> str:
    """Return the class of a character: "L" for a letter, "N" for a digit, " " for white space, "." for other
    characters.
    """
    if sign.isspace() and sign not in "\x1c\x1d\x1e\x1f":  # Unicode does not count these four as white space
        return " "
    category = unicodedata.category(sign)[0]
    return category if category in "LN" else "."


def _collapse(text: str) -> str:
    return "".join(" " if _kind(sign) == " " else sign for sign in text).strip()
