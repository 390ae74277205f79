import numpy as np
import pytest

from whatchanged.measured import measure


def card(width, shown=True):
    """A frame over the whole width with a drawing in its middle."""
    picture = np.full((120, width, 3), 255, np.uint8)
    picture[20:100, 10 : width - 10] = (200, 220, 210)
    picture[22:98, 12 : width - 12] = 255
    if shown:
        middle = width // 2
        picture[40:80, middle - 60 : middle - 20] = (200, 40, 40)
        picture[50:70, middle - 5 : middle + 55 : 3] = (20, 60, 160)
        picture[44:60, middle + 20 : middle + 40] = (30, 160, 30)
    return picture


@pytest.mark.parametrize(("width", "way"), [(380, "right by 40"), (260, "left by 20")])
def test_a_picture_that_grew_around_its_contents(width, way):
    answer = measure(card(300), card(width))
    assert answer.statements[0].values["aspect"] == "canvas"
    assert answer.sentence.startswith("The picture became ")
    assert f"{width} instead of 300, which moved its contents {way} pixels." in answer.sentence


def test_what_stands_at_the_far_edge_is_not_in_the_middle():
    pictures = []
    for width in (300, 380):
        picture = card(width, shown=False)
        picture[40:80, width - 80 : width - 40] = (200, 40, 40)
        pictures.append(picture)
    assert "its contents" not in measure(*pictures).sentence
