"""The search against small cases worked out by hand, and against all alignments where the beam holds them."""

from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from whatchanged.evaluation.metrics.meteor.alignment import align, chunks, match_of


def exact(caption, reference):
    """All exact matches of two rows of letters."""
    return [
        [match_of(0, start, 1, at, 1) for start, other in enumerate(caption) if other == word]
        for at, word in enumerate(reference)
    ]


def places(matches):
    return [(match.start, match.at) for match in matches]


def test_what_has_no_rival_is_taken():
    assert places(align(exact("abc", "cxa"))) == [(2, 0), (0, 2)]
    assert align([]) == align([[], []]) == []


def test_fewer_chunks_are_better():
    # The second "a" of the caption stands before "b", as in the reference.
    assert places(align(exact("axab", "ab"))) == [(2, 0), (3, 1)]


def test_more_words_are_better_than_fewer_chunks():
    whole = match_of(3, 0, 3, 0, 2)  # a paraphrase of three words by two: covers 1 + 1
    single = [match_of(0, 0, 1, 0, 1), match_of(0, 2, 1, 1, 1)]  # two exact words: 2 + 2
    assert align([[whole, single[0]], [single[1]]]) == single


def test_an_inexact_match_of_one_word_counts_nothing_for_the_search():
    """So leaving it out, which saves a chunk, is as good; the program finds that first or the other."""
    kept = [match_of(0, 0, 1, 0, 1), match_of(0, 1, 1, 2, 1)]
    synonym = match_of(2, 2, 1, 1, 1)
    assert synonym.gain == 0 and match_of(0, 2, 1, 1, 1).gain < 0
    assert align([[kept[0]], [synonym, match_of(1, 2, 1, 1, 1)], [kept[1]]]) == kept


def test_chunks_by_hand():
    assert chunks([]) == 0
    assert chunks([match_of(0, 0, 1, 0, 1), match_of(0, 1, 1, 1, 1)]) == 1
    assert chunks([match_of(0, 0, 1, 0, 1), match_of(0, 1, 1, 2, 1)]) == 2  # a gap in the reference
    assert chunks([match_of(0, 1, 1, 0, 1), match_of(0, 0, 1, 1, 1)]) == 2  # the other order
    assert chunks([match_of(3, 0, 2, 0, 1), match_of(0, 2, 1, 1, 1)]) == 1  # a phrase goes on


@settings(max_examples=100, deadline=None)
@given(st.text("ab", max_size=3), st.text("abc", max_size=3))
def test_no_alignment_covers_more_words_in_fewer_chunks(caption, reference):
    matches = exact(caption, reference)
    results = align(matches)
    ranks = []
    for chosen in product(*([None, *own] for own in matches)):
        taken = [match for match in chosen if match is not None]
        if len({match.start for match in taken}) == len(taken):
            ranks.append((-len(taken), chunks(taken)))
    assert (-len(results), chunks(results)) == min(ranks, default=(0, 0))


@settings(max_examples=50, deadline=None)
@given(st.text("abc", max_size=8), st.text("abc", max_size=8))
def test_no_word_is_used_twice(caption, reference):
    results = align(exact(caption, reference))
    assert len({match.start for match in results}) == len({match.at for match in results}) == len(results)
    assert places(results) == sorted(places(results), key=lambda place: place[1])
