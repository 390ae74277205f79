"""Worlds as other packages declared them before 0.3, and programs that ask by the names of then."""

from dataclasses import replace

import pytest

from whatchanged.testing import check_world
from whatchanged.worlds import Verdict, World, find_world
from whatchanged.worlds.compatibility import BEFORE


def judge(sentence, truth):
    parsed = sentence in ("more", "same")
    true = sentence == ("more" if truth else "same")
    return Verdict(parsed, sentence == "same", parsed and true, {"true": parsed and true})


FIELDS = {
    "kinds": ("more",),
    "view_and_light_differ": False,
    "datasets": ("toys",),
    "limits": "little",
    "has_truth": lambda root: False,
    "truths": lambda root, records: {},
    "kind_of": lambda truth: "more" if truth else "none",
    "reads": lambda sentence: sentence in ("more", "same"),
    "captions": lambda truth, rng: ("more" if truth else "same",),
    "no_change_sentences": ("same",),
    "judge": judge,
    "grades": ("true",),
}


@pytest.fixture
def world():
    with pytest.warns(DeprecationWarning, match=r"World: kinds, .* moved; use breakdown\.kinds, "):
        return World(name="toy", description="a toy", **FIELDS)


def test_a_world_of_before_keeps_the_contract(world):
    check_world(world, [0, 1])
    assert world.pictures.datasets == ("toys",) and world.breakdown.grade_titles == {}


def test_one_field_of_before_changes_the_world_of_today(world):
    with pytest.warns(DeprecationWarning, match=r"grades moved; use breakdown\.grades"):
        other = replace(world, grades=("all",))
    assert other.breakdown.grades == ("all",) and other.breakdown.kinds == ("more",)
    assert other.language == world.language


@pytest.mark.parametrize("name", BEFORE)
def test_the_names_of_before_answer(name):
    world = find_world("clevr")
    record, _, own = BEFORE[name].partition(".")
    with pytest.warns(DeprecationWarning, match=f"World: {name} moved; use {BEFORE[name]}"):
        assert getattr(world, name) is getattr(getattr(world, record), own)


def test_words_for_claims_are_taken_and_not_asked_for():
    language = find_world("clevr").language
    with pytest.warns(DeprecationWarning, match="nobody asks for tell any more"):
        other = replace(language, tell=lambda claim: (None, "it moved"))
    assert other == language and other.tell is None


def test_what_is_missing_or_unknown_is_an_error():
    with pytest.raises(AttributeError, match="no attribute 'mood'"):
        _ = find_world("clevr").mood
    with (
        pytest.warns(DeprecationWarning),
        pytest.raises(TypeError, match="missing 2 required positional arguments: 'reads' and 'judge'"),
    ):
        World(name="toy", description="", **{k: v for k, v in FIELDS.items() if k not in ("reads", "judge")})
    with pytest.raises(TypeError, match="unexpected keyword argument 'mood'"):
        World(name="toy", description="", mood="good")
