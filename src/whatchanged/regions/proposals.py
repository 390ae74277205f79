"""Places where something may have changed, for a model to judge: what the rules found, and what is near."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured.compared import Compared
from whatchanged.measured.pixels.boxes import area, box_of, grown, iou
from whatchanged.measured.pixels.gate import CERTAIN, Visibility, visibility
from whatchanged.measured.pixels.layers import ground_color, usual_color
from whatchanged.measured.pixels.planes import enlarged, steps_between
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.pixels.regions import WEAKER, find_regions
from whatchanged.measured.result import Box, Kind, Statement
from whatchanged.measured.rules.alike import merged
from whatchanged.measured.rules.changes import tightened
from whatchanged.measured.rules.detected import DetectedChange
from whatchanged.measured.rules.things import GATHERED, Ink, spread
from whatchanged.regions.fitted import ORDER

SAME = 0.85
"""Of two proposals whose boxes overlap by so much (intersection over union), the first stays."""
FAINTEST = 0.5
"""Where nothing is visible, what is at least this part as strong as the strongest is proposed."""
LEAST = 1e-3
"""But nothing that is weaker than this part of the visible."""
RULES, CLUSTERS = 3, 2
"""Statements of the rules, and clusters of each sort, around which things are looked for."""
MOST_PARTS = 6
"""Things of an alike change that are proposed by themselves, the largest."""
SEEDS = 4
"""Places around which things are looked for."""
STRONG = 0.35
"""A step of at least this part of the largest one is strong."""
FAINT_STEP = 12
"""Levels that no strong step is below."""
AROUND = 120
"""Pixels around all that differs in which things are looked for."""
SHARES = 8
"""Numbers that ``_shares`` gives."""
FRAME = 2
"""Pixels between a thing and the ground that is followed to the frame around it."""


@dataclass(frozen=True)
class Proposal:
    """One place in both pictures, and what the rules say of it.

    A box is None where nothing is there. rule: the kind by the rules, None for what they do not tell.
    aspect: the finer word of the rules, or how the place was found. strength: the largest difference there,
    in units of the visible; score: the largest one anywhere. cause: whether nothing else explains it.
    shares: see ``_shares``; zeros where the pictures do not lie on each other.
    """

    box_before: Box | None
    box_after: Box | None
    rule: Kind | None
    aspect: str
    confidence: float
    pixels: int
    strength: float
    cause: bool = True
    values: dict[str, Any] = field(default_factory=dict)
    shares: tuple[float, ...] = (0.0,) * SHARES
    score: float = 0.0

    @property
    def boxes(self) -> tuple[Box, Box]:
        """Where to look in each picture: the thing's own box, or where it is in the other one."""
        one = self.box_before or self.box_after
        other = self.box_after or self.box_before
        assert one is not None
        assert other is not None
        return one, other


Slot = tuple[str, int]
"""How a place was found, and around which seed, counted from 0."""
RANKS = {slot: rank for rank, slot in enumerate(ORDER)}
"""Which places are taken first, of those that were found."""


@dataclass(frozen=True)
class _Differences:
    """Where two pictures that lie on each other differ, (H, W): visibly, and by strong steps."""

    visible: NDArray[np.bool_]
    strong: NDArray[np.bool_]
    score: float


def propose(compared: Compared, most: int = 12) -> list[Proposal]:
    """At most so many places, the most telling first; none for equal pictures.

    Seeds are what the rules found and clusters of differences. Around the first of them things are looked
    for: words, lines of text, blocks, shapes and frames. ``RANKS`` tell which are taken first.
    """
    proposals, differences = candidates(compared)
    last = len(RANKS)
    ranked = sorted(proposals, key=lambda one: RANKS.get(one[0], last))
    kept = _distinct([proposal for _, proposal in ranked], most)
    if differences is None:
        return [replace(one, score=CERTAIN) for one in kept]
    return [replace(one, shares=_shares(one.boxes[1], differences), score=differences.score) for one in kept]


def candidates(compared: Compared) -> tuple[list[tuple[Slot, Proposal]], _Differences | None]:
    """All places that were found, alike ones too; where the pictures differ, if they lie one on the other."""
    if not compared.one_size:
        return _of_two_sizes(compared)
    before, after, seen = compared.before, compared.after, compared.seen
    if not seen.differs.any():
        return [], None
    threshold = _threshold(seen)
    differences = _Differences(seen.visible(WEAKER * threshold), _strong_steps(before, after), seen.score)
    changes = compared.changes(threshold)
    ranked = sorted(merged(changes), key=lambda one: (not one.cause, -one.pixels))
    rules = [_of_rule(one, seen) for one in ranked]
    parts = [_of_rule(one, seen) for one in sorted(changes, key=lambda one: -one.pixels)]
    proposals = [
        *((("rule", number), one) for number, one in enumerate(rules)),
        *((("part", number), one) for number, one in enumerate(parts)),
        *_around(before, after, seen, differences, rules[:RULES]),
    ]
    return proposals, differences


def _shares(box: Box, differences: _Differences) -> tuple[float, ...]:
    """What a box holds of the differences: of the visible ones its share of all and its density, the same of
    the strong steps, and how far those lie inside its left, top, right and bottom, in parts of its size."""
    left, top, right, bottom = box
    results = []
    for mask in (differences.visible, differences.strong):
        inside = int(np.count_nonzero(mask[top:bottom, left:right]))
        results += [inside / max(1, int(np.count_nonzero(mask))), inside / area(box)]
    part = differences.strong[top:bottom, left:right]
    strong = box_of(part)
    if strong is None:
        return (*results, 0.5, 0.5, 0.5, 0.5)
    height, width = bottom - top, right - left
    return (
        *results,
        strong[0] / width,
        strong[1] / height,
        1 - strong[2] / width,
        1 - strong[3] / height,
    )


def _strong_steps(before: Pixels, after: Pixels) -> NDArray[np.bool_]:
    """Where a channel differs by a good part of the largest step, (H, W)."""
    step = steps_between(before, after)
    strong: NDArray[np.bool_] = step >= max(FAINT_STEP, STRONG * int(step.max()))
    return strong


def _around(
    before: Pixels, after: Pixels, seen: Visibility, differences: _Differences, rules: list[Proposal]
) -> Iterator[tuple[Slot, Proposal]]:
    """Clusters of two pictures that lie on each other, and what is around them and around what the rules
    found."""
    everything = _everything(seen)
    threshold = _threshold(seen)
    sorts = {
        "strong": _strong(differences.strong, 8),
        "near": _clusters(before, after, seen, threshold, 3),
        "fine": _strong(differences.strong, 2),
        "far": _clusters(before, after, seen, threshold, 24),
    }
    ranks = [list(proposals) for proposals in sorts.values()]
    seeds = _distinct(
        [
            *rules[:1],
            *(proposals[0] for proposals in ranks if proposals),
            *rules[1:],
            *(one for proposals in ranks for one in proposals[1:]),
        ],
        1000,
    )
    for name, boxes in zip(sorts, ranks, strict=True):
        yield from (((name, number), one) for number, one in enumerate(boxes))
    yield ("all", 0), everything
    size = (after.shape[1], after.shape[0])
    window = grown(everything.boxes[1], AROUND, size)
    inks = [Ink(picture, window) for picture in (before, after)]
    for number, seed in enumerate(seeds[:SEEDS]):
        for name, one, other in _things(before, after, inks, seed.boxes):
            yield (
                (name, number),
                Proposal(one, other, None, name.partition(" ")[0], 0.0, seed.pixels, seed.strength),
            )


def _things(
    before: Pixels, after: Pixels, inks: list[Ink], seed: tuple[Box, Box]
) -> Iterator[tuple[str, Box, Box]]:
    """The things around one seed: name, box before, box after."""
    finds = [("inked", [ink.inside(box) for ink, box in zip(inks, seed, strict=True)])]
    finds += [
        (thing, [ink.around(box, thing) for ink, box in zip(inks, seed, strict=True)]) for thing in GATHERED
    ]
    for name, (was, now) in finds:
        one, other = was or now, now or was
        if one and other:
            yield name, one, other
    size = (after.shape[1], after.shape[0])
    for name, picture, region in (("was", before, seed[0]), ("now", after, seed[1])):
        left, top, right, bottom = box = grown(region, 0, size)
        if left >= right or top >= bottom:
            continue  # what the rules say moved may have been outside
        color = usual_color(picture[top:bottom, left:right].reshape(-1, 3))
        wide = spread(picture, box, color, widest=False)
        for way, shape in (
            ("across", (wide[0], top, wide[2], bottom)),
            ("down", (left, wide[1], right, wide[3])),
            ("form", wide),
        ):
            yield f"{way} {name}", shape, shape
    outer = grown(seed[1], FRAME, size)
    if outer[0] < outer[2] and outer[1] < outer[3]:
        frame = spread(after, outer, ground_color(after, outer), widest=True)
        yield "frame", frame, frame


def _threshold(seen: Visibility) -> float:
    """The visible; where nothing is, a part of the strongest difference."""
    return min(1.0, max(LEAST, FAINTEST * seen.score))


def _everything(seen: Visibility) -> Proposal:
    """All that differs, together."""
    box = box_of(seen.differs)
    return Proposal(box, box, None, "all", 0.0, int(np.count_nonzero(seen.differs)), seen.score)


def _of_rule(change: DetectedChange, seen: Visibility) -> Proposal:
    finding = change.finding
    return Proposal(
        change.box_before,
        change.box_after,
        finding.kind,
        finding.aspect,
        finding.confidence,
        change.pixels,
        _strength(seen, [box for box in (change.box_before, change.box_after) if box]),
        change.cause,
        dict(finding.values),
    )


def _strength(seen: Visibility, boxes: list[Box]) -> float:
    parts = [seen.strength[box[1] : box[3], box[0] : box[2]] for box in boxes]
    return max((float(part.max(initial=0.0)) for part in parts), default=0.0)


def _clusters(
    before: Pixels, after: Pixels, seen: Visibility, threshold: float, reach: int
) -> Iterator[Proposal]:
    """The largest clusters of visible differences up to twice ``reach`` pixels apart."""
    for region in find_regions(seen, threshold, reach)[:CLUSTERS]:
        box = tightened(before, after, region).box
        yield Proposal(box, box, None, "cluster", 0.0, region.pixels, region.strength)


def _strong(mask: NDArray[np.bool_], reach: int) -> Iterator[Proposal]:
    """The largest clusters of strong steps up to twice ``reach`` pixels apart."""
    from scipy import ndimage  # slow to import

    around = box_of(mask)
    if around is None:
        return
    left, top, right, bottom = around
    mask = mask[top:bottom, left:right]
    labels, count = ndimage.label(enlarged(mask, reach, reach), np.ones((3, 3), bool))
    labels = np.where(mask, labels, 0)
    sizes = np.bincount(labels.ravel(), minlength=count + 1)
    places = ndimage.find_objects(labels)
    for label in sorted(range(1, count + 1), key=lambda label: -sizes[label])[:CLUSTERS]:
        down, across = places[label - 1]
        box = (left + across.start, top + down.start, left + across.stop, top + down.stop)
        yield Proposal(box, box, None, "strong", 0.0, int(sizes[label]), 1.0)


def _of_two_sizes(compared: Compared) -> tuple[list[tuple[Slot, Proposal]], _Differences | None]:
    """The statements of the rules, each thing of an alike change by itself too, the whole pictures; and what
    is found where the pictures are laid on each other, line by line or at their upper left corners."""
    before, after = compared.before, compared.after
    aligned = compared.aligned(1.0)
    proposals = list(_of_statements(aligned.statements, before, after))
    height, width = (min(before.shape[axis], after.shape[axis]) for axis in (0, 1))
    corners = before[:height, :width], after[:height, :width]
    differences = None
    for way, one, other, seen in (
        ("laid ", aligned.before, after, aligned.seen),
        ("corner ", *corners, visibility(*corners)),
    ):
        if not seen.differs.any():
            continue
        own = _Differences(seen.visible(WEAKER * _threshold(seen)), _strong_steps(one, other), CERTAIN)
        proposals += [
            ((way + name, number), proposal)
            for (name, number), proposal in _around(one, other, seen, own, [])
        ]
        if way == "laid ":
            differences = own
    return proposals, differences


def _of_statements(
    statements: list[Statement], before: Pixels, after: Pixels
) -> Iterator[tuple[Slot, Proposal]]:
    """What the rules say of two pictures of two sizes, and the whole pictures."""
    sizes = [(0, 0, picture.shape[1], picture.shape[0]) for picture in (before, after)]
    for number, statement in enumerate(statements):
        one, other = statement.box_before, statement.box_after
        if one is None and other is None:
            one, other = sizes[0], sizes[1]
        pixels = round(statement.share * area(sizes[1]))
        aspect = str(statement.values.get("aspect", ""))
        told = (statement.kind, aspect, statement.confidence)
        values = dict(statement.values)
        yield ("rule", number), Proposal(one, other, *told, pixels, CERTAIN, values=values)
        for part, box in enumerate(statement.boxes[:MOST_PARTS]):
            one, other = (None, box) if statement.box_after else (box, None)
            yield ("part", part), Proposal(one, other, *told, area(box), CERTAIN)
    yield ("sizes", 0), Proposal(sizes[0], sizes[1], None, "sizes", 0.0, area(sizes[1]), CERTAIN)


def overlap(one: Box | None, other: Box | None) -> float:
    """Intersection over union of two boxes; 1 where neither is there, 0 where only one is."""
    return float(one is other) if one is None or other is None else iou(one, other)


def _distinct(proposals: Iterable[Proposal], most: int) -> list[Proposal]:
    """The first so many proposals without those that repeat an earlier one."""
    kept: list[Proposal] = []
    for proposal in proposals:
        if len(kept) == most:
            break
        if all(_likeness(proposal, other) < SAME for other in kept):
            kept.append(proposal)
    return kept


def _likeness(one: Proposal, other: Proposal) -> float:
    """How alike two places are: by where they are looked at, so that one of the two boxes may be missing."""
    return min(iou(mine, yours) for mine, yours in zip(one.boxes, other.boxes, strict=True))
