"""A pair of pictures that was read once, for the models and for the measurement."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from whatchanged.images import PictureSource
from whatchanged.measured import Box, Measured, measure_read
from whatchanged.measured.canvas import without_boxes
from whatchanged.measured.compared import Compared
from whatchanged.measured.reading import Picture, Pixels, read_picture


@dataclass(frozen=True)
class ReadPair:
    """Two pictures as they were read, where from, and the places in which differences do not count."""

    sources: tuple[PictureSource, PictureSource]
    pictures: tuple[Picture, Picture]
    ignore: tuple[Box, ...]

    @cached_property
    def shown(self) -> tuple[Pixels, Pixels]:
        """What models look at: alpha dropped, what is ignored as it was before."""
        before, after = (picture.opaque for picture in self.pictures)
        if before.shape == after.shape:
            after = without_boxes(after, before, self.ignore)
        return before, after

    @cached_property
    def compared(self) -> Compared:
        """What the measurement and models of places compare: alpha over white."""
        one, other = self.pictures
        return Compared(one.on_white, other.on_white, self.ignore)

    @property
    def pixels(self) -> int:
        """How many pixels both pictures have."""
        return sum(picture.size[0] * picture.size[1] for picture in self.pictures)

    @property
    def same(self) -> bool:
        """Whether a model could see no difference: only a look at all else in the files may find one."""
        return np.array_equal(*self.shown)

    def measure(self, sensitivity: float, strict: bool) -> Measured:
        """The measured answer."""
        return measure_read(self.pictures, self.sources, self.compared, sensitivity, strict)


def read_pair(before: PictureSource, after: PictureSource, ignore: Sequence[Box]) -> ReadPair:
    """Read both pictures. Raises ImageError."""
    return ReadPair((before, after), (read_picture(before), read_picture(after)), tuple(ignore))
