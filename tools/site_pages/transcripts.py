"""Runs the commands of a page one after the other, and compares their output with that on the page.

``python tools/refresh_docs.py`` writes the output of all pages again.

Blocks of the language ``console`` hold commands after "$ ", each followed by what it prints, stdout and
stderr together, as in a terminal. Blocks of the language ``pycon`` hold Python as in its interpreter. All are
run in one folder.
"""

import doctest
import io
import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import chdir, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

BLOCK = re.compile(r"^```console *(?P<head>[^\n]*)\n(?P<body>.*?)^```$", re.M | re.S)
PYTHON = re.compile(r"^```pycon\n(?P<body>.*?)^```$", re.M | re.S)
PROMPT = "$ "
VARIES = "differ"
"""A block with this word in its title is compared without its numbers."""
SECONDS = 300
"""What one command may take."""


@dataclass(frozen=True)
class Step:
    """One command, and what the page shows below it."""

    command: str
    output: str
    numbers: bool
    """Whether numbers must be the same, too."""


def steps(markdown: str) -> Iterator[Step]:
    """The commands of a page, in order. Raises ValueError for a block that begins with no command."""
    for block in BLOCK.finditer(markdown):
        if not block["body"].startswith(PROMPT):
            raise ValueError(f"a console block begins with no command: {block['body'][:60]!r}")
        for part in re.split(rf"^{re.escape(PROMPT)}", block["body"], flags=re.M)[1:]:
            command, _, output = part.partition("\n")
            while command.endswith("\\"):
                more, _, output = output.partition("\n")
                command += f"\n{more}"
            yield Step(command, output.strip("\n"), VARIES not in block["head"])


def run(command: str, folder: Path) -> str:
    """What the command prints in a terminal without colours, 100 columns wide."""
    plain = {"NO_COLOR": "1", "COLUMNS": "100", "TERM": "dumb"}
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=os.environ | plain,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    return "\n".join(line.rstrip() for line in done.stdout.strip("\n").splitlines())


def differences(markdown: str, folder: Path) -> list[str]:
    """Every command of the page whose output is not the one that the page shows, with both."""
    results = []
    for step in steps(markdown):
        output = run(step.command, folder)
        if comparable(output, step.numbers) != comparable(step.output, step.numbers):
            results.append(f"$ {step.command}\n--- the page shows\n{step.output}\n--- it prints\n{output}")
    return [*results, *_python_differences(markdown, folder)]


def comparable(output: str, numbers: bool) -> str:
    """Output without what differs from run to run: seconds, and, if told so, all numbers and widths."""
    output = re.sub(r'("seconds": |\bin )[\d.]+( s\b)?', r"\1#", output)
    if numbers:
        return output
    return re.sub(r"[ -]+", " ", re.sub(r"-?\d[\d.,]*", "#", output))


def _python_differences(markdown: str, folder: Path) -> list[str]:
    """What the page's Python prints otherwise than shown."""
    text = "\n".join(block["body"] for block in PYTHON.finditer(markdown))
    if not text:
        return []
    told: list[str] = []
    test = doctest.DocTestParser().get_doctest(text, {}, "page", None, 0)
    with chdir(folder):
        doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=told.append)
    return ["".join(told)] if told else []


def rewritten(markdown: str, folder: Path) -> str:
    """The page with the output that its commands print now."""

    def renewed(block: re.Match[str]) -> str:
        lines = []
        for step in steps(block[0]):
            output = run(step.command, folder)
            lines += [f"{PROMPT}{step.command}", *([output] if output else [])]
        head = f" {block['head']}" if block["head"] else ""
        return f"```console{head}\n" + "\n".join(lines) + "\n```"

    with chdir(folder):
        return PYTHON.sub(_python_renewed, BLOCK.sub(renewed, markdown))


def _python_renewed(block: re.Match[str]) -> str:
    """A block of Python with what its lines print now. Each block stands by itself."""
    names: dict[str, object] = {}
    lines = []
    for example in doctest.DocTestParser().get_examples(block["body"]):
        with redirect_stdout(io.StringIO()) as printed:
            exec(compile(example.source, "page", "single"), names)
        first, *more = example.source.splitlines()
        lines += [f">>> {first}", *(f"... {line}" for line in more), *printed.getvalue().splitlines()]
    return "```pycon\n" + "\n".join(lines) + "\n\n```"
