"""A model's description of a pair of pictures, and the display of the description."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from whatchanged.captioner.card import GridAttention
from whatchanged.captioner.heatmap import overlay
from whatchanged.captioner.notebook import as_html
from whatchanged.errors import ShapeError
from whatchanged.figures import Figure, draw_maps
from whatchanged.images import PictureSource, open_image

Floats = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Description:
    """A model's caption of a pair of pictures, with its probability and its attention.

    >>> import whatchanged
    >>> found = whatchanged.load().describe("before.png", "after.png")
    >>> found.sentence
    'the large red metal cube has been added'
    >>> found.changed, found.doubtful, found.unfamiliar
    (True, False, False)
    >>> [word for word, _ in found.words[:3]]
    ['the', 'large', 'red']
    >>> found.heatmaps.shape
    (2, 20, 30)
    """

    sentence: str
    no_change: float
    """The calibrated probability that nothing changed, from 0 to 1."""
    heatmaps: Floats = field(repr=False)
    """The attention before and after, (2, rows, columns), averaged over the content words."""
    words: tuple[tuple[str, Floats], ...] = field(repr=False)
    """Each word of the sentence with its attention (2, rows, columns)."""
    changed: bool
    """Whether the sentence says that something changed."""
    doubtful: bool
    """Whether ``no_change`` and the sentence disagree: the probability lies on the other side of the model's
    threshold.
    """
    ood_distance: tuple[float, float] | None = None
    """How far the pictures before and after are from the training pictures; above 1 they are out of
    distribution. None where the model computes no distance."""
    sources: tuple[PictureSource, PictureSource] | None = field(default=None, repr=False)
    """The pictures as they were given; None where only pixels at the model's size were given."""

    @property
    def unfamiliar(self) -> bool | None:
        """Whether a picture is out of distribution, so that the sentence means little. None: unknown."""
        return None if self.ood_distance is None else max(self.ood_distance) > 1

    def heatmap(self, before: PictureSource | None = None, after: PictureSource | None = None) -> Image.Image:
        """Return both pictures side by side, with contour lines of the attention.

        before, after: the pictures to show instead of the described ones. Raises ShapeError where there are
        none, ImageError where they cannot be read.
        """
        grid = GridAttention(*self.heatmaps.shape[1:])
        return overlay(*self._shown(before, after), self.heatmaps, grid)

    def word_figure(self, before: PictureSource | None = None, after: PictureSource | None = None) -> Figure:
        """Return a figure with both pictures once for each word of the sentence, under that word's attention
        map.

        before, after, and the errors: see ``heatmap``; also ShapeError for an empty sentence.
        """
        return draw_maps(self._shown(before, after), self.words)

    def _shown(
        self, before: PictureSource | None, after: PictureSource | None
    ) -> tuple[Image.Image, Image.Image]:
        """Return the pictures to show. Raises ShapeError where there are none, ImageError where they cannot
        be read.
        """
        known = self.sources or (None, None)
        first, second = (known[0] if before is None else before), (known[1] if after is None else after)
        if first is None or second is None:
            raise ShapeError("The pictures of this description are not known: give both of them.")
        return open_image(first), open_image(second)

    def _repr_html_(self) -> str:
        """Return the HTML with which a notebook shows the description."""
        facts = f"probability that nothing changed: {self.no_change:.2f}"
        if self.unfamiliar:
            facts += "; the pictures look unlike anything that the model has seen"
        return as_html(self.sentence, facts, None if self.sources is None else self.heatmap())
