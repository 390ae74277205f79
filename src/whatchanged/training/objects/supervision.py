"""Losses that learn from the truth of drawn CLEVR scenes. None of them is part of a published method.

Task ``detection``: the object in each cell and its ground position, in one picture. Task ``matching``: which
tokens of two pictures show the same object, and how it changed; with ``vision.scene_context`` also the sizes
and ground positions of the objects. With ``vision.guided_attention``: the objects to which words should
attend.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F
from torch.nn.utils.rnn import pad_sequence

from whatchanged.training.distributed import batch_total
from whatchanged.training.objects.matching import Matches
from whatchanged.worlds.clevr.scene import COLORS, MATERIALS, SHAPES, SIZES

ATTRIBUTES: dict[str, int] = {
    "shape": len(SHAPES),
    "size": len(SIZES),
    "color": len(COLORS),
    "material": len(MATERIALS),
}
"""A mapping from each attribute to its number of values, in the column order of
``ObjectsTruth.attributes``."""

CHANGE_LABELS = ("same", "color", "material", "unpaired", "move")
"""The labels for the change of an object between the pictures. "unpaired" means added or dropped."""

ABSENT = -1
POSITION_SCALE = 3.0
"""The unit of the learned ground coordinates, in Blender units. Objects lie within 3 Blender units of x = y =
0."""


@dataclass(frozen=True)
class ObjectsTruth:
    """The truth of a batch of pictures, on their grid. T: the most objects that a scene may have (10).

    owner: (B, h, w) long, the object that covers most of the cell, or -1
    center: (B, T) long, the cell nearest to the middle of an object's visible part, or -1 if nothing is
    visible
    attributes: (B, T, 4) long, values in the order of ``ATTRIBUTES``
    ground_positions: (B, T, 2), ground coordinates as this camera sees them, in units
    """

    owner: Tensor
    center: Tensor
    attributes: Tensor
    ground_positions: Tensor


@dataclass(frozen=True)
class PairTruth:
    """The truth of two pictures, and the change.

    partner_*: (B, T) long, for every object of one picture its index in the other, -1 where it is absent.
    change_label_*: (B, T) long, how the object changed, as an index of ``CHANGE_LABELS``.
    mentioned: (B, L, 2, 2) long, the objects, at most two, that each word of the caption mentions, by their
    index before and after, -1 for none.
    """

    before: ObjectsTruth
    after: ObjectsTruth
    partner_before: Tensor
    partner_after: Tensor
    change_label_before: Tensor
    change_label_after: Tensor
    mentioned: Tensor

    def to(self, device: torch.device | str) -> "PairTruth":
        """Return the ground truth with its tensors on another device."""
        before, after = (
            ObjectsTruth(*(value.to(device) for value in vars(side).values()))
            for side in (self.before, self.after)
        )
        rest = [value.to(device) for value in vars(self).values() if isinstance(value, Tensor)]
        return PairTruth(before, after, *rest)


def collate_truth(pairings: Sequence[Any]) -> PairTruth:
    """Return the pool's ``Pairing`` of each pair as one batch of tensors."""

    def stack(name: str, side: str | None = None) -> Tensor:
        owners = pairings if side is None else [getattr(p, side) for p in pairings]
        stacked = torch.from_numpy(np.stack([getattr(owner, name) for owner in owners]))
        return stacked if stacked.is_floating_point() else stacked.long()

    before, after = (
        ObjectsTruth(*(stack(name, side) for name in ("owner", "center", "attributes", "ground_positions")))
        for side in ("before", "after")
    )
    known = (stack(f"{name}_{side}") for name in ("partner", "change_label") for side in ("before", "after"))
    mentioned = [torch.from_numpy(pairing.mentioned).long() for pairing in pairings]
    words = pad_sequence(mentioned, batch_first=True, padding_value=ABSENT)
    return PairTruth(before, after, *(*known, words))


def join(before: ObjectsTruth, after: ObjectsTruth) -> ObjectsTruth:
    """Join two batches of pictures."""
    both = zip(vars(before).values(), vars(after).values(), strict=True)
    return ObjectsTruth(*(torch.cat(parts) for parts in both))


def cell_loss(
    centers: Tensor, attributes: dict[str, Tensor], ground_positions: Tensor, truth: ObjectsTruth
) -> dict[str, Tensor]:
    """Return the losses of the predictions about each cell, by name.

    center: penalty-reduced focal loss of whether the cell is the middle of an object (Zhou et al., "Objects
    as Points", eq. 1, with a fixed neighbourhood: the neighbours of a middle count a quarter).
    Each attribute: cross entropy over cells that an object covers; middles count eight times.
    ground_position: L1 over the same cells with the same weights, in units of ``POSITION_SCALE``.

    centers: (B, h, w) logits; attributes: name -> (B, n, h, w) logits; ground_positions: (B, 2, h, w).
    """
    batch, h, w = centers.shape
    middle = _marks(truth.center, h * w).view(batch, h, w)
    around = F.max_pool2d(middle[:, None], 3, 1, 1)[:, 0]
    probability = centers.sigmoid()
    positive = -F.logsigmoid(centers) * (1 - probability).square() * middle
    negative = -F.logsigmoid(-centers) * probability.square() * (1 - middle) * (1 - 0.75 * around)
    terms = {"center": (positive.sum() + negative.sum()) / batch_total(middle.sum()).clamp_min(1)}

    covered = truth.owner >= 0
    weight = covered * (1 + 7 * middle)
    total = batch_total(weight.sum()).clamp_min(1)
    owner = truth.owner.clamp_min(0).flatten(1)
    for column, (name, logits) in enumerate(attributes.items()):
        target = torch.gather(truth.attributes[..., column], 1, owner).view(batch, h, w)
        terms[name] = (F.cross_entropy(logits, target, reduction="none") * weight).sum() / total
    target_places = torch.gather(truth.ground_positions, 1, owner[..., None].expand(-1, -1, 2)).view(
        batch, h, w, 2
    )
    gap = (ground_positions.permute(0, 2, 3, 1) - target_places / POSITION_SCALE).abs().sum(-1)
    terms["ground_position"] = (gap * weight).sum() / total
    return terms


def objects_of_tokens(cells: Tensor, truth: ObjectsTruth, columns: int) -> Tensor:
    """Return the object whose middle is in a token's cell or a neighbouring cell, -1 for none: (B, N) -> (B,
    N).

    Tokens are ordered best first, and each object gets one token. Later tokens near the same middle get -1.
    """
    row, column = cells // columns, cells % columns
    center_row, center_column = truth.center // columns, truth.center % columns
    distance = torch.maximum(
        (row[:, :, None] - center_row[:, None]).abs(), (column[:, :, None] - center_column[:, None]).abs()
    )
    distance = distance.masked_fill((truth.center < 0)[:, None], 10_000)
    nearest, item = distance.min(dim=2)
    near = nearest <= 1
    alike = (item[:, :, None] == item[:, None, :]) & near[:, None, :]
    taken = torch.tril(alike, diagonal=-1).any(dim=2)
    return torch.where(near & ~taken, item, ABSENT)


def scene_context_loss(
    sizes: tuple[Tensor, Tensor],
    ground_positions: tuple[Tensor, Tensor],
    objects: tuple[Tensor, Tensor],
    truth: PairTruth,
) -> dict[str, Tensor]:
    """Cross-entropy of the sizes and L1 of the positions of the tokens that show an object, both pictures.

    sizes: (B, N, 2) logits; ground_positions: (B, N, 2) in units of ``POSITION_SCALE``; objects: the object
    that each token shows, (B, N), -1 for none.
    """
    size, ground_position, count = (sizes[0].new_zeros(()) for _ in range(3))
    column = list(ATTRIBUTES).index("size")
    for logits, stands, own, side in zip(
        sizes, ground_positions, objects, (truth.before, truth.after), strict=True
    ):
        shows, item = (own >= 0).to(logits.dtype), own.clamp_min(0)
        wanted = torch.gather(side.attributes[..., column], 1, item)
        there = torch.gather(side.ground_positions, 1, item[..., None].expand(-1, -1, 2)) / POSITION_SCALE
        size = size + (F.cross_entropy(logits.transpose(1, 2), wanted, reduction="none") * shows).sum()
        ground_position = ground_position + ((stands - there).abs().sum(-1) * shows).sum()
        count = count + shows.sum()
    count = batch_total(count)
    return {"size": size / count.clamp_min(1), "ground_position": ground_position / count.clamp_min(1)}


def match_loss(matches: Matches, objects: tuple[Tensor, Tensor], truth: PairTruth) -> Tensor:
    """Cross-entropy of the soft matches: a token matches the token of the same object, or "nowhere".

    The mean of both directions, each a weighted mean over the tokens. A token that shows no object should
    match nowhere and counts a tenth.
    """
    total = matches.log_joint.new_zeros(())
    directions = (
        (matches.log_joint[:, :-1], objects[0], objects[1], truth.partner_before),
        (matches.log_joint[:, :, :-1].transpose(1, 2), objects[1], objects[0], truth.partner_after),
    )
    for log_match, own, other, partners in directions:
        wanted = torch.gather(partners, 1, own.clamp_min(0))
        wanted = torch.where(own >= 0, wanted, ABSENT)
        same = (other[:, None, :] == wanted[:, :, None]) & (wanted >= 0)[:, :, None]
        nowhere = torch.full_like(wanted, other.shape[1])
        target = torch.where(same.any(-1), same.int().argmax(-1), nowhere)
        log_match = log_match - torch.logsumexp(log_match, dim=-1, keepdim=True)
        loss = -torch.gather(log_match, 2, target[..., None])[..., 0]
        weight = torch.where(own >= 0, 1.0, 0.1)
        total = total + (loss * weight).sum() / batch_total(weight.sum())
    return total / 2


def change_label_loss(
    logits: tuple[Tensor, Tensor], objects: tuple[Tensor, Tensor], truth: PairTruth
) -> Tensor:
    """Cross-entropy of the change label of each token's object; changed objects count three times.

    logits: (B, N, len(CHANGE_LABELS)) before and after. Tokens that show no object do not count.
    """
    total = logits[0].new_zeros(())
    for scores, own, change_labels in zip(
        logits, objects, (truth.change_label_before, truth.change_label_after), strict=True
    ):
        target = torch.gather(change_labels, 1, own.clamp_min(0))
        weight = (own >= 0) * torch.where(target > 0, 3.0, 1.0)
        loss = F.cross_entropy(scores.flatten(0, 1), target.flatten(), reduction="none").view_as(weight)
        total = total + (loss * weight).sum() / batch_total(weight.sum()).clamp_min(1)
    return total / 2


def mentioned_tokens(before: Tensor, after: Tensor, mentioned: Tensor) -> Tensor:
    """Return whether a token shows an object that a word mentions: bool (B, L, 2, N).

    before, after: the objects of the tokens, (B, N); mentioned: see ``PairTruth``.
    """
    own = torch.stack([before, after], dim=1)[:, None]
    return ((own[:, :, None] == mentioned[..., None]) & (own >= 0)[:, :, None]).any(2)


def pointing_loss(looked: Tensor, shows: Tensor, words: Tensor) -> Tensor:
    """-log of the share of a word's attention on tokens of the objects that it mentions.

    This is the mean over words that mention an object which some token shows. looked: (B, L, 2, N) attention
    to the tokens; shows: bool (B, L, 2, N), see ``mentioned_tokens``; words: bool (B, L), True for real
    words.
    """
    share = (looked * shows).sum((2, 3)) / looked.sum((2, 3)).clamp_min(1e-9)
    counted = words & shows.any(3).any(2)
    loss = -share.clamp_min(1e-6).log() * counted
    return loss.sum() / batch_total(counted.sum()).clamp_min(1)


def _marks(cells: Tensor, count: int) -> Tensor:
    """(B, T) cell numbers, -1 for none -> (B, count) ones at the cells."""
    marks = torch.zeros(cells.shape[0], count + 1, device=cells.device)
    marks.scatter_(1, torch.where(cells >= 0, cells, count), 1.0)
    return marks[:, :count]
