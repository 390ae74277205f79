"""NABirds (Van Horn et al., CVPR 2015): pictures of birds with class labels, no captions.

    images.txt               0000139e-21dc-4d0c-bfe1-4cae3c85c829 0817/0000139e21dc4d0cbfe14cae3c85c829.jpg
    image_class_labels.txt, classes.txt, hierarchy.txt, train_test_split.txt, bounding_boxes.txt
    images/0817/0000139e21dc4d0cbfe14cae3c85c829.jpg

``classes.txt`` also lists the inner nodes of the class tree, which have no pictures. ``labels`` therefore
number only the classes with pictures, from 0, in ascending order of their ids. ``Dataset.class_names``
contains the names of these classes. ``extra`` contains the class id, the parent of the class, and the box of
the bird.

PCL's pairs are read as well: train.json, val.json, test.json, JSON lines ``{"img1", "img2", "class_id1",
"class_id2", "label"}``; ``label`` is 1 if both pictures have the same class.
"""

from pathlib import Path

from whatchanged.datasets.cub import read_boxes
from whatchanged.datasets.reading import SPLITS, Reading, first_entry, first_folder, split_files
from whatchanged.errors import DatasetError
from whatchanged.records import PairRecord, Split

NAME = "nabirds"


def recognises(root: Path) -> bool:
    """Return whether the folder contains the official tables or PCL's pairs."""
    if (root / "images.txt").is_file() and (root / "hierarchy.txt").is_file():
        return True
    return "class_id1" in first_entry(*_files(root).values())


def read(root: Path, reading: Reading) -> list[PairRecord]:
    """Return one record for each picture, or for each pair in PCL's format, in the order of the file."""
    if not (root / "images.txt").is_file():
        return _read_pairs(root, reading)
    paths = reading.table(root / "images.txt")
    names = reading.table(root / "classes.txt")
    classes = reading.table(root / "image_class_labels.txt")
    parts = reading.table(root / "train_test_split.txt")
    tree = root / "hierarchy.txt"
    parents = reading.table(tree) if tree.is_file() else {}
    boxes = read_boxes(root / "bounding_boxes.txt", reading)
    used = sorted({classes[n] for n in paths if classes.get(n) in names}, key=_by_number)
    order = {number: index for index, number in enumerate(used)}
    reading.class_names = tuple(names[number] for number in used)
    reading.note(f"classes: {len(used):,} of the {len(names):,} in classes.txt have pictures")
    records = []
    for number, path in paths.items():
        where = f"{root / 'images.txt'}: image {number}"
        picture = reading.picture(root / "images", path, where)
        if picture is None:
            continue
        label = classes.get(number, "")
        if label not in order or parts.get(number) not in ("0", "1"):
            reading.damage(f"{where}: no class in classes.txt, or no 0 or 1 in train_test_split.txt.")
            continue
        extra: dict[str, object] = {"class_id": label, "parent": parents.get(label)}
        if number in boxes:
            extra["box"] = boxes[number]
        records.append(
            PairRecord(
                dataset=NAME,
                pair_id=number,
                group_id=number,
                split="train" if parts[number] == "1" else "test",
                kind="single_label",
                before=picture,
                after=None,
                labels=(order[label],),
                extra=extra,
            )
        )
    return records


def _by_number(name: str) -> tuple[int, str]:
    """Return the sort key of a class id. Numbers come first, in ascending order, and other ids follow."""
    return (int(name), "") if name.isascii() and name.isdigit() else (1 << 60, name)


def _files(root: Path) -> dict[Split, Path]:
    names: dict[Split, tuple[str, ...]] = {s: (f"{s}.json", f"{s}.jsonl") for s in SPLITS}
    return split_files(root, (".", "nabirds"), names)


def _read_pairs(root: Path, reading: Reading) -> list[PairRecord]:
    files = _files(root)
    if not files:
        raise DatasetError(f"{root}: neither images.txt nor train.json is here. Unpack the data set again.")
    images = first_folder(root, "images")
    records = []
    for split, path in files.items():
        for where, entry in reading.entries(path):
            sides = [reading.picture(images, entry.get(k), f"{where}: {k!r}") for k in ("img1", "img2")]
            first, second, label = (entry.get(k) for k in ("class_id1", "class_id2", "label"))
            if type(first) is not int or type(second) is not int or label not in (0, 1):
                reading.damage(f"{where}: 'class_id1' and 'class_id2' should be numbers, 'label' 0 or 1.")
            elif (first == second) != bool(label):
                reading.damage(f"{where}: label {label}, but the classes are {first} and {second}.")
            elif sides[0] is not None and sides[1] is not None:
                stems = tuple(str(entry[k]).removesuffix(".jpg") for k in ("img1", "img2"))
                records.append(
                    PairRecord(
                        dataset=NAME,
                        pair_id="_".join(stems),
                        group_id=stems[0],
                        split=split,
                        kind="pair_label",
                        before=sides[0],
                        after=sides[1],
                        labels=(first, second),
                        same_class=bool(label),
                    )
                )
    return records
