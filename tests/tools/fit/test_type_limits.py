"""The tool that draws lines of text and shows where the limits of their attributes lie."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).parents[3] / "tools" / "fit"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("fc-list") is None, reason="which fonts are installed cannot be asked")
def test_it_tells_each_kind_and_its_measures():
    command = [sys.executable, str(TOOLS), "type_limits", "--lines", "60"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert "same: {'nothing'" in done.stdout
    assert done.stdout.count("left_over") >= 5
