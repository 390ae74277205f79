import numpy as np
import pytest

from whatchanged.evaluation.io.predictions import Prediction
from whatchanged.evaluation.metrics.additive import joined, mean
from whatchanged.evaluation.metrics.subsets import nested
from whatchanged.evaluation.report.scored import ReportSettings, score
from whatchanged.evaluation.statistics.comparison import compared, over_seeds
from whatchanged.evaluation.statistics.resampling import Sample


@pytest.fixture(scope="module")
def scenes(sampled_scenes):
    """Thirty scenes with both pairs, their truth, and a caption that is right of each."""
    return sampled_scenes(2, 30)


def system(scenes, captions):
    """The numbers of a system with these captions, by their places."""
    records, truths, _ = scenes
    said = [Prediction(r.pair_id, text) for r, text in zip(records, captions, strict=True)]
    return score(records, said, ReportSettings(), truths).samples


def spoilt(captions, share, seed):
    """Some of the captions replaced by one that is seldom right."""
    gone = np.random.default_rng(seed).random(len(captions)) < share
    return ["the cube moved" if out else caption for caption, out in zip(captions, gone, strict=True)]


def test_a_system_against_itself(scenes):
    right = scenes[2]
    same = system(scenes, right)
    blocks = nested(compared(same, same, 50, 0))
    assert set(blocks) == {"overall", "semantic", "distractor", "types", "scene"}
    for cells in (blocks["overall"], blocks["types"]["move"], blocks["scene"]["semantic"]):
        for cell in cells.values():
            assert (cell["difference"], cell["low"], cell["high"], cell["p"]) == (0, 0, 0, 1)


def test_what_one_system_lacks_is_left_out(scenes):
    one = {("overall",): Sample(mean("ROUGE-L", np.array([0.5, 1])), np.arange(2))}
    parts = [mean("ROUGE-L", np.array([0.5, 0.5])), mean("METEOR", np.array([1.0, 1]))]
    other = {("overall",): Sample(joined(parts), np.arange(2))}
    assert list(compared(other, one, 20, 0)["overall",]) == ["ROUGE-L"]
    assert compared(one, other, 20, 0)["overall",]["ROUGE-L"]["difference"] == pytest.approx(25)
    assert list(over_seeds([other, one], 20)["overall",]) == ["ROUGE-L"]


def test_the_better_one_is_found_and_the_sign_is_a_minus_b(scenes):
    right = scenes[2]
    good, poor = (system(scenes, spoilt(right, share, 1)) for share in (0.1, 0.6))
    one, other = nested(compared(good, poor, 500, 0)), nested(compared(poor, good, 500, 0))
    for path in (("overall", "CIDEr-D"), ("semantic", "BLEU-4"), ("distractor", "ROUGE-L")):
        cell, mirror = one[path[0]][path[1]], other[path[0]][path[1]]
        assert cell["difference"] == pytest.approx(cell["a"] - cell["b"])
        assert 0 < cell["low"] < cell["difference"] < cell["high"] and cell["p"] < 0.01
        assert (mirror["difference"], mirror["high"]) == pytest.approx((-cell["difference"], -cell["low"]))
    true = one["scene"]["semantic"]["true"]
    assert true["low"] > 0 and true["p"] < 0.01
    assert one["scene"]["distractor"]["called_none"]["difference"] > 0


def test_the_numbers_of_a_comparison_are_the_reports(scenes):
    right = scenes[2]
    good, poor = (system(scenes, spoilt(right, share, 1)) for share in (0.1, 0.6))
    cell = compared(good, poor, 20, 0)["types", "drop"]["CIDEr-D"]
    for measured, key in ((good, "a"), (poor, "b")):
        own = measured["types", "drop"].numbers
        assert dict(zip(own.names, own.values(), strict=True))["CIDEr-D"] == pytest.approx(cell[key])


def test_seed_variance_is_apart_from_sampling_variance(scenes):
    """Equal seeds: no spread of training, the sampling of one run. Unequal ones: the textbook's spread."""
    right = scenes[2]
    runs = [system(scenes, spoilt(right, 0.3, seed)) for seed in range(3)]
    same = over_seeds([runs[0]] * 3, 300)["overall",]["CIDEr-D"]
    assert same["sd"] == 0 and same["low"] == same["high"] == pytest.approx(same["mean"])
    assert same["sampling_sd"] > 1 and same["sampling_low"] < same["mean"] < same["sampling_high"]
    cell = over_seeds(runs, 300)["overall",]["CIDEr-D"]
    values = [run["overall",].numbers.values()[-1] for run in runs]
    assert (cell["mean"], cell["sd"]) == pytest.approx((np.mean(values), np.std(values, ddof=1)))
    assert cell["high"] - cell["mean"] == pytest.approx(4.302653 * cell["sd"] / 3**0.5)
    # Three seeds average out part of what the draw of scenes does to each.
    assert cell["sampling_sd"] < same["sampling_sd"]
    assert "sampling_sd" not in over_seeds(runs, 0)["overall",]["CIDEr-D"]


def test_shares_of_the_scene_over_seeds(scenes):
    right = scenes[2]
    wrong = [caption if i % 4 else "the cube moved" for i, caption in enumerate(right)]
    results = over_seeds([system(scenes, right), system(scenes, wrong)], 50)
    # Every second pair is unchanged, so that of the 30 changed ones every other has the wrong sentence.
    assert results["scene", "semantic"]["true"]["mean"] == pytest.approx((100 + 50) / 2, abs=4)
    assert results["scene", "types", "move"]["value_right"]["mean"] is None


def test_a_blocks_p_values_are_corrected_for_its_metrics(scenes):
    """Holm's steps over the metrics of one block: the smallest p times their number, and so on."""
    right = scenes[2]
    good, poor = (system(scenes, spoilt(right, share, 1)) for share in (0.3, 0.4))
    report = nested(compared(good, poor, 200, 0))
    for block in (report["overall"], report["types"]["drop"], report["scene"]["semantic"]):
        tested = sorted((c for c in block.values() if c["p"] is not None), key=lambda c: c["p"])
        least = 0
        for i, cell in enumerate(tested):
            least = max(least, min(1, cell["p"] * (len(tested) - i)))
            assert cell["p_holm"] == pytest.approx(least)
        assert len(tested) > 3
        assert all(c["p_holm"] is None for c in block.values() if c["p"] is None)
    assert report["overall"]["CIDEr-D"]["p_holm"] > report["overall"]["CIDEr-D"]["p"]
