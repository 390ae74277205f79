"""``--ray``: the commands whose work is parallel by nature share it out over a cluster."""

from typing import Annotated

import typer

from whatchanged.cli.panels import COMPUTED
from whatchanged.scale.sharing import on_cluster

__all__ = ["Ray", "on_cluster", "on_cpu"]

Ray = Annotated[
    str | None,
    typer.Option(
        "--ray",
        metavar="ADDRESS",
        rich_help_panel=COMPUTED,
        help="Work on a Ray cluster: local (this machine), auto (the one it belongs to) or HOST:PORT.",
    ),
]


def on_cpu(address: str | None, device: str) -> str:
    """The device of the workers. Raises BadParameter where a cluster should work on another than the CPU."""
    if address is None:
        return device
    if device not in ("auto", "cpu"):
        raise typer.BadParameter(f"--ray works on CPUs; leave out --device {device}, or leave out --ray")
    return "cpu"
