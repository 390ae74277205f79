"""Runs a backbone once, so that training reads stored features or tokens instead of pictures.

``store_features`` runs a frozen backbone over the pictures of a data set; ``store_tokens`` runs the trained
vision of a run over a drawn pool. Both keep existing files and write those that are missing.
"""

import os
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from rich.progress import track

from whatchanged.datasets import Dataset
from whatchanged.errors import RecipeError
from whatchanged.images import open_image, resize
from whatchanged.launch import USUAL, Launch, Precision
from whatchanged.processes import as_they_come, worker_pool
from whatchanged.training.data.grid_files import picture_name
from whatchanged.training.device import choose_device
from whatchanged.training.features.backbones import FrozenBackbone, fingerprint, open_backbone
from whatchanged.training.features.layouts import FeatureLayout, FilePerPicture, Job, Shards
from whatchanged.training.objects.pool import Shard, check_size, open_shards
from whatchanged.training.objects.token_files import claim, origin, tokens_file, write_tokens
from whatchanged.training.vision.augmentation import augment
from whatchanged.training.vision.base import PictureVision, has_backbone, picture_size
from whatchanged.training.weights.trained import open_trained
from whatchanged.urls import is_remote

BATCH = 100
"""The number of pictures of a pool in one batch."""
TOGETHER = 8
"""The default number of pictures of a data set in one batch, for a launch without a batch size."""
MOST_CELLS = 2048
"""The largest number of cells of a picture. A token is stored with the number of its cell, and float16 stores
whole numbers up to this limit exactly."""


@dataclass(frozen=True)
class Stored:
    """A summary of ``store_features``: the number of pictures, of written files and of existing files, and
    the bytes of all files.
    """

    pictures: int
    written: int
    kept: int
    size: int
    seconds: float


def store_features(
    dataset: Dataset,
    backbone: str,
    out: Path,
    weights: Path | None = None,
    shard: int = 256,
    npy: bool = False,
    launch: Launch = USUAL,
) -> Stored:
    """Write the grid features of every picture of a data set, each once, into ``out``.

    backbone, weights: see ``backbones.open_backbone``. shard: pictures per file. npy: one file per picture,
    as released programs read them, instead of shards (``layouts``). launch: device, batch size, precision
    (the files record bf16), quiet, and workers: on the CPU, processes that compute with one thread each; on a
    GPU, threads that read pictures ahead; None: one per core. On a CPU, batch size and workers do not change
    fp32 results. Existing files are kept.

    Raises OutputError where a file holds other pictures, another backbone's features, or features of another
    precision; ImageError where a picture cannot be read; and what ``open_backbone`` raises.
    """
    began, where = time.monotonic(), choose_device(launch.device)
    opened = open_backbone(backbone, weights, launch.precision)
    layout = (FilePerPicture if npy else Shards)(out, opened.about())
    pictures = layout.pictures(dataset.root, _pictures(dataset))
    todo = layout.missing(pictures, shard)
    batch, workers = launch.batch_size or TOGETHER, launch.workers or os.cpu_count() or 1
    if npy and where.type == "cpu":
        batch = 1  # float32 keeps the last bits, which batches of another size change
    if not is_remote(out):
        out.mkdir(parents=True, exist_ok=True)
    count = min(workers, max(len(todo), 1))
    if where.type == "cpu" and count > 1:
        _in_processes(todo, layout, batch, (backbone, weights, launch.precision), count, launch.quiet)
    else:
        with _one_thread(where.type == "cpu"), ThreadPoolExecutor(workers) as pool:
            opened.network.to(where)
            for job in track(todo, "features", disable=launch.quiet):
                _write(job, layout, batch, opened, where, pool)
    files = layout.files(pictures, shard)
    written = sum(len(job.names) for job in todo) if npy else len(todo)
    size = sum(path.stat().st_size for path in files)
    return Stored(len(pictures), written, len(files) - written, size, time.monotonic() - began)


def _pictures(dataset: Dataset) -> dict[str, Path]:
    """Name -> file of every picture, without repeats, in the order of the records."""
    results = {}
    for record in dataset.records:
        for picture in (record.before, record.after):
            if picture is not None:
                results[picture_name(picture, dataset.root)] = picture
    return results


def _write(
    job: Job,
    layout: FeatureLayout,
    batch: int,
    backbone: FrozenBackbone,
    device: torch.device,
    workers: ThreadPoolExecutor,
) -> None:
    """Compute the features of a job and write them; the next pictures are read meanwhile."""

    def read_ahead(first: int) -> list[Future[NDArray[np.uint8]]]:
        paths = job.pictures[first : first + batch]
        return [workers.submit(lambda p: resize(open_image(p), backbone.size), path) for path in paths]

    grids = np.empty((len(job.names), backbone.rows * backbone.columns, backbone.width), layout.dtype)
    ahead = read_ahead(0)
    for first in range(0, len(job.names), batch):
        pixels, ahead = np.stack([one.result() for one in ahead]), read_ahead(first + batch)
        with torch.inference_mode():
            features = backbone.grid_features(torch.from_numpy(pixels).to(device)).cpu().numpy()
        with np.errstate(over="ignore"):  # what becomes infinite is refused in the next line
            grids[first : first + batch] = features
        if not np.isfinite(grids[first : first + batch]).all():
            raise RecipeError(
                f"{backbone.name}: its features of {job.pictures[first]}, or of one of the next"
                f" {len(pixels) - 1} pictures, are not finite in {grids.dtype}. Check that these are its"
                " weights."
            )
    layout.write(job, grids)


@contextmanager
def _one_thread(wanted: bool) -> Iterator[None]:
    """Return a context in which torch computes with one thread, as each of several worker processes does, so
    results agree.
    """
    threads = torch.get_num_threads()
    if wanted:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def _in_processes(
    jobs: Sequence[Job],
    layout: FeatureLayout,
    batch: int,
    named: tuple[str, Path | None, Precision],
    count: int,
    quiet: bool,
) -> None:
    """Write the jobs' files in ``count`` processes. The first failure, or an interrupt, ends them all.

    named: the backbone, its weights and its precision.
    """
    with worker_pool(count, _start, named) as pool:
        written = as_they_come((job, pool.submit(_write_here, job, layout, batch)) for job in jobs)
        for _ in track(written, "features", total=len(jobs), disable=quiet):
            pass


_HERE: list[FrozenBackbone] = []
"""The backbone of a worker process."""


def _start(backbone: str, weights: Path | None, precision: Precision) -> None:
    """Prepare a worker process."""
    torch.set_num_threads(1)
    _HERE[:] = [open_backbone(backbone, weights, precision)]


def _write_here(job: Job, layout: FeatureLayout, batch: int) -> None:
    with ThreadPoolExecutor(1) as workers:
        _write(job, layout, batch, _HERE[0], torch.device("cpu"), workers)


def store_tokens(run: Path, pool: Path, out: Path, variants: int, launch: Launch = USUAL) -> int:
    """Write the tokens of every shard of a pool that has none yet (``token_files``); returns their number.

    run: a run's folder, or a model. variants: number of token sets for each picture: the first from the
    picture as drawn, the others from augmented copies. launch: device and quiet. Raises RecipeError where the
    run has no backbone, or too many cells to number in float16; DatasetError where the pool's pictures have
    another size; OutputError where ``out`` holds tokens of another origin.
    """
    recipe, method, missing = open_trained(run)
    vision = method.vision
    if not has_backbone(vision):
        raise RecipeError(f"{run}: {recipe.name} reads stored features itself; it has no backbone to run.")
    if vision.rows * vision.columns > MOST_CELLS:
        raise RecipeError(
            f"{run}: the vision of {recipe.name} has {vision.rows * vision.columns:,} cells; float16 can"
            f" number no more than {MOST_CELLS:,}. Train on pictures (data.tokens empty), or on smaller ones."
        )
    if untrained := sorted(missing & {f"vision.{name}" for name in vision.token_state()}):
        raise RecipeError(f"{run}: this model lacks {untrained[0]}, which makes tokens. Name a run's folder.")
    results = open_shards(pool)
    check_size(pool, results, *picture_size(vision))
    claim(out, origin(pool, fingerprint(vision.token_state()), variants, vision.patches, vision.stored_width))
    where = choose_device(launch.device)
    vision.to(where).eval()
    shards = [shard for shard in results if not tokens_file(out, shard.number).exists()]
    for shard in track(shards, "tokens", disable=launch.quiet):
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
