"""Scores of pairs kept as text: what they say of seeds and of two rows, worked out by hand."""

import pytest

SCRIPT = "learning.scores"
SCENES = 12
PAIRS = {
    "kinds": " ".join(["color none", "move none"] * (SCENES // 2)),
    "scenes": " ".join(f"{scene} {scene}" for scene in range(SCENES)),
}


def run(seed, true):
    """A run whose wholly true sentences are these of the changed pairs."""
    cider = " ".join("100.0" for _ in range(2 * SCENES))
    outcomes = {"wholly true": true, "no change told": "1" * SCENES, "CIDEr-D": cider}
    share = {"mean": 100 * true.count("1") / SCENES}
    return {"seed": seed, "tests": {"near": {"scores": {"wholly true": share}, "outcomes": outcomes}}}


def test_a_sample_has_the_pairs_that_its_score_covers(bench):
    outcomes = run(1, "10" * 6)["tests"]["near"]["outcomes"]
    true = bench.sample(PAIRS, outcomes, "wholly true")
    assert true.numbers.values() == 50 and list(true.groups) == list(range(SCENES))
    assert bench.sample(PAIRS, outcomes, "wholly true", "color").numbers.values() == 100
    every = bench.sample(PAIRS, outcomes, "CIDEr-D")
    assert every.numbers.values() == pytest.approx(100) and len(every.groups) == 2 * SCENES


def test_a_row_that_is_right_wherever_the_other_is_wrong(bench):
    """All of 12 against none: only the two exchanges of all scenes or none, 2 of 4096, are as far apart."""
    rows = {"one": [run(1, "1" * SCENES)], "other": [run(1, "0" * SCENES)], "same": [run(1, "0" * SCENES)]}
    found = bench.paired(rows, (("one", "other"), ("other", "same")), "near", PAIRS, "wholly true")
    first, second = found["one", "other"], found["other", "same"]
    assert first["difference"] == first["low"] == first["high"] == 100
    assert first["p"] < 0.01 and second["p"] == second["p_holm"] == 1 and second["difference"] == 0
    assert first["p_holm"] == pytest.approx(2 * first["p"])


def test_rows_are_compared_by_the_seeds_that_both_have(bench):
    """The mean of seeds 2 and 3: half and all against none and half."""
    half = "10" * 6
    one = [run(seed, true) for seed, true in ((1, "0" * SCENES), (2, half), (3, "1" * SCENES))]
    other = [run(2, "0" * SCENES), run(3, half)]
    (found,) = bench.paired({"a": one, "b": other}, (("a", "b"),), "near", PAIRS, "wholly true").values()
    assert found["seeds"] == 2 and found["difference"] == 50


def test_rows_that_were_not_run_are_not_compared(bench):
    assert bench.paired({"a": [run(1, "1" * SCENES)]}, (("a", "b"),), "near", PAIRS, "wholly true") == {}


def test_outcomes_say_what_the_report_says(bench):
    """A set whose first sentence is true and whose others see no change."""
    from pathlib import Path

    import numpy as np

    from whatchanged.evaluation.metrics.truth import Truths
    from whatchanged.records import PairRecord
    from whatchanged.synth.clevr.sampling import sample_triple
    from whatchanged.worlds import find_world
    from whatchanged.worlds.clevr.language import NO_CHANGE, write_captions

    rng, records, truths = np.random.default_rng(0), [], {}
    for triple in (sample_triple(2, i) for i in range(5)):
        for end, truth in zip(("", "_n"), triple.pairs(), strict=True):
            name = f"{triple.index}{end}"
            truths[name] = truth
            kind, path = truth[2].type, Path(name)
            captions = tuple(write_captions(*truth, rng))
            records.append(
                PairRecord(
                    *("clevr_change", name, str(triple.index), "test", "pair_caption", path, path, captions),
                    changed=kind != "none",
                    change_type=kind,
                )
            )
    known = Truths(find_world("clevr"), truths)
    said = [records[0].captions[0], *[NO_CHANGE[0]] * 9]
    outcomes, pairs = bench.outcomes_of(said, records, known), bench.pairs_of(records, known)
    assert (outcomes["wholly true"], outcomes["no change told"]) == ("10000", "11111")
    assert pairs["kinds"].split()[1::2] == ["none"] * 5 and pairs["scenes"] == "0 0 1 1 2 2 3 3 4 4"
    scores = bench.plain(bench.scores_of(said, records, known, 0))
    for name in bench.SHOWN:
        value = bench.sample(pairs, outcomes, name).numbers.values()[0]
        assert value == pytest.approx(scores[name], abs=0.06), name
