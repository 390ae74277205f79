"""Draw the pages of PDF files as pictures. PDFium draws the pages, and requires the extra ``pdf``.

A PDF file may be hostile, and a small one may take minutes. Its bytes, its pages and the pixels of each page
are checked against limits before a page is drawn. Drawing runs in a separate process with limited time and
memory. If this process ends early, the drawn file gets an error, and the command continues. No code in a file
runs, because forms are not set up. JavaScript and XFA only run in forms.
"""

import contextlib
import importlib.util
import math
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Executor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from whatchanged.errors import ImageError, MissingExtra, WhatchangedError
from whatchanged.images import check_size
from whatchanged.opening import open_regular
from whatchanged.processes import worker_pool
from whatchanged.urls import is_remote

ENDING = ".pdf"
DPI = 144.0
"""The number of pixels for each inch of paper, which is two pixels for each unit of PDFium."""
MOST_BYTES = 200_000_000
"""The largest size of a file in bytes."""
MOST_PAGES = 300
"""The largest number of pages of a file."""
SECONDS = 300
"""The seconds within which all pages of a file must be drawn."""
MEMORY = 4 << 30
"""The bytes of memory that the drawing process may use."""
SMALL = 32
"""The width and height, in pixels, of a reduced page.

The pages of two files are matched by their reduced pages.
"""
_POINTS = 72.0
"""PDF's units for each inch."""


@dataclass(frozen=True)
class DrawnPage:
    """A page drawn as a picture.

    number  from 1
    file    the PNG file
    small   (``SMALL``, ``SMALL``) grey levels of the reduced page
    """

    number: int
    file: Path
    small: NDArray[np.uint8]


Drawn = list[DrawnPage] | ImageError
"""The drawn pages of a file, or the error if the file cannot be drawn."""


def is_pdf(name: str | Path) -> bool:
    """Return whether a file has the extension of a PDF file."""
    return PurePath(str(name)).suffix.lower() == ENDING  # a path in a store is none of this machine


def can_draw() -> bool:
    """Return whether pages can be drawn in this install."""
    return importlib.util.find_spec("pypdfium2") is not None


def require_drawing() -> None:
    """Check that pages can be drawn. Raises MissingExtra if the extra ``pdf`` is not installed."""
    if not can_draw():
        raise MissingExtra("Comparing PDF files", "pypdfium2", "pdf")


def draw_files(files: Iterable[tuple[Path, Path, int]], dpi: float = DPI) -> Iterator[Drawn]:
    """Draw the pages of PDF files as PNG files.

    Yield the pages, or the error, of each file in order. files: tuples of a PDF file, a folder for its pages,
    and the largest number of pages to draw.
    """
    waiting = deque(files)
    while waiting:
        with contextlib.suppress(_EndedError), worker_pool(1, _limit_memory) as pool:
            while waiting:
                drawn = _drawn(pool, *waiting[0], dpi)
                waiting.popleft()
                yield drawn
        if waiting:
            path, _, _ = waiting.popleft()
            yield ImageError(
                f"{path}: its pages cannot be drawn within {SECONDS} seconds and {MEMORY >> 30} GB, or they"
                " end the program that draws them. Save the file again with another program."
            )


class _EndedError(WhatchangedError):
    """The drawing process has ended or must be ended. Another process then draws the remaining files."""


def _drawn(pool: Executor, path: Path, folder: Path, most: int, dpi: float) -> Drawn:
    """Return the pages of one file. Raises _EndedError if the pool of processes cannot be used again."""
    try:
        return pool.submit(draw_pages, path, folder, most, dpi).result(timeout=SECONDS)
    except ImageError as error:
        return error
    except (BrokenProcessPool, TimeoutError, MemoryError) as error:
        raise _EndedError(str(path)) from error


def draw_pages(path: Path, folder: Path, most: int = MOST_PAGES, dpi: float = DPI) -> list[DrawnPage]:
    """Draw the first ``most`` pages of a file as PNG files in a folder, in this process.

    Raises ImageError, before anything is written, if the file cannot be drawn. Raises MissingExtra if the
    extra ``pdf`` is not installed.
    """
    require_drawing()
    import pypdfium2

    content = _content(path)
    try:
        document = pypdfium2.PdfDocument(content)
    except pypdfium2.PdfiumError as error:
        if "password" in str(error).lower() or "security" in str(error).lower():
            raise ImageError(f"{path}: this PDF file is encrypted. Save it without a password.") from error
        raise ImageError(f"{path}: cannot read this PDF file; it is broken. Save it again.") from error
    try:
        pages = len(document)
        if not pages:
            raise ImageError(f"{path}: this PDF file has no pages. Save it again.")
        if pages > MOST_PAGES:
            raise ImageError(f"{path}: {pages:,} pages; at most {MOST_PAGES:,} of a file are compared.")
        numbers = range(min(pages, most))
        for index in numbers:
            _check_page(document, index, dpi, f"{path}, page {index + 1}")
        return [_draw(document, index, dpi, folder, f"{path}, page {index + 1}") for index in numbers]
    finally:
        document.close()


def _content(path: Path) -> bytes:
    """Read the bytes of a file. Raises ImageError."""
    if is_remote(path):
        raise ImageError(f"{path}: PDF files are read from folders of this machine alone. Download it.")
    try:
        with open_regular(path) as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise ImageError(f"{path}: cannot read the file: {error.strerror or error}.") from error
    if len(content) > MOST_BYTES:
        raise ImageError(f"{path}: more than {MOST_BYTES:,} bytes are no PDF file that is compared.")
    if not content:
        raise ImageError(f"{path}: the file is empty (0 bytes). Copy it again.")
    return content


def _check_page(document: Any, index: int, dpi: float, name: str) -> None:
    """Check that a page has no more pixels than a picture may have. Raises ImageError."""
    try:
        width, height = document.get_page_size(index)
    except Exception as error:  # what PDFium's bindings raise for an invalid page
        raise ImageError(f"{name}: this page is broken. Save the file again.") from error
    if not (math.isfinite(width) and math.isfinite(height)):
        raise ImageError(f"{name}: this page has no size. Save the file again.")
    across, down = (math.ceil(side * dpi / _POINTS) for side in (width, height))
    try:
        check_size((across, down), name, least=1)
    except ImageError as error:
        raise ImageError(f"{error} Or draw it with fewer pixels by --pdf-dpi.") from error


def _draw(document: Any, index: int, dpi: float, folder: Path, name: str) -> DrawnPage:
    """Draw and write one page. Raises ImageError."""
    try:
        page = document[index]
        picture = page.render(scale=dpi / _POINTS, may_draw_forms=False).to_pil().convert("RGB")
        page.close()
    except Exception as error:  # as above
        raise ImageError(f"{name}: this page cannot be drawn. Save the file again.") from error
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{index + 1}.png"
    picture.save(file, compress_level=1)
    small = picture.convert("L").resize((SMALL, SMALL), Image.Resampling.BOX)
    return DrawnPage(index + 1, file, np.asarray(small))


def _limit_memory() -> None:
    """Limit the memory of this process, if the system supports such limits."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource  # there is none on Windows

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
