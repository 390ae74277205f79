"""One change between two scenes, as data."""

from dataclasses import dataclass
from typing import Literal

from whatchanged.worlds.clevr.scene import Scene, SceneObject

ChangeType = Literal["color", "material", "add", "drop", "move", "none"]

CHANGE_TYPES: tuple[ChangeType, ...] = ("color", "material", "add", "drop", "move", "none")
"""The types of change.

Files store an index into this tuple. The type that the papers call "texture" is ``material`` here; a pair
without change has the type ``none``.
"""


@dataclass(frozen=True)
class SceneChange:
    """The type of change, and the changed object's index in the scene before and in the scene after.

    An index is None if the object is absent. Both are None if nothing changed. Objects keep their order in
    all pictures of a scene.
    """

    type: ChangeType
    before: int | None
    after: int | None

    def reversed(self) -> "SceneChange":
        """Return the change with before and after exchanged.

        For example, an added object becomes a dropped one.
        """
        swapped: dict[ChangeType, ChangeType] = {"add": "drop", "drop": "add"}
        return SceneChange(swapped.get(self.type, self.type), self.after, self.before)


NOTHING = SceneChange("none", None, None)
"""The change between two views of one scene."""


@dataclass(frozen=True)
class Triple:
    """Three pictures of one scene: the original, the scene with one change, and the scene without it.

    Each picture has its own camera.
    """

    index: int
    default: Scene
    semantic: Scene
    nonsemantic: Scene
    change: SceneChange

    def pairs(self) -> tuple[tuple[Scene, Scene, SceneChange], ...]:
        """Return the two official pairs: (default, semantic, change) and (default, nonsemantic, nothing)."""
        return ((self.default, self.semantic, self.change), (self.default, self.nonsemantic, NOTHING))

    def all_pairs(self) -> tuple[tuple[Scene, Scene, SceneChange], ...]:
        """Return all six ordered pairs of the three pictures. The two official pairs come first."""
        back = self.change.reversed()
        return (
            *self.pairs(),
            (self.nonsemantic, self.semantic, self.change),
            (self.semantic, self.default, back),
            (self.semantic, self.nonsemantic, back),
            (self.nonsemantic, self.default, NOTHING),
        )


def named(before: Scene, after: Scene, change: SceneChange) -> tuple[Scene, int]:
    """Return the scene in which a sentence describes the changed object, and the object's index in it.

    This is the scene before, so the phrase uses the attributes before the change. For an added object it is
    the scene after.
    """
    scene, index = (after, change.after) if change.type == "add" else (before, change.before)
    if index is None:
        raise ValueError(f"a change of type {change.type} names no object here: {change}")
    return scene, index


def kept(before: Scene, after: Scene, change: SceneChange) -> tuple[list[int], list[int]]:
    """Return the indices, before and after, of the objects that are in both scenes and did not move."""
    stays = change.type not in ("add", "drop", "move")
    return (
        [i for i in range(len(before.objects)) if stays or i != change.before],
        [i for i in range(len(after.objects)) if stays or i != change.after],
    )


def changed_object(scene: Scene, index: int | None) -> SceneObject | None:
    """Return the changed object as it is in one of the two scenes, or None if it is absent."""
    return None if index is None else scene.objects[index]
