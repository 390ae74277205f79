import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whatchanged.measured.pixels import motion
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


def test_two_parts_may_have_changed_places():
    before = lines(3, 20)
    after = np.concatenate([before[30:], before[:30]])
    assert {run.offset for run in runs_of_lines(before, after, 0)} == {30, -30}


def test_of_more_offsets_those_are_kept_that_keep_the_order():
    before, new = lines(3, 40), lines(77, 12)
    parts = [before[0:30], new[:6], before[30:60], new[6:18], before[60:90], before[0:12]]
    runs = runs_of_lines(before, np.concatenate(parts), 0)
    offsets = [run.offset for run in runs if run.offset is not None]
    assert {0, 6, 18} <= set(offsets)
    assert offsets == sorted(offsets)


def test_equal_parts_stay():
    (run,) = runs_of_lines(lines(0, 10), lines(0, 10), 0)
    assert (run.start, run.stop, run.offset) == (0, 30, 0)


def test_blank_ground_explains_nothing():
    before = np.full((60, 60, 3), 255, np.uint8)
    after = before.copy()
    before[20:40, 10:50] = 0
    assert all(not run.offset for run in runs_of_lines(before, after, 0))


@given(st.integers(0, 1000), st.integers(1, 70), st.integers(1, 70))
@settings(max_examples=40, deadline=None)
def test_offsets_tried_together_gain_what_each_gains_alone(seed, count, others):
    rng = np.random.default_rng(seed)
    one, other = (
        motion._Profile(
            np.repeat(rng.integers(0, 3, (-(-length // 3), 12)) * 100, 3, axis=0)[:length].astype(np.int16),
            np.repeat(rng.integers(0, 4, -(-length // 3)) * 300.0, 3)[:length],
        )
        for length in (count, others)
    )
    in_place = motion._cost(one, other, 0)
    moved = in_place >= motion.FITS
    if not moved.any():
        return
    reach = max(count, others) - 1
    offsets, gains = motion._gains(one, other, in_place, reach)
    found = dict(zip(offsets.tolist(), gains.tolist(), strict=True))
    for offset in range(-reach, reach + 1):
        cost = motion._cost(one, other, offset)
        gain = float((other.ink * (in_place - cost))[moved & (cost < motion.FITS)].sum())
        assert found.get(offset, 0.0) == pytest.approx(gain)


@given(st.integers(0, 1000), st.integers(1, 30), st.integers(1, 6))
@settings(max_examples=40, deadline=None)
def test_the_cheapest_way_costs_no_more_than_any_other(seed, count, states):
    costs = np.random.default_rng(seed).random((count, states)) * 4

    def total(way):
        return costs[np.arange(count), way].sum() + motion.SWITCH * np.count_nonzero(np.diff(way))

    way = motion._cheapest(costs)
    least = costs[0]
    for line in costs[1:]:
        least = np.minimum(least, least.min() + motion.SWITCH) + line
    assert abs(total(way) - least.min()) < 1e-9


@pytest.mark.parametrize("axis", [0, 1])
def test_strips_of_a_long_picture_give_the_profile_of_the_whole(axis, monkeypatch):
    pixels = np.random.default_rng(0).integers(0, 256, (203, 37, 3)).astype(np.uint8)
    whole = motion._profile(pixels, axis)
    monkeypatch.setattr(motion, "STRIP", 16)
    strips = motion._profile(pixels, axis)
    assert np.array_equal(strips.samples, whole.samples) and np.array_equal(strips.ink, whole.ink)
