import pytest
from hypothesis import given
from hypothesis import strategies as st

from whatchanged.compare.subtract import beyond_shared, without_shared
from whatchanged.measured import Measured, Statement


def statement(kind="recolored", aspect="fill", box=(10, 10, 50, 30), boxes=None, **values):
    return Statement(kind, box, box, "x", 0.9, 0.1, {"aspect": aspect, **values}, boxes or (box,))


def answer(*statements, score=9.0):
    return Measured("changed", False, 0.0, score, 0.1, tuple(statements), "x", (), (200, 100), (200, 100))


BLUE = {"color_before": "#0000ff", "color_after": "#ff0000"}
GREEN = {"color_before": "#0000ff", "color_after": "#00ff00"}


def names(answers):
    """Members that show something beyond, with how much."""
    return {member: len(statements) for member, statements in enumerate(beyond_shared(answers)) if statements}


def test_another_kind_and_another_colour_stand_out():
    shared = [answer(statement(**BLUE)) for _ in range(4)]
    other = statement("added", "fill")
    assert names([*shared, answer(statement(**BLUE), other)]) == {4: 1}
    assert beyond_shared([*shared, answer(statement(**BLUE), other)])[4] == (other,)
    assert names([*shared, answer(statement(**GREEN))]) == {4: 1}
    nearly = {"color_before": "#0a0af5", "color_after": "#f5100a"}
    assert names([*shared, answer(statement(**nearly))]) == {}


@pytest.mark.parametrize(("kind", "stands_out"), [("added", True), ("resized", True), ("rewritten", False)])
def test_size_counts_for_kinds_of_one_size(kind, stands_out):
    shared = [answer(statement(kind, box=(0, 0, 40, 20))) for _ in range(4)]
    assert names([*shared, answer(statement(kind, box=(60, 60, 150, 80)))]) == ({4: 1} if stands_out else {})


def test_movement_of_other_length_stands_out():
    shared = [answer(statement("moved", "order", dx=0, dy=24)) for _ in range(4)]
    assert names([*shared, answer(statement("moved", "order", dx=0, dy=25))]) == {}
    assert names([*shared, answer(statement("moved", "order", dx=0, dy=-24))]) == {4: 1}


def test_one_place_more_than_usual_stands_out_by_its_place():
    shared = [answer(statement("added", box=(100, 80, 120, 100))) for _ in range(5)]
    usual, more = statement("added", box=(101, 80, 121, 100)), statement("added", box=(0, 0, 20, 20))
    assert beyond_shared([*shared, answer(more, usual)])[5] == (more,)
    merged = statement("added", box=(100, 80, 120, 100), boxes=((100, 80, 120, 100), (0, 0, 20, 20)))
    assert names([*shared, answer(merged)]) == {5: 1}


def test_among_hardly_visible_differences_strength_alone_stands_out():
    weak = [
        answer(statement("restyled", aspect), score=2.0) for aspect in ("shape", "weight", "face", "shape")
    ]
    assert names(weak) == {}
    strong = answer(statement("restyled", "shape"), score=40.0)
    assert names([*weak, strong]) == {4: 1}
    named = answer(statement("restyled", "shape"), statement("added"), score=40.0)
    assert beyond_shared([*weak, named])[4] == (named.statements[1],)


def test_what_was_of_several_colours_and_has_one_now_is_shared():
    before = ("#ff0000", "#00ff00", "#0000ff", "#888800", "#123456")
    answers = [answer(statement(color_before=code, color_after="#000000")) for code in before]
    assert names(answers) == {}
    answers.append(answer(statement(color_before="#ff0000", color_after="#ffffff")))
    assert names(answers) == {5: 1}


def test_where_most_would_stand_out_nobody_does():
    kinds = ("added", "removed", "moved", "resized", "recolored")
    assert names([answer(statement(kind)) for kind in kinds]) == {}


def test_where_no_number_is_usual_more_places_are_nothing_special():
    answers = [
        answer(*[statement("rewritten", box=(0, 9 * n, 20, 9 * n + 5)) for n in range(k)])
        for k in range(1, 8)
    ]
    assert names(answers) == {}


def test_two_members_share_all_they_have():
    assert beyond_shared([answer(statement()), answer(statement("added"))]) == [(), ()]
    assert beyond_shared([]) == []


def test_a_large_group_finds_its_odd_one_whatever_the_panel(monkeypatch):
    monkeypatch.setattr("whatchanged.compare.subtract.PANEL", 10)
    answers = [answer(statement(**BLUE)) for _ in range(300)]
    answers[123] = answer(statement(**BLUE), statement("removed"))
    answers[200] = answer(statement("removed"), statement(**BLUE))
    assert names(answers) == {123: 1, 200: 1}


@given(st.lists(st.sampled_from([BLUE, GREEN]), min_size=3, max_size=12), st.randoms())
def test_the_order_of_the_members_does_not_matter(colours, random):
    answers = [answer(statement(**color)) for color in colours]
    shuffled = list(range(len(answers)))
    random.shuffle(shuffled)
    statements = beyond_shared([answers[place] for place in shuffled])
    straight = beyond_shared(answers)
    assert [len(statements[index]) for index, _ in enumerate(shuffled)] == [
        len(straight[p]) for p in shuffled
    ]


def test_what_most_of_others_show_alike_is_left_out():
    banner = statement("added", "thing", (0, 0, 200, 20))
    wider = statement("added", "thing", (0, 0, 60, 60))
    fill = statement(**BLUE)
    others = [answer(banner)] * 3 + [answer(statement(**GREEN))] * 2
    assert without_shared([banner, fill], others) == (fill,)
    assert without_shared([wider, fill], others) == (wider, fill)
    assert without_shared([banner], others) == (banner,)
    unsure = [answer(statement("added", "thing", (0, 0, 9, 9)), score=1.2)] * 3
    assert without_shared([banner, fill], unsure) == (fill,)
