"""Tiny pairs of screens for ``same_numbers``: rectangles with their truth, as ``synth screens`` lists it.

They are written here because what ``synth screens`` draws depends on the fonts of the machine.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

PAIRS = 20
SIZE = (96, 72)
BLUE, RED = (20, 90, 200), (200, 40, 20)
KINDS = ("noise", "added", "removed", "recolored")


def write_screens(folder: Path, seed: int) -> None:
    """Draw the pairs into a new folder: each fourth with noise alone, the last four to validate on."""
    (folder / "images").mkdir(parents=True)
    (folder / "drawing.json").write_text("{}")
    rng = np.random.default_rng(seed)
    lines = []
    for number in range(PAIRS):
        kind = KINDS[number % len(KINDS)]
        left, top = int(rng.integers(5, 60)), int(rng.integers(25, 50))
        box = [left, top, left + int(rng.integers(12, 30)), top + int(rng.integers(8, 18))]
        names = [f"images/{number}-{side}.png" for side in ("before", "after")]
        for name, pixels in zip(names, _pictures(kind, box), strict=True):
            Image.fromarray(pixels).save(folder / name)
        split = "val" if number >= PAIRS - 4 else "train"
        line = {"id": str(number), "before": names[0], "after": names[1], "split": split}
        lines.append(line | _truth(kind, box))
    (folder / "pairs.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def _pictures(kind: str, box: list[int]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """The picture before and after: (height, width, 3) each."""
    before = np.full((SIZE[1], SIZE[0], 3), 255, np.uint8)
    before[6:14, 8:60] = 90
    after = before.copy()
    left, top, right, bottom = box
    if kind == "noise":
        after[6:14, 8:60] = 91
    if kind in ("removed", "recolored"):
        before[top:bottom, left:right] = BLUE
    if kind in ("added", "recolored"):
        after[top:bottom, left:right] = BLUE if kind == "added" else RED
    return before, after


def _truth(kind: str, box: list[int]) -> dict[str, Any]:
    """What is known of the pair, and two sentences that say it."""
    changed = kind != "noise"
    change = {
        "kind": kind,
        "element": "button",
        "name": "",
        "box_before": None if kind == "added" else box,
        "box_after": None if kind == "removed" else box,
        "values": {"aspect": "fill" if kind == "recolored" else "element"},
        "boxes": [],
        "consequences": [],
    }
    said = [f"{article} button was {kind}." for article in ("The", "A")]
    return {
        "changed": changed,
        "captions": said if changed else ["Nothing changed.", "Nothing is different."],
        "changes": [change] if changed else [],
        "noise": [] if changed else ["levels 1"],
        "size_before": list(SIZE),
        "size_after": list(SIZE),
        "family": "pages",
        "design": {},
    }
