"""Judges an answer on a labelled real pair of screens."""

from dataclasses import dataclass
from typing import Any

from benchmarks.screens.boxes import points_into
from whatchanged.answers import Answer
from whatchanged.measured import Box, Statement
from whatchanged.measured.pixels.boxes import iou

Pair = dict[str, Any]

ACCEPTED: dict[str, tuple[str, ...]] = {
    "position": ("moved",),
    "spacing": ("moved", "resized"),
    "size": ("resized",),
    "color": ("recolored",),
    "border/shape": ("restyled", "recolored"),
    "style-other": ("restyled", "recolored"),
    "font": ("restyled",),
    "text": ("rewritten",),
    "image/icon": ("replaced",),
    "added": ("added",),
    "removed": ("removed",),
}
"""Kinds that are right for a label's type; "multiple" wants two statements instead."""


@dataclass(frozen=True)
class Judged:
    """One pair and what was said of it."""

    pair: Pair
    answer: Answer
    seconds: float

    @property
    def changed(self) -> bool:
        return bool(self.pair["visible_change"] == "yes")

    @property
    def kind(self) -> bool:
        """Whether the top statement's kind is right."""
        told = self.answer.changes
        if self.pair["type"] == "multiple":
            return len(told) >= 2 and all(self.holds(one) for one in told[:2])
        return bool(told) and told[0].kind in ACCEPTED[self.pair["type"]]

    @property
    def pointing(self) -> bool:
        """Whether the centre of the top statement's box lies in the label's."""
        return bool(self.answer.changes) and self.holds(self.answer.changes[0])

    @property
    def overlap(self) -> bool:
        """Whether the top statement's box and the label's have an IoU of at least one half."""
        if not self.answer.changes:
            return False
        return iou(place(self.answer.changes[0]), tuple(self.pair["box"])) >= 0.5

    @property
    def statement(self) -> bool:
        """Whether kind and pointing are both right."""
        return self.kind and self.pointing

    def holds(self, statement: Statement) -> bool:
        """Whether the centre of a statement's box lies in the label's, after or before."""
        label, label_before = self.pair["box"], self.pair.get("box_before")
        labels = [label] if statement.box_after else [label, label_before]
        return any(points_into(place(statement), box) for box in labels if box)


def place(statement: Statement) -> Box:
    """Where a statement points: after, or before where the thing is gone."""
    return statement.box_after or statement.box_before or (0, 0, 0, 0)
