from pathlib import Path

import numpy as np
import pytest

from whatchanged.errors import MetricUnavailable
from whatchanged.evaluation.io.predictions import Prediction
from whatchanged.evaluation.metrics.additive import mean
from whatchanged.evaluation.report.report import Settings, evaluate_records
from whatchanged.evaluation.statistics.comparison import compared, measure, over_seeds
from whatchanged.records import PairRecord
from whatchanged.worlds.clevr.language import write_captions
from whatchanged.worlds.clevr.sampling import sample_triple


@pytest.fixture(scope="module")
def world():
    """Thirty scenes with both pairs, their truth, and a caption that is right of each."""
    records, truths, right = [], {}, []
    rng = np.random.default_rng(0)
    for i in range(30):
        for end, truth in zip(("", "_n"), sample_triple(2, i).pairs(), strict=True):
            name, kind = f"{i:06d}.png{end}", truth[2].type
            truths[name] = truth
            sentence, *references = write_captions(*truth, rng)
            right.append(sentence)
            records.append(
                PairRecord("clevr_change", name, name[:6], "test", "pair_caption", Path("a"), Path("b"),
                    tuple(references), changed=kind != "none", change_type=kind)
            )  # fmt: skip
    return records, truths, right


def spoilt(captions, share, seed):
    """Some of the captions replaced by one that is seldom right."""
    gone = np.random.default_rng(seed).random(len(captions)) < share
    return ["the cube moved" if out else caption for caption, out in zip(captions, gone, strict=True)]


def test_a_system_against_itself(world):
    records, truths, right = world
    system = measure(records, right, truths)
    blocks = compared(system, system, 50, 0)
    assert set(blocks) == {"overall", "semantic", "distractor", "types", "scene"}
    for cells in (blocks["overall"], blocks["types"]["move"], blocks["scene"]["semantic"]):
        for cell in cells.values():
            assert (cell["difference"], cell["low"], cell["high"], cell["p"]) == (0, 0, 0, 1)


def test_a_program_that_fails_for_one_system_leaves_the_rest_comparable(world):
    records, truths, right = world
    asked = []

    def fails_once(candidates, references):
        asked.append(candidates)
        if len(asked) == 2:
            raise MetricUnavailable("METEOR: no memory left.")
        return mean("METEOR", np.ones(len(candidates)))

    own = [Prediction(r.pair_id, text) for r, text in zip(records, right, strict=True)]
    report = evaluate_records(
        records, own, truths, Settings(resamples=20, programs={"METEOR": fails_once}), other=own
    )
    assert report["overall"]["METEOR"] == 100 and "METEOR" not in report["comparison"]["overall"]
    assert report["comparison"]["overall"]["CIDEr-D"]["difference"] == 0
    assert any("METEOR is not compared" in text and "no memory left" in text for text in report["warnings"])
    one = measure(records, right, truths, programs={"METEOR": fails_once})
    other = measure(records, right, truths)
    assert "METEOR" in one.blocks["overall",].summed.names
    assert "METEOR" not in over_seeds([one, other], 10)["overall"]


def test_the_better_one_is_found_and_the_sign_is_a_minus_b(world):
    records, truths, right = world
    good, poor = (measure(records, spoilt(right, share, 1), truths) for share in (0.1, 0.6))
    one, other = compared(good, poor, 500, 0), compared(poor, good, 500, 0)
    for path in (("overall", "CIDEr-D"), ("semantic", "BLEU-4"), ("distractor", "ROUGE-L")):
        cell, mirror = one[path[0]][path[1]], other[path[0]][path[1]]
        assert cell["difference"] == pytest.approx(cell["a"] - cell["b"])
        assert 0 < cell["low"] < cell["difference"] < cell["high"] and cell["p"] < 0.01
        assert (mirror["difference"], mirror["high"]) == pytest.approx((-cell["difference"], -cell["low"]))
    true = one["scene"]["semantic"]["true"]
    assert true["low"] > 0 and true["p"] < 0.01
    assert one["scene"]["distractor"]["called_none"]["difference"] > 0


def test_the_numbers_of_a_comparison_are_the_reports(world):
    records, truths, right = world
    good, poor = (measure(records, spoilt(right, share, 1), truths) for share in (0.1, 0.6))
    cell = compared(good, poor, 20, 0)["types"]["drop"]["CIDEr-D"]
    for system, key in ((good, "a"), (poor, "b")):
        block = system.blocks["types", "drop"].summed
        assert dict(zip(block.names, block.of(), strict=True))["CIDEr-D"] == pytest.approx(cell[key])


def test_seed_variance_is_apart_from_sampling_variance(world):
    """Equal seeds: no spread of training, the sampling of one run. Unequal ones: the textbook's spread."""
    records, truths, right = world
    runs = [measure(records, spoilt(right, 0.3, seed), truths) for seed in range(3)]
    same = over_seeds([runs[0]] * 3, 300)["overall"]["CIDEr-D"]
    assert same["sd"] == 0 and same["low"] == same["high"] == pytest.approx(same["mean"])
    assert same["sampling_sd"] > 1 and same["sampling_low"] < same["mean"] < same["sampling_high"]
    cell = over_seeds(runs, 300)["overall"]["CIDEr-D"]
    values = [run.blocks[("overall",)].summed.of()[-1] for run in runs]
    assert (cell["mean"], cell["sd"]) == pytest.approx((np.mean(values), np.std(values, ddof=1)))
    assert cell["high"] - cell["mean"] == pytest.approx(4.302653 * cell["sd"] / 3**0.5)
    # Three seeds average out part of what the draw of scenes does to each.
    assert cell["sampling_sd"] < same["sampling_sd"]
    assert "sampling_sd" not in over_seeds(runs, 0)["overall"]["CIDEr-D"]


def test_shares_of_the_scene_over_seeds(world):
    records, truths, right = world
    runs = [measure(records, spoilt(right, share, 5), truths) for share in (0.0, 0.5)]
    cell = over_seeds(runs, 50)["scene"]["semantic"]["true"]
    shares = [run.graded.shares(run.graded.subsets({})["semantic"])["true"]["percent"] for run in runs]
    assert shares[0] == 100 and cell["mean"] == pytest.approx(np.mean(shares))
    assert over_seeds(runs, 50)["scene"]["types"]["move"]["value_right"]["mean"] is None


def test_a_blocks_p_values_are_corrected_for_its_metrics(world):
    """Holm's steps over the metrics of one block: the smallest p times their number, and so on."""
    records, truths, right = world
    good, poor = (measure(records, spoilt(right, share, 1), truths) for share in (0.3, 0.4))
    report = compared(good, poor, 200, 0)
    for block in (report["overall"], report["types"]["drop"], report["scene"]["semantic"]):
        tested = sorted((c for c in block.values() if c["p"] is not None), key=lambda c: c["p"])
        least = 0
        for i, cell in enumerate(tested):
            least = max(least, min(1, cell["p"] * (len(tested) - i)))
            assert cell["p_holm"] == pytest.approx(least)
        assert len(tested) > 3
        assert all(c["p_holm"] is None for c in block.values() if c["p"] is None)
    assert report["overall"]["CIDEr-D"]["p_holm"] > report["overall"]["CIDEr-D"]["p"]
