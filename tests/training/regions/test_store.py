"""Regions on disk: what is read is what was measured; what cannot be read is told."""

import json

import numpy as np
import pytest
from safetensors.numpy import save_file
from support.drawn_regions import write_set

from whatchanged.datasets import open_dataset
from whatchanged.errors import DatasetError, OutputError
from whatchanged.measured.compared import Compared
from whatchanged.measured.pixels.reading import read_picture
from whatchanged.regions.numbers import NUMBERS, read_proposals
from whatchanged.training.regions.store import (
    ROW,
    RegionFiles,
    _checksum,
    regions_of,
    store_regions,
)


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    folder = tmp_path_factory.mktemp("regions")
    path = write_set(folder / "set")
    assert store_regions(open_dataset(path), path, folder / "regions", quiet=True, regions=4) == 1
    return path, folder / "regions"


def test_rows_hold_the_numbers_the_box_and_whether_they_are_real(drawn):
    path, regions = drawn
    files = RegionFiles(regions)
    before, after = (
        read_picture(path.parent / f"images/3_{side}.png").on_white for side in ("before", "after")
    )
    proposals = read_proposals(Compared(before, after), 4)
    count = len(proposals.boxes)
    found = files.read("images/3_before.png", "images/3_after.png")
    np.testing.assert_array_equal(found.numbers[:count], proposals.numbers)
    assert found.numbers.shape == (4, NUMBERS) and not found.numbers[count:].any()
    assert found.sizes.tolist() == [[96, 72], [96, 72]]
    for side, rows in enumerate((found.before, found.after)):
        assert rows.shape == (4, ROW)
        assert rows[:, -1].tolist() == [1.0] * count + [0.0] * (4 - count)
        np.testing.assert_array_equal(rows[:count, :4], proposals.boxes[:, side])
        assert not rows[count:].any()


def test_shards_that_are_there_are_kept_and_others_refused(drawn, tmp_path):
    path, regions = drawn
    dataset = open_dataset(path)
    assert store_regions(dataset, path, regions, quiet=True, regions=4) == 0
    with pytest.raises(
        OutputError, match=r"00000\.safetensors: it holds the regions of other pairs, or other"
    ):
        store_regions(dataset, path, regions, quiet=True, regions=5)


def test_a_recipe_that_wants_others_is_told_how_to_have_these(drawn):
    with pytest.raises(DatasetError, match=r"4 regions a pair; .* Pass --set method\.regions=4\."):
        RegionFiles(drawn[1]).check(12)


def test_a_picture_without_regions_is_named(drawn):
    with pytest.raises(DatasetError, match=r"no regions of images/3_before\.png and images/99\.png"):
        RegionFiles(drawn[1]).read("images/3_before.png", "images/99.png")


def test_a_picture_of_two_pairs_has_regions_of_each(tmp_path):
    path = write_set(tmp_path / "set", 4)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    lines[2]["before"] = lines[1]["before"]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    store_regions(open_dataset(path), path, tmp_path / "regions", quiet=True, regions=4)
    files = RegionFiles(tmp_path / "regions")
    for line in lines[1:3]:
        alone = regions_of(*(path.parent / line[side] for side in ("before", "after")), 4)
        found = files.read(line["before"], line["after"])
        for side, rows in enumerate((found.before, found.after)):
            np.testing.assert_array_equal(rows[: len(alone["boxes"]), :4], alone["boxes"][:, side])


def test_a_changed_shard_is_refused(drawn, tmp_path):
    shard = drawn[1] / "00000.safetensors"
    whole = shard.read_bytes()
    first = 8 + int.from_bytes(whole[:8], "little")
    names = ("images/3_before.png", "images/3_after.png")
    for place in (first, len(whole) - 1):
        flipped = bytes([whole[place] ^ 1])
        (tmp_path / shard.name).write_bytes(whole[:place] + flipped + whole[place + 1 :])
        with pytest.raises(DatasetError, match=r"00000\.safetensors: its content was changed"):
            RegionFiles(tmp_path).read(*names)


def test_an_empty_folder_names_the_command(tmp_path):
    with pytest.raises(DatasetError, match="--backbone regions"):
        RegionFiles(tmp_path)


def test_a_damaged_shard_is_named(drawn, tmp_path):
    whole = (drawn[1] / "00000.safetensors").read_bytes()
    (tmp_path / "00000.safetensors").write_bytes(whole[:200])
    with pytest.raises(DatasetError, match=r"00000\.safetensors: no regions that whatchanged wrote"):
        RegionFiles(tmp_path)


def test_equal_pictures_have_no_region(tmp_path):
    path = write_set(tmp_path / "set", 3)
    name = path.parent / "images/0_before.png"
    assert len(regions_of(name, name)["boxes"]) == 0


@pytest.mark.parametrize("first", [[0, 5, 2], [0, 1, 99], [1, 2, 3]])
def test_pairs_must_fit_the_regions_of_a_shard(tmp_path, first):
    tensors = {
        "numbers": np.zeros((3, NUMBERS), np.float32),
        "boxes": np.zeros((3, 2, 4), np.int32),
        "sizes": np.full((2, 2, 2), 9, np.int32),
        "first": np.array([0, 1, 3]),
    }
    told = {"about": {"regions": 2}, "pairs": [["a", "b"], ["c", "d"]]}
    path = tmp_path / "00000.safetensors"

    def write(**changed):
        own = {**tensors, **changed}
        save_file(own, path, {"regions": json.dumps({**told, "sha256": _checksum(own)})})

    write()
    files = RegionFiles(tmp_path)
    results = [rows for pair in (("a", "b"), ("c", "d")) for rows in files.read(*pair)[1:3]]
    assert [int(rows[:, -1].astype(bool).sum()) for rows in results] == [1, 1, 2, 2]
    write(first=np.array(first))
    with pytest.raises(DatasetError, match="its content was changed"):
        RegionFiles(tmp_path).read("a", "b")
    write(sizes=np.zeros((1, 2, 2), np.int32))
    with pytest.raises(DatasetError, match="sizes: "):
        RegionFiles(tmp_path)
    save_file(tensors, path, {"regions": json.dumps(told)})
    with pytest.raises(DatasetError, match="'sha256'"):
        RegionFiles(tmp_path)
