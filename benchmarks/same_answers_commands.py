"""Runs the commands of ``same_answers`` and records their outputs.

Each command runs in a new folder with a copy of the inputs. The record holds the exit code, stdout and stderr
of each of its steps, and every file that was written, changed or removed. Only ``normalised`` replaces times,
versions and paths. same_answers_lines.py lists the commands.
"""

import fnmatch
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.same_answers_inputs import write_inputs
from benchmarks.same_answers_lines import command_lines
from benchmarks.same_numbers import environment

NORMALISED = (
    (r"\b\d+(?:\.\d+)? (?:a|per) second\b", "N a second"),
    (r"\b\d+(?:\.\d+)? ?(?:ms|s|seconds|minutes)\b", "N s"),
    (r'\btime="[\d.]+"', 'time="N"'),
    (r'"((?:training_)?seconds)": [\d.]+', r'"\1": N'),
    (r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2})?(?:\.\d+)?(?:\+00:00|Z| UTC)?", "DATE"),
    (r"\bwhatchanged \d+\.\d+\.\w+(?:\.\w+)*", "whatchanged VERSION"),
    (r'("(?:version|whatchanged)": )"\d+\.\d+\.\w+(?:\.\w+)*"', r'\1"VERSION"'),
    # A model's README.md tells how long it trained; so its card has another size and hash of it.
    (r'("README\.md": \{\s*"size": )\d+(,\s*"sha256": )"\w+"', r'\1N\2"HASH"'),
)
"""Patterns of times, versions and what follows from them, and what they are replaced by."""
NOT_KEPT = (
    "run/events/*",
    "run/environment.json",
    "run/checkpoints/*",
    "by-bundle.jsonl.meta.json",
    ".git/*",
)
"""Files that hold the machine, the moment, or a hash of these; ``same_numbers`` compares parameters."""
VARIABLES = {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb", "LC_ALL": "C.UTF-8"}
INPUTS = "inputs"
COMMAND_LIST = "commands.json"


def make_inputs(folder: Path, tree: Path) -> None:
    """Small inputs and the list of commands, made by one tree for both; what is there stays."""
    if not (folder / INPUTS).exists():
        draft = folder / f"{INPUTS}.draft"
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(parents=True)
        write_inputs(draft, tree)
        draft.rename(folder / INPUTS)
    if not (folder / COMMAND_LIST).exists():
        (folder / COMMAND_LIST).write_text(json.dumps(command_lines(tree), indent=1))


def is_named(name: str, patterns: Sequence[str]) -> bool:
    """Whether a command is one of those asked for."""
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def run_all(inputs: Path, out: Path, tree: Path, named: Sequence[str]) -> None:
    """Run the commands that are named and not recorded yet. Raises SystemExit where none are listed."""
    file = inputs / COMMAND_LIST
    if not file.is_file():
        raise SystemExit(f"{file}: this part is not recorded. Record it, or leave it out with --only.")
    out.mkdir(parents=True, exist_ok=True)
    for name, steps in json.loads(file.read_text()).items():
        if is_named(name, named) and not (out / name).exists():
            draft = out.parent / f"{out.name}.draft"
            shutil.rmtree(draft, ignore_errors=True)
            run_command(steps, inputs / INPUTS, draft, tree)
            draft.rename(out / name)


def run_command(steps: list[str], inputs: Path, out: Path, tree: Path) -> None:
    """Run the steps of one command one after another in a new folder; keep in ``out`` what came of them."""
    # A name of one length and without letters that Markdown escapes
    place = Path(tempfile.gettempdir()).resolve() / f"same-answers-{os.getpid():08d}"
    try:
        shutil.copytree(inputs, place / INPUTS)
        before = contents(place)
        out.mkdir(parents=True)
        paths = {str(place): "PLACE", str(tree.resolve()): "TREE"}
        for number, line in enumerate(steps, 1):
            done = run_step(line, place, tree)
            (out / f"{number}.code").write_text(f"{done.returncode}\n")
            for stream, content in (("stdout", done.stdout), ("stderr", done.stderr)):
                (out / f"{number}.{stream}").write_bytes(normalised(content, paths))
        keep_files(place, before, out / "files", paths)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def run_step(line: str, place: Path, tree: Path) -> "subprocess.CompletedProcess[bytes]":
    """Run one line, ``describe a.png b.png`` or ``describe - b.png < a.png``, in the folder."""
    given, _, stdin = line.partition(" < ")
    command = [sys.executable, "-m", "whatchanged", *shlex.split(given)]
    variables = environment((tree / "src").resolve()) | VARIABLES
    content = (place / stdin).read_bytes() if stdin else b""
    return subprocess.run(command, cwd=place, env=variables, input=content, capture_output=True, check=False)


def contents(place: Path) -> dict[str, bytes]:
    """Every file below a folder, by its path."""
    files = (path for path in sorted(place.rglob("*")) if path.is_file())
    return {path.relative_to(place).as_posix(): path.read_bytes() for path in files}


def keep_files(place: Path, before: Mapping[str, bytes], out: Path, paths: Mapping[str, str]) -> None:
    """Copy what was written or changed, normalised, and list what was removed."""
    after = contents(place)
    for name, content in after.items():
        if before.get(name) != content and not any(Path(name).match(pattern) for pattern in NOT_KEPT):
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            (out / name).write_bytes(normalised(content, paths))
    removed = [name for name in before if name not in after]
    if removed:
        out.mkdir(exist_ok=True)
        (out / "removed.txt").write_text("".join(f"{name}\n" for name in removed))


def normalised(content: bytes, paths: Mapping[str, str]) -> bytes:
    """A text without the times, versions and paths of this run; other bytes as they are."""
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return content
    for path, name in paths.items():
        text = text.replace(path, name)
    for pattern, replacement in NORMALISED:
        text = re.sub(pattern, replacement, text)
    return text.encode()
