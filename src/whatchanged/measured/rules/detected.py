"""A change as the rules detect it, before it is put into words."""

from dataclasses import dataclass

from whatchanged.measured.result import Box
from whatchanged.measured.rules.kinds import Finding


@dataclass(frozen=True)
class DetectedChange:
    """A detected change.

    finding     the kind, the aspect and the measured values
    box_before  the bounding box of the object before; None if it was added
    box_after   the bounding box of the object after; None if it was removed
    pixels      the size of the change in pixels
    cause       whether the change has a statement of its own; False for a consequence of another change
    boxes       the box of each object, if several objects changed in a similar way
    element     the sort of object ("icon"), if its pixels show it
    look        a plain noun for an object without an element ("red shape")
    """

    finding: Finding
    box_before: Box | None
    box_after: Box | None
    pixels: int
    cause: bool = True
    boxes: tuple[Box, ...] = ()
    element: str | None = None
    look: str | None = None
