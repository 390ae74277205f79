"""Text to ids and back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whatchanged.vocabulary import BOS, EOS, PAD, SPECIALS, UNK, Vocabulary, padded

WORDS = Vocabulary.from_captions(["the red cube moved", "a  cube <EOS>"])
TEXTS = st.lists(st.sampled_from(["the", "red", "cube", "moved", "a", "zebra"]), max_size=12).map(" ".join)


def test_specials_come_first_and_words_in_sorted_order():
    assert WORDS.entries == (*SPECIALS, "a", "cube", "moved", "red", "the")
    assert len(WORDS) == 11


@pytest.mark.parametrize("entries", [("a", *SPECIALS), SPECIALS[:5], (*SPECIALS, "a", "a")])
def test_other_entries_are_refused(entries):
    with pytest.raises(ValueError, match=r"a vocabulary (begins with|names each word once)"):
        Vocabulary(tuple(entries))


def test_a_sentence_stands_between_its_marks():
    assert WORDS.sentence("the cube  moved") == [BOS, 10, 7, 8, EOS]
    assert WORDS.sentence("the zebra") == [BOS, 10, UNK, EOS]
    assert WORDS.sentence("") == [BOS, EOS]


@pytest.mark.parametrize(("most", "ids"), [(None, [10, 9, 7]), (3, [10, 9, 7]), (2, [10, 9]), (0, [])])
def test_a_sentence_has_at_most_so_many_words(most, ids):
    assert WORDS.sentence("the red cube", most) == [BOS, *ids, EOS]


@given(TEXTS, st.none() | st.integers(0, 12))
def test_a_sentence_is_its_words_and_comes_back_as_text(text, most):
    ids = WORDS.sentence(text, most)
    kept = text.split()[:most]
    assert ids == [BOS, *WORDS.word_ids(" ".join(kept)), EOS]
    assert WORDS.text(ids) == " ".join(word if word != "zebra" else "<UNK>" for word in kept)


def test_text_ends_at_the_first_end():
    assert WORDS.text([BOS, 7, EOS, 8, EOS, PAD]) == "cube"
    assert WORDS.text([7, PAD]) == "cube <PAD>"


def test_words_say_where_their_ids_stand():
    assert WORDS.words([BOS, 7, 8, EOS]) == [("cube", (1,)), ("moved", (2,))]


def test_rows_are_padded_to_the_longest_or_to_a_length():
    rows = [[1, 7, 2], [1, 2]]
    assert padded(rows) == [[1, 7, 2], [1, 2, PAD]]
    assert padded(rows, 4) == [[1, 7, 2, PAD], [1, 2, PAD, PAD]]
    assert padded([(1, 2)]) == [[1, 2]] and rows == [[1, 7, 2], [1, 2]]
