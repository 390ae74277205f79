"""CUB captions (Reed et al., CVPR 2016) on CUB-200-2011: single pictures with about ten captions each.

    CUB_200_2011/images.txt               1 001.Black_footed_Albatross/Black_Footed_Albatross_0046_18.jpg
    CUB_200_2011/image_class_labels.txt, classes.txt, train_test_split.txt, bounding_boxes.txt
    CUB_200_2011/images/<class>/<name>.jpg
    birds/text/<class>/<name>.txt         one sentence per line (also text/, text_c10/ beside CUB_200_2011)

The split is the official one, train and test. Later work uses a split with different classes in train and
test. This split is stored in pickled lists (train/filenames.pickle), and is not read, because opening a
pickled file can run code. PCL's format is read as
well: train.json, val.json, test.json, JSON lines ``{"img": "class/name.jpg", "description": [...]}``.

Class ids start at 1, but ``labels`` start at 0. ``Dataset.class_names`` contains the names of the classes.
The id of a
record contains the folder of its class: ``001.Black_footed_Albatross/Black_Footed_Albatross_0046_18``.
"""

from pathlib import Path
from typing import Any

from whatchanged.datasets.birds_to_words import descriptions
from whatchanged.datasets.reading import (
    SPLITS,
    Reading,
    first_entry,
    first_folder,
    leaves,
    negatives,
    split_files,
    text,
    with_examples,
)
from whatchanged.errors import DatasetError
from whatchanged.records import PairRecord, Split

NAME = "cub"
CAPTIONS = 10


def recognises(root: Path) -> bool:
    """Return whether the folder contains the official tables or PCL's JSON lines."""
    base = _base(root)
    if (base / "images.txt").is_file() and (base / "classes.txt").is_file():
        return not (base / "hierarchy.txt").is_file()
    entry = first_entry(*_files(root).values())
    return "img" in entry and "description" in entry


def read(root: Path, reading: Reading) -> list[PairRecord]:
    """Return one record for each picture, in the order of images.txt or of PCL's JSON lines."""
    if _files(root) and not (_base(root) / "images.txt").is_file():
        return _read_lines(root, reading)
    base = _base(root)
    paths = reading.table(base / "images.txt")
    names = reading.table(base / "classes.txt")
    order = {number: index for index, number in enumerate(names)}
    reading.class_names = tuple(names.values())
    classes = reading.table(base / "image_class_labels.txt")
    parts = reading.table(base / "train_test_split.txt")
    boxes = read_boxes(base / "bounding_boxes.txt", reading)
    folder = first_folder(root, "birds/text", "text", "text_c10", "birds/text_c10")
    records: list[PairRecord] = []
    few: list[str] = []
    without: list[str] = []
    for number, path in paths.items():
        where = f"{base / 'images.txt'}: image {number}"
        picture = reading.picture(base / "images", path, where)
        if picture is None:
            continue
        if classes.get(number) not in order or parts.get(number) not in ("0", "1"):
            reading.damage(
                f"{where}: no class in image_class_labels.txt, or no 0 or 1 in train_test_split.txt."
            )
            continue
        name = path.rpartition(".")[0]
        captions = _lines(folder / f"{name}.txt")
        if not captions:
            without.append(name)
        elif len(captions) < CAPTIONS:
            few.append(name)
        records.append(
            _record(
                picture,
                name,
                "train" if parts[number] == "1" else "test",
                captions,
                (order[classes[number]],),
                {"box": boxes[number]} if number in boxes else {},
            )
        )
    for what, ids in ((f"pictures with fewer than {CAPTIONS} sentences", few), ("without captions", without)):
        if ids:
            reading.note(with_examples(what, ids))
    return records


def read_boxes(path: Path, reading: Reading) -> dict[str, tuple[float, ...]]:
    """Return a mapping from image id to the box of the bird: x, y, width, height.

    The result is {} if the file is missing.
    """
    boxes = {}
    for where, (number, *values) in reading.rows(path, 5) if path.is_file() else ():
        try:
            boxes[number] = tuple(float(value) for value in values)
        except ValueError:
            reading.damage(f"{where}: four numbers are wanted.")
    return boxes


def _base(root: Path) -> Path:
    return root / "CUB_200_2011" if (root / "CUB_200_2011").is_dir() else root


def _files(root: Path) -> dict[Split, Path]:
    names: dict[Split, tuple[str, ...]] = {s: (f"{s}.json", f"{s}.jsonl") for s in SPLITS}
    return split_files(root, (".", "cub"), names)


def _lines(path: Path) -> tuple[str, ...]:
    """Return the lines of a file that are not blank. The result is empty if the file is missing."""
    if not path.is_file():
        return ()
    return tuple(line for line in text(path).split("\n") if line.strip())


def _record(
    picture: Path,
    name: str,
    split: Split,
    captions: tuple[str, ...],
    labels: tuple[int, ...] | None,
    extra: dict[str, Any],
    tokens: tuple[tuple[str, ...], ...] | None = None,
    mined: tuple[str, ...] = (),
) -> PairRecord:
    return PairRecord(
        dataset=NAME,
        pair_id=name,
        group_id=name.rpartition("/")[0],
        split=split,
        kind="single_caption",
        before=picture,
        after=None,
        captions=captions,
        tokens=tokens,
        labels=labels,
        negatives=mined,
        extra=extra,
    )


def _read_lines(root: Path, reading: Reading) -> list[PairRecord]:
    """Read PCL's JSON lines.

    All descriptions of a picture become captions of one record. The class is the folder in ``img``.
    """
    images = first_folder(root, "CUB_200_2011/images", "images")
    mined = negatives(reading, root, SPLITS, ("img",))
    results: dict[str, tuple[Split, list[str | tuple[str, ...]]]] = {}
    for split, path in _files(root).items():
        for where, entry in reading.entries(path):
            image = entry.get("img")
            if not isinstance(image, str) or not image or leaves(image):
                reading.damage(f"{where}: 'img' should be a path below {images}, not {image!r}.")
                continue
            if results.setdefault(image, (split, []))[0] != split:
                reading.damage(f"{where}: {image} is in {results[image][0]} and in {split}.")
                continue
            results[image][1].extend(descriptions(where, entry.get("description"), reading))
    names = sorted({image.rpartition("/")[0] for image in results})
    labelled = all(names)
    reading.class_names = tuple(names) if labelled else ()
    order = {name: index for index, name in enumerate(names)}
    if not results:
        raise DatasetError(f"{root}: no pictures in train.json, val.json and test.json.")
    return [
        _record(
            images / image,
            image.rpartition(".")[0],
            split,
            tuple(item if isinstance(item, str) else " ".join(item) for item in items),
            (order[image.rpartition("/")[0]],) if labelled else None,
            {},
            tuple(item for item in items if not isinstance(item, str)) or None,
            mined.get((image,), ()),
        )
        for image, (split, items) in results.items()
        if items
    ]
