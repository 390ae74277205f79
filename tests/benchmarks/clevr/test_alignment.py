"""Which object a cell belongs to, which objects did not change, and which matches are right."""

import numpy as np

from whatchanged.worlds.clevr.change import NOTHING, SceneChange
from whatchanged.worlds.clevr.scene import Scene, SceneObject, View

<<<<<<<< HEAD:tests/benchmarks/clevr/test_alignment.py
SCRIPT = "clevr.alignment"
========
SCRIPT = "learning.alignment"
>>>>>>>> rooms:tests/benchmarks/learning/test_alignment.py
VIEW = View((10.0, 0.0, 6.0))
CUBE = SceneObject("cube", "large", "red", "rubber", 0.0, 2.5)
BALL = SceneObject("sphere", "small", "blue", "metal", 0.0, -2.5)


def test_a_cell_belongs_to_the_object_that_fills_it(bench):
    owners = bench.owners(Scene((CUBE, BALL), VIEW), 20, 30)
    assert owners.shape == (600,) and set(owners) == {bench.GROUND, 0, 1}
    columns = [np.flatnonzero(owners == i).astype(int) % 30 for i in (0, 1)]
    assert len(columns[0]) > len(columns[1]) > 0
    assert max(columns[0]) < min(columns[1]) or max(columns[1]) < min(columns[0])  # they stand apart
    assert (bench.owners(Scene((), VIEW), 2, 3) == bench.GROUND).all()


def test_only_what_stayed_is_counted(bench):
    both = Scene((CUBE, BALL), VIEW)
    assert list(bench.unchanged(both, both, NOTHING)) == [(0, 0), (1, 1)]
    assert list(bench.unchanged(both, both, SceneChange("color", 1, 1))) == [(0, 0)]
    dropped = Scene((BALL,), VIEW)
    assert list(bench.unchanged(both, dropped, SceneChange("drop", 0, None))) == [(1, 0)]


def test_matches_by_hand(bench):
    """Tokens 0 and 1 show object 0, token 2 object 1; one of the first two reads the wrong cell."""
    own = theirs = np.array([0, 0, 1, bench.GROUND])
    weights = np.array(
        [[0.9, 0.1, 0.0, 0.0], [0.0, 0.0, 0.4, 0.6], [0.1, 0.1, 0.8, 0.0], [0.25, 0.25, 0.25, 0.25]]
    )
    cells = np.array([[0, 1, 2, 3], [1, 0, 2, 3]])
    first, second = bench.matches_of(weights, cells, own, theirs, {0: 0, 1: 1, 5: 0})
    assert (first.cells, first.right, first.chance, first.strongest) == (2, 1, 1.0, True)
    assert (second.cells, second.right, second.chance, second.strongest) == (1, 1, 0.25, True)
