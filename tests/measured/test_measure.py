import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from PIL import Image
from support.drawn_page import page, with_box

from whatchanged.errors import ImageError, WhatchangedError
from whatchanged.measured import measure
from whatchanged.measured.pixels.planes import blurred
from whatchanged.measured.pixels.regions import Region
from whatchanged.measured.policy import Policy
from whatchanged.measured.rules.changes import tightened

pictures = arrays(
    np.uint8,
    st.tuples(st.integers(1, 24), st.integers(1, 24), st.just(3)),
    elements=st.sampled_from([0, 90, 255]),
)


@given(pictures)
@settings(max_examples=30, deadline=None)
def test_a_picture_is_identical_to_itself(pixels):
    answer = measure(pixels, pixels.copy())
    assert (answer.verdict, answer.no_change, answer.statements, answer.share) == ("identical", 1.0, (), 0.0)


@given(st.data())
@settings(max_examples=30, deadline=None)
def test_swapping_keeps_the_verdict_and_the_score(data):
    shape = data.draw(st.tuples(st.integers(1, 20), st.integers(1, 20), st.just(3)))
    one, other = (data.draw(arrays(np.uint8, shape)) for _ in range(2))
    forth, back = measure(one, other), measure(other, one)
    assert (forth.verdict, forth.score, forth.doubtful) == (back.verdict, back.score, back.doubtful)


@pytest.mark.parametrize("box", [(130, 30, 170, 60), (10, 95, 60, 115), (150, 2, 199, 14)])
def test_what_is_added_one_way_is_removed_the_other_way(box):
    before = page()
    after = with_box(before, box, (20, 110, 220))
    added, removed = measure(before, after).statements, measure(after, before).statements
    assert [(one.kind, one.box_before, one.box_after) for one in added] == [("added", None, box)]
    assert [(one.kind, one.box_before, one.box_after) for one in removed] == [("removed", box, None)]


@given(st.integers(2, 30), st.booleans())
@settings(max_examples=20, deadline=None)
def test_a_page_that_moved_is_told_with_its_distance(step, down):
    before = np.full((200, 260, 3), 255, np.uint8)
    after = before.copy()
    before[40:160, 30:230] = page()
    if down:
        after[40 + step : 160 + step, 30:230] = page()
    else:
        after[40:160, 30 - step : 230 - step] = page()
    statement = measure(before, after).statements[0]
    wanted = (0, step) if down else (-step, 0)
    assert (statement.kind, statement.values["dx"], statement.values["dy"]) == ("moved", *wanted)


def test_a_banner_that_pushes_the_rest_is_one_cause():
    before = np.full((260, 200, 3), 255, np.uint8)
    before[0:120] = page()
    after = np.full_like(before, 255)
    after[24:144] = page()
    after[2:22, 0:200] = (200, 60, 60)
    answer = measure(before, after)
    (statement,) = answer.statements
    assert (statement.kind, statement.values["rest"]) == ("added", [0, 24])


def test_a_fill_of_another_colour_is_recoloured_and_named():
    before = with_box(page(), (120, 80, 190, 110), (26, 115, 232))
    after = with_box(page(), (120, 80, 190, 110), (11, 128, 67))
    (statement,) = measure(before, after).statements
    assert (statement.kind, statement.box_after) == ("recolored", (120, 80, 190, 110))
    assert (statement.values["color_before"], statement.values["color_after"]) == ("#1a73e8", "#0b8043")
    assert "turned from blue to dark green" in statement.sentence
    assert "lower right" in statement.sentence


def test_one_grey_level_is_noise_and_strict_finds_it():
    before = page()
    after = before.copy()
    after[::3, ::2] -= 1
    assert measure(before, after).verdict == "noise"
    strict = measure(before, after, strict=True)
    assert strict.verdict == "changed"
    assert strict.share == pytest.approx(np.mean((before != after).any(axis=2)))


def test_strict_where_a_shift_explains_every_difference():
    before = np.full((120, 160, 3), 255, np.uint8)
    before[40:60, 30:90] = np.random.default_rng(0).integers(0, 2, (20, 60, 1), np.uint8) * 255
    measured = measure(before, np.roll(before, 10, axis=0), strict=True)
    assert measured.verdict == "changed" and measured.statements[0].kind == "moved"


def test_text_moved_by_a_fraction_of_a_pixel_is_noise():
    before = page()
    mixed = (
        before.astype(int) * 7 + np.roll(before, 1, axis=1).astype(int) * 3
    ) // 10  # as if 0.3 pixels further right
    assert measure(before, mixed.astype(np.uint8)).verdict == "noise"


def test_sensitivity_moves_the_threshold_in_proportion():
    before = page()
    after = with_box(before, (140, 40, 170, 70), (246, 246, 246))
    score = measure(before, after).score
    assert measure(before, after, sensitivity=1.01 / score).verdict == "changed"
    assert measure(before, after, sensitivity=0.99 / score).verdict == "noise"


def test_close_to_the_threshold_is_doubtful_and_counts_as_changed():
    before = page()
    after = with_box(before, (140, 40, 170, 70), (246, 246, 246))
    answer = measure(before, after, sensitivity=0.95 / measure(before, after).score)
    assert (answer.verdict, answer.doubtful, answer.changed) == ("noise", True, True)
    assert answer.sentence.startswith("Perhaps")


def test_ignored_boxes_do_not_count_and_idle_ones_are_named():
    before = page()
    after = with_box(before, (150, 80, 180, 110), (255, 0, 0))
    answer = measure(before, after, ignore=[(0, 0, 10, 10), (140, 70, 190, 120)])
    assert (answer.verdict, answer.idle) == ("noise", (0,))
    assert measure(before, after, ignore=[(0, 0, 10, 10)]).verdict == "changed"


def test_the_probability_falls_with_the_difference():
    before = page()
    answers = [
        measure(before, with_box(before, (140, 40, 170, 70), (255 - step,) * 3)) for step in (2, 6, 20, 120)
    ]
    falling = [answer.no_change for answer in answers]
    assert falling == sorted(falling, reverse=True)
    assert falling[0] > 0.9
    assert falling[-1] < 0.01


def test_json_has_the_documented_fields():
    statement = measure(page(), with_box(page(), (130, 30, 170, 60), (1, 2, 3))).statements[0]
    fields = ["kind", "box_before", "box_after", "sentence", "confidence", "values"]
    assert list(statement.as_json()) == fields


@pytest.mark.parametrize("side", [(1, 1), (1, 40), (40, 1), (7, 3)])
def test_tiny_pictures(side):
    before = np.zeros((*side, 3), np.uint8)
    assert measure(before, before.copy()).verdict == "identical"
    assert measure(before, before + 200).verdict == "changed"


def test_other_sizes_of_tiny_pictures():
    assert measure(np.zeros((1, 1, 3), np.uint8), np.zeros((3, 2, 3), np.uint8)).verdict == "changed"


def test_a_sensitivity_of_nothing_is_refused():
    with pytest.raises(WhatchangedError, match="sensitivity"):
        measure(page(), page(), sensitivity=0)


def test_a_missing_file_and_a_broken_one(tmp_path):
    path = tmp_path / "a.png"
    Image.fromarray(page()).save(path)
    with pytest.raises(ImageError, match="no such file"):
        measure(path, tmp_path / "b.png")
    broken = tmp_path / "c.png"
    broken.write_bytes(path.read_bytes()[:300])
    with pytest.raises(ImageError, match=r"c\.png"):
        measure(path, broken)
    with pytest.raises(ImageError):
        measure(broken, broken.rename(tmp_path / "d.png"))


def test_two_equal_files_that_are_no_pictures_are_refused(tmp_path):
    for name in ("a.png", "b.png"):
        (tmp_path / name).write_bytes(b"no picture at all")
    with pytest.raises(ImageError):
        measure(tmp_path / "a.png", tmp_path / "b.png")


def test_a_long_page_gives_the_same_strength_in_strips_as_at_once(monkeypatch):
    before = np.tile(page(), (12, 1, 1))
    after = with_box(before, (20, 700, 80, 730), (200, 0, 0))
    after = with_box(after, (20, 30, 60, 1400), (90, 90, 90))
    parts = measure(before, after)
    monkeypatch.setattr("whatchanged.measured.pixels.gate.STRIP", 4096)
    whole = measure(before, after)
    assert [one.box_after for one in parts.statements] == [one.box_after for one in whole.statements]


def test_blur_has_the_weights_of_a_binomial():
    plane = np.zeros((9, 9), np.int16)
    plane[4, 4] = 2560
    weights = np.outer([1, 4, 6, 4, 1], [1, 4, 6, 4, 1]) * 10
    assert np.abs(blurred(plane)[2:7, 2:7] - weights).max() <= 1


@pytest.mark.parametrize("alike", [True, False])
def test_alike_changes_are_one_statement_with_a_box_each(alike):
    boxes = [(10, 100, 30, 112), (150, 100, 170, 112)]
    colors = [(40, 160, 40), (40, 160, 40) if alike else (200, 160, 40)]
    before, after = page(), page()
    for box, color in zip(boxes, colors, strict=True):
        before, after = with_box(before, box, (200, 40, 40)), with_box(after, box, color)
    first, *further = measure(before, after).statements
    assert first.kind == "recolored" and ("color_before" in first.values)
    assert sorted(first.boxes) == (boxes if alike else [first.box_after])
    assert len(further) == (0 if alike else 1)  # they changed in two ways


@pytest.mark.parametrize("down", [False, True])
@pytest.mark.parametrize("grew", [True, False])
def test_a_bar_that_grew_is_told_with_its_boxes_before_and_after(grew, down):
    """Two fills of one bar: the first one reaches from 20 to 60, or to 80."""
    pictures = []
    for end in (60, 80):
        pixels = np.full((60, 140, 3), 255, np.uint8)
        pixels[20:30, 20:120] = (210, 210, 210)
        pixels[20:30, 20:end] = (30, 90, 200)
        pictures.append(pixels.swapaxes(0, 1) if down else pixels)
    boxes = [(20, 20, 60, 30), (20, 20, 80, 30)]
    if down:
        boxes = [(20, 20, 30, 60), (20, 20, 30, 80)]
    if not grew:
        pictures, boxes = pictures[::-1], boxes[::-1]
    first = measure(*pictures).statements[0]
    assert (first.kind, first.values["aspect"]) == ("resized", "length")
    assert first.values["dy" if down else "dx"] == (20 if grew else -20)
    assert [first.box_before, first.box_after] == boxes


def test_noise_beside_a_change_is_not_in_its_box():
    """Bars a pixel beside their place, the last one 15 pixels from a thing that went."""
    before = np.full((60, 140, 3), 255, np.uint8)
    after = before.copy()
    before[20:36, [20, 21, 28, 29, 36, 37]] = 0
    after[20:36, [21, 22, 29, 30, 37, 38]] = 0
    alone = tightened(before, after, Region((20, 20, 39, 36), 96, 1.0))
    before[20:36, 54:70] = 0
    both = tightened(before, after, Region((20, 20, 70, 36), 352, 1.0))
    assert both.box == (54, 20, 70, 36)
    assert alone.box == (20, 20, 39, 36)  # where all is explained, all stays


def test_no_pair_is_called_changed_and_the_same():
    """At any sensitivity, for differences of any strength."""
    for step in range(1, 60, 3):
        after = with_box(page(), (140, 40, 170, 70), (255 - step,) * 3)
        for sensitivity in (0.5, 1, 2, 8):
            answer = measure(page(), after, sensitivity=sensitivity)
            assert answer.changed != (answer.sentence == "Nothing visible changed.")


def test_a_policy_of_every_pixel_is_strict():
    after = page().copy()
    after[5, 5] ^= 1
    assert measure(page(), after).verdict == "noise"
    assert measure(page(), after, policy=Policy("mine", every_pixel=True)).verdict == "changed"
