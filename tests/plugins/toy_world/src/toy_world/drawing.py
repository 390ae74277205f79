"""Drawing the squares: a list of pairs, its pictures, and the truth beside them."""

import json
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
from PIL import Image

from toy_world.world import COLORS, TRUTH, Square, Truth, captions, kind_of
from whatchanged.errors import OutputError
from whatchanged.worlds import Drawing

COLUMNS, ROWS = 4, 3
GROUNDS = {"light": 230, "dark": 25}
SPLITS = ("train", "train", "train", "val", "test")


def draw(drawing: Drawing, ground: str, unchanged: float) -> str:
    """Draw the pairs; each follows from the seed and its number alone."""
    if drawing.out.exists():
        raise OutputError(f"{drawing.out}: exists already. Choose another name.")
    pictures = drawing.out / "pictures"
    pictures.mkdir(parents=True)
    rows, known = [], {}
    for number in range(drawing.scenes):
        rng = np.random.default_rng((drawing.seed, number))
        truth = sample(rng, unchanged)
        name = f"{number:04d}"
        for side, square in zip(("before", "after"), truth, strict=True):
            paint(square, GROUNDS[ground], drawing.size).save(pictures / f"{name}_{side}.png")
        rows.append(
            {
                "id": name,
                "before": f"pictures/{name}_before.png",
                "after": f"pictures/{name}_after.png",
                "captions": captions(truth, rng),
                "split": SPLITS[number % len(SPLITS)],
                "changed": kind_of(truth) != "none",
            }
        )
        known[name] = [asdict(square) for square in truth]
        drawing.advance(1)
    _write(drawing.out / "pairs.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    _write(drawing.out / TRUTH, json.dumps(known))
    return f"{drawing.scenes} pairs of squares"


def sample(rng: np.random.Generator, unchanged: float) -> Truth:
    """A square, and what became of it."""
    before = Square(str(rng.choice(list(COLORS))), int(rng.integers(COLUMNS)), int(rng.integers(ROWS)))
    if rng.random() < unchanged:
        return before, before
    if rng.random() < 0.5:
        others = [color for color in COLORS if color != before.color]
        return before, replace(before, color=str(rng.choice(others)))
    step = int(rng.integers(1, COLUMNS))
    return before, replace(before, column=(before.column + step) % COLUMNS)


def paint(square: Square, ground: int, size: tuple[int, int]) -> Image.Image:
    """The picture of a square."""
    width, height = size
    pixels = np.full((height, width, 3), ground, np.uint8)
    left, top = square.column * width // COLUMNS, square.row * height // ROWS
    pixels[top : top + height // ROWS, left : left + width // COLUMNS] = COLORS[square.color]
    return Image.fromarray(pixels)


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
