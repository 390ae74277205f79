"""The subsets of pairs that papers report: all, changed, unchanged, each change type, viewpoints.

A subset is named by its path in the report: ("overall",), ("types", "color"), ("overlap", "IoU 0.3-0.4").
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whatchanged.records import PairRecord

SubsetPath = tuple[str, ...]
Subsets = dict[SubsetPath, NDArray[np.int64]]
"""Path in the report -> indices of the pairs, ascending."""

NO_CHANGE = "none"
"""The change type of an unchanged pair, in every world."""
OVERLAPS = (0.0, 0.3, 0.4, 0.5, 0.6, 0.7, 1.0)
"""Edges of the viewpoint bins; a bin includes its lower edge, the last one both."""
HARDEST, HARDEST_SHARE = "hardest 25 %", 0.25


def subsets(records: Sequence[PairRecord], order: Sequence[str] = ()) -> Subsets:
    """Return the indices of each subset's pairs; empty subsets are left out.

    Change types are those of the records, in the given ``order`` (see ``kinds_in_order``).
    Viewpoint subsets contain the changed pairs with a known overlap: bins, and the hardest 25 %, which are
    the int(n / 4) pairs of least overlap (of equal ones the earlier, as in the benchmark's script).
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
    """Return each change type once: first those of ``order``, then the others by name."""
    results = {kind for kind in kinds if kind is not None and kind != NO_CHANGE}
    return [kind for kind in order if kind in results] + sorted(results - set(order))


def viewpoints(chosen: Subsets) -> Subsets:
    """Return the subsets by viewpoint alone."""
    return {path: pairs for path, pairs in chosen.items() if path[0] == "overlap"}


def nested(values: Mapping[SubsetPath, Any]) -> dict[str, Any]:
    """Return values by their paths as nested dicts."""
    tree: dict[str, Any] = {}
    for (*path, last), value in values.items():
        node = tree
        for step in path:
            node = node.setdefault(step, {})
        node[last] = value
    return tree


def _by_viewpoint(records: Sequence[PairRecord]) -> Subsets:
    """Return the hardest quarter and the bins of overlap, empty ones too."""
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
    """Return the overlap of the two views; NaN for a pair that belongs to no viewpoint subset."""
    if record.viewpoint_iou is None or not record.changed:
        return np.nan
    return record.viewpoint_iou
