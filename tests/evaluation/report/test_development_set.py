"""Floors and ceilings of the development renders, as their README states them (made with the COCO code)."""

import os
from pathlib import Path

import numpy as np
import pytest

from whatchanged.datasets import open_dataset
from whatchanged.evaluation.metrics.caption_metrics import caption_scores
from whatchanged.evaluation.metrics.subsets import subsets
from whatchanged.evaluation.metrics.truth import judged, read_truths

ROOT = Path(
    os.environ.get("BLENDER_DEV", Path(__file__).resolve().parents[3] / "../shared/data/blender_clevr_dev")
)
METRICS = ("BLEU-4", "ROUGE-L", "CIDEr-D")


@pytest.fixture(scope="module")
def records():
    if not ROOT.is_dir():
        pytest.skip("the development renders are not here")
    return open_dataset(ROOT, pictures=False).records


def scores_of(captions, references, chosen):
    scores = caption_scores(captions, references)
    summed = {place[-1]: scores.of(pairs) for place, pairs in chosen.items()}
    return {name: dict(zip(s.names, s.values(), strict=True)) for name, s in summed.items()}


def test_the_constant_no_change_sentence(records):
    got = scores_of(["there is no change"] * 200, [r.captions for r in records], subsets(records))
    wanted = {
        "overall": (32.5, 50.4, 91.2),
        "semantic": (0.0, 12.5, 3.2),
        "distractor": (81.4, 88.4, 122.8),
        "color": (0.0, 7.1, 0.1),
        "material": (0.0, 7.7, 0.0),
        "add": (0.0, 6.3, 0.1),
        "drop": (0.0, 28.7, 0.6),
        "move": (0.0, 12.4, 0.0),
    }
    assert {name: tuple(round(got[name][m], 1) for m in METRICS) for name in wanted} == wanted


def test_the_best_constant_change(records):
    sentence = "the small yellow matte cylinder that is behind the purple rubber thing became red"
    got = scores_of([sentence] * 200, [r.captions for r in records], subsets(records))
    wanted = {
        "semantic": (18.5, 44.8, 46.8),
        "color": (23.9, 45.4, 79.6),
        "material": (21.2, 51.4, 60.3),
        "add": (18.9, 40.8, 38.3),
        "drop": (13.0, 44.2, 32.5),
        "move": (13.5, 42.3, 28.8),
    }
    assert {name: tuple(round(got[name][m], 1) for m in METRICS) for name in wanted} == wanted


def test_one_reference_against_the_others(records):
    chosen = subsets(records)
    runs = [
        scores_of(
            [r.captions[k] for r in records], [r.captions[:k] + r.captions[k + 1 :] for r in records], chosen
        )
        for k in range(5)
    ]
    wanted = {
        "overall": (37.9, 56.0, 83.5),
        "semantic": (43.8, 69.0, 134.7),
        "distractor": (0.0, 43.1, 9.7),
        "move": (50.8, 70.3, 143.9),
    }
    got = {name: tuple(round(sum(run[name][m] for run in runs) / 5, 1) for m in METRICS) for name in wanted}
    assert got == wanted


def percents(found, *place):
    """Grade -> share in percent, of one subset."""
    counts = found.counts(found.subsets({})[place])
    return {name: 100 * hits / of for name, (hits, of) in counts.items()}


def test_every_reference_is_true_of_its_scene(records):
    truths = read_truths(ROOT, records)
    wrong = [
        (r.pair_id, caption)
        for r in records
        for caption in r.captions
        if not truths.world.language.judge(caption, truths.by_id[r.pair_id]).true
    ]
    assert wrong == []
    for k in range(5):
        found = judged(records, [r.captions[k] for r in records], truths)
        assert set(percents(found, "semantic").values()) == {100, 0}
        assert percents(found, "semantic")["called_none"] == 0
        assert percents(found, "distractor") == {"called_none": 100}


def test_sentences_of_other_pairs_are_seldom_true(records):
    changed = [r for r in records if r.changed]
    shifted = [changed[i - 5].captions[0] for i in range(len(changed))]  # the same type, another scene
    found = percents(judged(changed, shifted, read_truths(ROOT, records)), "semantic")
    assert found["type_right"] == 100
    assert found["true"] < 30


def test_shuffled_references_are_as_true_as_a_permutation_predicts(records):
    """Over all permutations pair i gets each caption j equally often: the mean over i, j of "j suits i"."""
    truths = read_truths(ROOT, records)
    grades = truths.world.breakdown.grades
    captions = [r.captions[0] for r in records]
    each = [judged(records, [caption] * len(records), truths) for caption in captions]
    applies = each[0].applies
    hits = np.mean([found.right & applies for found in each], axis=0).sum(axis=0)
    expected = dict(zip(grades, 100 * hits / applies.sum(axis=0), strict=True))
    drawn = {name: [] for name in grades}
    rng = np.random.default_rng(0)
    for _ in range(200):
        right = judged(records, [captions[j] for j in rng.permutation(len(records))], truths).right
        shares = 100 * (right & applies).sum(axis=0) / applies.sum(axis=0)
        for name, share in zip(grades, shares, strict=True):
            drawn[name].append(share)
    for name in grades:
        error = np.std(drawn[name]) / 200**0.5
        assert np.mean(drawn[name]) == pytest.approx(expected[name], abs=3.5 * error), name
    assert expected["true"] < 5 and 49 < expected["called_none"] < 51
