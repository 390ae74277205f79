"""The subsets of pairs that papers report: all, changed, unchanged, each kind of change, viewpoints.

A subset is named by its place in the report: ("overall",), ("types", "color"), ("overlap", "IoU 0.3-0.4").
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whatchanged.records import PairRecord

SubsetPath = tuple[str, ...]
Subsets = dict[SubsetPath, NDArray[np.int64]]
"""Place -> positions of the pairs, ascending."""

NO_CHANGE = "none"
"""The kind of a pair without change, in every world."""
OVERLAPS = (0.0, 0.3, 0.4, 0.5, 0.6, 0.7, 1.0)
"""Edges of the viewpoint bins; a bin includes its lower edge, the last one both."""
HARDEST, HARDEST_SHARE = "hardest 25 %", 0.25


def subsets(records: Sequence[PairRecord], order: Sequence[str] = ()) -> Subsets:
    """The positions of each subset's pairs; empty subsets are left out.

    Kinds of change are those of the records, in the given ``order`` (see ``kinds_in_order``).
    Viewpoints are of the changed pairs whose overlap is known: bins, and the hardest 25 %, which are the
    int(n / 4) pairs of least overlap (of equal ones the earlier, as in the benchmark's script).
    """
    kinds = kinds_in_order((record.change_type for record in records), order)
    members: dict[SubsetPath, list[bool]] = {
        ("overall",): [True] * len(records),
        ("semantic",): [record.changed is True for record in records],
        ("distractor",): [record.changed is False for record in records],
        **{("types", kind): [record.change_type == kind for record in records] for kind in kinds},
    }
    results = {path: np.flatnonzero(member) for path, member in members.items()}
    results |= _by_viewpoint(records)
    return {path: positions for path, positions in results.items() if len(positions)}


def kinds_in_order(kinds: Iterable[str | None], order: Sequence[str]) -> list[str]:
    """Each kind of change once: first those of ``order``, then the others by name."""
    results = {kind for kind in kinds if kind is not None and kind != NO_CHANGE}
    return [kind for kind in order if kind in results] + sorted(results - set(order))


def viewpoints(chosen: Subsets) -> Subsets:
    """The subsets by viewpoint alone."""
    return {path: pairs for path, pairs in chosen.items() if path[0] == "overlap"}


def nested(values: Mapping[SubsetPath, Any]) -> dict[str, Any]:
    """Values by their places, as dicts in dicts."""
    tree: dict[str, Any] = {}
    for (*path, last), value in values.items():
        node = tree
        for step in path:
            node = node.setdefault(step, {})
        node[last] = value
    return tree


def _by_viewpoint(records: Sequence[PairRecord]) -> Subsets:
    """The hardest quarter and the bins of overlap, empty ones too."""
    overlap = np.array([_overlap(record) for record in records], float)
    known = np.flatnonzero(~np.isnan(overlap))
    hardest_first = known[np.argsort(overlap[known], kind="stable")]
    results: Subsets = {("overlap", HARDEST): np.sort(hardest_first[: int(HARDEST_SHARE * len(known))])}
    bins = len(OVERLAPS) - 1
    at = np.clip(np.searchsorted(OVERLAPS, overlap[known], side="right") - 1, 0, bins - 1)
    for k in range(bins):
        results["overlap", f"IoU {OVERLAPS[k]:.1f}-{OVERLAPS[k + 1]:.1f}"] = known[at == k]
    return results


def _overlap(record: PairRecord) -> float:
    """The overlap of the two views; NaN for a pair that counts in no viewpoint."""
    if record.viewpoint_iou is None or not record.changed:
        return np.nan
    return record.viewpoint_iou
