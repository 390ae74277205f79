"""Birds behind the contract of a world."""

from dataclasses import replace

import pytest

from whatchanged.worlds import Verdict, find_world
from whatchanged.worlds.birds.bird import Bird

WORLD = find_world("birds")
COLOURS = {
    "beak": "orange",
    "head": "black",
    "breast": "white",
    "wings": "grey",
    "tail": "tan",
    "legs": "red",
}
LENGTHS = {"beak_length": 0.9, "tail_length": 0.2, "legs_length": 0.6, "size": 0.3}
PATTERNS = {"breast_pattern": "plain", "wings_pattern": "plain", "breast_mark": "black", "wings_mark": "blue"}
ONE = Bird(**COLOURS, **LENGTHS, **PATTERNS, stripe="", crest=False)
TWO = replace(ONE, head="blue")


@pytest.mark.parametrize(
    ("text", "read", "true", "unchanged"),
    [
        ("Animal 1 has a black head.", True, True, False),
        ("Animal 1 has a blue head.", True, False, False),
        ("Both animals look the same.", True, False, True),
        ("Animal 1 has a lovely hat.", False, None, False),
        ("Animal 1 has a lovely hat and a black head.", False, None, False),
        # One clause is false, so the whole is, whatever the other says.
        ("Animal 1 has a lovely hat and a blue head.", False, False, False),
        ("", False, None, False),
    ],
)
def test_sentences_are_read_and_judged(text, read, true, unchanged):
    assert WORLD.language.reads(text) is read
    verdict = WORLD.language.judge(text, (ONE, TWO))
    assert (verdict.parsed, verdict.true) == (true is not None, true is True)
    assert verdict.unchanged is unchanged and verdict.grades == {"true": true is True}


def test_what_is_said_of_the_wrong_number_of_birds_is_not_parsed():
    assert WORLD.language.reads("this bird has a black head") and WORLD.language.reads(
        "animal 2 has a blue head"
    )
    nothing = Verdict(False, False, False, {"true": False})
    assert WORLD.language.judge("this bird has a black head", (ONE, TWO)) == nothing
    assert WORLD.language.judge("animal 2 has a blue head", (ONE,)) == nothing
    assert WORLD.language.judge("this bird has a black head", (ONE,)).true


def test_two_birds_are_of_a_kind_and_one_is_of_none():
    assert [WORLD.truth.kind_of(truth) for truth in ((ONE, TWO), (ONE, ONE), (ONE,))] == [
        "different",
        "none",
        "none",
    ]
    assert WORLD.language.judge("Both animals look the same.", (ONE, ONE)).true
