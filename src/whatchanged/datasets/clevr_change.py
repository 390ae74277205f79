"""CLEVR-Change (Park, Darrell, Rohrbach, ICCV 2019) as distributed; the twin has the same layout.

    images/CLEVR_default_000000.png           before, of both pairs of a scene
    sc_images/CLEVR_semantic_000000.png       after, something changed        -> pair 000000.png
    nsc_images/CLEVR_nonsemantic_000000.png   after, camera and light only    -> pair 000000.png_n
    splits.json                               {"train": [0, ...], "val": [...], "test": [...]}
    change_captions.json, no_change_captions.json   both keyed by CLEVR_default_000000.png
    type_mapping.json                         {"color": ["000000.png", ...], ...}, changed pairs only
    change_captions_with_bbox.json, change_captions_by_IOU.json   keyed by "0"

Paths are made from ids: the published loaders pair files by their position in a sorted listing, where one
missing file gives every later picture its neighbour's caption. Only splits.json is required.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from whatchanged.errors import DatasetError
from whatchanged.records import CHANGE_TYPES, Box, ChangeType, PairRecord, Split

NAME = "clevr_change"
SPLITS: tuple[Split, ...] = ("train", "val", "test")
OPTIONAL = (
    "change_captions.json",
    "no_change_captions.json",
    "type_mapping.json",
    "change_captions_with_bbox.json",
    "change_captions_by_IOU.json",
)


def recognises(root: Path) -> bool:
    """Does the official layout lie here?"""
    return (root / "change_captions.json").is_file() or (
        (root / "splits.json").is_file() and (root / "sc_images").is_dir()
    )


def read(root: Path) -> tuple[list[PairRecord], tuple[str, ...]]:
    """All pairs, split by split, scenes ascending, a scene's changed pair before its distractor."""
    splits = _splits(root)
    absent = tuple(name for name in OPTIONAL if not (root / name).is_file())
    change, no_change = _captions(root / OPTIONAL[0]), _captions(root / OPTIONAL[1])
    types = _types(root / OPTIONAL[2], [index for indices in splits.values() for index in indices])
    boxes, overlaps = _object(root / OPTIONAL[3]), _overlaps(root / OPTIONAL[4])
    records = []
    for split, indices in splits.items():
        for index in sorted(indices):
            file, default = f"{index:06d}.png", f"CLEVR_default_{index:06d}.png"
            records.append(
                PairRecord(
                    dataset=NAME,
                    pair_id=file,
                    group_id=f"{index:06d}",
                    split=split,
                    kind="pair_caption",
                    before=root / "images" / default,
                    after=root / "sc_images" / f"CLEVR_semantic_{file}",
                    captions=change.get(default, ()),
                    changed=True,
                    change_type=types.get(file),
                    boxes=_boxes(root / OPTIONAL[3], index, boxes.get(str(index))),
                    viewpoint_iou=overlaps.get(str(index)),
                )
            )
            records.append(
                PairRecord(
                    dataset=NAME,
                    pair_id=f"{file}_n",
                    group_id=f"{index:06d}",
                    split=split,
                    kind="pair_caption",
                    before=root / "images" / default,
                    after=root / "nsc_images" / f"CLEVR_nonsemantic_{file}",
                    captions=no_change.get(default, ()),
                    changed=False,
                    change_type="none",
                )
            )
    return records, tuple(f"{name} is absent" for name in absent)


def _object(path: Path) -> dict[str, Any]:
    """A JSON object; {} where there is no such file."""
    if not path.is_file():
        return {}
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DatasetError(f"{path}: not JSON ({error}). Copy or make it again.") from error
    if not isinstance(value, dict):
        raise DatasetError(f"{path}: a JSON object is wanted, this is a {type(value).__name__}.")
    return value


def _splits(root: Path) -> dict[Split, list[int]]:
    path = root / "splits.json"
    if not path.is_file():
        raise DatasetError(
            f"{path}: missing. It says which scenes exist; without it the folder cannot be read."
        )
    value = _object(path)
    splits: dict[Split, list[int]] = {split: value.get(split, []) for split in SPLITS}
    seen: dict[int, str] = {}
    for split, indices in splits.items():
        if not isinstance(indices, list) or not all(type(i) is int and i >= 0 for i in indices):
            raise DatasetError(f"{path}: {split!r} should be a list of scene numbers (0, 1, 2, ...).")
        for index in indices:
            if index in seen:
                raise DatasetError(
                    f"{path}: scene {index} stands in {seen[index]!r} and again in {split!r}. "
                    "A scene belongs to one split, once."
                )
            seen[index] = split
    return splits


def _captions(path: Path) -> dict[str, tuple[str, ...]]:
    captions = {}
    for key, value in _object(path).items():
        if not isinstance(value, list) or not all(isinstance(caption, str) for caption in value):
            raise DatasetError(f"{path}: {key!r} should be a list of sentences.")
        captions[key] = tuple(value)
    return captions


def _types(path: Path, indices: Sequence[int]) -> dict[str, ChangeType]:
    """File name to type; {} where the file is absent. Every scene of a split has exactly one."""
    types: dict[str, ChangeType] = {}
    known: dict[str, ChangeType] = {t: t for t in CHANGE_TYPES if t != "none"}
    for key, names in _object(path).items():
        if key not in known:
            raise DatasetError(f"{path}: unknown change type {key!r}. Known: {', '.join(known)}.")
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise DatasetError(f"{path}: {key!r} should be a list of file names.")
        for name in names:
            if types.setdefault(name, known[key]) != key:
                raise DatasetError(f"{path}: {name} stands under {types[name]!r} and under {key!r}.")
    untyped = [f"{i:06d}.png" for i in indices if f"{i:06d}.png" not in types]
    if types and untyped:
        raise DatasetError(f"{path}: no change type for {len(untyped):,} scenes (first: {untyped[0]}).")
    return types


def _overlaps(path: Path) -> dict[str, float]:
    overlaps = {}
    for key, value in _object(path).items():
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise DatasetError(f'{path}: the overlap of "{key}" should be a number, not {value!r}.')
        overlaps[key] = float(value)
    return overlaps


def _boxes(path: Path, index: int, entry: Mapping[str, Any] | None) -> tuple[Box | None, Box | None]:
    """Both boxes; a box that does not exist is null or empty on disk."""
    entry = entry or {}
    try:
        before, after = (_box(entry.get(side)) for side in ("bbox_before", "bbox_after"))
    except (TypeError, ValueError, AttributeError) as error:
        raise DatasetError(
            f'{path}: the boxes of "{index}" should be [x, y, width, height], empty or null.'
        ) from error
    return before, after


def _box(value: Sequence[float] | None) -> Box | None:
    if not value:
        return None
    x, y, width, height = (float(v) for v in value)
    return (x, y, width, height)
