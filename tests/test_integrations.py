"""The GitHub action and the pre-commit hook, with a stand-in for the program that notes its arguments.

``planted/test_action.py`` runs the action with the program itself.
"""

import re
import shlex
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import typer

from whatchanged.cli import app

ROOT = Path(__file__).resolve().parents[1]
COMPARE = typer.main.get_command(app).commands["compare"]
PROGRAM = """#!/bin/sh
printf '%s\\0' "$@" > arguments
mkdir -p out
echo "### Pictures changed: 1" > out/summary.md
exit 1
"""


@pytest.fixture
def action():
    """The action's text; it is read by the few forms that it has, so that no YAML library is needed."""
    return (ROOT / "action.yml").read_text(encoding="utf-8")


@pytest.fixture
def compare(action, tmp_path):
    """Runs the action's last step with these inputs: exit code, the arguments of ``compare``, the summary."""
    script = textwrap.dedent(action[action.rindex("run: |\n") + len("run: |\n") :])
    (tmp_path / "whatchanged").write_text(PROGRAM)
    (tmp_path / "whatchanged").chmod(0o755)
    (tmp_path / "python").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    (tmp_path / "python").chmod(0o755)
    summary = tmp_path / "step summary.md"

    def run(**inputs):
        given = {
            "OLD": "",
            "NEW": "",
            "REVISION": "main",
            "OUTPUT": "out",
            "FAIL_ON": "changed",
            "ARGUMENTS": "",
        }
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],  # as GitHub calls it
            env={
                "PATH": "/usr/bin:/bin",
                "PROGRAMS": str(tmp_path),
                "RUNNER_TEMP": str(tmp_path),
                "GITHUB_STEP_SUMMARY": str(summary),
                **given,
                **inputs,
            },
            cwd=tmp_path,
            check=False,
            timeout=60,
            capture_output=True,
            text=True,
        )
        noted = tmp_path / "arguments"
        if not noted.exists():
            return done.returncode, {}, done.stderr
        command, *arguments = noted.read_text().split("\0")[:-1]
        assert command == "compare"
        return done.returncode, COMPARE.make_context("compare", arguments).params, summary.read_text()

    return run


def test_the_action_compares_a_revision_and_passes_the_exit_code_on(compare):
    code, given, summary = compare()
    assert (code, summary) == (1, "### Pictures changed: 1\n")
    assert (given["git"], given["old"], given["new"]) == ("main", None, None)
    assert (given["output"], given["fail_on"], given["annotations"]) == (Path("out"), "changed", "github")
    assert given["force"] and not given["strict"]


def test_the_action_shows_no_summary_that_the_command_did_not_write(compare, tmp_path):
    """As one that a pull request holds in a folder of the results' name, which the command refused."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "summary.md").write_text("### No picture changed\n")
    (tmp_path / "step summary.md").touch()
    (tmp_path / "whatchanged").write_text("".join(PROGRAM.splitlines(keepends=True)[:2]) + "exit 2\n")
    code, _, summary = compare()
    assert (code, summary) == (2, "")


def test_the_action_compares_folders_whose_names_have_blanks(compare):
    _, given, _ = compare(OLD="old pictures", NEW="new; echo", ARGUMENTS="--strict --workers 2")
    assert (given["old"], given["new"], given["git"]) == (Path("old pictures"), Path("new; echo"), None)
    assert given["strict"] and given["workers"] == 2


def test_every_line_of_the_arguments_counts_quoted_as_in_a_shell(compare, tmp_path):
    text = "--ignore 'my boxes.json'\n  --workers 2\n\n--strict\n--noise \"$(touch ran) `touch ran` * ~\"\n"
    _, given, _ = compare(ARGUMENTS=text)
    assert given["ignore"] == Path("my boxes.json")
    assert given["workers"] == 2 and given["strict"]
    assert given["noise"] == Path("$(touch ran) `touch ran` * ~")
    assert not (tmp_path / "ran").exists()


def test_a_quote_without_end_is_one_message_and_nothing_is_compared(compare):
    code, given, said = compare(ARGUMENTS='--strict\n--ignore "my boxes.json')
    assert (code, given) == (2, {})
    assert said == "whatchanged: the input arguments cannot be divided into words: No closing quotation.\n"


def test_no_input_is_pasted_into_a_script(action):
    """Inputs reach a step as variables; in the text of a script they could be commands."""
    scripts = re.findall(r"^      run: \|\n((?:(?: {8}.*)?\n)+)", action, re.MULTILINE)
    assert len(scripts) == action.count("\n      run:") == 2 and not any(
        "${{" in script for script in scripts
    )
    inputs = set(re.findall(r"^  ([a-z-]+):$", action[: action.index("runs:")], re.MULTILINE))
    assert inputs == set(re.findall(r"\$\{\{ inputs\.([a-z-]+) \}\}", action))


def test_the_documented_inputs_are_the_actions(action):
    page = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    table = page[page.index("| input |") : page.index("The action splits")]
    named = {
        name
        for row in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)
        for name in re.findall(r"`(.*?)`", row)
    }
    assert named == set(re.findall(r"inputs\.([a-z-]+) ", action))


def test_the_hook_runs_a_command_that_can_be_read():
    text = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    program, command, *arguments = shlex.split(re.search(r"entry: (.*)", text)[1])
    assert (program, command) == ("whatchanged", "compare")
    given = COMPARE.make_context("compare", arguments).params
    assert (given["git"], given["fail_on"]) == ("HEAD", "never")
    assert "pass_filenames: false" in text
