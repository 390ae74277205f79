"""Pictures seen once: where a run leaves its backbone as it is, stored tokens take the place of pixels.

A frozen backbone says the same of a picture in every pass, and running it is nearly all that a fine-tune on a
few hundred pairs would do. Each picture's tokens are computed when it is first read. They stay in memory,
10 KB for 16 of them, as long as there is room.
"""

from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from whatchanged.recipes.schema import DatasetConfig, Recipe
from whatchanged.training.batches import PictureReader, Source
from whatchanged.training.data.sources import Sources
from whatchanged.training.vision.base import PictureVision

MOST_BYTES = 4 * 2**30
"""Of tokens in memory; the pictures beyond are seen anew each time."""


def leaves_backbone(recipe: Recipe) -> bool:
    """Whether no stage trains the vision or learns from pixels, and pictures are read as they are on disk."""
    on_disk = isinstance(recipe.data, DatasetConfig)  # a pool's pictures are augmented anew each time
    frozen = all(not stage.learns_vision for stage in recipe.stages)
    return on_disk and frozen and recipe.vision.learns


def cached_tokens(
    read: PictureReader, vision: PictureVision, kept: dict[Path, NDArray[np.float32]]
) -> PictureReader:
    """A reader of stored tokens (N, F'), float32; ``kept`` holds those of the pictures read so far."""

    def tokens(path: Path) -> NDArray[np.float32]:
        if path in kept:
            return kept[path]
        with torch.inference_mode():
            pixels = torch.from_numpy(read(path))[None].to(vision.mean.device)
            packed: NDArray[np.float32] = vision.to_tokens(vision.normalise(pixels))[0].float().cpu().numpy()
        if (len(kept) + 1) * packed.nbytes <= MOST_BYTES:
            kept[path] = packed
        return packed

    return tokens


def with_tokens(sources: Sources, vision: PictureVision) -> Sources:
    """The same examples with stored tokens of ``vision`` as it is now."""
    # A copy: examples are read in threads, while the loop puts the method in training mode and back.
    frozen = deepcopy(vision)
    frozen.backbone.eval()
    kept = dict[Path, NDArray[np.float32]]()

    def packed(source: Any) -> Source:
        own: Source = replace(source, read=cached_tokens(source.read, frozen, kept))
        return own

    return replace(
        sources,
        train=packed(sources.train),
        validation=packed(sources.validation),
        single=packed(sources.single) if sources.single is not None else None,
        labelled=packed(sources.labelled) if sources.labelled is not None else None,
        own={name: packed(source) for name, source in sources.own.items()},
    )
