"""NumPy's files: mapped and read where they are right, one error in words where they are not."""

import resource

import numpy as np
import pytest
from support.strange_arrays import STRANGE, announcing, archive, npy

from whatchanged.arrays import arrays_of, mapped_array

NOT_ARRAYS = [
    name
    for name in STRANGE
    if name not in ("complex numbers", "dates", "words", "records", "whole numbers", "a number")
]


def test_an_array_is_mapped(tmp_path):
    np.save(tmp_path / "x.npy", np.arange(6.0).reshape(2, 3))
    found = mapped_array(tmp_path / "x.npy")
    assert isinstance(found, np.memmap) and np.array_equal(found, [[0, 1, 2], [3, 4, 5]])
    assert not found.flags.writeable


@pytest.mark.parametrize("kind", NOT_ARRAYS)
def test_what_is_no_array_is_a_value_error_in_words(tmp_path, kind):
    (tmp_path / "x.npy").write_bytes(STRANGE[kind])
    for read in (mapped_array, lambda path: arrays_of(path, ["a"])):
        if kind == "arrays in a zip" and read is not mapped_array:
            continue
        with pytest.raises(ValueError, match=r"\w") as error:
            read(tmp_path / "x.npy")
        assert "\n" not in str(error.value)


def test_an_array_of_objects_is_not_unpickled(tmp_path):
    np.save(tmp_path / "x.npy", np.array([{"a": 1}]), allow_pickle=True)
    np.savez(tmp_path / "x.npz", a=np.array([{"a": 1}]))
    with pytest.raises(ValueError, match=r"\w"):
        mapped_array(tmp_path / "x.npy")
    with pytest.raises(ValueError, match="allow_pickle=False"):
        arrays_of(tmp_path / "x.npz", ["a"])


def test_arrays_by_name(tmp_path):
    np.savez(tmp_path / "x.npz", a=np.arange(3), b=np.ones(2), c=np.zeros(1))
    results = arrays_of(tmp_path / "x.npz", ["b"], optional=["c", "d"])
    assert {name: array.tolist() for name, array in results.items()} == {"b": [1, 1], "c": [0]}
    with pytest.raises(ValueError, match="d"):
        arrays_of(tmp_path / "x.npz", ["a", "d"])


def test_an_archive_that_grows_as_it_is_unpacked_is_refused(tmp_path):
    """100 MB of zeros in 100 kB."""
    np.savez_compressed(tmp_path / "x.npz", a=np.zeros(100_000_000, np.uint8))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ValueError, match="it would grow to 100,000,128 bytes"):
        arrays_of(tmp_path / "x.npz", ["a"])
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000  # kilobytes


def test_an_archive_that_announces_a_terabyte(tmp_path):
    (tmp_path / "x.npz").write_bytes(archive("a.npy", announcing((10**6, 10**6), "<f4")))
    with pytest.raises(ValueError, match=r"\w"):
        arrays_of(tmp_path / "x.npz", ["a"])
    (tmp_path / "x.npz").write_bytes(archive("a.npy", npy(np.ones(2))))
    assert arrays_of(tmp_path / "x.npz", ["a"])["a"].tolist() == [1, 1]
