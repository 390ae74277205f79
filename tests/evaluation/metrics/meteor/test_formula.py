"""METEOR's formula, on statistics that the original program printed."""

import numpy as np

from whatchanged.evaluation.metrics.meteor.formula import meteor, score, without_needless_chunks

# What meteor-1.5.jar answers to SCORE for the three captions of test_statistics.py.
PRINTED = np.array(
    [
        [5, 6, 1, 1, 3, 3, 1, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 2, 5, 5],
        [4, 4, 3, 3, 1, 1, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 4, 4],
        [6, 5, 2, 2, 2, 2, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 4, 4],
    ],
    float,
)


def test_the_formula_on_printed_statistics():
    totals = without_needless_chunks(PRINTED)
    assert totals[:, 20].tolist() == [2, 0, 2] and PRINTED[1, 20] == 1
    np.testing.assert_allclose(meteor(totals), [0.3990870828, 1, 0.3337429953], rtol=2e-10)
    np.testing.assert_allclose(meteor(totals.sum(axis=0)), 0.4208032860, rtol=2e-10)


def test_nothing_matched_is_zero():
    assert meteor(np.zeros((2, 23))).tolist() == [0, 0]


def test_the_score_of_one_reference_is_the_formula():
    scores = [score(tuple(map(int, row))) for row in PRINTED]
    np.testing.assert_allclose(scores, meteor(without_needless_chunks(PRINTED)), rtol=1e-14)
    assert score((0,) * 23) == score((3, 2, 1, 1, *[0] * 19)) == 0
