"""Running a backbone once, so that training reads stored features or tokens instead of pictures.

``store_features`` runs a frozen backbone over the pictures of a data set, ``store_tokens`` the trained vision
of a run over a drawn pool. Both write shard by shard, and resume after the last whole shard.
"""

import os
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from rich.progress import track

from whatchanged.datasets import Dataset
from whatchanged.errors import OutputError, RecipeError
from whatchanged.images import open_image, resize
from whatchanged.processes import worker_pool
from whatchanged.training.data.grid_files import picture_name, read_header, shard_file, write_shard
from whatchanged.training.device import choose_device
from whatchanged.training.features.backbones import FrozenBackbone, fingerprint, open_backbone
from whatchanged.training.objects.pool import Shard, check_size, open_shards
from whatchanged.training.objects.token_files import claim, origin, tokens_file, write_tokens
from whatchanged.training.vision.augmentation import augment
from whatchanged.training.vision.base import PictureVision
from whatchanged.training.weights.trained import open_trained

BATCH = 100
"""Pictures of a pool in one batch."""
EXACT = 2048
"""float16 holds whole numbers up to this exactly; a token is stored with the number of its cell."""


@dataclass(frozen=True)
class Stored:
    """What ``store_features`` did: pictures of the data set, shards written and kept, bytes of all shards."""

    pictures: int
    written: int
    kept: int
    size: int
    seconds: float


@dataclass(frozen=True)
class _Job:
    """One shard to write: its file, the names and files of its pictures, how many are in one batch."""

    path: Path
    names: tuple[str, ...]
    pictures: tuple[Path, ...]
    batch: int


def store_features(
    dataset: Dataset,
    backbone: str,
    out: Path,
    weights: Path | None = None,
    shard: int = 256,
    batch: int = 8,
    workers: int | None = None,
    device: str = "auto",
    quiet: bool = False,
) -> Stored:
    """Write the grid features of every picture of a data set, each once, into ``out`` (see ``grid_files``).

    backbone, weights: see ``backbones.open_backbone``. shard: pictures per file. workers: on the CPU,
    processes that compute with one thread each; on a GPU, threads that read pictures ahead; None: one per
    core. On a CPU, batch and workers change no number. Shards that exist are kept. Raises OutputError where
    one of them holds other pictures or another backbone's features, ImageError where a picture cannot be
    read, and what ``open_backbone`` raises.
    """
    began, where = time.monotonic(), choose_device(device)
    opened = open_backbone(backbone, weights)
    pictures = _pictures(dataset)
    named = list(pictures.items())
    jobs = []
    for number, first in enumerate(range(0, len(named), shard)):
        names, places = zip(*named[first : first + shard], strict=True)
        jobs.append(_Job(shard_file(out, number), names, places, batch))
    todo = [job for job in jobs if not _is_there(job, opened)]
    extra = sorted({path.name for path in out.glob("[0-9]*.safetensors")} - {job.path.name for job in jobs})
    if extra:
        raise OutputError(
            f"{out}: it holds shards of another data set (first: {extra[0]}). Choose another folder."
        )
    out.mkdir(parents=True, exist_ok=True)
    count = min(workers or os.cpu_count() or 1, max(len(todo), 1))
    if where.type == "cpu" and count > 1:
        _in_processes(todo, backbone, weights, count, quiet)
    else:
        with _one_thread(where.type == "cpu"), ThreadPoolExecutor(workers or os.cpu_count() or 1) as pool:
            opened.network.to(where)
            for job in track(todo, "features", disable=quiet):
                _write(job, opened, where, pool)
    size = sum(job.path.stat().st_size for job in jobs)
    return Stored(len(named), len(todo), len(jobs) - len(todo), size, time.monotonic() - began)


def _pictures(dataset: Dataset) -> dict[str, Path]:
    """Name -> file of every picture, each once, in the order of the records."""
    found = {}
    for record in dataset.records:
        for picture in (record.before, record.after):
            if picture is not None:
                found[picture_name(picture, dataset.root)] = picture
    return found


def _is_there(job: _Job, backbone: FrozenBackbone) -> bool:
    """Whether the shard is written already. Raises OutputError where its file holds something else."""
    if not job.path.exists():
        return False
    about, names = read_header(job.path)
    if about != backbone.about():
        raise OutputError(
            f"{job.path}: its features are those of {about.get('backbone')} with weights"
            f" {str(about.get('sha256'))[:12]}, not of {backbone.name} with {backbone.sha256[:12]}. Choose"
            " another folder."
        )
    if tuple(names) != job.names:
        raise OutputError(
            f"{job.path}: it holds other pictures, or another number of them: the data set or --shard-size"
            " has changed. Choose another folder."
        )
    return True


def _write(job: _Job, backbone: FrozenBackbone, device: torch.device, workers: ThreadPoolExecutor) -> None:
    """Compute the features of one shard and write it; the next pictures are read meanwhile."""

    def read_ahead(first: int) -> list[Future[NDArray[np.uint8]]]:
        paths = job.pictures[first : first + job.batch]
        return [workers.submit(lambda p: resize(open_image(p), backbone.size), path) for path in paths]

    grids = np.empty((len(job.names), backbone.rows * backbone.columns, backbone.width), np.float16)
    ahead = read_ahead(0)
    for first in range(0, len(job.names), job.batch):
        pixels, ahead = np.stack([one.result() for one in ahead]), read_ahead(first + job.batch)
        with torch.inference_mode():
            features = backbone.grid_features(torch.from_numpy(pixels).to(device)).half().cpu().numpy()
        if not np.isfinite(features).all():
            raise RecipeError(
                f"{backbone.name}: its features of {job.pictures[first]}, or of one of the next"
                f" {len(pixels) - 1} pictures, are not finite in float16. Check that these are its weights."
            )
        grids[first : first + job.batch] = features
    write_shard(job.path, backbone.about(), job.names, grids)


@contextmanager
def _one_thread(wanted: bool) -> Iterator[None]:
    """Torch computes with one thread, as each of several worker processes does, so that the numbers agree."""
    threads = torch.get_num_threads()
    if wanted:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def _in_processes(jobs: Sequence[_Job], backbone: str, weights: Path | None, count: int, quiet: bool) -> None:
    """Write the shards in ``count`` processes; the first failure, or an interrupt, ends them all."""
    with worker_pool(count, _start, (backbone, weights)) as pool:
        waiting = [pool.submit(_write_here, job) for job in jobs]
        for one in track(as_completed(waiting), "features", total=len(waiting), disable=quiet):
            one.result()


_HERE: list[FrozenBackbone] = []
"""The backbone of a worker process."""


def _start(backbone: str, weights: Path | None) -> None:
    """Prepare a worker process."""
    torch.set_num_threads(1)
    _HERE.append(open_backbone(backbone, weights))


def _write_here(job: _Job) -> None:
    with ThreadPoolExecutor(1) as workers:
        _write(job, _HERE[0], torch.device("cpu"), workers)


def store_tokens(
    run: Path, pool: Path, out: Path, variants: int, device: str = "auto", quiet: bool = False
) -> int:
    """Write the tokens of every shard of a pool that has none yet (``token_files``); returns their number.

    run: a run's folder, or a model. variants: how many tokens each picture gets; the first are of the picture
    as drawn, the others of augmented copies. Raises RecipeError where the run has no backbone, or too many
    cells to number in float16; DatasetError where the pool's pictures have another size; OutputError where
    ``out`` holds tokens of another origin.
    """
    recipe, method, missing = open_trained(run)
    vision = method.vision
    if not isinstance(vision, PictureVision):
        raise RecipeError(f"{run}: {recipe.name} reads stored features itself; it has no backbone to run.")
    if vision.rows * vision.columns > EXACT:
        raise RecipeError(
            f"{run}: the vision of {recipe.name} has {vision.rows * vision.columns:,} cells; float16 can"
            f" number no more than {EXACT:,}. Train on pictures (data.tokens empty), or on smaller ones."
        )
    if untrained := sorted(missing & {f"vision.{name}" for name in vision.token_state()}):
        raise RecipeError(f"{run}: this model lacks {untrained[0]}, which makes tokens. Name a run's folder.")
    found = open_shards(pool)
    check_size(pool, found, 8 * vision.columns, 8 * vision.rows)
    claim(out, origin(pool, fingerprint(vision.token_state()), variants, vision.patches, vision.stored_width))
    where = choose_device(device)
    vision = vision.to(where).eval()
    shards = [shard for shard in found if not tokens_file(out, shard.number).exists()]
    for shard in track(shards, "tokens", disable=quiet):
        tokens = np.stack([_tokens(vision, shard, number, where) for number in range(variants)], axis=1)
        write_tokens(out, shard.number, tokens)
    return len(shards)


@torch.inference_mode()
def _tokens(vision: PictureVision, shard: Shard, variant: int, device: torch.device) -> NDArray[np.float16]:
    """One variant of a shard's pictures: (n, 3, N, width)."""
    generator = torch.Generator(device).manual_seed(shard.number * 1000 + variant)
    pictures = torch.from_numpy(np.stack([shard.triples.read(i) for i in range(len(shard))])).flatten(0, 1)
    batches = []
    for batch in torch.split(pictures, BATCH):
        pixels = batch.to(device).permute(0, 3, 1, 2).float() / 255  # (b, 3, H, W)
        if variant:
            pixels = augment(pixels, generator)
        pixels = (pixels - vision.mean) / vision.std
        tokens = vision.to_tokens(pixels.contiguous(memory_format=torch.channels_last))  # (b, N, width)
        batches.append(tokens.cpu().numpy().astype(np.float16))
    return np.concatenate(batches).reshape(len(shard), 3, *batches[0].shape[1:])
