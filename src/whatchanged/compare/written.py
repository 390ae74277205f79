"""Pictures that a comparison writes into its results: those of revisions, and those cut out of others."""

from pathlib import Path

from whatchanged.errors import OutputError
from whatchanged.files import remove, write_whole
from whatchanged.images import Fetched, stored_picture

FOLDERS = ("old", "new", "cut")
"""Where they lie in the folder of results: pictures of two revisions, and those that were cut out."""


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

    name: what messages call it. Raises ImageError where they are no picture, and nothing is written;
    OutputError where the file cannot be written.
    """
    content = Fetched(data)
    content.name = name
    with stored_picture(content) as image:
        image.load()
    try:
        write_whole(path, data)
    except OSError as error:
        raise OutputError(f"{path}: cannot be written ({error.strerror or error}).") from error
