import numpy as np
import pytest
from PIL import Image

from whatchanged.errors import ShapeError
from whatchanged.figures import Alignment, draw_alignment
from whatchanged.figures.figure import BoxMark, LineMark, PictureMark, TextMark

GREY = Image.new("RGB", (60, 40), (100, 100, 100))
TILE, LEFT, TITLE = 60, 84, 24


def shifted(rows=4, columns=6, by=1):
    """Each cell is rebuilt from the one ``by`` columns to its right, in rows that begin anew."""
    count = rows * columns
    forth = np.zeros((count, count), np.float32)
    for cell in range(count):
        row, column = divmod(cell, columns)
        forth[cell, row * columns + (column + by) % columns] = 0.5 + cell / (4 * count)
    return Alignment(np.stack([forth, forth.T]), np.tile(np.arange(count), (2, 1)), (rows, columns))


def test_a_line_leads_from_a_cell_to_its_strongest_match():
    figure = draw_alignment((GREY, GREY), shifted(), [(1, 2)], tile=TILE)
    (line,) = [mark for mark in figure.marks if isinstance(mark, LineMark)]
    assert line.points == [(25.0, TITLE + 15.0), (LEFT + 35.0, TITLE + 15.0)]
    (frame,) = [mark for mark in figure.marks if isinstance(mark, BoxMark)]
    assert frame.corners[0] == 20 and frame.corners[2] == 30
    last = [mark for mark in figure.marks if isinstance(mark, PictureMark)][-1]
    heat = np.asarray(last.image).astype(int)
    row, column = np.unravel_index((heat[..., 0] - heat[..., 2]).argmax(), heat.shape[:2])
    assert (row // 10, column // 10) == (1, 3)
    assert any("row 1, column 2" in mark.text for mark in figure.marks if isinstance(mark, TextMark))


def test_without_cells_the_surest_are_chosen_apart_from_each_other():
    matches = shifted(rows=9, columns=9)
    chosen = matches.sharpest(4)
    assert chosen[0] == 80 and len(chosen) == 4
    places = [divmod(int(matches.cells[0][token]), 9) for token in chosen]
    apart = [max(abs(a[0] - b[0]), abs(a[1] - b[1])) for i, a in enumerate(places) for b in places[:i]]
    assert min(apart) > 2
    assert sorted(shifted(1, 2).sharpest()) == [0, 1]  # too few to be choosy


def test_tokens_that_lie_in_any_order():
    weights = np.zeros((2, 2, 2), np.float32)
    weights[0, 0, 1] = 1.0
    matches = Alignment(weights, np.array([[5, 3], [0, 2]]), (2, 3))
    assert matches.token_at((1, 2)) == 0 and matches.token_at((1, 0)) == 1
    assert matches.map_of(0).tolist() == [[0, 0, 1], [0, 0, 0]]
    for cell in ((0, 0), (2, 0), (0, 5)):
        with pytest.raises(ShapeError, match="Choose among: 1,0, 1,2"):
            draw_alignment((GREY, GREY), matches, [cell])
