from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pytest

from whatchanged.evaluation.metrics.subsets import HARDEST
from whatchanged.evaluation.metrics.truth import Truths, judged, read_truths
from whatchanged.worlds import Verdict, find_world
from whatchanged.worlds.clevr.language import write_captions, write_fixed

CLEVR = find_world("clevr")
EVERY = ("type_right", "value_right", "fits", "fits_alone", "true")


@pytest.fixture(scope="module")
def scenes(sampled_scenes):
    """Twenty pairs of ten scenes, their truth, and a true sentence of each."""
    records, truths, _ = sampled_scenes(5, 10)
    return records, truths, [write_fixed(*truths.by_id[r.pair_id], wording="full") for r in records]


def percent(found, place, name):
    """The share in percent, by the counts and by the sums alike."""
    pairs = found.subsets({})[place]
    hits, of = found.counts(pairs)[name]
    summed = found.of(pairs)
    assert dict(zip(summed.names, summed.values(), strict=True))[name] == pytest.approx(100 * hits / of)
    return 100 * hits / of


def test_true_sentences_are_wholly_true(scenes):
    records, truths, true = scenes
    found = judged(records, true, truths)
    assert all(percent(found, ("semantic",), name) == 100 for name in EVERY)
    chosen = found.subsets({})
    assert found.counts(chosen["semantic",])["value_right"] == (4, 4)  # colors and materials alone
    assert percent(found, ("semantic",), "called_none") == 0
    assert found.counts(chosen["distractor",]) == {"called_none": (10, 10)}
    kinds = ("color", "material", "add", "drop", "move")
    assert list(chosen) == [("semantic",), ("distractor",), *(("types", kind) for kind in kinds)]
    assert all(found.counts(chosen["types", kind])["true"] == (2, 2) for kind in kinds)
    assert found.unparsed == [] and found.known == 20


def test_all_that_the_writer_says_of_its_own_scenes_is_right(scenes):
    records, truths, _ = scenes
    rng = np.random.default_rng(0)
    written = [write_captions(*truths.by_id[r.pair_id], rng) for r in records]
    for k in range(5):
        found = judged(records, [sentences[k] for sentences in written], truths)
        assert all(percent(found, ("semantic",), name) == 100 for name in EVERY)
        assert percent(found, ("distractor",), "called_none") == 100


def test_viewpoints_are_of_changed_pairs_only(scenes):
    records, truths, true = scenes
    found = judged(records, true[:10] + ["the cube moved"] * 10, truths)
    bins = {("overlap", "IoU 0.3-0.4"): np.arange(20), ("overlap", HARDEST): np.array([1, 3])}
    chosen = found.subsets(bins)
    counts = found.counts(chosen["overlap", "IoU 0.3-0.4"])
    assert counts["type_right"][1] == 10 and counts["true"][0] >= 5
    assert ("overlap", HARDEST) not in chosen  # it has distractors only


def test_saying_that_nothing_changed(scenes):
    records, truths, _ = scenes
    found = judged(records, ["nothing was modified"] * 20, truths)
    assert (
        percent(found, ("semantic",), "called_none") == percent(found, ("distractor",), "called_none") == 100
    )
    assert percent(found, ("semantic",), "true") == percent(found, ("semantic",), "type_right") == 0


def test_each_part_of_a_sentence_is_judged_apart(scenes):
    records, truths, _ = scenes
    changed = [r for r in records if r.change_type in ("color", "material")]
    captions = []
    for r in changed:
        words = write_fixed(*truths.by_id[r.pair_id], wording="full").split()
        other = {"color": ("red", "blue"), "material": ("rubber", "metal")}[r.change_type]
        captions.append(" ".join([*words[:-1], next(w for w in other if w != words[-1])]))
    found = judged(changed, captions, truths)
    assert percent(found, ("semantic",), "type_right") == percent(found, ("semantic",), "fits_alone") == 100
    assert percent(found, ("semantic",), "value_right") == percent(found, ("semantic",), "true") == 0


def test_sentences_that_cannot_be_read_are_wrong_and_counted(scenes):
    records, truths, true = scenes
    found = judged(records, ["a cat sat", *true[1:]], truths)
    assert found.unparsed == [("000000.png", "a cat sat")]
    assert found.counts(found.subsets({})["semantic",])["true"] == (9, 10)


def test_pairs_without_truth_count_nowhere(scenes):
    records, truths, _ = scenes
    known = Truths(CLEVR, {i: truth for i, truth in truths.by_id.items() if i < "000005"})
    found = judged(records, ["there is no change"] * 20, known)
    assert found.known == 10 and found.verdicts[-1] is None
    assert found.counts(found.subsets({})["distractor",]) == {"called_none": (5, 5)}


def test_a_folder_without_truth_and_a_data_set_of_no_world(scenes, tmp_path):
    records, _, _ = scenes
    assert read_truths(tmp_path, records) is None
    assert read_truths(tmp_path, [replace(r, dataset="levir_cc") for r in records]) is None


def test_any_world_is_judged_by_its_own_grades_and_kinds(scenes):
    """A world of three pairs: a pair without change has the grade "polite", and kinds keep its order."""

    def judge(sentence, truth):
        kind, word = truth
        right = sentence == word
        grades = {"right": None if kind == "none" else right, "polite": sentence != "no"}
        return Verdict(sentence != "?", False, right, grades, "" if right else "wrong word")

    world = replace(
        CLEVR,
        name="toy",
        truth=replace(CLEVR.truth, kind_of=lambda truth: truth[0]),
        language=replace(CLEVR.language, judge=judge),
        breakdown=replace(
            CLEVR.breakdown,
            kinds=("swell", "fade"),
            grades=("right", "polite"),
            grade_titles=MappingProxyType({}),
        ),
    )
    records = [replace(scenes[0][0], pair_id=name) for name in "abc"]
    truths = Truths(world, {"a": ("fade", "yes"), "b": ("swell", "no"), "c": ("none", "yes")})
    found = judged(records, ["yes", "?", "no"], truths)
    chosen = found.subsets({})
    assert list(chosen) == [("semantic",), ("distractor",), ("types", "swell"), ("types", "fade")]
    assert found.counts(chosen["semantic",]) == {"right": (1, 2), "polite": (2, 2)}
    assert found.counts(chosen["distractor",]) == {"polite": (0, 1)}
    assert found.unparsed == [("b", "?")]
