"""Shards of grid features: written, found, read back, and refused where they are not what they say."""

import json
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save, save_file

from whatchanged.errors import DatasetError
from whatchanged.training.data.grid_files import (
    GridFiles,
    is_grid_folder,
    picture_name,
    read_header,
    shard_file,
    write_shard,
)

ABOUT = {"backbone": "b", "sha256": "0", "rows": 2, "columns": 3, "width": 4}


@pytest.fixture
def folder(tmp_path):
    grids = np.random.default_rng(0).normal(size=(5, 6, 4)).astype(np.float16)
    write_shard(shard_file(tmp_path, 0), ABOUT, ["a/x.png", "b/x.png", "ü.png"], grids[:3])
    write_shard(shard_file(tmp_path, 1), ABOUT, ["c.png", "d.png"], grids[3:])
    return tmp_path, grids


def test_each_picture_is_read_from_its_shard(folder):
    path, grids = folder
    stored = GridFiles(path)
    for number, name in enumerate(["a/x.png", "b/x.png", "ü.png", "c.png", "d.png"]):
        read = stored.read(name)
        assert read.dtype == np.float32 and np.array_equal(read, grids[number].astype(np.float32))
    assert len(stored) == 5 and is_grid_folder(path)
    assert sorted(p.name for p in path.iterdir()) == ["00000.safetensors", "00001.safetensors"]


def test_folders_side_by_side_are_read_as_one(folder, tmp_path):
    path, grids = folder
    for name in ("birds", "cub"):
        (path / name).mkdir()
    shard_file(path, 0).rename(shard_file(path / "birds", 0))
    shard_file(path, 1).rename(shard_file(path / "cub", 0))
    stored = GridFiles(path)
    assert is_grid_folder(path) and len(stored) == 5
    assert np.array_equal(stored.read("d.png"), grids[4].astype(np.float32))
    write_shard(shard_file(path / "cub", 1), ABOUT, ["a/x.png"], grids[:1])
    with pytest.raises(DatasetError, match=r"cub/00001.*features of a/x.png lie in .*birds/00000.*too"):
        GridFiles(path)


def test_a_picture_that_is_not_there_is_named(folder):
    with pytest.raises(DatasetError, match=r"no features of x\.png among those of 5 pictures"):
        GridFiles(folder[0]).read("x.png")


def test_grids_of_another_size_say_what_to_set(folder):
    GridFiles(folder[0]).check(2, 3, 4)
    with pytest.raises(
        DatasetError, match=r"vision\.rows=2 --set vision\.columns=3 --set vision.feature_wid"
    ):
        GridFiles(folder[0]).check(7, 7, 2048)


def test_two_backbones_in_one_folder_are_refused(folder):
    write_shard(shard_file(folder[0], 2), {**ABOUT, "sha256": "1"}, ["e.png"], folder[1][:1])
    with pytest.raises(DatasetError, match="come from another backbone"):
        GridFiles(folder[0])


def test_two_precisions_in_one_folder_are_refused(folder):
    write_shard(shard_file(folder[0], 2), {**ABOUT, "precision": "bf16"}, ["e.png"], folder[1][:1])
    name = ABOUT["backbone"]
    with pytest.raises(DatasetError, match=rf"backbone \({name} in bf16\) than those beside it \({name}\)"):
        GridFiles(folder[0])


def test_what_is_no_shard_is_refused(folder):
    path = shard_file(folder[0], 2)
    for content in (b"", b"junk", shard_file(folder[0], 0).read_bytes()[:-9]):
        path.write_bytes(content)
        with pytest.raises(DatasetError, match=r"00002\.safetensors: no features that whatchanged wrote"):
            read_header(path)
    save_file({"features": folder[1]}, path)
    with pytest.raises(DatasetError, match="no features that whatchanged wrote"):
        read_header(path)
    write_shard(path, ABOUT, ["a", "b"], folder[1])
    with pytest.raises(DatasetError, match=r"its features are \[5, 6, 4\], its metadata says \[2, 6, 4\]"):
        read_header(path)


@pytest.mark.parametrize(
    "told",
    [
        [],
        [1, 2],
        3,
        None,
        {"about": ABOUT},
        {"about": [ABOUT], "pictures": ["a"] * 5},
        {"about": {**ABOUT, "rows": [2]}, "pictures": ["a"] * 5},
        {"about": {**ABOUT, "rows": "2"}, "pictures": ["a"] * 5},
        {"about": {**ABOUT, "rows": True}, "pictures": ["a"] * 5},
        {"about": {**ABOUT, "backbone": 3}, "pictures": ["a"] * 5},
        {"about": {**ABOUT, "sha256": None}, "pictures": ["a"] * 5},
        {"about": {**ABOUT, "precision": 16}, "pictures": ["a"] * 5},
        {"about": {k: v for k, v in ABOUT.items() if k != "backbone"}, "pictures": ["a"] * 5},
        {"about": {k: v for k, v in ABOUT.items() if k != "sha256"}, "pictures": ["a"] * 5},
        {"about": ABOUT, "pictures": 5},
        {"about": ABOUT, "pictures": [["a"]] * 5},
        {"about": ABOUT, "pictures": {"a": 1}},
    ],
    ids=str,
)
def test_metadata_of_another_kind_is_refused(folder, told):
    path = shard_file(folder[0], 0)
    path.write_bytes(save({"features": folder[1]}, {"grids": json.dumps(told)}))
    with pytest.raises(DatasetError, match=r"00000\.safetensors: no features that whatchanged wrote"):
        GridFiles(folder[0])


def test_names_are_paths_below_the_folder_of_the_data(tmp_path):
    assert picture_name(tmp_path / "images" / "x.png", tmp_path) == "images/x.png"
    assert picture_name(tmp_path / "images" / "x.png", tmp_path / "pairs.csv") == "images/x.png"
    assert picture_name(Path("/elsewhere/x.png"), tmp_path) == "/elsewhere/x.png"


def test_a_flipped_bit_is_noticed_and_a_shard_without_a_checksum_is_read(tmp_path):
    about = {"backbone": "b", "sha256": "0", "rows": 1, "columns": 2, "width": 3}
    grids = np.arange(12, dtype=np.float16).reshape(2, 2, 3)
    path = shard_file(tmp_path, 0)
    write_shard(path, about, ["a.png", "b.png"], grids)
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(DatasetError, match="its SHA-256 differs"):
        GridFiles(tmp_path).read("a.png")
    told = json.dumps({"about": about, "pictures": ["a.png", "b.png"]})  # as before 0.2
    path.write_bytes(save({"features": grids}, {"grids": told}))
    assert np.array_equal(GridFiles(tmp_path).read("b.png"), grids[1])
