"""A pool of drawn CLEVR triples on disk, because a CPU draws triples more slowly than it learns from them.

    POOL/
      pool.json                 seed, picture size, triples per shard
      00000.pictures.npy        (n, 3, H, W, 3) uint8: default, semantic, nonsemantic of each triple
      00000.truth.npz           scenes, changes, per picture the targets of ``supervision``, and "sha256", the
                                checksums of each triple's pictures (pools before 0.2 have none)

Any number of processes draws shards and writes them atomically, so a pool can grow while it is being read.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whatchanged.arrays import arrays_of, mapped_array
from whatchanged.errors import DatasetError
from whatchanged.files import clear_drafts, whole
from whatchanged.json_values import read_json
from whatchanged.opening import read_regular_text
from whatchanged.processes import end_with_parent, start_process, worker_pool
from whatchanged.synth.clevr import PLAIN, PictureLook, look_for, render
from whatchanged.synth.clevr.sampling import Views, sample_triple
from whatchanged.synth.clevr.visibility import index_picture
from whatchanged.training.objects.checked_rows import CheckedRows, checksums
from whatchanged.training.objects.supervision import ABSENT, ATTRIBUTES, CHANGE_LABELS
from whatchanged.worlds.clevr.change import CHANGE_TYPES, SceneChange
from whatchanged.worlds.clevr.scene import (
    COLORS,
    MATERIALS,
    SHAPES,
    SIZES,
    Point,
    Scene,
    SceneObject,
    View,
    ground_in_view,
)

CELL = 8
ROOM = 10
"""The largest number of objects in a scene."""
SHARD = 100
TRUTH = ("change", "count", "pose", "camera", "lamps", "owner", "center", "attributes", "places")
"""The arrays of a shard's ground truth. Each row describes one triple."""
CHECKSUMS = "sha256"
"""The array with the checksum of each triple's pictures, stored beside the ground truth."""
PICTURE_TRUTH = {
    "owner": "owner",
    "center": "center",
    "attributes": "attributes",
    "places": "ground_positions",
}
"""A mapping from the arrays of a shard to the fields of ``PictureTruth`` that they hold."""
REDRAW = "Delete this shard's two files and draw them again: whatchanged synth clevr-pool"
DRAWN_LOOK = ("lamps", "ambient", "ground", "roughness", "floor")
"""The fields of a ``PictureLook`` that vary from picture to picture."""
LEAST_COVER = 0.3
"""The least fraction of a cell's pixels that an object must cover to own the cell."""


@dataclass(frozen=True)
class PictureTruth:
    """The targets of ``supervision.ObjectsTruth`` for one picture, without the batch axis."""

    owner: NDArray[np.int8]
    center: NDArray[np.int16]
    attributes: NDArray[np.int8]
    ground_positions: NDArray[np.float32]


@dataclass(frozen=True)
class Pairing:
    """Two pictures' targets; for each object, its index in the other picture and its change label.

    mentioned: (words + 1, 2, 2), the objects, at most two, that each word of the caption, and its end,
    mentions: index before, index after, -1 for none. (0, 2, 2) for an unchanged pair.
    """

    before: PictureTruth
    after: PictureTruth
    partner_before: NDArray[np.int8]
    partner_after: NDArray[np.int8]
    change_label_before: NDArray[np.int8]
    change_label_after: NDArray[np.int8]
    mentioned: NDArray[np.int8] = field(default_factory=lambda: np.zeros((0, 2, 2), np.int8))


def picture_truth(scene: Scene, width: int, height: int) -> PictureTruth:
    """Return the targets of a scene drawn at this size in pixels, from an index picture of that size."""
    rows, columns = height // CELL, width // CELL
    index = index_picture(scene, width, height)
    cells = index.reshape(rows, CELL, columns, CELL).swapaxes(1, 2).reshape(rows * columns, CELL * CELL)
    cover = np.stack([(cells == i).sum(1) for i in range(len(scene.objects))])  # (objects, cells)
    most = cover.argmax(0)
    owner = np.where(cover.max(0) >= LEAST_COVER * CELL * CELL, most, ABSENT).astype(np.int8)
    center = np.full(ROOM, ABSENT, np.int16)
    row, column = np.divmod(np.arange(rows * columns), columns)
    for i, counts in enumerate(cover):
        if counts.sum() == 0:
            continue
        middle = (row @ counts / counts.sum(), column @ counts / counts.sum())
        distance = np.hypot(row - middle[0], column - middle[1])
        center[i] = np.where(counts >= 0.5 * counts.max(), distance, np.inf).argmin()
    attributes = np.zeros((ROOM, len(ATTRIBUTES)), np.int8)
    ground_positions = np.zeros((ROOM, 2), np.float32)
    for i, item in enumerate(scene.objects):
        attributes[i] = _codes(item)
        ground_positions[i] = ground_in_view(item.x, item.y, scene.view.camera)
    return PictureTruth(owner.reshape(rows, columns), center, attributes, ground_positions)


def draw_pool(
    out: Path,
    scenes: int,
    seed: int,
    size: tuple[int, int],
    workers: int,
    advance: Callable[[int], None] | None = None,
    views: Views = "jittered",
    doubles: float = 0.0,
) -> int:
    """Draw a pool of at least ``scenes`` triples; existing shards are kept. Returns the number of triples.

    The last shard is always full. Any number of ``workers`` gives the same bytes. advance: called with the
    number of finished triples. Raises DatasetError where ``out`` holds another pool (seed, size, views,
    doubles), or the size is not a multiple of a cell's.
    """
    write_description(out, seed, *size, views, doubles)
    numbers = range(-(-scenes // SHARD))
    missing = [n for n in numbers if not (out / f"{n:05d}.pictures.npy").exists()]
    if advance is not None:
        advance(SHARD * (len(numbers) - len(missing)))
    draw = partial(draw_shard, out, seed, size, count=SHARD, views=views, doubles=doubles)
    render([Scene(())], 32, 32)  # compiles once, so that the workers only load what is cached
    with worker_pool(workers) as pool:
        for _ in pool.map(draw, missing):
            if advance is not None:
                advance(SHARD)
    return SHARD * len(numbers)


@contextmanager
def growing(
    out: Path, seed: int, size: tuple[int, int], workers: int, scenes: int
) -> Iterator[list[BaseProcess]]:
    """Return a context in which this many processes draw missing shards in the background, up to ``scenes``
    triples.

    The processes are yielded, so that a caller may end some of them earlier (``stop``). The others end with
    the block, and the shards that they were drawing are lost. Process k of n draws the shards k, k + n, ...,
    so the numbers may have gaps.
    """
    write_description(out, seed, *size)
    shards = range(-(-scenes // SHARD))
    started: list[BaseProcess] = []
    try:
        for index in range(workers):
            arguments = (out, seed, size, shards[index::workers], SHARD)
            started.append(start_process(_draw_missing, arguments))
        yield started
    finally:
        stop(out, started)


def stop(out: Path, processes: Sequence[BaseProcess]) -> None:
    """End processes that draw into ``out``, and remove their unfinished files."""
    for process in processes:
        process.terminate()
    for process in processes:
        process.join()
    clear_drafts(out)


def _draw_missing(out: Path, seed: int, size: tuple[int, int], numbers: Sequence[int], count: int) -> None:
    import torch

    end_with_parent()
    torch.set_num_threads(1)  # every core has a process of its own
    for number in numbers:
        if not (out / f"{number:05d}.pictures.npy").exists():
            draw_shard(out, seed, size, number, count)


def draw_shard(
    out: Path,
    seed: int,
    size: tuple[int, int],
    number: int,
    count: int | None = None,
    views: Views = "jittered",
    doubles: float = 0.0,
) -> None:
    """Draw the ``count`` (default: SHARD) triples of one shard and write them."""
    width, height = size
    count = SHARD if count is None else count
    triples = [sample_triple(seed, number * count + i, views, doubles) for i in range(count)]
    scenes = [scene for t in triples for scene in (t.default, t.semantic, t.nonsemantic)]
    rng = np.random.default_rng((seed, number, 1))
    # Light and material vary here; exposure, sharpness and noise whenever a picture is used (``augment``).
    looks = [_drawn_look(rng) for _ in scenes]
    pictures = render(scenes, width, height, looks=looks)
    truths = [picture_truth(scene, width, height) for scene in scenes]
    arrays: dict[str, Any] = {
        "change": np.array([_change_codes(t.change) for t in triples], np.int8),
        "count": np.array([len(s.objects) for s in scenes], np.int8).reshape(-1, 3),
        "pose": np.stack([_poses(s) for s in scenes]).reshape(-1, 3, ROOM, 3),
        "camera": np.array([s.view.camera for s in scenes]).reshape(-1, 3, 3),
        "lamps": np.array([s.view.lamps for s in scenes]).reshape(-1, 3, 3, 3),
    }
    for name, target in PICTURE_TRUTH.items():
        stacked = np.stack([getattr(t, target) for t in truths])
        arrays[name] = stacked.reshape(len(triples), 3, *stacked.shape[1:])
    pictures = pictures.reshape(len(triples), 3, height, width, 3)
    arrays[CHECKSUMS] = checksums(pictures)
    with whole(out / f"{number:05d}.truth.npz") as draft, draft.open("wb") as file:
        np.savez(file, **arrays)
    # Written last, because a shard counts as finished once its pictures are there.
    with whole(out / f"{number:05d}.pictures.npy") as draft, draft.open("wb") as file:
        np.save(file, pictures)


@dataclass(frozen=True)
class Shard:
    """One shard: its truth in memory, its pictures memory-mapped."""

    number: int
    truth: dict[str, NDArray[Any]]
    triples: CheckedRows

    @property
    def pictures(self) -> NDArray[np.uint8]:
        """All pictures (n, 3, H, W, 3), without checking their checksums."""
        return self.triples.rows

    def __len__(self) -> int:
        return len(self.triples)

    def change(self, i: int) -> SceneChange:
        """Return the i-th triple's change, from its default to its semantic picture."""
        code, before, after = (int(c) for c in self.truth["change"][i])
        return SceneChange(CHANGE_TYPES[code], None if before < 0 else before, None if after < 0 else after)

    def picture_truth(self, i: int, k: int) -> PictureTruth:
        """Return the targets of picture k (0 default, 1 semantic, 2 nonsemantic) of the i-th triple."""
        t = self.truth
        return PictureTruth(t["owner"][i, k], t["center"][i, k], t["attributes"][i, k], t["places"][i, k])

    def scene(self, i: int, k: int) -> Scene:
        """Return the scene of picture k of the i-th triple."""
        objects = []
        for n in range(int(self.truth["count"][i, k])):
            shape, size, color, material = (int(c) for c in self.truth["attributes"][i, k, n])
            x, y, rotation = (float(c) for c in self.truth["pose"][i, k, n])
            kind = (SHAPES[shape], SIZES[size], COLORS[color], MATERIALS[material])
            objects.append(SceneObject(*kind, x, y, rotation))
        key, fill, back = (_point(lamp) for lamp in self.truth["lamps"][i, k])
        return Scene(tuple(objects), View(_point(self.truth["camera"][i, k]), (key, fill, back)))


def open_shards(path: Path, numbers: Sequence[int] | None = None) -> list[Shard]:
    """Return all finished shards of a pool, in order, or the shards with the given numbers.

    Raises DatasetError where there is none, one is missing or damaged, or their triples or sizes differ.
    """
    results = sorted(path.glob("[0-9]*.pictures.npy"))
    if not results:
        command = f"whatchanged synth clevr-pool {path} --scenes N"
        raise DatasetError(f"{path}: no pool of drawn triples here. Draw one: {command}")
    if numbers is not None:
        results = [path / f"{number:05d}.pictures.npy" for number in numbers]
    shards = [_read_shard(file) for file in results]
    for shard, file in zip(shards, results, strict=True):
        if shard.pictures.shape != shards[0].pictures.shape:
            raise DatasetError(
                f"{file}: its pictures are {shard.pictures.shape}, those of {results[0].name}"
                f" {shards[0].pictures.shape}. The shards of a pool are alike: {REDRAW}"
            )
    return shards


def _read_shard(file: Path) -> Shard:
    """Return the shard of a file of pictures. Raises DatasetError where it, or its truth, is incomplete."""
    stem = file.name.split(".")[0]
    try:
        truth = arrays_of(file.with_name(f"{stem}.truth.npz"), TRUTH, optional=[CHECKSUMS])
        pictures = mapped_array(file)
        if pictures.ndim != 5 or {len(pictures)} != {len(array) for array in truth.values()}:
            counts = {name: len(array) for name, array in truth.items()}
            raise ValueError(f"pictures {pictures.shape}, triples of truth {counts}")
        triples = CheckedRows(file, pictures, truth.pop(CHECKSUMS, None), REDRAW)
    except (ValueError, TypeError) as error:
        raise DatasetError(f"{file}: this shard or its truth cannot be read ({error}). {REDRAW}") from error
    return Shard(int(stem), truth, triples)


def check_size(pool: Path, shards: Sequence[Shard], width: int, height: int) -> None:
    """Raise DatasetError where a pool's pictures have another size than a model reads, in pixels."""
    got = shards[0].pictures.shape[2:4]
    if got != (height, width):
        raise DatasetError(
            f"{pool}: its pictures are {got[1]}x{got[0]}, the model reads {width}x{height}."
            " Draw a pool of that size: whatchanged synth clevr-pool --size."
        )


def pairing(shard: Shard, i: int, k: int, m: int, change: SceneChange) -> Pairing:
    """Return the targets of the ordered pair (picture k, picture m) of a triple with this change between
    them.
    """
    before, after = shard.picture_truth(i, k), shard.picture_truth(i, m)
    counts = (int(shard.truth["count"][i, k]), int(shard.truth["count"][i, m]))
    partner = np.full((2, ROOM), ABSENT, np.int8)
    change_label = np.zeros((2, ROOM), np.int8)
    lost = change.before if change.type == "drop" else None
    new = change.after if change.type == "add" else None
    stay_before = [n for n in range(counts[0]) if n != lost]
    stay_after = [n for n in range(counts[1]) if n != new]
    for a, b in zip(stay_before, stay_after, strict=True):
        partner[0, a], partner[1, b] = b, a
    for side, item in ((0, change.before), (1, change.after)):
        if item is not None:
            change_label[side, item] = CHANGE_LABELS.index(
                "unpaired" if change.type in ("add", "drop") else change.type
            )
    return Pairing(before, after, partner[0], partner[1], change_label[0], change_label[1])


def write_description(
    out: Path, seed: int, width: int, height: int, views: Views = "jittered", doubles: float = 0.0
) -> None:
    """Write ``pool.json``; where it exists, check that it has the same seed, size, views and doubles.

    Raises DatasetError where it differs, or the size is no multiple of a cell's.
    """
    if width % CELL or height % CELL:
        raise DatasetError(f"Pictures of a pool: got {width}x{height}, wanted multiples of {CELL} pixels.")
    description: dict[str, Any] = {"seed": seed, "width": width, "height": height, "shard": SHARD}
    if views != "jittered":
        description["views"] = views
    if doubles:
        description["doubles"] = doubles
    file = out / "pool.json"
    if file.exists():
        there = read_description(out)
        if there != description:
            raise DatasetError(f"{out}: holds another pool ({json.dumps(there)}). Choose another folder.")
        return
    out.mkdir(parents=True, exist_ok=True)
    with whole(file) as draft:
        draft.write_text(json.dumps(description))


def read_description(pool: Path) -> dict[str, Any]:
    """Return the content of ``pool.json``. Raises DatasetError where the file cannot be read."""
    file = pool / "pool.json"
    try:
        description = read_json(read_regular_text(file))
    except (OSError, ValueError) as error:
        raise DatasetError(
            f"{file}: cannot be read ({error}). Draw the pool again in another folder."
        ) from error
    if not isinstance(description, dict):
        raise DatasetError(f"{file}: does not describe a pool. Draw the pool again in another folder.")
    return description


def _drawn_look(rng: np.random.Generator) -> PictureLook:
    """Return a plain look, except for the fields of ``DRAWN_LOOK``, which are drawn independently."""
    return replace(PLAIN, **{name: getattr(look_for(rng), name) for name in DRAWN_LOOK}, noise=0.0)


def _codes(item: SceneObject) -> tuple[int, int, int, int]:
    shape, size = SHAPES.index(item.shape), SIZES.index(item.size)
    return (shape, size, COLORS.index(item.color), MATERIALS.index(item.material))


def _change_codes(change: SceneChange) -> tuple[int, int, int]:
    absent = [ABSENT if i is None else i for i in (change.before, change.after)]
    return (CHANGE_TYPES.index(change.type), absent[0], absent[1])


def _point(row: NDArray[np.float64]) -> Point:
    x, y, z = (float(c) for c in row)
    return (x, y, z)


def _poses(scene: Scene) -> NDArray[np.float64]:
    poses = np.zeros((ROOM, 3))
    poses[: len(scene.objects)] = [(t.x, t.y, t.rotation) for t in scene.objects]
    return poses
