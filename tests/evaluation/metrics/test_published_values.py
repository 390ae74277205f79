"""BLEU, ROUGE-L and CIDEr-D against numbers that the reference implementation (pycocoevalcap 1.2) printed."""

import numpy as np
import pytest

from whatchanged.evaluation.metrics.bleu import bleu, statistics
from whatchanged.evaluation.metrics.cider import cider_d
from whatchanged.evaluation.metrics.ngrams import count
from whatchanged.evaluation.metrics.rouge import rouge_l

REFERENCES = [
    ["the big red cube changed to blue", "the red metal block turned blue"],
    ["there is no change", "the scene remains the same"],
    ["the small green sphere has disappeared", "the green ball is gone", "someone removed the green ball"],
]
CANDIDATES = ["the red cube turned blue", "there is no change", "the small green ball is missing"]


def scores(candidates, references):
    """(BLEU-1..4, ROUGE-L, CIDEr-D) of the corpus, then of each pair."""
    corpus = count(candidates, references)
    counts, rouge, cider = statistics(corpus), rouge_l(corpus), cider_d(corpus)
    whole = [*bleu(counts.sum(axis=0)), rouge.mean(), cider.mean()]
    return np.array(whole), np.column_stack([bleu(counts), rouge, cider])


def close(values, wanted):
    # The stored numbers have ten significant digits.
    np.testing.assert_allclose(values, wanted, rtol=2e-9, atol=1e-12)


def test_three_pairs():
    whole, pairs = scores(CANDIDATES, REFERENCES)
    close(whole, [0.8731398526, 0.8250396106, 0.6565553914, 0.4583291452, 0.8183121538, 3.310661238])
    close(pairs[0], [0.8187307528, 0.7090416307, 5.157680548e-06, 1.5394607e-08, 0.715542522, 2.343732186])
    close(pairs[1], [0.9999999995, 0.9999999995, 0.9999999994, 0.9999999992, 1, 5])
    close(pairs[2], [0.8333333331, 0.8164965806, 0.6933612741, 0.0001026690096, 0.7393939394, 2.588251527])


@pytest.mark.parametrize(
    "candidate, references, wanted",
    [
        ("", None, [0.4939304724, 0.4870220137, 0.4427342074, 0.3303300923, 0.5797979798, 2.529417176]),
        ("cube", None, [0.577033108, 0.566110358, 0.5137692651, 0.3830094122, 0.6532035153, 2.632590136]),
        (
            "red cube",
            None,
            [0.6568203679, 0.6467919871, 0.5846434096, 0.4349727889, 0.7144558164, 2.925120061],
        ),
        (
            "cube",
            ["cube"],
            [0.9090909089, 0.8918825848, 0.8094214382, 0.6034148991, 0.9131313131, 3.375777104],
        ),
        (
            None,
            REFERENCES[0][:1],
            [0.7584835431, 0.665234074, 0.5562715399, 0.3980621051, 0.7955362645, 3.173061069],
        ),
        (
            None,
            REFERENCES[0][:1] * 3,
            [0.7584835431, 0.665234074, 0.5562715399, 0.3980621051, 0.7955362645, 3.173061069],
        ),
        (
            None,
            [*REFERENCES[0], ""],
            [0.8731398526, 0.8250396106, 0.6565553914, 0.4583291452, 0.8183121538, 3.05024655],
        ),
        (None, [""], [0.6, 0.5916079783, 0.5378095486, 0.4012671145, 0.5797979798, 2.542443771]),
        ("", [""], [0.8999999998, 0.8874119673, 0.8067143228, 0.6019006716, 0.9131313131, 2.542443771]),
        (
            "the the the the",
            None,
            [0.6191984997, 0.5844489607, 0.5290219665, 0.4002692808, 0.6441439714, 2.529417176],
        ),
        (
            "The red cube turned blue.",
            None,
            [0.7484055879, 0.6831977044, 0.57896517, 0.4170741509, 0.6990550668, 2.918163665],
        ),
        (
            "the red  cube turned blue",
            None,
            [0.8731398526, 0.8250396106, 0.6565553914, 0.4583291452, 0.802020202, 3.310661238],
        ),
        (
            "the red ||| cube turned blue",
            None,
            [0.8749999999, 0.7783117824, 0.6234319667, 0.4313375729, 0.802020202, 3.171153794],
        ),
    ],
)
def test_odd_captions(candidate, references, wanted):
    candidates = [CANDIDATES[0] if candidate is None else candidate, *CANDIDATES[1:]]
    whole, _ = scores(candidates, [references or REFERENCES[0], *REFERENCES[1:]])
    close(whole, wanted)


def test_nothing_said_at_all():
    whole, _ = scores(["", "", ""], REFERENCES)
    np.testing.assert_allclose(whole, 0, atol=1e-12)


def test_one_pair_scores_zero_cider():
    whole, _ = scores(CANDIDATES[:1], REFERENCES[:1])
    close(whole, [0.8187307528, 0.7090416307, 5.157680548e-06, 1.5394607e-08, 0.715542522, 0])


def test_perfect_captions():
    sentences = ["the red cube moved", "a blue ball vanished"]
    whole, _ = scores(sentences, [[s] for s in sentences])
    close(whole, [0.9999999998, 0.9999999997, 0.9999999997, 0.9999999996, 1, 10])


def test_words_that_every_pair_has_weigh_nothing():
    whole, _ = scores(["no change"] * 2, [["no change"]] * 2)
    close(whole, [0.9999999995, 0.9999999994, 0.009999999995, 0.0009999999996, 1, 0])


def test_other_scripts():
    whole, pairs = scores(
        ["la voiture a été déplacée", "赤い 立方体 が 消え た"],
        [["la voiture a été déplacée à gauche"], ["赤い 立方体 が 動い た"]],
    )
    close(whole, [0.7368576776, 0.6726559528, 0.6274010985, 0.5638800545, 0.8045092838, 5.758523855])
    close(pairs[:, 4], [0.8090185676, 0.8])
    close(pairs[:, 5], [7.433714378, 4.083333333])


def test_document_frequencies_change_with_the_corpus():
    candidates = ["the cube moved", "the cube is gone", "no change was made"]
    references = [
        ["the cube moved", "the block moved"],
        ["the ball is gone"],
        ["no change was made", "nothing changed"],
    ]
    whole, pairs = scores(candidates, references)
    np.testing.assert_allclose(pairs[:, 5], [4.414852, 2.536194, 5.0], atol=5e-7)
    np.testing.assert_allclose(pairs[:, 4], [1, 0.75, 1])
    np.testing.assert_allclose(whole[:4], [0.909091, 0.825723, 0.742346, 0.672508], atol=5e-7)
    _, fewer = scores(candidates[:2], references[:2])
    np.testing.assert_allclose(fewer[:, 5], [4.375, 2.5])
    np.testing.assert_allclose(cider_d(count(candidates, references), np.array([0, 1])), [4.375, 2.5])
