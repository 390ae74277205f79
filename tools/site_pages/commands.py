"""Makes the page of the commands: every option and example, read from the application itself."""

import importlib
import os
import re
from typing import Any
from unittest import mock

import typer
from typer.testing import CliRunner

from whatchanged import cli

HEAD = """# Commands

Results go to stdout, and everything else goes to stderr. `--quiet` leaves remarks out. See [exit
codes](exit-codes.md) for how a command can end. `whatchanged COMMAND --help` shows the same as this page.

"""
WIDTH = "100"
"""Columns of a help that is shown as a terminal shows it."""


def commands_page() -> str:
    """One section a command, in the order of the help."""
    group: Any = typer.main.get_command(cli.app)
    return HEAD + "\n".join(_section(name, group.commands[name]) for name in cli.COMMANDS)


def _section(name: str, command: Any) -> str:
    module = importlib.import_module(f"whatchanged.cli.{name}")
    context = command.context_class(command, info_name=f"whatchanged {name}")
    parameters = command.get_params(context)
    examples = "\n".join(module.EXAMPLES)
    usage = " ".join(command.collect_usage_pieces(context))
    parts = [
        f"## {name}",
        _text(command.help),
        f"```console\n$ whatchanged {name} {usage}\n```",
        _table("argument", parameters, context, "argument"),
        _table("option", parameters, context, "option"),
        f'```console title="Examples"\n{examples}\n```',
    ]
    if hasattr(module, "COMMAND"):  # its help says more than its parameters
        parts.append(f'??? note "whatchanged {name} --help"\n{_indented(_help(name))}')
    return "\n\n".join(part for part in parts if part) + "\n"


def _text(text: str) -> str:
    """A docstring's paragraphs, each on one line; options as code."""
    paragraphs = "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))
    return re.sub(r"(?<![\w`-])(--[a-z][a-z-]*)", r"`\1`", paragraphs)


def _table(title: str, parameters: list[Any], context: Any, kind: str) -> str:
    """The parameters of one kind as a table; empty where there are none."""
    rows = []
    for parameter in parameters:
        if parameter.param_type_name != kind or parameter.hidden:
            continue
        names, said = parameter.get_help_record(context)
        rows.append(f"| `{_cell(names)}` | {_cell(_escaped(said))} |")
    return "\n".join([f"| {title} | |", "|---|---|", *rows]) if rows else ""


def _cell(text: str) -> str:
    """Text that may stand in a table."""
    return " ".join(text.split()).replace("|", "\\|")


def _escaped(text: str) -> str:
    """Text whose marks mean nothing to Markdown."""
    for mark in "*_[":
        text = text.replace(mark, "\\" + mark)
    return text.replace("<", "&lt;")


def _help(name: str) -> str:
    """The help as a terminal shows it."""
    plain = {"COLUMNS": WIDTH, "NO_COLOR": "1", "TERM": "dumb"}
    with mock.patch.dict(os.environ, plain):
        shown = CliRunner().invoke(cli.app, [name, "--help"], prog_name="whatchanged")
    return "\n".join(line.rstrip() for line in shown.output.strip().splitlines())


def _indented(text: str) -> str:
    lines = ["", "```text", *text.splitlines(), "```"]
    return "\n".join(f"    {line}".rstrip() for line in lines)
