"""A change as the rules find it in two pictures, before a sentence is made of it."""

from dataclasses import dataclass

from whatchanged.measured.result import Box
from whatchanged.measured.rules.kinds import Finding


@dataclass(frozen=True)
class DetectedChange:
    """A change before it is put into words: what happened, where, and to how much of the picture.

    finding     the kind, the finer word and the measured values
    box_before  where the thing was; None where it was added
    box_after   where it is; None where it was removed
    pixels      how many pixels it takes up
    cause       whether it is told by itself; what another change brought about is not
    boxes       of several alike things, the box of each
    element     what sort of thing it is ("icon"), where its look tells
    look        a plain noun for it where it has no element ("red shape")
    """

    finding: Finding
    box_before: Box | None
    box_after: Box | None
    pixels: int
    cause: bool = True
    boxes: tuple[Box, ...] = ()
    element: str | None = None
    look: str | None = None
