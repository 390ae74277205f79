"""The method that judges proposed places of pairs of screens by small networks. It writes no captions.

The measured numbers of a place become features. A layer of attention lets the places of a pair read each
other. Heads tell kind, element and aspect, whether it is a change at all, which place is the best, where its
boxes should be, and whether the pair shows any change. Not published.

Axis letters: B pairs, N places, F width of a place's features.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from whatchanged.errors import DatasetError, RecipeError, ShapeError
from whatchanged.recipes.methods.regions import RegionsConfig
from whatchanged.records import PairRecord
from whatchanged.regions.numbers import NUMBERS
from whatchanged.training.batches import Batch, Example, stack_pictures
from whatchanged.training.methods import copy_matching_tensors
from whatchanged.training.nn.clip import CLIPBlock
from whatchanged.training.nn.transformer import BLIND
from whatchanged.training.regions import supervision
from whatchanged.training.regions.store import ROW
from whatchanged.training.regions.supervision import (
    ASPECT_NAMES,
    ELEMENT_NAMES,
    RegionLogits,
    RegionTruth,
    mean_judgement,
)
from whatchanged.worlds.screens.kinds import KINDS

UNTOLD = 0.1
"""Share of a place's measured numbers that are left out while it learns."""
WIDEST = 4.0
"""Largest measured number, as it is and in standard deviations: what lies beyond counts as much."""
TASK = "regions"


@dataclass(frozen=True)
class BatchProposals:
    """The proposed places of a batch of pairs.

    numbers: (B, N, NUMBERS). boxes: (B, N, 2, 4) in pixels. there: (B, N), real places.
    """

    numbers: Tensor
    boxes: Tensor
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


class ProposalNetwork(nn.Module):
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

    def features(self, proposals: BatchProposals) -> Tensor:
        """(B, N, F); zero where there is no place. Places of a pair read each other."""
        batch, count = proposals.there.shape
        own = proposals.numbers.new_zeros(batch, count, self.width)
        pair, place = proposals.there.nonzero(as_tuple=True)
        if len(pair):  # batch normalisation has no mean of nothing
            own[pair, place] = self.net(proposals.numbers[pair, place]).to(own.dtype)
        read, _ = self.context(own, proposals.there[:, None, None])
        joined: Tensor = self.exit_norm(read) * proposals.there[..., None].to(own.dtype)
        return joined

    def judge(self, features: Tensor, there: Tensor) -> RegionLogits:
        """What the heads say of each place and of the pair, by its features (B, N, F)."""
        names = ("kinds", "elements", "aspects", "changed", "rank")
        results = {name: self.heads[name](features) for name in names}
        strongest = features.masked_fill(~there[..., None], BLIND).amax(1) * there.any(1, keepdim=True)
        return RegionLogits(
            results["kinds"],
            results["elements"],
            results["aspects"],
            results["changed"][..., 0],
            results["rank"][..., 0],
            self.heads["verdict"](strongest)[..., 0],
            self.heads["shift"](features).reshape(*features.shape[:-1], 2, 4),
        )


class RegionJudge(nn.Module):
    """Several networks of one form judge every place; what is said is the mean of what they say.

    They differ in their first weights and in what dropout leaves out.
    """

    vision = None
    architecture = "regions"

    def __init__(self, config: RegionsConfig) -> None:
        super().__init__()
        self.config = config
        self.networks = nn.ModuleList(
            ProposalNetwork(config.width, config.dropout) for _ in range(config.networks)
        )

    def batch_size(self, task: str, batch: int) -> int:
        """What the stage asks for."""
        return batch

    def collate(self, examples: Sequence[Example]) -> Batch:
        """Examples to tensors, without captions. Raises DatasetError where their regions are not known."""
        measured = [example.measured for example in examples if example.measured is not None]
        if len(measured) < len(examples):
            raise DatasetError(f'{examples[0].record.dataset}: no regions. Use data.source = "regions".')
        truths = [example.truth for example in examples if example.truth is not None]
        truth = supervision.collate(truths) if len(truths) == len(examples) else None
        ids = torch.zeros(len(examples), 0, dtype=torch.long)
        numbers = torch.from_numpy(np.stack(measured))
        return Batch(*stack_pictures(examples), ids, truth=truth, measured=numbers)

    def blank_example(self) -> Example:
        """A pair without a region: it has the shapes of any, for who plans without data."""
        count, paths = self.config.regions, (Path("before.png"), Path("after.png"))
        record = PairRecord("none", "0", "0", "train", "pair_caption", *paths, ())
        rows, numbers = (np.zeros((count, width), np.float32) for width in (ROW, NUMBERS))
        return Example(record, "", rows, rows, truth=supervision.no_truth(), measured=numbers)

    def loss(self, task: str, batch: Batch) -> dict[str, Tensor]:
        """``supervision.region_loss`` of all places, the mean of all networks.

        Raises RecipeError for another task, DatasetError where the truth is not known.
        """
        if task != TASK:
            raise RecipeError(f"{self.architecture} has no task {task!r}. Choose: {TASK}.")
        if not isinstance(batch.truth, RegionTruth):
            raise DatasetError(
                "the task regions needs the truth of drawn pairs; this data set has none. Draw one:"
                " whatchanged synth screens"
            )
        proposals = self.proposals(batch)
        labels = supervision.label(proposals.boxes, batch.truth)
        each = [
            supervision.region_loss(said, proposals.boxes, labels, proposals.there, self.config.later)
            for said in self._judge_each(proposals)
        ]
        return {name: torch.stack([losses[name] for losses in each]).mean() for name in each[0]}

    def proposals(self, batch: Batch) -> BatchProposals:
        """The region proposals of a batch.

        Raises ShapeError where the stored regions are others than the recipe's.
        """
        wanted, measured = (self.config.regions, ROW), batch.measured
        for rows in (batch.before, batch.after):
            if tuple(rows.shape[1:]) != wanted or measured is None or measured.shape[2] != NUMBERS:
                raise ShapeError(
                    f"regions: got {tuple(rows.shape)}, wanted {('pairs', *wanted)}. Store them again, or set"
                    " method.regions to what is stored."
                )
        assert measured is not None
        boxes = torch.stack([batch.before, batch.after], 2)  # (B, N, 2, ROW)
        return BatchProposals(measured, boxes[..., :4], boxes[:, :, 0, 4] > 0)

    def judge(self, proposals: BatchProposals) -> RegionLogits:
        """What is said of each place and of the pair: the mean of all networks."""
        return mean_judgement(self._judge_each(proposals))

    @property
    def _networks(self) -> list[ProposalNetwork]:
        return [network for network in self.networks if isinstance(network, ProposalNetwork)]

    def _judge_each(self, proposals: BatchProposals) -> list[RegionLogits]:
        """What each network says."""
        return [network.judge(network.features(proposals), proposals.there) for network in self._networks]

    def parameter_groups(self) -> list[dict[str, Any]]:
        """All of it is one group."""
        return [{"name": "method", "params": list(self.parameters())}]

    def parameters_without_gradient(self, tasks: Collection[str]) -> frozenset[str]:
        """None, as long as its task is among them."""
        return frozenset(() if TASK in tasks else (name for name, _ in self.named_parameters()))

    def load_pretrained(self, state: Mapping[str, Tensor]) -> tuple[str, ...]:
        """Take over every tensor that bears the name of one of ours; names what keeps its own start."""
        return copy_matching_tensors(self, state)


def chances(logits: RegionLogits, there: Tensor) -> Tensor:
    """The probability (B,) that each pair shows a change; 0 where there is no place at all."""
    return logits.verdict.sigmoid() * there.any(1)
