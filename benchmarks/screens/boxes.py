"""The boxes of the truth and of an answer on a screen, for comparison."""

from whatchanged.measured import Box

Place = tuple[Box | None, Box | None]
"""Where something is, before and after; None where it is not there."""


def compared(truth: Place, told: Place) -> Place:
    """The truth's box and the answer's, in the picture that shows the change: after, or before if it is gone.

    An answer that has no box there is taken by its other one.
    """
    (before, after), (told_before, told_after) = truth, told
    return (after, told_after or told_before) if after else (before, told_before or told_after)


def points_into(told: Box, box: Box) -> bool:
    """Whether the centre of the box that is told lies in the other one."""
    x, y = (told[0] + told[2]) / 2, (told[1] + told[3]) / 2
    return box[0] <= x < box[2] and box[1] <= y < box[3]
