import numpy as np
import pytest
from PIL import Image

from whatchanged.errors import DatasetError, RecipeError
from whatchanged.recipes import BackboneConfig, FeaturesConfig
from whatchanged.training.data.grid_files import shard_file, write_shard
from whatchanged.training.data.pictures import kept_pixels, picture_reader


def test_pictures_are_resized(tmp_path):
    Image.fromarray(np.full((50, 90, 3), (0, 255, 51), np.uint8)).save(tmp_path / "x.png")
    read = picture_reader(BackboneConfig(image_width=24, image_height=16), "", tmp_path)
    pixels = read(tmp_path / "x.png")
    assert pixels.shape == (16, 24, 3) and pixels.dtype == np.uint8
    assert (pixels == (0, 255, 51)).all()


def test_a_picture_is_decoded_once_as_long_as_there_is_room(tmp_path):
    """Two pictures of 8x4 take 192 bytes: with room for one of them, the other is decoded at each visit."""
    for name, grey in (("a", 10), ("b", 20)):
        Image.new("RGB", (16, 8), (grey,) * 3).save(tmp_path / f"{name}.png")
    read = kept_pixels((8, 4), most_bytes=100)
    first = read(tmp_path / "a.png")
    assert (first == 10).all()
    assert (read(tmp_path / "b.png") == 20).all()
    for name in ("a", "b"):
        Image.new("RGB", (16, 8), (99,) * 3).save(tmp_path / f"{name}.png")
    assert read(tmp_path / "a.png") is first
    assert (read(tmp_path / "b.png") == 99).all()


def test_stored_features_are_read_in_the_form_that_lies_there(tmp_path):
    """Shards that ``features`` wrote, or an ``.npy`` a picture; other grids than the recipe's are refused."""
    vision = FeaturesConfig(rows=2, columns=3, feature_width=5)
    cells = np.arange(30, dtype=np.float16).reshape(6, 5)
    about = {"backbone": "b", "sha256": "0", "rows": 2, "columns": 3, "width": 5}
    (tmp_path / "shards").mkdir()
    write_shard(shard_file(tmp_path / "shards", 0), about, ["images/x.png"], cells[None])
    (tmp_path / "arrays").mkdir()
    np.save(tmp_path / "arrays" / "x.png.npy", cells)
    picture = tmp_path / "images" / "x.png"
    for folder in ("shards", "arrays"):
        found = picture_reader(vision, str(tmp_path / folder), tmp_path)(picture)
        assert found.dtype == np.float32 and np.array_equal(found, cells)
    with pytest.raises(DatasetError, match="the recipe wants 3 x 2 with 5"):
        picture_reader(FeaturesConfig(rows=3, columns=2, feature_width=5), str(tmp_path / "shards"), tmp_path)
    with pytest.raises(RecipeError, match="--features FOLDER"):
        picture_reader(vision, "", tmp_path)
