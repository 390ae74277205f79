"""The commands that write, each small enough to be run hundreds of times, and the pictures that they read."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

PAIRS = 24
TRAIN = (
    *("train", "pcl-tiny", "--data", "in/twin", "--device", "cpu", "--quiet"),
    *("--set", "vision.kind=patches", "--set", "vision.image_width=96", "--set", "vision.image_height=96"),
    *("--set", "stage.pretrain.steps=6", "--set", "stage.caption.steps=6"),
    *("--set", "stage.pretrain.batch=7", "--set", "stage.caption.batch=4"),
    *("--set", "stage.pretrain.save_every=2", "--set", "stage.caption.save_every=2"),
    *("--set", "stage.pretrain.warmup=2", "--set", "stage.caption.evaluate_every=3"),
)


@dataclass(frozen=True)
class Command:
    """One command, as it is typed in a folder where ``in`` leads to what it reads.

    outputs   the files and folders that it writes
    again     what is added to go on after it was stopped
    over      what is added where the outputs are there already, so that they are replaced; empty: never
    kind      "whole": an output is there whole or not at all; "grows": lines are added to the first one;
              "parts": each file of the folder is there whole or not at all; "run": a run folder;
              "replaced": each file is there, old or new, whole, with the rights that it had
    needs     a command whose outputs it reads; they are made once
    meanwhile patterns of files of JSON that are there, whole, while it runs, and then go or become others
    first     a command that is run before it, where ``base`` is a copy of the inputs' ``old``, and again
              before it goes on after it was stopped; what that writes is ``beside``
    share     how often it is stopped, beside the others: what takes long has a small share
    """

    name: str
    arguments: Sequence[str]
    outputs: Sequence[str]
    again: Sequence[str] = ()
    over: Sequence[str] = ()
    kind: str = "whole"
    needs: str = ""
    share: int = 6
    meanwhile: Sequence[str] = ()
    first: Sequence[str] = ()
    beside: Sequence[str] = ()


ACCEPTED = ("compare", "base", "in/new", "-o", "report", "--workers", "1", "--fail-on", "never", "--quiet")
NAMES = tuple(f"{number:02d}.png" for number in range(PAIRS))

COMMANDS: Sequence[Command] = (
    Command(
        "caption",
        ("caption", "in/list.csv", "-o", "out.jsonl", "--quiet"),
        ("out.jsonl", "out.jsonl.meta.json"),
        ("--resume",),
        kind="grows",
    ),
    Command(
        "caption --html",
        ("caption", "in/list.csv", "-o", "out.jsonl", "--html", "page.html", "--embed", "--quiet"),
        ("out.jsonl", "out.jsonl.meta.json", "page.html"),
        ("--resume",),
        kind="grows",
    ),
    Command(
        "describe --heatmap",
        ("describe", "in/old/00.png", "in/new/00.png", "--heatmap", "heat.png"),
        ("heat.png",),
        over=("--force",),
    ),
    Command(
        "compare",
        ("compare", "in/old", "in/new", "-o", "report", "--workers", "1", "--fail-on", "never", "--quiet"),
        ("report",),
        kind="parts",
    ),
    Command(
        "compare --accept",
        (*ACCEPTED, *(word for name in NAMES for word in ("--accept", name))),
        ("base",),
        kind="replaced",
        first=ACCEPTED,
        beside=("report",),
        share=2,
    ),
    Command(
        "accept",
        ("accept", "report", *NAMES, "--quiet"),
        ("base",),
        kind="replaced",
        first=ACCEPTED,
        beside=("report",),
    ),
    Command(
        "calibrate",
        ("calibrate", "in/old", "in/new", "-o", "noise.json", "--workers", "1", "--quiet"),
        ("noise.json",),
        over=("--quiet",),
    ),
    Command(
        "evaluate",
        (
            *(
                "evaluate",
                "in/predictions.jsonl",
                "in/list.csv",
                "--no-meteor",
                "--no-java",
                "--resamples",
                "50",
            ),
            *("--json", "report.json", "--markdown", "tables.md", "--html", "page.html", "--embed"),
        ),
        ("report.json", "tables.md", "page.html"),
        over=("--no-java",),
    ),
    Command(
        "dataset --html",
        ("dataset", "in/list.csv", "--html", "page.html", "--embed", "--quiet"),
        ("page.html",),
        over=("--force",),
    ),
    Command(
        "synth clevr-change",
        ("synth", "clevr-change", "twin", "--scenes", "12", "--seed", "3", "--size", "48x32", "--quiet"),
        ("twin",),
        share=4,
    ),
    Command("train", (*TRAIN, "-o", "run"), ("run",), ("--resume",), kind="run", needs="twin", share=4),
    Command(
        "features",
        (
            *("features", "in/list.csv", "grids", "--backbone", "efficientnet-lite0-stride16"),
            *("--shard-size", "8", "--workers", "1", "--device", "cpu", "--quiet"),
        ),
        ("grids",),
        kind="parts",
        share=2,
    ),
    Command(
        "export",
        ("export", "in/run", "model", "--data", "in/twin"),
        ("model",),
        over=("--force",),
        needs="run",
        share=2,
    ),
    Command(
        "retrieve",
        ("retrieve", "in/embedding", "in/twin", "-o", "s.npy", "--device", "cpu"),
        ("s.npy", "s.json"),
        needs="embedding",
        share=4,
    ),
    Command(
        "synth clevr-pool",
        ("synth", "clevr-pool", "pool", "--scenes", "100", "--seed", "3", "--size", "32x32", "--quiet"),
        ("pool",),
        kind="parts",
        share=1,
    ),
    Command(
        "synth screens",
        (
            *("synth", "screens", "set", "--documents", "3", "--seed", "3", "--family", "plots"),
            *("--size", "200x150", "--quiet"),
        ),
        ("set",),
        kind="parts",
        share=1,
        meanwhile=("set/drawing.json", "set/parts/*.jsonl"),
    ),
    Command(
        "caption --run",
        (*("caption", "in/twin", "--run", "in/run", "-o", "said.jsonl", "--device", "cpu"), "--quiet"),
        ("said.jsonl",),
        over=("--force",),
        needs="run",
        share=2,
    ),
)
"""Every command that writes."""


def draw_inputs(folder: Path) -> None:
    """Pictures before and after, the list of them with captions, and predictions."""
    rng = np.random.default_rng(0)
    rows, lines = ["before,after,id,captions"], []
    for side in ("old", "new"):
        (folder / side).mkdir(parents=True)
    for number in range(PAIRS):
        pixels = np.full((48, 72, 3), rng.integers(80, 200, 3), np.uint8)
        for side in ("old", "new"):
            if side == "new" and number % 3:
                left, top = rng.integers(0, 40), rng.integers(0, 20)
                pixels[top : top + 16, left : left + 20] = rng.integers(0, 255, 3)
            Image.fromarray(pixels).save(folder / side / f"{number:02d}.png")
        sentence = "there is no change" if number % 3 == 0 else "a box was added"
        rows.append(f"old/{number:02d}.png,new/{number:02d}.png,{number},{sentence}")
        lines.append(f'{{"id": "{number}", "caption": "{sentence}"}}')
    (folder / "list.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    (folder / "predictions.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


NEEDED: dict[str, tuple[tuple[str, ...], str]] = {
    "twin": (("synth", "clevr-change", "in/twin", "--scenes", "20", "--size", "96x64", "--quiet"), ""),
    "run": ((*TRAIN, "-o", "in/run"), "twin"),
    "embedding": (
        (
            *(
                "train",
                "clip4idc-tiny",
                "--data",
                "in/twin",
                "-o",
                "in/embedding",
                "--device",
                "cpu",
                "--quiet",
            ),
            *("--set", "stage.retrieval.steps=2", "--set", "stage.caption.steps=2"),
            *("--set", "stage.caption.evaluate_every=0"),
        ),
        "twin",
    ),
}
"""What commands read beside the drawn inputs: the command that makes it, and what that needs."""


def make_needed(name: str, inputs: Path, run: Callable[[Sequence[str]], None]) -> None:
    """Make what a command needs, if it is not there. run: runs a command where ``in`` leads to ``inputs``."""
    if not name or (inputs / name).exists():
        return
    arguments, needs = NEEDED[name]
    make_needed(needs, inputs, run)
    run(arguments)
