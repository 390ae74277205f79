"""A small convolutional backbone that is trained from random weights, and the vision whose tokens are its
cells.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from whatchanged.training.nn.batch_norm import BatchNorm
from whatchanged.training.vision.base import Hidden, PixelStatistics, PlainVision, TokenPair, Tokens

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
"""The mean and standard deviation of each ImageNet channel, for channel values in 0..1."""


class BackboneSizes(Protocol):
    """The settings of a backbone, as ``recipes.visions.backbone`` explains them."""

    @property
    def image_width(self) -> int:
        """Pixels."""

    @property
    def image_height(self) -> int:
        """Pixels."""

    @property
    def channels(self) -> tuple[int, ...]:
        """One a convolution."""

    @property
    def blocks(self) -> int:
        """Residual blocks."""

    @property
    def same_cell(self) -> bool:
        """Whether tokens also hold the features of the same cell in the other picture."""

    @property
    def cell(self) -> int:
        """Side of a cell in pixels."""


class Residual(nn.Module):
    """x + BN(conv(ReLU(BN(conv(x))))), then ReLU; 3x3, width kept."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.norm1 = BatchNorm(width)
        self.conv2 = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.norm2 = BatchNorm(width)

    def forward(self, x: Tensor) -> Tensor:
        """(B, C, h, w) -> (B, C, h, w)."""
        branch = F.relu(self.norm1(self.conv1(x)))
        return F.relu(x + self.norm2(self.conv2(branch)))


class Backbone(nn.Module):
    """Strided convolutions, one for each of the three or four ``channels`` (the first 5x5, the others 3x3).

    A residual block follows at stride 4, and ``blocks`` of them at the last stride, 8 or 16. The block at
    stride 4 preserves the shapes of small objects, the first detail that is lost.
    """

    def __init__(self, channels: Sequence[int], blocks: int) -> None:
        super().__init__()
        fine, middle, *coarser = channels
        layers = [_strided(3, fine, 5), _strided(fine, middle, 3), Residual(middle)]
        self.width = middle
        for width in coarser:
            layers.append(_strided(self.width, width, 3))
            self.width = width
        self.stem = nn.Sequential(*layers)
        self.blocks = nn.Sequential(*[Residual(self.width) for _ in range(blocks)])

    def forward(self, pictures: Tensor) -> Tensor:
        """(B, 3, H, W) normalised -> (B, C, H/s, W/s), s the last stride; H and W are multiples of it."""
        return self.blocks(self.stem(pictures))  # type: ignore[no-any-return]


def _strided(inputs: int, outputs: int, kernel: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, kernel, stride=2, padding=kernel // 2, bias=False),
        BatchNorm(outputs),
        nn.ReLU(),
    )


class BackboneVision(PlainVision):
    """A backbone that learns with the method's tasks; every cell of its feature map is a token."""

    pixel_statistics: PixelStatistics | None = (MEAN, STD)

    def __init__(self, config: BackboneSizes) -> None:
        super().__init__()
        self.mean: Tensor
        self.std: Tensor
        self.cells: Tensor
        self.register_buffer("mean", torch.tensor(MEAN)[:, None, None], persistent=False)
        self.register_buffer("std", torch.tensor(STD)[:, None, None], persistent=False)
        self.cell = config.cell
        self.rows, self.columns = config.image_height // self.cell, config.image_width // self.cell
        self.patches = self.rows * self.columns
        self.register_buffer("cells", torch.arange(self.patches), persistent=False)
        self.backbone = Backbone(config.channels, config.blocks)
        self.channels = self.backbone.width
        self.raw_width = self.width = self.stored_width = self.channels
        self.same_cell = config.same_cell
        if self.same_cell:
            self.width = 3 * self.channels

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
        """Return the backbone's weights and running statistics."""
        return {f"backbone.{name}": tensor for name, tensor in self.backbone.state_dict().items()}

    def tokens(self, before: Tensor, after: Tensor) -> TokenPair:
        """uint8 (B, H, W, 3), normalised (B, 3, H, W), or stored tokens (B, N, C)."""
        both = torch.cat([before, after])
        if both.ndim == 4:
            both = self.to_tokens(self.normalise(both))  # (2B, N, C)
        batch = before.shape[0]
        cells = self.cells.expand(batch, -1)
        return TokenPair(Tokens(both[:batch], cells), Tokens(both[batch:], cells))

    def add_match_features(self, pair: TokenPair, hidden: Hidden = (None, None)) -> TokenPair:
        """Hidden tokens become zero. With ``vision.same_cell`` each token also gets the features of the same
        cell in the other picture, and their difference, (B, N, 3C). An empty picture counts as zeros.
        """
        pair = super().add_match_features(pair, hidden)
        if not self.same_cell:
            return pair
        before, after = (tokens.features for tokens in pair)
        if pair.single:
            return TokenPair(
                pair.before.with_features(_with_difference(before, torch.zeros_like(before))), pair.after
            )
        return TokenPair(
            pair.before.with_features(_with_difference(before, after)),
            pair.after.with_features(_with_difference(after, before)),
        )


def _with_difference(own: Tensor, other: Tensor) -> Tensor:
    """(B, N, C) each -> [own, other, other - own], (B, N, 3C)."""
    return torch.cat([own, other, other - own], dim=-1)
