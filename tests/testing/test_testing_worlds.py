"""The suite for worlds passes our own, and finds each broken duty of a small one."""

from dataclasses import replace

import numpy as np
import pytest

from whatchanged.synth.birds.species import species
from whatchanged.synth.clevr.sampling import sample_triple
from whatchanged.testing import check_drawer, check_world
from whatchanged.worlds import (
    Breakdown,
    Drawer,
    DrawerOption,
    TruthFiles,
    Verdict,
    World,
    WorldLanguage,
    WorldPictures,
    find_world,
)


def test_clevr_keeps_the_contract():
    triples = [sample_triple(5, index) for index in range(10)]
    check_world(find_world("clevr"), [pair for triple in triples for pair in triple.all_pairs()])


def test_birds_keep_the_contract():
    rng = np.random.default_rng(0)
    birds = [species(3, number).bird(rng) for number in range(8)]
    check_world(find_world("birds"), [(one, two) for one in birds for two in birds])  # also each with itself


def test_drawn_birds_are_what_they_say(tmp_path):
    check_drawer(find_world("birds"), "birds", tmp_path, 10, ("birds_to_words", "cub"), size=(32, 32))


@pytest.mark.parametrize("name", ["clevr-change", "clevr-dc", "clevr-low"])
def test_drawn_clevr_scenes_are_what_they_say(name, tmp_path):
    pytest.importorskip("numba")
    check_drawer(find_world("clevr"), name, tmp_path, 6, size=(48, 32))


# A world of numbers: a pair is two of them, and grows, shrinks or stays.

SAYINGS = {"grown": "it grew", "shrunk": "it shrank", "none": "it stayed"}


def kind_of(truth):
    before, after = truth
    return "none" if before == after else "grown" if after > before else "shrunk"


def judge(sentence, truth):
    parsed = sentence in SAYINGS.values()
    true = sentence == SAYINGS[kind_of(truth)]
    return Verdict(parsed, sentence == "it stayed", true, {"kind": true})


NUMBERS = World(
    name="numbers",
    description="two numbers",
    pictures=WorldPictures((), False, "It knows numbers only."),
    truth=TruthFiles(lambda root: False, lambda root, records: {}, kind_of),
    language=WorldLanguage(
        captions=lambda truth, rng: (SAYINGS[kind_of(truth)],),
        reads=lambda sentence: sentence in SAYINGS.values(),
        judge=judge,
        no_change_sentences=("it stayed",),
        wordings={"short": lambda truth: SAYINGS[kind_of(truth)]},
    ),
    breakdown=Breakdown(("grown", "shrunk"), ("kind",)),
)
TRUTHS = [(1, 2), (5, 4), (3, 3), (2, 7)]
DRAWER = Drawer("numbers", "numbers", "numbers:draw", (8, 8))


def broken_world(**changes):
    """The world of numbers, some fields of its records changed."""
    world = NUMBERS
    for name, value in changes.items():
        records = ("pictures", "truth", "language", "breakdown")
        record = next((own for own in records if hasattr(getattr(world, own), name)), None)
        if record is not None:
            name, value = record, replace(getattr(world, record), **{name: value})
        world = replace(world, **{name: value})
    return world


def test_a_small_world_keeps_the_contract():
    check_world(NUMBERS, TRUTHS)


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ({"limits": " "}, "limits is empty"),
        ({"kinds": ("grown", "shrunk", "none")}, "stands for a pair without change"),
        ({"kinds": ("grown",)}, "kind_of gave 'shrunk'"),
        ({"kinds": ("grown", "shrunk", "grown")}, "a value twice"),
        ({"captions": lambda truth, rng: ()}, "wrote no sentence"),
        ({"captions": lambda truth, rng: (f"it grew {rng.random()} %",)}, "is not read"),
        ({"captions": lambda truth, rng: ("it grew",)}, "is not true"),
        ({"wordings": {"short": lambda truth: "it grew"}}, "is not true"),
        ({"reads": lambda sentence: True}, "this is read as a sentence"),
        ({"no_change_sentences": ("it grew",)}, "judged not to say that nothing changed"),
        ({"grades": ("kind", "size")}, r"grades of 'it grew': \['kind'\]"),
        ({"judge": lambda s, t: Verdict(True, s == "it stayed", True, {"kind": True})}, "of a pair of kind"),
        ({"judge": lambda s, t: replace(judge(s, t), grades={"kind": True})}, "something is right about it"),
        ({"judge": lambda s, t: replace(judge(s, t), parsed=True)}, "not read by reads"),
        ({"judge": lambda s, t: {}[s]}, "judging 'it grew' failed: KeyError"),
        ({"exists": lambda root: True}, "truth.exists of what holds none"),
        ({"read": lambda root, records: {"1": (1, 2)}}, "truth.read of what holds none"),
        ({"false_captions": "numbers.lies"}, 'should be "module:function"'),
        ({"drawers": (replace(DRAWER, draw="numbers"),)}, 'should be "module:function"'),
        ({"drawers": (replace(DRAWER, options=(DrawerOption("seed", "", 1),)),)}, "every drawer has"),
        ({"drawers": (replace(DRAWER, options=(DrawerOption("a b", "", 1),)),)}, "is no keyword"),
    ],
)
def test_a_broken_duty_is_found(broken, message):
    with pytest.raises(AssertionError, match=message):
        check_world(broken_world(**broken), TRUTHS)


def test_a_judge_to_whom_everything_is_true_is_found():
    """Of one kind of change only, so that nothing but the other pairs' sentences can show it."""

    def lenient(sentence, truth):
        parsed = sentence in SAYINGS.values()
        said, changed = sentence != "it stayed", kind_of(truth) != "none"
        true = parsed and said == changed
        return Verdict(parsed, parsed and not said, true, {"kind": true})

    with pytest.raises(AssertionError, match="only 0 of 12 sentences are false"):
        check_world(broken_world(judge=lenient), [(1, 2), (2, 3), (5, 5), (4, 3), (9, 1)])


def test_truths_of_both_sorts_are_wanted():
    with pytest.raises(AssertionError, match="truths with a change"):
        check_world(NUMBERS, [(1, 1)])
    with pytest.raises(AssertionError, match="truths without a change"):
        check_world(NUMBERS, [(1, 2)])
