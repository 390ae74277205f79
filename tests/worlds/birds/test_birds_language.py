import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whatchanged.synth.birds.species import species
from whatchanged.worlds.birds.bird import COLORS, Bird
from whatchanged.worlds.birds.language import compare, describe, differences, is_true

ONE = Bird(
    beak="orange",
    head="black",
    breast="white",
    wings="grey",
    tail="tan",
    legs="red",
    beak_length=0.9,
    tail_length=0.2,
    legs_length=0.6,
    size=0.3,
    breast_pattern="spotted",
    wings_pattern="plain",
    breast_mark="black",
    wings_mark="blue",
    stripe="yellow",
    crest=True,
)
TWO = Bird(
    beak="orange",
    head="blue",
    breast="white",
    wings="brown",
    tail="tan",
    legs="red",
    beak_length=0.1,
    tail_length=0.3,
    legs_length=0.6,
    size=0.8,
    breast_pattern="striped",
    wings_pattern="striped",
    breast_mark="black",
    wings_mark="white",
    stripe="",
    crest=False,
)


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("Animal 1 has a black head, animal 2 has a blue head.", True),
        ("animal1 has a black head , animal2 has a blue head .", True),
        ("Animal 2 has a black head, animal 1 has a blue head.", False),
        ("Animal 1 has a black head and a white breast with black spots.", True),
        ("Animal 1 has a black head and a white breast with black streaks.", False),
        ("Animal 1 has a white belly with red spots.", False),
        ("Animal 1 is mostly gray while animal 2 is brown.", True),
        ("Animal 1 is brown.", False),
        ("Animal 1 has a longer bill than animal 2.", True),
        ("Animal 1 has a longer bill.", True),
        ("Animal 2 has a longer bill than animal 1.", False),
        ("Animal 1 has longer legs than animal 2.", False),  # they are as long
        ("Animal 2 is larger than animal 1. Animal 1 has a crest.", True),
        ("Animal 2 has a crest.", False),
        ("Animal 1 has a yellow eye stripe.", True),
        ("Animal 1 has a red eye stripe.", False),
        ("Animal 1 has a short orange beak.", False),
        ("Animal 2 has a short orange beak.", True),
        ("Both animals have red legs.", True),
        ("Both animals have a black head.", False),
        ("Animal 2 has striped brown wings.", True),
        ("Animal 2 has plain brown wings.", False),
        ("Both animals look the same.", False),
        ("Animal 1 has a lovely hat.", None),
        ("Animal 1 has a lovely hat and a black head.", None),
        ("Animal 1 has a lovely hat and a blue head.", False),
        ("", None),
    ],
)
def test_what_is_said_of_two_birds(text, verdict):
    assert is_true(text, ONE, TWO) is verdict


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("this bird has a black head, a white breast with black spots and red legs.", True),
        ("this bird has a black head, a white breast with black spots and green legs .", False),
        ("a small gray bird with a long orange beak and a crest.", True),
        ("a large gray bird with a long orange beak.", False),
        ("a gray bird with a short orange beak.", False),
        ("this bird is mostly grey with plain grey wings and a yellow eye stripe.", True),
        ("this bird is mostly purple.", None),
    ],
)
def test_what_is_said_of_one_bird(text, verdict):
    assert is_true(text, ONE) is verdict


def test_differences_are_those_of_the_two_birds():
    results = {what for what, _ in differences(ONE, TWO)}
    wanted = {"head", "wings", "beak length", "breast pattern", "wings pattern", "size", "stripe", "crest"}
    assert results == wanted
    assert differences(ONE, ONE) == []


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 10**6))
def test_writers_are_never_wrong_and_what_they_write_can_be_read(first, second, seed):
    rng = np.random.default_rng(seed)
    one, two = species(0, first).bird(rng), species(0, second).bird(rng)
    assert is_true(compare(one, two, rng), one, two) is True
    assert is_true(describe(one, rng), one) is True


def test_writers_vary_what_they_say():
    rng = np.random.default_rng(0)
    assert len({compare(ONE, TWO, rng) for _ in range(50)}) > 40
    assert len({describe(ONE, rng) for _ in range(50)}) > 40


def test_species_of_one_genus_share_most_and_birds_vary_within_a_species():
    own, kin = species(7, 0), species(7, 1)
    assert own == species(7, 0) and own.genus == kin.genus != species(7, 3).genus
    traits = ("beak", "head", "breast", "wings", "tail", "legs", "breast_pattern", "wings_pattern", "crest")
    shared = sum(getattr(own.middle, t) == getattr(kin.middle, t) for t in traits)
    assert shared >= len(traits) - 6
    rng = np.random.default_rng(0)
    birds = [own.bird(rng) for _ in range(60)]
    assert len({b.size for b in birds}) == 60
    assert max(b.beak_length for b in birds) - min(b.beak_length for b in birds) <= 0.25
    assert all(abs(b.size - own.middle.size) <= 0.121 for b in birds)
    assert {b.head for b in birds} <= set(COLORS)
