"""Cuts and numbers of places, against pixels set by hand."""

import numpy as np
import pytest

from whatchanged.measured.crops import NUMBERS, PLANES, cuts, numbers, see
from whatchanged.measured.proposals import Proposal, propose

BOX = (20, 10, 30, 16)


def cut(pixels: np.ndarray, box: tuple[int, int, int, int], side: int) -> np.ndarray:
    """The cut of a picture that is compared with itself."""
    both = cuts(pixels, pixels, (box, box), side)
    np.testing.assert_array_equal(both[0], both[1])
    return both[0]


def picture() -> np.ndarray:
    rng = np.random.default_rng(0)
    return rng.integers(0, 256, (60, 80, 3)).astype(np.uint8)


def test_the_native_cut_is_the_picture_around_the_middle():
    pixels = picture()
    planes = cut(pixels, BOX, 16)
    assert planes.shape == (PLANES, 16, 16)
    np.testing.assert_array_equal(planes[:3], pixels[5:21, 17:33].transpose(2, 0, 1))
    mask = np.zeros((16, 16), np.uint8)
    mask[5:11, 3:13] = 255
    np.testing.assert_array_equal(planes[3], mask)


def test_beyond_the_edge_it_is_white():
    planes = cut(picture(), (0, 0, 4, 4), 16)
    assert (planes[:3, :6] == 255).all()
    assert (planes[:3, :, :6] == 255).all()
    np.testing.assert_array_equal(planes[:3, 6:, 6:], picture()[:10, :10].transpose(2, 0, 1))


def test_the_whole_shows_all_of_a_large_box():
    pixels = np.full((100, 300, 3), 255, np.uint8)
    pixels[40:60, 50:250] = 0
    planes = cut(pixels, (50, 40, 250, 60), 40)
    share = 200 / 300  # the box with what is around it is 300 wide, and so is the cut
    assert (planes[7] > 127).any(axis=0).mean() == pytest.approx(share, abs=0.04)
    dark, inside = planes[4] < 128, planes[7] > 127
    assert not (dark & ~inside).any()
    assert (dark ^ inside).sum() <= 4  # the mask reaches as far as any part of a pixel does


def test_a_small_box_is_never_enlarged():
    planes = cut(picture(), BOX, 40)
    assert (planes[7] == 255).sum() == 10 * 6


def test_of_a_large_box_the_native_cut_shows_where_the_pictures_differ():
    before = np.full((200, 300, 3), 255, np.uint8)
    after = before.copy()
    after[160:166, 250:256] = 0
    large = (10, 10, 290, 190)
    planes = cuts(before, after, (large, large), 24)
    dark = planes[1, 0] == 0
    assert dark.sum() == 36
    assert (planes[0, :3] == 255).all()
    assert (planes[:, 3] == 255).all()  # all of the cut lies in the box


def test_the_whole_of_a_very_large_picture_is_what_averages_say():
    rng = np.random.default_rng(2)
    pixels = np.repeat(rng.integers(0, 256, (10, 10, 3)), 200, 0).repeat(200, 1).astype(np.uint8)
    planes = cut(pixels, (0, 0, 2000, 2000), 40)
    np.testing.assert_allclose(
        planes[4:7].reshape(3, 10, 4, 10, 4)[:, :, 1:3, :, 1:3].mean((2, 4)),
        pixels[::200, ::200].transpose(2, 0, 1),
        atol=2,
    )


def test_what_is_seen_has_a_row_for_each_place():
    before = np.full((60, 80, 3), 255, np.uint8)
    after = before.copy()
    after[10:16, 20:30] = (200, 0, 0)
    seen = see(before, after, 3, 16)
    count = len(seen.proposals)
    assert 1 <= count <= 3
    assert seen.crops.shape == (count, 2, PLANES, 16, 16)
    assert seen.numbers.shape == (count, NUMBERS)
    assert [tuple(map(tuple, boxes.tolist())) for boxes in seen.boxes] == [
        one.boxes for one in seen.proposals
    ]
    assert seen.sizes.tolist() == [[80, 60], [80, 60]]
    nothing = see(before, before, 3, 16)
    assert nothing.crops.shape == (0, 2, PLANES, 16, 16)
    assert nothing.boxes.shape == (0, 2, 4)


def test_numbers_are_finite_and_as_many_as_told():
    before = np.full((60, 80, 3), 255, np.uint8)
    after = before.copy()
    after[10:16, 20:30] = (200, 0, 0)
    places = propose(before, after)
    found = [numbers(before, after, place, i, len(places)) for i, place in enumerate(places)]
    assert all(row.shape == (NUMBERS,) and np.isfinite(row).all() for row in found)
    assert found[0][:2].tolist() == [0, 1]  # nothing before, something after
    assert found[0][2:4] == pytest.approx([25 / 80, 13 / 60])


def test_a_box_beyond_a_smaller_picture_is_read_at_its_edge():
    before, after = np.zeros((10, 10, 3), np.uint8), np.zeros((60, 80, 3), np.uint8)
    place = Proposal(None, (50, 40, 60, 50), "added", "thing", 0.5, 100, 3.0)
    assert np.isfinite(numbers(before, after, place, 0, 1)).all()
