"""Find the objects that a phrase describes. The phrases are the plain and relational ones of CLEVR-Change.

A plain phrase names some of an object's attributes. A relational phrase also names the object's position
relative to another object. In this module a phrase is a record of its meaning. `language` writes it in words,
and `grading` parses it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from whatchanged.worlds.clevr.scene import (
    Color,
    Material,
    ObjectSize,
    Scene,
    SceneObject,
    Shape,
    ground_in_view,
)

Attribute = Literal["size", "color", "material", "shape"]
Relation = Literal["left", "right", "behind", "front"]

ATTRIBUTES: tuple[Attribute, ...] = ("size", "color", "material", "shape")
RELATIONS: tuple[Relation, ...] = ("left", "right", "behind", "front")

RELATION_MARGIN = 0.2
"""The smallest distance, in units on the ground, between two objects along the direction of a relation."""

SUBSETS: tuple[tuple[Attribute, ...], ...] = tuple(
    subset for count in range(1, 5) for subset in combinations(ATTRIBUTES, count)
)
"""All sets of attributes that a plain phrase may name, smallest first."""


@dataclass(frozen=True)
class Plain:
    """Some attributes of an object. An attribute is None if the phrase does not name it."""

    size: ObjectSize | None = None
    color: Color | None = None
    material: Material | None = None
    shape: Shape | None = None

    @classmethod
    def of(cls, item: SceneObject, attributes: tuple[Attribute, ...] = ATTRIBUTES) -> "Plain":
        """Return the phrase that names these attributes of an object."""
        return cls(
            size=item.size if "size" in attributes else None,
            color=item.color if "color" in attributes else None,
            material=item.material if "material" in attributes else None,
            shape=item.shape if "shape" in attributes else None,
        )

    def fits(self, item: SceneObject) -> bool:
        """Return whether the object has all the named attributes."""
        return all(getattr(self, a) in (None, getattr(item, a)) for a in ATTRIBUTES)


@dataclass(frozen=True)
class Phrase:
    """A plain phrase, alone or with a relation and the plain phrase of another object."""

    head: Plain
    relation: Relation | None = None
    other: Plain | None = None


def related(scene: Scene, first: int, relation: Relation, second: int) -> bool:
    """Return whether ``first`` is left of (right of, behind, in front of) ``second`` for the camera."""
    return _along(scene, first, relation, second) > RELATION_MARGIN


def _along(scene: Scene, first: int, relation: Relation, second: int) -> float:
    """Return the distance from ``second`` to ``first`` along the relation, in units on the ground."""
    a, b = scene.objects[first], scene.objects[second]
    right, front = ground_in_view(a.x - b.x, a.y - b.y, scene.view.camera)
    return {"left": -right, "right": right, "behind": -front, "front": front}[relation]


def referents(phrase: Phrase, scene: Scene) -> list[int]:
    """Return the indices of the objects that the phrase describes.

    A relation may hold with any object that matches the phrase of the other object.
    """
    heads = [i for i, item in enumerate(scene.objects) if phrase.head.fits(item)]
    relation, other = phrase.relation, phrase.other
    if relation is None or other is None:
        return heads
    others = [j for j, item in enumerate(scene.objects) if other.fits(item)]
    return [i for i in heads if any(j != i and related(scene, i, relation, j) for j in others)]


def plain_subsets(scene: Scene, index: int) -> list[tuple[Attribute, ...]]:
    """Return the sets of attributes that only this object has, smallest first; [] if it has a duplicate."""
    me = scene.objects[index]
    shared = [
        {a for a in ATTRIBUTES if getattr(me, a) == getattr(item, a)}
        for i, item in enumerate(scene.objects)
        if i != index
    ]
    return [subset for subset in SUBSETS if not any(same.issuperset(subset) for same in shared)]


def relational_phrases(scene: Scene, index: int) -> Iterator[tuple[Relation, int]]:
    """Yield each (relation, other object) that, with all four attributes, identifies the object.

    The other object must be identifiable by a plain phrase.
    """
    duplicates = _duplicates(scene, index)
    for other in range(len(scene.objects)):
        if other == index or not plain_subsets(scene, other):
            continue
        for relation in RELATIONS:
            if related(scene, index, relation, other) and not any(
                related(scene, duplicate, relation, other) for duplicate in duplicates
            ):
                yield relation, other


def clearness(scene: Scene, index: int, relation: Relation, other: int) -> float:
    """Return the distance that the object and its duplicates could move before the relation became wrong.

    The distance is in units on the ground.
    """
    beyond = _along(scene, index, relation, other) - RELATION_MARGIN
    lacking = [RELATION_MARGIN - _along(scene, i, relation, other) for i in _duplicates(scene, index)]
    return min([beyond, *lacking])


def _duplicates(scene: Scene, index: int) -> list[int]:
    """Return the other objects that have the same four attributes as this object."""
    full = Plain.of(scene.objects[index])
    return [i for i, item in enumerate(scene.objects) if i != index and full.fits(item)]


def describable(scene: Scene, index: int) -> bool:
    """Return whether a plain or relational phrase describes the object and no other object."""
    return bool(plain_subsets(scene, index)) or next(relational_phrases(scene, index), None) is not None
