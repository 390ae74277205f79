"""Tiny PDF files, written by hand: each page is white with filled boxes."""

from collections.abc import Sequence
from pathlib import Path

PageBoxes = Sequence[tuple[float, float, float, float, str]]
"""Left, bottom, width and height in points, and the colour as three numbers from 0 to 1."""


def write_pdf(
    path: Path,
    pages: Sequence[PageBoxes],
    size: tuple[float, float] = (144, 72),
    trailer: str = "",
    catalog: str = "",
) -> Path:
    """A file of such pages, each of ``size`` points. trailer, catalog: further entries of these."""
    numbers = range(len(pages))
    kids = " ".join(f"{3 + 2 * k} 0 R" for k in numbers)
    objects = [
        f"<< /Type /Catalog /Pages 2 0 R {catalog} >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
    ]
    for k, boxes in enumerate(pages):
        drawn = "\n".join(f"{color} rg {x} {y} {w} {h} re f" for x, y, w, h, color in boxes)
        box = f"[0 0 {size[0]} {size[1]}]"
        objects.append(f"<< /Type /Page /Parent 2 0 R /MediaBox {box} /Contents {4 + 2 * k} 0 R >>")
        objects.append(f"<< /Length {len(drawn)} >>\nstream\n{drawn}\nendstream")
    text, places = "%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        places.append(len(text))
        text += f"{number} 0 obj\n{content}\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    head = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
    end = f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R {trailer} >>\nstartxref\n{len(text)}\n%%EOF\n"
    path.write_bytes((text + head + end).encode("ascii"))
    return path
