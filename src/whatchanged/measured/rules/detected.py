"""What is found in two pictures before it has words."""

from dataclasses import dataclass

from whatchanged.measured.result import Box
from whatchanged.measured.rules.kinds import Finding


@dataclass(frozen=True)
class DetectedChange:
    """A statement before it has words: what, where, how much of the picture.

    element: what sort of thing it is, where its look tells. look: a plain noun for it where that tells no
    more ("red shape").
    """

    finding: Finding
    box_before: Box | None
    box_after: Box | None
    pixels: int
    cause: bool = True
    boxes: tuple[Box, ...] = ()
    element: str | None = None
    look: str | None = None
