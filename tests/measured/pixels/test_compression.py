import numpy as np
import pytest
from support.compared_screens import screen

from whatchanged.measured.pixels import compression
from whatchanged.measured.pixels.compression import as_compressed
from whatchanged.measured.pixels.planes import steps_between


def pixels():
    return np.asarray(screen(3))[:160, :200].copy()


@pytest.mark.parametrize("sampling", compression.SAMPLINGS)
@pytest.mark.parametrize("quality", [95, 83, 70, 52])
def test_what_a_jpeg_did_is_explained_whichever_is_the_jpeg(quality, sampling):
    plain = pixels()
    lossy = compression._compressed(plain, quality, sampling)
    for before, after in ((plain, lossy), (lossy, plain)):
        one, other = as_compressed(before, after, steps_between(before, after))
        assert compression._distance(one, other) < 0.1 * compression._distance(plain, lossy)


def test_fewer_qualities_are_tried_than_there_are_and_the_way_is_that_of_all(monkeypatch):
    plain = np.random.default_rng(0).integers(0, 256, (128, 128, 1)).astype(np.uint8).repeat(3, axis=2)
    lossy = compression._compressed(plain, 64, "4:2:0")
    tried = compression._qualities(plain, compression._distance(plain, lossy))
    assert 64 in tried and len(tried) < len(compression.QUALITIES)
    found = compression._way(plain, lossy)
    monkeypatch.setattr(compression, "_qualities", lambda plain, whole: compression.QUALITIES)
    assert found == compression._way(plain, lossy)


def test_another_picture_is_not_explained():
    plain, other = pixels(), pixels()
    other[40:90, 30:150] = 255 - other[40:90, 30:150]
    assert as_compressed(plain, other, steps_between(plain, other)) is None
    assert not compression._qualities(plain, 100.0)


def test_no_quality_is_tried_where_whole_blocks_have_other_colours(monkeypatch):
    plain = pixels()[:128, :128]
    monkeypatch.setattr(compression, "_compressed", None)
    assert compression._way(plain, np.roll(plain, 32, axis=0)) is None


@pytest.mark.parametrize("shape", [(16, 16), (33, 50, 3), (7, 5)])
def test_blocks_at_the_end_are_smaller(shape):
    values = np.random.default_rng(0).integers(0, 256, shape).astype(np.uint8)
    found = compression._blocks(values, np.maximum)
    size = compression.BLOCK
    for row in range(found.shape[0]):
        for column in range(found.shape[1]):
            part = values[row * size : (row + 1) * size, column * size : (column + 1) * size]
            assert np.array_equal(found[row, column], part.max(axis=(0, 1)))
