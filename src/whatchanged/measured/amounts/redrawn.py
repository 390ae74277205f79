"""Explanations of a change that the rules could only call different: the drawing moved, took other colours,
appeared or disappeared.

Each explanation needs its own evidence from the pixels. A change without such evidence stays as it is.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from whatchanged import words
from whatchanged.measured.amounts.icon import step_of
from whatchanged.measured.pixels.boxes import area, box_of, grown
from whatchanged.measured.pixels.layers import INK, colors_in, ground_color, usual_color
from whatchanged.measured.pixels.planes import UNIT, contrast, enlarged, luminance, steps_between, steps_from
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box
from whatchanged.measured.rules.detected import DetectedChange
from whatchanged.measured.rules.displaced import LARGEST, likely_steps
from whatchanged.measured.rules.kinds import LARGEST_ICON, Finding, ink_overlap, ink_within

Mask = NDArray[np.bool_]

FOUND_AGAIN, BETTER = 0.9, 0.25
"""The least overlap of both drawings at the best step if the drawing moved, and how much larger it must be
than the overlap without a step. Text overlaps other text of the same place by about one half."""
LEAST_INK = 200
"""The least number of drawn pixels in each picture. A few strokes are found again anywhere."""
LEAST_STEP = 2
"""The least step in pixels. Letters that are drawn slightly otherwise overlap best at a step of one pixel."""
DIFFERS = 24
"""The least difference, in levels, at which a pixel counts as different."""
LEAST_EDGE = 12
"""The least local contrast of an edge in levels."""
SAME_PLACES, SAME_EDGES = 0.99, 0.97
"""The least fraction of the differing pixels that are drawn in both pictures, and the least overlap of the
edges, if only the colours changed."""
LARGE, ALL_BROAD, MOST_PLACES, SOME_EDGES = 0.3, 0.95, 0.95, 0.7
"""The least fraction of a box that differs, the least fractions of it that are broad and that are drawn in
both pictures, and the least fraction of the edges of one picture that lie on edges of the other one, if large
areas took other colours. Where their contrast is lost, the edges inside of them are lost too."""
BROAD = 0.25
"""The least fraction of the differing pixels that remain without parts of less than three pixels, if areas
changed and not strokes."""
HARDLY_BROAD = 0.02
"""The largest such fraction if only outlines differ."""
ONE_COLOR, COLOR_STEP = 0.7, 24
"""The least fraction of these pixels that have one colour, and the largest difference from it in levels."""
BOTH_WAYS = 0.1
"""The least fraction of these pixels that became clearly lighter, and that became clearly darker, if no
single colour turned into another."""
ONE_WAY, OTHER_WAY = 0.75, 0.15
"""The least fraction of the differing pixels that are drawn in one picture alone if something appeared or
disappeared, and the largest fraction that are drawn in the other picture alone."""
BESIDE = 4
"""The margin in pixels around a box in which its areas may continue."""
GOES_ON = 0.1
"""The largest fraction of the pixels around what appeared that have its colour in both pictures. An area that
only grew continues there."""
IN_A_DRAWING = 0.3
"""The largest fraction of the pixels around what appeared that are drawn in both pictures. A
drawing around it was filled or emptied."""

THIN = 12
"""The shorter side, in pixels, below which a movement by one pixel may be another drawing of the part."""

UNCLEAR = (
    ("replaced", "part"),
    ("replaced", "content"),
    ("restyled", "shape"),
    ("restyled", "weight"),
)
"""The kinds and aspects of changes that need an explanation."""


def recolored_drawing(
    change: DetectedChange, before: Pixels, after: Pixels, box: Box
) -> DetectedChange | None:
    """Return a change as other colours of the same drawing, or None.

    Everything that differs is drawn in both pictures, and all edges are at the same places, or large areas
    differ and their outlines remain. Gradients and blends have no single colour before and after, so their
    values contain no colours.
    """
    finding = change.finding
    may_be = _is_unclear(change) or finding.kind == "rewritten" or finding.aspect == "ink"
    if not may_be or change.box_before not in (None, box):
        return None
    one, other = _parts(before, after, box)
    differs = steps_between(one, other) >= DIFFERS
    count = int(np.count_nonzero(differs))
    broad = opened(differs)
    if not count or np.count_nonzero(broad) < BROAD * count:
        return None
    drawn = _inks(before, after, box)
    both = int(np.count_nonzero(differs & drawn[0] & drawn[1])) / count
    edges = [contrast(luminance(part)) >= LEAST_EDGE * UNIT for part in (one, other)]
    same = both >= SAME_PLACES and ink_overlap(*edges) >= SAME_EDGES
    areas = differs.mean() >= LARGE and np.count_nonzero(broad) >= ALL_BROAD * count
    filled = finding.aspect in ("part", "weight") and areas and both >= MOST_PLACES
    if not same and not (filled and _edges_remain(*edges)):
        return None
    areas = [colors_in(part, broad) for part in (one, other)]
    colors = [usual_color(area) for area in areas]
    even = all(
        (steps_from(color, area) <= COLOR_STEP).mean() >= ONE_COLOR
        for color, area in zip(colors, areas, strict=True)
    )
    steps = (luminance(other) - luminance(one))[broad]
    clearly = LEAST_EDGE * UNIT
    even = even and bool(min(np.mean(steps >= clearly), np.mean(steps <= -clearly)) < BOTH_WAYS)
    codes = {"color_before": words.color_code(colors[0]), "color_after": words.color_code(colors[1])}
    if finding.kind == "recolored" and not even:
        return change
    several = Finding("recolored", "palette", 0.5, {"colors": []})
    finding = Finding("recolored", "ink", 0.5, codes) if even else several
    return replace(change, finding=finding, box_before=box, box_after=box)


def _edges_remain(one: Mask, other: Mask) -> bool:
    """Return whether most edges of one picture lie on edges of the other one, which may have more."""
    return max(ink_within(one, other), ink_within(other, one)) >= SOME_EDGES


def only_outlines(before: Pixels, after: Pixels, box: Box) -> bool:
    """Return whether all differences in a box are thin lines, such as the outlines of fields and cards."""
    one, other = _parts(before, after, box)
    differs = steps_between(one, other) >= DIFFERS
    return bool(np.count_nonzero(opened(differs)) <= HARDLY_BROAD * np.count_nonzero(differs))


def moved_drawing(change: DetectedChange, before: Pixels, after: Pixels, box: Box) -> DetectedChange | None:
    """Return a change as the movement of a drawing that is also drawn slightly otherwise, or None.

    Most of both drawings lies within a pixel of the other one at some step, and much less of it without a
    step. Text that moved by a fraction of a pixel too, or in another weight, is found in this way.
    """
    kind = change.finding.kind
    if not (_is_unclear(change) or kind == "rewritten") or change.box_before != box or area(box) > LARGEST:
        return None
    inks = _inks(before, after, box)
    if min(map(np.count_nonzero, inks)) < LEAST_INK:
        return None

    def overlap(step: tuple[int, int]) -> float:
        """Return the overlap of both drawings after the first one is moved by a step."""
        there = _moved(inks[0], step)
        kept = np.count_nonzero(there) / np.count_nonzero(inks[0])
        return min(kept * ink_within(there, inks[1]), ink_within(inks[1], there))

    step = max(likely_steps(*inks), key=overlap)
    most = overlap(step)
    if max(map(abs, step)) < LEAST_STEP or most < FOUND_AGAIN or overlap((0, 0)) > most - BETTER:
        return None
    was, now = (box_of(ink, box[0], box[1]) for ink in inks)
    finding = Finding("moved", "position", 0.5, {"dx": step[0], "dy": step[1]})
    return replace(change, finding=finding, box_before=was, box_after=now)


def came_or_went(change: DetectedChange, before: Pixels, after: Pixels, box: Box) -> DetectedChange | None:
    """Return a change as something that appeared or disappeared, or None.

    Almost all pixels that differ are drawn in one picture and background in the other one. An area that
    continues in the same colour beside them has only grown, or shrunk. An area inside of a drawing belongs to
    it.
    """
    small = max(box[2] - box[0], box[3] - box[1]) < LARGEST_ICON
    exchanged = change.finding.aspect == "content"  # A filled icon and its outline, for example.
    if not _is_unclear(change) or small or exchanged or change.box_before != box:
        return None
    around = grown(box, BESIDE, (after.shape[1], after.shape[0]))
    one, other = _parts(before, after, around)
    differs = steps_between(one, other) >= DIFFERS
    grounds = ground_color(before, box), ground_color(after, box)
    inks = [steps_from(ground, part) > INK for ground, part in zip(grounds, (one, other), strict=True)]
    came, went = differs & inks[1] & ~inks[0], differs & inks[0] & ~inks[1]
    count = int(np.count_nonzero(differs))
    less, more = sorted((int(np.count_nonzero(came)), int(np.count_nonzero(went))))
    if not count or more < ONE_WAY * count or less > OTHER_WAY * count:
        return None
    appeared = np.count_nonzero(came) > np.count_nonzero(went)
    there, part = (opened(came), other) if appeared else (opened(went), one)
    beyond = enlarged(there, BESIDE - 1, BESIDE - 1) & ~enlarged(differs, 1, 1)
    if np.count_nonzero(there) < BROAD * count or not beyond.any():
        return None
    beside = steps_from(usual_color(part[there]), part[beyond]) <= COLOR_STEP
    if beside.mean() > GOES_ON or (inks[0] & inks[1])[beyond].mean() > IN_A_DRAWING:
        return None
    kind = "added" if appeared else "removed"
    finding = Finding("added", "thing", 0.5) if appeared else Finding("removed", "thing", 0.5)
    was, now = (None if kind == "added" else box), (None if kind == "removed" else box)
    return replace(change, finding=finding, box_before=was, box_after=now)


def redrawn_part(change: DetectedChange) -> DetectedChange | None:
    """Return a movement of a thin part by one pixel as another drawing of it, or None for other movements.

    Where an edge, a dash or a letter is drawn differently, most of its pixels are found again beside it.
    """
    now = change.box_after
    if not change.cause or step_of(change) != 1 or now is None or change.finding.aspect != "position":
        return None
    boxes = change.boxes or (now,)
    if max(min(box[2] - box[0], box[3] - box[1]) for box in boxes) >= THIN:
        return None
    return replace(change, finding=Finding("restyled", "shape", 0.3))


def opened(mask: Mask) -> Mask:
    """Return a mask without its parts that are less than three pixels wide."""
    return enlarged(~enlarged(~mask, 1, 1), 1, 1)


def _is_unclear(change: DetectedChange) -> bool:
    """Return whether the rules found only that something is drawn otherwise."""
    finding = change.finding
    measured = "amount_before" in finding.values or "on_after" in finding.values
    return not measured and ((finding.kind, finding.aspect) in UNCLEAR or "by_amount" in finding.values)


def _parts(before: Pixels, after: Pixels, box: Box) -> tuple[Pixels, Pixels]:
    """Return the pixels of a box in both pictures."""
    left, top, right, bottom = box
    return before[top:bottom, left:right], after[top:bottom, left:right]


def _inks(before: Pixels, after: Pixels, box: Box) -> tuple[Mask, Mask]:
    """Return masks of the pixels in a box, before and after, that differ from the background around it."""
    one, other = _parts(before, after, box)
    return steps_from(ground_color(before, box), one) > INK, steps_from(ground_color(after, box), other) > INK


def _moved(mask: Mask, step: tuple[int, int]) -> Mask:
    """Return a mask moved by (dx, dy). What leaves it is lost."""
    dx, dy = step
    height, width = mask.shape
    moved = np.zeros_like(mask)
    rows = slice(max(0, dy), max(0, min(height, height + dy)))
    columns = slice(max(0, dx), max(0, min(width, width + dx)))
    moved[rows, columns] = mask[rows.start - dy : rows.stop - dy, columns.start - dx : columns.stop - dx]
    return moved
