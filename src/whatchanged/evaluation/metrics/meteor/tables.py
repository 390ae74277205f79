"""METEOR 1.5's language data for English, read from the reference package that the extra ``eval``
installs.
"""

import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from whatchanged.errors import MetricUnavailable
from whatchanged.evaluation.metrics.java import INSTALL, reference_package
from whatchanged.evaluation.metrics.meteor.paraphrase_table import Paraphrases, read_paraphrases
from whatchanged.evaluation.metrics.meteor.synonyms import Synonyms, read_synonyms
from whatchanged.evaluation.metrics.meteor.words import read_abbreviations

JAR = "meteor-1.5.jar"
PARAPHRASES = Path("data") / "paraphrase-en.gz"
MOST_MEMBER_BYTES = 1 << 24
"""Limit on the bytes of a table in the jar; the largest, the synonyms, has 3,702,066."""


@dataclass(frozen=True)
class Tables:
    """All language data of METEOR."""

    abbreviations: Mapping[str, int]
    function_words: frozenset[str]
    """The function words as in the program's list: the commonest words and punctuation marks of English."""
    synonyms: Synonyms
    stem: Callable[[str], str]
    """A word -> its stem, by the Snowball stemmer for English of the program's time."""
    _paraphrases: Path

    def paraphrases(self, sentences: Iterable[Sequence[str]]) -> Paraphrases:
        """Return the paraphrases that can match between these sentences, each a sequence of words."""
        return read_paraphrases(self._paraphrases, sentences)


def read_tables() -> Tables:
    """Read the language data. Raises MetricUnavailable where a package is missing, or is not the expected
    one.
    """
    folder = reference_package("METEOR") / "meteor"
    jar = folder / JAR
    try:
        with zipfile.ZipFile(jar) as archive:
            texts = {
                name: _member(archive, name)
                for name in (
                    "nonbreaking/english.prefixes",
                    "function/english.words",
                    "synonym/english.synsets",
                    "synonym/english.exceptions",
                )
            }
    except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
        raise MetricUnavailable(
            f"METEOR: {jar}: its tables cannot be read ({error}). Install pycocoevalcap again."
        ) from error
    return Tables(
        abbreviations=read_abbreviations(texts["nonbreaking/english.prefixes"]),
        function_words=frozenset(texts["function/english.words"].splitlines()),
        synonyms=read_synonyms(texts["synonym/english.synsets"], texts["synonym/english.exceptions"]),
        stem=_stemmer(),
        _paraphrases=folder / PARAPHRASES,
    )


def _member(archive: zipfile.ZipFile, name: str) -> str:
    if archive.getinfo(name).file_size > MOST_MEMBER_BYTES:
        raise ValueError(f"{name} is larger than {MOST_MEMBER_BYTES:,} bytes")
    return archive.read(name).decode("utf-8")


def _stemmer() -> Callable[[str], str]:
    """Return Snowball's English stemmer, checked: version 3 changed its rules, and with them METEOR's
    values.
    """
    try:
        from snowballstemmer.english_stemmer import EnglishStemmer
    except ImportError as error:
        raise MetricUnavailable(f"METEOR needs the package snowballstemmer. {INSTALL}") from error
    stem: Callable[[str], str] = EnglishStemmer().stemWord
    if stem("added") != "ad":
        raise MetricUnavailable(
            'METEOR: snowballstemmer 3 stems otherwise than METEOR 1.5. Run: pip install "snowballstemmer<3"'
        )
    return stem
