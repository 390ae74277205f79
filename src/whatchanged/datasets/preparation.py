"""The tokenisation of captions in each paper: named preparations for the recipe key ``data.preparation``.

A preparation splits a caption into words, truncates it, and selects the words of the vocabulary. It is used
in training only: references stay as annotated, and scoring has its own tokenisers. ``none`` leaves captions
as they are: words are separated by blanks, and the vocabulary has all words of the training captions.

    words(caption)          all words
    text(caption)           the words that are kept, joined by blanks: what a model is trained on
    known(records)          the words that occur at least ``threshold`` times in the splits ``counted``

``most_words`` is the published length of a caption minus its special tokens. CLIP4IDC's byte-pair encoding is
a vocabulary of its own (``bpe.py``).
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from whatchanged.datasets.reading import SPLITS
from whatchanged.errors import DatasetError
from whatchanged.records import PairRecord, Split

SEPARATOR = "<SEP>"
"""CARD's separator between the sentences of a pair."""


def between_blanks(caption: str) -> list[str]:
    """Split a caption at runs of blanks, and change nothing else."""
    return caption.split()


def rcc_words(caption: str) -> list[str]:
    """Tokenise as RCC and later work do: ``?`` and ``.`` removed, ``;`` and ``,`` words of their own, case
    kept.

    A blank is put before ``;`` and ``,`` and the text is split at single blanks, so a comma that no blank
    follows stays with the next word, and two blanks make an empty word. The empty words are dropped here: a
    caption that is joined by blanks again cannot hold them. Source: scripts/preprocess_captions.py of
    Seth-Park/RobustChangeCaptioning.
    """
    spaced = caption.replace(";", " ;").replace(",", " ,").replace("?", "").replace(".", "")
    return spaced.split()


def card_words(caption: str) -> list[str]:
    """Tokenise as CARD does: as RCC, but ``.`` and ``?`` become the separator between sentences."""
    spaced = caption.replace(";", " ;").replace(",", " ,")
    marked = re.sub(r"[.?]", f" {SEPARATOR} ", spaced)
    return marked.split()


def ier_words(caption: str) -> list[str]:
    """Tokenise as Image Editing Request does: split at runs of non-word characters, lower case.

    A piece made only of punctuation is broken into single characters unless it is made only of full stops.
    Source: src/tok.py of airsplay/VisualRelationships.
    """
    words: list[str] = []
    for piece in re.split(r"(\W+)", caption.strip()):
        piece = piece.strip().lower()
        if not piece:
            continue
        if re.fullmatch(r"[^\w]+", piece) and set(piece) != {"."}:
            words += [mark for mark in piece if not mark.isspace()]
        else:
            words.append(piece)
    return words


_ANIMAL = re.compile(r"\banimal\s+([12])\b")
_BIRD_WORD = re.compile(
    r"""  `` | \.{2,}                                            # a quote's start as published, dots
        | \w+(?='(?:s|m|d|ll|re|ve)\b) | '(?:s|m|d|ll|re|ve)\b  # it 's
        | \w+(?=n't\b) | n't\b                                 # do n't
        | \d+(?:[.,]\d+)+ | \w+ | [^\w\s]""",
    re.VERBOSE,
)


def bird_words(caption: str) -> list[str]:
    """Tokenise Birds-to-Words as PCL's authors did: lower case, words and punctuation separated.

    "Animal 1" and "animal 2" become one word each; hyphens and slashes are words; contractions are cut as the
    NLTK word tokeniser does ("it 's", "do n't"); double quotes become two backquotes. The authors' script is
    not published; this reproduces the published tokens, and leaves them as they are.
    """
    lowered = _ANIMAL.sub(r"animal\1", caption.lower())
    return ["``" if word == '"' else word for word in _BIRD_WORD.findall(lowered)]


def cub_words(caption: str) -> list[str]:
    """Tokenise CUB as AttnGAN does: lower case, runs of word characters only, other characters than ASCII
    dropped.
    """
    cleaned = caption.replace("\ufffd\ufffd", " ").lower()
    words = (word.encode("ascii", "ignore").decode() for word in re.findall(r"\w+", cleaned))
    return [word for word in words if word]


@dataclass(frozen=True)
class Preparation:
    """One paper's preparation of captions; see the module's docstring."""

    name: str
    words: Callable[[str], list[str]]
    most_words: int | None = None
    threshold: int = 1
    counted: tuple[Split, ...] = ("train",)
    vocabulary: int | None = None
    """The published number of words without special tokens, where one is known."""
    source: str = ""

    def text(self, caption: str) -> str:
        """Return the kept words joined by blanks."""
        return " ".join(self.words(caption)[: self.most_words])

    def known(self, records: Iterable[PairRecord]) -> list[str]:
        """Return the words of the vocabulary, sorted, without special tokens; whole captions are counted, as
        published.
        """
        counts = Counter(
            word
            for record in records
            if record.split in self.counted
            for caption in record.captions
            for word in self.words(caption)
        )
        return sorted(word for word, count in counts.items() if count >= self.threshold)

    def longest(self, records: Iterable[PairRecord]) -> int:
        """Number of ids of the longest caption, a word being one id, BOS and EOS included.

        0 without captions.
        Counted over all splits but not over unchanged pairs, as the released code of RCC and SCORER finds the
        width of its labels.
        """
        captions = [
            caption for record in records if record.changed is not False for caption in record.captions
        ]
        return max((len(self.text(caption).split()) + 2 for caption in captions), default=0)

    def truncated(self, captions: Sequence[str]) -> int:
        """Return how many captions are truncated."""
        return sum(len(self.words(c)) > self.most_words for c in captions) if self.most_words else 0


def _pcl(name: str, words: Callable[[str], list[str]], length: int, vocabulary: int | None) -> Preparation:
    """Return PCL's preparation: it keeps ``length - 3`` words, followed by BOS, EOS and at least one PAD."""
    return Preparation(name, words, length - 3, vocabulary=vocabulary, source="Yao, Wang, Jin, AAAI 2022")


PREPARATIONS: Mapping[str, Preparation] = {
    p.name: p
    for p in (
        Preparation("none", between_blanks, source="captions as they are"),
        Preparation("rcc-clevr-change", rcc_words, 22, vocabulary=72, source="RCC, start mark only"),
        Preparation("scorer-clevr-change", rcc_words, 22, vocabulary=72, source="NCT, SCORER and relatives"),
        Preparation("rcc-clevr-dc", rcc_words, 38, vocabulary=83, source="configurations of two methods"),
        Preparation("rcc-spot-the-diff", rcc_words, 50, source="DUDA-like, single protocol"),
        # 2,028 words: the published 2,033 are these, four special tokens and the empty word.
        Preparation("card-spot-the-diff", card_words, 68, vocabulary=2_028, source="CARD, multi protocol"),
        _pcl("pcl-clevr-change", between_blanks, 40, None),
        _pcl("pcl-birds", bird_words, 80, 2_630),
        _pcl("pcl-cub", bird_words, 40, None),
        Preparation("cub-attngan", cub_words, counted=("train", "test"), source="AttnGAN"),
        Preparation("ier", ier_words, 78, 3, ("train", "val"), 804, source="Tan et al., ACL 2019"),
        # 2,454 words: NCT's published 2,459 are these, four special tokens and the empty word.
        Preparation("nct-image-editing-request", rcc_words, 58, vocabulary=2_454, source="NCT"),
        Preparation("levir", rcc_words, 50, 6, SPLITS, 464, source="RSICC; over all splits, as published"),
    )
}


def preparation(name: str) -> Preparation:
    """Return the preparation of that name. Raises DatasetError."""
    if name not in PREPARATIONS:
        raise DatasetError(f"Unknown preparation {name!r}. Known: {', '.join(PREPARATIONS)}.")
    return PREPARATIONS[name]
