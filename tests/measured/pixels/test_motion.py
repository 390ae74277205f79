import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from whatchanged.measured.pixels.motion import runs_of_lines


def lines(seed, count):
    """Rows of random blocks, each unlike the others."""
    rng = np.random.default_rng(seed)
    blocks = rng.integers(0, 2, (count, 20)) * 200
    return np.repeat(np.repeat(blocks, 3, axis=0), 6, axis=1)[..., None].repeat(3, axis=2).astype(np.uint8)


@given(st.integers(0, 50), st.integers(3, 17), st.integers(2, 10), st.integers(0, 1))
@settings(max_examples=25, deadline=None)
def test_inserted_lines_are_found_where_they_are(seed, place, count, axis):
    before, new = lines(seed, 20), lines(seed + 1000, count)
    after = np.concatenate([before[: 3 * place], new, before[3 * place :]])
    if axis:
        before, after = before.transpose(1, 0, 2).copy(), after.transpose(1, 0, 2).copy()
    source = np.full(len(after) if not axis else after.shape[1], -1)
    for run in runs_of_lines(before, after, axis):
        if run.offset is not None:
            source[run.start : run.stop] = np.arange(run.start, run.stop) - run.offset
    wanted = np.r_[np.arange(3 * place), np.full(3 * count, -1), np.arange(3 * place, 60)]
    matched = wanted >= 0
    assert np.mean(source[matched] == wanted[matched]) > 0.9  # blurs reach over the seams


def test_equal_parts_stay():
    (run,) = runs_of_lines(lines(0, 10), lines(0, 10), 0)
    assert (run.start, run.stop, run.offset) == (0, 30, 0)


def test_blank_ground_explains_nothing():
    before = np.full((60, 60, 3), 255, np.uint8)
    after = before.copy()
    before[20:40, 10:50] = 0
    assert all(not run.offset for run in runs_of_lines(before, after, 0))
