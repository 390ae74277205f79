"""Sample triples as in CLEVR-Change: a default view, the scene with one change, and the scene without it.

Seed, index and views determine a triple. Its change type is ``CHANGE_TYPES[index % 5]``, so the first n
triples of a data set are balanced. Objects are placed as in CLEVR: 3 to 10 objects on a square of ground,
with a minimum distance. The distance is also large enough that the first camera clearly shows which object is
left or right, in front or behind.

Visibility is counted in pixels on index pictures of 480x320. In the default view, each object has at least
200 visible pixels and the changing object at least 300. Every centre is at least 6 pixels inside the frame.
In the two later views, each object has at least 100 visible pixels (20 for low cameras) and the changed
object at least 300. As in the real pictures, objects may occlude each other there and may be cut by the
frame. For any two of the three pictures, some phrase describes the changed object and no other one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from whatchanged.synth.clevr.visibility import index_picture, visible_pixels
from whatchanged.worlds.clevr.change import CHANGE_TYPES, NOTHING, ChangeType, SceneChange, Triple, named
from whatchanged.worlds.clevr.phrases import describable
from whatchanged.worlds.clevr.scene import (
    BACK_LAMP,
    CAMERA,
    COLORS,
    FILL_LAMP,
    KEY_LAMP,
    MATERIALS,
    SHAPES,
    SIZES,
    Point,
    Scene,
    SceneObject,
    View,
    directions,
    project,
)

WIDTH, HEIGHT = 480, 320
LEAST_OBJECTS, MOST_OBJECTS = 3, 10
GROUND_SIDE = 3.0
DISTANCE = 0.25
"""The smallest distance, in units, between the outlines of two objects."""
MARGIN = 0.4
"""The smallest distance, in units, between two centres along each of the first camera's ground directions."""
MOVE = 1.0
"""The smallest distance, in units, by which an object moves."""
CAMERA_SHIFT, LAMP_SHIFT = 0.5, 1.0
AFTER_SHIFT = (1.4, 2.75)
"""The range of the bound on the shift of a later camera.

Each coordinate of a later camera differs from that of the first camera by at most the bound, in units. The
bound is drawn from this range for each camera. The range was fitted to the published overlaps of the views:
mean .508, deviation .144, and 1, 5, 25, 50, 75, 95 and 99 % points .194 .281 .408 .502 .605 .755 .846. For
2,000 pairs drawn here: mean .510, deviation .144, points .213 .286 .405 .506 .609 .752 .839. A fixed bound of
2 gives a deviation of .130.
"""
LOWER, LOW_VIEWS = (1.0, 3.0), 4
"""The range, in units, by which a low camera is lower than the first camera, and the number of such views
that are drawn. The view that occludes some object most is used.
"""
SEEN, SEEN_AFTER, SEEN_LOW, SEEN_CHANGED = 200, 100, 20, 300
"""The smallest number of visible pixels of an object: in the default view, in a later view, in a view from a
low camera, and of the changed object.
"""
FRAME = 6
"""The smallest distance, in pixels, between a centre and the frame in the default view."""

Views = Literal["jittered", "around", "low", "mixed", "all", "fixed"]
"""The positions of the later cameras.

jittered  near the first camera, as in CLEVR-Change
around    anywhere around the scene, as in CLEVR-DC, at the distance and height of the first camera, with each
          coordinate shifted by up to ``CAMERA_SHIFT``
low       near the first camera but lower by ``LOWER``, so that some objects are almost completely occluded
mixed     around in every third block of five triples (one of each type), jittered in the other blocks
all       jittered, low and around in turn, for a block of five triples each
fixed     at the first camera
"""

IN_TURN: Mapping[Views, tuple[Views, ...]] = {
    "mixed": ("jittered", "jittered", "around"),
    "all": ("jittered", "low", "around"),
}
"""The views of a mixture. Each is used for a block of five triples, in turn."""

_T = TypeVar("_T")
_POSITIONS = 100
"""The number of positions that are tried for an object."""
_EDITS = 30
"""The number of changes that are tried on a default scene before another scene is drawn."""


def sample_triple(seed: int, index: int, views: Views = "jittered", doubles: float = 0.0) -> Triple:
    """Return the triple with this index in the data set with this seed. This takes about 10 ms.

    doubles: the fraction of triples in which another object has the same four attributes as the changed
    object. Only a relation can then distinguish the two objects. By chance, about 5 % of triples have such a
    duplicate.
    """
    rng = np.random.default_rng((seed, index))
    block, number = divmod(index, 5)
    kind = CHANGE_TYPES[number]
    in_turn = IN_TURN.get(views, (views,))
    views = in_turn[block % len(in_turn)]
    count = int(rng.integers(LEAST_OBJECTS + (kind == "drop"), MOST_OBJECTS + (kind != "add")))
    double = doubles > 0 and bool(rng.random() < doubles)
    while True:
        default = _default_scene(rng, count, double and kind != "add")
        seen = _seen(default)
        if seen.min() < SEEN:
            continue
        candidates = np.flatnonzero(seen >= SEEN_CHANGED)
        if double and kind != "add":
            candidates = candidates[np.isin(candidates, (0, count - 1))]
        for _ in range(_EDITS if candidates.size else 0):
            triple = _try_change(rng, index, default, kind, int(rng.choice(candidates)), views, double)
            if triple is not None:
                return triple


def _try_change(
    rng: np.random.Generator,
    index: int,
    default: Scene,
    kind: ChangeType,
    which: int,
    views: Views,
    double: bool,
) -> Triple | None:
    """Change one object and draw the two later views. Return None if the result breaks a rule."""
    edited = _edit(rng, default, kind, which, double)
    if edited is None:
        return None
    objects, change = edited
    tries, least = (LOW_VIEWS, SEEN_LOW) if views == "low" else (1, SEEN_AFTER)
    after = [Scene(objects, _later_view(rng, default.view.camera, views)) for _ in range(tries)]
    without = [Scene(default.objects, _later_view(rng, default.view.camera, views)) for _ in range(tries)]
    semantic = _most_hiding(after, change.after, least)
    nonsemantic = _most_hiding(without, change.before, least)
    if semantic is None or nonsemantic is None:
        return None
    triple = Triple(index, default, semantic, nonsemantic, change)
    clear = all(describable(*named(*pair)) for pair in triple.all_pairs() if pair[2] != NOTHING)
    return triple if clear else None


def _edit(
    rng: np.random.Generator, scene: Scene, kind: ChangeType, which: int, double: bool
) -> tuple[tuple[SceneObject, ...], SceneChange] | None:
    """Return the objects after one change of this kind, and the change; None if no free position was found.

    which: the object that changes.
    double: whether an added object is a duplicate of the object ``which``.
    """
    item, objects = scene.objects[which], scene.objects
    if kind == "add":
        added = _positioned(rng, _attributes(rng, item if double else None), objects, scene.view.camera)
        return None if added is None else ((*objects, added), SceneChange("add", None, len(objects)))
    if kind == "drop":
        return (*objects[:which], *objects[which + 1 :]), SceneChange("drop", which, None)
    new: SceneObject | None
    if kind == "color":
        new = replace(item, color=_pick(rng, tuple(c for c in COLORS if c != item.color)))
    elif kind == "material":
        new = replace(item, material="metal" if item.material == "rubber" else "rubber")
    else:
        others = (*objects[:which], *objects[which + 1 :])
        new = _positioned(rng, item, others, scene.view.camera, away_from=(item.x, item.y))
    if new is None:
        return None
    return (*objects[:which], new, *objects[which + 1 :]), SceneChange(kind, which, which)


def _default_scene(rng: np.random.Generator, count: int, double: bool) -> Scene:
    """Return a scene with ``count`` objects placed by the rules, and with the first camera.

    Visibility is checked later.

    double: whether the last object is a duplicate of the first.
    """
    camera = _shift(rng, CAMERA, CAMERA_SHIFT)
    objects: tuple[SceneObject, ...] = ()
    while len(objects) < count:
        alike = objects[0] if double and len(objects) == count - 1 else None
        placed = _positioned(rng, _attributes(rng, alike), objects, camera)
        objects = () if placed is None else (*objects, placed)
    return Scene(objects, View(camera, _lamps(rng)))


def _attributes(rng: np.random.Generator, alike: SceneObject | None = None) -> SceneObject:
    """Return an object without a position: with attributes drawn uniformly, or a duplicate of ``alike``."""
    rotation = float(rng.uniform(0, 360))
    if alike is not None:
        return replace(alike, rotation=rotation)
    return SceneObject(
        _pick(rng, SHAPES), _pick(rng, SIZES), _pick(rng, COLORS), _pick(rng, MATERIALS), 0, 0, rotation
    )


def _positioned(
    rng: np.random.Generator,
    item: SceneObject,
    others: tuple[SceneObject, ...],
    camera: Point,
    away_from: tuple[float, float] | None = None,
) -> SceneObject | None:
    """Return the object at the first drawn position that satisfies all rules, or None if no position does."""
    ground_positions = rng.uniform(-GROUND_SIDE, GROUND_SIDE, (_POSITIONS, 2))
    centers = np.concatenate([ground_positions, np.full((_POSITIONS, 1), item.radius)], axis=1)
    x, y, _ = project(centers, camera, WIDTH, HEIGHT).T
    free = (x >= FRAME) & (x <= WIDTH - FRAME) & (y >= FRAME) & (y <= HEIGHT - FRAME)
    if away_from is not None:
        free &= np.linalg.norm(ground_positions - away_from, axis=1) >= MOVE
    if others:
        axes = directions(camera)
        apart = ground_positions[:, None, :] - np.array(
            [(o.x, o.y) for o in others]
        )  # (positions, others, 2)
        room = np.array([item.radius + o.radius + DISTANCE for o in others])
        free &= (np.hypot(apart[..., 0], apart[..., 1]) > room).all(axis=1)
        for axis in (axes["right"], axes["front"]):
            free &= (np.abs(apart[..., 0] * axis[0] + apart[..., 1] * axis[1]) >= MARGIN).all(axis=1)
    if not free.any():
        return None
    first = int(free.argmax())
    return replace(item, x=float(ground_positions[first, 0]), y=float(ground_positions[first, 1]))


def _most_hiding(scenes: Sequence[Scene], changed: int | None, least: int) -> Scene | None:
    """Return the scene in which the least visible object has the fewest visible pixels.

    Only scenes in which every object has enough visible pixels are considered. Return None if there are none.
    """
    results = []
    for scene in scenes:
        seen = _seen(scene)
        if seen.min() >= least and (changed is None or seen[changed] >= SEEN_CHANGED):
            results.append((int(seen.min()), scene))
    return min(results, key=itemgetter(0))[1] if results else None


def _seen(scene: Scene) -> NDArray[np.int64]:
    """Return the number of visible pixels of each object, in a picture of 480x320 pixels: (objects,)."""
    return visible_pixels(index_picture(scene, WIDTH, HEIGHT), len(scene.objects))


def _later_view(rng: np.random.Generator, camera: Point, views: Views) -> View:
    if views == "around":
        angle = rng.uniform(0, 2 * np.pi)
        c, s = float(np.cos(angle)), float(np.sin(angle))
        turned = (c * camera[0] - s * camera[1], s * camera[0] + c * camera[1], camera[2])
        return View(_shift(rng, turned, CAMERA_SHIFT), _lamps(rng))
    if views == "fixed":
        return View(camera, _lamps(rng))
    later = _shift(rng, camera, float(rng.uniform(*AFTER_SHIFT)))
    if views == "low":
        later = (later[0], later[1], camera[2] - float(rng.uniform(*LOWER)))
    return View(later, _lamps(rng))


def _lamps(rng: np.random.Generator) -> tuple[Point, Point, Point]:
    return (
        _shift(rng, KEY_LAMP, LAMP_SHIFT),
        _shift(rng, FILL_LAMP, LAMP_SHIFT),
        _shift(rng, BACK_LAMP, LAMP_SHIFT),
    )


def _shift(rng: np.random.Generator, point: Point, most: float) -> Point:
    x, y, z = (float(c + s) for c, s in zip(point, rng.uniform(-most, most, 3), strict=True))
    return (x, y, z)


def _pick(rng: np.random.Generator, values: tuple[_T, ...]) -> _T:
    return values[int(rng.integers(len(values)))]
