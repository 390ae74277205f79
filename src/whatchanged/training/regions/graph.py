"""What of a vision of regions is exported: the places of one pair in, what the heads say of them out.

Axis letters: N places, S pixels of a side of a cut, K kinds, E elements.
"""

import torch
from torch import Tensor, nn

from whatchanged.measured.crops import PLANES
from whatchanged.training.regions.supervision import refined, supported
from whatchanged.training.regions.vision import Places, RegionVision

INPUTS = ("numbers", "boxes", "crops")
"""What it reads; crops only where places have cuts."""
OUTPUTS = ("kinds", "elements", "changed", "rank", "verdict", "refined")


class RegionGraph(nn.Module):
    """The network on the places of one pair, all of them real."""

    def __init__(self, vision: RegionVision) -> None:
        super().__init__()
        self.vision = vision

    def forward(self, numbers: Tensor, boxes: Tensor, crops: Tensor | None = None) -> tuple[Tensor, ...]:
        """``INPUTS``: numbers (N, NUMBERS), boxes (N, 2, 4) in pixels, crops (N, 2, PLANES, S, S) uint8.

        Returns ``OUTPUTS``: kinds (N, K), elements (N, E), changed (N,), verdict (1,), all logits; rank (N,),
        the chance that a place is the best or overlaps it; and refined (N, 2, 4), boxes in pixels.
        """
        there = torch.ones_like(numbers[None, :, 0], dtype=torch.bool)
        if crops is None:
            cuts = numbers.new_zeros(1, len(numbers), 2 * PLANES, 0, 0)
        else:
            cuts = crops.reshape(1, -1, 2 * PLANES, *crops.shape[-2:]).float() / 255
        places = Places(cuts, numbers[None], boxes[None], torch.zeros_like(boxes[None, :, :, :2]), there)
        said = self.vision.judge(self.vision.features(places))
        better = refined(boxes[None], said.shift)[0]
        rank = supported(said.rank, boxes[None], there)[0]
        return said.kinds[0], said.elements[0], said.changed[0], rank, said.verdict, better
