"""Compares plots of two matplotlib versions, three of which really changed: does the list begin with these?

    python -m benchmarks.screens.plot_versions OLD/bin/python,NEW/bin/python [...] --seeds 301,302 [--record]

OLD, NEW: Pythons with whatchanged and two versions of matplotlib; without NEW, the Python that runs this. OLD
draws the folder before, NEW the folder after. In it, three random plots really and visibly change, in any
kind of change of the screens world, even a small one. No model was trained on the designs of these plots. The
pairs contain all differences between the versions: text, ticks, legends. Nothing is fitted or chosen here.

A row gives: the files that differ at all; those reported as changed; the groups; how many of the really
changed plots are among the first three in the list; and in how many of them the first statement, or any
statement, has the right kind and position.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.record import Watch, add_record_option, write_result
from benchmarks.screens.boxes import compared, points_into
from whatchanged.compare.comparison import Comparison, compare
from whatchanged.compare.pairs import match_folders
from whatchanged.compare.run import Outcome
from whatchanged.compare.settings import CompareSettings
from whatchanged.measured import Statement
from whatchanged.worlds.screens.truth import ScreenChange, ScreenTruth, from_json

CHANGED = 3


def draw(python: str, out: Path, seed: int, plots: int, changed: int = 0) -> None:
    """A folder of plots, drawn by that Python."""
    command = [
        python,
        "-m",
        "benchmarks.screens.plot_versions_draw",
        str(out),
        f"--seed={seed}",
        f"--plots={plots}",
    ]
    subprocess.run([*command, f"--changed={changed}"], check=True)


def listed(found: Comparison) -> list[str]:
    """The names of the pairs that are called changed, in the order in which they are listed."""
    places = [index for group in found.groups for index in group.members]
    return [found.outcomes[index].pair.pair_id for index in places if found.outcomes[index].changed]


def told_of(outcome: Outcome, truth: ScreenTruth) -> list[bool]:
    """Of each statement of an answer, whether its kind and place are those of the change."""
    assert outcome.answer is not None
    assert outcome.answer.measured is not None
    return [
        any(tells(statement, change) for change in truth.changes)
        for statement in outcome.answer.measured.statements
    ]


def tells(statement: Statement, change: ScreenChange) -> bool:
    """Whether a statement has the kind of a change and points into it."""
    box, told = compared((change.box_before, change.box_after), (statement.box_before, statement.box_after))
    return statement.kind == change.kind and bool(box and told and points_into(told, box))


def row_of(old: Path, new: Path, versions: str, seed: int) -> dict[str, Any]:
    """What is told of one draw by these versions."""
    truths = json.loads(new.with_suffix(".json").read_text(encoding="utf-8"))
    comparison = compare(match_folders(old, new), CompareSettings(), workers=1)
    outcomes = {outcome.pair.pair_id: outcome for outcome in comparison.outcomes}
    told = [told_of(outcomes[name], from_json(line, name)) for name, line in truths.items()]
    order = listed(comparison)
    return {
        "versions": versions,
        "seed": seed,
        "plots": len(outcomes),
        "differ": sum(
            one.answer is not None and one.answer.verdict != "identical" for one in outcomes.values()
        ),
        "called changed": len(order),
        "groups": sum(group.changed > 0 for group in comparison.groups),
        "really changed": len(truths),
        "listed first": sum(name in truths for name in order[: len(truths)]),
        "first statement right": sum(right[:1] == [True] for right in told),
        "one statement right": sum(any(right) for right in told),
    }


def version_of(python: str) -> str:
    """The version of matplotlib that a Python has."""
    command = [python, "-c", "import matplotlib; print(matplotlib.__version__)"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def rows_of(pythons: Sequence[tuple[str, str]], seeds: Sequence[int], plots: int) -> list[dict[str, Any]]:
    """A row for each two Pythons and each seed."""
    rows = []
    for one, other in pythons:
        versions = f"{version_of(one)} and {version_of(other)}"
        for seed in seeds:
            with tempfile.TemporaryDirectory() as folder:
                old, new = Path(folder, "old"), Path(folder, "new")
                draw(one, old, seed, plots)
                draw(other, new, seed, plots, CHANGED)
                rows.append(row_of(old, new, versions, seed))
            print(rows[-1], flush=True)
    return rows


def main() -> None:
    """Prints a row for each draw, and records them where asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pythons", nargs="+", metavar="OLD,NEW")
    parser.add_argument("--seeds", default="301,302,303")
    parser.add_argument("--plots", type=int, default=40)
    add_record_option(parser, "plot_versions")
    options = parser.parse_args()
    seeds = [int(seed) for seed in options.seeds.split(",")]
    pythons = [
        (old, new or sys.executable) for old, _, new in (two.partition(",") for two in options.pythons)
    ]
    with Watch() as watch:
        rows = rows_of(pythons, seeds, options.plots)
    if options.record:
        draws = {f"draw {number}": seed for number, seed in enumerate(seeds, 1)}
        write_result(options.record, "rows", {"rows": rows}, watch=watch, seeds=draws)


if __name__ == "__main__":
    main()
