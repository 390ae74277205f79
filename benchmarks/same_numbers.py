"""Compares the training of two source trees: does a change of the code change any number?

    python -m benchmarks.same_numbers --old OLD --new NEW [--recipe NAME ...] [--pairs FOLDER]
        [--except NAME ...] [--work FOLDER]
    python -m benchmarks.same_numbers --old OLD --work KEPT [--pairs FOLDER]
    python -m benchmarks.same_numbers --new NEW --work KEPT [--pairs FOLDER]

OLD and NEW are checkouts (folders with ``src/whatchanged``). Every recipe, made small by ``shrink``, is
trained for 20 steps a stage with either tree, each in a process of its own with one thread. All logged
numbers (every term of the loss, the rate, the validation scores) and a hash of every parameter at the end
must be equal bit for bit. With ``--pairs`` the sentences and probabilities of the shipped model must be equal
too.

With ``--old`` alone, the results of the old tree stay in ``--work``. It may be interrupted, and the same
command resumes it. Any number of new trees can then be compared with it, by ``--new`` alone; their results
are not kept.

Exit code 0 if all are equal, 1 otherwise, with the first difference of each recipe. ``--except`` takes names
or patterns (``scorer-*``) of recipes that may differ; the table still says whether they do.
"""

import argparse
import csv
import fnmatch
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.markdown import table
from benchmarks.shrink import FEATURE_WIDTH, GRID, IMAGE, SQUARE

ROOT = Path(__file__).resolve().parents[1]
RENAMED: Mapping[str, str] = {
    "fate": "change_label",
    "seeing": "detection",
    "place": "ground_position",
}
"""Names of tasks and loss terms: what the old tree calls it -> what the new tree calls it."""
SCENES, POOL_SCENES, BIRDS = 24, 100, 10


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare the trees; the exit code."""
    parser = argparse.ArgumentParser(description="Two source trees side by side: equal numbers?")
    parser.add_argument("--old", type=Path, help="left out: the old side that --work holds")
    parser.add_argument("--new", type=Path, help="left out: make the old side in --work, and no more")
    parser.add_argument("--recipe", nargs="+", default=[], help="only these; default: all")
    parser.add_argument("--pairs", type=Path, help="a data set folder, captioned with the shipped model")
    parser.add_argument("--except", dest="excepted", nargs="+", default=[], metavar="NAME")
    parser.add_argument("--work", type=Path, help="a folder for data and runs; default: a temporary one")
    given = parser.parse_args(arguments)
    wrong = wrong_work(given)
    if wrong is not None:
        parser.error(wrong)
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as temporary:
        # resolved, because the trees run in another folder
        work = (given.work or Path(temporary)).resolve()
        if given.old is not None and not (work / "data").exists():
            draft = work / "data.draft"
            shutil.rmtree(draft, ignore_errors=True)
            make_data(draft, given.old)
            draft.rename(work / "data")
        out = {"old": work / "old", "new": (work if given.old else Path(temporary)) / "new"}
        trees = {side: tree for side, tree in (("old", given.old), ("new", given.new)) if tree is not None}
        running = [start(trees[side], work / "data", out[side], given.recipe, given.pairs) for side in trees]
        codes = [process.wait() for process in running]
        if any(codes):
            print("A tree failed; its message is above.", file=sys.stderr)
            return 1
        if given.new is None:
            print(f"The old side is in {given.work}, {time.monotonic() - began:.0f} s")
            return 0
        old, new = (json.loads((folder / "numbers.json").read_text()) for folder in out.values())
    if given.recipe:  # a side that was kept may hold more
        old["recipes"] = {name: run for name, run in old["recipes"].items() if name in given.recipe}
    failed = report(old, new, given.excepted)
    print(f"\n{time.monotonic() - began:.0f} s")
    return int(failed)


def wrong_work(given: argparse.Namespace) -> str | None:
    """Why ``--work`` does not fit the trees that are named; None where it does."""
    if given.old is None and given.new is None:
        return "name --old, --new or both."
    if given.old is not None and given.new is not None:
        if given.work and given.work.is_dir() and any(given.work.iterdir()):
            return f"--work {given.work}: it is not empty. Name a new folder."
        return None
    if given.work is None:
        return "one tree alone needs --work, the folder of the old side."
    if given.old is None:
        kept = given.work / "old" / "numbers.json"
        if not kept.is_file():
            return f"--work {given.work}: no old side is here. Make it: --old OLD --work {given.work}"
        if given.pairs is not None and "sentences" not in json.loads(kept.read_text()):
            return f"--work {given.work}: the old side has no sentences. Make it with --pairs, too."
    return None


def start(
    tree: Path, data: Path, out: Path, recipes: Sequence[str], pairs: Path | None
) -> "subprocess.Popen[bytes]":
    """One tree at work, on one thread."""
    source = (tree / "src").resolve()
    if not (source / "whatchanged").is_dir():
        raise SystemExit(f"{tree}: no src/whatchanged here. Name the root of a checkout.")
    command = [sys.executable, "-m", "benchmarks.same_numbers_tree", "--data", str(data)]
    command += ["--out", str(out), *(part for name in recipes for part in ("--recipe", name))]
    if pairs is not None:
        command += ["--pairs", str(pairs.resolve())]
    return subprocess.Popen(command, cwd=ROOT, env=environment(source), stdout=subprocess.DEVNULL)


def environment(source: Path) -> dict[str, str]:
    """The variables of a process that uses one tree's code and one thread."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    return {**os.environ, **threads, "PYTHONPATH": str(source), "PYTHONHASHSEED": "0"}


def make_data(data: Path, tree: Path) -> None:
    """Tiny data of every kind, drawn by one tree for both: a twin, a pool, birds, a list, random features."""
    data.mkdir(parents=True)
    size = f"{IMAGE[0]}x{IMAGE[1]}"
    for world, folder, scenes, pixels in (
        ("clevr-change", "twin", SCENES, size),
        ("clevr-pool", "pool", POOL_SCENES, size),
        ("birds", "birds", BIRDS, f"{SQUARE}x{SQUARE}"),
    ):
        command = [sys.executable, "-m", "whatchanged", "synth", world, str(data / folder), "--quiet"]
        command += ["--scenes", str(scenes), "--size", pixels, "--seed", "5"]
        source = (tree / "src").resolve()
        subprocess.run(command, check=True, env=environment(source), stdout=subprocess.DEVNULL)
    write_list(data / "twin")
    write_features(data)


def write_list(twin: Path) -> None:
    """The twin's pairs as a list of one's own, ``pairs.csv``."""
    splits = json.loads((twin / "splits.json").read_text())
    place = {number: split for split, numbers in splits.items() for number in numbers}
    with (twin / "pairs.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["before", "after", "captions", "split"])
        for kind, folder, view in (
            ("change", "sc_images", "semantic"),
            ("no_change", "nsc_images", "nonsemantic"),
        ):
            captions = json.loads((twin / f"{kind}_captions.json").read_text())
            for name, sentences in sorted(captions.items()):
                number = name.removeprefix("CLEVR_default_").removesuffix(".png")
                after = f"{folder}/CLEVR_{view}_{number}.png"
                rows.writerow([f"images/{name}", after, "|".join(sentences), place[int(number)]])


def write_features(data: Path) -> None:
    """Random grid features of every picture, one ``.npy`` each."""
    (data / "features").mkdir()
    rng = np.random.default_rng(0)
    pictures = {path.name for folder in ("twin", "birds") for path in (data / folder).rglob("*.[jp][pn]g")}
    for name in sorted(pictures):
        grid = rng.random((FEATURE_WIDTH, GRID[0] * GRID[1]), dtype=np.float32)
        np.save(data / "features" / f"{name}.npy", grid)


def report(old: Mapping[str, Any], new: Mapping[str, Any], excepted: Sequence[str]) -> bool:
    """Print the table; whether anything differs that may not."""
    failed = False
    rows = []
    for name in sorted({*old["recipes"], *new["recipes"]}):
        difference = difference_of(old["recipes"].get(name), new["recipes"].get(name))
        allowed = any(fnmatch.fnmatch(name, pattern) for pattern in excepted)
        failed |= difference is not None and not allowed
        result = ("equal" if difference is None else difference) + (" (excepted)" if allowed else "")
        rows.append([name, *counts_of(new["recipes"].get(name, {})), result])
    print(table(["recipe", "lines", "loss terms", "tensors", "result"], *rows))
    if "sentences" in new:
        difference = difference_of_captions(old["sentences"], new["sentences"])
        failed |= difference is not None
        print(f"\nSentences of the shipped model, {len(new['sentences'])} pairs: {difference or 'equal'}")
    return failed


def counts_of(run: Mapping[str, Any]) -> tuple[str, str, str]:
    """Logged lines, different loss terms and scores, and tensors of a run: how much was compared."""
    if "lines" not in run:
        return "-", "-", "-"
    terms = {key for line in run["lines"] for key in line} - {"stage", "step", "lr"}
    return str(len(run["lines"])), str(len(terms)), str(len(run["parameters"]))


def difference_of(old: Mapping[str, Any] | None, new: Mapping[str, Any] | None) -> str | None:
    """The first difference between two runs of a recipe in words, None where they are equal."""
    if old is None or new is None:
        return f"only in the {'new' if old is None else 'old'} tree"
    for side, run in (("old", old), ("new", new)):
        if "failed" in run:
            return f"the {side} tree failed: {' '.join(run['failed'].split())[-400:]}"
    for mine, theirs in zip(map(renamed, old["lines"]), map(renamed, new["lines"]), strict=False):
        where = f"{mine['stage']} {mine['step']}"
        if mine.keys() != theirs.keys():
            return f"{where}: terms {sorted(mine.keys() ^ theirs.keys())} in one tree only"
        for key in mine:
            if repr(mine[key]) != repr(theirs[key]):
                return f"{where}: {key} {mine[key]!r} was, {theirs[key]!r} is"
    if len(old["lines"]) != len(new["lines"]):
        return f"{len(old['lines'])} lines were, {len(new['lines'])} are"
    return difference_of_parameters(old["parameters"], new["parameters"])


def difference_of_parameters(old: Mapping[str, str], new: Mapping[str, str]) -> str | None:
    """The first tensor that differs; names may have changed, so tensors are matched by what they hold."""
    lost, found = (Counter(a.values()) - Counter(b.values()) for a, b in ((old, new), (new, old)))
    if not lost and not found:
        return None
    names = [name for name, digest in old.items() if digest in lost]
    others = [name for name, digest in new.items() if digest in found]
    return f"tensors differ: old {len(names)}, first {names[:1]}; new {len(others)}, first {others[:1]}"


def renamed(line: Mapping[str, Any]) -> dict[str, Any]:
    """A logged line with the new names of tasks and terms."""
    return {
        "/".join(RENAMED.get(part, part) for part in key.split("/")): value for key, value in line.items()
    }


def difference_of_captions(old: Sequence[Mapping[str, Any]], new: Sequence[Mapping[str, Any]]) -> str | None:
    """The first prediction that differs, None where all are equal."""
    if len(old) != len(new):
        return f"{len(old)} pairs were, {len(new)} are"
    for mine, theirs in zip(old, new, strict=True):
        for key in mine:
            if key not in theirs or mine[key] != theirs[key]:
                return f"{mine.get('id', '?')}: {key} {mine[key]!r} was, {theirs.get(key)!r} is"
    return None


if __name__ == "__main__":
    sys.exit(main())
