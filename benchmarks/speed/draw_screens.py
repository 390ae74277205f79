"""Measures how many pairs of screens one core draws per second: a row for each family.

    python -m benchmarks.speed.draw_screens [--documents 40] [--families pages,plots] [--styles FOLDER]
        [--record]

Time is the processor time of this process and of all processes that it started (Linux), so other programs
have little effect. The documents are those of the training split. The first one, which starts the browser, is
left out.
"""

import argparse
import json
import os
import time
from pathlib import Path

from benchmarks.record import Watch, add_record_option, write_result
from whatchanged.synth.screens import FAMILIES, FamilyOptions, find_family

SIZE = (1280, 900)
TICKS = os.sysconf("SC_CLK_TCK")


def processor_seconds() -> dict[int, float]:
    """Seconds that this process and its descendants, those that live, have had so far, by process."""
    parents: dict[int, int] = {}
    seconds: dict[int, float] = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        except OSError:  # it ended meanwhile
            continue
        parents[int(entry.name)] = int(fields[1])
        seconds[int(entry.name)] = (int(fields[11]) + int(fields[12])) / TICKS
    own = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in own} - own:
        own |= more
    return {pid: seconds[pid] for pid in own}


def row_of(name: str, documents: int, styles: Path | None, seed: int) -> dict[str, object]:
    """One family's figures."""
    with find_family(name)(FamilyOptions(styles, SIZE)) as family:
        family.draw(seed, 0, "train")
        before, began = processor_seconds(), time.perf_counter()
        pairs = [pair for index in range(1, documents + 1) for pair in family.draw(seed, index, "train")]
        wall, after = time.perf_counter() - began, processor_seconds()
    taken = sum(seconds - before.get(pid, 0.0) for pid, seconds in after.items())
    return {
        "family": name,
        "pairs": len(pairs),
        "changed": sum(bool(pair.truth.changes) for pair in pairs),
        "per_core_second": len(pairs) / taken,
        "per_second": len(pairs) / wall,
        "pixels": sum(w * h for w, h in (pair.truth.size_after for pair in pairs)) / len(pairs),
        "bytes": sum(len(pair.before) + len(pair.after) for pair in pairs) / len(pairs),
    }


def main() -> None:
    """Prints a row a family."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=int, default=40)
    parser.add_argument("--families", default=",".join(FAMILIES))
    parser.add_argument("--styles", type=Path)
    parser.add_argument("--seed", type=int, default=7)
    add_record_option(parser, "draw_screens")
    options = parser.parse_args()
    styles = options.styles.absolute() if options.styles else None
    rows = []
    with Watch() as watch:
        for name in options.families.split(","):
            rows.append(row_of(name, options.documents, styles, options.seed))
            print(json.dumps(rows[-1]), flush=True)
    if options.record:
        write_result(
            options.record, "rows", {"rows": rows, "times": ["per_core_second", "per_second"]}, watch=watch
        )


if __name__ == "__main__":
    main()
