"""The toy vision: the mean color of each place where the square can be, and a layer on it.

Axis letters: B pairs, N = 12 places, F numbers of a token.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from toy_world.world import Square, Truth

from toy_vision.settings import COLUMNS, ROWS, ToyEyesConfig
from whatchanged.errors import DatasetError
from whatchanged.training.batches import Batch
from whatchanged.training.data.pictures import planned_pixels
from whatchanged.training.vision.base import PixelStatistics, PlainVision, TokenPair, Tokens

MEAN, STD = (0.5, 0.5, 0.5), (0.25, 0.25, 0.25)


class ToyEyes(PlainVision):
    """The vision; ``Vision`` tells what each public function is for."""

    pixel_statistics: PixelStatistics | None = (MEAN, STD)

    def __init__(self, config: ToyEyesConfig) -> None:
        super().__init__()
        self.rows, self.columns, self.patches = ROWS, COLUMNS, ROWS * COLUMNS
        self.raw_width = self.width = config.numbers
        self.place = (config.image_height // ROWS, config.image_width // COLUMNS)
        self.layer = nn.Linear(3, config.numbers)
        self.find = nn.Linear(config.numbers, 1) if config.finds else None
        self.register_buffer("cells", torch.arange(self.patches), persistent=False)

    @property
    def tasks(self) -> Mapping[str, Callable[[Batch], dict[str, Tensor]]]:
        return {} if self.find is None else {"toy-find": self._find}

    def parameters_without_gradient(self, tasks: Collection[str]) -> frozenset[str]:
        unused = () if tasks else ("layer",)
        unused = unused if "toy-find" in tasks else (*unused, "find")
        return frozenset(name for name, _ in self.named_parameters() if name.startswith(unused))

    def collate_truth(self, truths: Sequence[Truth | None]) -> Tensor | None:
        """Where the squares are, (B, 2); None where that is not known or not asked for."""
        if self.find is None or any(truth is None for truth in truths):
            return None
        return torch.tensor([[square.row * COLUMNS + square.column for square in truth] for truth in truths])

    def tokens(self, before: Tensor, after: Tensor) -> TokenPair:
        """uint8 (B, H, W, 3), or normalised (B, 3, H, W)."""
        pictures = torch.cat([before, after])
        if pictures.dtype == torch.uint8:
            pictures = (pictures.permute(0, 3, 1, 2).float() / 255 - 0.5) / 0.25
        places = F.avg_pool2d(pictures, self.place)  # (2B, 3, ROWS, COLUMNS)
        features = self.layer(places.flatten(2).transpose(1, 2))  # (2B, N, F)
        cells = self.cells.expand(before.shape[0], -1)
        before, after = features[: before.shape[0]], features[before.shape[0] :]
        return TokenPair(Tokens(before, cells), Tokens(after, cells))

    def _find(self, batch: Batch) -> dict[str, Tensor]:
        """Cross entropy of the places against where the squares are."""
        if batch.truth is None:
            raise DatasetError("toy-find needs to know where the squares are.")
        pair = self.tokens(batch.before, batch.after)
        scores = torch.cat([self.find(tokens.features)[..., 0] for tokens in pair])  # (2B, N)
        return {"toy-find": F.cross_entropy(scores, batch.truth.T.flatten())}


def planned(config: ToyEyesConfig) -> tuple[np.ndarray[Any, Any], Truth]:
    """A picture and a pair of squares for plans without data."""
    square = Square("red", 0, 0)
    return planned_pixels(config)[0], (square, square)
