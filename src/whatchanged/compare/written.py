"""Write pictures into the folder of results: from revisions, cropped from others, and pages of PDF files."""

from pathlib import Path

from whatchanged.errors import OutputError
from whatchanged.files import remove, write_whole
from whatchanged.images import Fetched, stored_picture
from whatchanged.pdf import is_pdf

PAGES = "pages"
"""The name of the folder for pages of PDF files in the folder of results."""
FOLDERS = ("old", "new", "cut", PAGES)
"""The names of all folders for such pictures: of two revisions, cropped pictures, and pages."""


def begin_anew(folder: Path) -> None:
    """Remove one of the folders for pictures with its content.

    If the folder is a link, only the link is removed.

    Raises OutputError if the folder cannot be removed.
    """
    try:
        remove(folder)
    except OSError as error:
        raise OutputError(f"{folder}: cannot be removed ({error.strerror or error}).") from error


def write_picture(data: bytes, path: Path, name: str) -> None:
    """Write the bytes of an untrusted picture to a file after checking that they can be decoded.

    The folder of the file is created if necessary. A PDF file is not decoded here, because it is drawn later
    in a separate process.

    name: the name of the picture in messages.

    Raises ImageError, before anything is written, if the bytes are not a picture. Raises OutputError if the
    file cannot be written.
    """
    if not (is_pdf(path) and data.startswith(b"%PDF-")):
        content = Fetched(data)
        content.name = name
        with stored_picture(content) as image:
            image.load()
    try:
        write_whole(path, data)
    except OSError as error:
        raise OutputError(f"{path}: cannot be written ({error.strerror or error}).") from error
