"""Decide before the first pair whether a run of many pairs reads text."""

from whatchanged.errors import MissingExtra
from whatchanged.remarks import note
from whatchanged.text.recogniser import can_read


def reads_words(wanted: bool | None, quiet: bool) -> bool:
    """Return whether text is read: as ``wanted``, or for None, whether the recogniser works.

    Where the recogniser is installed and cannot be loaded, a remark is printed once. Raises MissingExtra
    where text must be read and cannot be.
    """
    if wanted or not can_read(wanted):
        return can_read(wanted)
    try:
        return can_read(True)
    except MissingExtra as error:
        note(f"No words are read. {error}", quiet)
        return False
