import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageDraw
from support.drawn_page import page, with_box

from whatchanged.measured import measure


def picture():
    """Something in each corner, nothing alike."""
    return with_box(
        with_box(page(240, 160), (200, 10, 230, 20), (200, 0, 0)), (30, 100, 60, 150), (0, 90, 200)
    )


@pytest.mark.parametrize(
    ("turn", "words"),
    [
        (lambda p: np.rot90(p, -1), "turned by 90 degrees clockwise"),
        (lambda p: np.rot90(p), "turned by 90 degrees counterclockwise"),
        (lambda p: np.rot90(p, 2), "turned upside down"),
        (lambda p: p[:, ::-1], "mirrored left to right"),
        (lambda p: p[::-1], "mirrored top to bottom"),
    ],
)
def test_turns(turn, words):
    answer = measure(picture(), turn(picture()).copy())
    assert (answer.verdict, words in answer.sentence) == ("changed", True)


@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 8), st.integers(1, 8))
@settings(max_examples=25, deadline=None)
def test_a_crop_is_told_with_its_margins(top, left, bottom, right):
    whole = np.pad(picture(), ((35, 35), (35, 35), (0, 0)), constant_values=255)
    height, width = whole.shape[:2]
    part = whole[top : height - bottom, left : width - right].copy()
    answer = measure(whole, part)
    margins = {"top": top, "bottom": bottom, "left": left, "right": right}
    told = [f"{size} pixel{'s' * (size > 1)} at the {name}" for name, size in margins.items() if size]
    assert answer.verdict == "changed"
    if "cropped" in answer.sentence:  # margins of blank ground fit anywhere: their sum is what can be known
        amounts = [int(word) for word in answer.sentence.split(":")[1].split() if word.isdigit()]
        assert sum(amounts) == sum(margins.values())
    elif "empty space" in answer.sentence:
        assert f"{sum(margins.values())} pixel" in answer.sentence
    else:
        assert "size changed" in answer.sentence or "The picture became" in answer.sentence, told


def test_a_crop_of_nearly_the_same_shape_is_not_called_scaled():
    whole = np.pad(picture(), ((35, 35), (35, 35), (0, 0)), constant_values=255)
    answer = measure(whole, whole[4:-8, 3:-8].copy())
    assert "scaled" not in answer.sentence and answer.verdict == "changed"
    scaled = np.asarray(Image.fromarray(whole).resize((299, 218), Image.Resampling.LANCZOS))
    assert "was scaled from 310 x 230 to 299 x 218 pixels" in measure(whole, scaled).sentence


def test_a_crop_through_content_is_found_exactly():
    rng = np.random.default_rng(0)
    whole = rng.integers(0, 255, (90, 120, 3)).astype(np.uint8)
    answer = measure(whole, whole[7:80, 11:].copy())
    assert "cropped from 120 x 90 to 109 x 73" in answer.sentence
    assert "7 pixels at the top, 10 pixels at the bottom, 11 pixels at the left" in answer.sentence


def test_a_picture_at_another_scale():
    larger = np.asarray(Image.fromarray(picture()).resize((480, 320), Image.Resampling.BICUBIC))
    assert "scaled from 240 x 160 to 480 x 320" in measure(picture(), larger).sentence


def mark(size):
    """A round mark with a thin line through it, as it is drawn at a size."""
    drawn = Image.new("RGB", (960, 960), "white")
    canvas = ImageDraw.Draw(drawn)
    canvas.ellipse((10, 10, 950, 950), "black")
    canvas.ellipse((260, 200, 700, 640), "white")
    canvas.line((300, 800, 660, 800), "white", 60 if size > 60 else 110)
    return np.asarray(drawn.resize((size, size), Image.Resampling.LANCZOS))


def test_a_mark_that_is_drawn_anew_at_a_much_smaller_size_was_scaled():
    assert measure(mark(120), mark(32)).sentence == "The picture was scaled from 120 x 120 to 32 x 32 pixels."


def test_a_page_of_twice_the_size_with_other_contents_was_not_scaled():
    other = with_box(page(480, 320), (20, 30, 380, 90), (0, 90, 200))
    assert "scaled" not in measure(picture(), other).sentence


def test_lines_inserted_in_the_middle_are_added_and_push():
    before = picture()
    band = np.full((24, 240, 3), 255, np.uint8)
    band[4:20, 20:120] = (250, 180, 0)
    after = np.concatenate([before[:64], band, before[64:]])
    answer = measure(before, after)
    first = answer.statements[0]
    assert first.kind == "added"
    assert np.abs(np.subtract(first.box_after, (20, 68, 120, 84))).max() <= 1
    assert first.values["rest"] == [0, 24]
    assert len(answer.statements) == 1  # that the picture grew follows
    assert (answer.size_before, answer.size_after) == ((240, 160), (240, 184))


@pytest.mark.parametrize("across", [False, True])
def test_a_thing_that_was_exchanged_in_its_row_and_pushed_the_rest_is_told_alone(across):
    """Of two things in one row one became another, 6 pixels higher, and the picture with it."""
    pictures = []
    for height, color in ((12, (120, 60, 160)), (18, (0, 120, 90))):
        band = np.full((height + 8, 240, 3), 255, np.uint8)
        band[4:16, 180:220] = (250, 180, 0)
        band[4 : 4 + height, 20:60] = color
        whole = np.concatenate([picture()[:64], band, picture()[64:]])
        pictures.append(whole.swapaxes(0, 1).copy() if across else whole)
    answer = measure(*pictures)
    box = (68, 20, 86, 60) if across else (20, 68, 60, 86)
    assert np.abs(np.subtract(answer.statements[0].box_after, box)).max() <= 1
    assert answer.statements[0].values["rest"] == ([6, 0] if across else [0, 6])


def test_unlike_pictures_of_two_sizes():
    rng = np.random.default_rng(1)
    other = rng.integers(0, 255, (90, 77, 3)).astype(np.uint8)
    replaced, size = measure(picture(), other).statements
    assert (replaced.kind, replaced.box_before, replaced.box_after) == (
        "replaced",
        (0, 0, 240, 160),
        (0, 0, 77, 90),
    )
    assert size.sentence == "The picture's size changed from 240 x 160 to 77 x 90 pixels."


def test_what_lies_in_an_ignored_box_does_not_count_where_sizes_differ():
    before = picture()
    after = with_box(
        np.pad(before, ((0, 20), (0, 0), (0, 0)), constant_values=255), (100, 120, 130, 140), (0, 160, 0)
    )
    clock, empty = (98, 118, 132, 142), (150, 130, 170, 150)
    assert measure(before, after).statements[0].box_after == (100, 120, 130, 140)
    answer = measure(before, after, ignore=[clock, empty])
    assert answer.verdict == "changed" and answer.idle == (1,)
    assert [one.kind for one in answer.statements] == ["resized"]


def test_a_banner_in_an_ignored_box_is_not_told_but_the_size_is():
    before = picture()
    after = np.pad(before, ((24, 0), (0, 0), (0, 0)), constant_values=60)
    box = (0, 0, 240, 24)
    assert "added" in {one.kind for one in measure(before, after).statements}
    kinds = [one.kind for one in measure(before, after, ignore=[box]).statements]
    assert "added" not in kinds and "resized" in kinds


def test_ignored_boxes_do_not_apply_to_a_turned_picture():
    whole = (0, 0, 240, 160)
    answer = measure(picture(), np.rot90(picture()).copy(), ignore=[whole])
    assert (answer.verdict, answer.idle) == ("changed", ())


def test_a_thing_that_moved_in_a_picture_of_another_size_is_found_across_and_down():
    pictures = []
    for left, top, height in ((0, 0, 160), (20, 20, 180)):
        pixels = np.full((height, 240, 3), 255, np.uint8)
        blocks = np.random.default_rng(0).integers(0, 200, (13, 20, 3)).astype(np.uint8)
        pixels[top : top + 130, left : left + 200] = blocks.repeat(10, 0).repeat(10, 1)
        pictures.append(pixels)
    first = measure(*pictures).statements[0]
    assert (first.kind, first.values["dx"], first.values["dy"]) == ("moved", 20, 20)
    assert (first.box_before, first.box_after) == ((0, 0, 200, 130), (20, 20, 220, 150))


@pytest.mark.parametrize("removed", [False, True])
def test_rows_between_others_are_added_or_removed_though_a_row_beside_them_changed(removed):
    """Forty lines came where four others went."""
    shorter = picture()
    band = np.full((40, 240, 3), 255, np.uint8)
    band[8:32, 20:200] = (90, 160, 60)
    longer = np.concatenate([shorter[:60], band, shorter[64:]])
    longer[99:101, 100:140] = (0, 120, 90)
    pair = (longer, shorter) if removed else (shorter, longer)
    assert measure(*pair).statements[0].kind == ("removed" if removed else "added")


def card(height, top):
    """A white card with round corners and two lines of text on a grey page, so high."""
    pixels = np.full((height, 240, 3), 255, np.uint8)
    down, across = np.mgrid[:5, :5]
    corner = down + across < 4
    for rows, columns in (
        (slice(0, 5), slice(0, 5)),
        (slice(0, 5), slice(-1, -6, -1)),
        (slice(-1, -6, -1), slice(0, 5)),
        (slice(-1, -6, -1), slice(-1, -6, -1)),
    ):
        pixels[rows, columns][corner] = 200
    pixels[top : top + 12, 20:150:3] = 0
    pixels[top + 30 : top + 42, 20:190:4] = 40
    return pixels


def test_less_padding_of_a_card_is_another_size_and_nothing_that_was_removed():
    (statement,) = measure(card(140, 40), card(116, 32)).statements
    assert statement.box_after == (0, 0, 240, 116)
    assert statement.sentence == (
        "The picture became 24 pixels shorter, with 8 pixels less space above and 16 pixels less space"
        " below its content."
    )


def test_of_pictures_of_one_colour_only_the_size_is_known():
    ends = [np.full((side, side, 3), (255, 0, 0), np.uint8) for side in (144, 48)]
    assert measure(*ends).sentence == "The picture's size changed from 144 x 144 to 48 x 48 pixels."
