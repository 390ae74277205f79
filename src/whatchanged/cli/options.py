"""Options with the same meaning in several commands.

The module ``policy`` contains the options for policies, and the module ``launch`` contains the options for a
``Launch``.
"""

from typing import Annotated

import typer

from whatchanged.cli import completion
from whatchanged.cli.panels import PAIRS, WRITTEN

ModelName = Annotated[
    str | None,
    typer.Option(
        "--model",
        help="A shipped model or a model folder, which always answers; measured: no model.",
        autocompletion=completion.answering,
    ),
]
ReadText = Annotated[
    bool | None,
    typer.Option(
        "--read-text/--no-read-text",
        help="Read text in the pictures, name things by it, and quote text that changed. Default: if the "
        "extra text is installed.",
        show_default=False,
    ),
]
DatasetName = Annotated[
    str | None,
    typer.Option(
        "--dataset",
        help="The name of the data set, if it is not recognised.",
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
        "--embed", help="Embed the pictures in the page, so that it can be mailed.", rich_help_panel=WRITTEN
    ),
]
