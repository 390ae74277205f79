"""The options that fill a ``whatchanged.launch.Launch``: device, workers, precision, cluster."""

from dataclasses import replace
from typing import Annotated

import typer

from whatchanged.cli.panels import COMPUTED
from whatchanged.launch import Launch, Precision

Ray = Annotated[
    str | None,
    typer.Option(
        "--ray",
        metavar="ADDRESS",
        rich_help_panel=COMPUTED,
        help="Work on a Ray cluster: local (this machine), auto (the one it belongs to) or HOST:PORT.",
    ),
]

PrecisionOption = Annotated[
    Precision,
    typer.Option(
        help="Precision of the network's arithmetic; bf16: products in 16 bit, weights in 32.",
        rich_help_panel=COMPUTED,
    ),
]


def on_cpu(launch: Launch) -> Launch:
    """Return the launch settings for the workers of a cluster.

    Raises BadParameter if the device is not the CPU.
    """
    if launch.ray is None:
        return launch
    if launch.device not in ("auto", "cpu"):
        raise typer.BadParameter(
            f"--ray works on CPUs; leave out --device {launch.device}, or leave out --ray"
        )
    return replace(launch, device="cpu")
