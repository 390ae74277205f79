"""Counts how many files a reader must open to follow a command through the code, and how often they return.

    python -m benchmarks.walks --tree OLD --tree NEW [--walk NAME ...] [--screens BEFORE AFTER]
    python -m benchmarks.walks --tree TREE --walk NAME --show    # the walk itself, step by step

A walk is the code that a person reads who follows one command. It begins at a named function and ends when
that function, or the last one named, returns. The reader reads each function once, when it is first called,
and then returns to its caller. The reader does not enter functions that call no other function of the
package, since their names say what they do, nor code that runs at import.

    files    source files of which a function is entered
    returns  steps back to another file than the one just read, because the calling function there
             continues

The walks:

    clevr     ``Answerer.answer`` for the first pair of the demo, by clevr-pcl, which is loaded first
    screens   the same for a drawn window whose button moved, by rules (in old trees by a model)
    recipe    ``run_recipe`` of pcl-tiny on the demo's pictures, to the first weight update
    evaluate  the command, of ten sentences
    compare   the command, of two folders with three pairs, in one process
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

from benchmarks.markdown import table
from benchmarks.same_numbers import ROOT, environment

WALKS = ("clevr", "screens", "recipe", "evaluate", "compare")
SENTENCES = (
    "the small red rubber sphere changed to blue",
    "the large green metal cube has been added",
    "someone removed the small gray cylinder",
    "the large purple rubber cube changed its location",
    "the tiny cyan metal sphere is missing",
    "the big yellow rubber cylinder became metallic",
    "a small brown block was newly placed",
    "the other large red ball has been moved",
    "the blue metal thing turned gray",
    "the large cube at the left was replaced by a sphere",
)
"""Said of the pairs of the demo, one after the other: whether they are true, no walk asks."""


@dataclass
class Call:
    """A function that was called, and those that it called, in order."""

    file: str
    name: str
    calls: "list[Call]" = field(default_factory=list)


class Tracer:
    """Follows the calls of one thread within the package, from the first function to the end of the last."""

    def __init__(self, package: Path, first: str, last: str) -> None:
        self.root = Call("", "")
        self._package, self._first, self._last = f"{package}{os.sep}", first, last
        self._open: list[tuple[FrameType, Call]] = []
        self._begun = self._over = False
        self._imports = 0
        """Modules of the package that are being imported now, one within the other."""

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        """What ``sys.setprofile`` calls."""
        if self._over or event not in ("call", "return"):
            return
        code = frame.f_code
        if not code.co_filename.startswith(self._package):
            return
        if code.co_name == "<module>":
            self._imports += 1 if event == "call" else -1
        if self._imports:  # bodies of classes, decorators: nobody reads them on his way
            return
        if event == "return":
            if self._open and self._open[-1][0] is frame:
                self._open.pop()
                self._over = code.co_qualname == self._last
            return
        self._begun = self._begun or code.co_qualname == self._first
        if self._begun and not _is_nameless(frame):
            call = Call(code.co_filename.removeprefix(self._package), code.co_qualname)
            (self._open[-1][1] if self._open else self.root).calls.append(call)
            self._open.append((frame, call))


def _is_nameless(frame: FrameType) -> bool:
    """Whether this is no function: a module, a comprehension, a generator expression."""
    return frame.f_code.co_name.startswith("<")


@dataclass
class Walk:
    """What is read: depth, file, name and whether the reader had to go back for it, in order."""

    steps: list[tuple[int, str, str, bool]]

    @property
    def files(self) -> int:
        """Source files of which a function is entered."""
        return len({file for _, file, _, _ in self.steps})

    @property
    def returns(self) -> int:
        """How often the reader goes back to another file."""
        return sum(back for *_, back in self.steps)


def walk_of(root: Call) -> Walk:
    """The walk along the calls below ``root``."""
    steps: list[tuple[int, str, str, bool]] = []
    seen: set[tuple[str, str]] = set()

    def read(caller: Call, depth: int) -> None:
        for call in caller.calls:
            if not call.calls or (call.file, call.name) in seen:
                continue
            seen.add((call.file, call.name))
            back = bool(steps) and bool(caller.file) and steps[-1][1] != caller.file
            steps.append((depth, call.file, call.name, back))
            read(call, depth + 1)

    read(root, 0)
    return Walk(steps)


def traced(work: Callable[[], None], first: str, last: str) -> Walk:
    """The walk from the first function to the end of the last, while ``work`` runs."""
    import whatchanged

    tracer = Tracer(Path(whatchanged.__file__).parent, first, last)
    sys.setprofile(tracer)
    try:
        work()
    finally:
        sys.setprofile(None)
    if not tracer.root.calls:
        raise RuntimeError(f"{first} was never called")
    return walk_of(tracer.root)


def walk_of_name(name: str, work: Path, screens: Sequence[str]) -> Walk:
    """One of ``WALKS`` in this process, whose PYTHONPATH names the tree."""
    demo = _demo()
    if name == "clevr":
        return _describe(f"{demo}/00-before.png", f"{demo}/00-after.png", ["clevr-pcl"])
    if name == "screens":
        before, after = screens or _draw_window(work)
        return _describe(before, after, ["measured", "screens"])
    if name == "recipe":
        return traced(lambda: _train(work), "run_recipe", "take_step")
    if name == "evaluate":
        return traced(lambda: _command(*_evaluate(work)), "evaluate", "evaluate")
    return traced(lambda: _command(*_compare(work)), "compare", "compare")


def _demo() -> Path:
    """The folder of the shipped pairs."""
    from whatchanged.captioner.bundle import SHIPPED

    return SHIPPED / "demo"


def _describe(before: str, after: str, wanted: Sequence[str]) -> Walk:
    """The walk to the answer for a pair; raises RuntimeError where none of those wanted answers."""
    from whatchanged.answers import Answerer

    answerer, results = Answerer(threads=1), []
    walk = traced(
        lambda: results.append(answerer.answer(before, after)), "Answerer.answer", "Answerer.answer"
    )
    if results[0].answer not in wanted:
        raise RuntimeError(f"{before}, {after}: answered by {results[0].answer}, not by {wanted[0]}")
    return walk


def _draw_window(work: Path) -> tuple[str, str]:
    """A window with some text and a button that moves."""
    for side, left in (("before", 40), ("after", 90)):
        picture = Image.new("RGB", (480, 320), (250, 250, 250))
        draw = ImageDraw.Draw(picture)
        draw.rectangle((0, 0, 480, 40), fill=(40, 60, 90))
        draw.text((12, 14), "Settings of the account", fill=(255, 255, 255))
        for row in range(5):
            draw.text((40, 70 + 26 * row), f"Line {row} of what can be set here", fill=(30, 30, 30))
        draw.rectangle((left, 240, left + 110, 272), fill=(30, 110, 220))
        draw.text((left + 34, 250), "Save all", fill=(255, 255, 255))
        picture.save(work / f"window-{side}.png")
    return str(work / "window-before.png"), str(work / "window-after.png")


def _train(work: Path) -> None:
    """One step of pcl-tiny on the pictures of the demo in CLEVR-Change's layout, and random features."""
    from whatchanged.recipes.reader import load_recipe
    from whatchanged.training.run import run_recipe

    data = work / "data"
    _write_clevr_change(data)
    settings = [f'data.path="{data}"', f'data.features="{data}/features"', "data.validation=2"]
    settings += ["stage.pretrain.steps=1", "stage.pretrain.tasks={ mlm = 1 }"]
    run_recipe(load_recipe("pcl-tiny", settings), work / "run", max_seconds=0, device="cpu", quiet=True)


def _write_clevr_change(data: Path) -> None:
    """Ten scenes: each picture before also stands for the one after in which nothing changed."""
    numbers, rng = range(len(SENTENCES)), np.random.default_rng(0)
    for folder in ("images", "sc_images", "nsc_images", "features"):
        (data / folder).mkdir(parents=True)
    for number in numbers:
        for view, folder, side in (
            ("default", "images", "before"),
            ("semantic", "sc_images", "after"),
            ("nonsemantic", "nsc_images", "before"),
        ):
            name = f"CLEVR_{view}_{number:06d}.png"
            (data / folder / name).write_bytes((_demo() / f"{number:02d}-{side}.png").read_bytes())
            np.save(data / "features" / f"{name}.npy", rng.random((24, 9), dtype=np.float32))
    names = [f"CLEVR_default_{number:06d}.png" for number in numbers]
    changed = {name: [sentence] for name, sentence in zip(names, SENTENCES, strict=True)}
    same = {name: ["there is no change"] for name in names}
    (data / "change_captions.json").write_text(json.dumps(changed))
    (data / "no_change_captions.json").write_text(json.dumps(same))
    splits = {"train": list(numbers)[:-2], "val": list(numbers)[-2:], "test": []}
    (data / "splits.json").write_text(json.dumps(splits))
    types = {"color": [name.removeprefix("CLEVR_default_") for name in names]}
    (data / "type_mapping.json").write_text(json.dumps(types))


def _evaluate(work: Path) -> list[str]:
    """The command for ten sentences."""
    said, true = work / "said.jsonl", work / "true.jsonl"
    with said.open("w") as predictions, true.open("w") as references:
        for number in range(10):
            one, other = SENTENCES[number], SENTENCES[9 - number]
            predictions.write(json.dumps({"id": str(number), "caption": one, "no_change": 0.1}) + "\n")
            references.write(json.dumps({"id": str(number), "captions": [one, other]}) + "\n")
    return ["evaluate", str(said), str(true)]


def _compare(work: Path) -> list[str]:
    """The command for three pairs of the demo."""
    for side in ("before", "after"):
        (work / side).mkdir()
        for number in range(3):
            picture = (_demo() / f"{number:02d}-{side}.png").read_bytes()
            (work / side / f"{number}.png").write_bytes(picture)
    return [
        "compare",
        str(work / "before"),
        str(work / "after"),
        "-o",
        str(work / "out"),
        "--workers",
        "1",
        "--fail-on",
        "never",
    ]


def _command(*arguments: str) -> None:
    """Run a command in this process; raises RuntimeError where it fails."""
    from benchmarks.same_numbers_tree import whatchanged

    whatchanged(*arguments)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table of some trees; or, in one tree's process, its walks as JSON."""
    parser = argparse.ArgumentParser(description="How far a reader walks: files entered and returns.")
    parser.add_argument("--tree", type=Path, action="append", default=[], help="a checkout; repeatable")
    parser.add_argument("--walk", choices=WALKS, action="append", default=[], help="only these; repeatable")
    parser.add_argument("--screens", nargs=2, default=[], metavar=("BEFORE", "AFTER"), help="another pair")
    parser.add_argument("--show", action="store_true", help="the walks step by step")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.here:
        with tempfile.TemporaryDirectory() as work:
            print(json.dumps(walk_of_name(given.walk[0], Path(work), given.screens).steps))
        return
    results = {
        (name, tree): _elsewhere(tree, name, given.screens)
        for name in given.walk or WALKS
        for tree in given.tree or [ROOT]
    }
    rows = [(name, str(tree), str(walk.files), str(walk.returns)) for (name, tree), walk in results.items()]
    print(table(["walk", "tree", "files", "returns"], *rows))
    for (name, tree), walk in results.items() if given.show else ():
        print(f"\n{name}, {tree}")
        for depth, file, function, back in walk.steps:
            print(f"{'<-' if back else '  '} {'  ' * depth}{file}: {function}")


def _elsewhere(tree: Path, name: str, screens: Sequence[str]) -> Walk:
    """A walk in a process that uses a tree's code; raises RuntimeError where it fails."""
    command = [sys.executable, "-m", "benchmarks.walks", "--here", "--walk", name]
    command += ["--screens", *map(os.path.abspath, screens)] if screens else []
    done = subprocess.run(
        command, cwd=ROOT, env=environment((tree / "src").resolve()), capture_output=True, text=True
    )
    if done.returncode:
        raise RuntimeError(f"{tree}, {name}: {done.stderr[-2000:]}")
    return Walk([tuple(step) for step in json.loads(done.stdout.splitlines()[-1])])


if __name__ == "__main__":
    main()
