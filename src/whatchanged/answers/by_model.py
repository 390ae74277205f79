"""A model's answer: the model writes its caption word by word."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from whatchanged.answers.answer import Answer
from whatchanged.answers.pair import ReadPair
from whatchanged.answers.verdict import only_ignored, verdict_of
from whatchanged.captioner.bundle import Bundle, picture_input
from whatchanged.captioner.card import PictureInput
from whatchanged.captioner.colors import color_distance, color_numbers
from whatchanged.images import LEAST_SIDE, resize
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.worlds import known_world

if TYPE_CHECKING:
    from whatchanged.captioner.description import Description
    from whatchanged.captioner.onnx_graphs import CaptionGraphs

MOST_STRETCH = 1.25
"""A model skips pictures whose aspect ratio its input would change by more. 4:3 and 16:9 become 3:2 by less;
a square, or a picture in portrait format, by more.
"""


class Model:
    """A model on disk. Its graphs are read on first use."""

    def __init__(
        self, bundle: Bundle, threads: int | None = None, named: bool = False, beams: int = 1
    ) -> None:
        """Set how the model runs.

        threads: threads of its operators; None: at most two. named: the user named the model, which then
        answers for any pictures. beams: hypotheses of beam search; 1 is greedy. Raises BundleError for a
        model of stored features.
        """
        self.bundle = bundle
        self.card = bundle.card
        self.input = picture_input(bundle)
        self.named = named
        self.beams = beams
        self._threads = threads
        self._graphs: CaptionGraphs | None = None
        self.world = known_world(self.card.world)
        """The model's world; None where it is not installed."""

    def build(self) -> "CaptionGraphs":
        """Return the model's graphs, ready to run; they are built on first use. Raises BundleError."""
        if self._graphs is None:
            from whatchanged.captioner.onnx_graphs import CaptionGraphs

            self._graphs = CaptionGraphs(self.bundle, self.world, self._threads)
        return self._graphs

    def distances(self, pairs: Sequence[ReadPair]) -> list[float | None]:
        """Return the distance of each pair from the training pictures, that of its farther picture; 0 if the
        user named the model.

        The model's encoder computes the distance, so the pairs within the limits of shape and colour are
        captioned here in batches. The descriptions are kept for ``answer``.
        """
        read = [self._read(pair) for pair in pairs]
        asked = [pair for pair, pixels in zip(pairs, read, strict=True) if pixels is not None]
        if asked:
            pixels = np.stack([one for one in read if one is not None])
            for pair, found in zip(asked, self.build().describe_pixels(pixels, self.beams), strict=True):
                pair.described[self] = replace(found, sources=pair.sources)
        return [self._distance(pair) for pair in pairs]

    def _distance(self, pair: ReadPair) -> float | None:
        """Return the distance of a pair that was captioned; None for one that was not."""
        said = pair.described.get(self)
        if said is None:
            return None
        return 0.0 if self.named else max(said.ood_distance or (0.0,))

    def answer(self, pair: ReadPair) -> Answer | None:
        """Return the model's caption; None where the measurement sees a change that it denies, or the pair is
        too far.

        Differences that the pictures' world explains are not measured: if viewpoint and light differ, nearly
        every pixel does.
        """
        said = pair.described.get(self)
        if said is None:
            return None
        # Equal pixels are measured whatever the model says: other data in the files may differ.
        measured = pair.measured if pair.same or not self._explains(pair, said) else None
        ruling = verdict_of(said.changed, said.doubtful, self.named, measured)
        if not ruling.stands:
            return None
        answer = Answer(
            sentence=said.sentence,
            no_change=said.no_change,
            verdict=ruling.verdict,
            doubtful=ruling.doubtful,
            answer=self.card.name,
            size_before=pair.pictures[0].size,
            size_after=pair.pictures[1].size,
            unfamiliar=said.unfamiliar,
            description=said,
            measured=measured,
            sources=pair.sources,
            policy=pair.looking.policy.name,
            ignored=pair.ignored,
        )
        return only_ignored(answer, pair)

    def _explains(self, pair: ReadPair, described: "Description") -> bool:
        """Return whether the model's caption, or viewpoint and light, explain the differences.

        They do not explain anything in an unknown world, since its declaration is missing.
        """
        if described.changed:
            return True
        expected = self.world is not None and self.world.pictures.view_and_light_differ
        return expected and not pair.looking.strict and not described.unfamiliar

    def _read(self, pair: ReadPair) -> Pixels | None:
        """Return the pair as the model reads it, (2, H, W, 3); None where shape or colours are out of
        distribution.

        A model that the user named reads every pair. This check does not need the graphs. A model without an
        in-distribution threshold accepts no pictures.
        """
        known = self.card.in_distribution
        if not self.named and (known is None or not all(_fits(one, self.input) for one in pair.shown)):
            return None
        pixels = []
        for one in pair.shown:
            pixels.append(resize(Image.fromarray(one), self.input.size))
            if self.named or known is None:
                continue
            # The first picture mostly decides, so the second one need not be resized.
            if not (color_distance(color_numbers(pixels[-1][None]), known.colors) <= 1).all():
                return None
        return np.stack(pixels)


def _fits(picture: Pixels, wanted: PictureInput) -> bool:
    """Return whether the picture is large enough and has about the aspect ratio of the model's input."""
    height, width = picture.shape[:2]
    stretch = width * wanted.size[1] / (height * wanted.size[0])
    return min(height, width) >= LEAST_SIDE and abs(math.log(stretch)) <= math.log(MOST_STRETCH)
