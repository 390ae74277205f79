"""Features a file a picture, read as the released programs read them; shards are tested in ``test_store``."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from support.tiny_run import TINY, make_run
from support.tiny_sets import clevr_change, paint

from whatchanged.datasets import open_dataset
from whatchanged.errors import OutputError
from whatchanged.launch import Launch
from whatchanged.recipes import FeaturesConfig
from whatchanged.training.data.grid_files import GridFiles
from whatchanged.training.data.pictures import picture_reader
from whatchanged.training.features.store import store_features


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A run with a backbone of 6 cells."""
    return make_run(tmp_path_factory.mktemp("layouts") / "run", "clevr-see", TINY)


@pytest.fixture
def scenes(tmp_path):
    """Scenes 3 and 1205, and a third that no annotation names."""
    clevr_change(tmp_path / "scenes")
    for place, view in (("images", "default"), ("sc_images", "semantic"), ("nsc_images", "nonsemantic")):
        paint(tmp_path / "scenes" / place / f"CLEVR_{view}_000007.png", (200, 10, 10))
    return tmp_path / "scenes"


def store(data, run, out, **settings):
    launch = Launch("cpu", 1, quiet=True)
    own = {name: settings.pop(name) for name in vars(launch) if name in settings}
    given = {"shard": 2, "launch": replace(launch, **own)} | settings
    return store_features(open_dataset(data), str(run), out, **given)


def contents(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*.*")}


def loader_of_the_field(folder, index):
    """How RCC's and SCORER's loaders find a scene's features: by its place in the sorted folder."""
    files = sorted(folder.iterdir())
    return torch.FloatTensor(np.load(files[index]))


def test_released_loaders_read_them(small, scenes, tmp_path):
    out = tmp_path / "out"
    done = store(scenes, small, out, npy=True)
    assert (done.pictures, done.written, done.kept) == (9, 9, 0)
    store(scenes, small, tmp_path / "shards")
    shards = GridFiles(tmp_path / "shards")
    size = [shards.about[key] for key in ("width", "rows", "columns")]
    for folder, images, view in (
        ("features", "images", "default"),
        ("sc_features", "sc_images", "semantic"),
        ("nsc_features", "nsc_images", "nonsemantic"),
    ):
        assert len(list((out / folder).iterdir())) == 3
        for index, scene in ((0, 3), (2, 1205)):  # the second one no record names
            grid = loader_of_the_field(out / folder, index)
            assert grid.dtype == torch.float32 and list(grid.shape) == size
            stored = shards.read(f"{images}/CLEVR_{view}_{scene:06d}.png")  # (N, F), float16
            np.testing.assert_allclose(grid.flatten(1).T.numpy(), stored, rtol=1e-3, atol=1e-4)
    assert done.size == sum(len(content) for name, content in contents(out).items() if name.endswith(".npy"))


def test_our_own_reader_finds_them(small, scenes, tmp_path):
    store(scenes, small, tmp_path / "out", npy=True)
    store(scenes, small, tmp_path / "shards")
    about = GridFiles(tmp_path / "shards").about
    vision = FeaturesConfig(rows=about["rows"], columns=about["columns"], feature_width=about["width"])
    for record in open_dataset(scenes).records:
        one, other = (
            picture_reader(vision, str(tmp_path / kind), scenes)(record.after) for kind in ("out", "shards")
        )
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-4)


def test_what_is_there_is_kept_and_what_is_missing_made(small, scenes, tmp_path):
    out = tmp_path / "out"
    store(scenes, small, out, npy=True)
    whole = contents(out)
    gone = out / "sc_features" / "CLEVR_semantic_000003.png.npy"
    gone.unlink()
    done = store(scenes, small, out, npy=True, batch_size=1)
    assert (done.written, done.kept) == (1, 8)
    assert contents(out) == whole
    store(scenes, small, tmp_path / "again", npy=True, batch_size=4, shard=3)
    assert contents(tmp_path / "again") == whole


def test_a_folder_of_others_is_left_alone(small, scenes, tmp_path):
    torch.manual_seed(5)
    other = make_run(tmp_path / "other", "clevr-see", [*TINY, "vision.channels=[4, 6, 9]"])
    out = tmp_path / "out"
    store(scenes, small, out, npy=True)
    before = contents(out)
    with pytest.raises(OutputError, match="not of clevr-see with"):
        store(scenes, other, out, npy=True)
    for damage in ("{", "[]"):
        (out / "features.json").write_text(damage)
        with pytest.raises(OutputError, match=r"features\.json"):
            store(scenes, small, out, npy=True)
    (out / "features.json").write_bytes(before["features.json"])
    assert contents(out) == before
    assert json.loads(before["features.json"])["backbone"] == "clevr-see"
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "letter.txt").write_text("dear")
    with pytest.raises(OutputError, match="holds files of others"):
        store(scenes, small, mine, npy=True)


def test_a_list_gets_files_of_its_pictures_alone(small, tmp_path):
    for name in ("a", "b", "c"):
        paint(tmp_path / "own" / f"{name}.png")
    paint(tmp_path / "d.png")
    pairs = tmp_path / "own" / "pairs.csv"
    pairs.write_text("before,after\na.png,b.png\n")
    store(pairs, small, tmp_path / "out", npy=True)
    assert sorted(contents(tmp_path / "out")) == ["a.png.npy", "b.png.npy", "features.json"]
    pairs.write_text("before,after\na.png,../d.png\n")
    with pytest.raises(OutputError, match="lies outside the data set's folder"):
        store(pairs, small, tmp_path / "outside", npy=True)
    assert not (tmp_path / "outside").exists()
