"""The alterations of pages by eleven causes, and how their groups are counted."""

import re

import numpy as np
import pytest
from support.compared_screens import RED, screen, with_square
from support.drawn_page import page

from whatchanged.answers.by_measurement import of_measured
from whatchanged.compare.pairs import PairToCompare
from whatchanged.compare.run import Outcome
from whatchanged.measured import measure

SCRIPT = "screens.eleven_causes"


def test_each_cause_alters_the_page_and_nothing_but_what_it_names(bench):
    assert len(bench.CAUSES) == 11
    made = set()
    for cause, alter in bench.CAUSES.items():
        before = bench.random_page(np.random.default_rng(3))
        after = alter(before, np.random.default_rng(4))
        changed = [name for name in vars(before) if getattr(before, name) != getattr(after, name)]
        assert len(changed) == 1, cause
        made.add(bench.document(after))
    assert len(made) == 11


@pytest.mark.parametrize(("cause", "more"), [("row removed", -1), ("row added", 1), ("columns exchanged", 0)])
def test_rows_and_columns(bench, cause, more):
    before = bench.random_page(np.random.default_rng(3))
    after = bench.CAUSES[cause](before, np.random.default_rng(4))
    assert len(after.rows) - len(before.rows) == more
    assert len(re.findall("<tr>", bench.document(after))) == len(after.rows)


def outcome(name, before, after):
    return Outcome(PairToCompare(name, None, None), of_measured(measure(before, after)))


def test_groups_are_counted_by_cause(bench):
    squares = [outcome(f"{n}.png", screen(n), with_square(screen(n), RED)) for n in range(3)]
    longer = [outcome(f"l{n}.png", page(200, 120), page(200, 160)) for n in range(2)]
    first, second, together = bench.rows_of(["square"] * 3 + ["longer"] * 2, [*squares, *longer])
    assert first["in the largest"] == 3 and second["in the largest"] == 2
    assert together["groups"] == 2 and together["ARI"] == 1 and together["elsewhere unmarked"] == 0
    mixed = bench.rows_of(["square", "square", "other", "longer", "longer"], [*squares, *longer])
    assert mixed[-1]["elsewhere unmarked"] == 1 and mixed[-1]["ARI"] < 1
