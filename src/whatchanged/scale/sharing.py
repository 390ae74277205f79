"""Run work on a cluster where one is named, and on this machine otherwise."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from whatchanged.launch import Launch
from whatchanged.remarks import note
from whatchanged.words import counted


@contextmanager
def on_cluster(launch: Launch, seen: Sequence[Path]) -> Iterator[Launch]:
    """Inside the block, the workers of the cluster ``launch.ray`` do the work, if a cluster is named.

    Yields the launch with the cluster's number of workers. seen: paths that every worker must find at the
    same place. Raises MissingExtra, WhatchangedError.
    """
    if launch.ray is None:
        yield launch
        return
    from whatchanged.scale.cluster import joined

    with joined(launch.ray, seen) as workers:
        note(f"Working on {counted(workers, 'core')} of the Ray cluster {launch.ray}.", launch.quiet)
        yield replace(launch, workers=workers)
