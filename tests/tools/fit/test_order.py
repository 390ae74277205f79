"""The order in which places are taken: what was found least often before counts first."""

from fit.order import best_order, finds

from whatchanged.regions.proposals import Proposal


def test_each_next_one_finds_most_of_what_was_found_least_often():
    found = {
        ("rule", 0): {"a", "b", "c"},
        ("rule", 1): {"a", "b"},
        ("word", 0): {"d"},
        ("line", 0): {"d", "a"},
        ("none", 0): set(),
    }
    # a, b, c first; then d, with a once more; then what finds two of those found once
    assert best_order(found, 9) == [("rule", 0), ("line", 0), ("rule", 1), ("word", 0)]
    assert best_order(found, 1) == [("rule", 0)]


def test_a_place_finds_a_change_in_each_picture_that_shows_it():
    box, beside = (0, 0, 10, 10), (20, 0, 30, 10)
    place = Proposal(box, beside, None, "", 0.0, 1, 1.0)
    assert finds(place, (box, beside))
    assert finds(place, (None, beside))
    assert not finds(place, (box, box))
