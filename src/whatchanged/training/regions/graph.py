"""What of a vision of regions is exported: the places of one pair in, what the heads say of them out.

Axis letters: N places, K kinds, E elements, A aspects.
"""

import torch
from torch import Tensor, nn

from whatchanged.training.regions.supervision import refined, supported
from whatchanged.training.regions.vision import BatchPlaces, RegionVision

INPUTS = ("numbers", "boxes")
OUTPUTS = ("kinds", "elements", "aspects", "changed", "rank", "verdict", "refined")


class RegionGraph(nn.Module):
    """The networks on the places of one pair, all of them real."""

    def __init__(self, vision: RegionVision) -> None:
        super().__init__()
        self.vision = vision

    def forward(self, numbers: Tensor, boxes: Tensor) -> tuple[Tensor, ...]:
        """``INPUTS``: numbers (N, NUMBERS), boxes (N, 2, 4) in pixels.

        Returns ``OUTPUTS``: kinds (N, K), elements (N, E), aspects (N, A), changed (N,), verdict (1,), all
        logits; rank (N,), the chance that a place is the best or overlaps it; and refined (N, 2, 4), boxes in
        pixels.
        """
        there = torch.ones_like(numbers[None, :, 0], dtype=torch.bool)
        sizes = torch.zeros_like(boxes[None, :, :, :2])
        places = BatchPlaces(numbers[None], boxes[None], sizes, there)
        said = self.vision.judge(places)
        better = refined(boxes[None], said.shift)[0]
        rank = supported(said.rank, boxes[None], there)[0]
        of_places = (said.kinds[0], said.elements[0], said.aspects[0], said.changed[0])
        return *of_places, rank, said.verdict, better
