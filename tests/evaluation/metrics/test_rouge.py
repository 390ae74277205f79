from functools import lru_cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whatchanged.evaluation.metrics.ngrams import count
from whatchanged.evaluation.metrics.rouge import common_lengths, rouge_l

words = st.lists(st.sampled_from("abc"), min_size=1, max_size=9)


def test_precision_and_recall_may_come_from_different_references():
    # P = 2/3 (first), R = 2/2 (second): 2.44 * 2/3 / (1 + 1.44 * 2/3)
    assert rouge_l(count(["a b c"], [["a b d", "a c"]]))[0] == pytest.approx(
        2.44 * 2 / 3 / (1 + 1.44 * 2 / 3)
    )
    assert rouge_l(count(["a b c"], [["a b d", "a c"]]))[0] == pytest.approx(0.829932, abs=5e-7)


def test_empty_captions_are_one_empty_word():
    assert rouge_l(count(["", "", "a"], [[""], ["a"], [""]])).tolist() == [1, 0, 0]


@given(words, words)
def test_common_subsequences(a, b):
    @lru_cache
    def longest(i, j):
        if i == len(a) or j == len(b):
            return 0
        return 1 + longest(i + 1, j + 1) if a[i] == b[j] else max(longest(i + 1, j), longest(i, j + 1))

    encoded, length = np.array([ord(word) for word in a + b]), np.array([len(a), len(b)])
    assert common_lengths(encoded, length, np.array([0]), np.array([1])).tolist() == [longest(0, 0)]


@pytest.mark.parametrize("size", [63, 64, 65, 200])
def test_captions_of_any_length(size):
    draw = np.random.default_rng(size)
    candidate, reference = (draw.integers(5, size=n).tolist() for n in (size, 70))
    table = np.zeros((size + 1, 71), int)
    for i in range(size):
        for j in range(70):
            same = candidate[i] == reference[j]
            table[i + 1, j + 1] = table[i, j] + 1 if same else max(table[i, j + 1], table[i + 1, j])
    common = table[-1, -1]
    precision, recall = common / size, common / 70
    wanted = 2.44 * precision * recall / (recall + 1.44 * precision)
    got = rouge_l(count([" ".join(map(str, candidate)), "0"], [[" ".join(map(str, reference))], ["0"]]))
    assert got == pytest.approx([wanted, 1])
