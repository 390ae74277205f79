"""What the truth of pairs, drawn or real, teaches about proposed places. No published method has any of it.

A place belongs to the change whose box it overlaps most, where that is at least ``NEAR``: from there on it
learns kind, element and where the box should be. From ``HIT`` on it counts as a change, below ``NEAR`` as
none; between the two that teaches nothing.

Axis letters: B pairs, N places, T boxes of changes.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from whatchanged.training.distributed import batch_total
from whatchanged.worlds.screens.elements import ELEMENTS
from whatchanged.worlds.screens.kinds import ASPECTS, KINDS
from whatchanged.worlds.screens.truth import Box, ScreenTruth

ELEMENT_NAMES = tuple(ELEMENTS)
ASPECT_NAMES = tuple((kind, aspect) for kind in KINDS for aspect in ASPECTS[kind])
"""Each kind with each of its finer words."""
HIT, NEAR = 0.5, 0.3
"""Intersection over union."""
SOFT = 0.3
"""Weight of how near places are, beside which of them are hits."""
ABSENT = -1
MOST_BOXES = 12
"""Boxes of a pair's changes, alike things each by itself; those beyond are not told."""


@dataclass(frozen=True)
class RegionTruth:
    """The changes of a batch of pairs.

    boxes: (B, T, 2, 4) before and after, in pixels; there: (B, T, 2), whether there is a box. kind,
    element, aspect: (B, T), numbers in ``KINDS``, ``ELEMENT_NAMES`` and ``ASPECT_NAMES``, -1 for no change or
    what is not known. change: (B, T), which of the pair's changes has the box, -1 for none.
    doubtful: (B,), whether people may disagree that the pair shows a change.
    """

    boxes: Tensor
    there: Tensor
    kind: Tensor
    element: Tensor
    aspect: Tensor
    change: Tensor
    doubtful: Tensor

    def to(self, device: torch.device | str) -> "RegionTruth":
        """The same on another device."""
        return RegionTruth(*(getattr(self, name).to(device) for name in self.__dataclass_fields__))


@dataclass(frozen=True)
class Labels:
    """What each place shows.

    share: (B, N), the largest overlap with a change's box.
    kind, element, aspect: (B, N), of that change; -1 where the overlap is below ``NEAR``.
    changed: (B, N), 1 for a change, 0 for none, -1 where it teaches nothing.
    boxes: (B, N, 2, 4), of that change; known: (B, N, 2), whether it has one and the overlap is ``NEAR``.
    verdict: (B,), 1 where the pair shows any change, 0 where none, -1 where that is doubtful.
    order: (B, N), the number of that change among the pair's, the most important one 0.
    """

    share: Tensor
    kind: Tensor
    element: Tensor
    aspect: Tensor
    changed: Tensor
    boxes: Tensor
    known: Tensor
    verdict: Tensor
    order: Tensor


def collate(truths: Sequence[ScreenTruth]) -> RegionTruth:
    """The truth of a batch as tensors."""
    rows = [_boxes(truth) for truth in truths]
    most = max(1, max(len(row) for row in rows))
    boxes = torch.zeros(len(rows), most, 2, 4)
    there = torch.zeros(len(rows), most, 2, dtype=torch.bool)
    shown = torch.full((4, len(rows), most), ABSENT)  # kind, element, aspect and number of the change
    for i, row in enumerate(rows):
        for j, (numbers, sides) in enumerate(row):
            shown[:, i, j] = torch.tensor(numbers)
            for side, box in enumerate(sides):
                if box is not None:
                    boxes[i, j, side] = torch.tensor(box, dtype=torch.float32)
                    there[i, j, side] = True
    kind, element, aspect, change = shown
    doubtful = torch.tensor([truth.doubtful for truth in truths])
    return RegionTruth(boxes, there, kind, element, aspect, change, doubtful)


def no_truth() -> ScreenTruth:
    """The truth of a pair that does not differ: it has the shapes of any, for who plans without data."""
    return ScreenTruth((), (), (1, 1), (1, 1))


def _boxes(truth: ScreenTruth) -> list[tuple[tuple[int, int, int, int], tuple[Box | None, Box | None]]]:
    """Of each change kind, element, aspect, its number, and its boxes; then those of each of the alike things
    that changed with it."""
    results = []
    for number, change in enumerate(truth.changes):
        element = ELEMENT_NAMES.index(change.element) if change.element in ELEMENT_NAMES else ABSENT
        finer = (change.kind, change.aspect)
        aspect = ASPECT_NAMES.index(finer) if finer in ASPECT_NAMES else ABSENT
        numbers = (KINDS.index(change.kind), element, aspect, number)
        results.append((numbers, (change.box_before, change.box_after)))
        if len(change.boxes) > 1:
            results += [(numbers, sides) for sides in change.boxes]
    return results[:MOST_BOXES]


def overlaps(proposals: Tensor, truth: RegionTruth) -> Tensor:
    """Intersection over union of each place with each box of a change, (B, N, T).

    proposals: (B, N, 2, 4), before and after. Boxes are compared in the picture after, in the picture before
    where the change has none after; 0 where there is no change.
    """
    side = torch.where(truth.there[..., 1], 1, 0)  # (B, T)
    known = truth.there.any(-1)
    boxes = torch.gather(truth.boxes, 2, side[..., None, None].expand(-1, -1, 1, 4))[:, :, 0]  # (B, T, 4)
    results = []
    for own in (0, 1):
        shared = iou(proposals[:, :, own][:, :, None], boxes[:, None])  # (B, N, T)
        results.append(shared)
    chosen = torch.where(side[:, None] == 1, results[1], results[0])
    return chosen * known[:, None]


def iou(one: Tensor, other: Tensor) -> Tensor:
    """Intersection over union of boxes (..., 4), left top right bottom."""
    low = torch.maximum(one[..., :2], other[..., :2])
    high = torch.minimum(one[..., 2:], other[..., 2:])
    shared = (high - low).clamp_min(0).prod(-1)
    areas = [(boxes[..., 2:] - boxes[..., :2]).clamp_min(0).prod(-1) for boxes in (one, other)]
    return shared / (areas[0] + areas[1] - shared).clamp_min(1e-6)


def label(proposals: Tensor, truth: RegionTruth) -> Labels:
    """What each place (B, N, 2, 4) shows."""
    share, change = overlaps(proposals, truth).max(-1)
    near = share >= NEAR
    kind = torch.where(near, torch.gather(truth.kind, 1, change), ABSENT)
    element = torch.where(near, torch.gather(truth.element, 1, change), ABSENT)
    aspect = torch.where(near, torch.gather(truth.aspect, 1, change), ABSENT)
    changed = torch.where(share >= HIT, 1, torch.where(near, ABSENT, 0))
    changed = changed.masked_fill(truth.doubtful[:, None], ABSENT)
    boxes = torch.gather(truth.boxes, 1, change[..., None, None].expand(-1, -1, 2, 4))
    known = torch.gather(truth.there, 1, change[..., None].expand(-1, -1, 2)) & near[..., None]
    verdict = truth.there.any(-1).any(-1).long().masked_fill(truth.doubtful, ABSENT)
    order = torch.gather(truth.change, 1, change).clamp_min(0)
    return Labels(share, kind, element, aspect, changed, boxes, known, verdict, order)


def pointed(proposals: Tensor, truth: RegionTruth) -> Tensor:
    """Whether the middle of each place (B, N, 2, 4) lies in each box of a change, (B, N, T).

    Boxes are compared as in ``overlaps``.
    """
    middles = (proposals[..., :2] + proposals[..., 2:]) / 2  # (B, N, 2, 2)
    side = torch.where(truth.there[..., 1], 1, 0)  # (B, T)
    boxes = torch.gather(truth.boxes, 2, side[..., None, None].expand(-1, -1, 1, 4))[:, :, 0]  # (B, T, 4)
    own = torch.where(side[:, None, :, None] == 1, middles[:, :, None, 1], middles[:, :, None, 0])
    low, high = boxes[:, None, :, :2], boxes[:, None, :, 2:]  # (B, 1, T, 2)
    return ((low <= own) & (own < high)).all(-1) & truth.there.any(-1)[:, None]


@dataclass(frozen=True)
class RegionLogits:
    """What the heads say of each place, and of the pair.

    kinds: (B, N, 8), elements: (B, N, E), aspects: (B, N, A), changed, rank: (B, N), verdict: (B,), logits:
    which kind, which element, which finer word for the kind, whether it shows a change, which place is the
    best; whether the pair shows a change at all.
    shift: (B, N, 2, 4), how far each side of each box should move to the right or down, in parts of the box's
    width or height.
    """

    kinds: Tensor
    elements: Tensor
    aspects: Tensor
    changed: Tensor
    rank: Tensor
    verdict: Tensor
    shift: Tensor


def mean_judgement(judgements: Sequence[RegionLogits]) -> RegionLogits:
    """The mean of what several networks say of the same places."""
    names = RegionLogits.__dataclass_fields__
    means = {name: torch.stack([getattr(one, name) for one in judgements]).mean(0) for name in names}
    return RegionLogits(**means)


def refined(boxes: Tensor, shift: Tensor) -> Tensor:
    """The boxes (B, N, 2, 4) with their sides moved as ``RegionLogits.shift`` says."""
    sizes = (boxes[..., 2:] - boxes[..., :2]).clamp_min(1).repeat(1, 1, 1, 2)
    return boxes + shift * sizes


def supported(rank: Tensor, boxes: Tensor, there: Tensor) -> Tensor:
    """The chance (B, N) that a place overlaps the best one by ``HIT`` or more in both; 0 for padding.

    rank: (B, N), logits of ``RegionLogits.rank``; boxes: (B, N, 2, 4). As several places may show one
    change, the place with the largest chance is right more often than that of the largest rank.
    """
    chances = rank.masked_fill(~there, -1e4).softmax(1)  # (B, N)
    alike = iou(boxes[:, :, None], boxes[:, None]).amin(-1) >= HIT  # (B, N, N)
    return (alike * chances[:, None]).sum(2) * there


def region_loss(
    logits: RegionLogits, boxes: Tensor, labels: Labels, there: Tensor, later: float = 1.0
) -> dict[str, Tensor]:
    """Seven terms: which kind, which element, which aspect, whether it is a change at all, which place is the
    best, where the boxes should be, whether the pair shows a change.

    boxes: (B, N, 2, 4). there: (B, N), real places. ``rank`` is a distribution p over a pair's boxes: its
    term is -log of the sum of w p over the hits, and ``SOFT`` times the cross-entropy of p with the squares
    of all overlaps, for pairs that have such places. w = later^k for a hit of the k-th change after the most
    important one that is hit. Boxes learn from 1 - IoU of the refined ones.
    """
    judged = there & (labels.changed != ABSENT)
    verdict = F.binary_cross_entropy_with_logits(
        logits.changed, labels.changed.clamp_min(0).float(), reduction="none"
    )
    wanted = (labels.share * there).square()
    shown = (labels.share * there).amax(1) >= NEAR
    wanted = wanted / wanted.sum(1, keepdim=True).clamp_min(1e-6)
    ranked = logits.rank.masked_fill(~there, -1e4).log_softmax(1)
    hit = (labels.share >= HIT) & there
    after = labels.order - labels.order.masked_fill(~hit, MOST_BOXES).amin(1, keepdim=True)
    among_hits = (ranked + after * math.log(later)).masked_fill(~hit, -1e4).logsumexp(1)
    apart = 1 - iou(refined(boxes, logits.shift), labels.boxes)
    seen = labels.verdict.clamp_min(0).float()
    pairs = F.binary_cross_entropy_with_logits(logits.verdict, seen, reduction="none")
    return {
        "kind": _named(logits.kinds, labels.kind, there),
        "element": _named(logits.elements, labels.element, there),
        "aspect": _named(logits.aspects, labels.aspect, there),
        "changed": _mean(verdict, judged),
        "rank": _mean(-among_hits, hit.any(1)) + SOFT * _mean(-(wanted * ranked).sum(1), shown),
        "box": _mean(apart, labels.known & there[..., None]),
        "verdict": _mean(pairs, there.any(1) & (labels.verdict != ABSENT)),
    }


def _named(logits: Tensor, label: Tensor, there: Tensor) -> Tensor:
    """The cross-entropy of logits (B, N, C) with labels (B, N), of the real places whose label is known."""
    wanted = label.masked_fill(~there, ABSENT).flatten()
    losses = F.cross_entropy(logits.flatten(0, 1), wanted.clamp_min(0), reduction="none")
    return _mean(losses, wanted >= 0)


def _mean(losses: Tensor, counted: Tensor) -> Tensor:
    """The mean of the losses that count; 0 where none does."""
    return (losses * counted).sum() / batch_total(counted.sum()).clamp_min(1)
