"""Features with a file a picture: where they lie, how they are stored, what is refused."""

import io
from pathlib import Path

import numpy as np
import pytest
from support.strange_arrays import STRANGE, npy

from whatchanged.errors import DatasetError, OutputError
from whatchanged.training.data.npy_files import features_paths, npy_bytes, npy_file, read_features


def read(folder, picture, root="elsewhere"):
    return read_features(features_paths(folder, picture, folder / root), 2, 3, 5)


@pytest.mark.parametrize("folder", ["", "sc_images", "sc_features"])
@pytest.mark.parametrize("shape", [(5, 2, 3), (5, 6), (6, 5)])
def test_features_are_found_and_turned(tmp_path, folder, shape):
    cells = np.arange(30, dtype=np.float32).reshape(6, 5)
    stored = cells if shape == (6, 5) else cells.T.reshape(shape)
    (tmp_path / folder).mkdir(exist_ok=True)
    np.save(tmp_path / folder / "x.png.npy", stored)
    picture = tmp_path / "elsewhere" / "sc_images" / "x.png"
    assert np.array_equal(read(tmp_path, picture), cells)


def test_wrong_features_are_refused(tmp_path):
    picture = tmp_path / "x.png"
    with pytest.raises(DatasetError, match=r"no features of x\.png"):
        read(tmp_path, picture)
    np.save(tmp_path / "x.png.npy", np.zeros((4, 5)))
    with pytest.raises(DatasetError, match=r"got the shape \(4, 5\), wanted \(5, 2, 3\)"):
        read(tmp_path, picture)
    np.save(tmp_path / "x.png.npy", np.array([{"a": 1}]), allow_pickle=True)
    with pytest.raises(DatasetError, match="cannot read the features"):
        read(tmp_path, picture)


NOT_FINITE = {
    name: npy(np.full((2, 3), value, np.float32)) for name, value in (("NaN", np.nan), ("inf", np.inf))
}


@pytest.mark.parametrize("kind", [*STRANGE, *NOT_FINITE])
def test_features_that_are_no_array_of_finite_numbers(tmp_path, kind):
    (tmp_path / "x.png.npy").write_bytes({**STRANGE, **NOT_FINITE}[kind])
    with pytest.raises(DatasetError, match=r"x\.png\.npy: (cannot read the features|got the shape)"):
        read_features(features_paths(tmp_path, tmp_path / "x.png", tmp_path), 1, 2, 3)


@pytest.mark.parametrize(
    ("name", "file"),
    [
        # RCC's and SCORER's folders
        ("images/CLEVR_default_000000.png", "features/CLEVR_default_000000.png.npy"),
        ("sc_images/CLEVR_semantic_000000.png", "sc_features/CLEVR_semantic_000000.png.npy"),
        ("nsc_images/CLEVR_nonsemantic_000000.png", "nsc_features/CLEVR_nonsemantic_000000.png.npy"),
        ("bef/0.png", "bef/0.png.npy"),
        ("images/train/A/train_000001.png", "features/train/A/train_000001.png.npy"),
        ("images.png", "images.png.npy"),
    ],
)
def test_where_the_released_programs_look(tmp_path, name, file):
    assert npy_file(tmp_path, name) == tmp_path / file


@pytest.mark.parametrize("name", ["/etc/passwd.png", "../x.png", "images/../../x.png"])
def test_names_that_leave_the_folder(tmp_path, name):
    with pytest.raises(OutputError, match="lies outside the data set's folder"):
        npy_file(tmp_path, name)


def test_a_deep_path_is_found_again(tmp_path):
    """Of two pictures of one name in folders of one name each has features of its own."""
    root = tmp_path / "levir"
    root.mkdir()
    for number, split in enumerate(("train", "val")):
        path = npy_file(tmp_path / "out", f"images/{split}/A/x.png")
        path.parent.mkdir(parents=True)
        path.write_bytes(npy_bytes(np.full((5, 2, 3), number, np.float32)))
        picture = root / "images" / split / "A" / "x.png"
        assert (read(tmp_path / "out", picture, root) == number).all()


def test_the_bytes_are_numpys_own(tmp_path):
    array = np.arange(30, dtype=np.float64).reshape(6, 5).T.reshape(5, 2, 3)
    stored = np.load(io.BytesIO(npy_bytes(array)), allow_pickle=False)
    assert stored.dtype == np.float32 and stored.flags.c_contiguous and np.array_equal(stored, array)
    assert Path(npy_file(tmp_path, "a/b.png")).name == "b.png.npy"
