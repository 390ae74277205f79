"""The files of the benchmark of exit codes."""

import io

import numpy as np
import pytest
from PIL import Image

pytest.importorskip("matplotlib", reason="the benchmark draws plots")

SCRIPT = "screens.exits"


@pytest.mark.parametrize("size", [(1, 1), (3, 9), (8, 8), (37, 21)])
def test_interlaced_files_hold_the_same_pixels(size, bench):
    pixels = np.random.default_rng(0).integers(0, 256, (*size, 3)).astype(np.uint8)
    with Image.open(io.BytesIO(bench.interlaced(pixels))) as picture:
        assert picture.info["interlace"] == 1
        np.testing.assert_array_equal(np.asarray(picture), pixels)


def test_files_stored_otherwise_hold_the_same_pixels(tmp_path, bench):
    pixels = np.random.default_rng(0).integers(0, 256, (20, 30, 3)).astype(np.uint8)
    for path in bench.stored_otherwise(Image.fromarray(pixels), tmp_path):
        np.testing.assert_array_equal(np.asarray(Image.open(path).convert("RGB")), pixels)
