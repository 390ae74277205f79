import pytest

from whatchanged.worlds.clevr.change import NOTHING, SceneChange, changed_object, kept, named
from whatchanged.worlds.clevr.scene import Scene, SceneObject

A, B, C = (
    SceneObject("cube", "large", color, "metal", x, 0) for color, x in (("red", 0), ("blue", 2), ("gray", -2))
)


@pytest.mark.parametrize(
    ("change", "back"),
    [
        (SceneChange("add", None, 2), SceneChange("drop", 2, None)),
        (SceneChange("drop", 0, None), SceneChange("add", None, 0)),
        (SceneChange("move", 1, 1), SceneChange("move", 1, 1)),
        (NOTHING, NOTHING),
    ],
)
def test_reversed(change, back):
    assert change.reversed() == back
    assert back.reversed() == change


def test_an_object_is_named_where_it_is_before_the_change_but_an_added_one_after():
    small, large = Scene((A, B)), Scene((A, B, C))
    assert named(small, large, SceneChange("add", None, 2)) == (large, 2)
    assert named(large, small, SceneChange("drop", 2, None)) == (large, 2)
    assert named(small, small, SceneChange("color", 1, 1)) == (small, 1)
    with pytest.raises(ValueError, match="names no object"):
        named(small, small, NOTHING)


def test_kept_pairs_up_what_stayed_in_place():
    small, large = Scene((A, C)), Scene((A, B, C))
    assert kept(large, small, SceneChange("drop", 1, None)) == ([0, 2], [0, 1])
    assert kept(small, large, SceneChange("add", None, 1)) == ([0, 1], [0, 2])
    assert kept(small, small, SceneChange("move", 0, 0)) == ([1], [1])
    assert kept(small, small, SceneChange("color", 0, 0)) == ([0, 1], [0, 1])
    assert kept(small, small, NOTHING) == ([0, 1], [0, 1])


def test_changed_object():
    assert changed_object(Scene((A, B)), 1) == B
    assert changed_object(Scene((A, B)), None) is None
