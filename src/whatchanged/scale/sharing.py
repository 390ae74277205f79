"""Work that is shared out over a cluster where one is named, and done here otherwise."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from whatchanged.remarks import note
from whatchanged.words import counted


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
