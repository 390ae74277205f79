"""What is found of a pair once and shared: no more often, and nothing else, than by each alone."""

import numpy as np
import pytest
from support.drawn_page import page, with_box

from whatchanged.measured import compared as compared_room
from whatchanged.measured.compared import Compared
from whatchanged.measured.measure import measure, measure_read
from whatchanged.measured.pixels.reading import read_picture

BOX = (30, 40, 90, 70)
BEFORE = page(240, 160)
AFTER = with_box(BEFORE, BOX, (0, 90, 200))
PAIRS = {
    "one size": (BEFORE, AFTER),
    "two sizes": (BEFORE, np.concatenate([AFTER[:80], page(240, 20), AFTER[80:]])),
}


@pytest.fixture
def counts(monkeypatch):
    """How often each function is called that compares whole pictures."""
    results = {}

    def count(name):
        real = getattr(compared_room, name)
        results[name] = 0

        def counted(*args):
            results[name] += 1
            return real(*args)

        monkeypatch.setattr(compared_room, name, counted)

    for name in ("visible_by", "detect_changes", "compare_sizes"):
        count(name)
    return results


def measured(pair, compared):
    return measure_read((read_picture(pair[0]), read_picture(pair[1])), pair, compared)


@pytest.mark.parametrize(
    ("sizes", "wanted"),
    [
        ("one size", {"visible_by": 1, "detect_changes": 1, "compare_sizes": 0}),
        ("two sizes", {"visible_by": 0, "detect_changes": 0, "compare_sizes": 1}),
    ],
)
def test_a_pair_is_compared_once_however_often_it_is_asked_for(counts, sizes, wanted):
    pair = PAIRS[sizes]
    compared = Compared(*pair)
    assert not any(counts.values())  # nothing before it is asked for
    measured(pair, compared)
    measured(pair, compared)
    assert counts == wanted


@pytest.mark.parametrize("sizes", sorted(PAIRS))
def test_what_was_found_before_changes_nothing(sizes):
    pair = PAIRS[sizes]
    shared = Compared(*pair)
    assert measured(pair, shared) == measured(pair, shared) == measure(*pair)


def test_each_threshold_has_what_is_found_by_it(counts):
    compared = Compared(*PAIRS["one size"])
    assert compared.changes(1.0) is compared.changes(1.0)
    assert compared.changes(1e9) == ()
    assert counts == {"visible_by": 1, "detect_changes": 2, "compare_sizes": 0}


def test_what_is_ignored_is_shown_as_it_was_before():
    compared = Compared(BEFORE, AFTER, [BOX, (100, 100, 120, 120)])
    np.testing.assert_array_equal(compared.after, BEFORE)
    assert compared.unused == (1,)
    assert (AFTER != BEFORE).any()  # the picture that was given stays as it is
    assert not compared.seen.differs.any()
