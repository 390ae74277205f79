"""Make pairs of documents that are drawn anew for each picture: plots and typeset pages.

Such a family provides a ``Maker``, which makes a random document, changes it, and draws it with given
rendering settings. This module decides the content of the pairs; ``edits`` computes their truth.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np

from whatchanged.records import Split
from whatchanged.synth.screens import DrawnPair
from whatchanged.synth.screens.edits import (
    DrawnPicture,
    Edit,
    Pixels,
    change_of,
    farthest,
    nothing_moved,
    overlap,
)
from whatchanged.synth.screens.recoding import png, recode
from whatchanged.synth.screens.visible import visible
from whatchanged.synth.screens.words import Rng
from whatchanged.worlds.screens.truth import ScreenChange, ScreenTruth, Value

D = TypeVar("D")
R = TypeVar("R")

TRIES = 12
"""How often a change is drawn until one fits the document."""
MORE = 6
"""How many more changes are tried where every pair has several."""
TURNED = 0.4
"""The fraction of pairs whose pictures are exchanged."""


class Maker(Protocol[D, R]):
    """The functions of a family for its documents D and rendering settings R."""

    family: str
    usual: R

    def document(self, rng: Rng, split: Split) -> D:
        """Return a random document of the designs of a split."""

    def changed(self, rng: Rng, document: D) -> tuple[D, Edit] | None:
        """Return the document with one random change; None where the drawn change does not fit it."""

    def noisy(self, rng: Rng, document: D) -> tuple[R, str]:
        """Return other rendering settings for the same document, and their name."""

    def draw(self, document: D, how: R) -> DrawnPicture:
        """Return the document's picture."""

    def design(self, document: D) -> Mapping[str, Value]:
        """Return the parts of its design."""


@dataclass(frozen=True)
class PairPlan:
    """The content of one pair: how many changes, whether other rendering settings, whether a lossy step.

    more: how many further changes are tried, to replace changes that overlap others or are invisible.
    """

    changes: int
    rendering: bool
    lossy: bool
    more: int = 0


def plans(rng: Rng, several: bool) -> Sequence[PairPlan]:
    """Return the plans of a document's four pairs: noise, a change, a change, changes with noise.

    several: every pair has several changes instead, the last one with noise.
    """
    lossy = rng.random(2) < 0.33
    if several:
        counts = [int(count) for count in rng.integers(2, 4, 4)]
        return (
            *(PairPlan(count, False, False, MORE) for count in counts[:3]),
            PairPlan(counts[3], not lossy[1], bool(lossy[1]), MORE),
        )
    return (
        PairPlan(0, not lossy[0], bool(lossy[0])),
        PairPlan(1, False, False),
        PairPlan(1 + int(rng.random() < 0.25), False, False),
        PairPlan(1 + int(rng.random() < 0.3), not lossy[1], bool(lossy[1])),
    )


class Redrawn(Generic[D, R]):
    """The family of a maker."""

    def __init__(self, maker: Maker[D, R], renderer: str, number: int, several: bool) -> None:
        """renderer: its name and version. number: the family's own number, so that plots and charts of one
        seed differ. several: every pair has several changes.
        """
        self.maker = maker
        self.renderer = renderer
        self.number = number
        self.several = several

    def draw(self, seed: int, index: int, split: Split) -> Sequence[DrawnPair]:
        """Draw the pairs of one document; fewer where no pixel differs."""
        rng = np.random.default_rng([seed, self.number, index])
        document = self.maker.document(rng, split)
        usual = self.maker.draw(document, self.maker.usual)
        pairs = []
        for plan in plans(rng, self.several):
            pair = self._pair(rng, document, usual, plan)
            if pair is not None:
                pairs.append(pair)
        return pairs

    def _pair(self, rng: Rng, document: D, usual: DrawnPicture, plan: PairPlan) -> DrawnPair | None:
        """Return one pair; None where its pictures are equal, or a change is hardly visible."""
        how, noise = self.maker.usual, []
        clean = usual
        if plan.rendering:
            other, name = self.maker.noisy(rng, document)
            drawn = self.maker.draw(document, other)
            if nothing_moved(usual.elements, drawn.elements) and not np.array_equal(
                usual.pixels, drawn.pixels
            ):
                how, clean = other, drawn
                noise.append(name)
        after, edits = clean, list[tuple[Edit, ScreenChange]]()
        for _ in range(plan.changes + plan.more):
            if len(edits) == plan.changes:
                break
            step = self._change(rng, document, how, after)
            if step is None or any(overlap(step.change, one) for _, one in edits):
                continue
            seen = visible(after.pixels, step.after.pixels, step.change.kind, step.change.aspect, step.shift)
            if seen == "uncertain":
                continue
            document, after = step.document, step.after
            if seen == "yes":
                edits.append((step.edit, step.change))
            else:
                noise.append(f"faint: {step.change.kind} {step.change.aspect}")
        changes = [self._settled(edit, change, clean, after, len(edits)) for edit, change in edits]
        pixels = after.pixels
        if plan.lossy:
            name, pixels = recode(rng, pixels)
            noise.append(name)
        if np.array_equal(usual.pixels, pixels):
            return None
        truth = ScreenTruth(
            tuple(changes),
            tuple(noise),
            size_of(usual.pixels),
            size_of(pixels),
            self.maker.family,
            dict(self.maker.design(document)),
        )
        if rng.random() < TURNED:
            return DrawnPair(png(pixels), png(usual.pixels), truth.reversed())
        return DrawnPair(png(usual.pixels), png(pixels), truth)

    def _change(self, rng: Rng, document: D, how: R, before: DrawnPicture) -> "_Step[D] | None":
        """Return one change to the document; None where none fits it."""
        for _ in range(TRIES):
            made = self.maker.changed(rng, document)
            if made is None:
                continue
            other, edit = made
            after = self.maker.draw(other, how)
            change = change_of(edit, before, after)
            if change is not None:
                return _Step(other, after, edit, change, farthest(before, after))
        return None

    def _settled(
        self, edit: Edit, change: ScreenChange, before: DrawnPicture, after: DrawnPicture, edits: int
    ) -> ScreenChange:
        """Return the change between the first picture and the last, in the presence of other changes."""
        if edits == 1 or edit.trimmed:
            return change
        return change_of(edit, before, after) or change


@dataclass(frozen=True)
class _Step(Generic[D]):
    """A change that was made: the document with it, its picture, its truth, how far its boxes moved."""

    document: D
    after: DrawnPicture
    edit: Edit
    change: ScreenChange
    shift: float


def size_of(pixels: Pixels) -> tuple[int, int]:
    """Return width and height."""
    return pixels.shape[1], pixels.shape[0]
