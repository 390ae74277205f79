"""A model answers: it writes its sentence word by word."""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
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
    from whatchanged.captioner.runtime import Captioner

MOST_STRETCH = 1.25
"""Pictures whose proportions the model's input would change by more are not asked about: 4:3 and 16:9 become
3:2 by less, a square or a picture on its side by more."""


class Model:
    """A model on disk. Only its card is read before it is asked."""

    def __init__(
        self, bundle: Bundle, threads: int | None = None, named: bool = False, beams: int = 1
    ) -> None:
        """How the model is asked.

        threads: how many an operator may use; None: at most two. named: a person named the model, which then
        answers for any pictures. beams: hypotheses that the search keeps; 1 is greedy. Raises BundleError for
        a model of stored features.
        """
        self.bundle = bundle
        self.card = bundle.card
        self.input = picture_input(bundle)
        self.named = named
        self.beams = beams
        self._threads = threads
        self._captioner: Captioner | None = None

    def build(self) -> "Captioner":
        """The model, ready to run; built when it is first asked for. Raises BundleError."""
        if self._captioner is None:
            from whatchanged.captioner.runtime import Captioner

            self._captioner = Captioner(self.bundle, self._threads)
        return self._captioner

    @cached_property
    def explains_view_and_light(self) -> bool:
        """Whether pictures of the model's world may differ by viewpoint and light though nothing changed.

        Not so in a world that is not installed: nobody has declared it.
        """
        world = known_world(self.card.world)
        return world is not None and world.pictures.view_and_light_differ

    def distances(self, pairs: Sequence[ReadPair]) -> list[float | None]:
        """How far the stranger of each pair's pictures is from what the model knows; 0 where it was named.

        Only its encoder tells, so the pairs that it may know are described, side by side. The descriptions
        are kept for ``answer``.
        """
        read = [self._read(pair) for pair in pairs]
        asked = [pair for pair, pixels in zip(pairs, read, strict=True) if pixels is not None]
        if asked:
            pixels = np.stack([one for one in read if one is not None])
            for pair, found in zip(asked, self.build().describe_pixels(pixels, self.beams), strict=True):
                pair.described[self] = replace(found, sources=pair.sources)
        return [self._distance(pair) for pair in pairs]

    def _distance(self, pair: ReadPair) -> float | None:
        """How far a pair is that was described; None for one that was not."""
        said = pair.described.get(self)
        if said is None:
            return None
        return 0.0 if self.named else max(said.ood_distance or (0.0,))

    def answer(self, pair: ReadPair) -> Answer | None:
        """The model's sentence; None where the measurement sees what it denies, or the pair is not known.

        What the pictures' world explains is not measured at all: where viewpoint and light differ, nearly
        every pixel does.
        """
        said = pair.described.get(self)
        if said is None:
            return None
        # Equal pixels are measured whatever was said: what a look does not show may differ.
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
        """Whether what differs is what the model says, or may be by viewpoint and light alone."""
        if described.changed:
            return True
        return not pair.looking.strict and not described.unfamiliar and self.explains_view_and_light

    def _read(self, pair: ReadPair) -> Pixels | None:
        """The pair as the model reads it, (2, H, W, 3); None where it cannot know the pictures by their shape
        and colours, which do not excuse a model that was named.

        Its graphs are not needed for that. A model that cannot tell which pictures it knows knows none.
        """
        known = self.card.in_distribution
        if not self.named and (known is None or not all(_fits(one, self.input) for one in pair.shown)):
            return None
        pixels = np.stack([resize(Image.fromarray(one), self.input.size) for one in pair.shown])
        if self.named or known is None or (color_distance(color_numbers(pixels), known.colors) <= 1).all():
            return pixels
        return None


def _fits(picture: Pixels, wanted: PictureInput) -> bool:
    """Whether the picture is large enough, and has about the model's proportions."""
    height, width = picture.shape[:2]
    stretch = width * wanted.size[1] / (height * wanted.size[0])
    return min(height, width) >= LEAST_SIDE and abs(math.log(stretch)) <= math.log(MOST_STRETCH)
