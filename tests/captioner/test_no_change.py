"""The share of the no-change sentences, against a chain of words whose probabilities are known."""

import numpy as np
import pytest

from whatchanged.captioner import no_change
from whatchanged.captioner.no_change import sayable, sentences_probability
from whatchanged.vocabulary import BOS, EOS, SPECIALS, Vocabulary

VOCABULARY = Vocabulary((*SPECIALS, "all", "is", "same", "the"))
ALL, IS, SAME, THE = range(6, 10)


def chain(calls):
    """ "all" (q) or "the" (1 - q) first; behind "all" either "same" or "is", half each; all else is sure."""

    def step(previous, position, cache):
        calls.append(len(previous))
        p = np.zeros((len(previous), 10))
        for row, (word, q, seen) in enumerate(zip(previous, cache["q"], cache["seen"], strict=True)):
            assert position == len(seen.split()) + 1
            if word == BOS:
                p[row, ALL], p[row, THE] = q, 1 - q
            elif word == ALL:
                p[row, SAME] = p[row, IS] = 0.5
            else:
                p[row, {THE: SAME, IS: SAME, SAME: EOS, EOS: EOS}[int(word)]] = 1
        seen = np.array([f"{old} {new}" for old, new in zip(cache["seen"], previous, strict=True)], object)
        return np.log(p + 1e-12), None, {**cache, "seen": seen}

    return step


def share(sentences, probabilities, calls=None):
    q = np.array(probabilities)
    cache = {"q": q, "seen": np.full(len(q), "", object)}
    return sentences_probability(chain([] if calls is None else calls), cache, len(q), sentences)


def test_sentences_that_cannot_be_said_do_not_count():
    sentences = ("all same", "all is same", "nothing moved", "the same")
    assert sayable(sentences, VOCABULARY, 10) == [
        [ALL, SAME, EOS],
        [ALL, IS, SAME, EOS],
        [THE, SAME, EOS],
    ]
    assert sayable(sentences, VOCABULARY, 4) == [[ALL, SAME, EOS], [THE, SAME, EOS]]


def test_shares_by_hand():
    """all same: q/2; all is same: q/2; the same: 1 - q."""
    found = share([[ALL, SAME, EOS], [THE, SAME, EOS]], [0.0, 0.2, 1.0])
    assert found == pytest.approx([1.0, 0.9, 0.5])
    assert share([[ALL, SAME, EOS], [ALL, IS, SAME, EOS]], [0.2]) == pytest.approx([0.2])
    assert share([[ALL, SAME]], [0.4]) == pytest.approx([0.2])  # no end, no price of it


def test_no_sentence_has_no_share():
    assert share([], [0.3, 0.4]).tolist() == [0, 0]


def test_pairs_are_read_a_few_at_a_time(monkeypatch):
    monkeypatch.setattr(no_change, "ROWS", 6)
    calls = []
    sentences = [[ALL, SAME, EOS], [THE, SAME, EOS]]
    probabilities = np.linspace(0, 1, 7)
    found = share(sentences, probabilities, calls)
    assert found == pytest.approx(1 - probabilities / 2)
    assert calls == [6, 6, 6, 6, 6, 6, 2, 2, 2]


def test_many_sentences_of_one_pair_are_divided_too(monkeypatch):
    sentences = [[ALL, SAME, EOS], [THE, SAME, EOS], [ALL, IS, SAME, EOS]]
    whole = share(sentences, [0.2, 0.6])
    monkeypatch.setattr(no_change, "ROWS", 2)
    calls = []
    assert share(sentences, [0.2, 0.6], calls) == pytest.approx(whole)
    assert max(calls) == 2
