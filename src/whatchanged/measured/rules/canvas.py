"""Pictures of different sizes: one was turned, mirrored, cropped or scaled, or lines were added or
removed."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from whatchanged import words
from whatchanged.measured.pixels.boxes import area, common
from whatchanged.measured.pixels.gate import Visibility, visibility
from whatchanged.measured.pixels.layers import ground_color
from whatchanged.measured.pixels.motion import LineRun, runs_of_lines
from whatchanged.measured.pixels.planes import steps_between, steps_from
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box, Statement
from whatchanged.measured.rules.changes import detect_changes, shift_changes
from whatchanged.measured.rules.containers import container_changes
from whatchanged.measured.rules.cut_short import cut_short
from whatchanged.measured.rules.detected import DetectedChange
from whatchanged.measured.rules.displaced import displaced
from whatchanged.measured.rules.kinds import Finding
from whatchanged.measured.rules.ranking import in_words
from whatchanged.measured.rules.reframed import reframed_text
from whatchanged.measured.rules.shifts import Gap, gaps_between, moved_runs
from whatchanged.measured.rules.space import margins_text, size_text, space_text

TURNS = (
    (Image.Transpose.ROTATE_270, "turned by 90 degrees clockwise"),
    (Image.Transpose.ROTATE_90, "turned by 90 degrees counterclockwise"),
    (Image.Transpose.ROTATE_180, "turned upside down"),
    (Image.Transpose.FLIP_LEFT_RIGHT, "mirrored left to right"),
    (Image.Transpose.FLIP_TOP_BOTTOM, "mirrored top to bottom"),
    (Image.Transpose.TRANSPOSE, "mirrored and turned by 90 degrees"),
    (Image.Transpose.TRANSVERSE, "mirrored and turned by 90 degrees"),
)
UPRIGHT = (Image.Transpose.ROTATE_180, Image.Transpose.FLIP_LEFT_RIGHT, Image.Transpose.FLIP_TOP_BOTTOM)
"""The transpositions that keep the width and the height."""
PROBES = 64
"""The number of pixels that test whether one picture is a part of another, and the largest number of
positions that are then compared."""
THUMBNAIL = 64
"""The side of the thumbnails that are compared to find turned and scaled pictures."""
SCALED = 4.0
"""The largest mean difference, in levels, at which a scaled picture counts as the same."""
MUCH, DRAWN_AGAIN = 1.8, 0.97
"""The least factor at which a picture is drawn anew and not only resampled, so that its lines have other
weights, and the least correlation of the thumbnails then."""
TURNED = 2.0
"""The largest mean difference, in levels, at which a turned picture counts as the same."""
LEAST_LINES = 12
"""The least number of lines that count as removed at the edge of a picture. Fewer lines were cropped."""
LEAST_STEP, MOST_STEPS = 12, 8
"""The least difference, in levels, between adjacent pixels of a step, and the largest number of steps in an
almost empty line.

Only frames continue through an almost empty line.
"""
LARGEST_CORNER = 16
"""The largest side of a rounded corner in pixels."""
OF_MARGIN = 0.95
"""The least fraction of a margin line's pixels that have one colour. The other pixels belong to the sides and
corners of the enclosed content."""
UNLIKE = 0.4
"""The least differing fraction of the common area if one picture of another size replaced the other."""
FITTING = 0.4
"""The least fraction of the lines that must have a source for pictures of two sizes to be aligned."""


@dataclass(frozen=True)
class _Lines:
    """Lines of the picture after, and the lines of the picture before from which they come."""

    after: NDArray[np.intp]
    before: NDArray[np.intp]


def turned(before: Pixels, after: Pixels) -> str | None:
    """Return how the picture was turned or mirrored, or None if it was not."""
    shown = _thumbnail(Image.fromarray(after))
    picture = Image.fromarray(before)
    if _distance(_thumbnail(picture), shown) <= TURNED:
        return None
    for way, text in TURNS:
        sides = picture.size if way in UPRIGHT else picture.size[::-1]
        if sides == (after.shape[1], after.shape[0]):
            other = picture.transpose(way)
            if _distance(_thumbnail(other), shown) <= TURNED:
                return text
    return None


def turn_statement(before: Pixels, after: Pixels) -> Statement | None:
    """Return the statement that the picture was turned or mirrored, or None if it was not."""
    text = turned(before, after)
    if text is None:
        return None
    one, other = _whole(before), _whole(after)
    return Statement(
        kind="moved",
        box_before=one,
        box_after=other,
        sentence=words.capitalised(f"the picture was {text}"),
        confidence=0.9,
        share=1.0,
        values={"aspect": "turn"},
        boxes=(other,),
    )


@dataclass(frozen=True)
class AlignedPair:
    """Two pictures of different sizes after their alignment.

    changes  the changes that were found, before they are merged and ranked
    whole    the statement about the entire picture
    before   the picture before with its lines moved to their positions after
    seen     the visibility of the differences between it and the picture after
    unused   indices of the ignored boxes without a difference
    """

    changes: tuple[DetectedChange, ...]
    whole: Statement
    before: Pixels
    seen: Visibility
    unused: tuple[int, ...] = ()

    @cached_property
    def statements(self) -> list[Statement]:
        """The statements about the pictures, best first."""
        return in_words(self.changes, (self.before.shape[1], self.before.shape[0]), self.whole)


def compare_sizes(before: Pixels, after: Pixels, threshold: float, ignore: Sequence[Box] = ()) -> AlignedPair:
    """Align two pictures of different sizes and find their changes.

    ignore: boxes of the picture after in which differences do not count. They have no effect if the picture
    was turned or scaled, because the result then describes the entire picture.
    """
    turn = turn_statement(before, after)
    if turn is not None:
        return _whole_alone(turn, after)
    contained = [] if ignore else container_changes(before, after)
    if not contained and _is_scaled(before, after):
        scaled = _size_statement(before, after, "the picture was scaled from {} to {} pixels")
        return _whole_alone(scaled, after)
    reframed = None if ignore or contained else reframed_text(before, after, threshold)
    if reframed is not None:
        return _whole_alone(_size_statement(before, after, reframed), after)
    rows, columns = _both_aligned(before, after)
    if min(len(rows[1].after) / len(after), len(columns[1].after) / after.shape[1]) < FITTING:
        return _at_corners(before, after, threshold, ignore, contained)
    came_or_went: list[DetectedChange] = []
    exchanged: list[tuple[int, Gap]] = []
    for axis, (runs, _) in enumerate((rows, columns)):
        moved = () if len(runs) == 1 else moved_runs(before, after, _whole(after), axis, runs)
        gaps = gaps_between(before, after, (_whole(before), _whole(after)), axis, runs)
        gaps = tuple(gap for gap in gaps if not _is_cut(before, after, axis, gap))
        exchanged += [(axis, gap) for gap in gaps if gap.exchanged]
        came_or_went += shift_changes(axis, moved, [gap for gap in gaps if not gap.exchanged])
    lines = [rows[1], columns[1]]
    for axis, gap in exchanged:
        lines[axis] = _with_exchanged(before, after, axis, gap, lines)
    aligned = after.copy()
    aligned[np.ix_(lines[0].after, lines[1].after)] = before[np.ix_(lines[0].before, lines[1].before)]
    counted = [one for one in came_or_went if not any(_inside(one, box) for box in ignore)]
    unused = unused_boxes(aligned, after, ignore)
    unused = tuple(k for k in unused if not any(_inside(one, ignore[k]) for one in came_or_went))
    aligned = without_boxes(aligned, after, ignore)
    seen = visibility(aligned, after)
    changes = [
        one for one in detect_changes(aligned, after, seen, threshold) if not _is_corner(one, after.shape)
    ]
    # A change within exchanged lines pushed the remaining lines.
    if exchanged and any(one.cause for one in changes):
        counted = [replace(one, cause=one.cause and one.finding.kind != "moved") for one in counted]
    changes = contained or cut_short(changes + counted, before, after)
    text = size_text(before, after)
    if not came_or_went and not changes:
        space = space_text(before, after)
        cropped = len(rows[0]) == len(columns[0]) == 1
        step = columns[0][0].offset or 0, rows[0][0].offset or 0
        text = space or (margins_text(step, before, after) if cropped else None) or text
    return AlignedPair(tuple(changes), _size_statement(before, after, text), aligned, seen, unused)


def _is_corner(one: DetectedChange, shape: tuple[int, ...]) -> bool:
    """Return whether a change is only a corner of a picture (H, W, 3).

    A rounded corner moves with the edge of the picture.
    """
    box = one.box_after or one.box_before
    if box is None or max(box[2] - box[0], box[3] - box[1]) > LARGEST_CORNER:
        return False
    return (box[0] == 0 or box[2] == shape[1]) and (box[1] == 0 or box[3] == shape[0])


def _is_cut(before: Pixels, after: Pixels, axis: int, gap: Gap) -> bool:
    """Return whether lines at the edge of a picture were cropped or extended, not removed or added as an
    object.

    Cropped lines are a margin, or a part of something that continues beyond them. Lines that begin or end
    with an almost empty line are an object of their own.
    """
    if gap.new and gap.gone:
        return False
    picture, (start, stop) = (after, gap.after) if gap.new else (before, gap.before)
    length = picture.shape[axis]
    if start > 0 and stop < length:
        return False
    if _is_margin(picture, np.moveaxis(picture, axis, 0)[start:stop]):
        return True
    edge = stop if start == 0 else start
    if not 0 < edge < length:
        return False
    if not gap.new and stop - start < LEAST_LINES:
        return True
    lines = np.moveaxis(picture, axis, 0)[edge - 1 : edge + 1]
    steps = np.count_nonzero(steps_between(lines[:, 1:], lines[:, :-1]) > LEAST_STEP, axis=1)
    return bool(steps.min() > MOST_STEPS)


def _is_margin(picture: Pixels, lines: Pixels) -> bool:
    """Return whether lines (N, M, 3) of a picture show only its background: a margin or padding, but not a
    banner."""
    ground = ground_color(picture, _whole(picture))
    alike = steps_from(ground, lines) <= LEAST_STEP
    return bool((alike.mean(axis=1) >= OF_MARGIN).all())


def _whole_alone(statement: Statement, after: Pixels) -> AlignedPair:
    """Return the result that consists of one statement about the entire picture, without an alignment."""
    return AlignedPair((), statement, after, visibility(after, after))


def _at_corners(
    before: Pixels,
    after: Pixels,
    threshold: float,
    ignore: Sequence[Box],
    contained: Sequence[DetectedChange] = (),
) -> AlignedPair:
    """Align two pictures whose lines do not match at their upper left corners, and find their changes.

    The smaller picture is padded with its background. If most of the common area differs, one picture was
    replaced by the other.

    contained: the containers that grew, if these are all that differs.
    """
    size = tuple(max(sides) for sides in zip(before.shape[:2], after.shape[:2], strict=True))
    wholes = _whole(before), _whole(after)
    one, other = (_with_ground(picture, size) for picture in (before, after))
    other = without_boxes(other, one, ignore)
    seen = visibility(one, other)
    statement = _size_statement(before, after, size_text(before, after))
    height, width = after.shape[:2]
    laid = one[:height, :width]
    elsewhere = displaced(one, other, (0, 0, size[1], size[0]))
    both = seen.visible(threshold)[: min(height, before.shape[0]), : min(width, before.shape[1])]
    if elsewhere is not None:
        finding = Finding("moved", "position", 0.7, {"dx": elsewhere.dx, "dy": elsewhere.dy})
        changes = [DetectedChange(finding, elsewhere.before, elsewhere.after, area(elsewhere.after))]
    elif np.count_nonzero(both) > UNLIKE * both.size:
        finding = Finding("replaced", "picture", 0.5)
        changes = [DetectedChange(finding, *wholes, area(wholes[1]))]
    else:
        changes = [
            found
            for change in detect_changes(one, other, seen, threshold)
            if (found := _within(change, *wholes)) is not None
        ]
    changes = list(contained) or cut_short(changes, before, after)
    if ignore or laid.shape != one.shape:
        seen = visibility(laid, after)
    return AlignedPair(tuple(changes), statement, laid, seen)


def _with_ground(picture: Pixels, size: tuple[int, ...]) -> Pixels:
    """Return the picture at the upper left of a canvas of this height and width, padded with its
    background."""
    canvas = np.empty((*size, 3), np.uint8)
    canvas[:] = ground_color(picture, _whole(picture))
    canvas[: picture.shape[0], : picture.shape[1]] = picture
    return canvas


def _within(change: DetectedChange, before: Box, after: Box) -> DetectedChange | None:
    """Return a change with its boxes clipped to the pictures, or None if no box remains.

    before, after: the boxes of the entire pictures.
    """
    ends = [
        None if box is None else (box[0], box[1], min(box[2], whole[2]), min(box[3], whole[3]))
        for box, whole in ((change.box_before, before), (change.box_after, after))
    ]
    one, other = (box if box and box[0] < box[2] and box[1] < box[3] else None for box in ends)
    if one is None and other is None:
        return None
    return replace(change, box_before=one, box_after=other)


def _with_exchanged(before: Pixels, after: Pixels, axis: int, gap: Gap, lines: Sequence[_Lines]) -> _Lines:
    """Return the lines of an axis together with those of a gap in which about as many lines appeared as
    disappeared.

    The lines of the gap are aligned at their beginnings or at their ends, whichever fits better. If more
    lines appeared than disappeared, the line at the end of those before is repeated.

    lines: the lines of both axes.
    """
    (first, last), (start, stop) = gap.after, gap.before
    there = np.arange(first, last)
    ways = (np.minimum(start + there - first, stop - 1), np.maximum(stop + there - last, start))
    across = lines[1 - axis]
    shown = np.take(np.take(after, there, axis), across.after, 1 - axis).astype(np.int16)
    unlike = [
        int(np.abs(np.take(np.take(before, way, axis), across.before, 1 - axis) - shown).sum())
        for way in ways
    ]
    own, way = lines[axis], ways[int(np.argmin(unlike))]
    return _Lines(np.concatenate([own.after, there]), np.concatenate([own.before, way]))


def unused_boxes(before: Pixels, after: Pixels, ignore: Sequence[Box]) -> tuple[int, ...]:
    """Return the indices of the ignored boxes without a difference between two pictures of one size."""
    return tuple(
        index
        for index, (left, top, right, bottom) in enumerate(ignore)
        if np.array_equal(before[top:bottom, left:right], after[top:bottom, left:right])
    )


def without_boxes(picture: Pixels, other: Pixels, ignore: Sequence[Box]) -> Pixels:
    """Return the picture with the ignored boxes copied from another picture."""
    if not ignore:
        return picture
    copy = picture.copy()
    for left, top, right, bottom in ignore:
        copy[top:bottom, left:right] = other[top:bottom, left:right]
    return copy


def _inside(one: DetectedChange, box: Box) -> bool:
    """Return whether a change lies entirely inside a box."""
    boxes = [region for region in (one.box_before, one.box_after) if region is not None]
    return all(common(region, box) == area(region) for region in boxes)


_Alignment = tuple[list[LineRun], _Lines]


def _both_aligned(before: Pixels, after: Pixels) -> tuple[_Alignment, _Alignment]:
    """Align both the rows and the columns.

    The first axis is aligned on the entire pictures, the second one only on the matching lines of the first.
    """
    first = max((0, 1), key=lambda axis: after.shape[1 - axis] == before.shape[1 - axis])
    one = _aligned(before, after, first)
    unfit: _Alignment | None = None
    if len(one[1].after) < FITTING * after.shape[first]:
        unfit, first = one, 1 - first
        one = _aligned(before, after, first)
    fits = one[1] if len(one[1].after) >= FITTING * after.shape[first] else None
    if fits is None or before.shape[1 - first] == after.shape[1 - first]:
        other = unfit or _aligned(before, after, 1 - first)
    else:
        cut = np.take(before, fits.before, axis=first), np.take(after, fits.after, axis=first)
        runs = runs_of_lines(*cut, 1 - first)
        other = runs, _sources(runs, before.shape[1 - first])
    return (one, other) if first == 0 else (other, one)


def _aligned(before: Pixels, after: Pixels, axis: int) -> _Alignment:
    """Align the lines of an axis, compared over the length that both pictures have in common.

    The lines are aligned at their beginnings, ends or centres, whichever fits best. If both pictures have the
    same number of lines, each line is matched to the line with the same index. Movements are then found in a
    later step.
    """
    if before.shape[axis] == after.shape[axis]:
        runs = [LineRun(0, after.shape[axis], 0)]
        return runs, _sources(runs, before.shape[axis])
    other = 1 - axis
    length = min(before.shape[other], after.shape[other])
    best: _Alignment | None = None
    for part in (0.0, 1.0, 0.5):
        one, another = (_cropped_to(picture, other, length, part) for picture in (before, after))
        runs = runs_of_lines(one, another, axis)
        lines = _sources(runs, before.shape[axis])
        if best is None or len(lines.after) > len(best[1].after):
            best = runs, lines
        if before.shape[other] == after.shape[other]:
            break
    if best is None:
        raise AssertionError("some part was tried")
    return best


def _cropped_to(picture: Pixels, axis: int, length: int, part: float) -> Pixels:
    """Return ``length`` lines of a picture along an axis. The fraction ``part`` of the other lines is cut off
    before them."""
    start = int((picture.shape[axis] - length) * part)
    cropped = slice(start, start + length)
    return picture[cropped] if axis == 0 else picture[:, cropped]


def _sources(runs: Sequence[LineRun], length_before: int) -> _Lines:
    """Return the indices of the lines after and of their source lines before."""
    after = [line for run in runs if run.offset is not None for line in range(run.start, run.stop)]
    before = [
        line - run.offset for run in runs if run.offset is not None for line in range(run.start, run.stop)
    ]
    inside = [k for k, line in enumerate(before) if 0 <= line < length_before]
    return _Lines(np.array(after, np.intp)[inside], np.array(before, np.intp)[inside])


def _is_scaled(before: Pixels, after: Pixels) -> bool:
    """Return whether the picture after is the picture before at another scale. The scale differs by at least
    5 %."""
    down, across = (after.shape[axis] / before.shape[axis] for axis in (0, 1))
    if abs(down - 1) < 0.05 or abs(down / across - 1) > 0.02:
        return False
    side = min(THUMBNAIL, *before.shape[:2], *after.shape[:2])
    small = [_thumbnail(Image.fromarray(picture), side) for picture in (before, after)]
    alike = _distance(*small) <= SCALED or (
        max(down, 1 / down) >= MUCH and _correlation(*small) >= DRAWN_AGAIN
    )
    if not alike or before.std() <= 4 * SCALED:
        return False
    # A cropped picture can look like a scaled one.
    return not (_is_part(before, after) or _is_part(after, before))


def _is_part(whole: Pixels, part: Pixels) -> bool:
    """Return whether a picture is an exact part of another one, tested at pixels that differ from their
    neighbours."""
    height, width = part.shape[:2]
    down, across = whole.shape[0] - height, whole.shape[1] - width
    if down < 0 or across < 0:
        return False
    fits = np.ones((down + 1, across + 1), bool)
    edges = np.argwhere((part[:, 1:] != part[:, :-1]).any(axis=2))
    for row, column in edges[:: max(1, len(edges) // PROBES)].tolist():
        there = whole[row : row + down + 1, column : column + across + 1]
        fits &= (there == part[row, column]).all(axis=2)
        if not fits.any():
            return False
    places = np.argwhere(fits)[:PROBES].tolist()
    return any(np.array_equal(whole[y : y + height, x : x + width], part) for y, x in places)


def _thumbnail(picture: Image.Image, side: int = THUMBNAIL) -> NDArray[np.int16]:
    """Return a thumbnail of a picture: (``side``, ``side``, 3)."""
    small = picture.resize((side, side), Image.Resampling.BOX)
    return np.asarray(small).astype(np.int16)


def _distance(one: NDArray[np.int16], other: NDArray[np.int16]) -> float:
    """Return the mean absolute difference between two thumbnails, in levels."""
    return float(np.abs(one - other).mean())


def _correlation(one: NDArray[np.int16], other: NDArray[np.int16]) -> float:
    """Return the correlation of two thumbnails; 0 if one of them is even."""
    first, second = (small - small.mean() for small in (one, other))
    return float((first * second).sum() / max(1e-6, np.sqrt((first**2).sum() * (second**2).sum())))


def _size_statement(before: Pixels, after: Pixels, text: str) -> Statement:
    """Return the statement about the sizes of the pictures."""
    sizes = [f"{picture.shape[1]} x {picture.shape[0]}" for picture in (before, after)]
    one, other = _whole(before), _whole(after)
    values = {"aspect": "canvas", "dx": other[2] - one[2], "dy": other[3] - one[3]}
    return Statement(
        kind="resized",
        box_before=one,
        box_after=other,
        sentence=words.capitalised(text.format(*sizes)),
        confidence=0.6,
        share=1.0,
        values=values,
        boxes=(other,),
    )


def _whole(picture: Pixels) -> Box:
    """Return the box of the entire picture."""
    return 0, 0, picture.shape[1], picture.shape[0]
