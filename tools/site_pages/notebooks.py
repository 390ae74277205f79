"""The notebooks of the site: executed in an empty folder, and written back with small outputs.

python -m site_pages.notebooks NOTEBOOK ...      (in tools/)
"""

import re
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

PARAMETERS = "parameters"
"""The tag of the cell whose values may be replaced, as Papermill's convention has it."""
SECONDS = 1800
"""What one cell may take."""
LARGE = 20_000
"""Characters of a picture beyond which another form of it is kept, if there is one."""


def read(path: Path) -> Any:
    """A notebook of format 4."""
    return nbformat.read(path, 4)


def execute(notebook: Any, folder: Path, parameters: Mapping[str, object] | None = None) -> None:
    """Run all cells in ``folder``; outputs replace those that are there. Raises CellExecutionError.

    parameters: values that replace those of the cell with the tag "parameters".
    """
    if parameters:
        (cell,) = (cell for cell in notebook.cells if PARAMETERS in cell.metadata.get("tags", ()))
        cell.source = "\n".join(f"{name} = {value!r}" for name, value in parameters.items())
    resources = {"metadata": {"path": str(folder)}}
    NotebookClient(notebook, timeout=SECONDS, kernel_name="python3", resources=resources).execute()


def shrink(notebook: Any) -> None:
    """Keep of each output what is shown: one form of a picture, plain ends of lines, no times."""
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        for output in cell.get("outputs", ()):
            if "text" in output:
                output["text"] = _lines(output["text"])
            shown = output.get("data", {})
            if len(shown.get("image/png", "")) > LARGE and "image/jpeg" in shown:
                del shown["image/png"]
            elif "image/png" in shown:
                shown.pop("image/jpeg", None)
    language = notebook.metadata["language_info"]
    notebook.metadata["language_info"] = {"name": language["name"]}


def texts(notebook: Any) -> list[str]:
    """What each cell printed or showed as text, without addresses of objects and seconds."""
    cells = ("".join(map(_text, cell.get("outputs", ()))) for cell in notebook.cells)
    return [re.sub(r'0x[0-9a-f]+|("seconds": )[\d.]+', r"\1", cell) for cell in cells]


def _text(output: Any) -> str:
    return _lines(output.get("text") or output.get("data", {}).get("text/plain", ""))


def _lines(text: str) -> str:
    """Text with plain ends of lines; a command that is called with ``!`` writes as to a terminal."""
    return text.replace("\r\n", "\n")


def main() -> None:
    """Execute each notebook and write it back."""
    for path in map(Path, sys.argv[1:]):
        notebook = read(path)
        with tempfile.TemporaryDirectory() as folder:
            execute(notebook, Path(folder))
        shrink(notebook)
        nbformat.write(notebook, path)


if __name__ == "__main__":
    main()
