"""A small convolutional backbone to train from nothing, and the vision that takes all its cells as tokens."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from whatchanged.recipes.schema import CELL, BackboneConfig, ObjectsConfig
from whatchanged.training.vision.base import PixelStatistics, PlainVision, TokenPair, Tokens

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
"""ImageNet's, of channels in 0..1."""


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


class BackboneVision(PlainVision):
    """A backbone that learns with the method's tasks; every cell of its map is a token."""

    pixel_statistics: PixelStatistics | None = (MEAN, STD)

    def __init__(self, config: BackboneConfig | ObjectsConfig) -> None:
        super().__init__()
        self.mean: Tensor
        self.std: Tensor
        self.cells: Tensor
        self.register_buffer("mean", torch.tensor(MEAN)[:, None, None], persistent=False)
        self.register_buffer("std", torch.tensor(STD)[:, None, None], persistent=False)
        self.rows, self.columns = config.image_height // CELL, config.image_width // CELL
        self.patches = self.rows * self.columns
        self.register_buffer("cells", torch.arange(self.patches), persistent=False)
        self.backbone = Backbone(config.channels, config.blocks)
        self.channels = self.backbone.width
        self.raw_width = self.width = self.stored_width = self.channels

    def normalise(self, pictures: Tensor) -> Tensor:
        """uint8 (B, H, W, 3) -> (B, 3, H, W) with ImageNet's mean and deviation; floats stay as they are."""
        if pictures.dtype != torch.uint8:
            return pictures
        pictures = pictures.permute(0, 3, 1, 2).float() / 255
        return (pictures - self.mean) / self.std

    def features(self, pictures: Tensor) -> Tensor:
        """(B, 3, H, W) normalised -> (B, C, rows, columns)."""
        pictures = pictures.contiguous(memory_format=torch.channels_last)  # twice as fast
        found: Tensor = self.backbone(pictures)
        return found

    def to_tokens(self, pictures: Tensor) -> Tensor:
        """(B, 3, H, W) normalised -> (B, N, C), cells row by row."""
        return self.features(pictures).flatten(2).transpose(1, 2)

    def token_state(self) -> Mapping[str, Tensor]:
        """The backbone's weights and running statistics."""
        return {f"backbone.{name}": tensor for name, tensor in self.backbone.state_dict().items()}

    def tokens(self, before: Tensor, after: Tensor) -> TokenPair:
        """uint8 (B, H, W, 3), normalised (B, 3, H, W), or stored tokens (B, N, C)."""
        both = torch.cat([before, after])
        if both.ndim == 4:
            both = self.to_tokens(self.normalise(both))  # (2B, N, C)
        batch = before.shape[0]
        cells = self.cells.expand(batch, -1)
        return TokenPair(Tokens(both[:batch], cells), Tokens(both[batch:], cells))
