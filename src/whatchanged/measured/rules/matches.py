"""Matching of individual words and icons by their pixels. Each may have moved in its own direction."""

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured.pixels.boxes import area, common, gathered, grown, union
from whatchanged.measured.pixels.gate import Visibility
from whatchanged.measured.pixels.layers import ground_color
from whatchanged.measured.pixels.planes import UNIT, Planes, blurred, contrast, enlarged, luminance
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box
from whatchanged.measured.rules.ink import LEAST_INK
from whatchanged.measured.rules.shifts import Gap, Moved, Shift, rest_of

LETTERS = 1
"""The number of pixels by which ink is dilated horizontally, so that the letters of a word are joined."""
MOST_WORDS = 300
"""The number of words in a picture that are searched for in the other picture, starting with the largest."""
FEWEST = 12
"""The least number of ink pixels in a word."""
SPARSE = 0.1
"""The least fraction of ink in the box of a word. A frame has less."""
MOST_GAP = 12
"""The largest distance in pixels between removed words that belong together."""
MOST_ROOM = 1.5
"""The largest ratio of the area around such words to their own areas."""
UNLIKE = 0.25
"""The largest mean difference between equal words, as a fraction of their mean contrast."""


@dataclass(frozen=True)
class _Word:
    """A word or an icon: its bounding box and its number of ink pixels."""

    box: Box
    ink: int

    @property
    def size(self) -> tuple[int, int]:
        return self.box[2] - self.box[0], self.box[3] - self.box[1]


_WordPair = tuple[_Word, _Word]


def find_match(
    before: Pixels, after: Pixels, seen: Visibility, box: Box, threshold: float, beyond: float = 0
) -> Shift | None:
    """Return the movements of individual words inside a box, or None if they explain too few differences.

    beyond: the fraction of the differences that the movements must exceed.
    """
    visible = seen.visible(threshold)
    old = _words(before, visible, box)
    new = _words(after, visible, box) if old else []
    steps = _matched((before, after), old, new, box) if new else {}
    if not steps:
        return None
    pairs = [pair for some in steps.values() for pair in some]
    aligned = _aligned(before, pairs)
    gaps = _covered(old, pairs)
    hidden = sum(gap.ink for gap in gaps)
    rest = rest_of((before, aligned, after), seen, threshold, hidden, beyond)
    if rest is None:
        return None
    moved = [
        Moved(union([was.box for was, _ in pairs]), union([now.box for _, now in pairs]), dx, dy)
        for (dx, dy), pairs in steps.items()
    ]
    moved.sort(key=lambda one: (-area(one.after), one.after))
    return Shift(0, tuple(moved), gaps, aligned, *rest)


def _words(pixels: Pixels, visible: NDArray[np.bool_], box: Box) -> list[_Word]:
    """Return the words inside a box that differ visibly, the largest first."""
    from scipy import ndimage  # SciPy is imported here because its import is slow.

    left, top, right, bottom = box
    part = (slice(top, bottom), slice(left, right))
    ink = contrast(luminance(pixels[part])) >= LEAST_INK * UNIT
    labels, _ = ndimage.label(enlarged(ink, 0, LETTERS), np.ones((3, 3), bool))
    labels = np.where(ink, labels, 0)
    words = []
    for rows, columns in ndimage.find_objects(labels):
        inside = int(np.count_nonzero(ink[rows, columns]))
        size = (rows.stop - rows.start) * (columns.stop - columns.start)
        if inside >= max(FEWEST, SPARSE * size) and visible[part][rows, columns].any():
            region = (left + columns.start, top + rows.start, left + columns.stop, top + rows.stop)
            words.append(_Word(region, inside))
    return sorted(words, key=lambda word: (-word.ink, word.box))[:MOST_WORDS]


def _matched(
    pictures: tuple[Pixels, Pixels], old: list[_Word], new: list[_Word], box: Box
) -> dict[tuple[int, int], list[_WordPair]]:
    """Return pairs of equal words in a box, grouped by their movement. Movements that many words share are
    assigned first."""
    planes = [_blurred_in(picture, box) for picture in pictures]
    steps: dict[tuple[int, int], list[_WordPair]] = defaultdict(list)
    # A word that is the same at the same position changed in another way, such as its colour.
    in_both = {was.box for was in old} & {now.box for now in new}
    stayed = {one for one in in_both if _alike(planes, _within(one, box), _within(one, box))}
    old, new = ([word for word in some if word.box not in stayed] for some in (old, new))
    sizes = np.array([now.size for now in new]).reshape(-1, 2)
    for was in old:
        alike = np.flatnonzero((np.abs(sizes - was.size) <= 1).all(axis=1))
        for now in (new[k] for k in alike.tolist()):
            step = now.box[0] - was.box[0], now.box[1] - was.box[1]
            if step != (0, 0) and _alike(planes, _within(was.box, box), _within(now.box, box)):
                steps[step].append((was, now))
    ranked = sorted(
        steps, key=lambda one: (-sum(now.ink for _, now in steps[one]), abs(one[0]) + abs(one[1]), one)
    )
    taken: set[tuple[str, Box]] = set()
    results: dict[tuple[int, int], list[_WordPair]] = {}
    for step in ranked:
        free = [(was, now) for was, now in steps[step] if not {("old", was.box), ("new", now.box)} & taken]
        if free:
            results[step] = free
            taken |= {
                (end, word.box) for pair in free for end, word in zip(("old", "new"), pair, strict=True)
            }
    return results


def _blurred_in(pixels: Pixels, box: Box) -> Planes:
    """Return the blurred luminance in a box."""
    # The blur depends on two more pixels at each side.
    left, top, right, bottom = grown(box, 2, (pixels.shape[1], pixels.shape[0]))
    plane = blurred(luminance(pixels[top:bottom, left:right]))
    return plane[box[1] - top : box[3] - top, box[0] - left : box[2] - left]


def _within(one: Box, box: Box) -> Box:
    """Return a box relative to another one."""
    return one[0] - box[0], one[1] - box[1], one[2] - box[0], one[3] - box[1]


def _alike(planes: list[Planes], was: Box, now: Box) -> bool:
    """Return whether two boxes of about the same size show about the same content."""
    width, height = (min(was[k + 2] - was[k], now[k + 2] - now[k]) for k in (0, 1))
    one, other = (
        plane[top : top + height, left : left + width].astype(np.int32)
        for plane, (left, top, _, _) in zip(planes, (was, now), strict=True)
    )
    unlike = np.abs(one - other).mean()
    # No value is nearer to all others than their median, which takes long to find.
    if unlike > UNLIKE * np.abs(one - one[0, 0]).mean():
        return False
    return bool(unlike <= UNLIKE * np.abs(one - np.median(one)).mean())


def _covered(old: list[_Word], pairs: list[_WordPair]) -> tuple[Gap, ...]:
    """Return the removed words that moved words now cover."""
    matched = {was.box for was, _ in pairs}
    lost = [
        word
        for word in old
        if word.box not in matched and 2 * sum(common(word.box, now.box) for _, now in pairs) > area(word.box)
    ]
    groups = gathered([word.box for word in lost], MOST_GAP, MOST_ROOM)
    things = [(union([lost[k].box for k in group]), sum(lost[k].ink for k in group)) for group in groups]
    return tuple(
        Gap(new=None, gone=box, stretch=False, lines=0, ink=ink, thing=box, after=(0, 0), before=(0, 0))
        for box, ink in things
    )


def _aligned(before: Pixels, pairs: list[_WordPair]) -> Pixels:
    """Return the picture before with each word moved to its position after."""
    size = (before.shape[1], before.shape[0])
    aligned = before.copy()
    for was, _ in pairs:
        left, top, right, bottom = around = grown(was.box, 1, size)
        aligned[top:bottom, left:right] = ground_color(before, around)
    for was, now in pairs:
        left, top, right, bottom = was.box
        there = aligned[now.box[1] :, now.box[0] :][: bottom - top, : right - left]
        there[:] = before[top:bottom, left:right][: there.shape[0], : there.shape[1]]
    return aligned
