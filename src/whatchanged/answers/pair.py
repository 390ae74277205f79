"""A pair of pictures that is read once, for the models and for the measurement."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from whatchanged.images import PictureSource
from whatchanged.measured import Box, Measured, measure_read
from whatchanged.measured.compared import Compared
from whatchanged.measured.measure import threshold_of
from whatchanged.measured.pixels.reading import Picture, Pixels
from whatchanged.measured.policy import DEFAULT, Policy

if TYPE_CHECKING:
    from whatchanged.captioner.description import Description


@dataclass(frozen=True)
class Looking:
    """The settings of the comparison."""

    sensitivity: float = 1.0
    strict: bool = False
    policy: Policy = DEFAULT

    @property
    def threshold(self) -> float:
        """The strength from which on a difference counts as a change."""
        return threshold_of(self.policy, self.sensitivity, self.strict)


@dataclass(frozen=True, eq=False)
class ReadPair:
    """Two pictures as read, and the results computed from them, each once.

    sources    the pictures as they were given
    shown      the input of models: alpha dropped, ignored regions filled from the picture before
    ignore     the regions in which differences do not count
    ignored    the fraction of the picture after that they cover
    described  the description by each model that was run
    """

    sources: tuple[PictureSource, PictureSource]
    pictures: tuple[Picture, Picture]
    shown: tuple[Pixels, Pixels]
    ignore: tuple[Box, ...]
    ignored: float
    looking: Looking
    described: "dict[object, Description]" = field(default_factory=dict)

    @cached_property
    def compared(self) -> Compared:
        """The input of the measurement: alpha over white."""
        one, other = self.pictures
        return Compared(one.on_white, other.on_white, self.ignore, self.looking.policy)

    @property
    def pixels(self) -> int:
        """The number of pixels of both pictures."""
        return sum(picture.on_white.size // 3 for picture in self.pictures)

    @property
    def same(self) -> bool:
        """Whether a model could see no difference; only a comparison of everything in the files may
        find one.
        """
        return np.array_equal(*self.shown)

    @cached_property
    def measured(self) -> Measured:
        """The measured answer. Raises ImageError where later frames, which are read only now, are broken."""
        looking = self.looking
        return measure_read(self.pictures, self.sources, self.compared, looking.sensitivity, looking.strict)

    @property
    def hides_changes(self) -> bool:
        """Whether the pictures differ visibly in the ignored regions."""
        return self.compared.one_size and self.compared.hides(self.looking.threshold)

    @property
    def on_white(self) -> tuple[Pixels, Pixels]:
        """Both pictures as a page shows them."""
        before, after = (picture.on_white for picture in self.pictures)
        return before, after
