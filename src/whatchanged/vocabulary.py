"""Text to ids and back: blanks separate words, six specials come first, words follow in sorted order."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

SPECIALS = ("<PAD>", "<BOS>", "<EOS>", "<UNK>", "<CLS>", "<MASK>")
PAD = 0
"""The id of what stands behind a sentence, up to the longest one's end."""
BOS = 1
"""The id of a sentence's begin."""
EOS = 2
"""The id of a sentence's end."""
UNK = 3
"""The id of a word that is not in the vocabulary."""
CLS = 4
"""The id that asks for a judgement on the whole sentence."""
MASK = 5
"""The id in the place of a word that is to be predicted."""


def padded(rows: Sequence[Sequence[int]], length: int | None = None) -> list[list[int]]:
    """Rows of ids with PAD behind them, to ``length``, or to the longest."""
    length = max(map(len, rows)) if length is None else length
    return [[*row, *[PAD] * (length - len(row))] for row in rows]


@dataclass(frozen=True)
class Vocabulary:
    """The words of a model, ids included: ``entries[id]`` is the word, the first six are ``SPECIALS``."""

    entries: tuple[str, ...]
    _ids: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.entries[: len(SPECIALS)] != SPECIALS:
            raise ValueError(f"a vocabulary begins with {SPECIALS}, not {self.entries[: len(SPECIALS)]}")
        if len(set(self.entries)) != len(self.entries):
            raise ValueError("a vocabulary names each word once")
        object.__setattr__(self, "_ids", {word: i for i, word in enumerate(self.entries)})

    def __len__(self) -> int:
        return len(self.entries)

    @classmethod
    def from_captions(cls, captions: Iterable[str]) -> "Vocabulary":
        """All words of ``captions`` (training captions only), sorted, behind the specials."""
        words = {word for caption in captions for word in caption.split()}
        return cls(SPECIALS + tuple(sorted(words - set(SPECIALS))))

    def sentence(self, text: str, most_words: int | None = None) -> list[int]:
        """BOS words EOS; at most so many words. How many fit is the method's to say."""
        return [BOS, *self.word_ids(text)[:most_words], EOS]

    def word_ids(self, text: str) -> list[int]:
        """The words alone; UNK for those that are not known."""
        return [self._ids.get(word, UNK) for word in text.split()]

    def words(self, ids: Sequence[int]) -> list[tuple[str, tuple[int, ...]]]:
        """What the ids say word by word, each with the places of its ids; BOS and EOS say nothing."""
        return [(self.entries[j], (i,)) for i, j in enumerate(ids) if j not in (BOS, EOS)]

    def text(self, ids: Sequence[int]) -> str:
        """The words up to the first EOS; a BOS is skipped, other specials are printed as they are."""
        words = []
        for i in ids:
            if i == EOS:
                break
            if i != BOS:
                words.append(self.entries[i])
        return " ".join(words)
