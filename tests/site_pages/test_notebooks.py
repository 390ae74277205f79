"""The notebooks of the site, executed; what they print is what they were committed with."""

import json
import os
import sys
from pathlib import Path

import pytest

pytest.importorskip("nbclient", reason="needs the extra docs")
pytest.importorskip("ipykernel", reason="needs the extra docs")

from site_pages.notebooks import execute, read, shrink, texts

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


@pytest.fixture
def kernel(tmp_path, monkeypatch):
    """Kernels of this interpreter, and ``whatchanged`` of this checkout on their path."""
    command = tmp_path / "bin" / "whatchanged"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m whatchanged "$@"\n')
    command.chmod(0o755)
    spec = {
        "argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        "language": "python",
    }
    place = tmp_path / "jupyter" / "kernels" / "python3" / "kernel.json"
    place.parent.mkdir(parents=True)
    place.write_text(json.dumps({**spec, "display_name": "Python 3"}))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "jupyter"))
    monkeypatch.setenv("PATH", f"{command.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))


def test_there_are_three_and_they_are_small():
    assert len(NOTEBOOKS) == 3
    assert all(path.stat().st_size < 100_000 for path in NOTEBOOKS)
    for path in NOTEBOOKS:
        cells = [cell for cell in read(path).cells if cell.cell_type == "code"]
        assert any(cell.outputs for cell in cells)
        assert not [output for cell in cells for output in cell.outputs if output.output_type == "error"]


def test_of_a_large_picture_the_smaller_form_is_kept():
    notebook = read(NOTEBOOKS[0])
    small, large = "p" * 10, "P" * 30_000
    cells = [cell for cell in notebook.cells if cell.get("outputs")][:2]
    for cell, png in zip(cells, (small, large), strict=True):
        shown = {"image/png": png, "image/jpeg": "j", "text/plain": "a picture"}
        cell.outputs = [{"output_type": "display_data", "data": shown, "metadata": {}}]
    shrink(notebook)
    assert [set(cell.outputs[0]["data"]) for cell in cells] == [
        {"image/png", "text/plain"},
        {"image/jpeg", "text/plain"},
    ]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of Jupyter's own libraries
@pytest.mark.parametrize("name", ["describe-and-compare", "evaluate-your-captions"])
def test_a_notebook_prints_what_it_shows(name, tmp_path, kernel):
    notebook = read(ROOT / "docs" / "notebooks" / f"{name}.ipynb")
    shown = texts(notebook)
    (tmp_path / "empty").mkdir()
    execute(notebook, tmp_path / "empty")
    assert texts(notebook) == shown


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_the_notebook_that_trains_runs_with_few_steps(tmp_path, kernel):
    pytest.importorskip("torch")
    notebook = read(ROOT / "docs" / "notebooks" / "train-and-export.ipynb")
    (tmp_path / "empty").mkdir()
    execute(notebook, tmp_path / "empty", {"steps": 12})
    assert (tmp_path / "empty" / "model" / "bundle.json").is_file()
    assert "of 100 sentences" in "".join(texts(notebook))
