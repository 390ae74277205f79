from dataclasses import replace

import numpy as np
import pytest

from whatchanged.answers.by_regions import of_statements
from whatchanged.measured import measure
from whatchanged.regions.runtime import RegionDescription

GREY = np.full((320, 480, 3), 120, np.uint8)
BLACK = GREY.copy()
BLACK[160:320, 240:480] = 0


@pytest.mark.parametrize(
    ("told", "measured", "verdict", "doubtful"),
    [
        (False, 0.09, "changed", True),  # the measurement is sure
        (False, 0.11, "noise", True),  # it is not, and says so
        (False, 0.6, "noise", False),
        (True, 0.11, "changed", False),
        (True, 0.6, "changed", True),
    ],
)
def test_a_model_and_the_measurement_together(told, measured, verdict, doubtful):
    pictures = measure(GREY, BLACK)
    said = replace(pictures, no_change=measured, verdict="changed" if measured < 0.5 else "noise")
    answer = of_statements("tiny", RegionDescription(pictures.statements, 0.5, told), said, unfamiliar=False)
    assert (answer.verdict, answer.doubtful) == (verdict, doubtful)
    assert answer.sentence.startswith("Perhaps") is (verdict == "noise" and doubtful)
    assert bool(answer.changes) is (verdict == "changed" or doubtful)


@pytest.mark.parametrize("changed", [False, True])
def test_a_model_without_words_says_that_nothing_is_visible(changed):
    measured = measure(GREY, BLACK)
    answer = of_statements(
        "tiny", RegionDescription((), 0.2, changed), measured, unfamiliar=None, sources=(GREY, BLACK)
    )
    assert (answer.sentence, answer.changes) == ("Nothing visible changed.", ())
    assert answer.changed and answer.sources == (GREY, BLACK)
