"""The rule for who is believed, case by case."""

from dataclasses import replace

import numpy as np
import pytest

from whatchanged.answers.verdict import Ruling, verdict_of
from whatchanged.measured import measure

GREY = np.full((32, 32, 3), 120, np.uint8)


def measured(verdict, no_change=0.5, doubtful=False):
    return replace(measure(GREY, GREY), verdict=verdict, no_change=no_change, doubtful=doubtful)


IDENTICAL, NOISE = measured("identical", 1.0), measured("noise", 0.9)
DOUBTFUL = measured("noise", 0.6, doubtful=True)
CHANGE, SURE = measured("changed", 0.11), measured("changed", 0.01)

WRITTEN = [
    # says changed, is doubtful, named; measured; stands, verdict, doubtful
    (True, False, False, None, True, "changed", False),
    (True, True, False, None, True, "changed", True),
    (False, False, False, None, True, "unchanged", False),
    (False, True, True, None, True, "unchanged", True),
    (False, False, False, IDENTICAL, True, "identical", False),
    (False, False, False, NOISE, True, "noise", False),
    (False, True, False, NOISE, True, "noise", False),
    (False, False, False, DOUBTFUL, False, "noise", True),
    (False, False, False, CHANGE, False, "changed", True),
    (False, False, False, SURE, False, "changed", True),
    (False, False, True, CHANGE, True, "changed", True),
    (False, False, True, DOUBTFUL, True, "noise", True),
    (False, False, True, NOISE, True, "noise", False),
    (True, False, True, IDENTICAL, True, "identical", False),
    (True, True, True, NOISE, True, "noise", False),
    (True, False, True, CHANGE, True, "changed", False),
]


@pytest.mark.parametrize(("changed", "doubts", "named", "found", "stands", "verdict", "doubtful"), WRITTEN)
def test_a_model_that_writes(changed, doubts, named, found, stands, verdict, doubtful):
    assert verdict_of(changed, doubts, named, found) == Ruling(stands, verdict, doubtful)


@pytest.mark.parametrize("found", [CHANGE, SURE])
@pytest.mark.parametrize("named", [False, True])
def test_what_can_be_seen_is_never_passed_over(found, named):
    """Whoever denies it: the answer counts as changed, or is the measured one, which does."""
    ruling = verdict_of(False, False, named, found)
    assert ruling.doubtful or ruling.verdict == "changed" or not ruling.stands
