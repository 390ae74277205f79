"""The tokenisation of captions in each paper, as named preparations for the recipe key ``data.preparation``.

A preparation splits a caption into words, truncates the caption, and selects the words of the vocabulary.
Preparations are used in training only. References stay as annotated, and scoring uses other tokenisers. The
preparation ``none`` does not change captions. With ``none``, words are separated by blanks, and the
vocabulary contains all words of the training captions.

    words(caption)          all words
    text(caption)           the words after truncation, joined by blanks, as a model is trained on
    known(records)          the words that occur at least ``threshold`` times in the splits ``counted``

``most_words`` is the published length of a caption minus its special tokens. CLIP4IDC's byte-pair encoding is
not a preparation but a separate vocabulary (``bpe.py``).
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from whatchanged.datasets.reading import SPLITS
from whatchanged.errors import DatasetError
from whatchanged.records import PairRecord, Split

SEPARATOR = "<SEP>"
"""The token that CARD puts between the sentences of a pair."""


def between_blanks(caption: str) -> list[str]:
    """Split a caption at runs of blanks. The words are not modified."""
    return caption.split()


def rcc_words(caption: str) -> list[str]:
    """Tokenise as RCC and later work do.

    ``?`` and ``.`` are removed. ``;`` and ``,`` are separate words. Case is not changed. A blank is inserted
    before each ``;`` and ``,``. The text is then split at single blanks. A comma without a following blank
    therefore stays with the next word, and two blanks produce an empty word. Empty words are dropped here,
    because a caption of words joined by blanks cannot contain empty words. Source:
    scripts/preprocess_captions.py of Seth-Park/RobustChangeCaptioning.
    """
    spaced = caption.replace(";", " ;").replace(",", " ,").replace("?", "").replace(".", "")
    return spaced.split()


def card_words(caption: str) -> list[str]:
    """Tokenise as CARD does.

    CARD tokenises like RCC, but replaces ``.`` and ``?`` by the separator between sentences.
    """
    spaced = caption.replace(";", " ;").replace(",", " ,")
    marked = re.sub(r"[.?]", f" {SEPARATOR} ", spaced)
    return marked.split()


def ier_words(caption: str) -> list[str]:
    """Tokenise as Image Editing Request does.

    The text is lower-cased and split at runs of non-word characters. A piece that consists only of
    punctuation is split into single characters, but a piece of full stops only is not split. Source:
    src/tok.py of airsplay/VisualRelationships.
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
    """Tokenise Birds-to-Words as PCL's authors did.

    The text is lower-cased, and words are separated from punctuation.

    "Animal 1" and "animal 2" become one word each. Hyphens and slashes are words. Contractions are split as
    by the NLTK word tokeniser ("it 's", "do n't"). Double quotes become two backquotes. The authors' script
    is not published. This function reproduces the published tokens. Text that consists of the published
    tokens is not changed.
    """
    lowered = _ANIMAL.sub(r"animal\1", caption.lower())
    return ["``" if word == '"' else word for word in _BIRD_WORD.findall(lowered)]


def cub_words(caption: str) -> list[str]:
    """Tokenise CUB as AttnGAN does.

    The text is lower-cased. The words are the runs of word characters. Characters outside ASCII are dropped.
    """
    cleaned = caption.replace("\ufffd\ufffd", " ").lower()
    words = (word.encode("ascii", "ignore").decode() for word in re.findall(r"\w+", cleaned))
    return [word for word in words if word]


@dataclass(frozen=True)
class Preparation:
    """The preparation of captions in one paper, as described in the docstring of the module."""

    name: str
    words: Callable[[str], list[str]]
    most_words: int | None = None
    threshold: int = 1
    counted: tuple[Split, ...] = ("train",)
    vocabulary: int | None = None
    """The published number of words without special tokens; None if no number is published."""
    source: str = ""

    def text(self, caption: str) -> str:
        """Return the words after truncation, joined by blanks."""
        return " ".join(self.words(caption)[: self.most_words])

    def known(self, records: Iterable[PairRecord]) -> list[str]:
        """Return the sorted words of the vocabulary without special tokens.

        Words are counted in whole captions before truncation, as in the published code.
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
        """Return the number of ids of the longest caption, including BOS and EOS.

        Each word is one id. Without captions, the result is 0. Captions of all splits are counted, but not
        captions of unchanged pairs. The released code of RCC and SCORER computes the width of its labels in
        this way.
        """
        captions = [
            caption for record in records if record.changed is not False for caption in record.captions
        ]
        return max((len(self.text(caption).split()) + 2 for caption in captions), default=0)

    def truncated(self, captions: Sequence[str]) -> int:
        """Return how many captions are truncated."""
        return sum(len(self.words(c)) > self.most_words for c in captions) if self.most_words else 0


def _pcl(name: str, words: Callable[[str], list[str]], length: int, vocabulary: int | None) -> Preparation:
    """Return PCL's preparation.

    A caption is truncated to ``length - 3`` words, because BOS, EOS and at least one PAD are added.
    """
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
    """Return the preparation with this name. Raises DatasetError if there is none."""
    if name not in PREPARATIONS:
        raise DatasetError(f"Unknown preparation {name!r}. Known: {', '.join(PREPARATIONS)}.")
    return PREPARATIONS[name]
