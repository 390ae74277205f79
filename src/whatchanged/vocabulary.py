"""Convert text to token ids and back.

Words are separated by blanks. In the vocabulary, six special tokens come first, and words follow in sorted
order.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

SPECIALS = ("<PAD>", "<BOS>", "<EOS>", "<UNK>", "<CLS>", "<MASK>")
PAD = 0
"""The id of padding after a sentence."""
BOS = 1
"""The id of the beginning of a sentence."""
EOS = 2
"""The id of the end of a sentence."""
UNK = 3
"""The id of a word that is not in the vocabulary."""
CLS = 4
"""The id of the token whose output classifies the whole sentence."""
MASK = 5
"""The id of the token in place of a word that is to be predicted."""


def padded(rows: Sequence[Sequence[int]], length: int | None = None) -> list[list[int]]:
    """Return the rows of ids, padded with PAD to ``length`` or to the length of the longest row."""
    length = max(map(len, rows)) if length is None else length
    return [[*row, *[PAD] * (length - len(row))] for row in rows]


@dataclass(frozen=True)
class Vocabulary:
    """The words of a model with their ids.

    ``entries[id]`` is the word with this id. The first six entries are ``SPECIALS``.
    """

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
        """Return the vocabulary of all words in ``captions``, which are training captions.

        The sorted words follow the special tokens.
        """
        words = {word for caption in captions for word in caption.split()}
        return cls(SPECIALS + tuple(sorted(words - set(SPECIALS))))

    def sentence(self, text: str, most_words: int | None = None) -> list[int]:
        """Return the ids of a sentence: BOS, the ids of its words, EOS.

        most_words: the largest number of words; the recipe's method determines this limit.
        """
        return [BOS, *self.word_ids(text)[:most_words], EOS]

    def word_ids(self, text: str) -> list[int]:
        """Return the ids of the words without BOS and EOS. Unknown words get the id UNK."""
        return [self._ids.get(word, UNK) for word in text.split()]

    def words(self, ids: Sequence[int]) -> list[tuple[str, tuple[int, ...]]]:
        """Return the words of the ids, each word with the position of its id. BOS and EOS are skipped."""
        return [(self.entries[j], (i,)) for i, j in enumerate(ids) if j not in (BOS, EOS)]

    def text(self, ids: Sequence[int]) -> str:
        """Return the words up to the first EOS as text.

        BOS is skipped. Other special tokens appear in the text.
        """
        words = []
        for i in ids:
            if i == EOS:
                break
            if i != BOS:
                words.append(self.entries[i])
        return " ".join(words)
