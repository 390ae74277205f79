"""Captions as a recipe wants them: reworded by a world, prepared as a protocol did, known as unchanged."""

from dataclasses import replace
from pathlib import Path

import pytest

from whatchanged.datasets.preparation import preparation
from whatchanged.errors import RecipeError
from whatchanged.records import PairRecord
from whatchanged.training.data.captions import no_change_captions, prepare, reword
from whatchanged.worlds import find_world
from whatchanged.worlds.clevr.grading import is_true


def record(number, split="train", captions=("The Cube moved!",), **more):
    return PairRecord(
        "d", str(number), str(number), split, "pair_caption", Path("b.png"), Path("a.png"), captions, **more
    )


def test_the_worlds_sentence_replaces_training_captions_only(triples):
    records = [record(0), record(1), record(2, split="val")]
    truths = {str(number): triples[number].pairs()[0] for number in range(2)}
    world = find_world("clevr")
    assert reword(records, "captions", None, {}) == records
    results = reword(records, "full", world, truths)
    for number, one in enumerate(results[:2]):
        assert len(one.captions) == 1 and one.captions != records[number].captions
        assert is_true(one.captions[0], *truths[str(number)])
    assert results[2] == records[2]


def test_a_fixed_wording_needs_the_truth_of_every_training_pair(triples):
    truths = {"0": triples[0].pairs()[0]}
    with pytest.raises(RecipeError, match='"full" needs the truth of every scene; 1 has none'):
        reword([record(0), record(1)], "full", find_world("clevr"), truths)
    with pytest.raises(RecipeError, match="needs the truth of every scene; 0 has none"):
        reword([record(0)], "full", None, {})


def test_a_wording_that_the_world_does_not_have_is_refused(triples):
    with pytest.raises(RecipeError, match=r'data\.wording: got "rhymed", wanted one of captions, short'):
        reword([record(0)], "rhymed", find_world("clevr"), {"0": triples[0].pairs()[0]})


def test_training_captions_are_cut_and_references_stay_whole():
    prepared = preparation("ier")
    long = "The Cube moved." + " so" * 90
    train = prepare(record(0, captions=(long,), negatives=(long.upper(),)), prepared)
    assert train.captions == ("the cube moved ." + " so" * 74,)  # seventy-eight words
    assert train.negatives == ("the cube moved ." + " so" * 74,)
    held = prepare(record(0, split="val", captions=(long,)), prepared)
    assert held.captions == ("the cube moved ." + " so" * 90,)


def test_no_preparation_changes_nothing():
    one = record(0, captions=("AS it stands .",), negatives=("NO",))
    assert prepare(one, preparation("none")) is one


def test_what_is_said_of_unchanged_pairs_alone_by_frequency():
    same = [
        record(0, captions=("nothing changed", "all is well"), changed=False),
        record(1, captions=("nothing changed", "both are alike"), changed=False),
    ]
    changed = [record(2, captions=("both are alike", "it moved"), changed=True)]
    unknown = [record(3, captions=("all is well",))]
    assert no_change_captions([*same, *changed]) == ("nothing changed", "all is well")
    assert no_change_captions([*same, *changed, *unknown]) == ("nothing changed",)
    assert no_change_captions([replace(one, changed=True) for one in same]) == ()
