import numpy as np
import pytest

from whatchanged.errors import MetricUnavailable
from whatchanged.evaluation.metrics.additive import mean
from whatchanged.evaluation.metrics.caption_metrics import caption_scores

# The vector V1 of the published scorers (pycocoevalcap 1.2), pair by pair.
CAPTIONS = ("the red cube turned blue", "There is no change.", "the small green ball is missing")
REFERENCES = (
    ("the big red cube changed to blue", "the red metal block turned blue"),
    ("there is no change", "the scene remains the same"),
    ("the small green sphere has disappeared", "the green ball is gone", "someone removed the green ball"),
)


def values(summed):
    return dict(zip(summed.names, summed.values(), strict=True))


def test_the_published_values_of_each_pair():
    scores = caption_scores(CAPTIONS, REFERENCES)
    assert 100 * scores.rouge == pytest.approx([71.5542522, 100, 73.93939394], rel=1e-8)
    assert 100 * scores.cider == pytest.approx([234.3732186, 500, 258.8251527], rel=1e-8)


def test_a_subset_is_a_corpus_of_its_own():
    chosen = np.array([0, 2])
    whole = values(caption_scores(CAPTIONS, REFERENCES).of(chosen))
    alone = caption_scores([CAPTIONS[i] for i in chosen], [REFERENCES[i] for i in chosen])
    assert whole == pytest.approx(values(alone.of(np.arange(2))), rel=1e-12)


def test_document_frequencies_of_the_corpus():
    """Then the mean over subsets is the whole's, which it is not with the subsets' own."""
    parts = [np.array([0, 1]), np.array([2])]
    for frequencies, equal in (("corpus", True), ("subset", False)):
        scores = caption_scores(CAPTIONS, REFERENCES, frequencies=frequencies)
        total = sum(len(part) * values(scores.of(part))["CIDEr-D"] for part in parts)
        assert (abs(total / 3 - values(scores.of(np.arange(3)))["CIDEr-D"]) < 1e-9) == equal


def test_further_metrics_join_the_others_or_say_why_not():
    def words(candidates, references):
        assert candidates[0] == "the red cube turned blue" and len(references[0]) == 2
        return mean("METEOR", np.array([len(c.split()) for c in candidates]) / 10)

    def broken(candidates, references):
        raise MetricUnavailable("SPICE: its jars are missing.")

    scores = caption_scores(CAPTIONS, REFERENCES, further_metrics={"METEOR": words, "SPICE": broken})
    assert values(scores.of(np.arange(3)))["METEOR"] == pytest.approx(100 * (5 + 4 + 6) / 30)
    assert scores.unavailable == {"SPICE": "SPICE: its jars are missing."}
