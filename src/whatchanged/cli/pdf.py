"""PDF files on the command line: the option ``--pdf-dpi``, and ``describe`` for two PDF files, page by
page.
"""

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from whatchanged.cli.console import print_result
from whatchanged.errors import escaped_json

if TYPE_CHECKING:
    from whatchanged.answers import Answer
    from whatchanged.pdf import DrawnPage

LEAST_DPI, MOST_DPI = 18.0, 600.0
"""The allowed range of ``--pdf-dpi``, in pixels for each inch of paper."""

PDFDensity = Annotated[
    float | None,
    typer.Option(
        "--pdf-dpi",
        min=LEAST_DPI,
        max=MOST_DPI,
        metavar="DPI",
        help="Pixels for each inch when pages of PDF files are drawn (144).",
    ),
]


def are_pdf(before: str, after: str) -> bool:
    """Return whether both files have the extension of PDF files."""
    return before.lower().endswith(".pdf") and after.lower().endswith(".pdf")


def describe_pages(
    files: tuple[str, str],
    dpi: float | None,
    answer: "Callable[[Path, Path], Answer]",
    text: "Callable[[Answer], str] | None",
) -> bool:
    """Print what changed on each page of two PDF files.

    Return whether any page changed. answer: a function that describes a pair of pictures. text: a function
    that converts an answer to text. If text is None, one JSON object is printed for each page. Raises
    ImageError if a file cannot be drawn. Raises MissingExtra if the extra ``pdf`` is not installed.
    """
    from whatchanged.compare.pdf_pages import pages_of
    from whatchanged.pdf import DPI

    lines: list[str] = []
    changed = False
    with tempfile.TemporaryDirectory(prefix="whatchanged-") as place:
        for before, after in pages_of(Path(files[0]), Path(files[1]), Path(place), dpi or DPI):
            found = None if before is None or after is None else answer(before.file, after.file)
            changed = changed or found is None or found.changed
            if text is None:
                fields = {**_fields(found, before, files), **_numbers(before, after)}
                lines.append(escaped_json(json.dumps(fields, ensure_ascii=False)))
            else:
                lines.append(
                    f"{_name(before, after)}: {_came_or_went(before) if found is None else text(found)}"
                )
    print_result("\n".join(lines), [])
    return changed


def _fields(answer: "Answer | None", before: "DrawnPage | None", files: tuple[str, str]) -> dict[str, Any]:
    """Return the fields of ``describe --json`` for a page. The keys of the result are a public interface."""
    if answer is not None:
        return {**answer.as_json(before=files[0], after=files[1]), "policy": answer.policy}
    sentence = _came_or_went(before)
    fields = {"caption": sentence, "verdict": "changed", "changed": True, "no_change": 0.0}
    return {**fields, "file": "added" if before is None else "removed", "before": files[0], "after": files[1]}


def _numbers(before: "DrawnPage | None", after: "DrawnPage | None") -> dict[str, int]:
    """Return the number of a page in the old file, in the new file, or in both. Page numbers start at 1."""
    numbers = {"page_before": before and before.number, "page_after": after and after.number}
    return {name: number for name, number in numbers.items() if number}


def _name(before: "DrawnPage | None", after: "DrawnPage | None") -> str:
    """Return the printed name of a page."""
    if after is None:
        return f"page {before.number if before else 0} before"
    moved = before is not None and before.number != after.number
    return f"page {after.number}" + (f" (before: {before.number})" if before is not None and moved else "")


def _came_or_went(before: "DrawnPage | None") -> str:
    return "The page was added." if before is None else "The page was removed."
