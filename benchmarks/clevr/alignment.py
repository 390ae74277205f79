"""Measures SCORER's alignment on drawn pairs: does each cell match the same object in the other picture?

    whatchanged synth clevr-change twin --scenes 50 --seed 4301
    python -m benchmarks.clevr.alignment twin [...] [--source MODEL-or-RUN] [--record NAME]

Drawn scenes say which object every pixel shows, and which objects did not change. A cell of the grid belongs
to the object that most of its pixels show, if they fill at least a quarter of it. For each cell of an
unchanged object, in both directions, the strongest match in the other picture is right if it belongs to the
same object. Cells that the model does not read (``vision.keep``) are not counted. "Chance" is the share of
right matches if the match is drawn at random among the cells that the model reads.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.record import Watch, add_record_option, typed, write_result
from whatchanged.datasets import open_dataset
from whatchanged.errors import DatasetError, WhatchangedError
from whatchanged.evaluation.metrics.truth import read_truths
from whatchanged.evaluation.statistics.intervals import wilson
from whatchanged.synth.clevr.visibility import GROUND, index_picture
from whatchanged.training.figures import FigureSource, open_source
from whatchanged.worlds.clevr.change import SceneChange, kept
from whatchanged.worlds.clevr.scene import Scene

WIDTH, HEIGHT = 480, 320
LEAST = 0.25
"""The share of a cell's pixels that make it an object's."""


@dataclass(frozen=True)
class Matches:
    """Matches of one object's cells: how many, how many of them right, how many expected by chance; and
    whether the strongest of all is right."""

    cells: int
    right: int
    chance: float
    strongest: bool


def owners(scene: Scene, rows: int, columns: int) -> NDArray[np.int64]:
    """Which object each cell belongs to, ``GROUND`` for none: (rows * columns,)."""
    index = index_picture(scene, WIDTH, HEIGHT)
    at_row = np.arange(HEIGHT) * rows // HEIGHT
    at_column = np.arange(WIDTH) * columns // WIDTH
    cell = (at_row[:, None] * columns + at_column).ravel()  # of each pixel
    counts = np.zeros((rows * columns, len(scene.objects) + 1), np.int64)
    np.add.at(counts, (cell, index.ravel() + 1), 1)
    if not len(scene.objects):
        return np.full(rows * columns, GROUND)
    most = counts[:, 1:].argmax(1)
    enough = counts[:, 1:].max(1) >= LEAST * counts.sum(1)
    return np.where(enough, most, GROUND)


def unchanged(before: Scene, after: Scene, change: SceneChange) -> Iterator[tuple[int, int]]:
    """The objects that are the same in both scenes: their numbers before and after."""
    for one, other in zip(*kept(before, after, change), strict=True):
        if one != change.before:
            yield one, other


def matches_of(
    weights: NDArray[np.float32],
    cells: NDArray[np.int64],
    own: NDArray[np.int64],
    theirs: NDArray[np.int64],
    pairs: Mapping[int, int],
) -> Iterator[Matches]:
    """The matches of each unchanged object that the model reads in both pictures.

    weights: (N, N), what each token is rebuilt from. cells: (2, N), of the picture that asks and of the one
    that is asked. own, theirs: whose each cell of these pictures is. pairs: an object's number here -> there.
    """
    asks, asked = own[cells[0]], theirs[cells[1]]
    for one, other in pairs.items():
        rows, there = np.flatnonzero(asks == one), asked == other
        if not rows.size or not there.any():
            continue
        best = weights[rows].argmax(1)
        top = rows[weights[rows].max(1).argmax()]
        yield Matches(
            int(rows.size),
            int(there[best].sum()),
            float(rows.size * there.mean()),
            bool(there[weights[top].argmax()]),
        )


def measured(source: FigureSource, dataset: Path) -> dict[str, Any]:
    """Shares of right matches over all pairs of a drawn data set."""
    records = open_dataset(dataset).records
    truths = read_truths(dataset, records)
    if truths is None or truths.world.name != "clevr":
        raise DatasetError(f"{dataset}: it does not tell the CLEVR scenes of its pictures.")
    found: list[Matches] = []
    for record in records:
        if record.after is None:
            raise DatasetError(f"{dataset}: {record.pair_id} has one picture only.")
        before, after, change = truths.by_id[record.pair_id]
        aligned = source.alignment(record.before, record.after)
        sides = [owners(scene, *aligned.grid) for scene in (before, after)]
        pairs = dict(unchanged(before, after, change))
        reverse = {other: one for one, other in pairs.items()}
        found += matches_of(aligned.weights[0], aligned.cells, sides[0], sides[1], pairs)
        found += matches_of(aligned.weights[1], aligned.cells[::-1], sides[1], sides[0], reverse)
    cells = sum(one.cells for one in found)
    return {
        "pairs": len(records),
        "objects": len(found),
        "cells": cells,
        "right matches of cells, %": _share(sum(one.right for one in found), cells),
        "by chance, %": 100 * sum(one.chance for one in found) / max(cells, 1),
        "right strongest matches of objects, %": _share(sum(one.strongest for one in found), len(found)),
    }


def _share(count: int, of: int) -> dict[str, float] | None:
    """A share in percent with Wilson's interval; None where nothing was counted."""
    if not of:
        return None
    low, high = wilson(count, of)
    return {"mean": 100 * count / of, "low": 100 * low, "high": 100 * high}


def main() -> None:
    """Measure, print, record."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("dataset", type=Path, nargs="+")
    parser.add_argument("--source", default="clevr-scorer", help="a model, or the folder of a run")
    parser.add_argument("--features", type=Path, help="stored features of the pictures, for one data set")
    parser.add_argument("--drawn", metavar="COMMAND", action="append", help="what drew them, to be recorded")
    add_record_option(parser, "alignment")
    options = parser.parse_args()
    with Watch() as watch:
        root = options.dataset[0] if options.features else None
        source = open_source(Path(options.source), features=options.features, data=root)
        figures = {
            "rows": [{"pictures": path.name, **measured(source, path)} for path in options.dataset],
            "decimals": dict.fromkeys(("pairs", "objects", "cells"), 0),
        }
    print(json.dumps(figures, indent=1))
    if options.record:
        own = typed(
            "python -m benchmarks.clevr.alignment", *map(str, options.dataset), "--source", options.source
        )
        if options.features:
            own += f" --features {options.features.name}"
        command = [*(options.drawn or []), own]
        print(write_result(options.record, "rows", figures, watch=watch, command=command))


if __name__ == "__main__":
    try:
        main()
    except WhatchangedError as error:
        sys.exit(f"Error: {error}")
