"""Which changes are seen, by the stated rule; and lossy steps of files."""

import numpy as np
import pytest

from whatchanged.synth.screens.recoding import RECODINGS
from whatchanged.synth.screens.visible import difference, draws_a_line, visible


def screen(level=200, size=(40, 60)):
    return np.full((*size, 3), level, np.uint8)


def altered(rows, columns, by):
    picture = screen()
    picture[rows, columns] += np.uint8(by)
    return picture


PATCH = (slice(5, 15), slice(5, 25))


@pytest.mark.parametrize(
    ("after", "kind", "aspect", "shift", "answer"),
    [
        (screen(), "recolored", "fill", 0, "no"),
        (altered(*PATCH, 6), "recolored", "fill", 0, "no"),
        (altered(*PATCH, 7), "recolored", "fill", 0, "uncertain"),
        (altered(*PATCH, 14), "recolored", "fill", 0, "uncertain"),
        (altered(*PATCH, 15), "recolored", "fill", 0, "yes"),
        (altered(*PATCH, 24), "recolored", "ink", 0, "uncertain"),  # thin: asks for more
        (altered(*PATCH, 25), "recolored", "ink", 0, "yes"),
        (altered(slice(5, 8), slice(5, 8), 50), "rewritten", "text", 0, "uncertain"),  # nine pixels
        (altered(slice(5, 7), slice(5, 10), 50), "rewritten", "text", 0, "yes"),  # ten
        (altered(*PATCH, 50), "moved", "position", 0.5, "no"),
        (altered(*PATCH, 50), "moved", "position", 1.9, "uncertain"),
        (altered(*PATCH, 50), "moved", "position", 2, "yes"),
        (altered(*PATCH, 50), "recolored", "fill", 0.1, "yes"),
        (screen(size=(42, 60)), "added", "element", 0, "yes"),  # two rows more
        (screen(size=(41, 60)), "added", "element", 0, "uncertain"),
    ],
)
def test_the_rule(after, kind, aspect, shift, answer):
    assert visible(screen(), after, kind, aspect, shift) == answer


def test_differences_are_taken_where_both_pictures_are():
    before, after = screen(size=(4, 9)), screen(size=(6, 5))
    after[1, 2] = (190, 210, 203)
    step = difference(before, after)
    assert step.shape == (4, 5)
    assert step[1, 2] == 10 and np.count_nonzero(step) == 1


@pytest.mark.parametrize(
    ("rows", "columns", "by", "line"),
    [
        (slice(7, 8), slice(10, 34), 65, True),  # 24 pixels along a row
        (slice(7, 8), slice(10, 33), 65, False),  # one less
        (slice(7, 8), slice(10, 34), 64, False),  # fainter
        (slice(7, 31), slice(10, 11), 65, True),  # down a column
    ],
)
def test_a_thin_line_that_comes_is_no_noise(rows, columns, by, line):
    before, after = screen(100), screen(100)
    after[rows, columns] += np.uint8(by)
    assert draws_a_line(before, after) is line
    assert draws_a_line(after, before) is line


def gradient():
    """64 x 96 colours, no two alike."""
    across = np.tile(np.linspace(0, 255, 96), (64, 1))
    down = np.tile(np.linspace(0, 255, 64)[:, None], (1, 96))
    return np.stack([across, down, (across + down) / 2], axis=2).astype(np.uint8)


@pytest.mark.parametrize("name", RECODINGS)
@pytest.mark.parametrize("seed", range(3))
def test_each_lossy_step_alters_pixels_and_is_hardly_seen(name, seed):
    before = gradient()
    told, after = RECODINGS[name](np.random.default_rng(seed), before)
    assert told.startswith(name)
    step = difference(before, after)
    assert step.max() > 0
    assert np.percentile(step, 90) <= 16
