"""Two pictures and what is found in comparing them: computed once, for everyone who asks."""

from collections.abc import Sequence
from functools import cached_property

from whatchanged.measured.pixels.gate import Visibility
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.pixels.structure import visible_by
from whatchanged.measured.policy import DEFAULT, Policy
from whatchanged.measured.result import Box
from whatchanged.measured.rules.canvas import AlignedPair, compare_sizes, unused_boxes, without_boxes
from whatchanged.measured.rules.changes import detect_changes
from whatchanged.measured.rules.detected import DetectedChange


class Compared:
    """Two pictures as they are compared.

    What is found is computed when it is first asked for, and kept as long as this is.

    before, after  the pixels; of two pictures of one size, after shows what is ignored as it was before
    ignore         boxes in which differences do not count: of both pictures, or, of two sizes, of the one
                   after
    unused         indices of those that hold no difference; those of two sizes are told by ``aligned``
    policy         from which size on a change counts
    """

    def __init__(
        self, before: Pixels, after: Pixels, ignore: Sequence[Box] = (), policy: Policy = DEFAULT
    ) -> None:
        self.before = before
        self.after = after
        self.ignore = tuple(ignore)
        self.policy = policy
        self._with_ignored = after
        self.unused: tuple[int, ...] = ()
        if self.one_size:
            self.unused = unused_boxes(before, after, ignore)
            self.after = without_boxes(after, before, ignore)
        self._changes: dict[float, tuple[DetectedChange, ...]] = {}
        self._aligned: dict[float, AlignedPair] = {}

    @property
    def one_size(self) -> bool:
        """Whether the pictures lie on each other as they are."""
        return self.before.shape == self.after.shape

    @cached_property
    def seen(self) -> Visibility:
        """How visibly two pictures of one size differ."""
        return visible_by(self.policy, self.before, self.after)

    def hides(self, threshold: float) -> bool:
        """Whether an ignored box of two pictures of one size holds a difference that can be seen."""
        return any(
            visible_by(self.policy, self.before[part], self._with_ignored[part]).score >= threshold
            for number, (left, top, right, bottom) in enumerate(self.ignore)
            if number not in self.unused
            for part in ((slice(top, bottom), slice(left, right)),)
        )

    def changes(self, threshold: float) -> tuple[DetectedChange, ...]:
        """What changed between two pictures of one size."""
        if threshold not in self._changes:
            self._changes[threshold] = tuple(detect_changes(self.before, self.after, self.seen, threshold))
        return self._changes[threshold]

    def aligned(self, threshold: float) -> AlignedPair:
        """Two pictures of two sizes laid on each other, and what they tell."""
        if threshold not in self._aligned:
            self._aligned[threshold] = compare_sizes(self.before, self.after, threshold, self.ignore)
        return self._aligned[threshold]
