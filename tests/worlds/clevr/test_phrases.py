import pytest

from whatchanged.worlds.clevr.phrases import (
    ATTRIBUTES,
    SUBSETS,
    Phrase,
    Plain,
    clearness,
    describable,
    plain_subsets,
    referents,
    related,
    relational_phrases,
)
from whatchanged.worlds.clevr.scene import Scene, SceneObject, View

# Seen from the south, x runs to the right and y away from the viewer.
SOUTH = View((0.0, -8.0, 6.0))
RED_CUBE = SceneObject("cube", "large", "red", "rubber", 0, 0)
RED_BALL = SceneObject("sphere", "small", "red", "metal", 2, 0.1)
BLUE_BALL = SceneObject("sphere", "small", "blue", "metal", -2, -2)
SCENE = Scene((RED_CUBE, RED_BALL, BLUE_BALL), SOUTH)


def test_relations_as_the_camera_sees_them():
    assert related(SCENE, 1, "right", 0)
    assert related(SCENE, 0, "left", 1)
    assert related(SCENE, 2, "front", 0)
    assert related(SCENE, 0, "behind", 2)
    # The red ball lies 0.1 units behind the cube: less than the 0.2 that a relation takes.
    assert not related(SCENE, 1, "behind", 0)
    assert not related(SCENE, 0, "front", 1)
    north = Scene(SCENE.objects, View((0.0, 8.0, 6.0)))
    assert related(north, 1, "left", 0)
    assert related(north, 2, "behind", 0)


@pytest.mark.parametrize(
    ("phrase", "found"),
    [
        (Phrase(Plain()), [0, 1, 2]),
        (Phrase(Plain(color="red")), [0, 1]),
        (Phrase(Plain(color="red", shape="sphere")), [1]),
        (Phrase(Plain(color="green")), []),
        (Phrase(Plain(shape="sphere"), "right", Plain(shape="cube")), [1]),
        # The other object may be any that fits: the cube and the red ball are right of the blue one.
        (Phrase(Plain(), "right", Plain(shape="sphere")), [0, 1]),
        # Nothing stands in a relation to itself.
        (Phrase(Plain(color="blue"), "front", Plain(color="blue")), []),
    ],
)
def test_referents_worked_by_hand(phrase, found):
    assert referents(phrase, SCENE) == found


def test_plain_subsets_are_those_that_fit_one_object_alone():
    for scene in (SCENE, Scene((RED_CUBE, RED_CUBE, BLUE_BALL), SOUTH)):
        for i, item in enumerate(scene.objects):
            brute = [s for s in SUBSETS if referents(Phrase(Plain.of(item, s)), scene) == [i]]
            assert plain_subsets(scene, i) == brute
    assert plain_subsets(SCENE, 0)[:3] == [("size",), ("material",), ("shape",)]
    assert plain_subsets(Scene((RED_CUBE, RED_CUBE, BLUE_BALL)), 0) == []


def test_a_twin_is_told_apart_by_a_relation_alone():
    twin = SceneObject("cube", "large", "red", "rubber", 2, 0)
    scene = Scene((RED_CUBE, twin, BLUE_BALL, SceneObject("cylinder", "large", "gray", "metal", 1, 2)), SOUTH)
    assert not plain_subsets(scene, 0)
    assert set(relational_phrases(scene, 0)) == {("left", 3)}
    assert set(relational_phrases(scene, 1)) == {("right", 3)}
    assert describable(scene, 0)
    for relation, other in relational_phrases(scene, 0):
        assert referents(Phrase(Plain.of(RED_CUBE), relation, Plain.of(scene.objects[other])), scene) == [0]


def test_how_clear_a_relation_is_by_hand():
    twin = SceneObject("cube", "large", "red", "rubber", 2, 0)
    scene = Scene(
        (RED_CUBE, twin, BLUE_BALL, SceneObject("cylinder", "large", "gray", "metal", 1.5, 2)), SOUTH
    )
    # 1.5 units left of the cylinder, 0.2 of them the margin; the twin is 0.5 right of it, 0.7 short of left.
    assert clearness(scene, 0, "left", 3) == pytest.approx(0.7)
    assert clearness(scene, 1, "right", 3) == pytest.approx(0.3)
    # Both are right of the ball: there is nothing clear about it. The ball has no twin.
    assert clearness(scene, 0, "right", 2) == pytest.approx(-3.8)
    assert clearness(scene, 2, "left", 0) == pytest.approx(1.8)


def test_some_objects_cannot_be_described():
    row = tuple(SceneObject("cube", "large", "red", "rubber", x, 0) for x in (-2, 0, 2))
    assert not describable(Scene(row, SOUTH), 1)
    # All three are behind the ball, and the middle cube is neither right nor left of it.
    assert not describable(Scene((*row, SceneObject("sphere", "small", "blue", "metal", 0.1, -2)), SOUTH), 1)


def test_of_takes_the_named_attributes_only():
    assert Plain.of(RED_CUBE, ("color",)) == Plain(color="red")
    assert Plain.of(RED_CUBE) == Plain("large", "red", "rubber", "cube")
    assert len(SUBSETS) == 15
    assert all(set(s) <= set(ATTRIBUTES) for s in SUBSETS)
