"""One change between two scenes, as data."""

from dataclasses import dataclass
from typing import Literal

from whatchanged.worlds.clevr.scene import Scene, SceneObject

ChangeType = Literal["color", "material", "add", "drop", "move", "none"]

CHANGE_TYPES: tuple[ChangeType, ...] = ("color", "material", "add", "drop", "move", "none")
"""Numbers on disk are positions in this list. The papers' "texture" is ``material``; a pair without change is
``none``."""


@dataclass(frozen=True)
class SceneChange:
    """The type of change, and the changed object's index in the scene before and in the scene after.

    An index is None where the object is absent; both are None where nothing changed. Objects keep their order
    in all pictures of a scene.
    """

    type: ChangeType
    before: int | None
    after: int | None

    def reversed(self) -> "SceneChange":
        """The same change with before and after exchanged: an added object becomes a dropped one."""
        swapped: dict[ChangeType, ChangeType] = {"add": "drop", "drop": "add"}
        return SceneChange(swapped.get(self.type, self.type), self.after, self.before)


NOTHING = SceneChange("none", None, None)
"""The change between two views of one scene."""


def named(before: Scene, after: Scene, change: SceneChange) -> tuple[Scene, int]:
    """The scene in which a sentence about this change describes its object, and the object's index there.

    That is the scene before, with the attributes before the change; for an added object, the scene after.
    """
    scene, index = (after, change.after) if change.type == "add" else (before, change.before)
    if index is None:
        raise ValueError(f"a change of type {change.type} names no object here: {change}")
    return scene, index


def kept(before: Scene, after: Scene, change: SceneChange) -> tuple[list[int], list[int]]:
    """Indices, before and after, of the objects that are in both scenes and did not move."""
    stays = change.type not in ("add", "drop", "move")
    return (
        [i for i in range(len(before.objects)) if stays or i != change.before],
        [i for i in range(len(after.objects)) if stays or i != change.after],
    )


def changed_object(scene: Scene, index: int | None) -> SceneObject | None:
    """The changed object as it is in one of the two scenes; None where it is absent."""
    return None if index is None else scene.objects[index]
