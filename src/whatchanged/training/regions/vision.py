"""The vision of screens: proposed places as tokens, each judged by small networks.

The measured numbers of a place make the features of a token. A layer of attention lets the places of a pair
read each other. Heads tell kind, element and aspect, whether it is a change at all, which place is the best,
where its boxes should be, and whether the pair shows any change. Not part of any published method.

Axis letters: B pairs, N places, F width of a token, M networks.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from whatchanged.errors import DatasetError, ShapeError
from whatchanged.recipes.schema import RegionsConfig
from whatchanged.regions.numbers import NUMBERS
from whatchanged.training.batches import Batch
from whatchanged.training.nn.clip import CLIPBlock
from whatchanged.training.nn.transformer import BLIND, key_mask
from whatchanged.training.regions import supervision
from whatchanged.training.regions.store import ROW
from whatchanged.training.regions.supervision import (
    ASPECT_NAMES,
    ELEMENT_NAMES,
    RegionLogits,
    RegionTruth,
    mean_judgement,
)
from whatchanged.training.vision.base import PlainVision, TokenPair, Tokens
from whatchanged.worlds.screens.kinds import KINDS

UNTOLD = 0.1
"""Share of a place's measured numbers that are left out while it learns."""
WIDEST = 4.0
"""Largest measured number, as it is and in standard deviations: what lies beyond counts as much."""
GRID = 8
"""Rows and columns of the grid that attention is painted back to."""


@dataclass(frozen=True)
class BatchPlaces:
    """The proposed places of a batch of pairs.

    numbers: (B, N, NUMBERS). boxes: (B, N, 2, 4) in pixels; sizes: (B, N, 2, 2), width and height of both
    pictures. there: (B, N), real places.
    """

    numbers: Tensor
    boxes: Tensor
    sizes: Tensor
    there: Tensor


class RegionNet(nn.Module):
    """The numbers of a place -> F features."""

    def __init__(self, width: int, dropout: float) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(NUMBERS, affine=False)
        self.layers = nn.Sequential(
            nn.Dropout(UNTOLD),
            *(nn.Linear(NUMBERS, width), nn.ReLU(), nn.LayerNorm(width), nn.Dropout(dropout)),
            *(nn.Linear(width, width), nn.ReLU(), nn.LayerNorm(width), nn.Dropout(dropout)),
        )

    def forward(self, numbers: Tensor) -> Tensor:
        """(M, NUMBERS) -> (M, F)."""
        near = numbers.clamp(-WIDEST, WIDEST)
        usual = self.norm(near) if len(near) > 1 else self._of_all(near)  # one place alone has no spread
        features: Tensor = self.layers(usual.clamp(-WIDEST, WIDEST))
        return features

    def _of_all(self, numbers: Tensor) -> Tensor:
        """Normalised by what was seen so far."""
        mean, variance = self.norm.running_mean, self.norm.running_var
        return functional.batch_norm(numbers, mean, variance, eps=self.norm.eps)


class PlaceNetwork(nn.Module):
    """One network: the numbers of the places of a pair -> what it says of each of them and of the pair."""

    def __init__(self, width: int, dropout: float) -> None:
        super().__init__()
        self.width = width
        self.net = RegionNet(width, dropout)
        self.context = CLIPBlock(width, RegionsConfig.heads, 2 * width, "gelu")
        self.exit_norm = nn.LayerNorm(width)
        self.heads = nn.ModuleDict(
            {
                "kinds": nn.Linear(width, len(KINDS)),
                "elements": nn.Linear(width, len(ELEMENT_NAMES)),
                "aspects": nn.Linear(width, len(ASPECT_NAMES)),
                "changed": nn.Linear(width, 1),
                "rank": nn.Linear(width, 1),
                "shift": nn.Linear(width, 8),
                "verdict": nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1)),
            }
        )
        for parameter in self.heads["shift"].parameters():
            nn.init.zeros_(parameter)  # boxes stay where they are until it is learnt

    def features(self, places: BatchPlaces) -> Tensor:
        """(B, N, F); zero where there is no place. Places of a pair read each other."""
        batch, count = places.there.shape
        own = places.numbers.new_zeros(batch, count, self.width)
        pair, place = places.there.nonzero(as_tuple=True)
        if len(pair):  # batch normalisation has no mean of nothing
            own[pair, place] = self.net(places.numbers[pair, place]).to(own.dtype)
        read, _ = self.context(own, key_mask(places.there))
        joined: Tensor = self.exit_norm(read) * places.there[..., None].to(own.dtype)
        return joined

    def judge(self, features: Tensor, there: Tensor) -> RegionLogits:
        """What the heads say of each place and of the pair, by its features (B, N, F)."""
        names = ("kinds", "elements", "aspects", "changed", "rank")
        found = {name: self.heads[name](features) for name in names}
        strongest = features.masked_fill(~there[..., None], BLIND).amax(1) * there.any(1, keepdim=True)
        return RegionLogits(
            found["kinds"],
            found["elements"],
            found["aspects"],
            found["changed"][..., 0],
            found["rank"][..., 0],
            self.heads["verdict"](strongest)[..., 0],
            self.heads["shift"](features).reshape(*features.shape[:-1], 2, 4),
        )


class RegionVision(PlainVision):
    """Places as tokens. A picture of a batch is its rows of numbers, see ``store``.

    Several networks of one form, which differ in their first weights and in what dropout leaves out, judge
    every place; what is said is the mean of what they say. A token is made of the features of all.
    """

    def __init__(self, config: RegionsConfig) -> None:
        super().__init__()
        self.rows = self.columns = GRID
        self.patches = config.regions
        self.raw_width = self.width = width = config.width
        self.networks = nn.ModuleList(PlaceNetwork(width, config.dropout) for _ in range(config.networks))
        self.before = nn.Linear(config.networks * width, width)
        self.after = nn.Linear(config.networks * width, width)

    @property
    def tasks(self) -> Mapping[str, Callable[[Batch], dict[str, Tensor]]]:
        """What the truth of drawn pairs teaches."""
        return {"regions": self._learn}

    def parameters_without_gradient(self, tasks: Collection[str]) -> frozenset[str]:
        """The heads without the task ``regions``; what makes tokens of places with that task alone."""
        idle = []
        for name, _ in self.named_parameters():
            if name.startswith("networks."):
                unread = not tasks or (".heads." in name and "regions" not in tasks)
            else:
                unread = set(tasks) <= {"regions"}
            if unread:
                idle.append(name)
        return frozenset(idle)

    def collate_truth(self, truths: Sequence[Any]) -> RegionTruth | None:
        """The pairs' truth as tensors, where all of it is known."""
        return None if any(truth is None for truth in truths) else supervision.collate(truths)

    def places(self, before: Tensor, after: Tensor) -> BatchPlaces:
        """Rows (B, N, ROW) of both pictures -> places. Raises ShapeError."""
        for rows in (before, after):
            if tuple(rows.shape[1:]) != (self.patches, ROW):
                raise ShapeError(
                    f"regions: got {tuple(rows.shape)}, wanted (pairs, {self.patches}, {ROW}). Store them"
                    " again, or set vision.regions to what is stored."
                )
        both = torch.stack([before, after], 2)  # (B, N, 2, ROW)
        measured, boxes, sizes, there = torch.split(both, [NUMBERS, 4, 2, 1], dim=3)
        return BatchPlaces(measured[:, :, 1], boxes, sizes, there[:, :, 1, 0] > 0)

    def judge(self, places: BatchPlaces) -> RegionLogits:
        """What is said of each place and of the pair: the mean of all networks."""
        return mean_judgement(self._judge_each(places))

    @property
    def _networks(self) -> list[PlaceNetwork]:
        return [network for network in self.networks if isinstance(network, PlaceNetwork)]

    def _judge_each(self, places: BatchPlaces) -> list[RegionLogits]:
        """What each network says."""
        return [network.judge(network.features(places), places.there) for network in self._networks]

    def tokens(self, before: Tensor, after: Tensor) -> TokenPair:
        """Rows (B, N, ROW) of both pictures -> their tokens; padding is masked."""
        places = self.places(before, after)
        features = torch.cat([network.features(places) for network in self._networks], -1)  # (B, N, M F)
        pair = [
            Tokens(side(features), cells_of(places, number), places.there, places.boxes[:, :, number])
            for number, side in enumerate((self.before, self.after))
        ]
        return TokenPair(pair[0], pair[1])

    def _learn(self, batch: Batch) -> dict[str, Tensor]:
        """``supervision.region_loss`` of all places, the mean of all networks."""
        if not isinstance(batch.truth, RegionTruth):
            raise DatasetError(
                "the task regions needs the truth of drawn pairs; this data set has none. Draw one:"
                " whatchanged synth screens"
            )
        places = self.places(batch.before, batch.after)
        labels = supervision.label(places.boxes, batch.truth)
        each = [
            supervision.region_loss(said, places.boxes, labels, places.there)
            for said in self._judge_each(places)
        ]
        return {name: torch.stack([losses[name] for losses in each]).mean() for name in each[0]}


def cells_of(places: BatchPlaces, picture: int) -> Tensor:
    """The cell of the grid in which the middle of each place lies, (B, N); 0 where there is no place."""
    boxes, sizes = places.boxes[:, :, picture], places.sizes[:, :, picture].clamp_min(1)
    middle = (boxes[..., :2] + boxes[..., 2:]) / 2 / sizes
    column, row = (middle * GRID).long().clamp(0, GRID - 1).unbind(-1)
    return row * GRID + column


def chances(said: RegionLogits, there: Tensor) -> Tensor:
    """The probability (B,) that each pair shows a change; 0 where there is no place at all."""
    return said.verdict.sigmoid() * there.any(1)
