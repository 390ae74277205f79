"""The option by which words are read or not."""

from typing import Annotated

import typer

ReadText = Annotated[
    bool | None,
    typer.Option(
        "--read-text/--no-read-text",
        help="Name things by the words in and beside them, and quote text that changed. Without either: "
        "where the extra text is installed.",
        show_default=False,
    ),
]
