"""Alike changes of alike things as one: each has a box of its own, and all of them one statement."""

from collections.abc import Sequence
from dataclasses import replace

from whatchanged.measured.pixels.boxes import gap, union
from whatchanged.measured.result import Box
from whatchanged.measured.rules.detected import DetectedChange
from whatchanged.measured.rules.kinds import TEXT_HEIGHT

# Set by hand on real pairs of training repositories (`benchmarks/screens/real_pairs.py`).
ONE_SIZE = 0.75
"""Of two alike things each side of one is at least this part of the other's."""
TOGETHER = 20
"""Pixels between parts of one thing at most."""
ONE_STEP = 1
"""Pixels by which things that moved as one may differ in how far they went."""
ONE_COLOR = 16
"""Levels by which colours of alike things may differ."""
OF_A_STYLE = ("restyled", "replaced", "resized", None)
"""Kinds that have one cause wherever they are seen: a style, a scale, a set of pictures."""


def merged(changes: Sequence[DetectedChange]) -> list[DetectedChange]:
    """Alike changes as one, the largest first: a change belongs to all that are alike to one of them."""
    groups: list[list[DetectedChange]] = []
    for one in sorted(changes, key=lambda one: -one.pixels):
        near = [group for group in groups if any(_alike(one, other) for other in group)]
        groups = [group for group in groups if group not in near]
        groups.append([*(other for group in near for other in group), one])
    return [_together(group) for group in groups]


def _alike(one: DetectedChange, other: DetectedChange) -> bool:
    """Whether two changes are told as one: of one kind and finer word, and of alike things or near.

    What moved must have moved by the same step, unless something else pushed it; what turned to another
    colour must have turned from about the same one to about the same one, or lie near.
    """
    kind = one.finding.kind
    if (one.cause, kind, one.finding.aspect) != (other.cause, other.finding.kind, other.finding.aspect):
        return False
    if one.element != other.element or _direction(one) != _direction(other):
        return False
    if kind in OF_A_STYLE:
        return True
    if kind == "moved":
        return not one.cause or _one_step(one, other)
    near = gap(_box(one), _box(other)) <= TOGETHER
    if kind == "recolored":
        return near or _one_color(one, other)
    return near or _one_size(_box(one), _box(other))


def _direction(change: DetectedChange) -> tuple[object, ...]:
    """Which way a measured attribute went: what became so or no longer is so, what became more or less."""
    values = change.finding.values
    one, other = values.get("amount_before"), values.get("amount_after")
    more = None if one is None or other is None else other > one
    return values.get("state"), values.get("on_after"), more


def _one_step(one: DetectedChange, other: DetectedChange) -> bool:
    """Whether two things moved by the same step."""
    steps = ([change.finding.values.get(name, 0) for name in ("dx", "dy")] for change in (one, other))
    return all(abs(a - b) <= ONE_STEP for a, b in zip(*steps, strict=True))


def _one_color(one: DetectedChange, other: DetectedChange) -> bool:
    """Whether two things turned from about the same colour to about the same colour."""
    pairs = [
        [change.finding.values.get(name) for change in (one, other)]
        for name in ("color_before", "color_after")
    ]
    return all(a is not None and b is not None and _far(a, b) <= ONE_COLOR for a, b in pairs)


def _far(one: str, other: str) -> int:
    """The largest step of a channel between two colours as they are written, "#rrggbb"."""
    return max(abs(a - b) for a, b in zip(bytes.fromhex(one[1:]), bytes.fromhex(other[1:]), strict=True))


def _one_size(one: Box, other: Box) -> bool:
    """Whether two things are of about one size, or two lines of text about equally high."""
    sides = [(box[2] - box[0], box[3] - box[1]) for box in (one, other)]
    across, down = (min(pair) >= ONE_SIZE * max(pair) for pair in zip(*sides, strict=True))
    return down and (across or max(side[1] for side in sides) <= TEXT_HEIGHT)


def _box(one: DetectedChange) -> Box:
    """Where something is, or was where it is gone."""
    return one.box_after or one.box_before or (0, 0, 0, 0)


def _together(group: Sequence[DetectedChange]) -> DetectedChange:
    """Alike changes as one; its boxes are around theirs, its values those of all, if all have the same."""
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
        look=first.look if all(one.look == first.look for one in group) else None,
    )


def _shared(group: Sequence[DetectedChange]) -> dict[str, object]:
    """What is told of a group whose values differ: the colours, the step or the amounts of the largest, where
    alike."""
    first = max(group, key=lambda one: one.pixels)
    if first.finding.kind == "recolored" and all(_one_color(first, one) for one in group):
        return first.finding.values
    if first.finding.kind == "moved" and all(_one_step(first, one) for one in group):
        return first.finding.values
    if any(part is not None for part in _direction(first)):
        return first.finding.values
    return {}
