"""Records what a benchmark measured, with everything that a reader needs to repeat the measurement.

    with Watch() as watch:
        figures = measure()
    write_result("operations", "operations", figures, watch=watch)

writes ``benchmarks/results/operations.json``, from which ``python -m benchmarks.report`` makes the tables of
the result pages. The option ``--record`` makes a benchmark write its record.

    format, name, kind    ``kind`` says how the figures are laid out, so which tables they make
    command               the commands as anyone can type them
    commit, changed       of the code that ran; ``changed`` lists files that differ from the commit
    date, machine, seeds  the machine without names of hosts, users or folders
    other_load            cores busy with other work meanwhile (Linux): high values make times unreliable
    figures               unrounded
"""

import argparse
import datetime
import json
import os
import platform
import re
import resource
import shlex
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from whatchanged.files import whole

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"
FORMAT = 1
PACKAGES = ("numpy", "pillow", "onnxruntime", "torch", "numba")
FOLDERS = ("BLENDER_DEV", "UI_DEV", "UI_GROUPS", "UI_TRAIN")
"""Variables that name folders of data; a command is recorded with the variable, not with the folder."""
PLAIN = re.compile(rf"(?:[\w=,./-]|\$(?:{'|'.join(FOLDERS)})\b)+", re.ASCII)
"""Arguments that no shell takes for something else."""


@dataclass(frozen=True)
class Result:
    """One recorded measurement; see the module's docstring."""

    name: str
    kind: str
    command: Sequence[str]
    commit: str
    changed: Sequence[str]
    date: str
    machine: Mapping[str, Any]
    seeds: Mapping[str, int]
    other_load: float | None
    figures: Any


class Watch:
    """How much of the machine other work took while this block ran: ``other_load``, in cores.

    Read from /proc/stat, so None on systems without it.
    """

    def __init__(self) -> None:
        self.other_load: float | None = None

    def __enter__(self) -> Self:
        self._start = (time.monotonic(), _busy_seconds(), own_seconds())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        began, busy_then, own_then = self._start
        busy_now = _busy_seconds()
        if busy_then is None or busy_now is None:
            return
        taken = max(time.monotonic() - began, 1e-9)
        other = (busy_now - busy_then) - (own_seconds() - own_then)
        self.other_load = round(max(0.0, other / taken), 2)


def add_record_option(parser: argparse.ArgumentParser, name: str) -> None:
    """The option ``--record [NAME]``: None without it, ``name`` where no other name is given."""
    code_that_runs()  # before anything that takes long
    parser.add_argument(
        "--record",
        nargs="?",
        const=name,
        metavar="NAME",
        help=f"write the figures to benchmarks/results/NAME.json (default name: {name})",
    )


def write_result(
    name: str,
    kind: str,
    figures: Any,
    *,
    watch: Watch | None = None,
    command: Sequence[str] | None = None,
    seeds: Mapping[str, int] | None = None,
    folder: Path = RESULTS,
) -> Path:
    """Write FOLDER/name.json, whole or not at all; without ``command``, the script that is running."""
    code = code_that_runs()
    document = {
        "format": FORMAT,
        "name": name,
        "kind": kind,
        "command": list(command or [command_line()]),
        "commit": code.commit,
        "changed": code.changed,
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "machine": machine(),
        "seeds": dict(seeds or {}),
        "other_load": None if watch is None else watch.other_load,
        "figures": figures,
    }
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.json"
    text = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    with whole(path) as draft:
        draft.write_text(text, encoding="utf-8")
    return path


def read_result(path: Path) -> Result:
    """A recorded measurement; raises ValueError where the file is something else."""
    document = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(document, dict) or document.pop("format", None) != FORMAT:
        raise ValueError(f"{path}: not a result of format {FORMAT}")
    if document.get("name") != path.stem:
        raise ValueError(f"{path}: calls itself {document.get('name')!r}; the file's name must be the same")
    try:
        return Result(**document)
    except TypeError as error:
        raise ValueError(f"{path}: {error}") from error


def read_results(folder: Path = RESULTS) -> dict[str, Result]:
    """Every recorded measurement by name."""
    return {path.stem: read_result(path) for path in sorted(folder.glob("*.json"))}


def command_line() -> str:
    """The command that is running, as anyone can type it."""
    start = _start(Path(sys.argv[0]))
    arguments = [argument for argument in sys.argv[1:] if not argument.startswith("--record=")]
    if "--record" in arguments:
        place = arguments.index("--record")
        named = arguments[place + 1 : place + 2] and not arguments[place + 1].startswith("-")
        del arguments[place : place + (2 if named else 1)]
    return typed(start, *arguments)


def _start(script: Path) -> str:
    """How a script is started: as a module of ``benchmarks``, by a path beside the tests, or by its name."""
    parts = [part for part in script.with_suffix("").parts if part != "__main__"]
    for room, start in (("benchmarks", "python -m {}"), ("tests", "python {}")):
        if room in parts[:-1]:
            inner = parts[len(parts) - 1 - parts[::-1].index(room) :]
            return start.format(".".join(inner) if room == "benchmarks" else "/".join(inner))
    return script.name


def typed(start: str, *arguments: str) -> str:
    """A command with these arguments as anyone can type it: anonymous, and quoted for a shell."""
    return " ".join([start, *(_quoted(anonymous(argument)) for argument in arguments)])


def _quoted(argument: str) -> str:
    """Quoted for a shell if it has to be; not where only a variable asks for it, because it is to be read."""
    return argument if PLAIN.fullmatch(argument) else shlex.quote(argument)


def anonymous(argument: str) -> str:
    """An argument without folders of this machine: a variable of ``FOLDERS``, or the last name alone.

    Each part of a list with commas is changed by itself, and of NAME=FOLDER the folder alone. The program of
    a virtual environment keeps the environment's name.
    """
    if "," in argument:
        return ",".join(anonymous(part) for part in argument.split(","))
    key, equals, folder = argument.partition("=")
    if equals and "/" in folder and "/" not in key:
        return f"{key}={anonymous(folder)}"
    path = Path(argument)
    for name in FOLDERS:
        if os.environ.get(name) and path.resolve() == Path(os.environ[name]).resolve():
            return f"${name}"
    if "/" not in argument:
        return argument
    environment = path.parent.parent
    return str(path.relative_to(environment.parent)) if (environment / "pyvenv.cfg").is_file() else path.name


def git(*arguments: str) -> str:
    """What git says of this checkout; "unknown" where it is none."""
    try:
        found = subprocess.run(
            ["git", "-C", str(ROOT), *arguments], check=True, capture_output=True, text=True
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return found.stdout.rstrip("\n")


@dataclass(frozen=True)
class Code:
    """The commit that was checked out, and the files that differed from it."""

    commit: str
    changed: list[str]


@cache
def code_that_runs() -> Code:
    """The code as it was when this was first asked; results and the pages made of them do not count."""
    listed = git("status", "--porcelain", "--", "src", "benchmarks")
    names = [line[3:] for line in listed.splitlines()] if listed != "unknown" else []
    changed = [name for name in names if not name.startswith("benchmarks/results/")]
    return Code(git("rev-parse", "HEAD"), changed)


def machine() -> dict[str, Any]:
    """Processor, cores, system and versions; no names of hosts, users or folders."""
    versions = {}
    for package in PACKAGES:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "packages": versions,
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.machine()


def _busy_seconds() -> float | None:
    """Processor time of everything that runs here, all cores together."""
    try:
        fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    except OSError:
        return None
    user, nice, system, _, _, interrupts, soft, steal = (int(field) for field in fields[:8])
    return (user + nice + system + interrupts + soft + steal) / os.sysconf("SC_CLK_TCK")


def own_seconds() -> float:
    """Processor time of this process and of its children that have ended."""
    used = [resource.getrusage(whose) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)
