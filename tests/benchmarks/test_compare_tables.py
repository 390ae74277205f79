"""The tables of the comparison, on systems whose scores are known beforehand."""

import math
from pathlib import Path

import numpy as np
import pytest

from whatchanged.evaluation.io.predictions import Prediction
from whatchanged.evaluation.metrics.truth import Truths
from whatchanged.records import PairRecord
from whatchanged.worlds import find_world
from whatchanged.worlds.clevr.language import NO_CHANGE, write_captions
from whatchanged.worlds.clevr.sampling import sample_triple

COST = {"parameters": 1234, "pairs": 40, "train_seconds_per_pair": 0.5, "caption_seconds_per_pair": 0.002}


SCRIPT = "compare_tables"


@pytest.fixture(scope="module")
def corpus():
    """Records and truths of both pairs of ten scenes, two of each type of change."""
    rng, records, truths = np.random.default_rng(0), [], {}
    for triple in (sample_triple(2, i) for i in range(10)):
        for end, truth in zip(("", "_n"), triple.pairs(), strict=True):
            name, kind = f"{triple.index:06d}.png{end}", truth[2].type
            truths[name] = truth
            records.append(
                PairRecord(
                    "clevr_change",
                    name,
                    str(triple.index),
                    "test",
                    "pair_caption",
                    Path(name),
                    Path(name),
                    tuple(write_captions(*truth, rng)),
                    changed=kind != "none",
                    change_type=kind,
                )
            )
    return records, Truths(find_world("clevr"), truths)


@pytest.fixture(scope="module")
def two_seeds(bench, corpus):
    """A row whose first seed says a reference of each pair, and whose second sees no change anywhere."""
    records, truths = corpus
    right = [Prediction(r.pair_id, r.captions[0]) for r in records]
    blind = [Prediction(r.pair_id, NO_CHANGE[0]) for r in reversed(records)]
    own = [({**COST, "train_seconds": s}, said) for s, said in ((19.0, right), (21.0, blind))]
    return {"group": "features", **bench.row_of("two", own, records, truths, 50)}


def test_means_and_spreads_of_seeds_are_those_worked_out_by_hand(two_seeds):
    scores = two_seeds["scores"]
    means = {name: scores[name]["mean"] for name in ("wholly true", "change missed", "no change told")}
    assert means == {"wholly true": 50.0, "change missed": 50.0, "no change told": 100.0}
    assert scores["wholly true"]["sd"] == pytest.approx(100 / math.sqrt(2))
    assert scores["wholly true"]["high"] == 100  # 50 + 12.7 * 50 (t of one degree of freedom) is no share
    assert scores["no change told"]["sd"] == scores["wholly true"]["sampling_sd"] == 0
    assert all(two_seeds["types"][kind]["wholly true"]["mean"] == 50 for kind in two_seeds["types"])
    assert two_seeds["train_seconds"] == 20 and two_seeds["parameters"] == 1234


def test_one_seed_has_the_spread_of_scenes_only(bench, corpus):
    records, truths = corpus
    said = [Prediction(r.pair_id, NO_CHANGE[0]) for r in records]
    row = bench.row_of("one", [({"sentence": NO_CHANGE[0]}, said)], records, truths, 50)
    missed, score = row["scores"]["change missed"], row["scores"]["CIDEr-D"]
    assert missed["mean"] == 100 and missed["sampling_low"] < 100 and missed["sampling_high"] == 100
    assert score["sampling_low"] <= score["mean"] <= score["sampling_high"] and "sd" not in score
    assert row["parameters"] is None and row["seeds"] == 1


def test_every_table_names_every_row(bench, two_seeds, corpus):
    records, truths = corpus
    said = [Prediction(r.pair_id, NO_CHANGE[0]) for r in records]
    one = bench.row_of("one", [({"sentence": NO_CHANGE[0]}, said)], records, truths, 50)
    text = bench.as_markdown("small", "Said first.", [two_seeds, {"group": "floor", **one}])
    assert text.startswith("Said first.") and text.count("\n### small: ") == 4
    lines = [line for line in text.splitlines() if line.startswith("| features: two | 2 |")]
    assert len(lines) == text.count("| floor: one | 1 |") == 4
    assert "| 50.0 ± 70.7 | 100.0 ± 0.0 | 50.0 ± 70.7 |" in lines[0]
    assert lines[3].endswith("| 1,234 | 40 | 20 | 500.00 | 2.00 |")
    assert text.rstrip().endswith(NO_CHANGE[0])
    for block in text.split("\n### ")[1:]:  # as many cells in a row as in the head
        assert len({line.count("|") for line in block.splitlines() if line.startswith("|")}) == 1
