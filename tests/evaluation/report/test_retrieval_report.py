import json

import numpy as np
import pytest
from support.pair_records import pair_record

from whatchanged.errors import PredictionsError
from whatchanged.evaluation.io.similarity import Similarity
from whatchanged.evaluation.metrics.retrieval import ranks, summary
from whatchanged.evaluation.report.retrieval_report import (
    retrieval,
    retrieval_report,
    retrieval_table,
    spread,
)

IDS = {"pairs": ["a", "b"], "texts": [["a", "x"], ["b", "y"], ["a", "z"]]}


def similarity(matrix, owner, texts=None):
    owner = np.array(owner)
    texts = texts or [f"t{i}" for i in range(len(owner))]
    return Similarity(np.asarray(matrix, float), tuple(map(str, range(len(matrix)))), tuple(texts), owner)


def test_two_pairs_three_texts_by_hand():
    # texts 0 and 1 belong to pair 0, text 2 to pair 1; text 1 looks more like pair 1, text 2 is last there
    got = retrieval(similarity([[0.9, 0.2, 0.3], [0.1, 0.8, 0.4]], [0, 0, 1]))
    for ties in ("optimistic", "expected"):
        assert got["text_to_pair"][ties] == pytest.approx(
            {"R@1": 200 / 3, "R@5": 100, "R@10": 100, "MdR": 1, "MnR": 4 / 3}
        )
        assert got["pair_to_text"][ties] == pytest.approx(
            {"R@1": 50, "R@5": 100, "R@10": 100, "MdR": 1.5, "MnR": 1.5}
        )
    assert (got["text_to_pair"]["queries"], got["pair_to_text"]["queries"]) == (3, 2)


def test_the_codes_way_of_counting_ties():
    """A score found twice in its row counts at both places, in the denominator too."""
    got = retrieval(similarity([[1.0, 1.0], [0.0, 1.0]], [0, 1]))
    assert got["pair_to_text"]["authors"] == pytest.approx(
        {"R@1": 200 / 3, "R@5": 100, "R@10": 100, "MdR": 1, "MnR": 4 / 3}
    )
    assert got["pair_to_text"]["optimistic"]["R@1"] == 100 and "authors" not in got["text_to_pair"]


def test_the_code_sorts_and_looks_for_equals():
    """Written as the code's steps: sort each row, find the own score, count every find."""
    matrix = np.random.default_rng(4).integers(0, 4, (9, 9)).astype(float)
    descending = -np.sort(-matrix, axis=1)
    found = np.nonzero(descending == np.diag(matrix)[:, None])[1] + 1
    got = retrieval(similarity(matrix, range(9)))["pair_to_text"]["authors"]
    assert got["R@5"] == pytest.approx(100 * np.mean(found <= 5))
    assert (got["MdR"], got["MnR"]) == (np.median(found), pytest.approx(found.mean()))


def test_the_median_over_texts_is_the_lower_one_and_over_pairs_the_mean():
    got = retrieval(similarity([[0.5, 0.9], [0.6, 0.8]], [0, 1]))  # text 0 is second at home, text 1 too
    assert (got["text_to_pair"]["optimistic"]["MdR"], got["pair_to_text"]["optimistic"]["MdR"]) == (2, 1.5)
    got = retrieval(similarity([[0.5, 0.7], [0.6, 0.8]], [0, 1]))  # text 0 second, text 1 first
    assert (got["text_to_pair"]["optimistic"]["MdR"], got["pair_to_text"]["optimistic"]["MdR"]) == (1, 1.5)


def test_the_table():
    title, rows = retrieval_table(retrieval(similarity([[0.9, 0.2, 0.3], [0.1, 0.8, 0.4]], [0, 0, 1])))
    assert title == "Retrieval (2 pairs, 3 texts; only the own pair counts)"
    assert rows[0] == ["", "queries", "ties", "R@1", "R@5", "R@10", "MdR", "MnR"]
    assert rows[1] == ["text to pair", "3", "optimistic", "66.7", "100.0", "100.0", "1.0", "1.3"]


def test_equal_texts_count_only_when_asked():
    found = similarity(
        [[0.1, 0.9, 0.2], [0.9, 0.1, 0.1], [0.0, 0.3, 0.9]], [0, 1, 2], ["same", "same", "moved"]
    )
    strict, kind = retrieval(found), retrieval(found, equal_texts=True)
    assert strict["text_to_pair"]["optimistic"]["R@1"] == pytest.approx(100 / 3)
    assert kind["text_to_pair"]["optimistic"]["R@1"] == pytest.approx(100)
    assert kind["pair_to_text"]["optimistic"]["R@1"] == pytest.approx(100)


def test_against_a_data_set(tmp_path):
    path = tmp_path / "s.npy"
    np.save(path, np.eye(2, 3, dtype=np.float32))
    (tmp_path / "s.json").write_text(json.dumps(IDS))

    records = [pair_record("a", ["x", "z"]), pair_record("b", ["y"]), pair_record("c", ["x"])]
    report = retrieval_report(path, records)
    assert report["not_in_the_matrix"] == 1
    assert report["own_pair"]["pair_to_text"]["optimistic"]["R@1"] == 100
    assert report["equal_texts"]["equal_texts_count"] is True
    with pytest.raises(PredictionsError, match=r"1 of its pairs are not in the references \(first: b\)"):
        retrieval_report(path, records[:1])
    with pytest.raises(
        PredictionsError, match=r"1 of its texts are not among their pair's references \(first: a, 'z'\)"
    ):
        retrieval_report(path, [pair_record("a", ["x"]), records[1]])


def test_numbers_that_are_none():
    with pytest.raises(PredictionsError, match="no finite numbers"):
        retrieval(similarity([[0.1, np.nan], [0.1, 0.2]], [0, 1]))


def test_intervals_by_hand():
    """Two scenes of one query each, at ranks 1 and 12: drawn are (1, 1), (1, 12), (12, 12)."""
    scores = np.zeros((2, 12))
    scores[0, 0], scores[1, 0] = 1, -1  # the second is below all of the eleven others
    results = spread(ranks(scores, [[0], [0]]), ["a", "b"], 2000)
    wanted = {"R@1": [0, 100], "R@5": [0, 100], "R@10": [0, 100], "MdR": [1, 12], "MnR": [1, 12]}
    assert results == {"optimistic": wanted, "expected": wanted}
    alone = spread(ranks(scores, [[0], [0]]), ["a", "a"], 2000)["optimistic"]
    assert alone == dict.fromkeys(wanted)


@pytest.mark.parametrize("of_texts", [True, False])
def test_intervals_against_drawing_the_queries_themselves(of_texts):
    """Each draw's queries are put together and scored anew; 12 scenes of one to three queries."""
    rng = np.random.default_rng(5)
    scenes = np.repeat([f"s{i:02d}" for i in range(12)], rng.integers(1, 4, 12))
    scores = rng.integers(0, 6, (len(scenes), 20)).astype(float)  # many ties
    right = rng.integers(0, 20, (len(scenes), 1)).tolist()
    got = spread(ranks(scores, right), scenes.tolist(), 200, seed=3, of_texts=of_texts)
    draws = {"optimistic": [], "expected": []}
    for row in np.random.default_rng(3).integers(12, size=(200, 12)):
        queries = np.concatenate([np.flatnonzero(scenes == f"s{k:02d}") for k in row])
        drawn = summary(ranks(scores[queries], [right[q] for q in queries]), of_texts)
        for ties, own in draws.items():
            own.append(drawn[ties])
    for ties, own in draws.items():
        for name, (low, high) in got[ties].items():
            ends = np.quantile([numbers[name] for numbers in own], (0.025, 0.975))
            assert (low, high) == pytest.approx(tuple(ends)), (ties, name)


def test_intervals_stand_beside_both_directions_and_in_the_table():
    found = similarity([[0.9, 0.2, 0.3], [0.1, 0.8, 0.4]], [0, 0, 1])
    got = retrieval(found, scenes=["a", "b"], resamples=500)
    # scene a: its texts at ranks 1 and 2, its pair at 1; scene b: its text at 1, its pair at 2
    assert got["text_to_pair"]["intervals"]["optimistic"]["R@1"] == [50, 100]
    assert got["pair_to_text"]["intervals"]["optimistic"]["R@1"] == [0, 100]
    rows = retrieval_table(got)[1]
    assert rows[1][3] == "66.7 (50-100)"
    assert next(row for row in rows if row[2] == "authors")[3] == "50.0"
    assert "intervals" not in retrieval(found)["text_to_pair"]
