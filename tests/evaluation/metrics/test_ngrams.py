from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whatchanged.errors import PredictionsError
from whatchanged.evaluation.metrics.bleu import statistics
from whatchanged.evaluation.metrics.cider import cider_d
from whatchanged.evaluation.metrics.ngrams import count

sentences = st.lists(st.sampled_from("abcd"), max_size=8).map(" ".join)
corpora = st.lists(st.tuples(sentences, st.lists(sentences, min_size=1, max_size=3)), min_size=1, max_size=6)


def grams(sentence, n):
    words = sentence.split()
    return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))


def cider_from_the_definition(candidates, references):
    def vector(sentence, n):
        return {
            g: c * (np.log(len(candidates)) - np.log(max(1, used[n][g])))
            for g, c in grams(sentence, n).items()
        }

    used = {
        n: Counter(g for own in references for g in set().union(*(grams(r, n) for r in own)))
        for n in range(1, 5)
    }
    scores = []
    for candidate, own in zip(candidates, references, strict=True):
        total = 0.0
        for reference in own:
            gap = max(len(candidate.split()) - 1, 0) - max(len(reference.split()) - 1, 0)
            for n in range(1, 5):
                c, r = vector(candidate, n), vector(reference, n)
                norm = np.sqrt(sum(v * v for v in c.values())) * np.sqrt(sum(v * v for v in r.values()))
                if norm:
                    total += (
                        sum(min(c[g], r.get(g, 0)) * r.get(g, 0) for g in c) / norm * np.exp(-gap * gap / 72)
                    )
        scores.append(10 * total / 4 / len(own))
    return scores


@given(corpora)
def test_cider_equals_its_definition(corpus):
    candidates, references = zip(*corpus, strict=True)
    wanted = cider_from_the_definition(candidates, references)
    np.testing.assert_allclose(cider_d(count(candidates, references)), wanted, rtol=1e-9, atol=1e-12)


@given(corpora)
def test_correct_ngrams_equal_their_definition(corpus):
    candidates, references = zip(*corpus, strict=True)
    got = statistics(count(candidates, references))
    for row, candidate, own in zip(got, candidates, references, strict=True):
        for n in range(1, 5):
            most = Counter()
            for reference in own:
                most |= grams(reference, n)
            assert row[5 + n] == (grams(candidate, n) & most).total()


@given(corpora, st.randoms())
def test_a_subset_equals_a_corpus_of_its_own(corpus, random):
    candidates, references = zip(*corpus, strict=True)
    chosen = np.array(random.sample(range(len(corpus)), random.randint(1, len(corpus))))
    alone = count([candidates[i] for i in chosen], [references[i] for i in chosen])
    np.testing.assert_allclose(
        cider_d(count(candidates, references), chosen), cider_d(alone), rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize(
    "candidates, references, message",
    [
        ([], [], "No pairs"),
        (["a"], [["a"], ["b"]], "1 candidates but 2 lists"),
        (["a", "b"], [["a"], []], "Pair 1 .* has no references"),
    ],
)
def test_what_cannot_be_scored(candidates, references, message):
    with pytest.raises(PredictionsError, match=message):
        count(candidates, references)
