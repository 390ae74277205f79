"""Whether a run of many pairs reads words, found before the first one."""

from whatchanged.errors import MissingExtra
from whatchanged.remarks import note
from whatchanged.text.recogniser import can_read


def reads_words(wanted: bool | None, quiet: bool) -> bool:
    """Whether words are read: as it is wanted, or, where None says, if they can be.

    Where the recogniser is installed and cannot be loaded, a remark says so once. Raises MissingExtra where
    words must be read and cannot be.
    """
    if wanted or not can_read(wanted):
        return can_read(wanted)
    try:
        return can_read(True)
    except MissingExtra as error:
        note(f"No words are read. {error}", quiet)
        return False
