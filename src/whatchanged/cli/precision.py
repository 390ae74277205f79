"""``--precision``: the arithmetic of the commands that run a network by torch."""

from typing import Annotated, Literal

import typer

from whatchanged.cli.panels import COMPUTED

PrecisionOption = Annotated[
    Literal["fp32", "bf16"],
    typer.Option(
        help="Of the network's arithmetic; bf16: products in 16 bit, weights in 32.",
        rich_help_panel=COMPUTED,
    ),
]
