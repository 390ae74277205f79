"""The simplest vision: cuts a picture's pixels into squares and leaves their interpretation to the method."""

import torch
from torch import Tensor

from whatchanged.errors import ShapeError
from whatchanged.recipes.visions.patches import PatchesConfig
from whatchanged.training.vision.base import PixelStatistics, PlainVision, TokenPair, Tokens

MEAN, STD = (0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711)
"""The mean and standard deviation of each channel in CLIP's own normalisation, for channel values in 0..1."""


class PatchVision(PlainVision):
    """Pictures as rows of pixels: a patch is its p x p pixels, channel by channel, row by row: 3 p² numbers.

    A linear layer on such a row is a convolution whose kernel and stride are p. The vision itself learns
    nothing.
    """

    pixel_statistics: PixelStatistics | None = (MEAN, STD)

    def __init__(self, config: PatchesConfig) -> None:
        super().__init__()
        self.patch = config.patch
        self.rows, self.columns = config.image_height // config.patch, config.image_width // config.patch
        self.patches = self.rows * self.columns
        self.raw_width = self.width = 3 * config.patch**2
        self.mean: Tensor
        self.std: Tensor
        self.cells: Tensor
        self.register_buffer("mean", torch.tensor(MEAN)[:, None, None], persistent=False)
        self.register_buffer("std", torch.tensor(STD)[:, None, None], persistent=False)
        self.register_buffer("cells", torch.arange(self.patches), persistent=False)

    def tokens(self, before: Tensor, after: Tensor) -> TokenPair:
        """uint8 (B, H, W, 3), or normalised (B, 3, H, W). Raises ShapeError for other sizes."""
        cells = self.cells.expand(before.shape[0], -1)
        return TokenPair(Tokens(self._squares(before), cells), Tokens(self._squares(after), cells))

    def _squares(self, pictures: Tensor) -> Tensor:
        """Pictures -> (B, N, 3 p²)."""
        if pictures.dtype == torch.uint8:
            pictures = (pictures.permute(0, 3, 1, 2).float() / 255 - self.mean) / self.std
        p, wanted = self.patch, (3, self.rows * self.patch, self.columns * self.patch)
        if not torch.onnx.is_in_onnx_export() and tuple(pictures.shape[1:]) != wanted:
            raise ShapeError(
                f"pictures: got (channels, rows, columns) {tuple(pictures.shape[1:])}, wanted {wanted}."
                " Set vision.image_width and vision.image_height to the pictures' size, or resize them."
            )
        squares = pictures.reshape(-1, 3, self.rows, p, self.columns, p)
        return squares.permute(0, 2, 4, 1, 3, 5).reshape(-1, self.patches, 3 * p * p)
