"""A small twin on disk: its layout, its truth, and that it comes out the same whatever draws it."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from whatchanged.errors import OutputError
from whatchanged.synth.clevr import render
from whatchanged.synth.clevr.sampling import sample_triple
from whatchanged.synth.clevr.twin import split_of, write_twin
from whatchanged.worlds.clevr.truth import read_triples

SCENES, SIZE = 6, (120, 80)


@pytest.fixture(scope="module")
def twin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("twin") / "set"
    write_twin(out, SCENES, seed=4, size=SIZE)
    return out


def load(twin: Path, name: str):
    return json.loads((twin / name).read_text(encoding="utf-8"))


def files(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_pictures_lie_under_their_official_names_and_are_the_scenes_drawings(twin: Path):
    for folder, name in (("images", "default"), ("sc_images", "semantic"), ("nsc_images", "nonsemantic")):
        names = sorted(p.name for p in (twin / folder).iterdir())
        assert names == [f"CLEVR_{name}_{i:06d}.png" for i in range(SCENES)]
    with Image.open(twin / "sc_images/CLEVR_semantic_000002.png") as picture:
        assert picture.mode == "RGB" and picture.size == SIZE
        assert np.array_equal(np.asarray(picture), render([sample_triple(4, 2).semantic], *SIZE)[0])


def test_the_truth_beside_it_reads_back_as_what_was_drawn(twin: Path):
    assert read_triples(twin) == tuple(sample_triple(4, i) for i in range(SCENES))


def test_annotations_agree_with_each_other(twin: Path):
    changes, nothing = load(twin, "change_captions.json"), load(twin, "no_change_captions.json")
    keys = [f"CLEVR_default_{i:06d}.png" for i in range(SCENES)]
    assert list(changes) == list(nothing) == keys
    assert all(5 <= len(set(texts)) <= 7 for texts in [*changes.values(), *nothing.values()])
    types = load(twin, "type_mapping.json")
    assert types["color"] == ["000000.png", "000005.png"] and types["move"] == ["000004.png"]
    references = load(twin, "total_change_captions_reformat.json")
    ids = [row["id"] for row in references["images"]]
    assert ids == [f"{i:06d}.png" for i in range(SCENES)] + [f"{i:06d}.png_n" for i in range(SCENES)]
    spoken = [row["caption"] for row in references["annotations"] if row["image_id"] == "000003.png_n"]
    assert spoken == nothing["CLEVR_default_000003.png"]
    numbers = [row["id"] for row in references["annotations"]]
    assert len(set(numbers)) == len(numbers) == sum(map(len, [*changes.values(), *nothing.values()]))


def test_boxes_are_null_where_a_thing_is_absent(twin: Path):
    boxes = load(twin, "change_captions_with_bbox.json")
    assert boxes["2"]["bbox_before"] is None and boxes["2"]["bbox_after"] is not None  # added
    assert boxes["3"]["bbox_before"] is not None and boxes["3"]["bbox_after"] is None  # dropped
    x, y, width, height = boxes["0"]["bbox_before"]
    assert 0 <= x < x + width <= SIZE[0] and 0 <= y < y + height <= SIZE[1]
    overlaps = load(twin, "change_captions_by_IOU.json")
    assert list(overlaps) == [str(i) for i in range(SCENES)]
    assert all(0 <= v <= 1 for v in overlaps.values())


def test_the_splits_are_85_5_10_in_every_type_and_hold_each_scene_once(twin: Path):
    counts = Counter((split_of(i, 9), i % 5) for i in range(300))
    for kind in range(5):
        assert [counts[split, kind] for split in ("train", "val", "test")] == [51, 3, 6]
    assert sorted(i for part in load(twin, "splits.json").values() for i in part) == list(range(SCENES))


def test_a_smaller_set_is_the_beginning_of_a_larger_one(twin: Path, tmp_path: Path):
    write_twin(tmp_path / "set", 2, seed=4, size=SIZE)
    for name, content in files(tmp_path / "set").items():
        if name.endswith(".png"):
            assert content == (twin / name).read_bytes()
    assert load(tmp_path / "set", "pairs.json") == load(twin, "pairs.json")[:2]


@pytest.mark.slow
def test_two_workers_write_the_same_bytes_as_one(tmp_path: Path):
    mentioned: list[int] = []
    write_twin(tmp_path / "one", 25, seed=1, size=(48, 32))
    write_twin(tmp_path / "two", 25, seed=1, size=(48, 32), workers=2, advance=mentioned.append)
    assert files(tmp_path / "one") == files(tmp_path / "two")
    assert mentioned == [10, 10, 5]


def test_an_existing_folder_is_left_alone(tmp_path: Path):
    (tmp_path / "set").mkdir()
    with pytest.raises(OutputError, match="exists already"):
        write_twin(tmp_path / "set", 1)
    assert list((tmp_path / "set").iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"scenes": 0}, "at least one"),
        ({"scenes": 1, "workers": 0}, "at least one"),
        ({"scenes": 1, "size": (8, 8)}, "8x8"),
    ],
)
def test_numbers_out_of_range_are_refused(tmp_path: Path, arguments: dict, message: str):
    with pytest.raises(OutputError, match=message):
        write_twin(tmp_path / "set", **arguments)
    with pytest.raises(OutputError, match="Make it first"):
        write_twin(tmp_path / "no" / "set", 1)


def test_nothing_is_left_behind_by_an_interrupt(tmp_path: Path):
    def interrupt(done: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_twin(tmp_path / "set", 1, size=(48, 32), advance=interrupt)
    assert list(tmp_path.iterdir()) == []
