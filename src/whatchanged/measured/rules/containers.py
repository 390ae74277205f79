"""Things that grew or shrank around their content, and distances between things that changed.

Both are causes: they move whatever follows. They are told only if nothing but distances differs.
"""

from collections.abc import Sequence
from itertools import takewhile

import numpy as np

from whatchanged.measured.pixels.boxes import area, common, union
from whatchanged.measured.pixels.layers import RGBColor, far, usual_color
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box
from whatchanged.measured.rules.detected import DetectedChange
from whatchanged.measured.rules.distances import LEAST_STEP, SIDES, Container, Distances, Space
from whatchanged.measured.rules.kinds import Finding
from whatchanged.measured.rules.layout import BoxPair, Cut, matching_cuts

FRAME = 6
"""The largest thickness in pixels of a frame whose inside is no thing of its own."""
BEYOND, FAINTEST = 3, 4
"""The distance in pixels from a side at which the ground is compared, and the least difference of its colour,
in levels."""
FEWEST_ROWS = 2
"""The least number of alike rows on the ground of a page. One alone is told by the gap that it changes."""


def container_changes(before: Pixels, after: Pixels) -> list[DetectedChange]:
    """Return the containers that grew or shrank and the gaps that changed, the outer ones first.

    The list is empty if anything else differs between two pictures, or if the space at one end of the whole
    picture is all that changed.
    """
    cuts = matching_cuts(before, after)
    if not cuts:
        return []
    containers: dict[BoxPair, Container] = {}
    spaces: list[Space] = []
    for cut in cuts:
        if cut.holder is not None:
            containers.setdefault(cut.holder, Container(cut.holder))
        for one in Distances(cut).changes():
            if isinstance(one, Space):
                spaces.append(one)
            else:
                known = containers.setdefault(one.boxes, one)
                known.space.update(one.space)
    whole = ((0, 0, before.shape[1], before.shape[0]), (0, 0, after.shape[1], after.shape[0]))
    causes = [one for one in containers.values() if _is_cause(one, list(containers.values()), spaces)]
    if len(causes) > 1:
        causes = [one for one in causes if one.boxes != whole or one.space]
    causes = [one for one in causes if one.is_consistent and not _is_by_gaps(one, spaces)]
    if _are_exchanged(causes) or any(cut.holder != whole and _is_bar(cut) for cut in cuts):
        return []
    framed = {whole, *(cut.holder for cut in cuts if cut.framed)}
    causes = [one for one in causes if one.row or one.boxes in framed or _is_closed(after, one.boxes[1])]
    groups = _alike_containers(causes)
    changes = [_resized(group, cuts, whole) for group in groups]
    told = [one for group in groups for one in group]
    gaps = _alike_spaces(spaces, told)
    if not gaps and all(one.boxes == whole and len(one.space) < 2 for one in told):
        return []
    return changes + [_gaps(group, cuts) for group in gaps]


def _are_exchanged(containers: Sequence[Container]) -> bool:
    """Return whether one container took the room that another one lost, as at the end of a bar in another."""
    steps = [[one.steps[1 - axis] for one in containers] for axis in (0, 1)]
    return any(min(along, default=0) < 0 < max(along, default=0) for along in steps)


def _is_bar(cut: Cut) -> bool:
    """Return whether a cut has only two segments, of which one became longer and the other one shorter."""
    return len(cut.segments) == 2 and cut.step(0) == -cut.step(1) != 0 and cut.holder is not None


def _is_closed(pixels: Pixels, box: Box) -> bool:
    """Return whether a box differs in colour from what is beyond each of its sides, unless that is the edge
    of the picture."""
    for axis, (start, stop) in ((0, box[1::2]), (1, box[0::2])):
        lines = np.moveaxis(pixels, axis, 0)[:, box[axis] : box[axis + 2]]
        for inside, beyond in ((start, start - BEYOND), (stop - 1, stop - 1 + BEYOND)):
            if 0 <= beyond < len(lines):
                colors = [_middle_color(lines[k]) for k in (inside, beyond)]
                if far(colors[0], colors[1]) <= FAINTEST:
                    return False
    return True


def _middle_color(line: Pixels) -> RGBColor:
    """Return the most frequent colour in the middle of a line (N, 3). A side may be round."""
    middle, half = len(line) // 2, max(1, len(line) // 20)
    return usual_color(line[middle - half : middle + half])


def _is_cause(one: Container, containers: Sequence[Container], spaces: Sequence[Space]) -> bool:
    """Return whether a container grew or shrank by itself, and not with something in it or around it.

    A thing in a taller one made that taller; a wider one makes the things in it wider.
    """
    others = [other for other in containers if other is not one]
    for axis in (0, 1):
        step = one.steps[1 - axis]
        if abs(step) < LEAST_STEP:
            continue
        if set(SIDES[axis]) & set(one.space) and not any(_is_frame_of(other, one) for other in others):
            return True
        inner = [other for other in others if _is_within(other, one) and other.steps[1 - axis] == step]
        outer = [other for other in others if _is_within(one, other) and other.steps[1 - axis] == step]
        between = [space for space in spaces if space.axis == axis and _is_space_in(space, one)]
        others_in = [other for other in others if _is_within(other, one) and other.steps[1 - axis]]
        if axis == 1 and not outer and not between:
            return True
        if axis == 0 and not inner and not between and not others_in:
            return not any(_is_frame_of(other, one) for other in outer)
    return False


def _is_by_gaps(one: Container, spaces: Sequence[Space]) -> bool:
    """Return whether a thing grew or shrank by the gaps between the things in it and after the last of them,
    which all changed by one step, as the margins of list items do."""
    for axis in (0, 1):
        own = [one.space[side] for side in SIDES[axis] if side in one.space]
        inner: list[Space] = []
        for space in spaces:
            if (
                space.axis == axis
                and _is_space_in(space, one)
                and not any(_is_beside(space, known) for known in inner)
            ):
                inner.append(space)
        steps = {*own, *(space.step for space in inner)}
        if len(own) == 1 and len(inner) > 1 and len(steps) == 1:
            return (len(inner) + 1) * own[0] == one.steps[1 - axis]
    return False


def _is_within(one: Container, other: Container) -> bool:
    """Return whether a container lies in another one, in both pictures."""
    return all(common(a, b) == area(a) for a, b in zip(one.boxes, other.boxes, strict=True))


def _is_frame_of(one: Container, other: Container) -> bool:
    """Return whether a container is no more than the frame of another one."""
    was, now = one.boxes[1], other.boxes[1]
    return (
        _is_within(other, one)
        and one.steps == other.steps
        and max(abs(a - b) for a, b in zip(was, now, strict=True)) <= FRAME
    )


def _is_space_in(space: Space, one: Container) -> bool:
    """Return whether a space lies in a container."""
    return all(common(thing[1], one.boxes[1]) == area(thing[1]) for thing in space.things)


def _alike_containers(containers: Sequence[Container]) -> list[list[Container]]:
    """Return the containers that changed in the same way together, the largest groups first."""
    groups: dict[tuple[object, ...], list[Container]] = {}
    for one in containers:
        if any(abs(step) >= LEAST_STEP for step in one.steps):
            groups.setdefault((one.steps, *sorted(one.space.items())), []).append(one)
    found = [
        group for group in groups.values() if len(group) >= FEWEST_ROWS or not group[0].row or group[0].whole
    ]
    return sorted(found, key=lambda group: -sum(area(one.boxes[1]) for one in group))


def _resized(group: Sequence[Container], cuts: Sequence[Cut], whole: BoxPair) -> DetectedChange:
    """Return the change of alike containers."""
    first = group[0]
    wider, taller = first.steps
    values: dict[str, object] = {"dwidth": wider, "dheight": taller}
    if not (wider and taller):
        values = {"dx" if wider else "dy": wider or taller, "grew": wider + taller > 0}
    if first.space:
        values["space"] = first.space
    rest = _rest([one.boxes for one in group], cuts)
    if any(rest):
        values["rest"] = list(rest)
    was, now = (union([one.boxes[end] for one in group]) for end in (0, 1))
    pixels = sum(max(abs(area(one.boxes[1]) - area(one.boxes[0])), 1) for one in group)
    rows = any(one.row for one in group)
    return DetectedChange(
        Finding("resized", "length", 0.8, values),
        was,
        now,
        pixels,
        boxes=tuple(one.boxes[1] for one in group) if len(group) > 1 else (),
        element="picture" if first.boxes == whole else "row" if rows else "box" if len(group) > 1 else None,
    )


def _alike_spaces(spaces: Sequence[Space], containers: Sequence[Container]) -> list[list[Space]]:
    """Return the spaces that changed by the same step together, each place once.

    The space beside the first of several rows that grew belongs to that row.
    """
    in_rows = {
        step for one in containers for step in (*one.space.values(), sum(one.space.values())) if one.space
    }
    groups: dict[tuple[int, int], list[Space]] = {}
    for one in sorted(spaces, key=lambda space: space.lines[1] - space.lines[0]):
        known = groups.setdefault((one.axis, one.step), [])
        if one.step not in in_rows and not any(_is_beside(one, other) for other in known):
            known.append(one)
    # One thing that moved sideways is told by its movement.
    told = [group for group in groups.values() if len(group) > (group[0].axis if group else 0)]
    return sorted(told, key=lambda group: -len(group) * abs(group[0].step))


def _is_beside(one: Space, other: Space) -> bool:
    """Return whether two spaces cover some of the same lines."""
    (start, stop), (first, last) = one.lines, other.lines
    return start < last and first < stop


def _gaps(group: Sequence[Space], cuts: Sequence[Cut]) -> DetectedChange:
    """Return the change of alike spaces: the gap beside one thing, both gaps beside it, or those between
    several."""
    axis, step = group[0].axis, group[0].step
    followers = sorted({space.things[1] for space in group}, key=lambda thing: thing[1][1 - axis])
    things = sorted(
        {thing for space in group for thing in space.things}, key=lambda thing: thing[1][1 - axis]
    )
    values: dict[str, object] = {"step": step}
    if len(things) != len(group) + 1 or len(group) == 1:
        values["side"] = ("above", "left of")[axis]
        things = (
            [_with_followers(cuts, axis, thing) for thing in followers[:1]] if len(group) == 1 else followers
        )
    elif len(things) == 3:
        values["side"] = ("above and below", "left and right of")[axis]
        things = things[1:2]
    else:
        values["side"] = "between"
    rest = _rest(things, cuts)
    if len(group) > 1 and any(rest) and abs(rest[1 - axis]) != abs(step):
        values["rest"] = list(rest)
    was, now = (union([thing[end] for thing in things]) for end in (0, 1))
    return DetectedChange(
        Finding("moved", "gap", 0.7, values),
        was,
        now,
        abs(step) * sum(thing[1][2 + axis] - thing[1][axis] for thing in things),
        boxes=tuple(thing[1] for thing in things) if len(things) > 1 else (),
    )


def _with_followers(cuts: Sequence[Cut], axis: int, thing: BoxPair) -> BoxPair:
    """Return the boxes of a thing together with those after it that moved with it."""
    low = 1 - axis
    step = thing[1][low] - thing[0][low]
    for cut in cuts:
        contents = [cut.boxes(k, k) for k, (segment, _) in enumerate(cut.segments) if segment.color is None]
        if cut.axis == axis and thing in contents:
            after = contents[contents.index(thing) :]
            together = list(takewhile(lambda one: one[1][low] - one[0][low] == step, after))
            return union([one[0] for one in together]), union([one[1] for one in together])
    return thing


def _rest(things: Sequence[BoxPair], cuts: Sequence[Cut]) -> tuple[int, int]:
    """Return how far the last thing after these moved, right and down."""
    steps = [0, 0]
    was, now = (union([thing[end] for thing in things]) for end in (0, 1))
    for cut in cuts:
        part = cut.parts[1].box
        if steps[1 - cut.axis] or common(part, now) < area(now):
            continue
        low, high = 1 - cut.axis, 3 - cut.axis
        contents = [k for k, (segment, _) in enumerate(cut.segments) if segment.color is None]
        for k in contents[::-1]:
            before, after = cut.boxes(k, k)
            if after[low] >= now[high] and before[low] >= was[high]:
                steps[1 - cut.axis] = after[low] - before[low]
                break
    return steps[0], steps[1]
