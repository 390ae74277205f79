"""What the comparison of two pictures gives: a verdict, statements, and the form that is written."""

from dataclasses import dataclass, field
from typing import Any, Literal, get_args

Box = tuple[int, int, int, int]
"""Left, top, right, bottom in pixels of the picture itself; right and bottom are exclusive."""

MeasuredVerdict = Literal["identical", "noise", "changed"]
"""Same pixels; differences that nobody would name; a visible change."""

Kind = Literal["added", "removed", "moved", "resized", "recolored", "restyled", "rewritten", "replaced"]
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True)
class Statement:
    """One change: what happened, where, and in words.

    ``kind`` is None where no rule tells it. A box is None where the thing is not there. ``boxes`` are the
    places of an alike change in the picture after (before, where it is only there), the first one included.
    ``share`` is the part of the picture's pixels that differ here, ``confidence`` that of the kind.
    ``element`` is the name of what changed, None where nobody tells it. ``follows``: another statement
    brought it about, as something that was added pushes what comes after it.
    """

    kind: Kind | None
    box_before: Box | None
    box_after: Box | None
    sentence: str
    confidence: float
    share: float = 0.0
    values: dict[str, Any] = field(default_factory=dict)
    boxes: tuple[Box, ...] = ()
    element: str | None = None
    follows: bool = False

    @property
    def count(self) -> int:
        """How many places of alike changes it tells of."""
        return max(1, len(self.boxes))

    def as_json(self) -> dict[str, Any]:
        """The statement as a line of output tells it."""
        named = {} if self.element is None else {"element": self.element}
        several = {"boxes": [list(box) for box in self.boxes]} if len(self.boxes) > 1 else {}
        return {
            "kind": self.kind,
            **named,
            "box_before": None if self.box_before is None else list(self.box_before),
            "box_after": None if self.box_after is None else list(self.box_after),
            **several,
            "sentence": self.sentence,
            "confidence": round(self.confidence, 3),
            "values": dict(self.values),
        }


@dataclass(frozen=True)
class Measured:
    """The measured answer for one pair.

    verdict     identical, noise or changed
    doubtful    the verdict is close; counts as changed for exit codes
    no_change   the probability that nothing visible changed, fitted on drawn pairs
    score       the largest difference in units of the threshold at sensitivity 1: from 1 on it is visible
    share       the part of the pixels that differ visibly
    statements  best first; empty where nothing changed
    sentence    at most three statements in words
    notes       what differs without being seen: alpha, depth, colour profile, stored turn, metadata
    signature   numbers by which pairs that changed in the same way are found (``groups``)
    idle        indices of the ignored boxes that touch no difference
    """

    verdict: MeasuredVerdict
    doubtful: bool
    no_change: float
    score: float
    share: float
    statements: tuple[Statement, ...]
    sentence: str
    notes: tuple[str, ...]
    size_before: tuple[int, int]
    size_after: tuple[int, int]
    signature: tuple[float, ...] = ()
    idle: tuple[int, ...] = ()

    @property
    def changed(self) -> bool:
        """Whether an exit code should say so: changed, or too close to tell."""
        return self.verdict == "changed" or self.doubtful
