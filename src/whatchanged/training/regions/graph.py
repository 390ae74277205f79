"""What of the judge of regions is exported: the places of one pair in, what the heads say of them out.

Axis letters: N places, K kinds, E elements, A aspects.
"""

import torch
from torch import Tensor, nn

from whatchanged.training.regions.judge import BatchProposals, RegionJudge
from whatchanged.training.regions.supervision import refined, supported

INPUTS = ("numbers", "boxes")
OUTPUTS = ("kinds", "elements", "aspects", "changed", "rank", "verdict", "refined")


class RegionGraph(nn.Module):
    """The networks on the places of one pair, all of them real."""

    def __init__(self, judge: RegionJudge) -> None:
        super().__init__()
        self.judge = judge

    def forward(self, numbers: Tensor, boxes: Tensor) -> tuple[Tensor, ...]:
        """``INPUTS``: numbers (N, NUMBERS), boxes (N, 2, 4) in pixels.

        Returns ``OUTPUTS``: kinds (N, K), elements (N, E), aspects (N, A), changed (N,), verdict (1,), all
        logits; rank (N,), the chance that a place is the best or overlaps it; and refined (N, 2, 4), boxes in
        pixels.
        """
        there = torch.ones_like(numbers[None, :, 0], dtype=torch.bool)
        said = self.judge.judge(BatchProposals(numbers[None], boxes[None], there))
        better = refined(boxes[None], said.shift)[0]
        rank = supported(said.rank, boxes[None], there)[0]
        of_places = (said.kinds[0], said.elements[0], said.aspects[0], said.changed[0])
        return *of_places, rank, said.verdict, better
