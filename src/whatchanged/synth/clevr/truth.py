"""Write the truth of drawn scenes, as ``worlds.clevr.truth`` reads it: the entries of ``scenes.json`` and
``pairs.json``.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whatchanged.records import SizedBox
from whatchanged.synth.clevr.sampling import HEIGHT, WIDTH
from whatchanged.synth.clevr.visibility import boxes, index_picture, visible_pixels, whole_pixels
from whatchanged.worlds.clevr.change import NOTHING, Triple, kept
from whatchanged.worlds.clevr.scene import Scene, camera_matrix, directions, project
from whatchanged.worlds.clevr.truth import LAMPS, SPLITS

FileEntry = dict[str, Any]


def triple_entries(
    triple: Triple, width: int = WIDTH, height: int = HEIGHT
) -> tuple[list[FileEntry], FileEntry]:
    """Return the three picture entries of a triple, and its pair entry."""
    scenes = (triple.default, triple.semantic, triple.nonsemantic)
    pictures = [index_picture(scene, width, height) for scene in scenes]
    results = [boxes(p, len(s.objects)) for p, s in zip(pictures, scenes, strict=True)]
    entries = [
        _picture_entry(
            scene,
            name,
            triple.index,
            results[k],
            (visible_pixels(pictures[k], len(scene.objects)), whole_pixels(scene, width, height)),
            width,
            height,
        )
        for k, (scene, name) in enumerate(zip(scenes, SPLITS, strict=True))
    ]
    change = triple.change
    return entries, {
        "index": triple.index,
        "id": f"{triple.index:06d}.png",
        "type": change.type,
        "changed_before": change.before,
        "changed_after": change.after,
        "bbox_before": None if change.before is None else _whole(results[0][change.before]),
        "bbox_after": None if change.after is None else _whole(results[1][change.after]),
        "view_iou_semantic": mean_overlap(results[0], results[1], *kept(scenes[0], scenes[1], change)),
        "view_iou_nonsemantic": mean_overlap(results[0], results[2], *kept(scenes[0], scenes[2], NOTHING)),
    }


def mean_overlap(
    first: Sequence[SizedBox | None],
    second: Sequence[SizedBox | None],
    here: Sequence[int],
    there: Sequence[int],
) -> float:
    """Return the overlap of two views: 1 for the same view, near 0 if almost nothing overlaps.

        mean over k of  |box ∩ box'| / |box ∪ box'|,   box = first[here[k]], box' = second[there[k]]

    A box bounds an object's visible pixels in its own picture. k runs over the pairs of ``kept``. Added,
    dropped and moved objects are omitted, and so is an object that is not visible in one of the pictures
    (None). An object that changed color or material is included.
    """
    overlaps = []
    for i, j in zip(here, there, strict=True):
        a, b = first[i], second[j]
        if a is None or b is None:
            continue
        across = max(0.0, min(a[0] + a[2], b[0] + b[2]) - max(a[0], b[0]))
        down = max(0.0, min(a[1] + a[3], b[1] + b[3]) - max(a[1], b[1]))
        overlaps.append(across * down / (a[2] * a[3] + b[2] * b[3] - across * down))
    return float(np.mean(overlaps)) if overlaps else 0.0


def _picture_entry(
    scene: Scene,
    split: str,
    index: int,
    boxes: Sequence[SizedBox | None],
    pixels: tuple[NDArray[np.int64], NDArray[np.int64]],
    width: int,
    height: int,
) -> FileEntry:
    camera = scene.view.camera
    objects = []
    for item, box, seen, whole in zip(scene.objects, boxes, *pixels, strict=True):
        at = project(np.array(item.center), camera, width, height)
        objects.append(
            {
                "shape": item.shape,
                "size": item.size,
                "color": item.color,
                "material": item.material,
                "rotation": item.rotation,
                "3d_coords": list(item.center),
                "pixel_coords": [round(float(c), 3) for c in at],
                "bbox": _whole(box),
                "visible_pixels": int(seen),
                "whole_pixels": int(whole),
            }
        )
    return {
        "split": split,
        "image_filename": f"CLEVR_{split}_{index:06d}.png",
        "image_index": index,
        "objects": objects,
        "camera": list(camera),
        "camera_matrix": camera_matrix(camera).tolist(),
        "directions": {name: list(axis) for name, axis in directions(camera).items()},
        "lamps": {name: list(lamp) for name, lamp in zip(LAMPS, scene.view.lamps, strict=True)},
    }


def _whole(box: SizedBox | None) -> list[int] | None:
    return None if box is None else [int(c) for c in box]
