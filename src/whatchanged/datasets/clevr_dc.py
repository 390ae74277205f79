"""CLEVR-DC (Kim et al., ICCV 2021): pairs with extreme viewpoints, of five types of change and unchanged.

    official                                       renamed by later repositories
    bef/0.png, aft/0.png                           images/000000.png, sc_images/000000.png
    captions.json   {"0": ["...", ...]}            change_captions.json   {"000000.png": [...]}
    split.json      {"train": [0, 1, ...], ...}    splits.json

Names and keys of the official form are not padded with zeros. A sorted listing (0, 1, 10, 100) therefore
differs from the order of the ids. Paths are made from ids. No official file contains the change types. The
ids form six blocks of 8,000 with one type each, in the order of the project's list of types. Records have
types only if the splits have the official counts, or if the folder contains a type_mapping.json.
"""

from pathlib import Path

from whatchanged.datasets.clevr_change import (
    SCORERS,
    TYPES,
    read_captions,
    read_splits,
    read_types,
    scene_number,
    scorers_captions,
)
from whatchanged.datasets.reading import SPLITS, Reading, first_file
from whatchanged.errors import DatasetError
from whatchanged.records import PairRecord, Split

NAME = "clevr_dc"
BLOCKS: tuple[str, ...] = ("color", "material", "add", "drop", "move", "none")
BLOCK = 8_000
OFFICIAL = (40_800, 2_400, 4_800)


def recognises(root: Path) -> bool:
    """Return whether the folder has the official or the renamed form.

    CLEVR-Change is tried first, because CLEVR-Change and the renamed form have file names in common.
    """
    if (root / "bef").is_dir() and (root / "aft").is_dir():
        return True
    if (root / "split.json").is_file():
        return True
    return (
        (root / "splits.json").is_file()
        and not (root / "change_multi_captions.json").is_file()
        and ((root / "change_captions.json").is_file() or (root / "sc_images").is_dir())
    )


def read(root: Path, reading: Reading) -> list[PairRecord]:
    """Return one record for each id, ordered by split and then by id."""
    path = first_file(root, "split.json", "splits.json")
    if path is None:
        raise DatasetError(f"{root / 'split.json'}: missing. It says which pairs exist. Fetch it again.")
    splits = read_splits(path, reading)
    scenes = {index: split for split, indices in splits.items() for index in indices}
    captions = _captions(root, reading, scenes)
    types = _types(root, reading, splits)
    padded = (root / "sc_images").is_dir() and not (root / "aft").is_dir()
    before, after = (root / name for name in (("images", "sc_images") if padded else ("bef", "aft")))
    records = []
    for split, indices in splits.items():
        for index in sorted(indices):
            kind = types.get(index)
            file = f"{index:06d}.png" if padded else f"{index}.png"
            records.append(
                PairRecord(
                    dataset=NAME,
                    pair_id=f"{index:06d}.png",
                    group_id=f"{index:06d}",
                    split=split,
                    kind="pair_caption",
                    before=before / file,
                    after=after / file,
                    captions=captions.get(index, ()),
                    changed=None if kind is None else kind != "none",
                    change_type=kind,
                )
            )
    return records


def _captions(root: Path, reading: Reading, scenes: dict[int, Split]) -> dict[int, tuple[str, ...]]:
    path = first_file(root, "captions.json", "change_captions.json")
    if path is not None:
        return read_captions(path, reading, scenes)
    results: dict[int, tuple[str, ...]] = {}
    for name, value in scorers_captions(root / SCORERS, reading).items():
        index, sentences = scene_number(name), reading.sentences(f"{root / SCORERS}: {name!r}", value)
        if index is None:
            reading.damage(f"{root / SCORERS}: the image {name!r} names no pair.")
        elif sentences is not None:
            results[index] = sentences
    reading.note(f"captions read from {SCORERS}" if results else "captions.json is absent")
    return results


def _types(root: Path, reading: Reading, splits: dict[Split, list[int]]) -> dict[int, str]:
    indices = [index for split in SPLITS for index in splits[split]]
    if (root / TYPES).is_file():
        return read_types(root / TYPES, indices, reading)
    if tuple(len(splits[split]) for split in SPLITS) == OFFICIAL and max(indices) < BLOCK * len(BLOCKS):
        reading.note(
            "change types follow from the blocks of ids, in the order of the project's list; no file has them"
        )
        return {index: BLOCKS[index // BLOCK] for index in indices}
    reading.note("no change types: the ids are not the official ones and there is no type_mapping.json")
    return {}
