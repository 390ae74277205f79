"""Floors and ceilings of the development renders, as their README states them (made with the COCO code)."""

import os
from pathlib import Path

import numpy as np
import pytest

from whatchanged.datasets import open_dataset
from whatchanged.evaluation.metrics.scene_grading import GRADES, block, graded, scene_truths
from whatchanged.evaluation.report.breakdown import score, subsets
from whatchanged.worlds.clevr.grading import judge

ROOT = Path(
    os.environ.get("BLENDER_DEV", Path(__file__).resolve().parents[2] / "../shared/data/blender_clevr_dev")
)
METRICS = ("BLEU-4", "ROUGE-L", "CIDEr-D")


@pytest.fixture(scope="module")
def records():
    if not ROOT.is_dir():
        pytest.skip("the development renders are not here")
    return open_dataset(ROOT, pictures=False).records


def scores_of(captions, references, chosen):
    scored = score(captions, references, "ptb")
    summed = {name: scored.of(pairs) for name, pairs in chosen.items()}
    return {name: dict(zip(s.names, s.of(), strict=True)) for name, s in summed.items()}


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


def test_every_reference_is_true_of_its_scene(records):
    truths = scene_truths(ROOT)
    assert [
        (r.pair_id, c) for r in records for c in r.captions if not judge(c, *truths[r.pair_id]).true
    ] == []
    for k in range(5):
        shares = block(graded(records, [r.captions[k] for r in records], truths), {})
        for name in ("type_right", "value_right", "fits", "fits_alone", "true"):
            assert shares["semantic"][name]["percent"] == 100
        assert shares["semantic"]["called_none"]["percent"] == 0
        assert shares["distractor"]["called_none"]["percent"] == 100


def test_sentences_of_other_pairs_are_seldom_true(records):
    changed = [r for r in records if r.changed]
    shifted = [changed[i - 5].captions[0] for i in range(len(changed))]  # the same type, another scene
    semantic = block(graded(changed, shifted, scene_truths(ROOT)), {})["semantic"]
    assert semantic["type_right"]["percent"] == 100
    assert semantic["true"]["percent"] < 30


def test_shuffled_references_are_as_true_as_a_permutation_predicts(records):
    """Over all permutations pair i gets each caption j equally often: the mean over i, j of "j suits i"."""
    truths = scene_truths(ROOT)
    captions = [r.captions[0] for r in records]
    each = [graded(records, [caption] * len(records), truths) for caption in captions]
    hits = np.mean([g.hits & g.counted for g in each], axis=0).sum(axis=0)
    counted = each[0].counted.sum(axis=0)
    expected = dict(zip(GRADES, 100 * hits / counted, strict=True))
    drawn = {name: [] for name in GRADES}
    rng = np.random.default_rng(0)
    for _ in range(200):
        g = graded(records, [captions[j] for j in rng.permutation(len(records))], truths)
        for name, share in zip(GRADES, 100 * (g.hits & g.counted).sum(axis=0) / counted, strict=True):
            drawn[name].append(share)
    for name in GRADES:
        error = np.std(drawn[name]) / 200**0.5
        assert np.mean(drawn[name]) == pytest.approx(expected[name], abs=3.5 * error), name
    assert expected["true"] < 5 and 49 < expected["called_none"] < 51
