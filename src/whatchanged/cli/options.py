"""Options that mean the same in several commands; ``policy`` and ``launch`` hold those of policies and
launches.
"""

from typing import Annotated

import typer

from whatchanged.cli import completion
from whatchanged.cli.panels import PAIRS, WRITTEN

ModelName = Annotated[
    str | None,
    typer.Option(
        "--model",
        help="A shipped model or a model folder, to answer in any case; measured: no model.",
        autocompletion=completion.answering,
    ),
]
ReadText = Annotated[
    bool | None,
    typer.Option(
        "--read-text/--no-read-text",
        help="Name things by the words in and beside them, and quote text that changed. Without either: "
        "where the extra text is installed.",
        show_default=False,
    ),
]
DatasetName = Annotated[
    str | None,
    typer.Option(
        "--dataset",
        help="Which data set this is, if not recognised.",
        autocompletion=completion.data_sets,
        rich_help_panel=PAIRS,
    ),
]
SkipMissing = Annotated[
    bool,
    typer.Option("--skip-missing", help="Leave out pairs whose pictures are missing.", rich_help_panel=PAIRS),
]
Embed = Annotated[
    bool,
    typer.Option(
        "--embed", help="Put the pictures into the page, so that it can be mailed.", rich_help_panel=WRITTEN
    ),
]
