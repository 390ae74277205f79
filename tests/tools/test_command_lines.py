"""The tools that write into a folder explain themselves, and refuse wrong arguments before they write."""

import subprocess
import sys

import pytest
from support.house import HOUSE

TOOLS = HOUSE.parents[1] / "tools"


@pytest.mark.parametrize(
    ("tool", "wrong"),
    [
        ("draw_readme", ["--all"]),
        ("draw_screens", ["one", "two"]),
        ("draw_tokens", ["--all"]),
        ("refresh_docs", ["pages"]),
        ("check_package", []),
    ],
)
def test_wrong_arguments_are_refused(tool, wrong, tmp_path):
    result = run(tool, wrong, tmp_path)
    assert result.returncode == 2 and result.stderr.startswith(f"usage: {tool}.py")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "tool", ["draw_readme", "draw_screens", "draw_ten", "draw_tokens", "refresh_docs", "check_package"]
)
def test_help_shows_the_command_and_writes_nothing(tool, tmp_path):
    result = run(tool, ["--help"], tmp_path)
    assert result.returncode == 0 and f"python tools/{tool}.py" in result.stdout
    assert not list(tmp_path.iterdir())


def run(tool, arguments, folder):
    command = [sys.executable, str(TOOLS / f"{tool}.py"), *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
