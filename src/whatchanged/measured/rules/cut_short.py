"""Pages that lost or gained so much of their height that a part of them was removed or added."""

from dataclasses import replace

from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.rules.causes import VAGUE
from whatchanged.measured.rules.detected import DetectedChange
from whatchanged.measured.rules.ink import ink_box
from whatchanged.measured.rules.kinds import Finding

MUCH_LOWER = 0.2
"""The least difference between the heights of two pages, as a fraction of the larger one, at which a part of
a page came or went. Other gaps or another size of the text change the height by less."""
NEAR_THE_END = 12
"""The largest distance in pixels between a vague change and the row at which the lower page ends."""


def cut_short(changes: list[DetectedChange], before: Pixels, after: Pixels) -> list[DetectedChange]:
    """Return the changes, with a vague change at the lower edge of a page as something that was removed or
    added, if the page is much lower or higher than before.

    The rest of such a page moved together, so that its lines do not match, and looks only different.
    """
    lower, higher = sorted((len(before), len(after)))
    if before.shape[1] != after.shape[1] or higher - lower < MUCH_LOWER * higher:
        return changes
    return [_as_lost(one, before, after) if _ends_at(one, lower) else one for one in changes]


def _ends_at(one: DetectedChange, edge: int) -> bool:
    """Return whether a vague change reaches the row at which the lower picture ends."""
    vague = (*VAGUE, ("restyled", "weight"))
    box = one.box_after
    if box is None or one.box_before is None or not one.cause:
        return False
    return (one.finding.kind, one.finding.aspect) in vague and edge - box[3] <= NEAR_THE_END


def _as_lost(one: DetectedChange, before: Pixels, after: Pixels) -> DetectedChange:
    """Return a change as the removal or addition of the content of the higher picture, down to its end."""
    removed = len(before) > len(after)
    picture, box = (before, one.box_before) if removed else (after, one.box_after)
    assert box is not None
    rest = ink_box(picture, (box[0], box[1], box[2], len(picture))) or box
    finding = Finding("removed" if removed else "added", "thing", 0.4)
    was, now = (rest, None) if removed else (None, rest)
    # The size of what was removed counts as a fraction of the picture before.
    lost = abs(len(before) - len(after)) * (rest[2] - rest[0]) * len(after) // len(picture)
    return replace(one, finding=finding, box_before=was, box_after=now, pixels=lost)
