"""METEOR without Java: the statistics that meteor-1.5.jar prints for these captions, and what is refused."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.meteor_package import make_package

from whatchanged.errors import MetricUnavailable, PredictionsError
from whatchanged.evaluation.metrics.meteor import MOST_WORDS, meteor, statistics
from whatchanged.evaluation.metrics.meteor import tables as tables_module
from whatchanged.evaluation.metrics.meteor.formula import score

REFERENCES = [
    ["the big red cube changed to blue", "the red metal block turned blue"],
    ["there is no change", "the scene remains the same"],
    ["the small green sphere has disappeared", "the green ball is gone", "someone removed the green ball"],
]
CANDIDATES = ["the red cube turned blue", "there is no change", "the small green ball is missing"]
# What meteor-1.5.jar answers to SCORE for these three, but for the second one's single chunk.
PRINTED = [
    [5, 6, 1, 1, 3, 3, 1, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 2, 5, 5],
    [4, 4, 3, 3, 1, 1, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 4],
    [6, 5, 2, 2, 2, 2, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 4, 4],
]


SENTENCES = st.lists(
    st.sampled_from(
        ["the", "of", "cube", "cubes", "block", "is", "gone", "has", "vanished", "turned", "red"]
    ),
    max_size=8,
).map(" ".join)


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A reference package with small tables of its own; cube and block are synonyms in it."""
    pytest.importorskip("snowballstemmer", reason="the extra eval is not installed")
    make_package(
        tmp_path,
        senses={"cube": "1 2", "block": "2 3", "ball": "4"},
        paraphrases=[("is gone", "has vanished"), ("turned", "changed to")],
    )
    monkeypatch.setattr(tables_module, "reference_package", lambda metric: tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


def test_what_the_program_prints():
    pytest.importorskip("pycocoevalcap", reason="the extra eval is not installed")
    found = statistics(CANDIDATES, REFERENCES)
    assert found.tolist() == PRINTED
    np.testing.assert_allclose(meteor(found.sum(axis=0)), 0.4208032860, rtol=2e-10)


def test_words_stems_synonyms_and_paraphrases_are_counted_by_hand(package):
    """Caption (4 words, "the" a function word): the exact, cubes by stem, "is gone" as a paraphrase."""
    [found] = statistics(["the cubes is gone"], [["the cube has vanished"]])
    assert found[:4].tolist() == [4, 4, 1, 1]
    by_kind = found[4:20].reshape(4, 2, 2).tolist()  # kind, content or function, side
    assert by_kind == [[[0, 0], [1, 1]], [[1, 1], [0, 0]], [[0, 0], [0, 0]], [[2, 2], [0, 0]]]
    assert found[20:].tolist() == [0, 4, 4]  # whole, in one chunk
    [found] = statistics(["block turned"], [["cube changed to"]])
    assert found[4:20].reshape(4, 2, 2).sum(axis=1).tolist() == [[0, 0], [0, 0], [1, 1], [1, 2]]


def test_the_first_of_equally_good_references_counts(package):
    [found] = statistics(["red"], [["blue sky", "green", "green grass"]])
    assert found[:2].tolist() == [1, 2]
    [found] = statistics(["red"], [["blue sky", "a red"]])
    assert found[[1, 21]].tolist() == [2, 1]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(SENTENCES, st.lists(SENTENCES, min_size=1, max_size=4))
def test_several_references_are_as_good_as_the_first_best_of_them_alone(package, caption, references):
    """References that cannot win are not aligned; here each is."""
    alone = statistics([caption] * len(references), [[reference] for reference in references])
    scores = [score(tuple(int(number) for number in row)) for row in alone]
    [found] = statistics([caption], [references])
    assert found.tolist() == alone[scores.index(max(scores))].tolist()


def test_empty_captions(package):
    found = statistics(["", "red"], [["red"], [""]])
    assert found[:, [0, 1, 21]].tolist() == [[0, 1, 0], [1, 0, 0]]
    assert meteor(found).tolist() == [0, 0]


def test_a_pair_without_references_is_refused():
    with pytest.raises(PredictionsError, match="no references"):
        statistics(["a"], [[]])


def test_a_sentence_that_would_take_too_long(package):
    statistics(["the cube"], [["the cube " * (MOST_WORDS // 2)]])
    with pytest.raises(
        MetricUnavailable, match=f"a sentence has {MOST_WORDS + 1:,} words.*It begins: the the"
    ):
        statistics(["the cube"], [["the " * (MOST_WORDS + 1)]])


def test_missing_extra(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MetricUnavailable, match=r"METEOR .*\[eval\]"):
        statistics(["a"], [["b"]])
