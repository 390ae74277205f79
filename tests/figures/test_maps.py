import numpy as np
import pytest
from PIL import Image

from whatchanged.errors import ShapeError
from whatchanged.figures.figure import PictureMark, TextMark
from whatchanged.figures.maps import WIDTH, draw_maps, fitted, heated

GREY = Image.new("RGB", (60, 40), (100, 100, 100))


def maps(row, column, side=1):
    one = np.zeros((2, 4, 6))
    one[side, row, column] = 0.5
    return one


def titles(figure):
    return [mark.text for mark in figure.marks if isinstance(mark, TextMark) and mark.anchor == "middle"]


def test_each_title_stands_above_both_pictures():
    figure = draw_maps((GREY, GREY), [("red", maps(1, 2)), ("cube", maps(0, 0))])
    assert titles(figure) == ["red", "cube"]
    tiles = [mark for mark in figure.marks if isinstance(mark, PictureMark)]
    assert len(tiles) == 4 and tiles[0].at[0] == tiles[1].at[0] < tiles[2].at[0]
    before, after = (np.asarray(tile.image).astype(int) for tile in tiles[:2])
    assert (before == 100).all()  # nobody looked there
    row, column = np.unravel_index((after[..., 0] - after[..., 2]).argmax(), after.shape[:2])
    height, width = after.shape[:2]
    assert (int(row * 4 / height), int(column * 6 / width)) == (1, 2)


def test_many_titles_go_on_in_rows():
    figure = draw_maps((GREY, GREY), [(f"w{i}", maps(0, 0)) for i in range(13)], tile=100)
    assert figure.width <= WIDTH and len(titles(figure)) == 13
    bottoms = [mark.at[1] + mark.image.height for mark in figure.marks if isinstance(mark, PictureMark)]
    rights = [mark.at[0] + mark.image.width for mark in figure.marks if isinstance(mark, PictureMark)]
    assert max(bottoms) <= figure.height and max(rights) <= figure.width
    assert sum(mark.text == "before" for mark in figure.marks if isinstance(mark, TextMark)) == 2


def test_the_highest_value_is_that_of_both_pictures():
    strong, weak = np.full((1, 1), 1.0), np.full((1, 1), 0.1)
    hot, mild = (np.asarray(heated(GREY, heat, 1.0)).astype(int)[20, 30] for heat in (strong, weak))
    assert hot[0] > mild[0] > 100
    assert (np.asarray(heated(GREY, np.zeros((2, 2)), 0.0)) == 100).all()


def test_a_strip_does_not_become_a_tower():
    assert fitted(Image.new("RGB", (10, 4000)), 50).size == (50, 150)


@pytest.mark.parametrize("wrong", [[], [("a", np.zeros((3, 2, 2)))], [("a", np.zeros((2, 2)))]])
def test_what_are_no_maps_is_named(wrong):
    with pytest.raises(ShapeError, match=r"no map to draw|wanted \(2, rows, columns\)"):
        draw_maps((GREY, GREY), wrong)
