"""PDF files: their pages as pictures, drawn by PDFium where the extra ``pdf`` is installed.

A PDF file is a stranger's, too, and a small one may ask for minutes. Its bytes, its pages and the pixels of
each page are held against limits before a page is drawn, and it is drawn in a process of its own, whose time
and memory are limited: where that ends early, the file is at fault and not the command. No code of a file
runs: forms are not set up, and without them neither JavaScript nor XFA.
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
"""Pixels of an inch of paper: twice as many as PDFium's own units, as on a screen of high density."""
MOST_BYTES = 200_000_000
"""Of a file."""
MOST_PAGES = 300
"""Of a file."""
SECONDS = 300
"""In which all pages of a file must be drawn."""
MEMORY = 4 << 30
"""Bytes that the process which draws may use."""
SMALL = 32
"""Pixels of a side of the reduced pages by which those of two files are matched."""
_POINTS = 72.0
"""PDF's units in an inch."""


@dataclass(frozen=True)
class DrawnPage:
    """A page as a picture.

    number  from 1
    file    the PNG file
    small   (``SMALL``, ``SMALL``) grey levels of the page, reduced
    """

    number: int
    file: Path
    small: NDArray[np.uint8]


Drawn = list[DrawnPage] | ImageError
"""A file's pages, or what is wrong with it."""


def is_pdf(name: str | Path) -> bool:
    """Whether a file is called as PDF files are."""
    return PurePath(str(name)).suffix.lower() == ENDING  # a path in a store is none of this machine


def can_draw() -> bool:
    """Whether pages can be drawn here."""
    return importlib.util.find_spec("pypdfium2") is not None


def require_drawing() -> None:
    """Raises MissingExtra where pages cannot be drawn here."""
    if not can_draw():
        raise MissingExtra("Comparing PDF files", "pypdfium2", "pdf")


def draw_files(files: Iterable[tuple[Path, Path, int]], dpi: float = DPI) -> Iterator[Drawn]:
    """The pages of PDF files as PNG files, or what is wrong with a file; file after file, in their order.

    files: each with a folder for its pages, and how many pages are drawn at most.
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
    """The process that draws was ended, or has to be: another one draws the files that are left."""


def _drawn(pool: Executor, path: Path, folder: Path, most: int, dpi: float) -> Drawn:
    """The pages of one file. Raises _EndedError where the pool is of no use after it."""
    try:
        return pool.submit(draw_pages, path, folder, most, dpi).result(timeout=SECONDS)
    except ImageError as error:
        return error
    except (BrokenProcessPool, TimeoutError, MemoryError) as error:
        raise _EndedError(str(path)) from error


def draw_pages(path: Path, folder: Path, most: int = MOST_PAGES, dpi: float = DPI) -> list[DrawnPage]:
    """The first pages of a file, at most so many, as PNG files in a folder, drawn in this very process.

    Raises ImageError where the file cannot be drawn, before it has written anything; MissingExtra.
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
    """The bytes of a file. Raises ImageError."""
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
    """That a page has no more pixels than are read of a picture. Raises ImageError."""
    try:
        width, height = document.get_page_size(index)
    except Exception as error:  # what PDFium's own bindings raise of what is no page
        raise ImageError(f"{name}: this page is broken. Save the file again.") from error
    if not (math.isfinite(width) and math.isfinite(height)):
        raise ImageError(f"{name}: this page has no size. Save the file again.")
    across, down = (math.ceil(side * dpi / _POINTS) for side in (width, height))
    try:
        check_size((across, down), name, least=1)
    except ImageError as error:
        raise ImageError(f"{error} Or draw it with fewer pixels by --pdf-dpi.") from error


def _draw(document: Any, index: int, dpi: float, folder: Path, name: str) -> DrawnPage:
    """One page, drawn and written. Raises ImageError."""
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
    """Limit what this process may use, where the system can."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource  # there is none on Windows

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
