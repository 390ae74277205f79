"""Pictures that a comparison writes into its results: those of revisions, those cut out of others, and pages
of PDF files."""

from pathlib import Path

from whatchanged.errors import OutputError
from whatchanged.files import remove, write_whole
from whatchanged.images import Fetched, stored_picture
from whatchanged.pdf import is_pdf

PAGES = "pages"
"""Where pages of PDF files lie in the folder of results."""
FOLDERS = ("old", "new", "cut", PAGES)
"""Where all of them lie: pictures of two revisions, those that were cut out, and pages."""


def begin_anew(folder: Path) -> None:
    """Remove one of these folders with all that is in it; of a link only the link.

    Raises OutputError where it cannot be removed.
    """
    try:
        remove(folder)
    except OSError as error:
        raise OutputError(f"{folder}: cannot be removed ({error.strerror or error}).") from error


def write_picture(data: bytes, path: Path, name: str) -> None:
    """Write the bytes of what a stranger calls a picture, and their folder, once they were decoded as one.

    name: what messages call it. A PDF file is drawn later, in a process of its own. Raises ImageError where
    they are no picture, and nothing is written; OutputError where the file cannot be written.
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
