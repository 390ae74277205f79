from dataclasses import replace

import pytest
from support.compared_screens import BLUE, GREEN, RED, screen, with_square
from support.drawn_page import page

from whatchanged.answers.by_measurement import of_measured
from whatchanged.compare import groups as room
from whatchanged.compare.grouping import AlikePairs
from whatchanged.compare.groups import group_outcomes
from whatchanged.compare.pairs import PairToCompare
from whatchanged.compare.run import Outcome
from whatchanged.measured import measure


def outcome(name, before, after):
    return Outcome(PairToCompare(name, None, None), of_measured(measure(before, after)))


@pytest.fixture(scope="module")
def outcomes():
    """Seven with a red square at the lower right, two that became longer, one that is the same."""
    squares = [outcome(f"s{n}.png", screen(n), with_square(screen(n), RED)) for n in range(7)]
    longer = [outcome(f"l{n}.png", page(200, 120), page(200, 160)) for n in range(2)]
    return [*squares, *longer, outcome("same.png", screen(1), screen(1))]


def names(outcomes, group):
    return [outcomes[place].pair.pair_id for place in group.members]


def test_the_cause_of_most_comes_after_the_others(outcomes):
    first, second = group_outcomes(outcomes)
    assert names(outcomes, first) == ["l0.png", "l1.png"] and first.number == 1
    assert sorted(names(outcomes, second)) == [f"s{n}.png" for n in range(7)] and second.number == 2
    assert second.changed == 7 and room.is_dominant(second, [first, second])


def test_without_a_cause_of_most_the_largest_group_comes_first(outcomes):
    few = outcomes[3:]
    first, second = group_outcomes(few)
    assert (len(first.members), len(second.members)) == (4, 2)
    assert not room.is_dominant(first, [first, second])


def test_of_many_the_rest_joins_the_groups_of_some(outcomes, monkeypatch):
    at_once = group_outcomes(outcomes)
    monkeypatch.setattr(room, "AT_ONCE", 3)
    by_parts = group_outcomes(outcomes)
    assert {frozenset(group.members) for group in by_parts} == {frozenset(group.members) for group in at_once}


def test_a_group_names_things_as_all_of_its_members_do(outcomes):
    def named(outcome, sentence):
        changes = tuple(replace(one, values={**one.values, "words": "x"}) for one in outcome.answer.changes)
        return replace(outcome, answer=replace(outcome.answer, sentence=sentence, changes=changes))

    alike = [named(one, 'The area with "Save" was added.') for one in outcomes[:3]]
    (group,) = group_outcomes(alike)
    assert group.sentence == 'The area with "Save" was added.'
    other = [*alike[:2], named(outcomes[2], 'The area with "Open" was added.')]
    (group,) = group_outcomes(other)
    assert '"' not in group.sentence and group.sentence == outcomes[0].answer.measured.sentence
    by_model = [replace(one, answer=replace(one.answer, answer="model")) for one in other]
    (group,) = group_outcomes(by_model)
    assert '"' not in group.sentence


def test_nothing_to_group():
    assert group_outcomes([]) == ()
    unchanged = outcome("a.png", screen(1), screen(1))
    assert group_outcomes([unchanged, replace(unchanged, answer=None, error="no")]) == ()


def test_the_same_groups_again_and_in_any_order_of_the_same_names(outcomes):
    other = [outcome("g.png", screen(3), with_square(screen(3), GREEN, left=100, top=2)), *outcomes]
    other += [outcome("b.png", screen(5), with_square(screen(5), BLUE, left=100, top=2))]
    assert group_outcomes(other) == group_outcomes(other)
    turned = other[::-1]
    told = [{other[index].pair.pair_id for index in group.members} for group in group_outcomes(other)]
    again = [{turned[index].pair.pair_id for index in group.members} for group in group_outcomes(turned)]
    assert sorted(map(sorted, told)) == sorted(map(sorted, again))


def test_the_cause_of_most_is_left_out_of_the_sentences_of_others(outcomes, monkeypatch):
    def changed(number):
        pixels = with_square(screen(number), RED)
        dark = screen(number)[20:29, 12:60].sum(axis=2) < 300
        pixels[20:29, 12:60][dark] = (20, 120, 250)
        return outcome(f"b{number}.png", screen(number), pixels)

    both = [changed(7), changed(8)]
    kinds = {one.kind for one in both[0].answer.measured.statements}
    assert len(kinds) == 2 and "added" in kinds
    told = [
        AlikePairs(tuple(range(7)), (), outcomes[0].answer.sentence),
        AlikePairs((7, 8), (), both[0].answer.sentence),
    ]
    monkeypatch.setattr(room, "find_groups", lambda *_: told)
    first, most = group_outcomes([*outcomes[:7], *both])
    assert "added" in both[0].answer.sentence and "added" in most.sentence
    assert "added" not in first.sentence
