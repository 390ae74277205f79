"""A small convolutional backbone to train from nothing: a picture in, features at stride 8 out."""

from collections.abc import Sequence

from torch import Tensor, nn
from torch.nn import functional as F


class Residual(nn.Module):
    """x + BN(conv(ReLU(BN(conv(x))))), then ReLU; 3x3, width kept."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(width)

    def forward(self, x: Tensor) -> Tensor:
        """(B, C, h, w) -> (B, C, h, w)."""
        branch = F.relu(self.norm1(self.conv1(x)))
        return F.relu(x + self.norm2(self.conv2(branch)))


class Backbone(nn.Module):
    """Three strided convolutions (5x5, 3x3, 3x3), one residual block at stride 4, ``blocks`` at stride 8.

    The block at stride 4 is there for the shapes of small things, the first detail that is lost.
    """

    def __init__(self, channels: Sequence[int], blocks: int) -> None:
        super().__init__()
        fine, middle, coarse = channels
        self.stem = nn.Sequential(
            _strided(3, fine, 5), _strided(fine, middle, 3), Residual(middle), _strided(middle, coarse, 3)
        )
        self.blocks = nn.Sequential(*[Residual(coarse) for _ in range(blocks)])
        self.width = coarse

    def forward(self, pictures: Tensor) -> Tensor:
        """(B, 3, H, W) normalised -> (B, C, H/8, W/8); H and W are multiples of 8."""
        return self.blocks(self.stem(pictures))  # type: ignore[no-any-return]


def _strided(inputs: int, outputs: int, kernel: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, kernel, stride=2, padding=kernel // 2, bias=False),
        nn.BatchNorm2d(outputs),
        nn.ReLU(),
    )
