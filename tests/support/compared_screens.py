"""Folders of small screens for the tests of ``compare``."""

import subprocess
from pathlib import Path

import numpy as np
from PIL import Image

from support.drawn_page import page, with_box

RED = (220, 20, 20)
BLUE = (20, 60, 220)
GREEN = (20, 160, 60)


def screen(number: int = 0) -> np.ndarray:
    """A page of bars that no other number has."""
    return with_box(page(), (150, 4 + number % 8, 158, 14), (10 * (number % 20), 90, 40))


def save(pixels: np.ndarray, path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).save(path)
    return path


def with_square(pixels: np.ndarray, color=RED, left: int = 170, top: int = 92) -> np.ndarray:
    """The screen with a square of 18 pixels; by default at the lower right."""
    return with_box(pixels, (left, top, left + 18, top + 18), color)


def two_runs(folder: Path, same: int = 2, squares: int = 4) -> tuple[Path, Path]:
    """Folders old/ and new/: ``same`` equal pictures, then ``squares`` that got a red square."""
    old, new = folder / "old", folder / "new"
    for number in range(same + squares):
        save(screen(number), old / f"{number:02}.png")
        save(screen(number) if number < same else with_square(screen(number)), new / f"{number:02}.png")
    return old, new


def git(folder: Path, *arguments: str) -> None:
    """Run git without anything of the person's own configuration."""
    who = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *who, "-C", str(folder), *arguments], check=True, capture_output=True)
