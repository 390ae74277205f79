"""Small inputs of the commands that ``same_answers`` records, made once by one tree.

    twin/              six drawn CLEVR scenes in CLEVR-Change's layout, with the truth
    tiny/              twelve at 96x64, to train on
    birds/             drawn birds in the layouts of Birds-to-Words and CUB
    old/, new/         eight pairs of screens; besides one that stays, one that is removed, one that is added
                       and one whose new file is cut short
    run1/, run2/       two runs of one state, with a little noise
    repository/        a git repository with the old pictures, and the new ones in its work tree
    pairs.csv, .jsonl  lists of the eight pairs, with captions
    damaged.csv        two of them, and one whose pictures are missing
    broken.csv         two of them, and one whose new picture cannot be read
    boxes.json         places to be ignored
    captions.jsonl     captions of the twin by clevr-pcl; maps/ holds the attention of their words
    other.jsonl        the same by clevr-scorer
    failed.jsonl       captions.jsonl with a pair that failed

The inputs do not depend on the machine's fonts, since they use Pillow's own font.
"""

import csv
import json
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from benchmarks.same_answers_pairs import SEED, whatchanged

SIZE = (240, 160)
SCREENS = 8
CAPTIONS = ("The button moved to the right.", "A blue button is further right than before.")
AUTHOR = {
    f"GIT_{role}_{key}": value
    for role in ("AUTHOR", "COMMITTER")
    for key, value in (("NAME", "a"), ("EMAIL", "a@example.org"), ("DATE", "2026-01-01T00:00:00Z"))
}


def write_inputs(folder: Path, tree: Path) -> None:
    """Everything in the list above."""
    for world, name, scenes, size in (
        ("clevr-change", "twin", "6", "480x320"),
        ("clevr-change", "tiny", "12", "96x64"),
        ("birds", "birds", "10", "64x64"),
    ):
        given = [world, str(folder / name), "--scenes", scenes, "--size", size, "--seed", str(SEED)]
        whatchanged(tree, "synth", *given, "--quiet")
    write_screens(folder)
    write_lists(folder)
    write_repository(folder / "repository", folder)
    write_captions(folder, tree)


def write_screens(folder: Path) -> None:
    """The folders of pictures to compare."""
    old, new, run1, run2 = (folder / name for name in ("old", "new", "run1", "run2"))
    for side in (old, new, run1, run2):
        side.mkdir()
    rng = np.random.default_rng(SEED)
    for number in range(SCREENS):
        before, after = screen(number), screen(number, changed=True)
        before.save(old / f"page-{number}.png")
        after.save(new / f"page-{number}.png")
        before.save(run1 / f"page-{number}.png")
        noisy = np.asarray(before).astype(int) + rng.integers(-2, 3, (*SIZE[::-1], 3))
        Image.fromarray(noisy.clip(0, 255).astype(np.uint8)).save(run2 / f"page-{number}.png")
    for side in (old, new):
        screen(SCREENS).save(side / "same.png")
    screen(SCREENS + 1).save(old / "removed.png")
    screen(SCREENS + 2).save(new / "added.png")
    screen(SCREENS + 3).save(old / "broken.png")
    (new / "broken.png").write_bytes((old / "broken.png").read_bytes()[:200])


def screen(number: int, changed: bool = False) -> Image.Image:
    """A drawn page; each number has its own kind of change."""
    picture = Image.new("RGB", SIZE, "white")
    draw = ImageDraw.Draw(picture)
    kind = number % 4 if changed else None
    draw.rectangle((0, 0, SIZE[0], 20), fill="navy" if kind != 1 else "darkgreen")
    draw.text((8, 4), f"page {number}" if kind != 2 else f"PAGE {number}!", fill="white")
    for row in range(3 if kind != 3 else 4):
        draw.rectangle((20, 40 + 28 * row, 120 + 9 * number, 60 + 28 * row), outline="gray")
    left = 150 + (12 if kind == 0 else 0)
    draw.rectangle((left, 130, left + 50, 150), fill="royalblue")
    return picture


def write_lists(folder: Path) -> None:
    """Lists of the pairs of screens, whole and with faults; boxes to be ignored."""
    rows = [
        {"id": f"page {n}", "before": f"old/page-{n}.png", "after": f"new/page-{n}.png"}
        for n in range(SCREENS)
    ]
    for name, listed in (
        ("pairs", rows),
        ("damaged", [*rows[:2], {"id": "gone", "before": "old/gone.png", "after": "new/gone.png"}]),
        ("broken", [*rows[:2], {"id": "broken", "before": "old/broken.png", "after": "new/broken.png"}]),
    ):
        with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            table = csv.writer(file)
            table.writerow(["id", "before", "after", "captions"])
            table.writerows([*row.values(), "|".join(CAPTIONS)] for row in listed)
    lines = [json.dumps({**row, "captions": list(CAPTIONS)}) for row in rows]
    (folder / "pairs.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "boxes.json").write_text('{"page-[0-3].png": [{"box": [0, 0, 240, 24], "reason": "the head"}]}')


def write_repository(repository: Path, folder: Path) -> None:
    """The old pictures committed, the new ones in the work tree."""
    shutil.copytree(folder / "old", repository / "shots")

    def git(*arguments: str) -> None:
        command = ["git", "-c", "init.defaultBranch=main", *arguments]
        subprocess.run(command, cwd=repository, env=os.environ | AUTHOR, check=True, capture_output=True)

    git("init")
    git("add", ".")
    git("commit", "-m", "old")
    shutil.rmtree(repository / "shots")
    shutil.copytree(folder / "new", repository / "shots")


def write_captions(folder: Path, tree: Path) -> None:
    """Predictions to evaluate, the same for both trees."""
    twin = str(folder / "twin")
    first, other = folder / "captions.jsonl", folder / "other.jsonl"
    maps = ["--attention", str(folder / "maps")]
    whatchanged(tree, "caption", twin, "-o", str(first), "--model", "clevr-pcl", *maps, "--quiet")
    whatchanged(tree, "caption", twin, "-o", str(other), "--model", "clevr-scorer", "--quiet")
    lines = first.read_text(encoding="utf-8").splitlines()
    failed = json.dumps({"id": json.loads(lines[0])["id"], "error": "no such picture"})
    (folder / "failed.jsonl").write_text("\n".join([failed, *lines[1:]]) + "\n", encoding="utf-8")
