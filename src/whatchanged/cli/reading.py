"""The option by which words are read or not, and the remark where they cannot be."""

from typing import Annotated

import typer

from whatchanged.cli.console import note
from whatchanged.errors import MissingExtra

ReadText = Annotated[
    bool | None,
    typer.Option(
        "--read-text/--no-read-text",
        help="Name things by the words in and beside them, and quote text that changed. Without either: "
        "where the extra text is installed.",
        show_default=False,
    ),
]


def reads(read_text: bool | None, quiet: bool) -> bool:
    """Whether a run of many pairs reads words, found before the first one.

    Where they are to be read if possible, and the recogniser is installed but cannot be loaded, a remark says
    so. Raises MissingExtra where they must be read and cannot be.
    """
    from whatchanged.text.recogniser import can_read

    if not can_read(read_text) or read_text:
        return bool(read_text)
    try:
        return can_read(True)
    except MissingExtra as error:
        note(f"No words are read. {error}", quiet)
        return False
