"""Pages of which a part was removed, so that the rest looks only different."""

import numpy as np
import pytest

from whatchanged.measured.rules.cut_short import cut_short
from whatchanged.measured.rules.detected import DetectedChange
from whatchanged.measured.rules.kinds import Finding

HIGH = np.full((300, 200, 3), 255, np.uint8)
HIGH[20:280:8, 30:170:3] = 0
LOW = HIGH[:160]
BOX = (30, 20, 170, 155)


def vague(box=BOX, aspect="part"):
    """A change of which only the difference is known."""
    return DetectedChange(Finding("replaced", aspect, 0.3), box, box, 100)


@pytest.mark.parametrize("removed", [True, False])
def test_what_looks_different_up_to_the_end_of_a_much_lower_page_came_or_went(removed):
    pair = (HIGH, LOW) if removed else (LOW, HIGH)
    (one,) = cut_short([vague()], *pair)
    assert one.finding.kind == ("removed" if removed else "added")
    box = one.box_before if removed else one.box_after
    assert (one.box_after if removed else one.box_before) is None
    assert box[0] == 30 and box[3] > 270


@pytest.mark.parametrize(
    ("after", "one"),
    [
        (HIGH[:250], vague((30, 20, 170, 245))),
        (LOW, vague((30, 20, 170, 100))),
        (LOW, vague(aspect="picture")),
        (LOW[:, :190], vague()),
    ],
)
def test_it_stays_vague_otherwise(after, one):
    """The page is hardly lower, the change does not reach its end, or another picture is shown."""
    assert cut_short([one], HIGH, after) == [one]
