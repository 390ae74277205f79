"""One change between two scenes, as data."""

from dataclasses import dataclass
from typing import Literal

from whatchanged.worlds.clevr.scene import Scene, SceneObject

ChangeType = Literal["color", "material", "add", "drop", "move", "none"]

CHANGE_TYPES: tuple[ChangeType, ...] = ("color", "material", "add", "drop", "move", "none")
"""Numbers on disk are positions in this list. The papers' "texture" is ``material``; a pair without change is
``none``."""


@dataclass(frozen=True)
class Change:
    """What became of which thing: its index in the scene before and after, None where it is absent.

    Things keep their order across the pictures of a world; both indices are None where nothing changed.
    """

    type: ChangeType
    before: int | None
    after: int | None

    def reversed(self) -> "Change":
        """The same change read from the picture after to the picture before: an addition becomes a loss."""
        swapped: dict[ChangeType, ChangeType] = {"add": "drop", "drop": "add"}
        return Change(swapped.get(self.type, self.type), self.after, self.before)


NOTHING = Change("none", None, None)
"""The change between two views of one scene."""


def named(before: Scene, after: Scene, change: Change) -> tuple[Scene, int]:
    """The scene in which a sentence about this change names its thing, and the thing's index there.

    That is the scene before, with the attributes before the change; for an added thing the scene after.
    """
    scene, index = (after, change.after) if change.type == "add" else (before, change.before)
    if index is None:
        raise ValueError(f"a change of type {change.type} names no thing here: {change}")
    return scene, index


def kept(before: Scene, after: Scene, change: Change) -> tuple[list[int], list[int]]:
    """Indices, before and after, of the things that are in both scenes and did not move."""
    stays = change.type not in ("add", "drop", "move")
    return (
        [i for i in range(len(before.objects)) if stays or i != change.before],
        [i for i in range(len(after.objects)) if stays or i != change.after],
    )


def changed_thing(scene: Scene, index: int | None) -> SceneObject | None:
    """The changed thing as it is in one of the two scenes, None where it is absent."""
    return None if index is None else scene.objects[index]
