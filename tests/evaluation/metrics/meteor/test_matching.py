from types import SimpleNamespace

import pytest

from whatchanged.evaluation.metrics.meteor.alignment import match_of
from whatchanged.evaluation.metrics.meteor.matching import (
    EXACT,
    PARAPHRASE,
    STEM,
    SYNONYM,
    Matcher,
    java_hash,
)
from whatchanged.evaluation.metrics.meteor.synonyms import Synonyms

SENSES = {"cube": "1", "cubes": "1", "block": "1", "ball": "2"}
PARAPHRASES = {("is", "gone"): [("left",), ("has", "left")], ("left",): [("gone",)]}


def matches(caption, reference):
    tables = SimpleNamespace(
        stem=lambda word: word.removesuffix("s"),
        synonyms=Synonyms(SENSES, {}),
        paraphrases=lambda sentences: PARAPHRASES,
    )
    one, other = tuple(caption.split()), tuple(reference.split())
    return Matcher(tables, [one, other]).matches(one, other)


def test_every_kind_of_match():
    found = matches("cubes block a is gone", "a cube has left")
    assert found == [
        [match_of(EXACT, 2, 1, 0, 1)],
        [match_of(STEM, 0, 1, 1, 1), match_of(SYNONYM, 0, 1, 1, 1), match_of(SYNONYM, 1, 1, 1, 1)],
        [match_of(PARAPHRASE, 3, 2, 2, 2)],
        # "left" has "gone" for a paraphrase, and "is gone" has "left".
        [match_of(PARAPHRASE, 4, 1, 3, 1), match_of(PARAPHRASE, 3, 2, 3, 1)],
    ]


def test_equal_words_match_exactly_and_in_no_other_way():
    assert matches("cube b", "b cube") == [[match_of(EXACT, 1, 1, 0, 1)], [match_of(EXACT, 0, 1, 1, 1)]]


def test_equal_sentences_match_word_by_word_only():
    kinds = {match.kind for own in matches("left is gone", "left is gone") for match in own}
    assert kinds == {EXACT}


@pytest.mark.parametrize(
    ("word", "number"),
    # Java's documentation gives the formula; these are what Java prints, as an unsigned number.
    [("", 0), ("a", 97), ("ab", 3105), ("hello", 99162322), ("polygenelubricants", 1 << 31), ("😀", 1772899)],
)
def test_the_hash_of_java(word, number):
    assert java_hash(word) == number


def test_words_of_one_hash_are_one_word():
    assert java_hash("as") == 97 * 31 + 115 == 99 * 31 + 53 == java_hash("c5")
    assert matches("as", "c5") == [[match_of(EXACT, 0, 1, 0, 1)]]
