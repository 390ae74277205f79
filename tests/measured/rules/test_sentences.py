"""What a statement says, by hand."""

import pytest

from whatchanged.measured.rules.kinds import Finding
from whatchanged.measured.rules.sentences import statement

SIZE = (100, 50)


def said(finding, before, after, pixels):
    return statement(finding, before, after, pixels, SIZE).sentence


@pytest.mark.parametrize(
    ("kind", "pixels", "sentence"),
    [
        ("removed", 500, "Something was removed over the whole picture (10 % of the picture)."),
        ("removed", 2500, "Something was removed over the whole picture (50 % of the picture)."),
        ("removed", 3000, "Most of the picture differs (60 %)."),
        ("replaced", 5000, "Most of the picture differs (100 %)."),
        ("replaced", 9000, "Most of the picture differs (100 %)."),
    ],
)
def test_no_one_thing_is_said_to_be_most_of_a_picture(kind, pixels, sentence):
    box = (0, 0, 100, 50)
    assert said(Finding(kind, "thing", 0.7), box, box, pixels) == sentence


def test_a_recoloured_picture_is_still_called_that():
    colors = {"color_before": "#ffffff", "color_after": "#202020"}
    text = said(Finding("recolored", "fill", 0.7, colors), (0, 0, 100, 50), (0, 0, 100, 50), 5000)
    assert text.startswith("An area over the whole picture ") and text.endswith("(100 % of the picture).")


def test_a_size_is_told_where_it_changed():
    finding = Finding("resized", "size", 0.7)
    text = said(finding, (10, 10, 30, 20), (10, 10, 34, 20), 40)
    assert text == "Something at the upper left changed its size from 20 x 10 to 24 x 10 pixels."
    text = said(finding, (10, 10, 30, 20), (11, 10, 31, 20), 40)
    assert text == "Something changed its size at the upper left (0.8 % of the picture)."
