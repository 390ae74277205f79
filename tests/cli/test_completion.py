"""What shells are told when a person presses Tab, asked as their scripts ask it."""

import os
import subprocess
import sys

import pytest

from whatchanged.captioner.bundle import shipped
from whatchanged.cli import completion
from whatchanged.datasets import dataset_names
from whatchanged.datasets.preparation import PREPARATIONS
from whatchanged.recipes.reader import recipe_names

PROGRAM = "from whatchanged.cli import main; main()"


def asked(line, shell="bash", folder=None):
    """The completions of the last word of a command line."""
    words = line.split(" ")
    environment = {
        "bash": {"COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)},
        "zsh": {"_TYPER_COMPLETE_ARGS": line},
        "fish": {"_TYPER_COMPLETE_ARGS": line, "_TYPER_COMPLETE_FISH_ACTION": "get-args"},
    }[shell]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, **environment, "_WHATCHANGED_COMPLETE": f"complete_{shell}"},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.stderr == ""
    return done.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_completes_a_models_name(shell, tmp_path):
    assert shipped()[0] in asked("whatchanged describe --model cl", shell, tmp_path)


def test_the_values_of_a_command_line(tmp_path):
    assert asked("whatchanged train pcl-ti", folder=tmp_path).split() == ["pcl-tiny"]
    assert asked("whatchanged caption x -o y --dataset lev").split() == ["levir_cc"]
    drawn = asked("whatchanged synth clevr-").split()
    assert drawn == ["clevr-change", "clevr-dc", "clevr-low", "clevr-pool"]
    assert asked("whatchanged des").split() == ["describe"]


def test_models_are_names_and_folders(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "clever").mkdir()
    (tmp_path / "clever.txt").touch()
    named = [name for name in shipped() if name.startswith("cle")]
    assert completion.models("cle") == [*named, "clever/"] and "clevr-pcl" in named
    assert sorted(completion.models_and_files("clever")) == ["clever.txt", "clever/"]


def test_folders_are_followed(tmp_path):
    (tmp_path / "a").mkdir()
    for name in ("one.toml", "other.toml", ".hidden.toml"):
        (tmp_path / "a" / name).touch()
    assert completion.recipes(f"{tmp_path}/a/o") == [f"{tmp_path}/a/one.toml", f"{tmp_path}/a/other.toml"]
    assert len(completion.recipes(f"{tmp_path}/a/")) == 2
    assert completion.recipes(f"{tmp_path}/a/.h") == [f"{tmp_path}/a/.hidden.toml"]
    assert completion.recipes(f"{tmp_path}/nowhere/o") == []


def test_a_large_folder_does_not_fill_the_screen(tmp_path, monkeypatch):
    monkeypatch.setattr(completion, "MOST_ENTRIES", 3)
    for i in range(9):
        (tmp_path / f"{i}").mkdir()
    assert len(completion.models(f"{tmp_path}/")) == 3


def test_all_names_are_offered(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert completion.recipes("") == list(recipe_names())
    assert completion.data_sets("") == list(dataset_names())
    assert completion.preparations("") == list(PREPARATIONS)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_scripts_for_shells_are_shown(shell):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, "--show-completion", shell],
        env={**os.environ, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert "_WHATCHANGED_COMPLETE" in done.stdout and f"complete_{shell}" in done.stdout
