"""Pictures made worse, and what is counted of what is then said."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from whatchanged.captioner.description import Description
from whatchanged.evaluation.metrics.truth import Truths
from whatchanged.records import PairRecord
from whatchanged.synth.clevr.sampling import sample_triple
from whatchanged.worlds import find_world
from whatchanged.worlds.clevr.language import NO_CHANGE, write_fixed

SCRIPT = "clevr.worse_pictures"


def test_each_way_changes_a_picture_and_the_same_seed_changes_it_alike(bench):
    values = np.random.default_rng(0).integers(40, 200, (30, 60, 3), dtype=np.uint8)
    picture = Image.fromarray(values)
    for name, worsen in bench.WORSE.items():
        once, twice = (np.asarray(worsen(picture, np.random.default_rng(1))) for _ in range(2))
        assert np.array_equal(once, twice)
        assert np.array_equal(once, values) == (name == "as they are"), name


@pytest.mark.parametrize(
    ("name", "pixel", "wanted"),
    [
        ("light x 0.6", (100, 50, 200), (60, 30, 120)),
        ("light x 1.4", (100, 50, 200), (140, 70, 255)),
        ("warm", (100, 50, 200), (110, 50, 170)),
        ("gamma 1.4", (100, 51, 255), (69, 27, 255)),  # 255 (100 / 255)^1.4 = 68.7, 255 x 0.2^1.4 = 26.8
        ("saturation x 0.5", (200, 100, 100), (165, 115, 115)),  # half way to the luma, 130
    ],
)
def test_values_by_hand(bench, name, pixel, wanted):
    worse = bench.WORSE[name](Image.new("RGB", (4, 4), pixel), np.random.default_rng(0))
    assert worse.getpixel((2, 2)) == wanted


def test_frames_by_hand(bench):
    picture, rng = Image.new("RGB", (60, 30)), np.random.default_rng(0)
    assert bench.WORSE["10 % cropped on each side"](picture, rng).size == (48, 24)
    assert bench.WORSE["a third of the size"](picture, rng).size == (20, 10)


def test_scores_by_hand(bench):
    """Four scenes: their changes said rightly but for one called none, one distractor called changed."""
    records, truths, results = [], {}, []
    for index in range(4):
        first, second = sample_triple(3, index).pairs()
        right = write_fixed(*first, "full")
        said = (
            (NO_CHANGE[0] if index == 0 else right, 0.6 if index == 0 else 0.1),
            (right if index == 1 else NO_CHANGE[0], 0.5 if index == 1 else 0.9),
        )
        for name, truth, (sentence, no_change) in zip(("", "_n"), (first, second), said, strict=True):
            records.append(
                PairRecord(
                    "clevr_change", f"{index}{name}", str(index), "test", "pair_caption", Path(), Path()
                )
            )
            truths[records[-1].pair_id] = truth
            results.append(
                Description(sentence, no_change, np.zeros(0), (), True, False, (0.2, 1.0 + 0.1 * index))
            )
    # type right, fits, alone, true, called none; recall; 15 of 16 orders right; above 1: all but the first's
    wanted = dict(zip(bench.COLUMNS, (*[75.0] * 4, 25.0, 75.0, 93.75, 6, 0), strict=True))
    assert bench.scores(records, Truths(find_world("clevr"), truths), results) == wanted


def test_sentences_that_contradict_themselves_are_counted(bench):
    first, second = sample_triple(3, 0).pairs()
    records = [
        PairRecord("clevr_change", f"0{name}", "0", "test", "pair_caption", Path(), Path())
        for name in ("", "_n")
    ]
    truths = Truths(find_world("clevr"), {"0": first, "0_n": second})
    results = [
        Description(sentence, 0.1, np.zeros(0), (), True, False, (0.2, 0.5))
        for sentence in (
            "the small brown rubber cube changed to brown",
            "the small brown rubber cube changed to red",
        )
    ]
    assert bench.scores(records, truths, results)["contradictory"] == 1
