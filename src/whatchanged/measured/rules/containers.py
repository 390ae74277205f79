"""Things that grew or shrank around their content, and distances between things that changed.

Both are causes: they move whatever follows. They are told only if nothing but distances differs.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from whatchanged.measured.pixels.boxes import area, common, union
from whatchanged.measured.pixels.layers import RGBColor, far
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box
from whatchanged.measured.rules.detected import DetectedChange
from whatchanged.measured.rules.kinds import Finding
from whatchanged.measured.rules.layout import ONE_COLOR, Cut, matching_cuts

LEAST_STEP = 2
"""The least change of a distance in pixels that is described. Things at a fraction of a pixel may move by
one."""
SIDES = (("top", "bottom"), ("left", "right"))
"""The names of the first and the last side, by axis."""
FRAME = 6
"""The largest thickness in pixels of a frame whose inside is no thing of its own."""
FEWEST_ROWS = 2
"""The least number of alike rows on the ground of a page. One alone is told by the gap that it changes."""


@dataclass
class _Container:
    """A thing that grew or shrank around its content.

    boxes  its boxes before and after
    space  how many pixels of space each side gained
    row    whether it is a row between lines
    whole  whether it is such a row with a line at both sides
    """

    boxes: tuple[Box, Box]
    space: dict[str, int] = field(default_factory=dict)
    row: bool = False
    whole: bool = False

    @property
    def steps(self) -> tuple[int, int]:
        """How much wider and taller the thing became."""
        was, now = self.boxes
        return now[2] - now[0] - was[2] + was[0], now[3] - now[1] - was[3] + was[1]


@dataclass(frozen=True)
class _Space:
    """A distance between two things that changed.

    axis    0 between things below each other, 1 beside each other
    step    the number of pixels that it gained
    things  the boxes, before and after, of the thing before the space and of that after it
    """

    axis: int
    step: int
    things: tuple[tuple[Box, Box], tuple[Box, Box]]


def container_changes(before: Pixels, after: Pixels) -> list[DetectedChange]:
    """Return the containers that grew or shrank and the gaps that changed, the outer ones first.

    The list is empty if anything else differs between two pictures, or if the space at one end of the whole
    picture is all that changed.
    """
    cuts = matching_cuts(before, after)
    if not cuts:
        return []
    containers: dict[tuple[Box, Box], _Container] = {}
    spaces: list[_Space] = []
    for cut in cuts:
        if cut.holder is not None:
            containers.setdefault(cut.holder, _Container(cut.holder))
        for one in _of_cut(cut):
            if isinstance(one, _Space):
                spaces.append(one)
            else:
                known = containers.setdefault(one.boxes, one)
                known.space.update(one.space)
    whole = ((0, 0, before.shape[1], before.shape[0]), (0, 0, after.shape[1], after.shape[0]))
    causes = [one for one in containers.values() if _is_cause(one, list(containers.values()), spaces)]
    if len(causes) > 1:
        causes = [one for one in causes if one.boxes != whole or one.space]
    if not spaces and all(one.boxes == whole and len(one.space) < 2 for one in causes):
        return []
    groups = _alike_containers(causes)
    changes = [_resized(group, cuts, whole) for group in groups]
    told = [one for group in groups for one in group]
    return changes + [_gaps(group, cuts) for group in _alike_spaces(spaces, told)]


def _is_cause(one: _Container, containers: Sequence[_Container], spaces: Sequence[_Space]) -> bool:
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


def _is_within(one: _Container, other: _Container) -> bool:
    """Return whether a container lies in another one, in both pictures."""
    return all(common(a, b) == area(a) for a, b in zip(one.boxes, other.boxes, strict=True))


def _is_frame_of(one: _Container, other: _Container) -> bool:
    """Return whether a container is no more than the frame of another one."""
    was, now = one.boxes[1], other.boxes[1]
    return _is_within(other, one) and one.steps == other.steps and max(
        abs(a - b) for a, b in zip(was, now, strict=True)
    ) <= FRAME


def _is_space_in(space: _Space, one: _Container) -> bool:
    """Return whether a space lies in a container."""
    return all(common(thing[1], one.boxes[1]) == area(thing[1]) for thing in space.things)


def _of_cut(cut: Cut) -> Iterator[_Container | _Space]:
    """Yield the containers and spaces that changed at the segments of a cut."""
    count = len(cut.segments)
    total = sum(cut.step(k) for k in range(count))
    contents = [k for k in range(count) if cut.segments[k][0].color is None and not cut.is_line(k)]
    grown = sum(cut.step(k) for k in contents)
    bands = _bands(cut)
    base = _base(cut)
    between = [cut.step(k) for k in range(contents[0] + 1, contents[-1]) if cut.segments[k][0].color] if contents else []
    shared = not total and any(step > 0 for step in between) and any(step < 0 for step in between)
    for first, last in bands:
        inner = [k for k in contents if first <= k <= last]
        if not inner:
            step = sum(cut.step(k) for k in range(first, last + 1))
            beside = [k for k in contents if k < first][-1:] + [k for k in contents if k > last][:1]
            if abs(step) >= LEAST_STEP and len(beside) == 2 and not shared and not cut.is_line(first):
                around = [next(band for band in bands if band[0] <= k <= band[1]) for k in beside]
                yield _Space(cut.axis, step, (cut.boxes(*around[0]), cut.boxes(*around[1])))
            continue
        ends = sum(cut.step(k) for k in range(first, inner[0])), sum(
            cut.step(k) for k in range(inner[-1] + 1, last + 1)
        )
        alone = len(bands) == 1
        visible = cut.holder is not None if alone else _stands_out(cut, first, last, base)
        room = total if alone else sum(cut.step(k) for k in range(first, last + 1))
        row = not alone and _is_base(cut, first, last, base)
        bounded = bool(total) or (first > 0 and last < count - 1)
        if row and (len(inner) > 1 or not bounded):  # The first or the last row, and what is above or below it.
            for end, k, beside_it in ((ends[0], inner[0], first - 1), (ends[1], inner[-1], last + 1)):
                if abs(end) >= LEAST_STEP and 0 <= beside_it < count and not shared:
                    pair = (cut.boxes(beside_it, beside_it), cut.boxes(k, k))
                    yield _Space(cut.axis, end, (pair[0], pair[1]) if beside_it < k else (pair[1], pair[0]))
        elif visible and any(ends) and (not alone or total) and abs(room) >= LEAST_STEP:
            boxes = cut.holder if alone and cut.holder is not None else cut.boxes(first, last)
            space = {
                side: step for side, step in zip(SIDES[cut.axis], ends, strict=True) if abs(step) >= LEAST_STEP
            }
            yield _Container(boxes, space, row, row and first > 0 and last < count - 1)
        for one, other in zip(inner, inner[1:], strict=False):
            step = sum(cut.step(k) for k in range(one + 1, other))
            makes_room = shared or (not total and grown * step < 0)
            if abs(step) >= LEAST_STEP and not makes_room:
                yield _Space(cut.axis, step, (cut.boxes(one, one), cut.boxes(other, other)))
        following = next((k for k in contents if k > last), None)
        if alone or following is None:
            continue
        step = sum(cut.step(k) for k in range(inner[-1] + 1, following) if cut.segments[k][0].color == base)
        beside = [band for band in bands if band[0] <= following <= band[1]]
        plain = not visible or not _stands_out(cut, *beside[0], base)
        if plain and abs(step) >= LEAST_STEP and not shared and (total or grown * step >= 0):
            yield _Space(cut.axis, step, (cut.boxes(inner[-1], inner[-1]), cut.boxes(following, following)))


def _bands(cut: Cut) -> list[tuple[int, int]]:
    """Return the first and the last segment of the bands of a cut, which end where the colour changes."""
    lines = [cut.is_line(k) for k in range(len(cut.segments))]
    bands = [[0]]
    for number in range(1, len(cut.segments)):
        was, now = (cut.segments[k][0].color for k in (number - 1, number))
        if (was is not None and now is not None) or lines[number - 1] or lines[number]:
            bands.append([])
        bands[-1].append(number)
    return [(band[0], band[-1]) for band in bands]


def _base(cut: Cut) -> RGBColor | None:
    """Return the colour of most empty lines of a cut."""
    lengths: dict[RGBColor, int] = {}
    for segment, _ in cut.segments:
        if segment.color is not None:
            lengths[segment.color] = lengths.get(segment.color, 0) + segment.length
    return max(lengths, key=lambda color: lengths[color], default=cut.ground)


def _is_base(cut: Cut, first: int, last: int, base: RGBColor | None) -> bool:
    """Return whether a band has the colour of most empty lines."""
    own = next((cut.segments[k][0].color for k in range(first, last + 1) if cut.segments[k][0].color), None)
    return own is None or base is None or far(own, base) <= ONE_COLOR


def _stands_out(cut: Cut, first: int, last: int, base: RGBColor | None) -> bool:
    """Return whether a band has a colour of its own, or lies between two lines."""
    return not _is_base(cut, first, last, base) or last - first + 1 < len(cut.segments)


def _alike_containers(containers: Sequence[_Container]) -> list[list[_Container]]:
    """Return the containers that changed in the same way together, the largest groups first."""
    groups: dict[tuple[object, ...], list[_Container]] = {}
    for one in containers:
        if any(abs(step) >= LEAST_STEP for step in one.steps):
            groups.setdefault((one.steps, *sorted(one.space.items())), []).append(one)
    found = [group for group in groups.values() if len(group) >= FEWEST_ROWS or not group[0].row or group[0].whole]
    return sorted(found, key=lambda group: -sum(area(one.boxes[1]) for one in group))


def _resized(
    group: Sequence[_Container], cuts: Sequence[Cut], whole: tuple[Box, Box]
) -> DetectedChange:
    """Return the change of alike containers."""
    first = group[0]
    wider, taller = first.steps
    values: dict[str, object] = {"dwidth": wider, "dheight": taller, "space": first.space}
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


def _alike_spaces(spaces: Sequence[_Space], containers: Sequence[_Container]) -> list[list[_Space]]:
    """Return the spaces that changed by the same step together, each place once.

    The space beside the first of several rows that grew belongs to that row.
    """
    in_rows = {
        step for one in containers for step in (*one.space.values(), sum(one.space.values())) if one.space
    }
    groups: dict[tuple[int, int], list[_Space]] = {}
    for one in spaces:
        known = groups.setdefault((one.axis, one.step), [])
        if one.step not in in_rows and not any(_is_beside(one, other) for other in known):
            known.append(one)
    return sorted(
        (group for group in groups.values() if group), key=lambda group: -len(group) * abs(group[0].step)
    )


def _is_beside(one: _Space, other: _Space) -> bool:
    """Return whether two spaces cover some of the same lines."""
    (start, stop), (first, last) = (
        (space.things[0][1][3 - space.axis], space.things[1][1][1 - space.axis]) for space in (one, other)
    )
    return start < last and first < stop


def _gaps(group: Sequence[_Space], cuts: Sequence[Cut]) -> DetectedChange:
    """Return the change of alike spaces: the gap beside one thing, both gaps beside it, or those between
    several."""
    axis, step = group[0].axis, group[0].step
    moved = [next(((one[0], one[1]) for one in space.things[::-1] if one[0] != one[1]), space.things[1]) for space in group]
    things = sorted(
        {thing for space in group for thing in space.things}, key=lambda thing: thing[1][1 - axis]
    )
    values: dict[str, object] = {"step": step}
    if len(group) == 1:
        after_it = moved[0] == group[0].things[1]
        values["side"] = (("below", "above"), ("right of", "left of"))[axis][after_it]
        things = moved
    elif len(things) == len(group) + 1 == 3:
        values["side"] = ("above and below", "left and right of")[axis]
        things = things[1:2]
    else:
        values["side"] = "between"
    rest = _rest(things, cuts)
    if any(rest) and abs(rest[1 - axis]) != abs(step):
        values["rest"] = list(rest)
    was, now = (union([thing[end] for thing in things]) for end in (0, 1))
    return DetectedChange(
        Finding("moved", "gap", 0.7, values),
        was,
        now,
        abs(step) * sum(thing[1][2 + axis] - thing[1][axis] for thing in things),
        boxes=tuple(thing[1] for thing in things) if len(things) > 1 else (),
    )


def _rest(things: Sequence[tuple[Box, Box]], cuts: Sequence[Cut]) -> tuple[int, int]:
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
