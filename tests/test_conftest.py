"""What holds for every test."""

import os
import subprocess
import sys
from pathlib import Path

WATCHED = """
import os, sys

class Watch:
    def find_spec(name, *rest):
        if name in ("numpy", "torch"):
            print(name, os.environ.get("OMP_NUM_THREADS"))

sys.meta_path.insert(0, Watch)
import conftest
"""


def test_fast_is_what_the_base_layer_has_that_is_not_slow():
    """What runs commands is left out, and elsewhere what is slow and what starts programs, as this file."""
    rooms = ["test_json_values.py", "test_conftest.py", "docs", "page/test_in_a_browser.py"]
    command = [sys.executable, "-m", "pytest", "-n", "0", "--collect-only", "-m", "fast"]
    command += [f"tests/{room}" for room in rooms]
    done = subprocess.run(command, cwd=Path(__file__).parents[1], capture_output=True, text=True)
    files = {line.partition("::")[0] for line in done.stdout.splitlines() if "::" in line}
    assert files == {"tests/test_json_values.py"}, done.stdout + done.stderr


def test_one_thread_is_asked_for_before_numpy_is_loaded():
    """Its library counts the cores when it is loaded, and looks at the environment then only."""
    unset = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
    told = subprocess.run(
        [sys.executable, "-c", WATCHED], cwd=Path(__file__).parent, env=unset, capture_output=True, text=True
    )
    assert told.stdout == "numpy 1\n", told.stderr
