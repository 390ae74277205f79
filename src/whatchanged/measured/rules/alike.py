"""Merging of similar changes of similar objects into one change that keeps the box of each object."""

from collections.abc import Sequence
from dataclasses import replace

from whatchanged.measured.pixels.boxes import gap, union
from whatchanged.measured.result import Box
from whatchanged.measured.rules.detected import DetectedChange
from whatchanged.measured.rules.kinds import TEXT_HEIGHT

# The limits were set by hand on real pairs of training repositories (`benchmarks/screens/real_pairs.py`).
ONE_SIZE = 0.75
"""The least ratio between corresponding sides of two similar objects."""
TOGETHER = 20
"""The largest distance in pixels between parts of the same object."""
ONE_STEP = 1
"""The largest difference, in pixels, between the movements of objects that moved together."""
ONE_COLOR = 16
"""The largest difference, in levels, between the colours of similar objects."""
OF_A_STYLE = ("restyled", "replaced", "resized", None)
"""Kinds that have a common cause at any distance: a style, a scale or a set of pictures."""


def merged(changes: Sequence[DetectedChange]) -> list[DetectedChange]:
    """Merge similar changes and return the results, the largest first.

    A change joins a group if it is similar to any member.
    """
    groups: list[list[DetectedChange]] = []
    for one in sorted(_of_one_thing(changes), key=lambda one: -one.pixels):
        near = [group for group in groups if any(_alike(one, other) for other in group)]
        groups = [group for group in groups if group not in near]
        groups.append([*(other for group in near for other in group), one])
    return [_together(group) for group in groups]


def _of_one_thing(changes: Sequence[DetectedChange]) -> list[DetectedChange]:
    """Return the changes in which an object that grew or shrank at several places, as a paragraph does whose
    lines stand further apart, did so once, by the sum.

    What stands below it must have moved by this sum. Equal amounts may be those of two objects.
    """
    pushed = [one for one in changes if one.finding.kind == "moved" and not one.cause]
    rest = max((int(one.finding.values.get("dy", 0)) for one in pushed), key=abs, default=0)
    for first in changes:
        parts = [one for one in changes if _in_one_thing(first, one)]
        was = first.box_before
        steps = [int(one.finding.values["dy"]) for one in parts]
        total = sum(steps)
        if len(set(steps)) < 2 or was is None or abs(total - rest) > ONE_STEP:
            continue
        whole = replace(
            first,
            finding=replace(first.finding, values={**first.finding.values, "dy": total}),
            box_after=(was[0], was[1], was[2], max(was[1] + 1, was[3] + total)),
            pixels=sum(one.pixels for one in parts),
        )
        return [whole, *(one for one in changes if not any(one is part for part in parts))]
    return list(changes)


def _in_one_thing(one: DetectedChange, other: DetectedChange) -> bool:
    """Return whether two changes of height, in one direction, are changes of one object."""
    steps = [change.finding.values.get("dy", 0) for change in (one, other)]
    boxes = [change.box_before for change in (one, other)]
    if (
        boxes[0] is None
        or boxes[1] is None
        or min(steps) * max(steps) <= 0
        or not (one.cause and other.cause)
    ):
        return False
    lengths = all((each.finding.kind, each.finding.aspect) == ("resized", "length") for each in (one, other))
    near = all(abs(side - beside) <= ONE_STEP for side, beside in zip(*boxes, strict=True))
    return lengths and near and all(len(each.boxes) < 2 and each.box_after for each in (one, other))


def _alike(one: DetectedChange, other: DetectedChange) -> bool:
    """Return whether two changes are described as one.

    They must have the same kind and aspect, and similar or adjacent objects. Moved objects must have moved by
    the same step, unless another change pushed them. Recoloured objects must have similar colours before and
    similar colours after, or be adjacent.
    """
    kind = one.finding.kind
    if (one.cause, kind, one.finding.aspect) != (other.cause, other.finding.kind, other.finding.aspect):
        return False
    if _direction(one) != _direction(other) or not (
        one.element == other.element or _may_be_one_sort(one, other)
    ):
        return False
    if kind in OF_A_STYLE:
        return True
    if kind == "moved":
        return not one.cause or _one_step(one, other)
    near = gap(_box(one), _box(other)) <= TOGETHER
    if one.finding.aspect == "surface":
        return one.finding.values == other.finding.values
    if kind == "recolored":
        return near or _one_color(one, other)
    return near or _one_size(_box(one), _box(other))


def _may_be_one_sort(one: DetectedChange, other: DetectedChange) -> bool:
    """Return whether two objects that came or went are of one sort, because they have one size, though the
    sort of only one of them is known."""
    sides = [(box[2] - box[0], box[3] - box[1]) for box in (_box(one), _box(other))]
    one_size = all(abs(a - b) <= ONE_STEP for a, b in zip(*sides, strict=True))
    return one.finding.kind in ("added", "removed") and one_size and None in (one.element, other.element)


def _direction(change: DetectedChange) -> tuple[object, ...]:
    """Return the direction of a measured change: a state that began or ended, or an amount that grew or
    shrank."""
    values = change.finding.values
    one, other = values.get("amount_before"), values.get("amount_after")
    more = values.get("rounder") if one is None or other is None else other > one
    grew = values.get("grew") if values.get("drawing") else None
    return values.get("state"), values.get("on_after"), more, grew


def _one_step(one: DetectedChange, other: DetectedChange) -> bool:
    """Return whether two objects moved by the same step."""
    steps = ([change.finding.values.get(name, 0) for name in ("dx", "dy")] for change in (one, other))
    return all(abs(a - b) <= ONE_STEP for a, b in zip(*steps, strict=True))


def _one_color(one: DetectedChange, other: DetectedChange) -> bool:
    """Return whether two objects changed from similar colours to similar colours."""
    pairs = [
        [change.finding.values.get(name) for change in (one, other)]
        for name in ("color_before", "color_after")
    ]
    return all(a is not None and b is not None and _far(a, b) <= ONE_COLOR for a, b in pairs)


def _far(one: str, other: str) -> int:
    """Return the largest difference of a channel between two colours in the form "#rrggbb"."""
    return max(abs(a - b) for a, b in zip(bytes.fromhex(one[1:]), bytes.fromhex(other[1:]), strict=True))


def _one_size(one: Box, other: Box) -> bool:
    """Return whether two objects have similar sizes, or are lines of text of similar height."""
    sides = [(box[2] - box[0], box[3] - box[1]) for box in (one, other)]
    across, down = (min(pair) >= ONE_SIZE * max(pair) for pair in zip(*sides, strict=True))
    return down and (across or max(side[1] for side in sides) <= TEXT_HEIGHT)


def _box(one: DetectedChange) -> Box:
    """Return the box of an object in the picture after, or in the picture before if it was removed."""
    return one.box_after or one.box_before or (0, 0, 0, 0)


def _together(group: Sequence[DetectedChange]) -> DetectedChange:
    """Combine similar changes into one change.

    Its boxes enclose the boxes of all changes. Its values are those that the changes share.
    """
    first = max(group, key=lambda one: one.pixels)
    before = [one.box_before for one in group if one.box_before]
    after = [one.box_after for one in group if one.box_after]
    alike = all(one.finding.values == first.finding.values for one in group)
    return replace(
        first,
        finding=first.finding if alike else replace(first.finding, values=_shared(group)),
        box_before=union(before) if before else None,
        box_after=union(after) if after else None,
        pixels=sum(one.pixels for one in group),
        boxes=tuple(box for one in group for box in one.boxes or (_box(one),)),
        element=next((one.element for one in group if one.element), None),
        look=first.look if all(one.look == first.look for one in group) else None,
    )


def _shared(group: Sequence[DetectedChange]) -> dict[str, object]:
    """Return the values of a group whose values differ.

    They are the values of the largest change if the group has similar colours, steps or directions. Otherwise
    they only say whether all objects grew or all shrank.
    """
    first = max(group, key=lambda one: one.pixels)
    if first.finding.kind == "recolored" and all(_one_color(first, one) for one in group):
        return first.finding.values
    if first.finding.kind == "moved" and all(_one_step(first, one) for one in group):
        return first.finding.values
    if first.finding.values.get("drawing"):
        return {"drawing": True, "grew": first.finding.values["grew"]}
    if any(part is not None for part in _direction(first)):
        return first.finding.values
    return _growth(group)


def _growth(group: Sequence[DetectedChange]) -> dict[str, object]:
    """Return whether all objects of a group became longer, or all of them shorter, by different amounts."""
    values: dict[str, object] = {}
    for name, longer in (("dx", "wider"), ("dy", "taller")):
        steps = [int(one.finding.values.get(name, 0)) for one in group if one.finding.aspect == "length"]
        if len(steps) == len(group) and all(steps) and len({step > 0 for step in steps}) == 1:
            values[longer] = steps[0] > 0
    return values
