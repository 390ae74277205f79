"""CLEVR behind the contract of a world: grades, faults and the wordings."""

from dataclasses import replace

import pytest

from whatchanged.worlds import find_world
from whatchanged.worlds.clevr.change import NOTHING, SceneChange
from whatchanged.worlds.clevr.scene import Scene, SceneObject, View

WORLD = find_world("clevr")
VIEW = View((0.0, -8.0, 6.0))
CUBE = SceneObject("cube", "large", "red", "rubber", 0, 0)
BALL = SceneObject("sphere", "small", "red", "metal", 2, 0)
BEFORE = Scene((CUBE, BALL), VIEW)
OTHERS = "phrase fits others too"
TRUTHS = {
    "color": (BEFORE, Scene((replace(CUBE, color="green"), BALL), VIEW), SceneChange("color", 0, 0)),
    "move": (BEFORE, Scene((replace(CUBE, x=-2.0), BALL), VIEW), SceneChange("move", 0, 0)),
    "none": (BEFORE, BEFORE, NOTHING),
}


@pytest.mark.parametrize(
    ("kind", "sentence", "true", "fault", "right"),
    [
        ("color", "the cube became green", True, "", {"type_right", "value_right", "fits", "fits_alone"}),
        ("color", "the red thing became green", True, OTHERS, {"type_right", "value_right", "fits"}),
        ("color", "the ball became green", False, "phrase does not fit", {"type_right", "value_right"}),
        ("color", "the cube became blue", False, "wrong new value", {"type_right", "fits", "fits_alone"}),
        ("color", "the cube moved", False, "wrong type", {"fits", "fits_alone"}),
        ("color", "there is no change", False, "wrong type", {"called_none"}),
        ("color", "the pyramid moved", False, "", set()),
        ("move", "the cube moved", True, "", {"type_right", "fits", "fits_alone"}),
        ("none", "there is no change", True, "", {"called_none"}),
        ("none", "the cube moved", False, "", set()),
    ],
)
def test_a_sentence_is_graded(kind, sentence, true, fault, right):
    verdict = WORLD.language.judge(sentence, TRUTHS[kind])
    assert (verdict.true, verdict.fault) == (true, fault)
    assert verdict.parsed == ("pyramid" not in sentence)
    assert verdict.unchanged == (sentence == "there is no change")
    granted = {name for name, value in verdict.grades.items() if value}
    assert granted == right | ({"true"} if true and kind != "none" else set())
    absent = {name for name, value in verdict.grades.items() if value is None}
    assert (
        absent
        == {
            "color": set(),
            "move": {"value_right"},
            "none": {"type_right", "value_right", "fits", "fits_alone", "true"},
        }[kind]
    )


def test_every_fixed_wording_writes_its_sentence():
    assert {name: WORLD.write(TRUTHS["color"], name) for name in WORLD.language.wordings} == {
        "short": "the large thing changed to green",
        "full": "the large red rubber cube changed to green",
        "clear": "the large red rubber cube changed to green",
        "relational": "the large red rubber cube that is left of the small thing changed to green",
    }
    assert WORLD.write(TRUTHS["none"], "full") == "there is no change"
