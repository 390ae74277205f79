"""Work that is shared out over a cluster where one is named, and done here otherwise."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from whatchanged.launch import Launch
from whatchanged.remarks import note
from whatchanged.words import counted


@contextmanager
def on_cluster(launch: Launch, seen: Sequence[Path]) -> Iterator[Launch]:
    """Inside, the workers of the cluster that ``launch.ray`` names do the work, if one is named.

    Yields the launch, with as many workers as there are. seen: what every worker must find at the same place.
    Raises MissingExtra, WhatchangedError.
    """
    if launch.ray is None:
        yield launch
        return
    from whatchanged.scale.cluster import joined

    with joined(launch.ray, seen) as workers:
        note(f"Working on {counted(workers, 'core')} of the Ray cluster {launch.ray}.", launch.quiet)
        yield replace(launch, workers=workers)
