"""The result of a comparison of two pictures: a verdict, statements, and their output format."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

Box = tuple[int, int, int, int]
"""Left, top, right and bottom in pixels of the original picture. Right and bottom are exclusive."""

MeasuredVerdict = Literal["identical", "noise", "changed"]
"""identical: equal pixels. noise: only invisible differences. changed: a visible change."""

Values = Mapping[str, Any]
"""The measured values of a change, with the keys of ``Statement.values``."""

Kind = Literal["added", "removed", "moved", "resized", "recolored", "restyled", "rewritten", "replaced"]
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True)
class Statement:
    """One change: its kind, its position and a sentence.

    kind        the kind of the change; None if no rule applies
    box_before  the bounding box of the object before; None if the object was absent
    box_after   the bounding box of the object after; None if the object is absent
    sentence    the change in words
    confidence  the confidence in the kind, from 0 to 1
    share       the fraction of the picture's pixels that differ in this change
    values      the measured values
    boxes       the boxes of all similar changes, including the first one, in the picture after (in the
                picture before if the objects exist only there)
    element     the name of the changed object; None if it is unknown
    follows     whether another statement caused this one, as an added object moves the objects after it
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
        """The number of similar changes in the statement."""
        return max(1, len(self.boxes))

    def as_json(self) -> dict[str, Any]:
        """Return the statement in its output format."""
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
    doubtful    whether the verdict is close to the threshold; a doubtful pair counts as changed for exit
                codes
    no_change   the probability that nothing visible changed, fitted on drawn pairs
    score       the largest difference as a multiple of the threshold at sensitivity 1; from 1 on it is
                visible
    share       the fraction of visibly differing pixels
    statements  the statements, best first; empty if nothing changed
    sentence    up to three statements in words
    notes       invisible differences: alpha, depth, colour profile, stored orientation, metadata
    signature   features that find pairs with the same change (``groups``)
    idle        indices of the ignored boxes without a difference
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
        """Whether the exit code reports a change: the pictures changed, or the verdict is doubtful."""
        return self.verdict == "changed" or self.doubtful
