"""Two pictures and the results of their comparison. Each result is computed once and shared."""

from collections.abc import Sequence
from functools import cached_property

from whatchanged.measured.pixels.gate import Visibility
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.pixels.structure import visible_by
from whatchanged.measured.policy import DEFAULT, Policy
from whatchanged.measured.result import Box
from whatchanged.measured.rules.canvas import AlignedPair, compare_sizes, unused_boxes, without_boxes
from whatchanged.measured.rules.changes import detect_changes
from whatchanged.measured.rules.containers import container_changes
from whatchanged.measured.rules.detected import DetectedChange


class Compared:
    """Two pictures and the results of their comparison.

    Each result is computed at its first use and kept as long as this object.

    before, after  the pixels; for two pictures of one size, ignored areas of after are copied from before
    ignore         boxes in which differences do not count: of both pictures, or of the picture after if the
                   sizes differ
    unused         indices of the ignored boxes without a difference, for pictures of one size; for two sizes
                   see ``aligned``
    policy         the limits at which a difference counts as a change
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
        """Whether the pictures have the same size."""
        return self.before.shape == self.after.shape

    @cached_property
    def seen(self) -> Visibility:
        """The visibility of the differences between two pictures of one size."""
        return visible_by(self.policy, self.before, self.after)

    def hides(self, threshold: float) -> bool:
        """Return whether an ignored box of two pictures of one size contains a visible difference."""
        return any(
            visible_by(self.policy, self.before[part], self._with_ignored[part]).score >= threshold
            for number, (left, top, right, bottom) in enumerate(self.ignore)
            if number not in self.unused
            for part in ((slice(top, bottom), slice(left, right)),)
        )

    def changes(self, threshold: float) -> tuple[DetectedChange, ...]:
        """Return the changes between two pictures of one size."""
        if threshold not in self._changes:
            changes = container_changes(self.before, self.after) or detect_changes(
                self.before, self.after, self.seen, threshold
            )
            self._changes[threshold] = tuple(changes)
        return self._changes[threshold]

    def aligned(self, threshold: float) -> AlignedPair:
        """Return two pictures of different sizes after their alignment, together with their changes."""
        if threshold not in self._aligned:
            self._aligned[threshold] = compare_sizes(self.before, self.after, threshold, self.ignore)
        return self._aligned[threshold]
