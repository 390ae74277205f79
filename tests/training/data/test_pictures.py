import numpy as np
import pytest
from PIL import Image

from whatchanged.errors import DatasetError
from whatchanged.recipes import VisionConfig
from whatchanged.training.data.pictures import read_features, reader


def test_pictures_are_resized(tmp_path):
    Image.fromarray(np.full((50, 90, 3), (0, 255, 51), np.uint8)).save(tmp_path / "x.png")
    pixels = reader(VisionConfig(kind="backbone", image_width=24, image_height=16), "", tmp_path)(
        tmp_path / "x.png"
    )
    assert pixels.shape == (16, 24, 3) and pixels.dtype == np.uint8
    assert (pixels == (0, 255, 51)).all()


@pytest.mark.parametrize("folder", ["", "sc_images", "sc_features"])
@pytest.mark.parametrize("shape", [(5, 2, 3), (5, 6), (6, 5)])
def test_features_are_found_and_turned(tmp_path, folder, shape):
    cells = np.arange(30, dtype=np.float32).reshape(6, 5)
    stored = cells if shape == (6, 5) else cells.T.reshape(shape)
    (tmp_path / folder).mkdir(exist_ok=True)
    np.save(tmp_path / folder / "x.png.npy", stored)
    picture = tmp_path / "elsewhere" / "sc_images" / "x.png"
    assert np.array_equal(read_features(tmp_path, picture, 2, 3, 5), cells)


def test_wrong_features_are_refused(tmp_path):
    picture = tmp_path / "x.png"
    with pytest.raises(DatasetError, match=r"no features of x\.png"):
        read_features(tmp_path, picture, 2, 3, 5)
    np.save(tmp_path / "x.png.npy", np.zeros((4, 5)))
    with pytest.raises(DatasetError, match=r"got the shape \(4, 5\), wanted \(5, 2, 3\)"):
        read_features(tmp_path, picture, 2, 3, 5)
    np.save(tmp_path / "x.png.npy", np.array([{"a": 1}]), allow_pickle=True)
    with pytest.raises(DatasetError, match="cannot read the features"):
        read_features(tmp_path, picture, 2, 3, 5)
