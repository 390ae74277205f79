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

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from whatchanged.captioner.attention import over_content, words_with_maps
from whatchanged.captioner.bundle import Bundle, open_bundle, picture_input
from whatchanged.captioner.card import Card, GridAttention, PictureInput
from whatchanged.captioner.colors import color_distance, color_numbers
from whatchanged.captioner.decoding import Decoded, GraphCache, Ids, Skips, beam, greedy
from whatchanged.captioner.heatmap import overlay
from whatchanged.captioner.no_change import sayable, sentences_probability
from whatchanged.captioner.notebook import as_html
from whatchanged.captioner.onnx_graphs import checked_count, first_state, open_graphs
from whatchanged.errors import ShapeError
from whatchanged.figures import Figure, draw_maps
from whatchanged.images import PictureSource, kept, normalise, open_image, resize
from whatchanged.worlds import known_world

Floats = NDArray[np.float32]
PictureSources = list[Any] | tuple[Any, ...]
"""Several pictures, each a ``PictureSource``. A type of its own, because a path is a sequence too."""

BATCH = 16
"""The default batch size for lists of pairs."""
OTHERS = 4
"""The number of beams for a sentence that contradicts itself under greedy search."""


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
    """Each word of the sentence with its own attention (2, rows, columns)."""
    changed: bool
    """Whether the sentence says that something changed."""
    doubtful: bool
    """Whether ``no_change`` and the sentence disagree: the probability lies on the other side of the model's
    threshold.
    """
    ood_distance: tuple[float, float] | None = None
    """How far the pictures before and after are from the training pictures; above 1 they are out of
    distribution. None where the model cannot tell."""
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
        """Return the HTML that a notebook shows."""
        facts = f"probability that nothing changed: {self.no_change:.2f}"
        if self.unfamiliar:
            facts += "; the pictures look unlike anything that the model has seen"
        return as_html(self.sentence, facts, None if self.sources is None else self.heatmap())


class CaptionGraphs:
    """The two graphs of a bundle, and the conversion of their outputs to descriptions."""

    def __init__(self, bundle: Bundle, threads: int | None = None) -> None:
        """Check the graphs' files and build their sessions; for the errors see ``Captioner``."""
        self.card = bundle.card
        self._encoder, self._decoder = open_graphs(bundle, threads)
        self._skips = _contradictions(self.card)

    def describe(
        self, before: Floats, after: Floats, beams: int, pixels: NDArray[np.uint8] | None = None
    ) -> list[Description]:
        """Describe pairs in a batch, from the encoder's input: (B, ...) each.

        pixels: (B, 2, H, W, 3), where the model reads pictures.
        """
        batch = len(before)
        encoded = self._encoder.run({"before": before, "after": after}, batch)
        judged = encoded.pop("no_change", None)  # (B,)
        distances = self._in_units_of_threshold(encoded.pop("strangeness", None), pixels)
        state = first_state(self._decoder.inputs, encoded, batch)
        cache = {**encoded, **state}
        if judged is None:
            judged = self._judge_by_sentences(cache, batch)
        if beams == 1:
            rows = self._greedy(cache, batch)
        else:
            rows = beam(self._step, cache, batch, self.card.max_length, beams, self._skips)
        return [
            self._description(row, float(judged[i]), None if distances is None else distances[i])
            for i, row in enumerate(rows)
        ]

    def _greedy(self, cache: GraphCache, batch: int) -> list[Decoded]:
        """Return each row's words by greedy search, or by a beam search that skips contradictions where a row
        contradicts itself.
        """
        rows, skips = greedy(self._step, cache, batch, self.card.max_length), self._skips
        wrong = [] if skips is None else [i for i, row in enumerate(rows) if skips(row.ids)]
        if wrong:
            own = {name: value[wrong] for name, value in cache.items()}
            others = beam(self._step, own, len(wrong), self.card.max_length, OTHERS, skips)
            for i, row in zip(wrong, others, strict=True):
                rows[i] = row
        return rows

    def _in_units_of_threshold(
        self, distances: Floats | None, pixels: NDArray[np.uint8] | None
    ) -> NDArray[np.float64] | None:
        """Return how far each picture is from the training pictures, in units of the threshold: (B, 2); None:
        unknown.
        """
        known = self.card.in_distribution
        if distances is None or known is None or pixels is None:
            return None
        colors = [color_distance(color_numbers(pixels[:, side]), known.colors) for side in (0, 1)]
        in_units: NDArray[np.float64] = distances.astype(np.float64) / known.threshold
        return np.maximum(in_units, np.stack(colors, axis=1))

    def _judge_by_sentences(self, cache: GraphCache, batch: int) -> NDArray[np.float64]:
        """Return the probability (B,) of the no-change sentences, for a model without a no-change head."""
        ids = sayable(self.card.no_change.sentences, self.card.vocabulary, self.card.max_length)
        return sentences_probability(self._step, cache, batch, ids)

    def _step(self, previous: Ids, position: int, cache: GraphCache) -> tuple[Floats, Floats, GraphCache]:
        """Compute the next word, as a step function of ``decoding``."""
        asked = {"previous": previous, "position": np.array(position, np.int64), **cache}
        results = self._decoder.run(asked, len(previous))
        grown = {name.removeprefix("next_"): results[name] for name in results if name.startswith("next_")}
        return results["log_probabilities"], results["attention"], {**cache, **grown}

    def _description(
        self, row: Decoded, probability: float, distances: NDArray[np.float64] | None
    ) -> Description:
        vocabulary = self.card.vocabulary
        sentence = vocabulary.text(row.ids)
        maps = row.attention
        if maps is None:
            maps = np.zeros((0, 2, *self.card.attention.shape), np.float32)
        words = words_with_maps(vocabulary.words(row.ids), maps)
        no_change = self.card.no_change.calibrated(probability)
        changed = sentence not in self.card.no_change.sentences
        return Description(
            sentence=sentence,
            no_change=no_change,
            heatmaps=over_content(words, self.card.attention.shape),
            words=words,
            changed=changed,
            doubtful=changed == (no_change >= self.card.no_change.threshold),
            ood_distance=None if distances is None else (float(distances[0]), float(distances[1])),
        )


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
        self._graphs = CaptionGraphs(bundle, threads)

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
        inputs = normalise(pixels, self.input.mean, self.input.std)  # (B, 2, 3, H, W)
        return self._graphs.describe(inputs[:, 0], inputs[:, 1], beams, pixels)

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


def _contradictions(card: Card) -> Skips | None:
    """Return a test for sentences of the model's world that contradict themselves; None for an unknown
    world.
    """
    world = known_world(card.world)
    contradicts = None if world is None else world.language.contradicts
    if contradicts is None:
        return None
    return lambda ids: contradicts(card.vocabulary.text(ids))
