"""Twelve pairs of every captioned data set in its official layout, with made-up pictures and captions."""

import json

import numpy as np
from PIL import Image

from support.tiny_sets import COLUMNS, bird_row, levir_entry

SPLITS = ["train"] * 8 + ["val"] * 2 + ["test"] * 2
COLOURS = ("red", "green", "blue", "gray")
SHAPES = ("cube", "ball", "cube")


def paint(path, seed):
    path.parent.mkdir(parents=True, exist_ok=True)
    pixels = np.random.default_rng(seed).integers(0, 256, (24, 36, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(path)


def write(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")


def said(number):
    """Sentences of few words, each of which occurs often enough to be kept."""
    thing = f"{COLOURS[number % 4]} {SHAPES[number // 4]}"
    return [f"the {thing} is gone", f"there is no {thing} any more"]


def numbers(split):
    return [number for number, name in enumerate(SPLITS) if name == split]


def clevr_change(root):
    captions = {f"CLEVR_default_{n:06d}.png": said(n) for n in range(12)}
    for number in range(12):
        for place, view in (("images", "default"), ("sc_images", "semantic"), ("nsc_images", "nonsemantic")):
            paint(root / place / f"CLEVR_{view}_{number:06d}.png", (number, len(place)))
    write(root / "splits.json", {split: numbers(split) for split in ("train", "val", "test")})
    write(root / "type_mapping.json", {"drop": [f"{n:06d}.png" for n in range(12)]})
    write(root / "change_captions.json", captions)
    write(root / "no_change_captions.json", {name: ["there is no change"] for name in captions})


def clevr_dc(root):
    write(root / "captions.json", {str(n): said(n) for n in range(12)})
    write(root / "split.json", {split: numbers(split) for split in ("train", "val", "test")})
    for number in range(12):
        for side, place in enumerate(("bef", "aft")):
            paint(root / place / f"{number}.png", (number, side))


def spot_the_diff(root):
    for split in ("train", "val", "test"):
        entries = [{"img_id": str(n), "sentences": said(n)} for n in numbers(split)]
        write(root / "annotations" / f"{split}.json", entries)
    for number in range(12):
        for side, end in enumerate(("", "_2")):
            paint(root / "resized_images" / f"{number}{end}.png", (number, side))


def image_editing_request(root):
    for split, file in (("train", "train"), ("val", "valid"), ("test", "test")):
        entries = [
            {
                "img0": f"Zhopped.com_{n}_a.jpg",
                "img1": f"Zhopped.com_{n}_b.jpg",
                "sents": said(n),
                "uid": f"Z_{n}",
            }
            for n in numbers(split)
        ]
        write(root / f"{file}.json", entries)
    for number in range(12):
        for side, end in enumerate("ab"):
            paint(root / "images" / f"Zhopped.com_{number}_{end}.jpg", (number, side))


def birds_to_words(root):
    rows = ["\t".join(COLUMNS)]
    for number, split in enumerate(SPLITS):
        pair = (100 + number, 200 + number)
        rows += [bird_row(*pair, split, k + 1, text) for k, text in enumerate(said(number))]
        for side, name in enumerate(pair):
            paint(root / "images" / f"{name}.jpg", (number, side))
    write(root / "birds-to-words-v1.0.tsv", "\n".join(rows) + "\n")


def levir_cc(root):
    images = [levir_entry(f"{split}_{n:06d}.png", (said(n) * 3)[:5], 1) for n, split in enumerate(SPLITS)]
    write(root / "LevirCCcaptions.json", {"images": images})
    for number, entry in enumerate(images):
        for side, view in enumerate("AB"):
            paint(root / "images" / entry["split"] / view / entry["filename"], (number, side))
