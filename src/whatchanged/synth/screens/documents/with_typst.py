"""Draw documents by Typst, or by Typst and PDFium, and locate each of their elements."""

import ctypes
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from PIL import Image

from whatchanged.synth.screens.documents.document import TypesetDocument
from whatchanged.synth.screens.documents.source import KeyColors, typst_source
from whatchanged.synth.screens.edits import DrawnElement, DrawnPicture, Pixels

PointBox = tuple[float, float, float, float]
"""Left, bottom, right, top in points, y upwards."""
FONT_FOLDERS = ("/usr/share/fonts", "/usr/local/share/fonts")
BLOCK = re.compile(r"block \d+")


@dataclass(frozen=True)
class Printing:
    """The settings by which a document is drawn.

    program: "typst" or "pdfium"; "" means the document's own. colored: whether PDFium uses subpixel rendering
    for letters. shift: the movement of the whole page, in points. tracked: number of a block whose letters
    have a hundredth of a point more spacing.
    """

    program: str = ""
    colored: bool = False
    shift: float = 0.0
    tracked: int = 0


USUAL = Printing()


class Press:
    """Draws documents, and caches the fonts that were read."""

    def __init__(self) -> None:
        import typst

        compiler: Any = typst.Compiler
        self._compiler = compiler(b"", font_paths=list(FONT_FOLDERS))

    def draw(self, document: TypesetDocument, how: Printing) -> DrawnPicture:
        """Return the document's picture and its elements."""
        source = typst_source(document, shift=how.shift, tracked=how.tracked).encode()
        if (how.program or document.program) == "typst":
            pixels = self._picture(source, document.scale)
        else:
            pixels = self._printed(source, document.scale, how.colored)
        return DrawnPicture(pixels, self.elements(document, how))

    def _picture(self, source: bytes, scale: float) -> Pixels:
        """Return the picture drawn by Typst itself."""
        made = self._compiler.compile(source, format="png", ppi=72.0 * scale)
        file = made[0] if isinstance(made, list) else made  # of several pages
        return np.asarray(Image.open(io.BytesIO(file)).convert("RGB"))

    def _printed(self, source: bytes, scale: float, colored: bool) -> Pixels:
        """Return the picture that PDFium draws from Typst's PDF."""
        import pypdfium2

        pdf = pypdfium2.PdfDocument(self._compiler.compile(source, format="pdf"))
        try:
            page = pdf[0]
            drawn = page.render(scale=scale, optimize_mode="lcd" if colored else None)
            return np.asarray(drawn.to_pil().convert("RGB")).copy()
        finally:
            pdf.close()

    def elements(self, document: TypesetDocument, how: Printing) -> dict[str, DrawnElement]:
        """Return the elements by key: words, rows, cells, blocks, and the page."""
        import pypdfium2

        colors = KeyColors()
        source = typst_source(document, colors, how.shift, how.tracked).encode()
        pdf = pypdfium2.PdfDocument(self._compiler.compile(source, format="pdf"))
        try:
            page = pdf[0]
            results = _by_key(page, colors)
            height = page.get_height()
            size = (page.get_width(), height)
        finally:
            pdf.close()
        scale = document.scale
        placed = {
            key: DrawnElement(
                (left * scale, (height - top) * scale, right * scale, (height - bottom) * scale), "", single
            )
            for key, (left, bottom, right, top, single) in results.items()
        }
        placed["page"] = DrawnElement((0.0, 0.0, size[0] * scale, size[1] * scale))
        return placed


MeasuredBox = tuple[float, float, float, float, bool]


def _by_key(page: Any, colors: KeyColors) -> dict[str, MeasuredBox]:
    """Return the box of each element and of its parents: for words, their row and their block."""
    results: dict[str, MeasuredBox] = {}
    for key, box in _marks(page, colors):
        for name in _parts(key):
            old = results.get(name)
            single = BLOCK.fullmatch(name) is not None
            new: MeasuredBox = (*box, single)
            if old is not None:
                new = (
                    min(old[0], box[0]),
                    min(old[1], box[1]),
                    max(old[2], box[2]),
                    max(old[3], box[3]),
                    single,
                )
            results[name] = new
    return results


def _parts(key: str) -> Iterator[str]:
    """Return a key and the keys of its parents: "block 2 row 1 word 3", "block 2 row 1", "block 2"."""
    names = key.split(" ")
    yield key
    for length in range(2, len(names), 2):
        yield " ".join(names[:length])


def _marks(page: Any, colors: KeyColors) -> Iterator[tuple[str, PointBox]]:
    """Yield every object of a page that has an element's colour, with its box in points, y upwards."""
    from pypdfium2 import raw

    for mark in page.get_objects():
        for read in (raw.FPDFPageObj_GetFillColor, raw.FPDFPageObj_GetStrokeColor):
            channels = [ctypes.c_uint() for _ in range(4)]
            if not read(mark.raw, *(ctypes.byref(channel) for channel in channels)):
                continue
            key = colors.key_of(*(channel.value for channel in channels[:3]))
            if key is not None:
                left, bottom, right, top = mark.get_bounds()
                yield key, (left, bottom, right, top)
                break
