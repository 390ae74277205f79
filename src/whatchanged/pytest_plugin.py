"""A pytest plugin: ``pytest --whatchanged`` describes in words what changed if a comparison of images fails.

The plugin recognises the failures of matplotlib's ``image_comparison`` and ``check_figures_equal`` and of
pytest-mpl. The sentence is measured without a model. The sentence appears in a separate section below the
failure. pytest loads this module in every run, so the module imports nothing heavy until a test has failed.
"""

import re
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

TITLE = "what changed"
_FAILURES = (
    # matplotlib: images not close (RMS 12.3):, then the new picture, the old one and their difference
    re.compile(r"images not close[^\n]*\n\t(?P<after>[^\n]+)\n\t(?P<before>[^\n]+)"),
    # pytest-mpl: Expected:, the old picture; Actual:, the new one; or the same with their shapes
    re.compile(
        r"Expected(?: shape)?:[^\n]*\n(?P<before>[^\n]+)\n *Actual(?: shape)?:[^\n]*\n(?P<after>[^\n]+)"
    ),
)
_COMPARING = "matplotlib.testing"
"""The package in which matplotlib compares pictures.

If the sizes of two pictures differ, matplotlib's message does not contain the names of the files.
"""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--whatchanged``."""
    group = parser.getgroup("whatchanged")
    group.addoption(
        "--whatchanged",
        action="store_true",
        help="Say in words what changed where a comparison of images fails (matplotlib, pytest-mpl).",
    )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the sentence to the report of a test whose comparison of images failed."""
    report = yield
    if report.failed and call.excinfo is not None and item.config.getoption("whatchanged"):
        for before, after in _pictures(call.excinfo):
            report.sections.append((TITLE, _words(before, after)))
    return report


def _pictures(failure: pytest.ExceptionInfo[BaseException]) -> Iterator[tuple[Path, Path]]:
    """Return the expected and the actual picture, if the failure comes from a comparison of images."""
    message = str(failure.value)
    for pattern in _FAILURES:
        for found in pattern.finditer(message):
            yield Path(found["before"].strip()), Path(found["after"].strip())
            return
    for entry in reversed(failure.traceback):
        names: dict[str, Any] = entry.frame.f_locals
        module = entry.frame.f_globals.get("__name__", "")
        if module.startswith(_COMPARING) and {"expected", "actual"} <= names.keys():
            yield Path(str(names["expected"])), Path(str(names["actual"]))
            return


def _words(before: Path, after: Path) -> str:
    """Return a text with the measured sentence and the files, or with the reason why nothing could be
    measured.
    """
    from whatchanged.errors import WhatchangedError
    from whatchanged.measured import measure

    try:
        answer = measure(before, after)
    except WhatchangedError as error:
        return f"Nothing was measured: {error}\nbefore: {before}\nafter:  {after}"
    sizes = [f"{width}x{height}" for width, height in (answer.size_before, answer.size_after)]
    return f"{answer.sentence}\nbefore: {before} ({sizes[0]})\nafter:  {after} ({sizes[1]})"
