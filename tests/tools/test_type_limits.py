"""The tool that draws lines of text and shows where the limits of their attributes lie."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[2] / "tools" / "fit" / "type_limits.py"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("fc-list") is None, reason="which fonts are installed cannot be asked")
def test_it_tells_each_kind_and_its_measures():
    done = subprocess.run(
        [sys.executable, str(TOOL), "--lines", "60"], capture_output=True, text=True, check=True, timeout=120
    )
    assert "same: {'nothing'" in done.stdout
    assert done.stdout.count("left_over") >= 5
