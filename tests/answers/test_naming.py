"""Statements with the names that are read in drawn pictures."""

from dataclasses import replace

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont
from support.drawn_lines import box_of, needs_reader, page

from whatchanged.answers import Answerer
from whatchanged.answers.naming import named, with_names
from whatchanged.measured import Statement, measure

pytestmark = needs_reader

SAVE = ("Save changes", (120, 100))
SAVE_BOX = box_of(*SAVE)
LABEL = ("Dark mode", (40, 200))
SWITCH = (300, 198, 340, 222)


def statement(kind, before, after, boxes=(), element=None, follows=False, **values):
    boxes = boxes or (after or before,)
    return Statement(kind, before, after, "As it was.", 0.5, 0.01, values, boxes, element, follows)


def names(one, before, after):
    """The statement as it is named, among no others."""
    (found,) = named([one], before, after)
    return found


PICTURE = page(SAVE, LABEL, boxes=[(SWITCH, "blue")])


def test_own_words_name_a_text():
    found = names(statement("recolored", SAVE_BOX, SAVE_BOX, aspect="ink"), PICTURE, PICTURE)
    assert found.sentence.startswith('The text "Save changes" ')
    assert found.values["words"] == "Save changes"


def test_the_noun_stays_where_one_is_sure():
    one = statement("recolored", SAVE_BOX, SAVE_BOX, element="button", aspect="ink")
    assert '"Save changes"' in names(one, PICTURE, PICTURE).sentence
    assert "button" in names(one, PICTURE, PICTURE).sentence


def test_what_is_filled_otherwise_is_what_words_stand_on():
    box = (100, 90, 260, 130)
    one = statement("recolored", box, box, aspect="fill", color_before="#ffffff", color_after="#0000ff")
    assert names(one, PICTURE, PICTURE).sentence == (
        'The background of "Save changes" turned from white to blue.'
    )


def test_a_larger_thing_is_named_by_its_first_line():
    box = (60, 60, 620, 260)
    found = names(statement("resized", box, box, aspect="length", dwidth=12), PICTURE, PICTURE)
    assert found.sentence == 'The area with "Save changes" became 12 pixels wider.'


def test_a_thing_without_words_is_named_by_the_label_of_its_row():
    found = names(statement("moved", SWITCH, SWITCH, aspect="position", dx=4, dy=0), PICTURE, PICTURE)
    assert found.sentence == 'Something right of "Dark mode" moved right by 4 pixels.'
    assert found.values["beside"] == 'right of "Dark mode"'


def test_a_small_thing_is_an_icon():
    icon = (84, 98, 106, 120)
    picture = page(SAVE, boxes=[(icon, "red")])
    found = names(statement("removed", icon, None, aspect="thing"), picture, page(SAVE))
    assert found.sentence == 'The icon left of "Save changes" was removed.'


def test_a_ring_beside_words_is_no_text():
    """With the word beside it a line is read, of which the ring would be a letter."""
    picture = Image.fromarray(page(SAVE))
    pen = ImageDraw.Draw(picture)
    font = ImageFont.load_default(34)
    pen.text((92, 90), "O", "black", font)
    ring = tuple(round(side) for side in pen.textbbox((92, 90), "O", font))
    found = names(statement("removed", ring, None, aspect="thing"), np.asarray(picture), page(SAVE))
    assert found.sentence.startswith("The icon ")


def test_nothing_legible_near():
    box = (400, 20, 500, 60)
    picture = page(boxes=[(box, "red")])
    found = names(statement("added", None, box, aspect="thing"), page(), picture)
    assert found.sentence.startswith("Something at the upper right was added")
    assert "words" not in found.values and "beside" not in found.values


def test_words_that_came_are_quoted():
    found = names(statement("added", None, SAVE_BOX, aspect="thing"), page(), PICTURE)
    assert found.sentence == 'The text "Save changes" was added.'


def test_words_that_differ_are_what_changed():
    other = page(("Save all", (120, 100)))
    one = statement("restyled", SAVE_BOX, box_of("Save all", (120, 100)), aspect="shape")
    found = names(one, PICTURE, other)
    assert found.kind == "rewritten" and found.sentence == (
        'The text at the upper left changed from "changes" to "all".'
    )


def test_words_of_one_picture_alone_are_no_name():
    """Where what is written differs, and not beyond doubt, it names nothing."""
    box = (60, 60, 620, 260)
    other = page(("Something else", (120, 100)))
    found = names(statement("resized", box, box, aspect="length", dwidth=12), PICTURE, other)
    assert "Save" not in found.sentence and "else" not in found.sentence


def alike(*texts):
    lines = tuple((text, (40 + 140 * k, 40)) for k, text in enumerate(texts))
    boxes = tuple(box_of(*line) for line in lines)
    return page(*lines), boxes


@pytest.mark.parametrize(
    ("texts", "subject"),
    [
        (("Mini", "Mini", "Mini", "Mini"), 'The four texts "Mini" '),
        (("File", "Edit"), 'The two texts "File" and "Edit" '),
        (("File", "Edit", "View"), 'The three texts from "File" to "View" '),
    ],
)
def test_alike_things(texts, subject):
    picture, boxes = alike(*texts)
    one = statement("recolored", boxes[0], boxes[0], boxes, aspect="ink")
    assert names(one, picture, picture).sentence.startswith(subject)


def test_alike_things_of_which_some_have_words():
    picture, boxes = alike("File", "")
    one = statement("added", None, boxes[0], (boxes[0], (400, 100, 420, 120)), aspect="thing")
    assert names(one, page(), picture).sentence == 'Two things with "File" among them were added.'


def test_alike_things_beside_words():
    lines = (("First", (80, 40)), ("Second", (80, 120)))
    boxes = ((44, 38, 66, 60), (44, 118, 66, 140))
    picture = page(*lines, boxes=[(box, "red") for box in boxes])
    one = statement("moved", boxes[0], boxes[0], boxes, aspect="position", dx=4, dy=0)
    assert names(one, picture, picture).sentence == (
        'The two icons left of "First" and "Second" moved right by 4 pixels.'
    )


@pytest.mark.parametrize("values", [{"aspect": "turn"}, {"aspect": "canvas"}])
def test_what_is_said_of_the_whole_picture_stays(values):
    one = statement("resized", SAVE_BOX, SAVE_BOX, **values)
    assert names(one, PICTURE, PICTURE) == one


def test_what_follows_stays():
    one = statement("moved", SAVE_BOX, SAVE_BOX, follows=True, aspect="position", dx=0, dy=4)
    assert names(one, PICTURE, PICTURE) == one


def test_a_change_all_over_the_picture():
    box = (0, 0, 640, 400)
    one = statement("moved", box, box, aspect="position", dx=4, dy=0)
    assert names(one, PICTURE, PICTURE).sentence == "The content of the picture moved right by 4 pixels."


def test_only_what_a_sentence_tells_is_read():
    one = statement("recolored", SAVE_BOX, SAVE_BOX, aspect="ink")
    found = named([one] * 5, PICTURE, PICTURE)
    assert ["words" in each.values for each in found] == [True, True, True, False, False]


def pressed(text="Save changes"):
    """A button that turned from light blue to dark blue, as two pictures."""
    results = []
    for colour in ("#90c8ff", "#004080"):
        image = Image.fromarray(page(LABEL))
        ImageDraw.Draw(image).rectangle((100, 90, 280, 130), fill=colour)
        results.append(np.maximum(np.asarray(image), 255 - page((text, (120, 100)))))
    return results


def test_an_answer_and_what_was_measured_beneath_it():
    before, after = pressed()
    plain = Answerer("measured", read_text=False).answer(before, after)
    found = with_names(plain, before, after)
    assert '"Save changes"' in found.sentence and '"Save changes"' not in plain.sentence
    assert found.measured == plain.measured and found.changes[0].sentence in found.sentence


def test_an_answer_that_nothing_changed_for_sure_stays():
    before, after = pressed()
    plain = Answerer("measured", read_text=False).answer(before, after)
    for other in (replace(plain, verdict="noise"), replace(plain, changes=())):
        assert with_names(other, before, after) is other


def test_words_are_read_by_default():
    before, after = pressed()
    assert '"Save changes"' in Answerer("measured").answer(before, after).sentence
    assert (
        measure(before, after).sentence
        == Answerer("measured", read_text=False).answer(before, after).sentence
    )


def test_a_button_is_called_one():
    left, top, right, bottom = SAVE_BOX
    box = (left - 24, top - 12, right + 24, bottom + 12)
    colors = {"color_before": "#90c8ff", "color_after": "#90ffa0"}
    pictures = []
    for color in colors.values():
        image = Image.new("RGB", (640, 400), "white")
        ImageDraw.Draw(image).rectangle((box[0], box[1], box[2] - 1, box[3] - 1), fill=color)
        pictures.append(np.minimum(np.asarray(image), page(SAVE)))
    found = names(statement("recolored", box, box, aspect="fill", **colors), *pictures)
    assert found.sentence == 'The button "Save changes" turned from light blue to light green.'


def test_words_that_were_there_before_are_no_name_of_what_came():
    box = (60, 60, 620, 260)
    after = page(SAVE, ("Second line", (120, 160)))
    found = names(statement("added", None, box, aspect="thing"), page(SAVE), after)
    assert found.sentence == 'An area with "Second line" was added.'


def test_a_text_that_went_here_and_came_there_moved():
    there = box_of("Save changes", (300, 240))
    after = page(("Save changes", (300, 240)))
    gone, came = statement("removed", SAVE_BOX, None, aspect="thing"), statement("added", None, there)
    (found,) = named([gone, came], page(SAVE), after)
    assert found.sentence == 'The text "Save changes" moved right by 180 pixels and down by 140 pixels.'
    assert (found.box_before, found.box_after) == (SAVE_BOX, there)


def test_two_texts_that_say_otherwise_are_told_apart():
    there = box_of("Store changes", (300, 240))
    after = page(("Store changes", (300, 240)))
    gone, came = statement("removed", SAVE_BOX, None, aspect="thing"), statement("added", None, there)
    assert len(named([gone, came], page(SAVE), after)) == 2


def test_a_thing_without_words_is_called_by_its_look():
    box = (400, 20, 500, 60)
    one = statement("removed", box, None, aspect="thing", look="red area")
    found = names(one, page(boxes=[(box, "red")]), page())
    assert found.sentence == "The red area at the upper right was removed."


@pytest.mark.parametrize("there", [True, False])
def test_more_ink_around_words_of_both_pictures_is_no_new_text(there):
    box = (100, 90, 300, 130)
    before = page(("Save changes", (123, 101)), LABEL) if there else page(LABEL)
    found = names(statement("added", None, box, aspect="thing", by_amount=True), before, PICTURE)
    assert ("words" in found.values) is not there
    assert ("shows more than before" in found.sentence) is there


def test_a_place_that_covers_the_picture_is_the_picture():
    whole = (0, 0, 640, 400)
    found = names(statement("replaced", whole, whole, aspect="part"), PICTURE, PICTURE)
    assert found.sentence == "The picture looks different."
    faded = statement("recolored", whole, whole, aspect="opacity", amount_before=1, amount_after=0.5)
    assert names(faded, PICTURE, PICTURE).sentence == "The picture faded to about 50 % of its strength."


def test_alike_things_all_over_the_picture_keep_their_words():
    before, boxes = alike("Mini", "Mini")
    one = statement("replaced", (0, 0, 640, 400), (0, 0, 640, 400), boxes=boxes, aspect="part")
    assert names(one, before, before).sentence.startswith('The two texts "Mini" ')


def test_the_label_of_a_wide_row_names_a_thing():
    box = (600, 198, 630, 222)
    picture = page(SAVE, LABEL, boxes=[(box, "red")])
    found = names(statement("moved", box, box, aspect="position", dx=4, dy=0), picture, picture)
    assert found.values["beside"] == 'right of "Dark mode"'


@pytest.mark.parametrize("back", [False, True])
def test_a_word_that_wraps_to_another_line_moved(back):
    first, second = (60, 100), (60, 126)
    end = box_of("Yes I have a mobile", first)[2] + 6
    pictures = [
        page(("Yes I have a mobile", first), ("phone signal", second)),
        page(("Yes I have a mobile", first), ("phone", (end, 100)), ("signal", second)),
    ]
    rest, whole, word = box_of("signal", second), box_of("phone signal", second), box_of("phone", (end, 100))
    if back:
        found = named(
            [
                statement("rewritten", rest, whole, aspect="text"),
                statement("removed", word, None, aspect="thing"),
            ],
            *pictures[::-1],
        )
    else:
        found = named(
            [
                statement("rewritten", whole, rest, aspect="text"),
                statement("added", None, word, aspect="thing"),
            ],
            *pictures,
        )
    (one,) = found
    assert one.kind == "moved" and one.sentence.startswith('The text "phone" moved ')
    assert (one.values["dy"] > 0) is back


def test_a_drawing_without_letters_is_no_text():
    before = page(LABEL)
    draw = ImageDraw.Draw(picture := Image.fromarray(before))
    draw.polygon([(160, 203), (184, 203), (172, 215)], fill="black")
    draw.rectangle((192, 205, 260, 209), fill="black")
    drawing = (160, 203, 261, 216)
    found = names(statement("rewritten", drawing, drawing, aspect="text"), before, np.asarray(picture))
    assert found.sentence == 'Something right of "Dark mode" looks different.'


def test_a_text_that_moved_is_named_by_the_picture_in_which_it_is_read():
    before, after = page(SAVE), page((SAVE[0], (SAVE[1][0] - 20, SAVE[1][1])))
    now = (SAVE_BOX[0] - 20, SAVE_BOX[1], SAVE_BOX[2] - 20, SAVE_BOX[3])
    crossed = Image.fromarray(after)
    ImageDraw.Draw(crossed).line((now[0], now[1], now[2], now[3]), fill="black", width=3)
    found = names(
        statement("moved", SAVE_BOX, now, aspect="position", dx=-20, dy=0), before, np.asarray(crossed)
    )
    assert found.sentence == 'The text "Save changes" moved left by 20 pixels.'


def test_areas_with_the_same_words():
    texts = [("Required field", (40, 40)), ("Required field", (40, 160))]
    picture = page(*texts)
    boxes = tuple((20, top, 400, top + 50) for top in (25, 145))
    around = (20, 25, 400, 195)
    changed = statement("restyled", around, around, boxes, aspect="radius", amount_before=12, amount_after=8)
    assert names(changed, picture, picture).sentence == (
        'The two areas with "Required field" got sharper corners, 12 to 8 pixels.'
    )


def test_parts_of_one_line_are_named_together():
    lines = (("You can", (60, 100)), ("enter up to", (60 + box_of("You can")[2] - 20 + 10, 100)))
    box = (60, 98, lines[1][1][0] + box_of("enter up to")[2] - 20, 124)
    found = names(statement("removed", box, None, aspect="thing"), page(*lines), page())
    assert found.sentence == 'The text "You can enter up to" was removed.'


def test_numbers_that_differ_in_a_sign_are_told_apart():
    texts = (("-300", (60, 100)), ("300", (400, 100)))
    boxes = tuple(box_of(*text) for text in texts)
    whole = (boxes[0][0], boxes[0][1], boxes[1][2], boxes[1][3])
    one = statement("added", None, whole, boxes, aspect="thing")
    assert names(one, page(), page(*texts)).sentence == 'Two texts "-300" and "300" were added.'


def test_a_text_that_was_invisible_on_its_former_fill_names_the_new_one():
    box = (100, 90, 300, 130)
    after = page(("Shades", (120, 100)), boxes=[(box, "yellow")])
    one = statement("recolored", box, box, aspect="fill", color_before="#000000", color_after="#ffff00")
    found = names(one, page(boxes=[(box, "black")]), after)
    assert found.sentence == 'The background of "Shades" turned from black to yellow.'


def test_a_thing_that_fills_a_picture_grew_with_it():
    before, after = page(SAVE, width=600, height=100), page(SAVE, width=640, height=100)
    one = statement("resized", (0, 0, 600, 100), (0, 0, 640, 100), aspect="length", dx=40, dy=0, grew=True)
    assert names(one, before, after).sentence == "The picture became 40 pixels wider."


def test_text_beside_what_took_another_colour_is_no_text_of_it():
    texts = (("adipiscing", (64, 100)), ("ullamco", (304, 200)))
    things, shown = ((60, 94, 160, 160), (300, 194, 400, 260)), ((64, 136, 90, 158), (304, 236, 330, 258))
    whole = (60, 94, 400, 260)
    codes = {"color_before": "#0000ff", "color_after": "#800080"}
    pictures = [page(*texts, boxes=[(box, color) for box in shown]) for color in ("blue", "purple")]
    found = names(statement("recolored", whole, whole, things, aspect="ink", **codes), *pictures)
    assert found.sentence.startswith('What is drawn in the two areas with "adipiscing" and "ullamco" turned')


def test_a_plot_is_not_named_by_a_text_in_it():
    box = (60, 60, 620, 260)
    found = names(statement("replaced", box, box, aspect="data", same_axes=True), PICTURE, PICTURE)
    assert "Save changes" not in found.sentence and "shows other data" in found.sentence


def test_the_grid_of_a_plot_takes_no_words():
    pictures = [drawn_lines_with_grid(grid) for grid in (False, True)]
    statements = measure(*(Image.fromarray(picture) for picture in pictures)).statements
    assert statements[0].element == "grid"
    (first, *_) = named(statements, *pictures)
    assert '"' not in first.sentence


def drawn_lines_with_grid(grid):
    """A plot with a curve and two words in it; with grid lines or without."""
    image = Image.new("RGB", (400, 260), "white")
    draw = ImageDraw.Draw(image)
    for at in range(40, 400, 60) if grid else ():
        draw.line((at, 20, at, 240), fill=(210, 210, 210))
    for at in range(20, 260, 44) if grid else ():
        draw.line((40, at, 380, at), fill=(210, 210, 210))
    draw.line([(40, 200), (160, 90), (260, 130), (380, 50)], fill=(31, 119, 180), width=2)
    draw.text((250, 180), "train loss", fill="black", font=ImageFont.load_default(14))
    return np.asarray(image)


@pytest.mark.parametrize("step", [6, 14, -3])
def test_an_icon_at_the_end_of_a_line_is_no_text(step):
    """The recogniser reads it as a sign behind the last word."""
    pictures = []
    for more in (0, step):
        picture = Image.fromarray(page(("Notifications", (40, 60))))
        draw = ImageDraw.Draw(picture)
        left, middle = box_of("Notifications", (40, 60))[2] + 8 + more, 74
        draw.line([(left, middle), (left + 6, middle + 6), (left + 16, middle - 7)], "black", 2)
        pictures.append(np.asarray(picture))
    told = named(measure(*pictures).statements, *pictures)
    way = "right" if step > 0 else "left"
    assert told[0].sentence == f'The icon right of "Notifications" moved {way} by {abs(step)} pixels.'
