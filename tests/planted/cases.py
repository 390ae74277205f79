"""Cases of the planted suite: what lies in a folder that a stranger prepared, drawn by a number.

A case is a command, things that are planted, an environment and names of files. Everything planted leads to
``victim``, a folder outside that no command may change, or would note that it was run.
"""

import errno
import os
import random
import shutil
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from planted.commands import PLANNED, Planned
from planted.folder import PlantedFolder

GONE = 2**22 + 1
"""A number that no process has: it is beyond what Linux gives."""
SLOW = ("features", "train", "train --workers", "export", "evaluate with Java")
"""Commands that take long, drawn seldom; so are those that draw pictures."""
_TAKEN = (errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG)
"""Another thing lies there already; or a name of 255 bytes has no room for an ending."""
HOOK = "#!/bin/sh\necho hook >> '{log}'\n"
CONFIG = """[core]
\trepositoryformatversion = 0
\tbare = {bare}
\tfsmonitor = {program}
\thooksPath = {hooks}
\tsshCommand = {program}
\tpager = {program}
[filter "evil"]
\tclean = {program}
\tsmudge = {program}
\tprocess = {program}
[diff]
\texternal = {program}
[include]
\tpath = {victim}/file
"""

NAMES: Mapping[str, tuple[str, str]] = {
    "line end": ("a\n::error::b", "a\n::error::b"),
    "return": ("a\r::warning::b", "a\r::warning::b"),
    "command": ("::set-output name=x::y", "##[error]y"),
    "bidi": ("\u202egnp\u2066x", "\u202egnp\u2066x"),
    "escape": ("\x1b[2J\x1b]0;x\x07", "\x1b[2J\x1b]0;x\x07"),
    "NFC, NFD": ("caf\u00e9", "cafe\u0301"),
    "not UTF-8": (os.fsdecode(b"x\xff\xfe"), os.fsdecode(b"x\xff\xfe")),
    "255 bytes": ("n" * 251, "n" * 251),
    "option": ("--force", "-o"),
}
"""Names of a picture before and after, without their ending."""


@dataclass(frozen=True)
class Case:
    """One drawn case.

    number       with the seed, all that it is drawn from
    plan         the command
    things       keys of ``THINGS``
    environment  keys of ``ENVIRONMENTS``
    name         a key of ``NAMES``; empty: all names are ordinary
    renamed      whether the output is called so, too
    execute      whether the command is an interpreter of its own
    """

    number: int
    plan: Planned
    things: tuple[str, ...]
    environment: tuple[str, ...]
    name: str
    renamed: bool
    execute: bool

    def __str__(self) -> str:
        """As a report names it."""
        about = (*self.things, *self.environment, *([f"name: {self.name}"] if self.name else ()))
        how = f"{', its output too' * self.renamed}{', an interpreter' * self.execute}"
        return f"case {self.number}, {self.plan.name}: {'; '.join(about) or 'nothing'}{how}"


def draw(seed: int, number: int) -> Case:
    """The case of this number."""
    rng = random.Random(f"{seed} {number}")
    plans = [plan for plan in PLANNED if "ray" not in plan.name]
    plan = rng.choices(plans, [1 if p.name in SLOW or "synth" in p.name else 6 for p in plans])[0]
    things = tuple(sorted(rng.sample(sorted(THINGS), rng.randrange(1, 5))))
    environment = tuple(sorted(rng.sample(sorted(ENVIRONMENTS), rng.randrange(3))))
    name = rng.choice(("", *NAMES))
    execute = rng.random() < 0.05 or any(e.startswith("closed") or e == "ASCII" for e in environment)
    renamed = bool(name) and bool(plan.command.outputs) and plan.before is None and rng.random() < 0.3
    return Case(number, plan, things, environment, name, renamed, execute)


def output_of(case: Case) -> str:
    """What the command's first output is called; empty where it has none."""
    output = next(iter(case.plan.command.outputs), "")
    if not case.renamed:
        return output
    ending = Path(output).suffix
    longest = 255 - len(ending.encode())
    return os.fsdecode(os.fsencode(NAMES[case.name][0])[:longest]) + ending


def arguments_of(case: Case) -> list[str]:
    """The command's arguments; an output that begins with a dash is written with its folder."""
    usual, called = next(iter(case.plan.command.outputs), ""), output_of(case)
    called = f"./{called}" if called.startswith("-") else called
    return [called if usual and word == usual else word for word in case.plan.command.arguments]


def plant(case: Case, folder: PlantedFolder, seed: int) -> None:
    """Put everything of a case into its folder, where ``in`` lies already."""
    rng = random.Random(f"{seed} {case.number} things")
    if case.name:
        for side, name in zip(("old", "new"), NAMES[case.name], strict=True):
            shutil.copy(folder.here / "in" / side / "01.png", folder.here / "in" / side / f"{name}.png")
    for thing in case.things:
        try:
            THINGS[thing](folder, output_of(case), rng)
        except OSError as error:
            if error.errno not in _TAKEN:
                raise


def _link(path: Path, folder: PlantedFolder, rng: random.Random) -> None:
    """A link to a file or folder outside, or to what is not there yet."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(folder.victim / rng.choice(("file", "folder", "new")))


def _lock(folder: PlantedFolder, output: str, rng: random.Random) -> None:
    _link(folder.here / f".{output or 'out'}.lock", folder, rng)


def _lock_pipe(folder: PlantedFolder, output: str, rng: random.Random) -> None:
    os.mkfifo(folder.here / f".{output or 'out'}.lock")


def _drafts(folder: PlantedFolder, output: str, rng: random.Random) -> None:
    for ending in ("draft", "replaced"):
        _link(folder.here / f".{output or 'out'}.{socket.gethostname()}-{GONE}.{ending}", folder, rng)


def _result(folder: PlantedFolder, output: str, rng: random.Random) -> None:
    _link(folder.here / (output or "out"), folder, rng)


def _result_device(folder: PlantedFolder, output: str, rng: random.Random) -> None:
    (folder.here / (output or "out")).symlink_to(rng.choice(("/dev/full", "/dev/zero")))


def _result_socket(folder: PlantedFolder, output: str, rng: random.Random) -> None:
    _socket(folder.here / (output or "out"))


def _sidecar(folder: PlantedFolder, output: str, rng: random.Random) -> None:
    _link(folder.here / f"{output or 'out'}.meta.json", folder, rng)
    _link(folder.here / f".{output or 'out'}.meta.json.lock", folder, rng)


def _inside(folder: PlantedFolder, output: str, rng: random.Random) -> None:
    if (folder.here / (output or "out")).is_symlink():
        return  # what is planted does not go through a link either
    names = ("index.html", "results.jsonl", "answers.jsonl", "old", "new", "cut", "parts", "checkpoints")
    for name in rng.sample((*names, "recipe.toml", "drawing.json", "deep/inner"), 3):
        _link(folder.here / (output or "out") / name, folder, rng)


def _forged(folder: PlantedFolder, output: str, rng: random.Random) -> None:
    place = folder.here / (output or "out")
    place.mkdir()
    (place / "answers.jsonl").write_text('{"format": 1, "hmac": "00"}\n{"key": "x", "answer": {}}\n')
    (place / "old").symlink_to(folder.victim / "folder")


def _baseline(folder: PlantedFolder, output: str, rng: random.Random) -> None:
    for place in ("in/old", "base"):
        if (folder.here / place).is_dir():
            (folder.here / place / "02.png").unlink(missing_ok=True)
            _link(folder.here / place / "02.png", folder, rng)


def _private(folder: PlantedFolder, output: str, rng: random.Random) -> None:
    _link(folder.here / "in/new/zz.png", folder, rng)
    (folder.here / "in/new/zy.png").symlink_to("../../../victim/file")


def _special(folder: PlantedFolder, output: str, rng: random.Random) -> None:
    os.mkfifo(folder.here / "in/old/pipe.png")
    (folder.here / "in/new/zero.png").symlink_to("/dev/zero")
    (folder.here / "in/new/random.png").symlink_to("/dev/random")
    _socket(folder.here / "in/new/socket.png")


def _socket(path: Path) -> None:
    """A socket, by a short path, as such names have to be."""
    with socket.socket(socket.AF_UNIX) as made:
        short = path.parent / "s"
        made.bind(os.path.relpath(short))
        short.rename(path)


def _hook(folder: PlantedFolder) -> Path:
    """A program that notes that it was run."""
    place = folder.root / "hooks"
    place.mkdir(exist_ok=True)
    for name in ("evil", "post-checkout", "pre-commit", "post-index-change", "fsmonitor-watchman"):
        (place / name).write_text(HOOK.format(log=folder.log))
        (place / name).chmod(0o755)
    return place


def _repository(folder: PlantedFolder, output: str, rng: random.Random) -> None:
    hooks = _hook(folder)
    top = folder.here / ".git"
    for inner in ("objects", "refs/heads", "hooks"):
        (top / inner).mkdir(parents=True, exist_ok=True)
    if not (top / "HEAD").exists():
        (top / "HEAD").write_text("ref: refs/heads/main\n")
    config = CONFIG.format(bare="false", program=hooks / "evil", hooks=hooks, victim=folder.victim)
    (top / "config").write_text(config)
    (folder.here / ".gitattributes").write_text("*.png filter=evil diff=evil\n")


def _bare(folder: PlantedFolder, output: str, rng: random.Random) -> None:
    hooks = _hook(folder)
    for inner in ("objects", "refs"):
        (folder.here / inner).mkdir(exist_ok=True)
    (folder.here / "HEAD").write_text("ref: refs/heads/main\n")
    config = CONFIG.format(bare="true", program=hooks / "evil", hooks=hooks, victim=folder.victim)
    (folder.here / "config").write_text(config)


def _code(folder: PlantedFolder, output: str, rng: random.Random) -> None:
    folder.plant_code()


def _code_further_down(folder: PlantedFolder, output: str, rng: random.Random) -> None:
    folder.plant_code(folder.here / "in")


Plant = Callable[[PlantedFolder, str, random.Random], None]
THINGS: Mapping[str, Plant] = {
    "link: lock": _lock,
    "pipe: lock": _lock_pipe,
    "link: drafts": _drafts,
    "link: result": _result,
    "device: result": _result_device,
    "socket: result": _result_socket,
    "link: sidecar": _sidecar,
    "links in the result": _inside,
    "forged results": _forged,
    "link: old pictures": _baseline,
    "links among pictures": _private,
    "pipe, devices, socket among pictures": _special,
    "git: configuration": _repository,
    "git: bare": _bare,
    "code": _code,
    "code among pictures": _code_further_down,
}
"""What can be planted, in any combination."""

Change = Callable[[dict[str, str], Path], None]


def _without(name: str) -> Change:
    def change(variables: dict[str, str], root: Path) -> None:
        variables.pop(name, None)

    return change


def _set(**values: str) -> Change:
    return lambda variables, root: variables.update(values)


def _read_only_home(variables: dict[str, str], root: Path) -> None:
    """A home in which nothing can be made, even by root."""
    variables["HOME"] = "/proc/self/fdinfo"


ENVIRONMENTS: Mapping[str, Change] = {
    "no HOME": _without("HOME"),
    "read-only HOME": _read_only_home,
    "no TMPDIR": _without("TMPDIR"),
    "TMPDIR that is not there": _set(TMPDIR="/nowhere/at/all"),
    "closed 0": _set(),
    "closed 1": _set(),
    "closed 2": _set(),
    "umask 077": _set(),
    "umask 000": _set(),
    "LANG=C": _set(LANG="C", LC_ALL="C"),
    "ASCII": _set(LC_ALL="POSIX", PYTHONCOERCECLOCALE="0", PYTHONUTF8="0"),
}
"""What may be unusual of the environment: a change of its variables, or what ``enter`` does."""


def enter(environment: Sequence[str], variables: Mapping[str, str]) -> None:
    """In the new process: its variables, umask and descriptors; what it prints goes to stderr's pipe."""
    os.environ.clear()
    os.environ.update(variables)
    os.dup2(2, 1)
    for number, name in ((1, "stdout"), (2, "stderr")):  # of a copy they were those of its parent's files
        stream = open(number, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
        setattr(sys, name, stream)
    for one in environment:
        kind, _, value = one.partition(" ")
        if kind == "umask":
            os.umask(int(value, 8))
        elif kind == "closed":
            os.close(int(value))
