"""What a file is that no picture is read from: drawings, photographs of phones, pointers to pictures."""

import re

from whatchanged.installing import install_command

POINTER = b"version https://git-lfs.github.com/spec/"
"""How a Git LFS pointer begins: a small text that stands for a file which lies elsewhere."""
_BRANDS = (b"heic", b"heix", b"hevc", b"heim", b"heis", b"hevm", b"hevs", b"mif1", b"msf1")
"""Of files of HEIF whose pictures are coded as HEVC is, or may be."""
LOOKED_AT = 1024
"""Bytes at the start of a file by which it is known."""


def is_avif(start: bytes) -> bool:
    """Whether a file that begins so is an AVIF picture."""
    return start[4:8] == b"ftyp" and start[8:12] in (b"avif", b"avis")


def kind_of_file(start: bytes) -> str | None:
    """What a file is that begins so, and what to do with it; None where it is none of these."""
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
