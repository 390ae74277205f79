"""The captioner: describe pairs of pictures with NumPy and ONNX Runtime on the CPU, without torch.

The encoder graph runs once for each pair, the decoder graph once for each word. Their inputs and outputs
depend on the model's card. This version runs models whose input is whole pictures, or stored features
(``features.py``), and whose attention is a grid over each picture. Shapes: B pairs, N cells of F numbers, V
words of the vocabulary, L words so far.

    encoder   before, after (B, 3, H, W) float32, or (B, N, F) where the model reads features
              -> memory_* (B, ...), any number of them
                 first_cache_* (B, ...), the initial value of the decoder's state of that name; a state
                 without such an output begins empty: axes that its graph leaves open have length 0
                 no_change (B,), where the card declares a no-change head
                 strangeness (B, 2), where the card has an in-distribution threshold: the distances of the
                 pictures before and after from the training pictures
    decoder   previous (B,) int64, position () int64 (if it matters), memory_*, cache_* (B, ...), the state,
              of any number and shapes: keys (B, layers, heads, L, width), say, or an LSTM's (B, width)
              -> log_probabilities (B, V), attention (B, 2, rows, columns), next_cache_*
"""

from dataclasses import replace
from pathlib import Path
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from whatchanged.captioner.bundle import Bundle, open_bundle, picture_input
from whatchanged.captioner.card import Card, GridAttention, PictureInput
from whatchanged.captioner.description import Description
from whatchanged.captioner.onnx_graphs import CaptionGraphs
from whatchanged.errors import ShapeError
from whatchanged.images import PictureSource, kept, open_image, resize
from whatchanged.launch import checked_count
from whatchanged.worlds import known_world

PictureSources = list[Any] | tuple[Any, ...]
"""Several pictures, each a ``PictureSource``. This is a separate type, because a path is a sequence, too."""

BATCH = 16
"""The default batch size for lists of pairs."""


class Captioner:
    """A loaded model. Loading is slow, so keep the object. Threads may share it.

    >>> import whatchanged
    >>> captioner = whatchanged.load("clevr-pcl")
    >>> captioner.card.name, captioner.input.size, captioner.attention.shape
    ('clevr-pcl', (240, 160), (20, 30))
    >>> pairs = captioner.describe(["before.png", "before.png"], ["after.png", "before.png"])
    >>> [found.sentence for found in pairs]
    ['the large red metal cube has been added', 'there is no change']
    """

    card: Card
    """The model's card."""
    input: PictureInput
    """What the model reads."""
    attention: GridAttention
    """How the attention maps of its words cover the pictures."""

    def __init__(self, bundle: Bundle, threads: int | None = None) -> None:
        """Check the graphs' files and build their sessions.

        threads: threads of an operator; None: at most two. Raises BundleError where a file is wrong or the
        model declares what this version cannot run, WhatchangedError where ``threads`` is no whole number
        from 1.
        """
        self.bundle = bundle
        self.card = bundle.card
        self.input, self.attention = picture_input(bundle), bundle.card.attention
        self._graphs = CaptionGraphs(bundle, known_world(bundle.card.world), threads)

    @overload
    def describe(self, before: PictureSource, after: PictureSource, beams: int = 1) -> Description: ...
    @overload
    def describe(
        self, before: PictureSources, after: PictureSources, beams: int = 1
    ) -> list[Description]: ...
    def describe(
        self, before: PictureSource | PictureSources, after: PictureSource | PictureSources, beams: int = 1
    ) -> Description | list[Description]:
        """Describe one pair, or two lists of pictures pair by pair; for lists, return a list.

        A picture is a path, the bytes of a file, an open file, a Pillow picture or an array
        (``whatchanged.images.PictureSource``). beams: hypotheses of beam search; 1 is greedy.

        Raises ImageError for a picture that cannot be used, ShapeError for lists of different lengths,
        WhatchangedError where ``beams`` is no whole number from 1.
        """
        checked_count("beams", beams)
        if isinstance(before, list | tuple) and isinstance(after, list | tuple):
            if len(before) != len(after):
                raise ShapeError(
                    f"{len(before)} pictures before and {len(after)} after: a pair needs one of each."
                )
            return self._describe_lists(before, after, beams)
        if isinstance(before, list | tuple) or isinstance(after, list | tuple):
            raise ShapeError("One of the two is a list, the other is not: give two pictures, or two lists.")
        return self._describe_lists([before], [after], beams)[0]

    def read(self, before: PictureSource, after: PictureSource) -> NDArray[np.uint8]:
        """Return a pair at the size that the model reads: (2, H, W, 3). Raises ImageError."""
        return np.stack([resize(open_image(source), self.input.size) for source in (before, after)])

    def describe_pixels(self, pixels: NDArray[np.uint8], beams: int = 1) -> list[Description]:
        """Describe a batch of pairs that ``read`` prepared, (B, 2, H, W, 3)."""
        return self._graphs.describe_pixels(pixels, beams)

    def _describe_lists(self, before: PictureSources, after: PictureSources, beams: int) -> list[Description]:
        results: list[Description] = []
        for start in range(0, len(before), BATCH):
            pairs = zip(before[start : start + BATCH], after[start : start + BATCH], strict=True)
            sources = [(kept(b), kept(a)) for b, a in pairs]
            described = self.describe_pixels(np.stack([self.read(*pair) for pair in sources]), beams)
            results += [replace(one, sources=pair) for one, pair in zip(described, sources, strict=True)]
        return results


def load(name: str | Path | None = None, threads: int | None = None) -> Captioner:
    """Load a shipped model by its name, or a model folder by its path; None: the default model.

    threads: threads of an operator; None: at most two. Raises BundleError where the model is missing,
    incomplete, altered or of a kind that this version cannot run, WhatchangedError where ``threads`` is no
    whole number from 1.

    >>> import whatchanged
    >>> captioner = whatchanged.load(threads=1)
    >>> captioner.describe("before.png", "after.png").sentence
    'the large red metal cube has been added'
    """
    return Captioner(open_bundle(name), threads)
