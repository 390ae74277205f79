"""A pair of pictures that was read once, for the models and for the measurement."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from whatchanged.images import Source
from whatchanged.measured import Box, Measured, measure_read
from whatchanged.measured.reading import Picture, Pixels, read_picture


@dataclass(frozen=True)
class ReadPair:
    """Two pictures as they were read, where from, and the places in which differences do not count."""

    sources: tuple[Source, Source]
    pictures: tuple[Picture, Picture]
    ignore: tuple[Box, ...]

    @cached_property
    def shown(self) -> tuple[Pixels, Pixels]:
        """What models look at: alpha dropped, what is ignored as it was before."""
        return self._without_ignored(*(picture.opaque for picture in self.pictures))

    @cached_property
    def on_white(self) -> tuple[Pixels, Pixels]:
        """What the measurement looks at: alpha over white, what is ignored as it was before."""
        return self._without_ignored(*(picture.on_white for picture in self.pictures))

    def _without_ignored(self, before: Pixels, after: Pixels) -> tuple[Pixels, Pixels]:
        if self.ignore and before.shape == after.shape:
            after = after.copy()
            for left, top, right, bottom in self.ignore:
                after[top:bottom, left:right] = before[top:bottom, left:right]
        return before, after

    @property
    def same(self) -> bool:
        """Whether a model could see no difference: only a look at all else in the files may find one."""
        return np.array_equal(*self.shown)

    def measure(self, sensitivity: float, strict: bool) -> Measured:
        """The measured answer."""
        return measure_read(self.pictures, self.sources, sensitivity, strict, self.ignore)


def read_pair(before: Source, after: Source, ignore: Sequence[Box]) -> ReadPair:
    """Read both pictures. Raises ImageError."""
    return ReadPair((before, after), (read_picture(before), read_picture(after)), tuple(ignore))
