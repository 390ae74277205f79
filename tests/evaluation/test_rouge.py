from functools import lru_cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whatchanged.evaluation.rouge import common_lengths, rouge_l

words = st.lists(st.sampled_from("abc"), min_size=1, max_size=9)


def test_precision_and_recall_may_come_from_different_references():
    # P = 2/3 (first), R = 2/2 (second): 2.44 * 2/3 / (1 + 1.44 * 2/3)
    assert rouge_l(["a b c"], [["a b d", "a c"]])[0] == pytest.approx(2.44 * 2 / 3 / (1 + 1.44 * 2 / 3))
    assert rouge_l(["a b c"], [["a b d", "a c"]])[0] == pytest.approx(0.829932, abs=5e-7)


def test_empty_captions_are_one_empty_word():
    assert rouge_l(["", "", "a"], [[""], ["a"], [""]]).tolist() == [1, 0, 0]


@given(words, words)
def test_common_subsequences(a, b):
    @lru_cache
    def longest(i, j):
        if i == len(a) or j == len(b):
            return 0
        return 1 + longest(i + 1, j + 1) if a[i] == b[j] else max(longest(i + 1, j), longest(i, j + 1))

    assert common_lengths(a, [b]) == [longest(0, 0)]
