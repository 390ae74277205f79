"""What ``--help`` shows: examples that work, and nothing cut off on a terminal of 80 columns."""

import importlib
import shlex

import pytest
import typer

from whatchanged.cli import COMMANDS, app

GROUP = typer.main.get_command(app)


def examples(name):
    return importlib.import_module(f"whatchanged.cli.{name}").EXAMPLES


@pytest.fixture(autouse=True)
def narrow(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_help_ends_in_examples(whatchanged, name):
    code, out, _ = whatchanged(name, "--help")
    lines = [line.strip() for line in out.splitlines()]
    assert code == 0 and examples(name)
    for example in examples(name):
        assert example in lines


@pytest.mark.parametrize(("name", "example"), [(name, e) for name in COMMANDS for e in examples(name)])
def test_every_example_names_its_command_and_can_be_read(name, example):
    program, command, *arguments = shlex.split(example)
    assert (program, command) == ("whatchanged", name)
    context = GROUP.commands[name].make_context(name, arguments)  # exits where an option does not exist
    given = {parameter.name for parameter in GROUP.commands[name].params}
    assert given >= {key for key, value in context.params.items() if value is not None}


def test_an_example_with_a_wrong_option_would_be_found():
    with pytest.raises(Exception, match="No such option"):
        GROUP.commands["demo"].make_context("demo", ["--no-such-option"])


@pytest.mark.parametrize("arguments", [("--help",), *((name, "--help") for name in COMMANDS)])
def test_nothing_is_cut_off_at_80_columns(whatchanged, arguments):
    _, out, _ = whatchanged(*arguments)
    assert "…" not in out
    assert max(map(len, out.splitlines())) <= 80
    if arguments[0] == "--help":
        return
    shown = "".join(out.split())
    for parameter in GROUP.commands[arguments[0]].params:
        assert all(option in shown for option in parameter.opts if option.startswith("-"))
        told = "".join((getattr(parameter, "help", None) or "").split())
        # The borders of the table stand between the pieces of a help text.
        assert told in shown.replace("│", "") or not told or _in_order(told, shown)


def _in_order(text, shown):
    """Whether the letters of a text stand in order, with the cells of other columns between them at most."""
    rest = iter(shown)
    return all(letter in rest for letter in text)
