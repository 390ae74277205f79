"""Every command that reads or writes, small, with two workers where it takes any."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from kills.commands import COMMANDS, Command


@dataclass(frozen=True)
class Planned:
    """A command to run in a planted folder.

    before     what is run first, by an ordinary program, to prepare the folder
    codes      the exit codes that are right where nothing but code is planted
    quick      whether it is run by default; all others are slow
    """

    command: Command
    before: Callable[[Path], None] | None = None
    codes: Sequence[int] = (0,)
    quick: bool = False

    @property
    def name(self) -> str:
        """What it is called in reports."""
        return self.command.name


def begin_repository(folder: Path) -> None:
    """A git repository in which one picture was changed since the last commit."""
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "init.defaultBranch=main"]
    for arguments in (["init", "-q"], ["add", "in"], ["commit", "-q", "-m", "pictures"]):
        subprocess.run([*git, *arguments], cwd=folder, check=True)
    (folder / "in/old/01.png").write_bytes((folder / "in/new/01.png").read_bytes())


def begin_accepting(command: Command, folder: Path) -> None:
    """Old pictures of its own, and the results that a person has looked at, signed with that person's key."""
    shutil.copytree(folder / "in/old", folder / "base")
    program = [sys.executable, "-P", "-m", "whatchanged"]
    environment = {name: value for name, value in os.environ.items() if name != "XDG_CACHE_HOME"}
    environment["HOME"] = str(folder.parent / "home")  # that of the planted folder
    subprocess.run([*program, *command.first], cwd=folder, env=environment, check=True, capture_output=True)


def _two_workers(command: Command) -> Command:
    """The command with two workers; more pictures where few are drawn in one process."""
    words = list(command.arguments)
    for option, value in {"--workers": "2", "--scenes": "30", "--documents": "90"}.items():
        if option in words:
            words[words.index(option) + 1] = value
    if words[0] == "synth":
        words += ["--workers", "2"]
    if words[:2] == ["synth", "clevr-pool"]:
        words[words.index("--scenes") + 1] = "200"
    return replace(command, arguments=tuple(words))


QUIET = "--quiet"
FOLDERS = ("compare", "in/old", "in/new", "-o", "report")
SCORED = ("in/predictions.jsonl", "in/list.csv")
SCREENS = ("synth", "screens", "set", "--documents", "4", "--size", "200x150")
BIRDS = ("synth", "birds", "birds", "--scenes", "40", "--size", "64x64", "--workers", "2")
UNTOLD = ("--fail-on", "never")
RAY = ("--ray", "local", QUIET)


def _reads(name: str, *arguments: str, codes: Sequence[int] = (0,), quick: bool = False) -> Planned:
    """A command that writes nothing."""
    return Planned(Command(name, arguments, ()), codes=codes, quick=quick)


FURTHER = (
    _reads("describe", "describe", "in/old/01.png", "in/new/01.png", quick=True),
    _reads("dataset", "dataset", "in/list.csv", QUIET),
    _reads("recipes", "recipes"),
    _reads("recipes NAME", "recipes", "pcl-tiny"),
    _reads("models", "models"),
    _reads("models NAME", "models", "clevr-pcl"),
    _reads("doctor", "doctor", codes=(0, 1)),
    _reads("evaluate with Java", "evaluate", *SCORED, "--resamples", "50"),
    Planned(Command("demo", ("demo", "--html", "demo.html"), ("demo.html",), over=("--force",))),
    Planned(
        Command(
            "figure",
            ("figure", "words", "in/old/01.png", "in/new/01.png", "-o", "figure.png", "--model", "clevr-pcl"),
            ("figure.png",),
            over=("--force",),
        )
    ),
    Planned(Command("demo --save", ("demo", "--save", "pairs"), ("pairs",))),
    Planned(
        Command("compare --git", ("compare", "--git", "HEAD", "-o", "report", QUIET), ("report",)),
        begin_repository,
        (1,),
    ),
    Planned(
        Command(
            "compare --read-text", (*FOLDERS, "--read-text", *UNTOLD, "--workers", "2", QUIET), ("report",)
        )
    ),
    Planned(Command("compare --ray", (*FOLDERS, *UNTOLD, *RAY), ("report",))),
    Planned(
        Command(
            "caption --ray",
            ("caption", "in/list.csv", "-o", "out.jsonl", "--batch-size", "8", *RAY),
            ("out.jsonl",),
        )
    ),
    Planned(Command("synth birds", (*BIRDS, QUIET), ("birds",))),
    Planned(Command("synth pages", (*SCREENS, "--family", "pages", QUIET), ("set",))),
    Planned(Command("synth charts", (*SCREENS, "--family", "charts", QUIET), ("set",))),
    Planned(Command("synth documents", (*SCREENS, "--family", "documents", QUIET), ("set",))),
)


def _planned() -> tuple[Planned, ...]:
    """The commands that are stopped at random moments elsewhere, and further ones, some with workers."""
    results = [
        Planned(
            _two_workers(command),
            partial(begin_accepting, command) if command.first else None,
            quick=command.name == "compare",
        )
        for command in COMMANDS
    ]
    train = next(plan for plan in results if plan.name == "train").command
    workers = replace(train, name="train --workers", arguments=(*train.arguments, "--workers", "2"))
    return (*results, Planned(workers), *FURTHER)


PLANNED = _planned()
