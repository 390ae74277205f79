"""Write the drawn twin of CLEVR-Change: pictures, captions and truth in the official layout.

Scene i depends only on (seed, i): its three pictures, its captions and its split. A larger set therefore
begins with the scenes of a smaller one, and any number of workers writes the same bytes.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from whatchanged.errors import OutputError
from whatchanged.files import whole_folder
from whatchanged.processes import worker_pool
from whatchanged.synth.clevr.draw import render
from whatchanged.synth.clevr.sampling import Views, sample_triple
from whatchanged.synth.clevr.truth import triple_entries
from whatchanged.urls import is_remote
from whatchanged.worlds.clevr.change import CHANGE_TYPES, NOTHING
from whatchanged.worlds.clevr.language import write_captions
from whatchanged.worlds.clevr.scene import Scene

FOLDERS = {"default": "images", "semantic": "sc_images", "nonsemantic": "nsc_images"}
TYPES = tuple(name for name in CHANGE_TYPES if name != "none")
SPLITS = ("train", "val", "test")
SHARES = (17, 1, 2)
"""Of every twenty scenes of one type, how many belong to each split: 85, 5 and 10 %."""
BLOCK = len(TYPES) * sum(SHARES)
TASK = 10
"""Scenes that a worker draws in one task."""
LEAST_SIDE, MOST_SIDE = 32, 4096


@dataclass(frozen=True)
class DrawnScene:
    """The annotations of one scene."""

    index: int
    pictures: list[dict[str, Any]]
    pair: dict[str, Any]
    change_captions: tuple[str, ...]
    no_change_captions: tuple[str, ...]


def write_twin(
    out: Path,
    scenes: int,
    seed: int = 0,
    size: tuple[int, int] = (480, 320),
    workers: int = 1,
    advance: Callable[[int], None] | None = None,
    views: Views = "jittered",
) -> None:
    """Write `scenes` scenes with three pictures each to the new folder `out`; it appears when it is complete.

    size: width and height in pixels. workers: processes. advance: called with the number of newly drawn
    scenes.
    Raises OutputError where the folder exists already, its parent does not, or a number is out of range.
    """
    _check(out, scenes, size, workers)
    try:
        with whole_folder(out) as draft:
            for folder in () if is_remote(out) else FOLDERS.values():
                (draft / folder).mkdir(parents=True)
            drawn: list[DrawnScene] = []
            for part in _draw_all(draft, scenes, (seed, views), size, workers):
                drawn += part
                if advance is not None:
                    advance(len(part))
            for name, content in _annotations(drawn, seed, size, views).items():
                (draft / name).write_text(json.dumps(content), encoding="utf-8")
    except OSError as error:
        raise OutputError(f"{out}: cannot write it: {error.strerror or error}.") from error


def split_of(index: int, seed: int) -> str:
    """Return the split of a scene: 85/5/10 within each hundred scenes, and within each type of change
    there.
    """
    order = np.random.default_rng((seed, index // BLOCK, index % len(TYPES), 2)).permutation(sum(SHARES))
    place = order[index % BLOCK // len(TYPES)]
    return SPLITS[int(np.searchsorted(np.cumsum(SHARES), place, side="right"))]


def _check(out: Path, scenes: int, size: tuple[int, int], workers: int) -> None:
    if out.exists():
        raise OutputError(f"{out}: exists already. Choose another name, or remove it first.")
    if not is_remote(out) and not out.absolute().parent.is_dir():
        raise OutputError(f"{out}: the folder {out.absolute().parent} is not there. Make it first.")
    if scenes < 1 or workers < 1:
        raise OutputError(f"{out}: wants at least one scene and one worker, got {scenes} and {workers}.")
    if not all(LEAST_SIDE <= side <= MOST_SIDE for side in size):
        raise OutputError(
            f"{out}: sides from {LEAST_SIDE} to {MOST_SIDE} pixels can be drawn, got {size[0]}x{size[1]}."
        )


def _draw_all(
    draft: Path, scenes: int, drawn_from: tuple[int, Views], size: tuple[int, int], workers: int
) -> Iterator[list[DrawnScene]]:
    """Yield the scenes in order, one task at a time."""
    parts = [range(start, min(start + TASK, scenes)) for start in range(0, scenes, TASK)]
    draw = partial(draw_scenes, draft, *drawn_from, size)
    if workers == 1 or len(parts) == 1:
        yield from map(draw, parts)
        return
    render([Scene(())], 32, 32)  # compiles once, so that the workers only load what is cached
    with worker_pool(min(workers, len(parts))) as pool:
        yield from pool.map(draw, parts)


def draw_scenes(
    folder: Path, seed: int, views: Views, size: tuple[int, int], indices: range
) -> list[DrawnScene]:
    """Draw and save the pictures of some scenes; return their annotations."""
    triples = [sample_triple(seed, index, views) for index in indices]
    scenes = [scene for t in triples for scene in (t.default, t.semantic, t.nonsemantic)]
    pictures = iter(render(scenes, *size))
    drawn = []
    for triple in triples:
        entries, pair = triple_entries(triple, *size)
        for entry in entries:
            with (folder / FOLDERS[entry["split"]] / entry["image_filename"]).open("wb") as stream:
                Image.fromarray(next(pictures)).save(stream, "PNG")
        rng = np.random.default_rng((seed, triple.index, 1))
        change = write_captions(triple.default, triple.semantic, triple.change, rng)
        nothing = write_captions(triple.default, triple.nonsemantic, NOTHING, rng)
        drawn.append(DrawnScene(triple.index, entries, pair, change, nothing))
    return drawn


def _annotations(drawn: list[DrawnScene], seed: int, size: tuple[int, int], views: Views) -> dict[str, Any]:
    """Return the annotation files by name."""
    types: dict[str, list[str]] = {name: [] for name in TYPES}
    splits: dict[str, list[int]] = {name: [] for name in SPLITS}
    for d in drawn:
        types[d.pair["type"]].append(d.pair["id"])
        splits[split_of(d.index, seed)].append(d.index)
    default = [f"CLEVR_default_{d.index:06d}.png" for d in drawn]
    boxes = ("bbox_before", "bbox_after")
    return {
        "change_captions.json": {n: d.change_captions for n, d in zip(default, drawn, strict=True)},
        "no_change_captions.json": {n: d.no_change_captions for n, d in zip(default, drawn, strict=True)},
        "splits.json": splits,
        "type_mapping.json": types,
        "change_captions_with_bbox.json": {str(d.index): {k: d.pair[k] for k in boxes} for d in drawn},
        "change_captions_by_IOU.json": {str(d.index): d.pair["view_iou_semantic"] for d in drawn},
        "total_change_captions_reformat.json": _references(drawn),
        "scenes.json": {
            "info": {
                "world": "clevr-change",
                "seed": seed,
                "width": size[0],
                "height": size[1],
                "views": views,
            },
            "scenes": [entry for d in drawn for entry in d.pictures],
        },
        "pairs.json": [d.pair for d in drawn],
    }


def _references(drawn: list[DrawnScene]) -> dict[str, Any]:
    """Return all captions in the form of the COCO caption evaluation; a distractor's id ends in ``_n``."""
    sentences: defaultdict[str, list[str]] = defaultdict(list)
    for d in drawn:
        sentences[d.pair["id"]] += d.change_captions
    for d in drawn:
        sentences[d.pair["id"] + "_n"] += d.no_change_captions
    rows = [(name, text) for name, texts in sentences.items() for text in texts]
    return {
        "info": {},
        "licenses": {},
        "type": "captions",
        "images": [{"filename": name, "id": name} for name in sentences],
        "annotations": [{"caption": text, "id": i, "image_id": name} for i, (name, text) in enumerate(rows)],
    }
