"""A cache of the tokens of pictures, for runs that do not train their backbone.

A frozen backbone computes the same tokens for a picture in every pass. This computation takes nearly all the
time of fine-tuning on a few hundred pairs. The cache computes a picture's tokens at the first read and stores
the tokens in memory, 10 KB for 16 tokens, up to ``MOST_BYTES`` in all.
"""

from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from whatchanged.training.batches import PictureReader, Source
from whatchanged.training.data.sources import Sources
from whatchanged.training.vision.base import PictureVision

MOST_BYTES = 4 * 2**30
"""The largest total size in bytes of the tokens in memory. Tokens of further pictures are computed each
time."""


def cached_tokens(
    read: PictureReader, vision: PictureVision, kept: dict[Path, NDArray[np.float32]]
) -> PictureReader:
    """Return a function that reads a picture's tokens (N, F'), float32. ``kept`` holds the tokens of the
    pictures read so far.
    """

    def tokens(path: Path) -> NDArray[np.float32]:
        if path in kept:
            return kept[path]
        with torch.inference_mode():
            pixels = torch.from_numpy(read(path))[None].to(vision.mean.device)
            found: NDArray[np.float32] = vision.to_tokens(vision.normalise(pixels))[0].float().cpu().numpy()
        if (len(kept) + 1) * found.nbytes <= MOST_BYTES:
            kept[path] = found
        return found

    return tokens


def with_tokens(sources: Sources, vision: PictureVision) -> Sources:
    """Return the sources with tokens instead of pixels. ``vision`` computes the tokens with its present
    weights.
    """
    # A copy, because examples are read in threads while the loop switches the method's training mode.
    frozen = deepcopy(vision)
    frozen.backbone.eval()
    kept: dict[Path, NDArray[np.float32]] = {}

    def cached(source: Any) -> Source:
        made: Source = replace(source, read=cached_tokens(source.read, frozen, kept))
        return made

    return replace(sources.changed(cached), validation=cached(sources.validation))
