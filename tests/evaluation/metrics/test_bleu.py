import numpy as np

from whatchanged.evaluation.metrics.bleu import bleu, statistics
from whatchanged.evaluation.metrics.ngrams import count


def test_statistics_by_hand():
    # "a b a": the reference of 2 words and that of 4 are equally near, the shorter counts. Word a is correct
    # twice (second reference), b once; all longer n-grams in the second.
    got = statistics(count(["a b a"], [["a b", "a a b a"]]))
    np.testing.assert_array_equal(got, [[3, 2, 3, 2, 1, 0, 3, 2, 1, 0]])
    assert statistics(count(["a b a"], [["b a a b", "b a"]]))[0, 1] == 2


def test_short_candidates_pay():
    totals = np.array([2.0, 4, 2, 1, 0, 0, 2, 1, 0, 0])
    np.testing.assert_allclose(bleu(totals)[:2], np.exp(1 - 4 / 2), rtol=1e-8)
