"""Matched cells: from which cells of the other picture each cell of a picture is reconstructed.

At the top, lines connect chosen cells of the picture before with their strongest match after; a stronger
match has a thicker line. At the bottom, the figure shows one cell, and the map of all cells from which it is
reconstructed.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from whatchanged.errors import ShapeError
from whatchanged.figures.figure import (
    BoxMark,
    DotMark,
    Figure,
    LineMark,
    Mark,
    PictureMark,
    RGBColor,
    TextMark,
)
from whatchanged.figures.maps import GAP, TITLE, fitted, heated

COLORS: tuple[RGBColor, ...] = (
    (230, 159, 0),
    (0, 114, 178),
    (0, 158, 115),
    (204, 121, 167),
    (213, 94, 0),
    (86, 180, 233),
)
"""Colours of the lines, in order; readers who confuse red and green can tell them apart."""
MOST = 12
"""How many cells are chosen by default."""
NEAR = 2
"""How many rows or columns chosen cells are apart, if there are enough cells."""
TILE = 360
"""Width of a picture."""

GridCell = tuple[int, int]
"""Row and column on the grid."""


@dataclass(frozen=True, eq=False)
class Alignment:
    """The attention by which each cell of a pair is reconstructed, for N cells of each picture on one grid
    (rows, columns).

    weights: (2, N, N), a row for each query; first the picture before attends to the one after, then the
    reverse. cells: (2, N), indices of the cells on the grid, row by row.
    """

    weights: NDArray[np.float32]
    cells: NDArray[np.int64]
    grid: tuple[int, int]

    def map_of(self, token: int) -> NDArray[np.float32]:
        """Return the weights for one token of the picture before, on the grid of the picture after."""
        heat = np.zeros(self.grid[0] * self.grid[1], np.float32)
        np.add.at(heat, self.cells[1], self.weights[0][token])
        return heat.reshape(self.grid)

    def token_at(self, cell: GridCell) -> int:
        """Return the index of the token of the picture before in a cell. Raises ShapeError where there is
        none.
        """
        rows, columns = self.grid
        number = cell[0] * columns + cell[1]
        matches = np.flatnonzero(self.cells[0] == number)
        if not (0 <= cell[0] < rows and 0 <= cell[1] < columns) or not matches.size:
            known = sorted({divmod(int(one), columns) for one in self.cells[0]})
            some = ", ".join(f"{row},{column}" for row, column in known[:20])
            raise ShapeError(
                f"cell {cell[0]},{cell[1]}: the model reads no such cell of the grid of {rows} x {columns}."
                f" Choose among: {some}{', ...' if len(known) > 20 else ''}."
            )
        return int(matches[0])

    def sharpest(self, most: int = MOST) -> list[int]:
        """Return the tokens of the picture before with the strongest matches, apart from each other; the best
        first.
        """
        order = np.argsort(-self.weights[0].max(axis=1), kind="stable")
        chosen: list[int] = []
        for near in (NEAR, 0):
            for token in order.tolist():
                far = all(self._distance(token, other) > near for other in chosen)
                if far and len(chosen) < most:
                    chosen.append(token)
        return chosen

    def _distance(self, one: int, other: int) -> int:
        """Return the larger of the distances in rows and in columns between two tokens of the picture
        before.
        """
        (row, column), (row2, column2) = (
            divmod(int(self.cells[0][token]), self.grid[1]) for token in (one, other)
        )
        return max(abs(row - row2), abs(column - column2))


def draw_alignment(
    pictures: tuple[Image.Image, Image.Image],
    matches: Alignment,
    cells: Sequence[GridCell] = (),
    tile: int = TILE,
) -> Figure:
    """Draw lines between matched cells, and the map of the first cell.

    cells: cells of the picture before; by default the cells with the strongest matches. tile: width of a
    picture in the figure, in pixels. Raises ShapeError for a cell that the model does not read.
    """
    tokens = [matches.token_at(cell) for cell in cells] or matches.sharpest()
    shown = [fitted(picture, tile) for picture in pictures]
    height = max(picture.height for picture in shown)
    lefts = (0, tile + 4 * GAP)
    map_top = 2 * TITLE + height + GAP
    marks: list[Mark] = []
    for name, left, picture in zip(("before", "after"), lefts, shown, strict=True):
        marks.append(TextMark((left + tile / 2, TITLE / 2), name, anchor="middle"))
        marks.append(PictureMark((left, TITLE), picture))
    for number, token in enumerate(tokens):
        marks += _match(matches, token, shown, lefts, COLORS[number % len(COLORS)])
    marks += _one_cell(matches, tokens[0], shown, lefts, map_top)
    return Figure(lefts[1] + tile, map_top + height, marks)


def _match(
    matches: Alignment,
    token: int,
    shown: Sequence[Image.Image],
    lefts: tuple[int, int],
    color: RGBColor,
) -> list[Mark]:
    """Return the line from a token's cell to its strongest match."""
    weights = matches.weights[0][token]
    best = int(weights.argmax())
    ends = []
    for side, number in enumerate((int(matches.cells[0][token]), int(matches.cells[1][best]))):
        left, above, right, below = _corners(matches, number, shown[side])
        ends.append((lefts[side] + (left + right) / 2, TITLE + (above + below) / 2))
    return [LineMark(ends, color, 1 + 2 * float(weights[best])), *(DotMark(end, color) for end in ends)]


def _one_cell(
    matches: Alignment, token: int, shown: Sequence[Image.Image], lefts: tuple[int, int], top: int
) -> list[Mark]:
    """Return the marks for a token's framed cell, and beside it the cells from which it is reconstructed."""
    number = int(matches.cells[0][token])
    row, column = divmod(number, matches.grid[1])
    heat = matches.map_of(token)
    left, above, right, below = _corners(matches, number, shown[0])
    frame = (lefts[0] + left, top + above, lefts[0] + right, top + below)
    titles = (f"the cell in row {row}, column {column}", "what it is rebuilt from")
    return [
        *(
            TextMark((x + picture.width / 2, top - TITLE / 2), title, anchor="middle")
            for x, title, picture in zip(lefts, titles, shown, strict=True)
        ),
        PictureMark((lefts[0], top), shown[0]),
        BoxMark(frame, COLORS[0], 3),
        PictureMark((lefts[1], top), heated(shown[1], heat, float(heat.max()))),
    ]


def _corners(matches: Alignment, number: int, picture: Image.Image) -> tuple[float, float, float, float]:
    """Return left, top, right, bottom of a cell in pixels of the displayed picture."""
    rows, columns = matches.grid
    row, column = divmod(number, columns)
    width, height = picture.width / columns, picture.height / rows
    return column * width, row * height, (column + 1) * width, (row + 1) * height
