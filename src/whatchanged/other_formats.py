"""Recognise files that are not read as pictures: drawings, HEIC photographs, Git LFS pointers, PDF."""

import re

from whatchanged.installing import install_command

POINTER = b"version https://git-lfs.github.com/spec/"
"""The first bytes of a Git LFS pointer: a small text that stands for a file stored elsewhere."""
_BRANDS = (b"heic", b"heix", b"hevc", b"heim", b"heis", b"hevm", b"hevs", b"mif1", b"msf1")
"""The brands of HEIF files with pictures that are, or may be, coded as HEVC."""
LOOKED_AT = 1024
"""The number of bytes at the start of a file by which the format of the file is recognised."""


def is_avif(start: bytes) -> bool:
    """Return whether a file that begins with these bytes is an AVIF picture."""
    return start[4:8] == b"ftyp" and start[8:12] in (b"avif", b"avis")


def kind_of_file(start: bytes) -> str | None:
    """Return a phrase about the format of a file that is not read as a picture, and about what the user can
    do with the file. The format is recognised by the first bytes of the file. The result is None for other
    formats.
    """
    if start.startswith(POINTER):
        return "this is a Git LFS pointer, not the picture it stands for. Fetch it with: git lfs pull"
    if start.startswith(b"%PDF-"):
        return (
            "this is a PDF file, of pages and not of pixels. Draw its pages as PNG files first, or give two"
            f' files to whatchanged compare or describe with the extra "pdf": {install_command("pdf")}'
        )
    if start[4:8] == b"ftyp" and start[8:12] in _BRANDS:
        return "this is a HEIC file, which is not read. Save it as JPEG or PNG"
    if re.search(rb"<svg[\s>]", start) and start.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
        return "this is an SVG drawing, of shapes and not of pixels. Draw it as a PNG file first"
    return None
