"""``--ray``: the commands whose work is parallel by nature share it out over a cluster."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from whatchanged.cli.console import note
from whatchanged.words import counted

Ray = Annotated[
    str | None,
    typer.Option(
        "--ray",
        metavar="ADDRESS",
        help="Work on a Ray cluster: local (this machine), auto (the one it belongs to) or HOST:PORT.",
    ),
]


@contextmanager
def on_cluster(address: str | None, seen: Sequence[Path], quiet: bool) -> Iterator[int | None]:
    """Inside, the cluster's workers do the work; yields their number, or None without an address.

    seen: what every worker must find at the same place. Raises MissingExtra, WhatchangedError.
    """
    if address is None:
        yield None
        return
    from whatchanged.scale.cluster import joined

    with joined(address, seen) as workers:
        note(f"Working on {counted(workers, 'core')} of the Ray cluster {address}.", quiet)
        yield workers


def on_cpu(address: str | None, device: str) -> str:
    """The device of the workers. Raises BadParameter where a cluster should work on another than the CPU."""
    if address is None:
        return device
    if device not in ("auto", "cpu"):
        raise typer.BadParameter(f"--ray works on CPUs; leave out --device {device}, or leave out --ray")
    return "cpu"
