"""The GitHub action and the pre-commit hook, with a stand-in for Python that notes its arguments."""

import re
import shlex
import subprocess
import textwrap
from pathlib import Path

import pytest
import typer

from whatchanged.cli import app

ROOT = Path(__file__).resolve().parents[1]
COMPARE = typer.main.get_command(app).commands["compare"]
PYTHON = """#!/bin/sh
printf '%s\\n' "$@" > arguments
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
    (tmp_path / "python3").write_text(PYTHON)
    (tmp_path / "python3").chmod(0o755)
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
            env={"PATH": f"{tmp_path}:/usr/bin:/bin", "GITHUB_STEP_SUMMARY": str(summary), **given, **inputs},
            cwd=tmp_path,
            check=False,
            timeout=60,
        )
        arguments = (tmp_path / "arguments").read_text().splitlines()
        assert arguments[:3] == ["-m", "whatchanged", "compare"]
        return done.returncode, COMPARE.make_context("compare", arguments[3:]).params, summary.read_text()

    return run


def test_the_action_compares_a_revision_and_passes_the_exit_code_on(compare):
    code, given, summary = compare()
    assert (code, summary) == (1, "### Pictures changed: 1\n")
    assert (given["git"], given["old"], given["new"]) == ("main", None, None)
    assert (given["output"], given["fail_on"], given["annotations"]) == (Path("out"), "changed", "github")


def test_the_action_shows_no_summary_that_the_command_did_not_write(compare, tmp_path):
    """As one that a pull request holds in a folder of the results' name, which the command refused."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "summary.md").write_text("### No picture changed\n")
    (tmp_path / "step summary.md").touch()
    stand_in = tmp_path / "python3"
    stand_in.write_text(PYTHON.splitlines()[0] + '\nprintf "%s\\n" "$@" > arguments\nexit 2\n')
    code, _, summary = compare()
    assert (code, summary) == (2, "")


def test_the_action_compares_folders_whose_names_have_blanks(compare):
    _, given, _ = compare(OLD="old pictures", NEW="new; echo", ARGUMENTS="--strict --workers 2")
    assert (given["old"], given["new"], given["git"]) == (Path("old pictures"), Path("new; echo"), None)
    assert given["strict"] and given["workers"] == 2


def test_no_input_is_pasted_into_a_script(action):
    """Inputs reach a step as variables; in the text of a script they could be commands."""
    scripts = re.findall(r"run: (?:\|\n((?: {8}.*\n)+)|(.*)\n)", action)
    assert len(scripts) == 2 and not any("${{" in part for script in scripts for part in script)
    inputs = set(re.findall(r"^  ([a-z-]+):$", action[: action.index("runs:")], re.MULTILINE))
    assert inputs == set(re.findall(r"\$\{\{ inputs\.([a-z-]+) \}\}", action))


def test_the_documented_inputs_are_the_actions(action):
    page = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    table = page[page.index("| input |") : page.index("Elsewhere the same")]
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
