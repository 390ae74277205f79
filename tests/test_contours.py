import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageDraw
from scipy.ndimage import gaussian_filter

from whatchanged.contours import BLUR, COLORS, SHARES, UNITS, outlines, svg_path
from whatchanged.errors import ShapeError


def blob(rows, columns, x, y, sigma):
    """A round spot: sigma in cells, its middle at x and y in cells."""
    across = np.arange(columns) + 0.5 - x
    down = np.arange(rows) + 0.5 - y
    return np.exp(-(across[None] ** 2 + down[:, None] ** 2) / (2 * sigma**2))


def inside(lines, size):
    """(H, W) Whether each pixel lies inside the lines: inside an odd number of them."""
    mask = np.zeros(size[::-1], bool)
    for line in lines:
        picture = Image.new("1", size)
        ImageDraw.Draw(picture).polygon([tuple(point) for point in line * size], fill=1)
        mask ^= np.asarray(picture)
    return mask


def test_nobody_looked_anywhere():
    assert outlines(np.zeros((2, 3, 4))) == (([], []), ([], []))


def test_the_radius_around_a_round_spot():
    """Of a round normal density, the disc of radius s sqrt(-2 ln (1 - p)) holds the share p."""
    sigma = 3.0
    maps = np.stack([np.zeros((40, 40)), blob(40, 40, 20, 20, sigma)])
    before, after = outlines(maps)
    assert before == ([], [])
    for lines, share in zip(after, SHARES, strict=True):
        (line,) = lines
        wanted = np.sqrt(sigma**2 + BLUR**2) * np.sqrt(-2 * np.log(1 - share)) / 40
        radii = np.hypot(*(line - 0.5).T)
        assert radii == pytest.approx(wanted, rel=0.05)
        assert line[0] == pytest.approx(line[-1])  # closed


def test_both_pictures_share_one_level():
    maps = np.stack([blob(20, 20, 10, 10, 2.0), 0.05 * blob(20, 20, 10, 10, 2.0)])
    before, after = outlines(maps)
    assert all(len(lines) == 1 for lines in before) and after == ([], [])


def test_a_line_runs_along_the_edge_of_the_picture():
    maps = np.zeros((2, 10, 10))
    maps[0, 0, :] = 1.0
    (line,) = outlines(maps)[0][0]
    assert line.min() >= 0 and line.max() <= 1
    assert (line[:, 1] < 0.02).sum() >= 2 and line[:, 1].max() < 0.4


SPOT = st.tuples(st.integers(0, 1), st.floats(0, 30), st.floats(0, 20), st.floats(0.7, 3), st.floats(0.1, 1))


@given(st.lists(SPOT, min_size=1, max_size=4))
def test_the_lines_hold_their_share(spots):
    """What lies inside them of the maps, smoothed by another implementation."""
    maps = np.zeros((2, 20, 30))
    for side, x, y, sigma, height in spots:
        maps[side] += height * blob(20, 30, x, y, sigma)
    results = outlines(maps)
    wide = [np.kron(heat, np.ones((10, 10))) for heat in maps]
    smooth = [gaussian_filter(heat, 10 * BLUR, mode="nearest") for heat in wide]
    total = sum(heat.sum() for heat in smooth)
    for level, share in enumerate(SHARES):
        masks = [inside(side[level], (300, 200)) for side in results]
        held = sum(heat[mask].sum() for heat, mask in zip(smooth, masks, strict=True)) / total
        assert held == pytest.approx(share, abs=0.06)


def test_attention_that_is_the_same_everywhere_has_no_place():
    assert outlines(np.full((2, 5, 6), 0.3)) == (([], []), ([], []))


def test_other_shapes_are_refused():
    for shape in ((2, 3), (1, 3, 4), (3, 3, 4)):
        with pytest.raises(ShapeError, match="heat maps"):
            outlines(np.zeros(shape))


def test_paths_go_round_in_whole_steps():
    maps = np.stack([blob(20, 30, 8, 6, 1.5), blob(20, 30, 20, 12, 1.5)])
    for side in outlines(maps):
        for lines in side:
            for line in lines:
                path = svg_path([line])
                numbers = [int(number) for number in re.findall(r"-?\d+", path)]
                assert path[0] == "M" and path[-1] == "z"
                points = np.cumsum(np.array(numbers).reshape(-1, 2), axis=0)
                assert np.abs(points[0] / UNITS - line[0]).max() <= 0.5 / UNITS
                assert len(points) <= len(line) and points.min() >= 0 and points.max() <= UNITS
                middles = (points.min(axis=0) + points.max(axis=0)) / 2
                wanted = (line.min(axis=0) + line.max(axis=0)) / 2 * UNITS
                assert len(points) > 12 and np.abs(middles - wanted).max() <= 3
    assert svg_path([]) == ""


def test_every_share_has_a_colour():
    assert len(COLORS) == len(SHARES) and list(SHARES) == sorted(SHARES)
