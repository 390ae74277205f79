"""Places where something may have changed, for a model to judge: those of the rules, and clusters."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from whatchanged.measured.boxes import area, iou
from whatchanged.measured.canvas import compare_sizes
from whatchanged.measured.changes import found_changes, merged, tightened
from whatchanged.measured.found import Found
from whatchanged.measured.gate import Visibility, visibility
from whatchanged.measured.reading import Pixels
from whatchanged.measured.regions import find_regions
from whatchanged.measured.result import Box, Kind

REACHES = (3, 24)
"""Differences up to twice as many pixels apart belong to one cluster; beside the clusters of the rules."""
MOST_CLUSTERS = 6
"""Clusters of each reach, the largest."""
SAME = 0.85
"""Of two proposals whose boxes overlap by so much (intersection over union), the first stays."""
FAINTEST = 0.5
"""Where nothing is visible, what is at least this part as strong as the strongest is proposed."""
LEAST = 1e-3
"""But nothing that is weaker than this part of the visible."""


@dataclass(frozen=True)
class Proposal:
    """One place in both pictures, and what the rules say of it.

    A box is None where nothing is there. rule: the kind by the rules, None for a mere cluster. strength: the
    largest difference there, in units of the visible. cause: whether nothing else explains it.
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

    @property
    def boxes(self) -> tuple[Box, Box]:
        """Where to look in each picture: the thing's own box, or where it is in the other one."""
        one = self.box_before or self.box_after
        other = self.box_after or self.box_before
        assert one is not None
        assert other is not None
        return one, other


def propose(before: Pixels, after: Pixels, most: int = 8) -> list[Proposal]:
    """At most so many places, the most telling first; none for equal pictures.

    What the rules found comes first, alike things together, then each by itself, then clusters.
    """
    if before.shape != after.shape:
        return _distinct(_of_two_sizes(before, after))[:most]
    seen = visibility(before, after)
    if not seen.differs.any():
        return []
    threshold = _threshold(seen)
    found = found_changes(before, after, seen, threshold)
    ranked = sorted(merged(found), key=lambda one: (not one.cause, -one.pixels))
    places = [_of_rule(one, seen) for one in (*ranked, *sorted(found, key=lambda one: -one.pixels))]
    return _distinct([*places, *_clusters(before, after, seen, threshold), _everything(seen)])[:most]


def _threshold(seen: Visibility) -> float:
    """The visible; where nothing is, a part of the strongest difference."""
    return min(1.0, max(LEAST, FAINTEST * seen.score))


def _everything(seen: Visibility) -> Proposal:
    """All that differs, together."""
    rows, columns = np.flatnonzero(seen.differs.any(axis=1)), np.flatnonzero(seen.differs.any(axis=0))
    box = (int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1)
    return Proposal(box, box, None, "all", 0.0, int(np.count_nonzero(seen.differs)), seen.score)


def _of_rule(found: Found, seen: Visibility) -> Proposal:
    finding = found.finding
    return Proposal(
        found.box_before,
        found.box_after,
        finding.kind,
        finding.aspect,
        finding.confidence,
        found.pixels,
        _strength(seen, [box for box in (found.box_before, found.box_after) if box]),
        found.cause,
        dict(finding.values),
    )


def _strength(seen: Visibility, boxes: list[Box]) -> float:
    parts = [seen.strength[box[1] : box[3], box[0] : box[2]] for box in boxes]
    return max((float(part.max(initial=0.0)) for part in parts), default=0.0)


def _clusters(before: Pixels, after: Pixels, seen: Visibility, threshold: float) -> Iterator[Proposal]:
    """Clusters of differences at other reaches than that of the rules."""
    for reach in REACHES:
        for region in find_regions(seen, threshold, reach)[:MOST_CLUSTERS]:
            box = tightened(before, after, region).box
            yield Proposal(box, box, None, "cluster", 0.0, region.pixels, region.strength)


def _of_two_sizes(before: Pixels, after: Pixels) -> Iterator[Proposal]:
    """The statements of the rules, each thing of an alike change by itself too, and the whole pictures."""
    found = compare_sizes(before, after, 1.0)
    statements, laid = found.statements, found.before
    sizes = [(0, 0, picture.shape[1], picture.shape[0]) for picture in (before, after)]
    for statement in statements:
        one, other = statement.box_before, statement.box_after
        if one is None and other is None:
            one, other = sizes[0], sizes[1]
        pixels = round(statement.share * area(sizes[1]))
        aspect = str(statement.values.get("aspect", ""))
        yield Proposal(
            one,
            other,
            statement.kind,
            aspect,
            statement.confidence,
            pixels,
            100.0,
            True,
            dict(statement.values),
        )
        for box in statement.boxes[:MOST_CLUSTERS]:
            one, other = (None, box) if statement.box_after else (box, None)
            yield Proposal(one, other, statement.kind, aspect, statement.confidence, area(box), 100.0)
    yield Proposal(sizes[0], sizes[1], None, "all", 0.0, area(sizes[1]), 100.0)
    if laid.shape == after.shape:
        seen = visibility(laid, after)
        if seen.differs.any():
            yield from _clusters(laid, after, seen, _threshold(seen))


def overlap(one: Box | None, other: Box | None) -> float:
    """Intersection over union of two boxes; 1 where neither is there, 0 where only one is."""
    return float(one is other) if one is None or other is None else iou(one, other)


def _distinct(proposals: list[Proposal] | Iterator[Proposal]) -> list[Proposal]:
    """The proposals without those that repeat an earlier one."""
    kept: list[Proposal] = []
    for proposal in proposals:
        if all(_likeness(proposal, other) < SAME for other in kept):
            kept.append(proposal)
    return kept


def _likeness(one: Proposal, other: Proposal) -> float:
    return min(
        overlap(one.box_before, other.box_before),
        overlap(one.box_after, other.box_after),
    )
