"""The truth of an edit: compare the drawings of a document before and after it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from whatchanged.synth.screens.boxes import around, box_around
from whatchanged.worlds import Box
from whatchanged.worlds.screens.kinds import Kind
from whatchanged.worlds.screens.truth import Motion, ScreenChange, Value

Pixels = NDArray[np.uint8]
"""(H, W, 3)."""

FAINT_LEVELS = 10
"""A pixel differs visibly from more than this many levels on."""
STILL = 0.5
"""The largest movement of a text, in pixels, that counts as noise of the renderer."""


@dataclass(frozen=True)
class DrawnElement:
    """One element of a drawing: its bounding box in pixels of the picture, and its words.

    moves: whether the element is listed among those that moved because of a change; groups of others are not.
    """

    box: tuple[float, float, float, float]
    text: str = ""
    moves: bool = False


@dataclass(frozen=True)
class DrawnPicture:
    """A picture and its elements by key."""

    pixels: Pixels
    elements: Mapping[str, DrawnElement]


@dataclass(frozen=True)
class Edit:
    """One change that was made in a document.

    keys: of the elements that it changed, as drawings name them; if several alike elements changed alike, a
    key for each. values: as in ``ScreenChange``. trimmed: its box covers the pixels that differ near the
    elements, not all of the elements. name: the name of the thing; "" for its text.
    """

    kind: Kind
    element: str
    aspect: str
    keys: tuple[str, ...]
    values: Mapping[str, Value] = field(default_factory=dict)
    trimmed: bool = False
    name: str = ""


def nothing_moved(one: Mapping[str, DrawnElement], other: Mapping[str, DrawnElement]) -> bool:
    """Return whether every element stays in place, within ``STILL``: all differences are then noise."""
    return one.keys() == other.keys() and all(
        abs(a - b) <= STILL for key in one for a, b in zip(one[key].box, other[key].box, strict=True)
    )


def change_of(edit: Edit, before: DrawnPicture, after: DrawnPicture) -> ScreenChange | None:
    """Return the truth of an edit; None where it altered no pixel, or its elements are not in the picture."""
    if np.array_equal(before.pixels, after.pixels):
        return None
    was = [_whole(before.elements, key, before.pixels) for key in edit.keys]
    there = [_whole(after.elements, key, after.pixels) for key in edit.keys]
    if edit.kind == "added":
        was = [None for _ in was]
    if edit.kind == "removed":
        there = [None for _ in there]
    boxes = tuple((one, other) for one, other in zip(was, there, strict=True) if one or other)
    if not boxes:
        return None
    box_before, box_after = (around(pair[side] for pair in boxes) for side in (0, 1))
    if edit.trimmed and before.pixels.shape == after.pixels.shape:
        near = around([box_before, box_after])
        shown = near and _differing(before.pixels, after.pixels, near)
        if not shown:
            return None
        box_before, box_after = box_before and shown, box_after and shown
        boxes = ((box_before, box_after),)
    text = next(
        (drawn.elements[k].text for drawn in (after, before) for k in edit.keys if k in drawn.elements), ""
    )
    return ScreenChange(
        edit.kind,
        edit.element,
        edit.name or text,
        box_before,
        box_after,
        {"aspect": edit.aspect, **edit.values, **_steps(edit, box_before, box_after)},
        boxes,
        tuple(_consequences(edit, before, after)),
    )


def _steps(edit: Edit, before: Box | None, after: Box | None) -> dict[str, Value]:
    """Return how far the element moved, or by how much it grew, in whole pixels."""
    if before is None or after is None or edit.trimmed:
        return {}
    if edit.kind == "moved":
        return {"dx": after[0] - before[0], "dy": after[1] - before[1]}
    if edit.kind == "resized":
        grew = [(after[k + 2] - after[k]) - (before[k + 2] - before[k]) for k in (0, 1)]
        return {"dwidth": grew[0], "dheight": grew[1]}
    return {}


def _consequences(edit: Edit, before: DrawnPicture, after: DrawnPicture) -> list[Motion]:
    """Return the other elements that moved by a pixel or more."""
    moved = []
    own = [after.elements[key].box for key in edit.keys if key in after.elements]
    for key, one in before.elements.items():
        other = after.elements.get(key)
        if key in edit.keys or other is None or not one.moves or one.text != other.text:
            continue
        if any(_inside(other.box, box) for box in own):
            continue
        steps = [b - a for a, b in zip(one.box, other.box, strict=True)]
        rigid = abs(steps[2] - steps[0]) <= 1 and abs(steps[3] - steps[1]) <= 1
        if rigid and max(abs(step) for step in steps) >= 1:
            was, there = (
                _whole(before.elements, key, before.pixels),
                _whole(after.elements, key, after.pixels),
            )
            if was and there:
                moved.append(Motion(was, there))
    return moved


def _inside(box: Sequence[float], other: Sequence[float]) -> bool:
    return box[0] >= other[0] and box[1] >= other[1] and box[2] <= other[2] and box[3] <= other[3]


def _whole(elements: Mapping[str, DrawnElement], key: str, pixels: Pixels) -> Box | None:
    """Return an element's box in whole pixels inside the picture; None where it is outside."""
    if key not in elements:
        return None
    height, width = pixels.shape[:2]
    left, top, right, bottom = elements[key].box
    box = (
        max(0, int(np.floor(left + 1e-6))),
        max(0, int(np.floor(top + 1e-6))),
        min(width, int(np.ceil(right - 1e-6))),
        min(height, int(np.ceil(bottom - 1e-6))),
    )
    return box if box[0] < box[2] and box[1] < box[3] else None


def _differing(before: Pixels, after: Pixels, near: Box) -> Box | None:
    """Return the bounding box of the visible differences in a region of two pictures."""
    left, top, right, bottom = near
    part = (slice(top, bottom), slice(left, right))
    differs = np.abs(before[part].astype(np.int16) - after[part]).max(axis=2) > FAINT_LEVELS
    return box_around(differs, left, top)


def farthest(before: DrawnPicture, after: DrawnPicture) -> float:
    """Return the largest movement of a side of a box that both drawings have, in pixels."""
    steps = [
        abs(a - b)
        for key in before.elements.keys() & after.elements.keys()
        for a, b in zip(before.elements[key].box, after.elements[key].box, strict=True)
    ]
    return max(steps, default=0.0)


def overlap(one: ScreenChange, other: ScreenChange) -> bool:
    """Return whether the boxes of two changes overlap, so that a caption could not separate them."""
    boxes = [box for change in (one, other) for box in (change.box_after or change.box_before,) if box]
    if len(boxes) < 2:
        return False
    a, b = boxes
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
