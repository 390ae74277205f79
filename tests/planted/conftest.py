"""The planted working directory, and what the commands read, made once."""

import shutil
import subprocess
import sys

import pytest
from kills.commands import draw_inputs, make_needed

from planted.folder import PlantedFolder


@pytest.fixture
def planted(tmp_path):
    """A working directory with nothing planted yet."""
    return PlantedFolder(tmp_path / "planted")


@pytest.fixture(scope="session")
def inputs(tmp_path_factory):
    """Gives a copy of what a command reads, as ``in`` of a folder; what other commands make is made once."""
    place = tmp_path_factory.mktemp("inputs")
    draw_inputs(place / "in")

    def make(arguments):
        program = [sys.executable, "-P", "-m", "whatchanged"]
        subprocess.run([*program, *arguments], cwd=place, check=True, capture_output=True, timeout=600)

    def give(folder, needs=""):
        make_needed(needs, place / "in", make)
        shutil.copytree(place / "in", folder / "in")

    return give
