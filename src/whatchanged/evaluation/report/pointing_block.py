"""The pointing game over all pairs: the report's block "pointing" and its table."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from whatchanged.evaluation.metrics.additive import mean
from whatchanged.evaluation.metrics.pointing import Shot
from whatchanged.evaluation.metrics.subsets import Subsets
from whatchanged.evaluation.report.layout import Table, share_with_ends, with_ends
from whatchanged.evaluation.report.scored import Scored
from whatchanged.evaluation.statistics.intervals import share
from whatchanged.evaluation.statistics.resampling import intervals


def pointing_block(scored: Scored) -> dict[str, Any] | None:
    """Return the results with all settings that they depend on; None where no pair has a box, or no maps were
    given.
    """
    maps = scored.maps
    if maps is None:
        return None
    groups = [record.group_id for record in scored.records]
    settings = scored.settings
    results = by_subset(scored.shots, groups, scored.subsets, settings.resamples, settings.seed)
    if not results:
        return None
    size = settings.picture_size
    return {
        "grid": list(maps.grid),
        "words": "mean over the content words",
        "layer": maps.layer,
        "model": maps.model,
        "canvas": "the pictures' true size" if size is None else f"{size[0]} x {size[1]}, as told",
        "without_maps": len(scored.records) - len(maps.of),
        "subsets": results,
    }


def by_subset(
    shots: Sequence[Sequence[Shot]],
    groups: Sequence[str],
    chosen: Subsets,
    resamples: int = 0,
    seed: int = 0,
) -> dict[str, dict[str, Any]]:
    """Return the game's numbers for each subset with a box; ``shots[i]`` and ``groups[i]`` belong to pair i.

        hits            share of boxes that contain their map's maximum, with its interval and counts
        before, after   the same for the pictures of one side
        mass            mean share of the map that lies in the box, in percent
        area            mean share of the picture that the box covers, in percent: random pointing
        reachable       share of boxes that a map with a single hot cell can hit: the grid's limit
        intervals       with ``resamples``, of the mass: [low, high], 95 %, bootstrap over scenes

    Each box counts once, not each pair.
    """
    results = {}
    for path, positions in chosen.items():
        fired = [(shot, groups[i]) for i in positions for shot in shots[i]]
        if not fired:
            continue
        own = [shot for shot, _ in fired]
        result = _summary(own)
        if resamples:
            mass = mean("mass", np.array([shot.mass for shot in own]))
            (ends,) = intervals(mass.values, [group for _, group in fired], resamples, seed)
            result["intervals"] = {"mass": ends}
        results[path[-1]] = result
    return results


def pointing_table(block: Mapping[str, Any]) -> Table:
    """Return the block as a table, a row for each subset."""
    rows = [["", "boxes", "hits", "before", "after", "mass", "box area", "reachable"]]
    for name, numbers in block["subsets"].items():
        rows.append(
            [
                name,
                f"{numbers['hits']['of']:,}",
                *(share_with_ends(numbers[key]) for key in ("hits", "before", "after")),
                with_ends(numbers["mass"], numbers.get("intervals", {}).get("mass")),
                *(with_ends(numbers[key]) for key in ("area", "reachable")),
            ]
        )
    height, width = block["grid"]
    title = f"Pointing game (%; grid {height} x {width}, {block['words']}, attention {block['layer']})"
    return title, rows


def _summary(shots: Sequence[Shot]) -> dict[str, Any]:
    sides = [[shot.hit for shot in shots if shot.side == side] for side in (0, 1)]
    return {
        "hits": share(sum(shot.hit for shot in shots), len(shots)),
        "before": share(sum(sides[0]), len(sides[0])),
        "after": share(sum(sides[1]), len(sides[1])),
        "mass": 100 * float(np.mean([shot.mass for shot in shots])),
        "area": 100 * float(np.mean([shot.area for shot in shots])),
        "reachable": 100 * float(np.mean([shot.reachable for shot in shots])),
    }
