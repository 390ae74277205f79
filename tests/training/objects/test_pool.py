"""A pool of drawn triples: its targets, its files, its growth."""

import json
import math
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from support.tiny_pool import HEIGHT, SEED, SHARD, WIDTH

from whatchanged.errors import DatasetError
from whatchanged.synth.clevr import PLAIN, render
from whatchanged.synth.clevr.sampling import sample_triple
from whatchanged.synth.clevr.visibility import index_picture
from whatchanged.training.objects import pool
from whatchanged.training.objects.pool import (
    draw_pool,
    draw_shard,
    growing,
    open_shards,
    pairing,
    picture_truth,
    stop,
)
from whatchanged.training.objects.supervision import ATTRIBUTES, CHANGE_LABELS
from whatchanged.worlds.clevr.change import SceneChange
from whatchanged.worlds.clevr.scene import COLORS, MATERIALS, SHAPES, SIZES, Scene, SceneObject, View, project

SMALL = (48, 32)
PICTURES = ("default", "semantic", "nonsemantic")


@pytest.fixture
def shards(tiny_pool):
    return open_shards(tiny_pool)


@pytest.fixture
def in_threads(monkeypatch):
    """Shards of five triples, drawn in this process: workers of their own take seconds to start."""
    monkeypatch.setattr(pool, "SHARD", SHARD)
    monkeypatch.setattr(pool, "worker_pool", ThreadPoolExecutor)


def contents(folder: Path):
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}


# Targets


def test_a_scene_by_hand():
    """The camera stands over the negative y axis: right is x, towards the viewer is -y."""
    scene = Scene(
        (
            SceneObject("sphere", "large", "blue", "metal", 1.0, -1.0),
            SceneObject("cube", "small", "red", "rubber", 60.0, 0),
        ),
        View((0.0, -9.0, 6.0)),
    )
    truth = picture_truth(scene, WIDTH, HEIGHT)
    x, y, _ = project(np.array(scene.objects[0].center), scene.view.camera, WIDTH, HEIGHT)
    cell = int(y) // 8 * 12 + int(x) // 8
    assert truth.center.tolist() == [cell, *[-1] * 9]  # the cube is outside the picture
    assert truth.owner.ravel()[cell] == 0 and set(np.unique(truth.owner)) == {-1, 0}
    assert truth.attributes[:2].tolist() == [[1, 1, 2, 1], [0, 0, 1, 0]] and not truth.attributes[2:].any()
    assert (
        truth.ground_positions[:2].tolist() == [[1.0, 1.0], [60.0, 0.0]]
        and not truth.ground_positions[2:].any()
    )


@pytest.mark.parametrize("index", range(5))
def test_cells_agree_with_the_index_picture(index):
    scene = sample_triple(SEED, index).semantic
    picture, truth = index_picture(scene, WIDTH, HEIGHT), picture_truth(scene, WIDTH, HEIGHT)
    counts = {}
    for row, column in np.ndindex(8, 12):
        window = picture[8 * row : 8 * row + 8, 8 * column : 8 * column + 8].ravel().tolist()
        counts[row, column] = [window.count(i) for i in range(len(scene.objects))]
        most = max(counts[row, column])
        owner = counts[row, column].index(most) if most >= 0.3 * 64 else -1
        assert truth.owner[row, column] == owner
    for i in range(len(scene.objects)):
        pixels = np.argwhere(picture == i)
        here = {cell: n[i] for cell, n in counts.items()}
        middle = (pixels // 8).mean(0)
        dense = [cell for cell, n in here.items() if n >= max(here.values()) / 2]
        nearest = min(math.dist(cell, middle) for cell in dense)
        chosen = divmod(int(truth.center[i]), 12)
        assert chosen in dense and math.dist(chosen, middle) == pytest.approx(nearest)
        assert np.linalg.norm(truth.ground_positions[i]) == pytest.approx(
            math.hypot(scene.objects[i].x, scene.objects[i].y), rel=1e-5
        )
    assert (truth.center[len(scene.objects) :] == -1).all()


def test_an_object_seen_on_both_sides_of_another_has_its_middle_where_it_is_seen(monkeypatch):
    """Cells of a row: full, an eighth, full. The mean place is the middle cell, but little is seen there."""
    index = np.full((16, 24), -1, np.int8)
    index[:8, :8] = index[:8, 16:] = index[0, 8:16] = 0
    monkeypatch.setattr(pool, "index_picture", lambda *_: index)
    truth = picture_truth(Scene((SceneObject("cube", "large", "red", "metal", 0, 0),)), 24, 16)
    assert truth.owner.tolist() == [[0, -1, 0], [-1, -1, -1]] and truth.center[0] in (0, 2)
    index[0:4, 8:16] = 0  # half: now it is
    assert picture_truth(Scene((SceneObject("cube", "large", "red", "metal", 0, 0),)), 24, 16).center[0] == 1


# What is on disk


def test_scenes_and_changes_come_back_exactly(shards):
    assert [len(shard) for shard in shards] == [SHARD, SHARD] and [s.number for s in shards] == [0, 1]
    for index in range(2 * SHARD):
        shard, i = shards[index // SHARD], index % SHARD
        triple = sample_triple(SEED, index)
        assert shard.change(i) == triple.change
        for k, name in enumerate(PICTURES):
            scene = getattr(triple, name)
            assert shard.scene(i, k) == scene
            stored, anew = shard.picture_truth(i, k), picture_truth(scene, WIDTH, HEIGHT)
            for field, value in vars(anew).items():
                assert np.array_equal(getattr(stored, field), value)
                assert getattr(stored, field).dtype == value.dtype


def test_pictures_show_their_scenes(shards):
    """In another light, each is still more like a plain drawing of its own scene than of the other two."""
    assert shards[0].pictures.shape == (SHARD, 3, HEIGHT, WIDTH, 3)
    scenes = [shards[0].scene(i, k) for i in range(SHARD) for k in range(3)]
    plain = render(scenes, WIDTH, HEIGHT).reshape(SHARD, 3, -1)
    drawn = np.asarray(shards[0].pictures).reshape(SHARD, 3, -1)
    for i in range(SHARD):
        likeness = np.corrcoef(np.concatenate([drawn[i], plain[i]]))[:3, 3:]
        assert likeness.argmax(1).tolist() == [0, 1, 2]
    assert not np.array_equal(drawn, plain)


def expected_pairing(before: Scene, after: Scene):
    """Partners and labels from the scenes alone: equal objects are one, what is left changed or is gone."""
    partner = [
        [after.objects.index(t) if t in after.objects else -1 for t in before.objects],
        [before.objects.index(t) if t in before.objects else -1 for t in after.objects],
    ]
    change_label = [["same"] * len(side) for side in partner]
    left = [[n for n, other in enumerate(side) if other == -1] for side in partner]
    if all(left):
        (a,), (b,) = left
        partner[0][a], partner[1][b] = b, a
        one, other = before.objects[a], after.objects[b]
        kind = next(
            (name for name in ("color", "material") if getattr(one, name) != getattr(other, name)), "move"
        )
        change_label[0][a] = change_label[1][b] = kind
    for side in (0, 1):
        for n in left[side] if not all(left) else ():
            change_label[side][n] = "unpaired"
    return partner, [[CHANGE_LABELS.index(name) for name in side] for side in change_label]


@pytest.mark.parametrize("index", range(2 * SHARD))
def test_partners_and_fates_of_every_ordered_pair(index, shards):
    shard, i = shards[index // SHARD], index % SHARD
    change, none = shard.change(i), SceneChange("none", None, None)
    changes = {
        (0, 1): change,
        (2, 1): change,
        (1, 0): change.reversed(),
        (1, 2): change.reversed(),
        (0, 2): none,
        (2, 0): none,
    }
    for (k, m), between in changes.items():
        found = pairing(shard, i, k, m, between)
        counts = [len(shard.scene(i, k).objects), len(shard.scene(i, m).objects)]
        partner, change_label = expected_pairing(shard.scene(i, k), shard.scene(i, m))
        assert found.partner_before.tolist() == partner[0] + [-1] * (10 - counts[0])
        assert found.partner_after.tolist() == partner[1] + [-1] * (10 - counts[1])
        assert found.change_label_before.tolist() == change_label[0] + [0] * (10 - counts[0])
        assert found.change_label_after.tolist() == change_label[1] + [0] * (10 - counts[1])
        assert np.array_equal(found.before.center, shard.picture_truth(i, k).center)
        assert np.array_equal(found.after.center, shard.picture_truth(i, m).center)


# Damage


def damage_cut_truth(pool):
    (pool / "00001.truth.npz").write_bytes((pool / "00001.truth.npz").read_bytes()[:500])


def damage_no_truth(pool):
    (pool / "00001.truth.npz").unlink()


def damage_other_truth(pool):
    np.savez(pool / "00001.truth.npz", change=np.zeros((SHARD, 3)))


def damage_cut_pictures(pool):
    (pool / "00001.pictures.npy").write_bytes((pool / "00001.pictures.npy").read_bytes()[:500])


def damage_few_pictures(pool):
    np.save(pool / "00001.pictures.npy", np.load(pool / "00001.pictures.npy")[:3])


@pytest.mark.parametrize(
    "damage",
    [damage_cut_truth, damage_no_truth, damage_other_truth, damage_cut_pictures, damage_few_pictures],
)
def test_a_damaged_shard_is_named(damage, tiny_pool, tmp_path):
    pool = shutil.copytree(tiny_pool, tmp_path / "pool")
    damage(pool)
    with pytest.raises(DatasetError, match=r"00001\.pictures\.npy: this shard or its truth .*Delete"):
        open_shards(pool)


def test_shards_of_another_length_or_missing_ones_are_named(tiny_pool, tmp_path):
    pool = shutil.copytree(tiny_pool, tmp_path / "pool")
    assert [shard.number for shard in open_shards(pool, [1])] == [1]
    with pytest.raises(DatasetError, match=r"00002\.pictures\.npy: this shard or its truth cannot be read"):
        open_shards(pool, [0, 2])
    draw_shard(pool, SEED, (WIDTH, HEIGHT), 1, SHARD - 1)
    with pytest.raises(DatasetError, match=r"00001\.pictures\.npy: its pictures are \(4, .*are alike"):
        open_shards(pool)


def test_a_damaged_description_is_named(tiny_pool, tmp_path, in_threads):
    pool = shutil.copytree(tiny_pool, tmp_path / "pool")
    for text in ("{", "[]", "[" * 100_000):
        (pool / "pool.json").write_text(text)
        with pytest.raises(DatasetError, match=r"pool\.json: .*Draw the pool again"):
            draw_pool(pool, 1, SEED, (WIDTH, HEIGHT), 1)


# Growth


def test_a_pool_grows_and_leaves_its_shards_alone(tmp_path, in_threads):
    out, mentioned = tmp_path / "pool", []
    draw_pool(out, 3, SEED, SMALL, 1, advance=mentioned.append)
    first = contents(out)
    assert set(first) == {"pool.json", "00000.pictures.npy", "00000.truth.npz"} and mentioned == [0, 5]
    (out / "00000.pictures.npy").touch()
    times = {name: (out / name).stat().st_mtime_ns for name in first}
    mentioned.clear()
    draw_pool(out, 11, SEED, SMALL, 2, advance=mentioned.append)
    assert mentioned == [5, 5, 5] and len(open_shards(out)) == 3
    assert {name: contents(out)[name] for name in first} == first
    assert {name: (out / name).stat().st_mtime_ns for name in first} == times
    (out / "00001.pictures.npy").unlink()  # as if it had been interrupted
    whole = contents(out)
    draw_pool(out, 11, SEED, SMALL, 1)
    assert {name: contents(out)[name] for name in whole} == whole and len(open_shards(out)) == 3
    draw_pool(tmp_path / "other", 11, SEED, SMALL, 1)
    assert contents(tmp_path / "other") == contents(out)


def test_another_seed_or_size_is_refused(tmp_path, in_threads):
    out = tmp_path / "pool"
    draw_pool(out, 1, SEED, SMALL, 1)
    before = contents(out)
    for seed, size in ((SEED + 1, SMALL), (SEED, (32, 48))):
        with pytest.raises(DatasetError, match=r"pool: holds another pool .*Choose another folder"):
            draw_pool(out, 10, seed, size, 1)
    for kind in ({"views": "mixed"}, {"doubles": 0.5}):
        with pytest.raises(DatasetError, match=r"pool: holds another pool .*Choose another folder"):
            draw_pool(out, 10, SEED, SMALL, 1, **kind)
    assert contents(out) == before
    assert json.loads(before["pool.json"]) == {"seed": SEED, "width": 48, "height": 32, "shard": SHARD}


def test_broken_cells_are_refused(tmp_path):
    with pytest.raises(DatasetError, match="got 50x32, wanted multiples of 8"):
        draw_pool(tmp_path / "pool", 1, SEED, (50, 32), 1)
    assert list(tmp_path.iterdir()) == []


def test_an_interrupted_shard_is_not_there(tmp_path, in_threads, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(pool.np, "save", interrupt)
    pool.write_description(tmp_path / "pool", SEED, *SMALL)
    with pytest.raises(KeyboardInterrupt):
        pool.draw_shard(tmp_path / "pool", SEED, SMALL, 0)
    with pytest.raises(DatasetError, match=r"Draw one: whatchanged synth clevr-pool .*pool --scenes N"):
        open_shards(tmp_path / "pool")


def test_light_and_material_are_drawn_by_seed_and_shard_and_nothing_else_is(
    tmp_path, in_threads, monkeypatch
):
    drawn = []

    def watch(scenes, width, height, looks):
        drawn.append([vars(look) for look in looks])
        return render(scenes, width, height, looks=looks)

    monkeypatch.setattr(pool, "render", watch)
    for seed, number in ((SEED, 0), (SEED, 1), (SEED + 1, 0)):
        (tmp_path / f"{seed}").mkdir(exist_ok=True)
        pool.draw_shard(tmp_path / f"{seed}", seed, SMALL, number)
    flat = [look for looks in drawn for look in looks]
    assert len(flat) == 3 * 15
    for name, plain in vars(PLAIN).items():
        values = {str(look[name]) for look in flat}
        if name in ("lamps", "ambient", "ground", "roughness", "floor"):
            assert len(values) == len(flat)
        else:
            assert values == {str(0.0 if name == "noise" else plain)}


@pytest.mark.slow
def test_any_number_of_workers_draws_the_same_bytes(tmp_path):
    for workers in (1, 2):
        draw_pool(tmp_path / str(workers), 101, SEED, (32, 32), workers)
    one = contents(tmp_path / "1")
    assert len(one) == 5 and one == contents(tmp_path / "2")


@pytest.mark.slow
def test_a_pool_grows_in_the_background_until_it_is_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr(pool, "SHARD", 2)
    out = tmp_path / "pool"

    def wait_for(*names):
        deadline = time.monotonic() + 60
        while not all((out / f"{name}.pictures.npy").exists() for name in names):
            assert time.monotonic() < deadline
            time.sleep(0.05)

    with growing(out, SEED, SMALL, 2, 200_000) as processes:
        wait_for("00000", "00001")
        stop(out, processes[:1])
        evens = sorted(out.glob("*[02468].pictures.npy"))
        last = int(max(out.glob("*[13579].pictures.npy")).name[:5])
        wait_for(f"{last + 4:05d}")  # the other one goes on
    assert not any(process.is_alive() for process in processes)
    assert sorted(out.glob("*[02468].pictures.npy")) == evens and not list(out.glob(".*"))
    alone = tmp_path / "alone"
    alone.mkdir()
    draw_shard(alone, SEED, SMALL, last, 2)
    assert (alone / f"{last:05d}.pictures.npy").read_bytes() == (
        out / f"{last:05d}.pictures.npy"
    ).read_bytes()
    assert len(open_shards(out)[-1]) == 2


def test_attributes_are_in_the_order_of_their_columns(shards):
    item = shards[0].scene(0, 0).objects[0]
    codes = shards[0].picture_truth(0, 0).attributes[0]
    values = {"shape": SHAPES, "size": SIZES, "color": COLORS, "material": MATERIALS}
    for (name, count), code, (wanted, known) in zip(ATTRIBUTES.items(), codes, values.items(), strict=True):
        assert (name, count) == (wanted, len(known)) and known[code] == getattr(item, name)
