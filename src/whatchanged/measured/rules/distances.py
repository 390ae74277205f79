"""What the changed distances of a cut tell: a thing that grew around its content, or a gap that grew."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

from whatchanged.measured.pixels.layers import RGBColor, far
from whatchanged.measured.rules.layout import BoxPair, Cut
from whatchanged.measured.rules.segments import ONE_COLOR

LEAST_STEP = 2
"""The least change of a distance in pixels that is described. Things at a fraction of a pixel may move by
one."""
EDGE = 16
"""The largest thickness in pixels of the lower edge of a thing, with its round corners."""
AS_BROAD = 0.95
"""The least breadth of such an edge, as a fraction of that of the thing."""
SIDES = (("top", "bottom"), ("left", "right"))
"""The names of the first and the last side, by axis."""


@dataclass
class Container:
    """A thing that may have grown or shrunk around its content.

    boxes  its boxes before and after
    space  how many pixels of space each side gained
    row    whether it is a row between lines
    whole  whether it is such a row with a line at both sides
    """

    boxes: BoxPair
    space: dict[str, int] = field(default_factory=dict)
    row: bool = False
    whole: bool = False

    @property
    def steps(self) -> tuple[int, int]:
        """How much wider and taller the thing became."""
        was, now = self.boxes
        return now[2] - now[0] - was[2] + was[0], now[3] - now[1] - was[3] + was[1]

    @property
    def is_consistent(self) -> bool:
        """Return whether the thing gained space along the sides that became longer."""
        gained = (sum(self.space.get(side, 0) for side in SIDES[axis]) for axis in (1, 0))
        return all(step * more >= 0 for step, more in zip(self.steps, gained, strict=True))


@dataclass(frozen=True)
class Space:
    """A distance between two things that changed.

    axis    0 between things below each other, 1 beside each other
    step    the number of pixels that it gained
    things  the boxes, before and after, of the thing before the space and of that after it
    """

    axis: int
    step: int
    things: tuple[BoxPair, BoxPair]

    @property
    def lines(self) -> tuple[int, int]:
        """The first and the last line of the space after, exclusive."""
        return self.things[0][1][3 - self.axis], self.things[1][1][1 - self.axis]


class Distances:
    """The changed distances of a cut.

    Its bands end at lines that divide the ground, and where the colour of empty lines changes.
    """

    def __init__(self, cut: Cut) -> None:
        self.cut = cut
        self.last = len(cut.segments) - 1
        self.steps = [cut.step(k) for k in range(self.last + 1)]
        self.total = sum(self.steps)
        lines = [cut.is_line(k) for k in range(self.last + 1)]
        self.lines = lines
        self.contents = [k for k, (one, _) in enumerate(cut.segments) if one.color is None and not lines[k]]

    @cached_property
    def bands(self) -> list[tuple[int, int]]:
        """The first and the last segment of each band."""
        bands = [[0]]
        for number in range(1, self.last + 1):
            was, now = (self.cut.segments[k][0].color for k in (number - 1, number))
            if (was is not None and now is not None) or self.lines[number - 1] or self.lines[number]:
                bands.append([])
            bands[-1].append(number)
        return [(band[0], band[-1]) for band in bands]

    def changes(self) -> Iterator[Container | Space]:
        """Yield the containers and the gaps that changed."""
        for first, last in self.bands:
            inner = [k for k in self.contents if first <= k <= last]
            if not inner:
                yield from self._divider(first, last)
                continue
            yield from self._ends(first, last, inner)
            for one, other in pairwise(inner):
                step = sum(self.steps[one + 1 : other])
                if not self._is_pushed(step):
                    continue
                edges = one == 0 and self._is_edge(0), other == self.last and self._is_edge(other)
                if self.cut.holder is not None and self.total and any(edges):
                    yield Container(self.cut.holder, {SIDES[self.cut.axis][not edges[0]]: step})
                else:
                    yield self._space(step, one, other)

    def _divider(self, first: int, last: int) -> Iterator[Space]:
        """Yield the gap between two bands, if empty lines of a colour of their own divide them."""
        step = sum(self.steps[first : last + 1])
        beside = [k for k in self.contents if k < first][-1:] + [k for k in self.contents if k > last][:1]
        if len(beside) == 2 and self._is_pushed(step) and not self.lines[first]:
            one, other = (next(band for band in self.bands if band[0] <= k <= band[1]) for k in beside)
            yield Space(self.cut.axis, step, (self.cut.boxes(*one), self.cut.boxes(*other)))

    def _ends(self, first: int, last: int, inner: list[int]) -> Iterator[Container | Space]:
        """Yield what the distances at both ends of a band tell: a container grew, or a gap at the band's end.

        The first and the last row of a table have no line at one side, so that only the gap at the other side
        is known. At the edges of a picture of one size, distances follow from all others.
        """
        ends = sum(self.steps[first : inner[0]]), sum(self.steps[inner[-1] + 1 : last + 1])
        alone = len(self.bands) == 1
        row = not alone and self._is_ground(first, last)
        bounded = first > 0 and last < self.last
        if row and ((len(inner) > 1 and not (self.total and all(ends))) or not (self.total or bounded)):
            for end, k, line in ((ends[0], inner[0], first - 1), (ends[1], inner[-1], last + 1)):
                if self._is_pushed(end) and 0 < line < self.last:
                    yield self._space(end, *sorted((k, line)))
            return
        room = self.total if alone else sum(self.steps[first : last + 1])
        at_edge = (not first and ends[0]) or (last == self.last and ends[1])
        if not any(ends) or abs(room) < LEAST_STEP or (not self.total and (alone or at_edge)):
            return
        boxes = self.cut.holder if alone else self.cut.boxes(first, last)
        if boxes is not None:
            steps = zip(SIDES[self.cut.axis], ends, strict=True)
            space = {side: step for side, step in steps if abs(step) >= LEAST_STEP}
            row = row and len(inner) == 1
            yield Container(boxes, space, row, row and bounded)

    def _space(self, step: int, one: int, other: int) -> Space:
        return Space(self.cut.axis, step, (self.cut.boxes(one, one), self.cut.boxes(other, other)))

    def _is_pushed(self, step: int) -> bool:
        """Return whether a changed distance moved what follows, and did not follow from something else."""
        if abs(step) < LEAST_STEP or step == -self._leading:
            return False
        if self.total:
            return self.cut.axis == 0 or self.total != step or self.cut.holder is None
        grown = sum(self.steps[k] for k in self.contents)
        inner = range(self.contents[0] + 1, self.contents[-1])
        between = [self.steps[k] for k in inner if self.cut.segments[k][0].color is not None]
        return grown * step >= 0 and not (min(between, default=0) < 0 < max(between, default=0))

    @property
    def _leading(self) -> int:
        """The change of the distance before all content. What moves towards the rest leaves that in place."""
        return self.steps[0] if self.cut.segments[0][0].color is not None else 0

    def _is_edge(self, number: int) -> bool:
        """Return whether content is an edge of the holder: thin, perhaps with round corners, and as broad."""
        if self.cut.holder is None or max(one.length for one in self.cut.segments[number]) > EDGE:
            return False
        low, high = self.cut.axis, self.cut.axis + 2
        one, whole = self.cut.boxes(number, number)[1], self.cut.holder[1]
        return one[high] - one[low] >= AS_BROAD * (whole[high] - whole[low])

    def _is_ground(self, first: int, last: int) -> bool:
        """Return whether a band has the colour of most empty lines."""
        segments = [one for one, _ in self.cut.segments]
        own = next((one.color for one in segments[first : last + 1] if one.color is not None), None)
        lengths: dict[RGBColor, int] = {}
        for one in segments:
            if one.color is not None:
                lengths[one.color] = lengths.get(one.color, 0) + one.length
        ground = max(lengths, key=lambda color: lengths[color], default=None)
        return own is None or ground is None or far(own, ground) <= ONE_COLOR
