"""The files of fitted constants are what the tools write, and a tool leaves the others' constants alone."""

import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from fit.constants import MEASURED, write_constants

TOOLS = Path(__file__).parents[3] / "tools" / "fit"


def constants(path):
    return {name: value for name, value in runpy.run_path(str(path)).items() if name.isupper()}


def test_its_own_values_written_again_leave_the_file_as_it_is(tmp_path):
    copy = Path(shutil.copy(MEASURED, tmp_path))
    write_constants(constants(copy), copy)
    assert copy.read_bytes() == MEASURED.read_bytes()


def test_what_is_written_is_read_and_nothing_else_changes(tmp_path):
    copy = Path(shutil.copy(MEASURED, tmp_path))
    new = {"FINE": (8.0, 0.4), "CAUSE": {"constant": 1.0, "step": -2.0}, "ODDS": 5.0}
    write_constants(new, copy)
    assert constants(copy) == {**constants(MEASURED), **new}
    assert copy.read_text().count('"""') == MEASURED.read_text().count('"""')


def test_a_name_that_is_not_assigned_is_refused_and_nothing_is_written(tmp_path):
    copy = Path(shutil.copy(MEASURED, tmp_path))
    with pytest.raises(KeyError, match="COARSER"):
        write_constants({"FINE": (1.0, 1.0), "COARSER": (1.0, 1.0)}, copy)
    assert copy.read_bytes() == MEASURED.read_bytes()


def test_a_tool_that_is_not_there_is_refused_with_the_list():
    done = subprocess.run([sys.executable, str(TOOLS), "nothing"], capture_output=True, text=True)
    assert done.returncode == 2
    assert "gate" in done.stdout and "groups" in done.stdout
