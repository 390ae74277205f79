"""``whatchanged synth`` from the command line."""

import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from whatchanged.cli import app

runner = CliRunner()


def run(*arguments: str):
    return runner.invoke(app, ["synth", *arguments])


def test_a_set_is_drawn_and_its_folder_named_on_stdout(tmp_path: Path):
    pytest.importorskip("numba")
    out = tmp_path / "set"
    result = run("clevr-change", str(out), "--scenes", "1", "--seed", "2", "--size", "48x32")
    assert result.exit_code == 0
    assert result.stdout == f"{out}\n"
    assert "2 pairs" in result.stderr
    assert (out / "images/CLEVR_default_000000.png").is_file()
    again = run("clevr-change", str(out), "--scenes", "1")
    assert again.exit_code == 2 and "exists already" in again.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("mars", "out", "--scenes", "1"),
        ("clevr-change", "out", "--scenes", "0"),
        ("clevr-change", "out", "--scenes", "1", "--size", "480"),
        ("clevr-change", "out", "--scenes", "1", "--size", "0x32"),
        ("clevr-change", "out"),
    ],
)
def test_wrong_usage_ends_with_2_and_draws_nothing(arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(*arguments).exit_code == 2
    assert list(tmp_path.iterdir()) == []


def test_the_missing_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    result = run("clevr-change", str(tmp_path / "set"), "--scenes", "1")
    assert result.exit_code == 2
    assert "whatchanged[train]" in result.stderr
