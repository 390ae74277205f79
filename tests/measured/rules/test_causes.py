"""One cause is told once, with what followed from it."""

import numpy as np
import pytest
from support.drawn_page import page, with_box

from whatchanged.measured import measure
from whatchanged.measured.rules.causes import pushed, ranked, with_rest, without_chance_likeness
from whatchanged.measured.rules.detected import DetectedChange
from whatchanged.measured.rules.kinds import Finding

BANNER = (200, 60, 60)
BOX = (0, 50, 100, 90)


def with_room(top: int, height: int = 260) -> np.ndarray:
    """The page's rows so far down in a higher picture."""
    pixels = np.full((height, 200, 3), 255, np.uint8)
    pixels[top : top + 120] = page()
    return pixels


@pytest.mark.parametrize("removed", [False, True])
def test_a_banner_is_told_with_how_far_the_rest_went(removed: bool) -> None:
    pair = with_room(0), with_box(with_room(30), (10, 4, 190, 26), BANNER)
    before, after = pair[::-1] if removed else pair
    (statement,) = measure(before, after).statements
    assert statement.kind == ("removed" if removed else "added")
    assert statement.values["rest"] == [0, -30 if removed else 30]


def test_that_the_picture_grew_with_it_is_no_statement_of_its_own() -> None:
    (statement,) = measure(with_room(0), with_box(with_room(30, 290), (10, 4, 190, 26), BANNER)).statements
    assert (statement.kind, statement.values["rest"]) == ("added", [0, 30])


def test_a_picture_that_grew_beside_another_change_is_told_after_it() -> None:
    before = with_room(0)
    after = with_box(
        np.pad(before, ((0, 40), (0, 0), (0, 0)), constant_values=255), (40, 150, 90, 180), BANNER
    )
    first, second = measure(before, after).statements
    assert (first.kind, second.values["aspect"]) == ("added", "canvas")


@pytest.mark.parametrize("across", [True, False])
def test_the_end_of_a_thing_that_moved_is_a_thing_that_grew(across: bool) -> None:
    """A chip with a cross at its right end: its middle is flat, so what differs lies at the end."""
    pictures = []
    for end in (150, 162):
        pixels = np.full((60, 220, 3), 255, np.uint8)
        pixels[18:42, 20:end] = (80, 180, 140)
        for k in range(8):
            pixels[26 + k, [end - 16 + k, end - 9 - k]] = 255
        pictures.append(pixels if across else pixels.swapaxes(0, 1).copy())
    first = measure(*pictures).statements[0]
    name, axis = ("dx", 0) if across else ("dy", 1)
    assert (first.kind, first.values["aspect"], first.values[name]) == ("resized", "length", 12)
    assert abs(first.box_before[axis + 2] - 150) <= 2 and abs(first.box_after[axis + 2] - 162) <= 2


def test_a_taller_field_pushes_what_is_below_it() -> None:
    pictures = []
    for more in (0, 8):
        pixels = np.full((160, 200, 3), 255, np.uint8)
        pixels[20 : 60 + more, 20:180] = 90
        pixels[22 : 58 + more, 22:178] = 255
        pixels[80 + more : 92 + more, 20:120] = (30, 90, 200)
        pictures.append(pixels)
    first = measure(*pictures).statements[0]
    assert (first.kind, first.values["dy"], first.values["rest"]) == ("resized", 8, [0, 8])
    assert np.abs(np.subtract(first.box_before, (20, 20, 180, 60))).max() <= 2
    assert np.abs(np.subtract(first.box_after, (20, 20, 180, 68))).max() <= 2


def test_a_line_below_pushes_nothing_across() -> None:
    """It came where a title went far to the left and a little upwards."""
    before, after = with_room(40), with_room(40)
    before[14:26, 60:110], after[12:24, 30:80] = 90, 90
    after[34:38] = 200
    told = measure(before, after).statements
    assert {one.kind for one in told} == {"added", "moved"}
    assert all("rest" not in one.values for one in told)


def between(kind: str, aspect: str, top: int) -> DetectedChange:
    box = (0, top, 100, top + 10)
    was, now = (None, box) if kind == "added" else (box, None)
    return DetectedChange(Finding(kind, aspect, 0.7), was, now, 1000)


def test_what_came_and_went_in_turns_looks_different() -> None:
    changes = [
        *(between("added", "pushed in", 40 * k) for k in range(3)),
        *(between("removed", "closed up", 40 * k + 20) for k in range(3)),
        DetectedChange(Finding("moved", "position", 0.7, {"dx": 0, "dy": 9}), BOX, BOX, 900, cause=False),
        DetectedChange(Finding("recolored", "fill", 0.7), (300, 0, 340, 40), (300, 0, 340, 40), 1600),
    ]
    found = without_chance_likeness(changes)
    assert [(one.finding.kind, one.finding.aspect) for one in found] == [
        ("replaced", "part"),
        ("recolored", "fill"),
    ]
    assert (found[0].box_before, found[0].box_after) == ((0, 20, 100, 110), (0, 0, 100, 90))


@pytest.mark.parametrize("count", [(4, 0), (2, 2)])
def test_a_few_things_that_came_or_went_are_told_as_such(count: tuple[int, int]) -> None:
    changes = [
        *(between("added", "pushed in", 40 * k) for k in range(count[0])),
        *(between("removed", "closed up", 40 * k + 20) for k in range(count[1])),
    ]
    assert without_chance_likeness(changes) == changes


@pytest.mark.parametrize(("pixels", "first"), [(150, "added"), (250, "replaced")])
def test_what_only_looks_different_counts_for_half_of_its_size(pixels: int, first: str) -> None:
    vague = DetectedChange(Finding("replaced", "part", 0.3), BOX, BOX, pixels)
    exact = DetectedChange(Finding("added", "thing", 0.6), None, (120, 0, 130, 10), 100)
    assert ranked([vague, exact])[0].finding.kind == first


@pytest.mark.parametrize(
    ("moved", "follows"),
    [((120, 96, 300, 112), True), ((0, 96, 60, 112), True), ((20, 20, 300, 260), False)],
)
def test_a_rewritten_text_pushes_what_is_on_one_side_of_it(
    moved: tuple[int, int, int, int], follows: bool
) -> None:
    """What moved around a text, such as the menu in which it stands, was not pushed by it."""
    there = (moved[0] + 3, moved[1], moved[2] + 3, moved[3])
    part = DetectedChange(Finding("moved", "position", 0.7, {"dx": 3, "dy": 0}), moved, there, 4000)
    text = (70, 60, 118, 76)
    written = DetectedChange(Finding("rewritten", "text", 0.5), text, text, 200)
    (told,) = (one for one in pushed([part, written]) if one.finding.kind == "moved")
    assert told.cause is not follows


@pytest.mark.parametrize(("step", "told"), [(5, True), (-5, True), (8, False)])
def test_the_rest_is_told_where_it_moved_as_far_as_the_cause_grew(step: int, told: bool) -> None:
    grown = DetectedChange(
        Finding("resized", "length", 0.5, {"dy": 5, "grew": True}), (10, 40, 90, 60), (10, 40, 90, 65), 400
    )
    below, there = (10, 70, 90, 90), (10, 70 + step, 90, 90 + step)
    rest = DetectedChange(Finding("moved", "position", 0.7, {"dy": step}), below, there, 900, cause=False)
    (first,) = with_rest([grown, rest], [grown, rest])
    assert first.finding.values.get("rest") == ([0, step] if told else None)


@pytest.mark.parametrize(("step", "first"), [(30, "added"), (-30, "removed")])
def test_what_was_covered_by_something_pushed_is_not_the_cause(step: int, first: str) -> None:
    """The larger one came or went at the other end of what moved."""
    shown, there = (0, 60, 100, 160), (0, 60 + step, 100, 160 + step)
    rest = DetectedChange(Finding("moved", "position", 0.7, {"dy": step}), shown, there, 9000, cause=False)
    small, large = (0, 60, 100, 90), (0, 160, 100, 230)
    if first == "removed":
        small, large = (0, 30, 100, 60), (0, 130, 100, 200)
    aspects = {"added": "pushed in", "removed": "closed up"}
    other = "removed" if first == "added" else "added"
    parts = [
        DetectedChange(
            Finding(kind, aspects[kind], 0.7),
            None if kind == "added" else box,
            None if kind == "removed" else box,
            100 * (box[3] - box[1]),
        )
        for kind, box in ((other, large), (first, small))
    ]
    told = with_rest(ranked([*parts, rest]), [*parts, rest])
    assert [one.finding.kind for one in told] == [first, other]
    assert told[0].finding.values["rest"] == [0, step]
    alone = with_rest([parts[0], rest], [parts[0], rest])  # Nothing explains it better.
    assert (alone[0].finding.kind, alone[0].finding.values["rest"]) == (other, [0, step])


@pytest.mark.parametrize(("pixels", "first"), [(300, "added"), (200, "moved")])
def test_what_appeared_is_told_before_what_moved_unless_it_is_much_smaller(pixels: int, first: str) -> None:
    moved = DetectedChange(Finding("moved", "position", 0.7, {"dx": 9}), BOX, BOX, 1000)
    came = DetectedChange(Finding("added", "thing", 0.6), None, (120, 0, 130, 10), pixels)
    assert ranked([moved, came])[0].finding.kind == first


@pytest.mark.parametrize(("kind", "told"), [("added", True), ("restyled", False)])
def test_only_what_came_or_went_may_push_from_afar(kind: str, told: bool) -> None:
    there = (0, 300, 100, 310)
    cause = DetectedChange(Finding(kind, "thing", 0.7), None if kind == "added" else there, there, 1000)
    below = (200, 40, 300, 50), (200, 49, 300, 59)
    rest = DetectedChange(Finding("moved", "position", 0.7, {"dy": 9}), *below, 900, cause=False)
    (first,) = with_rest([cause, rest], [cause, rest])
    assert ("rest" in first.finding.values) is told
