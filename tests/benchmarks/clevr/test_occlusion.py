"""What is hidden in a picture, which object a false alarm names, and the bins in which both are counted."""

from dataclasses import replace
from math import cos, radians, sin

import pytest

from whatchanged.worlds.clevr.change import NOTHING, SceneChange
from whatchanged.worlds.clevr.scene import Scene, SceneObject, View

SCRIPT = "clevr.occlusion"
FRONT = View((10.0, 0.0, 3.0))
NEAR = SceneObject("cube", "large", "red", "rubber", 2.0, 0.0)
FAR = SceneObject("sphere", "small", "blue", "metal", -2.0, 0.0)
ASIDE = SceneObject("cylinder", "small", "green", "rubber", 0.0, 2.5)


def at(degrees):
    return View((10 * cos(radians(degrees)), 0.0, 10 * sin(radians(degrees))))


def test_the_near_object_hides_the_far_one(bench):
    seen = bench.seen_of(Scene((NEAR, FAR, ASIDE), FRONT))
    assert seen.hidden[0] == seen.hidden[2] == 0 and seen.hidden[1] > 0.3
    assert seen.behind.tolist() == [-1, 0, -1]
    assert bench.seen_of(Scene((FAR, ASIDE), FRONT)).hidden.tolist() == [0, 0]


def test_a_camera_that_stands_lower(bench):
    assert bench.lower(Scene((), at(40)), Scene((), at(25))) == pytest.approx(15)


def test_a_false_alarm_is_counted_with_the_object_that_it_names(bench):
    """From above nothing is hidden; the alarm names the sphere, which the cube hides in picture two."""
    above, low = Scene((NEAR, FAR, ASIDE), at(60)), Scene((NEAR, FAR, ASIDE), FRONT)
    added = (replace(above, objects=(NEAR, FAR)), replace(above), SceneChange("add", None, 2))
    said = {
        "a": "the small blue metal sphere moved",
        "b": "there is no change",
        "c": "the small green rubber cylinder has been added",
        "d": "the thing moved",
    }
    truths = {"a": (above, low, NOTHING), "b": (above, low, NOTHING), "c": added, "d": (above, low, NOTHING)}
    found = bench.measured(said, truths)
    alarm, unnamed = found["alarms"]
    assert alarm["named"] == "small blue metal sphere" and unnamed["named"] is None
    assert alarm["behind"] == ["-", "large red rubber cube"] and alarm["hidden"][0] == 0
    rows = {row["pairs"]: row for row in found["rows"]}
    steep = rows["second camera lower by 10 degrees or more"]
    assert (steep["unchanged"], steep["false change, %"]["mean"]) == (3, pytest.approx(200 / 3))
    assert rows["most hidden object 0 to 5 %"]["wholly true, %"]["mean"] == 100
    assert not found["errors"]
    worse = [
        row for row in found["things"] if row["objects of unchanged pairs"].startswith("hidden, the worse")
    ]
    assert worse[0]["objects"] == 6 and sum(row["objects"] for row in worse) == 9
    assert [row["falsely named"] for row in worse if row["falsely named"]] == [1]


def test_a_wrong_sentence_is_counted_with_what_changed(bench):
    """The sphere that the cube hides in the second picture turns red there, and the cylinder is named."""
    above = Scene((NEAR, FAR, ASIDE), at(60))
    low = Scene((NEAR, replace(FAR, color="red"), ASIDE), FRONT)
    truths = {"a": (above, low, SceneChange("color", 1, 1))}
    found = bench.measured({"a": "the small green rubber cylinder turned red"}, truths)
    (error,) = found["errors"]
    assert error["object"] == "small blue metal sphere" and error["hidden"][0] == 0 < error["hidden"][1]
    counted = [row for row in found["rows"] if row["pairs"].startswith("changed object") and row["changed"]]
    assert [row["wholly true, %"]["mean"] for row in counted] == [0] and not counted[0]["unchanged"]
