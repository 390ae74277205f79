"""Paraphrases written for this test with what they are to be read as, and sentences that must stay unread."""

import pytest

from whatchanged.worlds.clevr.free_sentences import read_freely
from whatchanged.worlds.clevr.grading import ParsedStatement, parse
from whatchanged.worlds.clevr.phrases import Phrase, Plain
from whatchanged.worlds.clevr.world import read

NONE = ParsedStatement("none")


def said(kind, words, value=None, relation=None, other=None):
    """A statement in short: "large red metal cube", each word of the world's own, in this order."""
    return ParsedStatement(kind, Phrase(plain(words), relation, other and plain(other)), value)


def plain(words):
    named = {}
    for word in words.split():
        for attribute, values in {
            "size": ("large", "small"),
            "color": ("gray", "red", "blue", "green", "brown", "purple", "cyan", "yellow"),
            "material": ("rubber", "metal"),
            "shape": ("cube", "sphere", "cylinder"),
        }.items():
            if word in values:
                named[attribute] = word
    return Plain(**named)


READ = [
    ("The scene remains the same; there is no change.", NONE),
    ("There is no visible change between the two images.", NONE),
    ("No differences can be seen.", NONE),
    ("There are no changes in the scene.", NONE),
    ("Nothing changed between the two images.", NONE),
    ("Nothing looks different.", NONE),
    ("The two images are identical.", NONE),
    ("Both images look exactly the same.", NONE),
    ("The images appear to be identical, except for the camera angle.", NONE),
    ("Only the camera angle changed.", NONE),
    ("Only the lighting and the viewpoint have changed; everything else is the same.", NONE),
    ("I see no difference.", NONE),
    ("It seems that nothing was changed.", NONE),
    ("All objects remain unchanged.", NONE),
    ("The scene has not changed.", NONE),
    ("Absolutely nothing has been altered.", NONE),
    ("The large red metal cube has vanished.", said("drop", "large red metal cube")),
    ("A small blue ball was removed from the scene.", said("drop", "small blue sphere")),
    ("In the second image, the green cylinder is missing.", said("drop", "green cylinder")),
    ("The shiny purple sphere has been removed.", said("drop", "purple metal sphere")),
    ("The tiny cyan block is no longer visible.", said("drop", "small cyan cube")),
    ("The big gray cylinder is not there anymore.", said("drop", "large gray cylinder")),
    ("Someone removed the brown matte cube.", said("drop", "brown rubber cube")),
    ("There is no longer a yellow sphere.", said("drop", "yellow sphere")),
    ("The little grey cube is gone now.", said("drop", "small gray cube")),
    (
        "The red ball to the left of the big cube disappeared in the after image.",
        said("drop", "red sphere", None, "left", "large cube"),
    ),
    (
        "The cube which is located behind the green sphere was taken away.",
        said("drop", "cube", None, "behind", "green sphere"),
    ),
    ("The blue cube is gone. Everything else remains unchanged.", said("drop", "blue cube")),
    (
        "The only difference is that the large, red, shiny cube is missing.",
        said("drop", "large red metal cube"),
    ),
    ("The yellow block is present in the first image but not in the second.", said("drop", "yellow cube")),
    ("A new red cube has appeared.", said("add", "red cube")),
    ("A small green metal sphere was added to the scene.", said("add", "small green metal sphere")),
    ("There is now a large blue cylinder.", said("add", "large blue cylinder")),
    ("There is a new brown ball in the scene.", said("add", "brown sphere")),
    ("Someone added a tiny purple block.", said("add", "small purple cube")),
    ("After the change, a cyan rubber cylinder showed up.", said("add", "cyan rubber cylinder")),
    (
        "A gray cube in front of the red cylinder has been introduced.",
        said("add", "gray cube", None, "front", "red cylinder"),
    ),
    ("An object has just appeared.", said("add", "")),
    ("The small yellow sphere is new.", said("add", "small yellow sphere")),
    ("Compared to the first image, a big shiny cube has been added.", said("add", "large metal cube")),
    ("In the second image there is now a red ball.", said("add", "red sphere")),
    ("The small red cube has been moved.", said("move", "small red cube")),
    ("The blue cylinder has shifted to the left.", said("move", "blue cylinder")),
    ("The large green ball was moved to a different location.", said("move", "large green sphere")),
    ("The purple block changed position.", said("move", "purple cube")),
    ("The gray sphere has changed its place.", said("move", "gray sphere")),
    ("The brown cube is now in another spot.", said("move", "brown cube")),
    (
        "The metallic cyan cylinder is no longer in its original position.",
        said("move", "cyan metal cylinder"),
    ),
    ("Someone moved the tiny yellow cube.", said("move", "small yellow cube")),
    ("The red object moved slightly.", said("move", "red")),
    (
        "The matte cube on the right side of the blue ball has been repositioned.",
        said("move", "rubber cube", None, "right", "blue sphere"),
    ),
    ("The green cube moved closer to the camera.", said("move", "green cube")),
    ("The large red cube has turned blue.", said("color", "large red cube", "blue")),
    ("The small sphere changed from red to green.", said("color", "small red sphere", "green")),
    ("The red sphere changed color from red to green.", said("color", "red sphere", "green")),
    ("The color of the big cylinder changed to purple.", said("color", "large cylinder", "purple")),
    ("The colour of the tiny block is now grey.", said("color", "small cube", "gray")),
    ("The brown cube is now yellow.", said("color", "brown cube", "yellow")),
    ("The cube was cyan but is now red.", said("color", "cyan cube", "red")),
    ("The metal ball is now green instead of blue.", said("color", "blue metal sphere", "green")),
    ("The gray cylinder has become brown in color.", said("color", "gray cylinder", "brown")),
    ("Someone painted the small cube purple.", said("color", "small cube", "purple")),
    ("The yellow cube's color changed to cyan.", said("color", "yellow cube", "cyan")),
    (
        "The ball behind the large cube turned red.",
        said("color", "sphere", "red", "behind", "large cube"),
    ),
    ("The red cube is now metallic.", said("material", "red cube", "metal")),
    ("The blue sphere is now made of rubber.", said("material", "blue sphere", "rubber")),
    (
        "The big green cylinder changed from shiny to matte.",
        said("material", "large green metal cylinder", "rubber"),
    ),
    (
        "The material of the small gray cube changed from rubber to metal.",
        said("material", "small gray rubber cube", "metal"),
    ),
    ("The purple ball has become glossy.", said("material", "purple sphere", "metal")),
    ("The texture of the yellow block has changed to matte.", said("material", "yellow cube", "rubber")),
]

UNREAD = [
    "The red cube did not move.",
    "A gray cube appeared in front of the red cylinder.",
    "The red cube has not disappeared.",
    "Did the red cube move?",
    "The red cube may have moved.",
    "The red cube or the blue ball is gone.",
    "The red cube moved and the blue ball disappeared.",
    "The red cube is gone. The blue ball moved.",
    "The red cube changed color.",
    "The red cube changed to something else.",
    "The red cube changed from blue to green.",
    "The red cubes are gone.",
    "Two objects disappeared.",
    "The red blue cube is gone.",
    "The pyramid is gone.",
    "The red cube is missing from the first image.",
    "In the first image, a red cube has appeared.",
    "No red cube has changed.",
    "There is a red cube.",
    "The red cube is larger now.",
    "The red cube was replaced by a blue ball.",
    "The scene is different.",
    "It is hard to say that nothing changed.",
    "The scene is not the same.",
    "The cube left of the ball behind the cylinder moved.",
    "Something has changed.",
    "The pictures are not identical.",
    "",
    ".",
]


@pytest.mark.parametrize(("sentence", "statement"), READ)
def test_paraphrases_are_read_as_what_they_say(sentence, statement):
    assert read(sentence) == statement


def test_there_are_enough_of_all_kinds():
    kinds = [statement.type for _, statement in READ if statement]
    assert len(kinds) >= 60 and len(UNREAD) >= 20
    assert {
        kind: kinds.count(kind) >= 6 for kind in ("none", "add", "drop", "move", "color", "material")
    } == (dict.fromkeys(("none", "add", "drop", "move", "color", "material"), True))


@pytest.mark.parametrize("sentence", UNREAD)
def test_what_is_not_sure_stays_unread(sentence):
    assert read(sentence) is None


def test_the_grammar_comes_first():
    sentence = "the small red cube that is left of the blue ball turned green"
    assert read(sentence) == parse(sentence) == read_freely(sentence)
