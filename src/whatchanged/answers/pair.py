"""A pair of pictures that was read once, for the models and for the measurement."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from whatchanged.images import PictureSource
from whatchanged.measured import Box, Measured, measure_read
from whatchanged.measured.compared import Compared
from whatchanged.measured.measure import threshold_of
from whatchanged.measured.pixels.reading import Picture, Pixels, read_picture
from whatchanged.measured.policy import DEFAULT, Policy
from whatchanged.measured.rules.canvas import without_boxes

if TYPE_CHECKING:
    from whatchanged.captioner.runtime import Description


@dataclass(frozen=True)
class Looking:
    """How closely pictures are looked at.

    sensitivity  2 finds differences half as strong as 1 does
    strict       every pixel that differs is a change
    policy       from which size on a change counts
    """

    sensitivity: float = 1.0
    strict: bool = False
    policy: Policy = DEFAULT

    @property
    def threshold(self) -> float:
        """The strength from which on a difference is a change."""
        return threshold_of(self.policy, self.sensitivity, self.strict)


@dataclass(frozen=True, eq=False)
class ReadPair:
    """Two pictures as they were read, and what was found of them: computed once, for whoever asks.

    sources    where the pictures are from
    ignore     the places in which differences do not count
    described  what each model that was asked says
    """

    sources: tuple[PictureSource, PictureSource]
    pictures: tuple[Picture, Picture]
    ignore: tuple[Box, ...]
    looking: Looking
    described: "dict[object, Description]" = field(default_factory=dict)

    @cached_property
    def shown(self) -> tuple[Pixels, Pixels]:
        """What models look at: alpha dropped, what is ignored as it was before."""
        before, after = (picture.opaque for picture in self.pictures)
        one_size = before.shape == after.shape
        return before, without_boxes(after, before, self.ignore) if one_size else after

    @cached_property
    def compared(self) -> Compared:
        """What the measurement compares: alpha over white."""
        one, other = self.pictures
        return Compared(one.on_white, other.on_white, self.ignore, self.looking.policy)

    @property
    def pixels(self) -> int:
        """How many pixels both pictures have."""
        return sum(picture.on_white.size // 3 for picture in self.pictures)

    @property
    def same(self) -> bool:
        """Whether a model could see no difference: only a look at all else in the files may find one."""
        return np.array_equal(*self.shown)

    @cached_property
    def measured(self) -> Measured:
        """The measured answer. Raises ImageError where later frames, which are read only now, are broken."""
        looking = self.looking
        return measure_read(self.pictures, self.sources, self.compared, looking.sensitivity, looking.strict)

    @property
    def on_white(self) -> tuple[Pixels, Pixels]:
        """Both pictures as a page shows them."""
        before, after = (picture.on_white for picture in self.pictures)
        return before, after


def read_pair(
    before: PictureSource, after: PictureSource, ignore: Sequence[Box], looking: Looking
) -> ReadPair:
    """Read both pictures. Raises ImageError."""
    return ReadPair((before, after), (read_picture(before), read_picture(after)), tuple(ignore), looking)
