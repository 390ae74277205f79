"""Words and icons that lie elsewhere: matched one by one by how they look, wherever each went."""

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured.pixels.boxes import area, common, gathered, grown, union
from whatchanged.measured.pixels.gate import Visibility, visibility
from whatchanged.measured.pixels.layers import ground_color
from whatchanged.measured.pixels.planes import UNIT, Planes, blurred, contrast, enlarged, luminance
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box
from whatchanged.measured.rules.shifts import EXPLAINED, LEAST_INK, Gap, Moved, Shift

LETTERS = 1
"""Pixels by which ink is widened on both sides, so that the letters of a word are one."""
MOST_WORDS = 300
"""Words of a picture that are looked for in the other, the largest."""
FEWEST = 12
"""Pixels of ink that make a word."""
SPARSE = 0.1
"""What has less ink in its box is a frame."""
MOST_GAP = 12
"""Words that are gone are one thing where they are at most so many pixels apart."""
MOST_ROOM = 1.5
"""And where the box around them is at most this many times their own boxes."""
UNLIKE = 0.25
"""Words differ where their mean difference is more than this part of their mean contrast."""


@dataclass(frozen=True)
class _Word:
    """A word or an icon: its box and how much ink it has."""

    box: Box
    ink: int

    @property
    def size(self) -> tuple[int, int]:
        return self.box[2] - self.box[0], self.box[3] - self.box[1]


_WordPair = tuple[_Word, _Word]


def find_match(before: Pixels, after: Pixels, seen: Visibility, box: Box, threshold: float) -> Shift | None:
    """What moved inside a box, word by word; None where that explains too little."""
    visible = seen.visible(threshold)
    planes = [blurred(luminance(picture)) for picture in (before, after)]
    old, new = (_words(picture, visible, box) for picture in (before, after))
    steps = _matched(planes, old, new)
    if not steps:
        return None
    pairs = [pair for some in steps.values() for pair in some]
    aligned = _aligned(before, pairs)
    rest = visibility(aligned, after)
    gaps = _covered(old, pairs)
    still = int(np.count_nonzero(rest.visible(threshold))) + sum(gap.ink for gap in gaps)
    explained = 1 - still / max(1, int(np.count_nonzero(visible)))
    if explained < EXPLAINED:
        return None
    moved = [
        Moved(union([was.box for was, _ in pairs]), union([now.box for _, now in pairs]), dx, dy)
        for (dx, dy), pairs in steps.items()
    ]
    moved.sort(key=lambda one: (-area(one.after), one.after))
    return Shift(0, tuple(moved), gaps, aligned, rest, explained)


def _words(pixels: Pixels, visible: NDArray[np.bool_], box: Box) -> list[_Word]:
    """The words inside a box in which something differs visibly, the largest first."""
    from scipy import ndimage  # slow to import

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
    planes: list[Planes], old: list[_Word], new: list[_Word]
) -> dict[tuple[int, int], list[_WordPair]]:
    """Pairs of words that look alike, by how far they moved; steps that many words share come first."""
    steps: dict[tuple[int, int], list[_WordPair]] = defaultdict(list)
    sizes = np.array([now.size for now in new]).reshape(-1, 2)
    for was in old:
        alike = np.flatnonzero((np.abs(sizes - was.size) <= 1).all(axis=1))
        for now in (new[k] for k in alike.tolist()):
            step = now.box[0] - was.box[0], now.box[1] - was.box[1]
            if step != (0, 0) and _alike(planes, was.box, now.box):
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


def _alike(planes: list[Planes], was: Box, now: Box) -> bool:
    """Whether two boxes of about one size show about the same."""
    width, height = (min(was[k + 2] - was[k], now[k + 2] - now[k]) for k in (0, 1))
    one, other = (
        plane[top : top + height, left : left + width].astype(np.int32)
        for plane, (left, top, _, _) in zip(planes, (was, now), strict=True)
    )
    return bool(np.abs(one - other).mean() <= UNLIKE * np.abs(one - np.median(one)).mean())


def _covered(old: list[_Word], pairs: list[_WordPair]) -> tuple[Gap, ...]:
    """The words that are gone and that others cover now."""
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
    """The picture before with each word where it is after."""
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
