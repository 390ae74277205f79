import numpy as np
import pytest

from whatchanged.evaluation.metrics.scene_grading import block, graded, scene_truths
from whatchanged.evaluation.report.breakdown import HARDEST
from whatchanged.records import PairRecord
from whatchanged.worlds.clevr.language import write_captions, write_fixed
from whatchanged.worlds.clevr.sampling import sample_triple


@pytest.fixture(scope="module")
def world():
    """Twenty pairs of ten sampled scenes, with their truth."""
    truths, records = {}, []
    for i in range(10):
        for name, truth in zip((f"{i:06d}.png", f"{i:06d}.png_n"), sample_triple(5, i).pairs(), strict=True):
            truths[name] = truth
            kind = truth[2].type
            records.append(
                PairRecord(
                    "clevr_change",
                    name,
                    name[:6],
                    "test",
                    "pair_caption",
                    None,
                    None,
                    ("a",),
                    None,
                    kind != "none",
                    kind,
                )
            )
    return records, truths


def test_true_sentences_are_wholly_true(world):
    records, truths = world
    shares = block(
        graded(records, [write_fixed(*truths[r.pair_id], wording="full") for r in records], truths), {}
    )
    for key in ("type_right", "value_right", "fits", "fits_alone", "true"):
        assert shares["semantic"][key]["percent"] == 100
    assert shares["semantic"]["value_right"]["of"] == 4
    assert shares["semantic"]["called_none"]["percent"] == 0
    assert shares["distractor"]["called_none"] == {
        "percent": 100,
        "low": pytest.approx(72.2, abs=0.1),
        "high": 100,
        "count": 10,
        "of": 10,
    }
    assert {kind: shares["types"][kind]["true"]["of"] for kind in shares["types"]} == dict.fromkeys(
        ("color", "material", "add", "drop", "move"), 2
    )
    assert shares["unparsable"]["count"] == 0


def test_references_as_predictions(world):
    """Everything that the world's writer says of its own scenes is right, and means one thing alone."""
    records, truths = world
    rng = np.random.default_rng(0)
    written = [write_captions(*truths[r.pair_id], rng) for r in records]
    for k in range(5):
        shares = block(graded(records, [sentences[k] for sentences in written], truths), {})
        for key in ("type_right", "value_right", "fits", "fits_alone", "true"):
            assert shares["semantic"][key]["percent"] == 100
        assert shares["distractor"]["called_none"]["percent"] == 100


def test_shares_by_viewpoint_are_of_changed_pairs_only(world):
    records, truths = world
    captions = [write_fixed(*truths[r.pair_id], wording="full") for r in records[:10]] + [
        "the cube moved"
    ] * 10
    found = block(
        graded(records, captions, truths), {"IoU 0.3-0.4": np.arange(20), HARDEST: np.array([1, 3])}
    )
    assert found["overlap"]["IoU 0.3-0.4"]["type_right"]["of"] == 10
    assert found["overlap"]["IoU 0.3-0.4"]["true"]["count"] >= 5
    assert list(found["overlap"]) == ["IoU 0.3-0.4"]  # the other holds distractors only


def test_saying_that_nothing_changed(world):
    records, truths = world
    shares = block(graded(records, ["nothing was modified"] * 20, truths), {})
    assert shares["semantic"]["called_none"]["percent"] == 100
    assert shares["semantic"]["true"]["percent"] == shares["semantic"]["type_right"]["percent"] == 0
    assert shares["distractor"]["called_none"]["percent"] == 100


def test_each_part_of_a_sentence_is_judged_apart(world):
    records, truths = world
    changed = [r for r in records if r.change_type in ("color", "material")]
    captions = []
    for r in changed:
        words = write_fixed(*truths[r.pair_id], wording="full").split()
        other = {"color": ("red", "blue"), "material": ("rubber", "metal")}[r.change_type]
        captions.append(" ".join([*words[:-1], next(w for w in other if w != words[-1])]))
    semantic = block(graded(changed, captions, truths), {})["semantic"]
    assert semantic["type_right"]["percent"] == semantic["fits_alone"]["percent"] == 100
    assert semantic["value_right"]["percent"] == semantic["true"]["percent"] == 0


def test_what_cannot_be_read_is_listed(world):
    records, truths = world
    captions = ["there is no change"] * 19 + ["a cat sat"]
    unparsable = block(graded(records, captions, truths), {})["unparsable"]
    assert (unparsable["count"], unparsable["of"]) == (1, 20)
    assert unparsable["sentences"] == [{"id": "000009.png_n", "caption": "a cat sat"}]


def test_pairs_without_truth_are_counted(world):
    records, truths = world
    known = {i: truth for i, truth in truths.items() if i < "000005"}
    shares = block(graded(records, ["there is no change"] * 20, known), {})
    assert (shares["without_truth"], shares["distractor"]["called_none"]["of"]) == (10, 5)


def test_a_folder_without_truth(tmp_path):
    assert scene_truths(tmp_path) == {}
