"""Ten tiny pairs with truth, drawn with rectangles: what the tests of regions work with."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
from PIL import Image

from whatchanged.worlds.screens.truth import LIST, SETTINGS, ScreenChange, ScreenTruth, to_json

SIZE = (96, 72)
BAR = (8, 6, 60, 14)
"""The place of a bar that stands in every picture."""


def drawn_pair(number: int) -> tuple[np.ndarray, np.ndarray, ScreenTruth]:
    """A pair of pictures of rectangles; every fourth has noise alone."""
    rng = np.random.default_rng(number)
    before = np.full((SIZE[1], SIZE[0], 3), 255, np.uint8)
    before[6:14, 8:60] = 90
    after = before.copy()
    x, y = int(rng.integers(5, 60)), int(rng.integers(25, 50))
    box = (x, y, x + int(rng.integers(12, 30)), y + int(rng.integers(8, 18)))
    changes: tuple[ScreenChange, ...] = ()
    way = number % 4
    if way == 0:
        after[6:14, 8:60] = 91
    elif way == 1:
        after[box[1] : box[3], box[0] : box[2]] = (20, 90, 200)
        changes = (ScreenChange("added", "button", "", None, box, {"aspect": "element"}),)
    elif way == 2:
        before[box[1] : box[3], box[0] : box[2]] = (20, 90, 200)
        changes = (ScreenChange("removed", "button", "", box, None, {"aspect": "element"}),)
    else:
        before[box[1] : box[3], box[0] : box[2]] = (20, 90, 200)
        after[box[1] : box[3], box[0] : box[2]] = (200, 40, 20)
        values = {"aspect": "fill", "color_before": "#145ac8", "color_after": "#c82814"}
        changes = (ScreenChange("recolored", "button", "", box, box, values),)
    return before, after, ScreenTruth(changes, () if changes else ("levels 1",), SIZE, SIZE, "pages")


def _recolor_bar(pixels: np.ndarray) -> None:
    pixels[BAR[1] : BAR[3], BAR[0] : BAR[2]] = (230, 160, 30)


def write_set(folder: Path, pairs: int = 10, first: int = 0, bar: bool = False) -> Path:
    """A drawn set on disk, its pairs numbered from ``first`` on; returns its list.

    bar: where something changed the bar has another color, too.
    """
    (folder / "images").mkdir(parents=True)
    lines = []
    for number in range(pairs):
        before, after, truth = drawn_pair(first + number)
        if bar and truth.changes:
            _recolor_bar(after)
            values = {"aspect": "fill", "color_before": "#5a5a5a", "color_after": "#e6a01e"}
            recolored = ScreenChange("recolored", "bar", "", BAR, BAR, values)
            truth = replace(truth, changes=(*truth.changes, recolored))
        names = [f"images/{number}_{side}.png" for side in ("before", "after")]
        for name, pixels in zip(names, (before, after), strict=True):
            Image.fromarray(pixels).save(folder / name)
        split = "val" if number >= pairs - 2 else "train"
        said = ["Nothing changed.", "Nothing is different."]
        if truth.changes:
            said = [f"The button was {truth.changes[0].kind}.", f"A button was {truth.changes[0].kind}."]
        line = {"id": str(number), "before": names[0], "after": names[1], "changed": bool(truth.changes)}
        lines.append({**line, "captions": said, "split": split, **to_json(truth)})
    (folder / SETTINGS).write_text("{}")
    path = folder / LIST
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def write_real(folder: Path, pairs: int = 4, first: int = 0) -> Path:
    """The same pairs with labels as real ones have them, two changes in each; returns their folder."""
    (folder / "images").mkdir(parents=True)
    lines = []
    for number in range(pairs):
        before, after, truth = drawn_pair(first + number)
        if truth.changes:
            _recolor_bar(after)
        names = {side: f"images/{number}_{side}.png" for side in ("before", "after")}
        for side, pixels in zip(names, (before, after), strict=True):
            Image.fromarray(pixels).save(folder / names[side])
        changes = [
            {key: getattr(one, key) for key in ("kind", "element", "box_before", "box_after")}
            for one in truth.changes
        ]
        if changes:
            changes.append({"kind": "recolored", "element": "bar", "box_before": BAR, "box_after": BAR})
        line = {"id": str(number), "split": "validation" if number == pairs - 1 else "train", **names}
        visible = "yes" if changes else "no"
        said = ["It was changed."] if changes else ["Nothing changed."]
        lines.append({**line, "visible_change": visible, "changes": changes, "sentences": said})
    (folder / LIST).write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return folder
