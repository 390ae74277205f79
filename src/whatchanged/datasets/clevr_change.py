"""CLEVR-Change (Park, Darrell, Rohrbach, ICCV 2019) in its published layout.

Drawn sets of this package have the same layout.

    images/CLEVR_default_000000.png           before, of both pairs of a scene
    sc_images/CLEVR_semantic_000000.png       after, something changed        -> pair 000000.png
    nsc_images/CLEVR_nonsemantic_000000.png   after, camera and light only    -> pair 000000.png_n
    splits.json                               {"train": [0, ...], "val": [...], "test": [...]}
    change_captions.json, no_change_captions.json   both keyed by CLEVR_default_000000.png
    type_mapping.json                         {"color": ["000000.png", ...], ...}, changed pairs only
    change_captions_with_bbox.json, change_captions_by_IOU.json   keyed by "0"
    total_change_captions_reformat.json       both caption files in one, read in their absence

PCL's format has JSON lines instead, ``{"img1", "img2", "sentences"}`` in train.json, val.json, test.json, one
line per pair; the name of ``img2`` shows whether the pair is a distractor. False captions are in
train_neg_tfidf6.json. The pictures are the same.

Paths are made from ids. The published loaders instead match files by their positions in sorted listings. With
such a loader, one missing file would give every later picture the caption of its neighbour. Only splits.json
is required.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from whatchanged.datasets.reading import SPLITS, Reading, first_entry, negatives, with_examples
from whatchanged.errors import DatasetError
from whatchanged.opening import open_regular
from whatchanged.records import PairRecord, SizedBox, Split

NAME = "clevr_change"
CHANGED, UNCHANGED = "change_captions.json", "no_change_captions.json"
TYPES, BOXES, OVERLAPS = (
    "type_mapping.json",
    "change_captions_with_bbox.json",
    "change_captions_by_IOU.json",
)
TYPE_NAMES: Mapping[str, str] = {
    **{name: name for name in ("color", "material", "add", "drop", "move", "none")},
    "texture": "material",
    "no_change": "none",
}
"""A mapping from the change types in ``type_mapping.json`` to the change types in records."""
SCORERS = "total_change_captions_reformat.json"
_SCENE = re.compile(r"(?:CLEVR_(?:default|semantic|nonsemantic)_)?(\d{1,9})(?:\.png)?")
_PICTURE = re.compile(r"CLEVR_(default|semantic|nonsemantic)_(\d{6,9})\.png")


def recognises(root: Path) -> bool:
    """Return whether the folder has the official layout or PCL's layout."""
    if (root / UNCHANGED).is_file() or (root / "nsc_images").is_dir():
        return True
    if (root / CHANGED).is_file():
        return _begins(root / CHANGED)
    if (root / "splits.json").is_file() and (root / TYPES).is_file():
        return not (root / "bef").is_dir() and not (root / "sc_images").is_dir()
    return _is_lines(root)


def read(root: Path, reading: Reading) -> list[PairRecord]:
    """Return all pairs, ordered by split and then by scene.

    The changed pair of a scene comes before its distractor.
    """
    if not (root / "splits.json").is_file() and _is_lines(root):
        return _read_lines(root, reading)
    splits = read_splits(root / "splits.json", reading)
    scenes = {index: split for split, indices in splits.items() for index in indices}
    change, no_change = _both_captions(root, reading, scenes)
    types = read_types(root / TYPES, list(scenes), reading)
    boxes, overlaps = reading.json_object(root / BOXES), _overlaps(root / OVERLAPS, reading)
    for name in (CHANGED, UNCHANGED, TYPES, BOXES, OVERLAPS):
        if not (root / name).is_file():
            reading.note(f"{name} is absent")
    records = []
    for split, indices in splits.items():
        for index in sorted(indices):
            known = boxes.get(str(index))
            records.append(
                _pair(
                    root,
                    index,
                    split,
                    change.get(index, ()),
                    change_type=types.get(index),
                    boxes=_boxes(root / BOXES, index, known) if known is not None else (None, None),
                    viewpoint_iou=overlaps.get(str(index)),
                )
            )
            records.append(_pair(root, index, split, no_change.get(index, ()), distractor=True))
    return records


def _pair(
    root: Path,
    index: int,
    split: Split,
    captions: tuple[str, ...],
    distractor: bool = False,
    change_type: str | None = None,
    boxes: tuple[SizedBox | None, SizedBox | None] = (None, None),
    viewpoint_iou: float | None = None,
    negatives: tuple[str, ...] = (),
) -> PairRecord:
    """Return the changed pair or the distractor of a scene.

    All file names are made from the number of the scene.
    """
    file = f"{index:06d}.png"
    after = f"nsc_images/CLEVR_nonsemantic_{file}" if distractor else f"sc_images/CLEVR_semantic_{file}"
    return PairRecord(
        dataset=NAME,
        pair_id=f"{file}_n" if distractor else file,
        group_id=f"{index:06d}",
        split=split,
        kind="pair_caption",
        before=root / "images" / f"CLEVR_default_{file}",
        after=root / after,
        captions=captions,
        changed=not distractor,
        change_type="none" if distractor else change_type,
        boxes=boxes,
        viewpoint_iou=viewpoint_iou,
        negatives=negatives,
    )


def scene_number(key: Any) -> int | None:
    """Return the number of a scene from any of its spellings: 0, "0", "000000.png",
    "CLEVR_default_000000.png".
    """
    if isinstance(key, int) and not isinstance(key, bool):
        return key if key >= 0 else None
    found = _SCENE.fullmatch(key) if isinstance(key, str) else None
    return int(found[1]) if found else None


def read_splits(path: Path, reading: Reading) -> dict[Split, list[int]]:
    """Return a mapping from each split to the numbers of its scenes.

    A scene that occurs twice counts as damage. Raises DatasetError if the file is missing or invalid.
    """
    if not path.is_file():
        raise DatasetError(
            f"{path}: missing. It says which scenes exist; without it the folder cannot be read."
        )
    value = reading.json_object(path)
    unknown = [key for key in value if key not in (*SPLITS, "valid")]
    if unknown:
        raise DatasetError(f"{path}: unknown split {unknown[0]!r}. Known: {', '.join(SPLITS)}.")
    splits: dict[Split, list[int]] = {
        split: value.get("valid", []) if split == "val" and "val" not in value else value.get(split, [])
        for split in SPLITS
    }
    seen: dict[int, str] = {}
    for split, indices in splits.items():
        if not isinstance(indices, list) or not all(type(i) is int and i >= 0 for i in indices):
            raise DatasetError(f"{path}: {split!r} should be a list of scene numbers (0, 1, 2, ...).")
        kept = []
        for index in indices:
            if index in seen:
                reading.damage(
                    f"{path}: scene {index} stands in {seen[index]!r} and again in {split!r}. "
                    "A scene belongs to one split, once."
                )
            else:
                seen[index] = split
                kept.append(index)
        splits[split] = kept
    return splits


def read_captions(
    path: Path, reading: Reading, scenes: Mapping[int, Split], content: Mapping[str, Any] | None = None
) -> dict[int, tuple[str, ...]]:
    """Return a mapping from scene number to captions.

    The captions come from the file, or from ``content`` if the file was read before. Missing and unused
    captions are reported.
    """
    captions: dict[int, tuple[str, ...]] = {}
    for key, value in (reading.json_object(path) if content is None else content).items():
        index = scene_number(key)
        if index is None:
            reading.damage(f"{path}: the key {key!r} names no scene (CLEVR_default_000000.png, ...).")
        elif index in captions:
            reading.damage(f"{path}: {key!r} names scene {index} a second time.")
        else:
            sentences = reading.sentences(f"{path}: {key!r}", value)
            if sentences is not None:
                captions[index] = sentences
    if captions:
        _compare(path.name, captions, scenes, reading)
    return captions


def read_types(path: Path, indices: Sequence[int], reading: Reading) -> dict[int, str]:
    """Return a mapping from scene number to change type; {} if the file is missing.

    Every scene of a split must have exactly one type.
    """
    types: dict[int, str] = {}
    for key, names in reading.json_object(path).items():
        if key not in TYPE_NAMES:
            raise DatasetError(f"{path}: unknown change type {key!r}. Known: {', '.join(TYPE_NAMES)}.")
        if not isinstance(names, list):
            raise DatasetError(f"{path}: {key!r} should be a list of file names.")
        for name in names:
            index = scene_number(name)
            if index is None:
                raise DatasetError(f"{path}: {key!r} should be a list of file names; {name!r} is none.")
            if types.setdefault(index, TYPE_NAMES[key]) != TYPE_NAMES[key]:
                reading.damage(f"{path}: {name} stands under {types[index]!r} and under {key!r}.")
    untyped = [f"{i:06d}.png" for i in indices if i not in types]
    if types and untyped:
        reading.damage(f"{path}: no change type for {len(untyped):,} scenes (first: {untyped[0]}).")
    return types


def scorers_captions(path: Path, reading: Reading) -> dict[str, list[str]]:
    """Return a mapping from image id to captions, from a reference file in COCO's format; {} if the file is
    missing.
    """
    if not path.is_file():
        return {}
    value = reading.json_object(path)
    annotations = value.get("annotations")
    if not isinstance(annotations, list):
        raise DatasetError(f"{path}: no list 'annotations'. It should hold caption, id and image_id.")
    captions: dict[str, list[str]] = {}
    for number, entry in enumerate(annotations, start=1):
        image, caption = (
            (entry.get("image_id"), entry.get("caption")) if isinstance(entry, dict) else (None,) * 2
        )
        if not isinstance(image, str | int) or not isinstance(caption, str):
            reading.damage(f"{path}, annotation {number}: no caption with an image_id.")
        else:
            captions.setdefault(str(image), []).append(caption)
    return captions


def _both_captions(
    root: Path, reading: Reading, scenes: Mapping[int, Split]
) -> tuple[dict[int, tuple[str, ...]], dict[int, tuple[str, ...]]]:
    """Return the captions of the changed pairs and the captions of the distractors.

    The captions come from the two caption files, or from the file that combines both for scoring.
    """
    if (root / CHANGED).is_file() or (root / UNCHANGED).is_file() or not (root / SCORERS).is_file():
        return read_captions(root / CHANGED, reading, scenes), read_captions(
            root / UNCHANGED, reading, scenes
        )
    changed: dict[int, tuple[str, ...]] = {}
    unchanged: dict[int, tuple[str, ...]] = {}
    for name, captions in scorers_captions(root / SCORERS, reading).items():
        index = scene_number(name.removesuffix("_n"))
        sentences = reading.sentences(f"{root / SCORERS}: {name!r}", captions)
        if index is None:
            reading.damage(f"{root / SCORERS}: the image {name!r} names no scene.")
        elif sentences is not None:
            captions_of = unchanged if name.endswith("_n") else changed
            captions_of[index] = sentences
    reading.note(f"captions read from {SCORERS}")
    _compare(f"{SCORERS}, changed pairs", changed, scenes, reading)
    _compare(f"{SCORERS}, distractors", unchanged, scenes, reading)
    return changed, unchanged


def _compare(
    name: str, captions: Mapping[int, tuple[str, ...]], scenes: Mapping[int, Split], reading: Reading
) -> None:
    lacking = [str(index) for index in scenes if not captions.get(index)]
    unused = [str(index) for index in captions if index not in scenes]
    if lacking:
        reading.note(with_examples(f"{name}: scenes without captions", lacking))
    if unused:
        reading.note(with_examples(f"{name}: captions of scenes that are in no split, not used", unused))


def _overlaps(path: Path, reading: Reading) -> dict[str, float]:
    overlaps = {}
    for key, value in reading.json_object(path).items():
        if not _is_number(value):
            raise DatasetError(f'{path}: the overlap of "{key}" should be a number, not {value!r}.')
        overlaps[key] = float(value)
    return overlaps


def _boxes(path: Path, index: int, entry: Mapping[str, Any]) -> tuple[SizedBox | None, SizedBox | None]:
    """Return the boxes before and after. A box that does not exist is null or empty in the file."""
    try:
        before, after = (_box(entry.get(side)) for side in ("bbox_before", "bbox_after"))
    except (TypeError, ValueError, AttributeError) as error:
        raise DatasetError(
            f'{path}: the boxes of "{index}" should be [x, y, width, height], empty or null.'
        ) from error
    return before, after


def _box(value: Any) -> SizedBox | None:
    """Return a box in the file. Raises ValueError if the value is neither empty nor four numbers."""
    if not value:
        return None
    if not all(map(_is_number, value)):  # a text such as "nan" would become one
        raise ValueError("four numbers are wanted")
    x, y, width, height = map(float, value)
    return (x, y, width, height)


def _is_number(value: Any) -> bool:
    """Return whether the value is a number. Numbers from the files are always finite."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _begins(path: Path) -> bool:
    """Return whether the first key in a caption file has the form of CLEVR-Change's keys, not of CLEVR-DC's
    keys.
    """
    with open_regular(path) as file:
        return b'"CLEVR_default_' in file.read(256)


def _is_lines(root: Path) -> bool:
    entry = first_entry(root / "train.json", root / "test.json")
    return _PICTURE.fullmatch(str(entry.get("img1"))) is not None


def _read_lines(root: Path, reading: Reading) -> list[PairRecord]:
    """Read PCL's JSON lines, one pair for each line. A repeated pair counts as damage."""
    mined = negatives(reading, root, SPLITS, ("img1", "img2"))
    results: dict[tuple[int, bool], PairRecord] = {}
    for split in SPLITS:
        path = root / f"{split}.json"
        for where, entry in reading.entries(path) if path.is_file() else ():
            names = [_PICTURE.fullmatch(str(entry.get(side))) for side in ("img1", "img2")]
            sentences = reading.sentences(f"{where}: 'sentences'", entry.get("sentences"))
            if names[0] is None or names[1] is None or names[0][2] != names[1][2]:
                reading.damage(
                    f"{where}: 'img1' and 'img2' should be two pictures of one scene, not "
                    f"{entry.get('img1')!r} and {entry.get('img2')!r}."
                )
            elif sentences is not None:
                key = (int(names[0][2]), names[1][1] == "nonsemantic")
                if key in results:
                    reading.damage(f"{where}: {entry['img2']} occurs a second time.")
                    continue
                results[key] = _pair(
                    root,
                    key[0],
                    split,
                    sentences,
                    distractor=key[1],
                    negatives=mined.get((entry["img1"], entry["img2"]), ()),
                )
    reading.note("PCL's JSON lines: no change types, boxes or overlaps in this form")
    return list(results.values())
