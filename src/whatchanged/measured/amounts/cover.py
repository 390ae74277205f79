"""Detection of a box that was put over other contents, or taken from them: a menu, a legend."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured.pixels.layers import INK, usual_color
from whatchanged.measured.pixels.planes import steps_between, steps_from
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box
from whatchanged.measured.rules.boxed import is_boxed
from whatchanged.measured.rules.detected import DetectedChange
from whatchanged.measured.rules.kinds import BY_AMOUNT, Finding

HIDDEN = 0.75
"""The least fraction of the contents behind the box that cannot be seen any more, or only faintly."""
WITHIN_ONE = ("icon", "content")
"""Finer words for a single thing that shows something else."""
UNLIKE = (None, "replaced", "rewritten")
"""Kinds of changes of which the rules know only that a place shows something else."""


def cover_change(change: DetectedChange, before: Pixels, after: Pixels, box: Box) -> DetectedChange | None:
    """Return the change as a box that came over other contents or went, or None."""
    finding = change.finding
    by_amount = finding.kind in ("added", "removed") and finding.confidence <= BY_AMOUNT
    if not by_amount and (finding.kind not in UNLIKE or change.box_before != change.box_after):
        return None
    if finding.aspect in WITHIN_ONE:
        return None
    boxed = [is_boxed(picture, box) for picture in (before, after)]
    if boxed[0] == boxed[1]:
        return None
    shown, hidden = (after, before) if boxed[1] else (before, after)
    if not _is_hidden(hidden, shown, box):
        return None
    finding = Finding("added" if boxed[1] else "removed", "thing", 0.6)
    was, now = (None, box) if boxed[1] else (box, None)
    return replace(change, finding=finding, box_before=was, box_after=now)


def _is_hidden(hidden: Pixels, shown: Pixels, box: Box) -> bool:
    """Return whether a box contains something in one picture that the other picture hides there."""
    left, top, right, bottom = box
    one, other = hidden[top:bottom, left:right], shown[top:bottom, left:right]
    ink: NDArray[np.bool_] = steps_from(usual_color(one.reshape(-1, 3)), one) > INK
    gone = ink & (steps_between(one, other) > INK)
    return bool(np.count_nonzero(gone) >= max(1, HIDDEN * np.count_nonzero(ink)))
