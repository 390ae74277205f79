"""Compares the answers of two source trees: does a change of the code change any answer?

    python -m benchmarks.same_answers --tree OLD --keep FOLDER [--only PART ...] [--styles FOLDER]
    python -m benchmarks.same_answers --tree NEW --against FOLDER [--only PART ...] [--except NAME ...]
        [--keep FOLDER2] [--commands NAME ...]

The first command records the answers of OLD. The second computes the answers of NEW and compares every field
of every answer, unrounded, and every output of the command line, including exit codes, byte for byte. Each
tree runs in processes of its own, and only its promised names are used (``docs/promises.md``). Parts:

    blender    every pair of $BLENDER_DEV, without a named model and by each shipped CLEVR model
    ui         every pair of $UI_DEV, without a named model, by ``screens``, and with every pixel counted
    demo       the shipped pairs
    drawn      700 pairs that OLD draws once: CLEVR scenes, plots, documents and pages (which need Chromium,
               fonts, and the npm packages in ``--styles``)
    commands   the command line: see same_answers_commands.py, which also lists what is normalised

The recording may be interrupted; the same command resumes it. A record belongs to one state of one tree, and
another state cannot continue it. FOLDER must not be moved, because its pictures are read from there.

Exit code 0 if all is equal, 1 otherwise, with the first differences. ``--except`` takes patterns of names
that may differ, such as ``commands/help-*``, ``commands/*/1.stderr`` or ``ui.strict``. ``--commands`` takes
patterns of the commands to run, such as ``compare-*``; the others are left out.
"""

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks import same_answers_commands as commands
from benchmarks.markdown import table
from benchmarks.same_answers_pairs import SETS, PairSet, Settings, make_pairs
from benchmarks.same_answers_records import (
    Difference,
    answer_differences,
    output_differences,
    read_whole_lines,
    unexcepted,
)
from benchmarks.same_numbers import ROOT, environment

COMMANDS = "commands"
PARTS = (*dict.fromkeys(one.part for one in SETS), COMMANDS)
SHOWN = 20
"""Differences that are shown in full."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Record a tree, or compare one with a record; the exit code."""
    parser = argparse.ArgumentParser(description="Two source trees side by side: equal answers?")
    parser.add_argument("--tree", type=Path, required=True, help="a checkout, with src/whatchanged")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="where its answers are kept")
    parser.add_argument("--against", type=Path, metavar="FOLDER", help="the record to compare with")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, metavar="PART")
    parser.add_argument("--except", dest="excepted", nargs="+", default=[], metavar="NAME")
    parser.add_argument("--commands", nargs="+", default=["*"], metavar="NAME", help="only these commands")
    parser.add_argument("--styles", type=Path, help="where npm installed what drawn pages use")
    given = parser.parse_args(arguments)
    if given.keep is None and given.against is None:
        parser.error("name a folder: --keep or --against.")
    if not (given.tree / "src" / "whatchanged").is_dir():
        parser.error(f"{given.tree}: no src/whatchanged here. Name the root of a checkout.")
    with tempfile.TemporaryDirectory() as temporary:
        record = (given.keep or Path(temporary)).resolve()
        inputs = record if given.against is None else given.against.resolve()
        claim(record, given.tree)
        if given.against is None:
            make_inputs(record, given.tree, given.only, given.styles)
        for part in given.only:
            began = time.monotonic()
            answer_part(part, given.tree, inputs, record, given.commands)
            print(f"{part}: {time.monotonic() - began:.0f} s", flush=True)
        if given.against is None:
            return 0
        return int(report(inputs, record, given.only, given.excepted, given.commands))


def claim(record: Path, tree: Path) -> None:
    """Write which state of which tree is recorded. Raises SystemExit where it is another one."""
    file, state = record / "tree.json", {"tree": str(tree.resolve()), "sources": digest_of(tree)}
    record.mkdir(parents=True, exist_ok=True)
    if not file.exists():
        file.write_text(json.dumps(state, indent=1))
    elif json.loads(file.read_text())["sources"] != state["sources"]:
        raise SystemExit(f"{record}: it holds the answers of another state of the code. Name a new folder.")


def digest_of(tree: Path) -> str:
    """A hash of every file of a tree's package."""
    digest = hashlib.sha256()
    package = tree / "src" / "whatchanged"
    for path in sorted(path for path in package.rglob("*") if path.is_file()):
        if "__pycache__" not in path.parts:
            digest.update(f"{path.relative_to(package)} ".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def make_inputs(folder: Path, tree: Path, parts: Sequence[str], styles: Path | None) -> None:
    """What both trees are asked, made by the tree that is recorded; what is there stays."""
    for one in SETS:
        if one.part in parts:
            make_pairs(one, folder, tree, styles)
    if COMMANDS in parts:
        commands.make_inputs(folder, tree)


def answer_part(part: str, tree: Path, inputs: Path, record: Path, named: Sequence[str]) -> None:
    """Record what is not recorded yet of one part; of the commands those that are named."""
    if part == COMMANDS:
        commands.run_all(inputs, record / COMMANDS, tree, named)
    for name, one, settings in questions(part):
        answer_pairs(tree, inputs / "pairs" / f"{one.name}.jsonl", settings, answers_of(record, name))


def questions(part: str) -> Iterator[tuple[str, PairSet, Settings]]:
    """Each set of a part with each of its settings, and the name of the answers."""
    for one in SETS:
        if one.part == part:
            yield from ((f"{one.name}.{label}", one, settings) for label, settings in one.asked.items())


def answers_of(record: Path, name: str) -> Path:
    """The file of the answers to one question."""
    return record / "answers" / f"{name}.jsonl"


def answer_pairs(tree: Path, pairs: Path, settings: Settings, out: Path) -> None:
    """Let a tree answer in a process of its own. Raises SystemExit where there are no pairs or it fails."""
    if not pairs.is_file():
        raise SystemExit(f"{pairs}: this part is not recorded. Record it, or leave it out with --only.")
    out.parent.mkdir(parents=True, exist_ok=True)
    source = (tree / "src").resolve()
    command = [sys.executable, "-m", "benchmarks.same_answers_tree", "--source", str(source)]
    command += ["--pairs", str(pairs), "--settings", json.dumps(settings), "--out", str(out)]
    code = subprocess.run(command, cwd=ROOT, env=environment(source), check=False).returncode
    if code:
        raise SystemExit(f"{out.stem}: the tree failed; its message is above.")


def report(old: Path, new: Path, parts: Sequence[str], excepted: Sequence[str], named: Sequence[str]) -> bool:
    """Print the table and the first differences; whether anything differs that may not."""
    rows, results = [], []
    for part in parts:
        for name, count, differences in compared(part, old, new, named):
            left = unexcepted(differences, excepted)
            result = fields_in(left) if left else "equal"
            if len(left) < len(differences):
                result += f" ({len(differences) - len(left)} excepted)"
            rows.append([name, str(count), result])
            results += left
    print(table(["answers", "compared", "differences"], *rows))
    for one in results[:SHOWN]:
        print(f"\n{one}")
    if len(results) > SHOWN:
        print(f"\n... and {len(results) - SHOWN} more")
    return bool(results)


def compared(
    part: str, old: Path, new: Path, named: Sequence[str]
) -> Iterator[tuple[str, int, list[Difference]]]:
    """Each part of a record: its name, how many pairs or commands were compared, and what differs."""
    for name, _, _ in questions(part):
        sides = [read_whole_lines(answers_of(side, name)) for side in (old, new)]
        yield name, len(sides[0]), list(answer_differences(name, *sides))
    if part == COMMANDS:
        places = old / COMMANDS, new / COMMANDS
        recorded = {path.name for place in places for path in place.iterdir()}
        names = sorted(name for name in recorded if commands.is_named(name, named))
        differences: list[Difference] = []
        for name in names:
            differences += output_differences(f"{COMMANDS}/{name}", *(place / name for place in places))
        yield COMMANDS, len(names), differences


def fields_in(differences: Sequence[Difference]) -> str:
    """How many differences there are of each field or file."""
    counts = Counter(one.name.rsplit("/", 1)[-1] for one in differences)
    return ", ".join(f"{field} {count}" for field, count in counts.most_common(5))


if __name__ == "__main__":
    sys.exit(main())
