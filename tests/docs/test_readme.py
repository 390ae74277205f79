"""README.md: its commands print what it shows, and CI runs its first two as they stand."""

import re
import shutil
from pathlib import Path

import pytest
from site_pages.transcripts import differences, steps

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
INDENTED = re.compile(r"^    (\S.*)$", re.MULTILINE)
"""A command that is shown without its output."""


@pytest.mark.slow
def test_every_command_prints_what_is_shown(tmp_path, command_line):
    shutil.copytree(ROOT / "docs" / "pictures", tmp_path / "docs" / "pictures")
    assert len(list(steps(README))) == 6
    assert "\n\n".join(differences(README, tmp_path)) == ""
    assert (tmp_path / "report" / "index.html").is_file()


def test_ci_runs_the_two_commands_that_install():
    commands = INDENTED.findall(README)
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert commands == ["pip install -e . && whatchanged demo", "pip install -e '.[dev]' && pytest"]
    assert [script.count(f"{command}\n") for command in commands] == [1, 1]


def test_it_fits_two_screens():
    assert len(README.splitlines()) <= 110


def test_the_package_is_said_to_be_on_no_index_where_it_is_installed():
    before, _, _ = README.partition("    pip install")
    assert "on no index" in before.splitlines()[-2] + before.splitlines()[-3]
